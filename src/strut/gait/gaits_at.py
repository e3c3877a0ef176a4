"""`gaits_at`: the gaits of a branch at values of its parameter that were asked, which its own points hardly
ever have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from strut.checks import checked, finite
from strut.gait.bifurcation_tests import BranchPoint
from strut.gait.branch import Branch
from strut.gait.follow import PLANE_TOLERANCE, Continuation
from strut.gait.return_map import ReturnMap

MAX_DETOUR = 2.0
"""A gait between two of a branch is at most so many times as far from both together as they are from each
other, in scaled numbers: what is farther away belongs to another part of the branch."""


@dataclass(frozen=True, eq=False)
class GaitAtValue:
    """A gait of a branch at a value of its parameter that was asked.

    point: the gait; None where there is none. why: there is none; empty where there is one.
    """

    value: float
    point: BranchPoint | None
    why: str = ""


@checked
def gaits_at(branch: Branch, values: Sequence[float]) -> list[GaitAtValue]:
    """Return the gaits of a branch at values of its parameter, by Newton's method from neighbouring gaits of
    the branch.

    They are in the order of the values: of each one entry, with the gait or why there is none; several where
    the branch turned back at a fold and passes the value again.
    """
    first = branch.points[0]
    x0 = ReturnMap(branch.system, branch.section, z0=branch.z0).whole(first.y)
    step = ReturnMap(branch.system, branch.section, (branch.name,), steps=branch.steps, x0=x0, z0=branch.z0)
    parameter = branch.parameter
    span = float(np.ptp(parameter)) or 1.0
    continuation = Continuation(step, span, (float(parameter.min()), float(parameter.max())))
    path = _points_with_folds(branch)
    gaits: list[GaitAtValue] = []
    for value in values:
        finite("values", value)
        gaits += _gaits_at_one(continuation, path, float(value)) or [
            GaitAtValue(float(value), None, f"the branch does not come there: {branch.ended}")
        ]
    return gaits


def _points_with_folds(branch: Branch) -> list[BranchPoint]:
    """Return the points of a branch and its folds, in order: between two points it may go on to a fold and
    come back."""
    path = list(branch.points)
    for kind, fold in branch.roots:
        if kind == "fold":
            detours = [
                float(np.linalg.norm(a.y - fold.y) + np.linalg.norm(b.y - fold.y) - np.linalg.norm(a.y - b.y))
                for a, b in pairwise(path)
            ]
            path.insert(int(np.argmin(detours)) + 1, fold)
    return path


def _gaits_at_one(continuation: Continuation, path: list[BranchPoint], value: float) -> list[GaitAtValue]:
    """Return what is at one value, wherever the branch passes it."""
    rounding = PLANE_TOLERANCE * continuation.scale[-1]
    offsets = [point.value - value if abs(point.value - value) > rounding else 0.0 for point in path]
    gaits = []
    for k, point in enumerate(path):
        if offsets[k] == 0.0:
            gaits.append(GaitAtValue(value, point))
        elif k + 1 < len(path) and offsets[k] * offsets[k + 1] < 0:
            between = _gait_between(continuation, point, path[k + 1], value)
            gaits.append(GaitAtValue(value, between, "" if between else continuation.why))
    return gaits


def _gait_between(
    continuation: Continuation, a: BranchPoint, b: BranchPoint, value: float
) -> BranchPoint | None:
    """Return the gait at a value between two neighbours; None where Newton finds none between them, or the
    simulator does not make its step."""
    w_a, w_b = (np.append(point.y, point.value) / continuation.scale for point in (a, b))
    way = float(np.linalg.norm(w_b - w_a))
    part = (value - a.value) / (b.value - a.value)
    # beside a fold the parameter goes with the square of the way from it
    for guess_part in (part, np.sqrt(part), 1 - np.sqrt(1 - part)):
        guess = w_a + guess_part * (w_b - w_a)
        corrected = continuation.correct(
            guess, continuation.along_parameter, value / float(continuation.scale[-1])
        )
        if corrected is None:
            continue
        detour = np.linalg.norm(corrected.w - w_a) + np.linalg.norm(corrected.w - w_b)
        if detour > MAX_DETOUR * way:
            continuation.why = "Newton finds a gait elsewhere"
        elif continuation.walks(corrected):
            return continuation.point(corrected, w_b - w_a)
    return None


__all__ = ["GaitAtValue", "gaits_at"]
