"""`Implied`: rates that are said by an equation they solve."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from strut.system.pickling import Packed


@dataclass(frozen=True, eq=False)
class Implied(Packed):
    """Another way to say some rates: those of `states` are the `unknown` (symbols, one for each component)
    for which `residual` is zero. Derivatives of the flow go this way, which is shorter where the rates come
    from a factorisation.

    The residual's derivative by the unknown must be symmetric positive definite: a mass matrix.
    """

    states: tuple[str, ...]
    unknown: ca.SX
    residual: ca.SX
