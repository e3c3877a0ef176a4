"""The meaning of a network: every variable as an expression of states, parameters, inputs and time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import casadi as ca
import numpy as np

from strut.errors import did_you_mean
from strut.network.build.calculation import CONSTANTS
from strut.network.build.model_files import table
from strut.network.lower import algebra, scope
from strut.network.lower.evaluate import evaluate
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.functions import Functions
from strut.network.lower.operators import Operators
from strut.network.lower.table_signal import table_signal
from strut.network.lower.whole_numbers import check_order, check_size, whole
from strut.network.model import Action, Edge, Item, Node, Object, Variable
from strut.network.text.errors import Mark, Mistake, NetworkProblem
from strut.network.text.formula import (
    Call,
    Derivative,
    FormulaError,
    Name,
    Operator,
    Tree,
    read,
    variable_names,
)
from strut.system import Delay, Discrete, Input, Param, Random, State, Sums, known_symbol, sx, time


class Meaning:
    """Gives every variable its expression, and collects the quantities these are made of."""

    def __init__(self, root: Node, step: float, seed: int) -> None:
        self.root, self.step = root, step
        self.states: dict[Variable, State] = {}
        self.discrete: dict[Variable, Discrete] = {}
        self.params: dict[Variable, Param] = {}
        self.inputs: dict[Variable, Input] = {}
        self.extra_params: list[Param] = []
        self.delays: list[Delay] = []
        self.draws: list[tuple[Discrete, Random]] = []
        self.dt: Param | None = None
        self.machines: dict[Node, tuple[Discrete, list[str]]] = {}
        self.names: dict[Variable, str] = {}
        self.warnings: list[NetworkProblem] = []
        self.awaited: list[tuple[Node, str, Mark | None]] = []  # states that something waits for
        self.memo: dict[tuple[Variable, bool], ca.SX] = {}
        self.rates: dict[Variable, ca.SX] = {}
        self.in_progress: dict[tuple[Variable, bool], None] = {}
        self.owners: dict[int, tuple[Variable, int]] = {}
        self.actions: dict[Variable, list[Action]] = {}
        self.waiting: set[Variable] = set()
        self.rates_in_progress: set[Variable] = set()
        self.summed: Sums | None = None
        self.random = random.Random(seed)
        self.spare = 0
        self.functions = Functions(self)
        self.operators = Operators(self, self.functions)

    # ---- text to expression ----

    def formula(self, text: str, item: Item | Object, frame: EvaluationFrame) -> ca.SX:
        """The expression of a text that belongs to an item."""
        try:
            formula = read(text)
            if formula.rest:
                self.warn(
                    f"'{formula.rest}' after '{text[: len(text) - len(formula.rest)].strip()}' is left out",
                    item.mark,
                )
            return self.tree(formula.tree, frame)
        except Mistake as mistake:
            self.locate_mistake(mistake, text, item)
            raise
        except (RuntimeError, NotImplementedError) as error:
            if not isinstance(error, RecursionError):
                raise self.locate_mistake(
                    Mistake(f"cannot be calculated: {str(error).splitlines()[-1][:200]}"), text, item
                ) from error
            raise self.locate_mistake(
                Mistake("the expression leads too deep: variables or functions call each other endlessly"),
                text,
                item,
            ) from error

    def warn(self, message: str, mark: Mark | None) -> None:
        if len(self.warnings) < 100:
            self.warnings.append(NetworkProblem(message, mark))

    def locate_mistake(self, mistake: Mistake, text: str, item: Item | Object) -> Mistake:
        mark = item.mark
        if mark is not None and mistake.problem.mark is None and isinstance(mistake, FormulaError):
            place = mark.source.line(mark.line).find(text, mark.column - 1)
            if place >= 0:
                mark = Mark(mark.source, mark.line, place + 1 + mistake.place)
        owner = item.owner
        where = f"in {owner!r}" if owner is not None and owner.path else ""
        short_text = text if len(text) < 80 else text[:77] + "..."
        label = f'{item.name} = "{short_text}"' if not isinstance(item, Object) else f'"{short_text}"'
        trail = item.context.trail() if isinstance(item, Item) and item.context is not None else ""
        came = f", expanded for {trail}" if trail and trail != f"'{item.name}'" else ""
        return mistake.at(mark, f"{label} {where}{came}".strip())

    def tree(self, tree: Tree, frame: EvaluationFrame) -> ca.SX:
        return evaluate(tree, lambda t: self.resolve(t, frame), self.known_number)

    def known_number(self, m: ca.SX) -> float:
        """The number of an expression of which parameters are known: an index, a size."""
        if m.numel() != 1:
            raise Mistake(f"a single number is needed, not {algebra.shape_text(m)}")
        if m.is_constant():
            return float(m)
        symbols = ca.symvar(m)
        owners = [known_symbol(s) for s in symbols]
        if all(isinstance(q, Param) for q in owners):
            values = [float(q.value[0]) for q in owners if q is not None]
            return float(ca.Function("known", symbols, [m])(*values))
        raise Mistake(
            f"an index or size must be known beforehand: it depends on '{symbols[0].name()}', which changes"
        )

    def resolve(self, tree: Tree, frame: EvaluationFrame) -> ca.SX:
        if isinstance(tree, Name):
            return self.name(tree, frame)
        if isinstance(tree, Call):
            return self.functions.call(tree, frame)
        if isinstance(tree, Operator):
            return self.operators.operator(tree, frame)
        if isinstance(tree, Derivative):
            return self.time_derivative(self.tree(tree.of, frame), tree.order, frame)
        raise Mistake("a range ':' has its place in an index only")

    # ---- names ----

    def name(self, tree: Name, frame: EvaluationFrame) -> ca.SX:
        primed = tree.name + "'" * tree.order
        if primed in frame.values:
            return frame.values[primed]
        if tree.name in frame.values:
            return self.time_derivative(frame.values[tree.name], tree.order, frame)
        variable = scope.variable(tree.name, frame.thing)
        if variable is not None:
            if tree.order and not frame.initial and variable in self.states and variable.constraint is None:
                return self.time_derivative(self.rate(variable), tree.order - 1, frame)
            return self.time_derivative(self.value(variable, frame.initial), tree.order, frame)
        if tree.name == "t":
            return self.time_derivative(ca.SX(0) if frame.initial else time, tree.order, frame)
        if tree.name == "dt":
            return self.time_derivative(self.time_step().sym, tree.order, frame)
        if tree.name in CONSTANTS:
            return self.time_derivative(ca.SX(CONSTANTS[tree.name]), tree.order, frame)
        names_here = [n for n in [*frame.values, *scope.visible_names(frame.thing)] if n]
        if "." in tree.name:
            path = tree.name.rpartition(".")[0]
            inside = scope.step_into(path, frame.thing)
            if inside is None:
                raise Mistake(f"'{tree.name}' is unknown: there is no '{path}' here")
            near = did_you_mean(tree.name.rpartition(".")[2], list(inside.variables))
            raise Mistake(f"'{tree.name}' is unknown: {inside!r} has no such variable; {near}")
        raise Mistake(f"'{tree.name}' is unknown here: {did_you_mean(tree.name, names_here)}")

    def time_step(self) -> Param:
        if self.dt is None:
            has_own_dt = any(v.name == "dt" for v in self.root.variables.values())
            self.dt = Param(
                "dt" if not has_own_dt else "dt_", self.step, "s", description="the step of the integrator"
            )
        return self.dt

    # ---- values of variables ----

    def value(self, variable: Variable, initial: bool = False) -> ca.SX:
        """What a variable is, now or at the beginning of a run."""
        key = (variable, initial)
        value = self.memo.get(key)
        if value is not None:
            return value
        if not self.in_progress:
            self._prepare(variable, initial)
            value = self.memo.get(key)
            if value is not None:
                return value
        if key in self.in_progress:
            loop = [v.path for v, _ in self.in_progress]
            loop = loop[loop.index(variable.path) :]
            raise Mistake(f"'{variable.path}' depends on itself: {' -> '.join([*loop, variable.path])}")
        with self._mark_in_progress(key):
            result = self._evaluate_variable(variable, initial)
        self.memo[key] = result
        return result

    @contextmanager
    def _mark_in_progress(self, key: tuple[Variable, bool]) -> Iterator[None]:
        self.in_progress[key] = None
        try:
            yield
        finally:
            self.in_progress.pop(key, None)

    def _prepare(self, variable: Variable, initial: bool) -> None:
        """Long chains of variables are found one by one, what others need first."""
        stack, opened = [variable], {variable}
        while stack:
            top = stack[-1]
            waiting = []
            if (top, initial) not in self.memo:
                for name in variable_names(top.text):
                    needed = scope.variable(name, top.owner)
                    if needed is not None and needed not in opened and (needed, initial) not in self.memo:
                        waiting.append(needed)
                        opened.add(needed)
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            if stack and (top, initial) not in self.memo:
                with self._mark_in_progress((top, initial)):
                    self.memo[(top, initial)] = self._evaluate_variable(top, initial)

    def _evaluate_variable(self, variable: Variable, initial: bool) -> ca.SX:
        if not initial:
            for group in (self.states, self.discrete, self.params, self.inputs):
                if variable in group:
                    return self._read(variable, group[variable].sym)  # type: ignore[index]
            if (
                isinstance(variable.owner, Node)
                and variable.owner.table is not None
                and variable.owner.table.get("path")
            ):
                return self._from_file(variable)
        elif variable in self.params:
            return self._read(variable, self.params[variable].sym)
        frame = EvaluationFrame(variable.owner, initial=initial)
        own = self.formula(variable.text, variable, frame)
        if initial and (variable in self.states or variable in self.discrete or variable in self.waiting):
            return own
        if not initial and variable.flags & {"once", "in"}:
            return self._once(variable, own)
        direct = [a for a in self.actions.get(variable, ()) if not a.rate]
        result = self._direct(variable, own, direct, frame) if direct else own
        return self._apply_constraint(variable, result, frame)

    def _once(self, variable: Variable, own: ca.SX) -> ca.SX:
        """The value a variable has when a run begins, kept from then on."""
        now = {s.element_hash(): s for s in ca.symvar(own)}
        others = [(q.sym, sx(q.value)) for q in (*self.discrete.values(), *(h for h, _ in self.draws))]
        others += [(symbol.sym, sx(symbol.value)) for symbol, _ in self.machines.values()]
        begins = ca.substitute([own], [time, *(a for a, _ in others)], [ca.SX(0), *(b for _, b in others)])[0]
        if not any(h in self.owners for h in now):
            return begins
        initial_value = Discrete(self.names[variable], algebra.flat(begins), description=variable.note)
        self.discrete[variable] = initial_value
        return ca.reshape(initial_value.sym, *own.shape)

    def _read(self, variable: Variable, symbol: ca.SX) -> ca.SX:
        shaped = ca.reshape(symbol, *self.shape(variable))
        return self._apply_constraint(variable, shaped, EvaluationFrame(variable.owner))

    def _apply_constraint(self, variable: Variable, raw: ca.SX, frame: EvaluationFrame) -> ca.SX:
        if variable.constraint is None:
            return raw
        inner = EvaluationFrame(frame.thing, {variable.name: raw}, frame.initial)
        return algebra.fit_shape(
            self.formula(variable.constraint, variable, inner),
            raw.shape,
            f"the constraint of '{variable.name}'",
        )

    def shape(self, variable: Variable) -> tuple[int, int]:
        """The shape of a variable, from its own expression."""
        return self.value(variable, True).shape

    def _from_file(self, variable: Variable) -> ca.SX:
        assert isinstance(variable.owner, Node)
        settings = variable.owner.table or {}
        signal = table_signal(table(Path(settings["path"]), settings), variable.name, settings)
        if signal is None:
            return self.formula(variable.text, variable, EvaluationFrame(variable.owner))
        return signal

    # ---- actions ----

    def active(self, action: Action) -> ca.SX | None:
        """1 while an action counts; None if always."""
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
        symbol, state_names = self.machines[node]
        for state in states:
            if state not in state_names:
                state_names.append(state)
            self.awaited.append((node, state, mark))
        result = ca.SX(0)
        for state in states:
            result = (
                ca.logic_or(result, symbol.sym == state_names.index(state))
                if len(states) > 1
                else symbol.sym == state_names.index(state)
            )
        return result

    def term(self, action: Action, wanted: tuple[int, int], initial: bool = False) -> ca.SX:
        """What an action gives, in the shape of its target or of the elements it acts on."""
        value = self.formula(action.text, action, EvaluationFrame(action.owner, initial=initial))
        if action.index:
            return value
        try:
            return algebra.fit_shape(value, wanted, f"what {action.owner!r} does to '{action.name}'")
        except Mistake as mistake:
            raise mistake.at(action.mark) from None

    def _put(self, into: ca.SX, action: Action, value: ca.SX, frame: EvaluationFrame) -> ca.SX:
        """Add or set elements, or all."""
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
        """Which elements an action is on: `a[i, j]` lists elements column by column, `a[[r], [c]]` and ranges
        say rows and columns."""
        size = shape[0] * shape[1]
        if action.index.startswith("[") or ":" in action.index:
            numbers = ca.SX(ca.DM(np.arange(size).reshape(shape, order="F")))
            tree = read(f"x[{action.index}]").tree
            indices = evaluate(
                tree,
                lambda t: numbers if isinstance(t, Name) and t.name == "x" else self.resolve(t, frame),
                self.known_number,
            )
        else:
            indices = self.tree(read(f"[{action.index}]").tree, frame)
        where = [whole(self.known_number(e)) for e in ca.vertsplit(ca.densify(algebra.flat(indices)))]
        for k in where:
            if not 0 <= k < size:
                raise Mistake(
                    f"'{action.name}' has {size} element(s), counted from 0: there is none at {k}",
                    action.mark,
                )
        return where

    def _direct(self, variable: Variable, own: ca.SX, actions: list[Action], frame: EvaluationFrame) -> ca.SX:
        """A variable that edges set or add to: zero, filled by those that are active; its own value if none
        is."""
        result, any_active = ca.SX(*own.shape), ca.SX(0)
        for action in sorted(actions, key=lambda a: a.serial):
            on = ca.SX(1) if frame.initial and action.states else self.active(action)
            filled = self._put(
                result,
                action,
                self.term(action, own.shape, frame.initial),
                EvaluationFrame(action.owner, initial=frame.initial),
            )
            result = filled if on is None else ca.if_else(on, filled, result)
            any_active = ca.SX(1) if on is None else ca.logic_or(any_active, on)
        return (
            result if any_active.is_constant() and float(any_active) else ca.if_else(any_active, result, own)
        )

    def rate(self, variable: Variable) -> ca.SX:
        """The rate of a state: the sum of what acts on it. For a discrete variable, what is added in a
        step."""
        if variable in self.rates:
            return self.rates[variable]
        if self.summed is not None and self.names[variable] in self.summed:
            self.rates[variable] = ca.reshape(self.summed[self.names[variable]], *self.shape(variable))
            return self.rates[variable]
        total = self.sum_of_actions(self.actions.get(variable, ()), variable)
        self.rates[variable] = total
        return total

    def sum_of_actions(self, actions: Iterable[Action], variable: Variable) -> ca.SX:
        """What some actions give together."""
        wanted = self.shape(variable)
        total = ca.SX(*wanted)
        if variable in self.rates_in_progress:
            raise Mistake(f"the rate of '{variable.path}' depends on itself")
        self.rates_in_progress.add(variable)
        try:
            for action in actions:
                if not action.rate:
                    continue
                value = self._put(
                    ca.SX(*wanted), action, self.term(action, wanted), EvaluationFrame(action.owner)
                )
                on = self.active(action)
                total = total + (value if on is None else ca.if_else(on, value, ca.SX(*wanted)))
        finally:
            self.rates_in_progress.discard(variable)
        return total

    def time_derivative(self, expression: ca.SX, order: int, frame: EvaluationFrame) -> ca.SX:
        """The time derivative: states change as their equations say, and t by 1."""
        check_order(order)
        for _ in range(order):
            check_size(expression)
            if frame.initial:
                raise Mistake("the beginning of a run has no time derivatives: use the variables themselves")
            symbols, directions, along_time = [], [], False
            for s in ca.symvar(expression):
                owner = self.owners.get(s.element_hash())
                if s.element_hash() == time.element_hash():
                    along_time = True
                elif owner is not None:
                    symbols.append(s)
                    directions.append(algebra.flat(self.rate(owner[0]))[owner[1]])
                elif any(s.element_hash() == d.sym.element_hash() for d in self.delays):
                    raise Mistake("a delayed value has no time derivative here: delay the derivative instead")
            column = algebra.flat(expression)
            result = ca.SX(*column.shape)
            if symbols:
                result += ca.jtimes(column, ca.vertcat(*symbols), ca.densify(ca.vertcat(*directions)))
            if along_time:
                result += ca.jtimes(column, time, ca.SX(1))
            expression = ca.reshape(result, *expression.shape)
        return expression
