"""`split_step`: a planned step cut into more phases, where events that its plan did not name come in it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import casadi as ca
import numpy as np

from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.result import Motion, Solution
from strut.system import sx, time

GUARD_MOMENTS = 400
"""Moments of a phase at which the guard of an event is looked at."""


def split_step(step: Solution, events: Sequence[str | None]) -> Guess | None:
    """Return a step as a guess whose phases end with `events`: those of its plan and others in between, each
    where its guard comes above zero for the last time in its phase; None where one of them does not."""
    stretches: list[Stretch] = []
    names = list(events)
    for m in step.phases:
        if m.until not in names:
            return None
        inside, names = names[: names.index(m.until)], names[names.index(m.until) + 1 :]
        crossings = [_last_crossing(step, m, str(event)) for event in inside]
        cuts = [float(m.t[0]), *[cut for cut in crossings if cut is not None], float(m.t[-1])]
        if None in crossings or any(np.diff(cuts) <= 0):
            return None
        stretches += [_stretch(m, begin, end) for begin, end in pairwise(cuts)]
    return Guess(tuple(stretches), dict(step.parameters)) if not names else None


def _last_crossing(step: Solution, m: Motion, event: str) -> float | None:
    """Return the last moment [s] of a phase in which the guard of an event comes above zero."""
    system = step.problem.system
    guard = ca.Function("guard", [time, *system.vectors()], [sx(system.event(event).guard)])
    t = np.linspace(m.t[0], m.t[-1], GUARD_MOMENTS)
    still = [np.repeat(part[:, None], len(t), axis=1) for part in (m.z, step.p)]
    values = np.array(guard(t[None], m.states(t).T, still[0], m.inputs(t).T, still[1])).reshape(-1)
    rises = np.flatnonzero((values[:-1] <= 0) & (values[1:] > 0))
    return float(t[rises[-1] + 1]) if len(rises) else None


def _stretch(m: Motion, begin: float, end: float) -> Stretch:
    """Return a part of a phase, from one moment [s] to another."""
    return Stretch(
        end - begin,
        lambda s: m.states(begin + (end - begin) * s),
        lambda s: m.inputs(begin + (end - begin) * s),
    )


__all__ = ["split_step"]
