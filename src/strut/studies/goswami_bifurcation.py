"""The compass gait on steeper slopes: one step repeats, then two, then four."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from strut.gait import find, follow
from strut.simulate import simulate
from strut.studies.study import Row, Study
from strut.walkers import compass


def rows() -> list[Row]:
    """Compare where the compass gait doubles its period, over the slope, with Goswami's numbers."""
    gait = find(compass(slope=math.radians(3)))
    branch = follow(compass(), "slope", to=math.radians(5.2), start=gait, points=60)
    first = branch.bifurcations[0]
    doubled = first.doubled(to=math.radians(5.05), points=60)
    second = next((b for b in doubled.bifurcations if b.kind == "doubling"), None)
    return [
        Row(
            "slope of the first doubling [deg]",
            "4.37",
            f"{math.degrees(first.at):.7f}",
            _ours_is_exact(first.at),
        ),
        Row(
            "slope of the second doubling [deg]",
            "-",
            f"{math.degrees(second.at):.7f}"
            if second
            else f"none up to {math.degrees(doubled.parameter[-1]):.4f}",
            "of gaits that repeat after two steps" if second else f"the doubled branch: {doubled.ended}",
        ),
        Row("period at 3 deg [s]", "-", f"{gait.period:.9f}"),
        Row("largest multiplier at 3 deg", "-", f"{abs(gait.multipliers[0]):.9f}"),
        Row(
            "step lengths at 4.5 deg [m]",
            "two",
            _lengths(math.radians(4.5), branch.gait(math.radians(4.5)).x0),
            "simulated, after 200 steps",
        ),
    ]


def _ours_is_exact(at: float) -> str:
    return (
        f"ours is where a multiplier is -1, {at:.9f} rad: closer to it, a simulated walk takes ever "
        f"longer to settle"
    )


def _lengths(slope: float, begin: Mapping[str, float]) -> str:
    near = dict(begin)
    near["stance_rate"] += 1e-3
    run = simulate(compass(slope=slope), t=160.0, x0=near)
    lengths = np.array([e.after["step_length"] for e in run.events if e.name == "heel_strike"][-8:])
    return ", ".join(f"{v:.6f}" for v in np.unique(np.round(lengths, 6)))


STUDY = Study(
    "goswami-bifurcation",
    "A study of the passive gait of a compass-like biped robot: symmetry and chaos",
    "Goswami, Thuilot and Espiau, Int. J. Robotics Research 17 (1998)",
    rows,
)
