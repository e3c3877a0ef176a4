"""`Implied`: rates that are said by an equation they solve."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from strut.system.pickling import Packed


@dataclass(frozen=True, eq=False)
class Implied(Packed):
    """Another way to say some rates: those of `states` are the first of the `unknown` (symbols, one for each
    component) for which `residual` is zero. Derivatives of the flow go this way, which is shorter where the
    rates come from a factorisation.

    further: explicit expressions of the unknown that follow the rates, such as forces of constraints; none
        where the residual says the rates alone. Then its derivative by the unknown must be symmetric positive
        definite, a mass matrix; with forces it need only be regular.
    """

    states: tuple[str, ...]
    unknown: ca.SX
    residual: ca.SX
    further: ca.SX = field(default_factory=lambda: ca.SX(0, 1))
