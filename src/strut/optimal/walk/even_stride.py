"""A stride to begin from, of a walker that has no passive gait: it swings evenly from the posture it begins
in to that before the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.gait.transport import distance
from strut.system import System, start

PENDULUM = 2.5
"""A step lasts so many times the root of its length over gravity: as people walk."""


@dataclass(frozen=True, eq=False)
class Stride:
    """period [s], step_length [m]: of the step. guess: its states, evenly."""

    period: float
    step_length: float
    guess: dict[str, Any]


def striding(walker: System, section: str) -> Stride | None:
    """An even step; None where states do not come with their rates (NAME_rate), or postures do not repeat."""
    labels = walker.labels("x")
    at = [k for k, name in enumerate(labels) if f"{name}_rate" in labels]
    if not at or 2 * len(at) != len(labels):
        return None
    x, groups = ca.vertcat(*[q.sym for q in walker.x]), walker.vectors()
    turned = ca.vertcat(
        *[ca.SX(walker.symmetry[q.name]) if q.name in walker.symmetry else q.sym for q in walker.x]
    )
    left = walker.after(section, turned)[at]
    begin = start(walker)
    f = ca.Function("stride", groups, [left, ca.jacobian(left, x[at]), distance(walker, section)])
    values = (begin.z, begin.u, begin.p)
    posture, slope, _ = f(begin.x, *values)
    end = begin.x.copy()
    try:
        end[at] += np.linalg.solve(np.array(slope), (begin.x[at] - np.array(posture).reshape(-1)))
    except np.linalg.LinAlgError:
        return None
    length = float(f(end, *values)[2])
    if not (math.isfinite(length) and length > 0 and np.isfinite(end).all()):
        return None
    gravity = next((float(np.ravel(q.value)[0]) for q in walker.p if q.name == "g"), 9.81)
    period = PENDULUM * math.sqrt(length / gravity)
    guess: dict[str, Any] = {}
    for k in at:
        guess[labels[k]] = (begin.x[k], end[k])
        guess[f"{labels[k]}_rate"] = (end[k] - begin.x[k]) / period
    return Stride(period, length, guess)


__all__ = ["Stride", "striding"]
