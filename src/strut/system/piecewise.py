"""Expressions in pieces: a limit, and the steps of an encoder. What is no number stays none: fmin and fmax
would give the limit in its place."""

from __future__ import annotations

import casadi as ca

from strut.checks import checked
from strut.system.quantity import Expression, sx


@checked
def limit_to(value: ca.SX, bound: Expression) -> ca.SX:
    """A value held between a bound and its negative (saturation)."""
    high = sx(bound)
    return limit_between(value, -high, high)


@checked
def limit_between(value: ca.SX, low: Expression, high: Expression) -> ca.SX:
    """A value held between two bounds (saturation). What is no number stays none, other than with fmin and
    fmax."""
    return ca.if_else(value > sx(high), sx(high), ca.if_else(value < sx(low), sx(low), value))


@checked
def nearest_step(value: ca.SX, step: float) -> ca.SX:
    """The multiple of a step that is nearest to a value: what an encoder of this resolution reads
    (quantisation)."""
    return step * ca.floor(value / step + 0.5)


__all__ = ["limit_between", "limit_to", "nearest_step"]
