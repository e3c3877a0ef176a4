"""The simplest walking model: two gaits at every small slope, and the doubling of the longer one.

As the slope goes to 0 the model becomes linear between heel strikes, theta'' = theta and phi'' = theta - phi,
begun at phi = 2 theta with
phi' = 0 and ended by phi = 2 theta = -2 theta(0). This leaves cos(t/2) (3 cos(t/2) + coth(t/2) sin(t/2)) = 0
for the period t: pi for the short gait, the first root of tan(t/2) = -3 tanh(t/2) for the long one; and
theta' = -theta coth(t/2). What the slope gives per step, 2 theta slope, is what the strike takes, 2 theta'^2
theta^2: so theta = tanh(t/2)^(2/3) slope^(1/3).
"""

from __future__ import annotations

import math

from strut.gait import Gait, find_all, follow
from strut.studies.study import Row, Study
from strut.walkers import simplest

SMALL_SLOPES = (0.001, 0.001 / 8)
"""Slopes [rad] from which limits at zero are extrapolated."""


def rows() -> list[Row]:
    """Compare gaits, their doubling and their limits at small slopes with Garcia's numbers."""
    long, short = find_all(simplest(slope=0.009))
    doubling = follow(simplest(slope=0.009), "slope", to=0.017, start=long, points=40).bifurcations[0]
    gaits = [find_all(simplest(slope=slope)) for slope in SMALL_SLOPES]
    m = long.multipliers[0]
    return [
        Row("long gait at 0.009: stance angle [rad]", "0.200310900544287", f"{long.x0['stance']:.12f}"),
        Row("long gait at 0.009: stance rate", "-0.199832473004977", f"{long.x0['stance_rate']:.12f}"),
        Row("long gait at 0.009: multipliers", "-0.190 ± 0.558 i", f"{m.real:.9f} ± {abs(m.imag):.9f} i"),
        Row(
            "long gait is stable for slopes up to", "0.0151", f"{doubling.at:.7f}", "where a multiplier is -1"
        ),
        Row(
            "short gait at 0.009",
            "unstable",
            f"multipliers {short.multipliers[0].real:.6f}, {short.multipliers[1].real:.6f}",
        ),
        *[
            row
            for k, name in enumerate(("long", "short"))
            for row in _limits(name, [at_slope[k] for at_slope in gaits])
        ],
    ]


def period_limit(name: str) -> float:
    """Return the period of the long or the short gait as the slope goes to 0, in units of sqrt(leg / g)."""
    if name == "short":
        return math.pi
    t = 3.8
    for _ in range(50):  # t = 2 (pi - atan(3 tanh(t/2))) contracts
        t = 2 * (math.pi - math.atan(3 * math.tanh(t / 2)))
    return t


def _limits(name: str, gaits: list[Gait]) -> list[Row]:
    """The limits in closed form, and ours from two small slopes: corrections go as slope^(2/3), a quarter at
    the smaller one."""
    period = period_limit(name)
    periods = [g.period for g in gaits]
    angles = [g.x0["stance"] / slope ** (1 / 3) for g, slope in zip(gaits, SMALL_SLOPES, strict=True)]
    remark = "published: the closed form; ours: from slopes of 0.001 and an eighth of it"
    return [
        Row(
            f"period as the slope goes to 0: {name}",
            f"{period:.6f}",
            f"{_extrapolate_to_zero(periods):.6f}",
            remark,
        ),
        Row(
            f"stance angle / slope^(1/3): {name}",
            f"{math.tanh(period / 2) ** (2 / 3):.6f}",
            f"{_extrapolate_to_zero(angles):.6f}",
            remark,
        ),
    ]


def _extrapolate_to_zero(values: list[float]) -> float:
    """Richardson's extrapolation from two slopes, of an error that falls to a quarter."""
    return (4 * values[1] - values[0]) / 3


STUDY = Study(
    "garcia-simplest",
    "The simplest walking model: stability, complexity, and scaling",
    "Garcia, Chatterjee, Ruina and Coleman, J. Biomech. Eng. 120 (1998)",
    rows,
)
