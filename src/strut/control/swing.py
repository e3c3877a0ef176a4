"""Swing profiles: how a foot goes from one place to another, with its rate and acceleration, as expressions.

`sine` is van de Rijt's (eqs. 4.1 and 4.2): at rest at both ends, with accelerations that jump there. `smooth`
begins and ends without acceleration: quintic along the way (minimum jerk), and a bump of degree six upwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.errors import UnknownNameError, did_you_mean
from strut.system import Expression, sx


@dataclass(frozen=True, eq=False)
class SwingMotion:
    """Along and up from where the foot was, each a place [m], rate [m/s] and acceleration [m/s^2]."""

    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX


def _sine(s: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Part of the length and of the height at a part s of the time, by half and whole waves of a cosine."""
    return (1 - ca.cos(math.pi * s)) / 2, (1 - ca.cos(2 * math.pi * s)) / 2


def _smooth(s: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Part of the length and of the height at a part s of the time, by polynomials."""
    return s**3 * (10 - 15 * s + 6 * s**2), 64 * (s * (1 - s)) ** 3


SWING_PROFILES: dict[str, Callable[[ca.SX], tuple[ca.SX, ca.SX]]] = {"sine": _sine, "smooth": _smooth}
"""By name: the parts of a swing's length and height at a part of its time."""


@checked
def swing_motion(
    length: Expression,
    height: Expression,
    duration: Expression,
    t: Expression,
    profile: str = "sine",
) -> SwingMotion:
    """The motion of a swinging foot a time t [s] after it left, at rest before and after.

    length: of the swing [m], signed. height: of its highest point [m]. duration: [s]. profile: a name of
    `SWING_PROFILES`.
    """
    check_swing_profile(profile)
    s = ca.SX.sym("s")
    parts = ca.vertcat(*SWING_PROFILES[profile](s))
    rates = ca.jacobian(parts, s)
    inside = sx(t) / sx(duration)
    swings = ca.logic_and(inside >= 0, inside <= 1)
    inside_part = ca.fmax(0, ca.fmin(1, inside))
    scale = ca.vertcat(sx(length), sx(height))
    at, rate, bend = ca.substitute([parts, rates, ca.jacobian(rates, s)], [s], [inside_part])
    return SwingMotion(
        scale * at,
        ca.if_else(swings, scale * rate / sx(duration), 0),
        ca.if_else(swings, scale * bend / sx(duration) ** 2, 0),
    )


def check_swing_profile(profile: str) -> None:
    """Raise UnknownNameError where a swing profile is none of `SWING_PROFILES`."""
    if profile not in SWING_PROFILES:
        raise UnknownNameError(
            f"there is no swing profile '{profile}': {did_you_mean(profile, list(SWING_PROFILES))}"
        )


__all__ = ["SWING_PROFILES", "SwingMotion", "check_swing_profile", "swing_motion"]
