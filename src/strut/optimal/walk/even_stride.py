"""An even stride to begin a search from, of a walker without a passive gait: it swings at a constant rate
from the posture it begins in to that before the next step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.codegen import lower_system
from strut.gait.exchange import mirrored_states
from strut.gait.transport import distance
from strut.optimal.solver.guess import Guess
from strut.optimal.walk.frozen_branch import FrozenBranch
from strut.optimal.walk.read_walk import gravity_of
from strut.system import System, start

PERIOD_FACTOR = 2.5
"""Duration of a step over the root of its length by gravity, sqrt(length / g): about as people walk."""


@dataclass(frozen=True, eq=False)
class EvenStride:
    """One step to begin from. period: [s]. step_length: [m]. guess: by name of a state, its values at the
    beginning and the end or at places evenly between, or its constant rate; or a motion of several phases.
    branch: what its landing does, where that depends on who touches the ground; None otherwise. events: those
    that end its phases, of a motion of several; empty otherwise. shares: the part of the period that
    a guess gives to each of them. passing_branch: the branch of a step with a phase of its own until the
    swing foot passes the other, where its walk knows when that is."""

    period: float
    step_length: float
    guess: Mapping[str, Any] | Guess
    branch: FrozenBranch | None = None
    events: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    passing_branch: FrozenBranch | None = None

    def branch_of(self, phases: int) -> FrozenBranch | None:
        """Return the branch of a step with so many phases; None where nothing is known of it."""
        branches = (self.branch, self.passing_branch)
        return next((each for each in branches if each is not None and len(each.discrete) == phases), None)

    def guess_for(self, phases: int) -> Any:
        """Return the guess for so many phases: with their durations, as long as each other where nothing
        else is known."""
        if isinstance(self.guess, Guess):
            return self.guess
        shares = self.shares if len(self.shares) == phases else (1 / phases,) * phases
        return {**self.guess, "duration": [self.period * share for share in shares]}


def even_stride(walker: System, section: str) -> EvenStride | None:
    """Return an even step that the event `section` ends; None where not every state is a coordinate or the
    rate of one, or where no posture repeats."""
    labels = walker.labels("x")
    rate_of = {k: rate for k, rate in enumerate(lower_system(walker).tables["velocity_of"]) if rate >= 0}
    at = list(rate_of)
    if not at or 2 * len(at) != len(labels):
        return None
    x, groups = walker.vector("x"), walker.vectors()
    left = walker.after(section, mirrored_states(walker))[at]
    begin = start(walker)
    f = ca.Function("stride", groups, [left, ca.jacobian(left, x[at]), distance(walker, section)])
    values = (begin.z, begin.u, begin.p)
    # One Newton step to the posture that the event turns into the one at the beginning.
    posture, slope, _ = f(begin.x, *values)
    end = begin.x.copy()
    try:
        end[at] += np.linalg.solve(np.array(slope), (begin.x[at] - np.array(posture).reshape(-1)))
    except np.linalg.LinAlgError:
        return None
    length = float(f(end, *values)[2])
    if not (math.isfinite(length) and length > 0 and np.isfinite(end).all()):
        return None
    period = PERIOD_FACTOR * math.sqrt(length / gravity_of(walker))
    guess: dict[str, Any] = {}
    for k, rate in rate_of.items():
        guess[labels[k]] = (begin.x[k], end[k])
        guess[labels[rate]] = (end[k] - begin.x[k]) / period
    return EvenStride(period, length, guess)


__all__ = ["EvenStride", "even_stride"]
