"""Calls functions: those that a network defines, piecewise polynomials, and random numbers."""

from __future__ import annotations

import itertools

import casadi as ca

from strut.errors import did_you_mean
from strut.network.lower import algebra, scope
from strut.network.lower.evaluate import arguments
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.interpreter import Interpreter
from strut.network.model import Function
from strut.network.text.errors import LimitExceeded, Mistake
from strut.network.text.formula import Call, Name
from strut.system import Discrete, Param, Random

MAX_CALL_DEPTH = 100
"""How deep functions of a network may call each other."""
MAX_CALLS = 5000
"""How many calls of functions one variable or action may need, those with equal arguments counted once."""
BUILT_IN = {
    *algebra.UNARY, *algebra.BINARY_FUNCTIONS, *algebra.REDUCERS,
    "lerp", "clip", "cycle", "transpose", "inv", "inverse", "pinv", "qr", "diag", "tril", "triu",
    "csum", "rsum", "linsolve", "vcat", "zeros", "eye", "length", "size", "index", "lindex", "rand",
    "sltdl", "sltdldinv", "sltdllinv", "sltdllinvt", "sltdldinvlinvt", "slinsolve",
}  # fmt: skip
"""The names of all functions of the language."""


class Functions:
    """Calls functions for the meaning of a network, and shares the results of equal calls."""

    def __init__(self, meaning: Interpreter) -> None:
        self.meaning = meaning
        self.calls = 0
        self._results: dict[tuple[object, ...], tuple[list[ca.SX], ca.SX]] = {}

    def call(self, tree: Call, frame: EvaluationFrame) -> ca.SX:
        """Evaluate a call. The same call in the same frame is evaluated once, unless it draws random
        numbers. Raises `Mistake` where there is no such function or its arguments do not fit."""
        if not frame.depth:
            return self._call(tree, frame)
        try:
            shared = frame.calls.get(tree)
        except RecursionError:  # a sum of thousands has no hash, and need not be shared
            return self._call(tree, frame)
        if shared is not None:
            return shared
        before = self.meaning.extra_count
        result = self._call(tree, frame)
        if self.meaning.extra_count == before:
            frame.calls[tree] = result
        return result

    def _call(self, tree: Call, frame: EvaluationFrame) -> ca.SX:
        function = scope.function(tree.name, frame.thing)
        values = arguments(tree, lambda t: self.meaning.resolve(t, frame), self.meaning.known_number)
        if function is not None:
            return self.meaning.time_derivative(self.apply(function, values, frame), tree.order, frame)
        if tree.name == "rand":
            return self.rand(values, frame)
        result = algebra.call(tree.name, values, self.meaning.known_number)
        if result is None:
            raise Mistake(f"there is no function '{tree.name}': {did_you_mean(tree.name, sorted(BUILT_IN))}")
        return self.meaning.time_derivative(result, tree.order, frame)

    def apply(self, function: Function, values: list[ca.SX], frame: EvaluationFrame) -> ca.SX:
        """Apply a function that the network defines; its implicit arguments are looked up at the caller.

        values: the explicit arguments. frame: that of the caller. Raises `Mistake` where the number of
        arguments does not fit or functions call each other too deep.
        """
        if not frame.depth:  # what is shared may change its meaning between expressions
            self.calls = 0
            self._results.clear()
        if frame.depth > MAX_CALL_DEPTH:
            raise Mistake(
                f"functions call each other more than {MAX_CALL_DEPTH} deep, '{function.name}' among them"
            )
        if function.pieces:
            if len(values) != 1:
                raise Mistake(f"the polynomial '{function.name}' takes 1 argument, not {len(values)}")
            return self.polynomial(function, values[0])
        least = sum(a.default is None for a in function.arguments)
        if not least <= len(values) <= len(function.arguments):
            argument_names, most = ", ".join(a.name for a in function.arguments), len(function.arguments)
            takes = f"{least}" if least == most else f"{least} to {most}"
            raise Mistake(f"{function.name}({argument_names}) takes {takes} argument(s), not {len(values)}")
        named = {a.name: v for a, v in zip(function.arguments, values, strict=False)}
        inner = EvaluationFrame(function.owner, named, initial=frame.initial, depth=frame.depth + 1)
        for a in function.arguments[len(values) :]:
            named[a.name] = self.meaning.formula(a.default or "0", function, inner)
        for a in function.implicit:
            name = f"{a.scope}.{a.name}" if a.scope else a.name
            if a.name in frame.values:
                named[a.name] = frame.values[a.name]
            elif scope.variable(name, frame.thing) is not None or a.default is None:
                named[a.name] = self.meaning.name(Name(name), frame)
            else:
                named[a.name] = self.meaning.formula(a.default, function, inner)
        return self._body(function, inner)

    def _body(self, function: Function, frame: EvaluationFrame) -> ca.SX:
        """Evaluate the text of a function in a frame: once for equal arguments, unless it draws random
        numbers or has delays."""
        key = (function, frame.initial, *((name, _identity(value)) for name, value in frame.values.items()))
        shared = self._results.get(key)
        if shared is not None:
            return shared[1]
        self.calls += 1
        if self.calls > MAX_CALLS:
            raise LimitExceeded(
                f"functions are called more than {MAX_CALLS} times here, '{function.name}' among them: each "
                f"calls the next several times, "
                "with other arguments; name what they share as variables"
            )
        before = self.meaning.extra_count
        result = self.meaning.formula(function.text, function, frame)
        if self.meaning.extra_count == before:
            self._results[key] = (
                list(frame.values.values()),
                result,
            )  # arguments are kept: a symbol's hash is its address
        return result

    def polynomial(self, function: Function, x: ca.SX) -> ca.SX:
        """Evaluate a piecewise polynomial at x; where pieces overlap, it is their mean."""
        frame = EvaluationFrame(function.owner)
        pieces = []
        for piece in function.pieces:
            begin, end = (
                self.meaning.known_number(self.meaning.formula(text, function, frame))
                for text in (piece.begin, piece.end)
            )
            pieces.append(
                (begin, end, [self.meaning.formula(c, function, frame) for c in piece.coefficients])
            )
        pieces.sort(key=lambda p: p[0])

        def at(k: int, point: ca.SX) -> ca.SX:
            """One piece, by Horner's scheme."""
            begin, _, coefficients = pieces[k]
            result = ca.SX(0)
            for c in coefficients:
                result = result * (point - begin) + c
            return result

        def one(point: ca.SX) -> ca.SX:
            bounds = sorted({b for begin, end, _ in pieces for b in (begin, end)})
            spans = list(itertools.pairwise(bounds)) or [(bounds[0], bounds[0])]
            parts = []
            for low, high in spans:
                inside = [k for k, (b, e, _) in enumerate(pieces) if b <= low and high <= e]
                inside = inside or [max((k for k, p in enumerate(pieces) if p[0] <= low), default=0)]
                parts.append(sum((at(k, point) for k in inside), ca.SX(0)) / len(inside))
            result = parts[-1]
            for (_, high), part in list(zip(spans, parts, strict=True))[-2::-1]:
                result = ca.if_else(point < high, part, result)
            return result

        return ca.reshape(ca.vertcat(*[one(p) for p in ca.vertsplit(ca.densify(algebra.flat(x)))]), *x.shape)

    def rand(self, values: list[ca.SX], frame: EvaluationFrame) -> ca.SX:
        """Draw random numbers: from 0 to 1, from 0 to a bound, or between two, in the shape of these."""
        if len(values) > 2:
            raise Mistake(f"rand takes at most 2 arguments, not {len(values)}")
        low, high = (
            (ca.SX(0), ca.SX(1)) if not values else (ca.SX(0), values[0]) if len(values) == 1 else values
        )
        low, high = algebra.broadcast(low, high, "rand")
        drawn = ca.vertcat(*[self._draw(frame) for _ in range(low.numel())])
        return low + (high - low) * ca.reshape(drawn, *low.shape)

    def _draw(self, frame: EvaluationFrame) -> ca.SX:
        """One random number from 0 to 1: a parameter at the beginning of a run, else a discrete state that is
        drawn anew in every step."""
        self.meaning.extra_count += 1
        first = Param(
            f"rand.r{self.meaning.extra_count}",
            self.meaning.random.random(),
            bounds=(0, 1),
            description="a random number drawn when the model was loaded",
        )
        self.meaning.extra_params.append(first)
        if frame.initial:
            return first.sym
        number = Discrete(
            f"rand.held{self.meaning.extra_count}",
            first.sym,
            description="a random number, drawn anew in every step",
        )
        self.meaning.draws.append((number, Random(f"rand.drawn{self.meaning.extra_count}")))
        return number.sym


def _identity(m: ca.SX) -> tuple[object, ...]:
    """A key that is equal for matrices of the same expressions in the same places."""
    return (m.shape, tuple(m.sparsity().find()), tuple(e.element_hash() for e in m.nonzeros()))  # type: ignore[attr-defined]  # those of an SX are SX
