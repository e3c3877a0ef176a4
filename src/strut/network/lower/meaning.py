"""`Meaning`: gives every variable of a network its expression of states, parameters, inputs and time."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import casadi as ca

from strut.errors import did_you_mean
from strut.network.build.calculation import CONSTANTS
from strut.network.build.model_files import read_table
from strut.network.lower import algebra, scope
from strut.network.lower.actions import Actions
from strut.network.lower.evaluate import evaluate
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.functions import Functions
from strut.network.lower.operators import Operators
from strut.network.lower.table_signal import table_signal
from strut.network.lower.whole_numbers import check_order, check_size
from strut.network.model import Action, Item, Node, Object, Variable
from strut.network.text.errors import Mark, Mistake, NetworkProblem
from strut.network.text.formula import (
    Call,
    Derivative,
    FormulaError,
    Name,
    Operator,
    Tree,
    read_formula,
    variable_names,
)
from strut.system import Delay, Discrete, Input, Param, Random, State, Sums, known_symbol, sx, time

MAX_WARNINGS = 100
"""How many warnings are kept of one network."""


class Meaning:
    """Gives every variable its expression, on demand and once, and collects the quantities these are made of.

    states, discrete, params, inputs: quantities by variable. state_machines: nodes that have states, each
    with its discrete state and the names of its states. names: of variables in the system. owners: which
    variable and element the symbol of a state is, by its hash. actions: of edges, by the variable they act
    on. future_states: variables that are to become states. summed: rates that are sums over many edges.
    extra_count: counts the quantities that random numbers and delays have made.
    """

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
        self.state_machines: dict[Node, tuple[Discrete, list[str]]] = {}
        self.names: dict[Variable, str] = {}
        self.warnings: list[NetworkProblem] = []
        self.awaited_states: list[tuple[Node, str, Mark | None]] = []  # states that something waits for
        self.memo: dict[tuple[Variable, bool], ca.SX] = {}
        self.rates: dict[Variable, ca.SX] = {}
        self.in_progress: dict[tuple[Variable, bool], None] = {}
        self.owners: dict[int, tuple[Variable, int]] = {}
        self.actions: dict[Variable, list[Action]] = {}
        self.future_states: set[Variable] = set()
        self.summed: Sums | None = None
        self.random = random.Random(seed)
        self.extra_count = 0
        self.functions = Functions(self)
        self.operators = Operators(self, self.functions)
        self.edge_actions = Actions(self)

    # ---- text to expression ----

    def formula(self, text: str, item: Item | Object, frame: EvaluationFrame) -> ca.SX:
        """Evaluate a text that belongs to an item. Raises `Mistake` with the item's place."""
        try:
            formula = read_formula(text)
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
        """Add a warning, up to `MAX_WARNINGS`."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(NetworkProblem(message, mark))

    def locate_mistake(self, mistake: Mistake, text: str, item: Item | Object) -> Mistake:
        """The mistake with its place in the file: within the text of a formula, else that of the item."""
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
        """Evaluate a syntax tree in a frame."""
        return evaluate(tree, lambda t: self.resolve(t, frame), self.known_number)

    def known_number(self, m: ca.SX) -> float:
        """The number of an expression of parameters: an index, a size. Raises `Mistake` where it changes."""
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
        """Evaluate what is no plain arithmetic: a name, a call, an operator, a derivative."""
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
        """Evaluate a name: an argument, a variable, t, dt or a constant, in this order; or its derivative.

        Raises `Mistake` with what may be meant where the name is unknown.
        """
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
        """The parameter dt [s]."""
        if self.dt is None:
            has_own_dt = any(v.name == "dt" for v in self.root.variables.values())
            self.dt = Param(
                "dt" if not has_own_dt else "dt_", self.step, "s", description="the step of the integrator"
            )
        return self.dt

    # ---- values of variables ----

    def value(self, variable: Variable, initial: bool = False) -> ca.SX:
        """The expression of a variable, now or at the beginning of a run. Raises `Mistake` where it needs
        itself."""
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
        """Note that a variable is being evaluated, so that a circle is seen."""
        self.in_progress[key] = None
        try:
            yield
        finally:
            self.in_progress.pop(key, None)

    def _prepare(self, variable: Variable, initial: bool) -> None:
        """Evaluate what a variable needs, in a loop and in the order of need, so that long chains do not
        recurse."""
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
        """Evaluate a variable that is not known yet, by what it is."""
        if not initial:
            for group in (self.states, self.discrete, self.params, self.inputs):
                if variable in group:
                    return self._read(variable, group[variable].sym)
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
        if initial and (
            variable in self.states or variable in self.discrete or variable in self.future_states
        ):
            return own
        if not initial and variable.flags & {"once", "in"}:
            return self._once(variable, own)
        direct = [a for a in self.actions.get(variable, ()) if not a.rate]
        result = self.edge_actions.direct_value(variable, own, direct, frame) if direct else own
        return self._apply_constraint(variable, result, frame)

    def _once(self, variable: Variable, own: ca.SX) -> ca.SX:
        """The value that a variable has when a run begins, kept from then on: an expression of parameters, or
        a new discrete state."""
        now = {s.element_hash(): s for s in ca.symvar(own)}
        others = [(q.sym, sx(q.value)) for q in (*self.discrete.values(), *(h for h, _ in self.draws))]
        others += [(symbol.sym, sx(symbol.value)) for symbol, _ in self.state_machines.values()]
        begins = ca.substitute([own], [time, *(a for a, _ in others)], [ca.SX(0), *(b for _, b in others)])[0]
        if not any(h in self.owners for h in now):
            return begins
        initial_value = Discrete(self.names[variable], algebra.flat(begins), description=variable.note)
        self.discrete[variable] = initial_value
        return ca.reshape(initial_value.sym, *own.shape)

    def _read(self, variable: Variable, symbol: ca.SX) -> ca.SX:
        """The symbol of a quantity in the shape of its variable, with its constraint."""
        shaped = ca.reshape(symbol, *self.shape(variable))
        return self._apply_constraint(variable, shaped, EvaluationFrame(variable.owner))

    def _apply_constraint(self, variable: Variable, raw: ca.SX, frame: EvaluationFrame) -> ca.SX:
        """A value as the constraint of its variable lets it be."""
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
        """The column of a file that a variable of an input shows, over time."""
        assert isinstance(variable.owner, Node)
        settings = variable.owner.table or {}
        signal = table_signal(read_table(Path(settings["path"]), settings), variable.name, settings)
        if signal is None:
            return self.formula(variable.text, variable, EvaluationFrame(variable.owner))
        return signal

    # ---- rates ----

    def rate(self, variable: Variable) -> ca.SX:
        """The rate of a state: the sum of what edges add to it. Of a discrete variable, what is added in a
        step."""
        if variable in self.rates:
            return self.rates[variable]
        if self.summed is not None and self.names[variable] in self.summed:
            self.rates[variable] = ca.reshape(self.summed[self.names[variable]], *self.shape(variable))
            return self.rates[variable]
        total = self.edge_actions.sum_of_rates(self.actions.get(variable, ()), variable)
        self.rates[variable] = total
        return total

    def time_derivative(self, expression: ca.SX, order: int, frame: EvaluationFrame) -> ca.SX:
        """Differentiate an expression by time, `order` times, by the chain rule through rates of states.

        Raises `Mistake` at the beginning of a run, for delayed values, and where it gets too large.
        """
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
