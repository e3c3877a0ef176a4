"""`OwnCost`: a cost of one's own, beside those that have a name."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError
from strut.optimal.expression_key import expression_key, expression_text, totals_of
from strut.optimal.problem import Problem
from strut.optimal.totals import Integral, MotionTotal
from strut.system import Expression, Packed, Param, Quantity, System, sx

UNNAMED = "own cost"
"""The name of a cost that was given without one."""


@checked
@dataclass(frozen=True, eq=False)
class OwnCost(Packed):
    """A cost of one's own, to be minimised alone or beside others.

    expression: made of integrals (`optimal.Integral`), sums over events (`optimal.Jumps`), parameters, and of
        states, outputs, inputs and `time` at the end of the step; or the name of one of these. It counts as
        it is: nothing divides it by weight or distance.
    name: by which tables call it; in a dict of several costs, its key. weight: by which it is multiplied.
    unit: of the expression, for tables. text: how it is listed.
    """

    expression: Expression
    name: str = ""
    weight: float = 1.0
    unit: str = ""
    text: str = ""
    totals: tuple[MotionTotal, ...] = field(default=(), init=False, repr=False)
    """The integrals and sums in the expression, kept as long as it is."""

    def __post_init__(self) -> None:
        check_weight(self.name or UNNAMED, self.weight)
        if isinstance(self.expression, str):
            object.__setattr__(self, "name", self.name or self.expression)
            return
        owner = self.expression if isinstance(self.expression, Quantity) else None
        column = sx(self.expression)
        if column.numel() != 1:
            raise ModelError(f"cost '{self.name or UNNAMED}' has {column.numel()} numbers: one is needed")
        object.__setattr__(self, "name", self.name or (owner.name if owner is not None else UNNAMED))
        object.__setattr__(self, "expression", column)
        object.__setattr__(self, "totals", totals_of(column))

    def column(self, system: System) -> ca.SX:
        """Return the expression, of a system that has its symbols."""
        return system[self.expression] if isinstance(self.expression, str) else sx(self.expression)

    @property
    def meaning(self) -> str:
        """What is meant by it, in words."""
        if self.text or isinstance(self.expression, str):
            return self.text or str(self.expression)
        texts = [
            f"{t.name} = integral of {f'{t.split} ' if t.split else ''}{expression_text(ca.SX(t.rate))}"
            for t in self.totals
            if isinstance(t, Integral)
        ]
        return "; ".join([expression_text(sx(self.expression)), *texts])

    def terms(self, system: System) -> tuple[ca.SX, tuple[MotionTotal, ...]]:
        """Return the expression, and the integrals and sums that it is made of."""
        return self.column(system), self.totals

    def parameters(self) -> tuple[Param, ...]:
        """Return the parameters that a system needs for it: none."""
        return ()

    def check(self, system: System) -> None:
        """Raise what is wrong with it for a system, before anything is searched for."""
        Problem(system).minimise(self.column(system))

    def with_name(self, name: str) -> OwnCost:
        """Return the same cost under another name."""
        return replace(self, name=name)

    def identity(self, system: System) -> dict[str, Any]:
        """Return what makes this cost this one: plain data that is equal in every process."""
        key = expression_key(system, self.column(system))
        return {"name": self.name, "weight": self.weight, "unit": self.unit, "key": key}


def check_weight(name: str, weight: float) -> None:
    """Raise `ValueRangeError` unless a weight is finite and not negative."""
    if not (math.isfinite(weight) and weight >= 0):
        raise ValueRangeError(f"the weight of cost '{name}' is {weight}: it must not be negative")


__all__ = ["OwnCost", "check_weight"]
