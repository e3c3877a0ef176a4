"""Evaluates actions: what edges add to variables and to their rates, or set."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from strut.network.lower import algebra, scope
from strut.network.lower.evaluate import evaluate
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.interpreter import Interpreter
from strut.network.lower.whole_numbers import whole
from strut.network.model import Action, Edge, Node, Variable
from strut.network.text.errors import Mark, Mistake
from strut.network.text.formula import Name, read_formula


class Actions:
    """Evaluates the actions of edges for the meaning of a network."""

    def __init__(self, meaning: Interpreter) -> None:
        self.meaning = meaning
        self.rates_in_progress: set[Variable] = set()

    def _activity(self, action: Action) -> ca.SX | None:
        """An expression that is 1 while an action counts; None if it always does."""
        if not action.states:
            return None
        edge = action.owner
        assert isinstance(edge, Edge)
        node = scope.state_machine(edge.input)
        if node is None:
            raise Mistake(
                f"'{action.name}' acts in state {' or '.join(action.states)}, but no node here has states: "
                f"add initial-state",
                action.mark,
            )
        return self.in_state(node, action.states, action.mark)

    def in_state(self, node: Node, states: tuple[str, ...], mark: Mark | None) -> ca.SX:
        """An expression that is 1 while a node is in one of some states, else 0.

        mark: where they are named; states that nothing leads to are warned of there.
        """
        symbol, state_names = self.meaning.state_machines[node]
        for state in states:
            if state not in state_names:
                state_names.append(state)
            self.meaning.awaited_states.append((node, state, mark))
        result = ca.SX(0)
        for state in states:
            result = (
                ca.logic_or(result, symbol.sym == state_names.index(state))
                if len(states) > 1
                else symbol.sym == state_names.index(state)
            )
        return result

    def _term(self, action: Action, shape: tuple[int, int], initial: bool = False) -> ca.SX:
        """The value of an action, in the shape of its target or of the elements it acts on."""
        value = self.meaning.formula(action.text, action, EvaluationFrame(action.owner, initial=initial))
        if action.index:
            return value
        try:
            return algebra.fit_shape(value, shape, f"what {action.owner!r} does to '{action.name}'")
        except Mistake as mistake:
            raise mistake.at(action.mark) from None

    def _put(self, into: ca.SX, action: Action, value: ca.SX, frame: EvaluationFrame) -> ca.SX:
        """Add the value of an action to an expression or set it: all of it, or the elements it acts on."""
        if not action.index:
            return into + value if action.adds else value
        try:
            where = self._places(action, into.shape, frame)
        except Mistake as mistake:
            raise mistake.at(action.mark, f"{action.name}[{action.index}]") from None
        value = algebra.flat(value)
        if value.numel() == 1:
            value = ca.repmat(value, len(where), 1)
        if value.numel() != len(where):
            raise Mistake(
                f"{action.name}[{action.index}] has {len(where)} elements, its value {value.numel()}",
                action.mark,
            )
        result = ca.densify(ca.SX(into))
        for k, place in enumerate(where):
            result[place] = result[place] + value[k] if action.adds else value[k]
        return result

    def _places(self, action: Action, shape: tuple[int, int], frame: EvaluationFrame) -> list[int]:
        """The elements an action acts on, counted column by column: `a[i, j]` lists elements, `a[[r], [c]]`
        and ranges give rows and columns. Raises `Mistake` where there is no such element."""
        size = shape[0] * shape[1]
        if action.index.startswith("[") or ":" in action.index:
            numbers = ca.SX(ca.DM(np.arange(size).reshape(shape, order="F")))
            tree = read_formula(f"x[{action.index}]").tree
            indices = evaluate(
                tree,
                lambda t: (
                    numbers if isinstance(t, Name) and t.name == "x" else self.meaning.resolve(t, frame)
                ),
                self.meaning.known_number,
            )
        else:
            indices = self.meaning.tree(read_formula(f"[{action.index}]").tree, frame)
        where = [whole(self.meaning.known_number(e)) for e in ca.vertsplit(ca.densify(algebra.flat(indices)))]
        for k in where:
            if not 0 <= k < size:
                raise Mistake(
                    f"'{action.name}' has {size} element(s), counted from 0: there is none at {k}",
                    action.mark,
                )
        return where

    def direct_value(
        self, variable: Variable, own: ca.SX, actions: list[Action], frame: EvaluationFrame
    ) -> ca.SX:
        """The value of a variable that edges set or add to: zero, filled by the active ones in the order of
        the file; its own value if none is active."""
        result, any_active = ca.SX(*own.shape), ca.SX(0)
        for action in sorted(actions, key=lambda a: a.serial):
            on = ca.SX(1) if frame.initial and action.states else self._activity(action)
            filled = self._put(
                result,
                action,
                self._term(action, own.shape, frame.initial),
                EvaluationFrame(action.owner, initial=frame.initial),
            )
            result = filled if on is None else ca.if_else(on, filled, result)
            any_active = ca.SX(1) if on is None else ca.logic_or(any_active, on)
        return (
            result if any_active.is_constant() and float(any_active) else ca.if_else(any_active, result, own)
        )

    def sum_of_rates(self, actions: Iterable[Action], variable: Variable) -> ca.SX:
        """The sum of what some actions add to the rate of a variable. Raises `Mistake` where that needs
        itself."""
        shape = self.meaning.shape(variable)
        total = ca.SX(*shape)
        if variable in self.rates_in_progress:
            raise Mistake(f"the rate of '{variable.path}' depends on itself")
        self.rates_in_progress.add(variable)
        try:
            for action in actions:
                if not action.rate:
                    continue
                value = self._put(
                    ca.SX(*shape), action, self._term(action, shape), EvaluationFrame(action.owner)
                )
                on = self._activity(action)
                total = total + (value if on is None else ca.if_else(on, value, ca.SX(*shape)))
        finally:
            self.rates_in_progress.discard(variable)
        return total
