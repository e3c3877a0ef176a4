"""Evaluates operators in brackets: derivatives, delays, simplification and linear solution."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from strut.errors import did_you_mean
from strut.network.lower import algebra, scope
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.functions import Functions
from strut.network.lower.interpreter import Interpreter
from strut.network.lower.linear_algebra import solve
from strut.network.lower.whole_numbers import check_order, check_size, whole
from strut.network.text.errors import Mistake
from strut.network.text.formula import Call, Name, Operator
from strut.system import Delay


class Operators:
    """Evaluates operators such as `diff[f; x](...)` and `delayed[e](τ)` for the meaning of a network."""

    def __init__(self, meaning: Interpreter, functions: Functions) -> None:
        self.meaning, self.functions = meaning, functions

    def operator(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """Evaluate an operator. Raises `Mistake` where its brackets or arguments do not fit."""
        handlers: dict[str, Callable[[Operator, EvaluationFrame], ca.SX]] = {
            "dt": self._dt,
            "diff": self._diff,
            "pdiff": self._pdiff,
            "delayed": self._delay,
            "simplify": self._simplify,
            "linsolve": self._linsolve,
        }
        if not tree.brackets[0]:
            raise Mistake(f"{tree.name}[] has nothing in its brackets: say what it is of, {tree.name}[x]")
        return handlers[tree.name](tree, frame)

    def _dt(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """dt[e, n]: the n-th derivative by time."""
        (of, *rest) = tree.brackets[0]
        order = whole(self.meaning.known_number(self.meaning.tree(rest[0], frame))) if rest else 1
        if (
            isinstance(of, Name)
            and scope.variable(of.name, frame.thing) is None
            and scope.function(of.name, frame.thing) is not None
        ):
            of = Call(of.name, tree.arguments)
        if isinstance(of, Name):
            return self.meaning.name(Name(of.name, of.order + order), frame)
        return self.meaning.time_derivative(self.meaning.tree(of, frame), order, frame)

    def _of_function(
        self, tree: Operator, frame: EvaluationFrame
    ) -> tuple[ca.SX, dict[str, ca.SX], list[ca.SX], int, list[str]]:
        """Evaluate the function that an operator names, with symbols for its arguments.

        Returns its value, the symbols by name, the values to put in for them (and those behind), how often to
        differentiate, and by which arguments.
        """
        head = tree.brackets[0]
        if not head or not isinstance(head[0], Name):
            raise Mistake(f"{tree.name}[...] names a function first: {tree.name}[f; x](...)")
        function = scope.function(head[0].name, frame.thing)
        if function is None:
            raise Mistake(f"there is no function '{head[0].name}' to derive")
        order = (
            check_order(whole(self.meaning.known_number(self.meaning.tree(head[1], frame))))
            if len(head) > 1
            else 1
        )
        by = [t.name for t in (tree.brackets[1] if len(tree.brackets) > 1 else ()) if isinstance(t, Name)]
        values = [self.meaning.tree(t, frame) for t in tree.arguments]
        count = len(function.arguments)
        by = by or [a.name for a in function.arguments[:1]]
        for name in by:
            if name not in [a.name for a in function.arguments]:
                raise Mistake(
                    f"'{name}' is no argument of {function.name}: "
                    f"{did_you_mean(name, [a.name for a in function.arguments])}"
                )
        argument_values = values[:count]
        for a in function.arguments[len(argument_values) :]:
            if a.default is None:
                raise Mistake(f"{tree.name} of {function.name} needs {count} argument(s), not {len(values)}")
            argument_values.append(self.meaning.formula(a.default, function, EvaluationFrame(function.owner)))
        symbols = {
            a.name: ca.SX.sym(a.name, *v.shape)
            for a, v in zip(function.arguments, argument_values, strict=True)
        }
        body = self.functions.apply(function, list(symbols.values()), frame)
        return body, symbols, [*argument_values, *values[count:]], order, by

    def _pdiff(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """The partial derivative of a function by one argument, a Jacobian where that is a vector."""
        body, symbols, values, order, by = self._of_function(tree, frame)
        for _ in range(order):
            check_size(body)
            by_what = symbols[by[0]]
            derivative = ca.jacobian(algebra.flat(body), algebra.flat(by_what))
            body = ca.reshape(derivative, *body.shape) if by_what.numel() == 1 else derivative
        return _substitute(body, list(symbols.values()), values)

    def _diff(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """The total derivative, with rates of the arguments given behind them, or 1."""
        body, symbols, values, order, by = self._of_function(tree, frame)
        count = len(symbols)
        rates = values[count:]
        for _ in range(order):
            check_size(body)
            column, total = algebra.flat(body), ca.SX(body.numel(), 1)
            for k, name in enumerate(by):
                symbol = symbols[name]
                rate = rates[k] if k < len(rates) else ca.SX.ones(*symbol.shape)
                total += ca.jtimes(
                    column,
                    algebra.flat(symbol),
                    algebra.flat(algebra.fit_shape(rate, symbol.shape, f"the rate of '{name}'")),
                )
            body = ca.reshape(total, *body.shape)
        return _substitute(body, list(symbols.values()), values[:count])

    def _delay(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """delayed[e, before](τ): what e was τ seconds ago; `before` (else 0) until a run is as old."""
        of, *rest = tree.brackets[0]
        signal = self.meaning.tree(of, frame)
        if frame.initial:
            return (
                algebra.fit_shape(self.meaning.tree(rest[0], frame), signal.shape, "the past")
                if rest
                else ca.SX(*signal.shape)
            )
        if len(tree.arguments) != 1:
            raise Mistake("delayed[e](τ) needs one duration")
        by = self.meaning.tree(tree.arguments[0], frame)
        if by.numel() != 1:
            raise Mistake(f"a duration is one number, not {algebra.shape_text(by)}")
        if by.is_constant() and float(by) == 0:
            return signal
        before = (
            algebra.fit_shape(self.meaning.tree(rest[0], frame), signal.shape, "the past")
            if rest
            else ca.SX(*signal.shape)
        )
        delayed = []
        for element, past in zip(
            ca.vertsplit(ca.densify(algebra.flat(signal))),
            ca.vertsplit(ca.densify(algebra.flat(before))),
            strict=True,
        ):
            self.meaning.extra_count += 1
            delay = Delay(f"delay.d{self.meaning.extra_count}", signal=element, by=by, before=past)
            self.meaning.delays.append(delay)
            delayed.append(delay.sym)
        return ca.reshape(ca.vertcat(*delayed), *signal.shape)

    def _simplify(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """An expression, or a function with arguments, simplified by CasADi."""
        of = tree.brackets[0][0]
        called = (
            Call(of.name, tree.arguments)
            if isinstance(of, Name) and scope.function(of.name, frame.thing)
            else of
        )
        return ca.simplify(self.meaning.tree(called, frame))

    def _linsolve(self, tree: Operator, frame: EvaluationFrame) -> ca.SX:
        """Solve for the argument at which a function is zero; the function must depend on it linearly."""
        body, symbols, values, _, by = self._of_function(tree, frame)
        unknown = symbols[by[0]]
        column = algebra.flat(body)
        slope = ca.jacobian(column, algebra.flat(unknown))
        rest = ca.substitute([column], [unknown], [ca.SX.zeros(*unknown.shape)])[0]
        solution = ca.reshape(solve(slope, -rest), *unknown.shape)
        return _substitute(solution, list(symbols.values()), values[: len(symbols)])


def _substitute(expression: ca.SX, symbols: list[ca.SX], values: list[ca.SX]) -> ca.SX:
    return ca.substitute([expression], symbols, [ca.densify(v) for v in values])[0] if symbols else expression
