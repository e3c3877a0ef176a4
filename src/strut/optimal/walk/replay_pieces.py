"""`ReplayPieces`: a plan in the event-driven simulator, interval by interval, each from where the plan says
that it begins.

An unstable gait magnifies an error of 1e-7 by 1e4 and more in a step: run in one go, the best plan drifts
away. As in multiple shooting, what is asked here is whether the simulator, with all its events, joins the
planned states: whether a small error stays as small as it was.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.gait.gait import Gait
from strut.gait.multiple_shooting import Shot, gait_through
from strut.gait.return_map import ReturnMap
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.walk.timed_phases import CLOCK, jump_event
from strut.optimal.walk.with_plan import begin_of, piece_table
from strut.simulate import Trajectory, simulate
from strut.system import System

MAX_GAP = 1e-5
"""Between the end of an interval in the simulator and the next planned state, relative to 1 + |state|; and
the most that an event may come earlier or later than planned [s]. Plans have defects of 1e-7, and an event
that a foot brings about at 0.1 m/s shifts by ten times as much."""
MAX_SHOTS = 24
"""Pieces at most in which the gait of a plan is looked for by multiple shooting: a step that magnifies an
error by 1e10 magnifies it by less than 3 in each."""
AFTER_EVENT = 1e-9
"""A run goes on by so long [s] after the event that ends it: the integrator, with other steps, may find it
1e-12 s later."""
OVERTIME = 0.25
"""An event that ends a phase is waited for by this part of the interval in which it is planned."""


@dataclass(frozen=True, eq=False)
class ReplayPieces:
    """The intervals of a plan in the simulator.

    runs: of every interval, in order, the last of a phase up to just after the event that ends it.
    gap: the largest difference of a state at the end of one from the plan, relative to 1 + |state|.
    late: by how much events come later than planned [s], the largest.
    events: those of the plan that happened. missing: the event that did not come, if one did not.
    """

    runs: tuple[Trajectory, ...] = field(repr=False)
    gap: float
    late: float
    events: tuple[str, ...]
    missing: str = ""

    def agrees(self, planned_events: list[str]) -> bool:
        """Whether the simulator joins the planned states, with the same events."""
        return (
            not self.missing
            and list(self.events) == planned_events
            and bool(self.gap <= MAX_GAP)
            and bool(abs(self.late) <= MAX_GAP)
        )


def replay_in_pieces(result: Solution, walker: System, exact: Mapping[str, Any]) -> ReplayPieces:
    """Run every interval of a plan from its planned state. walker: the machine with its plan. exact: options
    of the integrator. Discrete states begin as the simulator left them, but for those of the plan itself."""
    problem, planned = result.problem, {m.until for m in result.phases}
    z: Any = dict(problem.phases[0].z if problem.branch is None else problem.branch.z0)
    names, places, nx = problem.system.labels("x"), walker.slices("z"), problem.system.size("x")
    table = piece_table(result) if problem.system.size("u") else None
    runs: list[Trajectory] = []
    events: list[str] = []
    gap = late = 0.0
    number = 0
    for k, m in enumerate(result.phases):
        for i in range(len(m.t) - 1):
            x0 = dict(zip(names, map(float, m.x[i]), strict=True))
            if CLOCK in walker.labels("x"):
                x0[CLOCK] = float(m.t[i])
            if table is not None:
                z = _begin_piece(z, places, table.values[number], number, m.t[i : i + 2])
            event = (m.until or jump_event(result, k)) if i == len(m.t) - 2 else ""
            ends = bool(event)
            run = _run_interval(walker, m, i, event, {"x0": x0, "z0": z, **exact})
            number += 1
            if run is None:
                return ReplayPieces(tuple(runs), np.inf, np.nan, tuple(events), event)
            runs.append(run)
            events += [name for name in run.events.names if name in planned]
            end, z = run.raw.x_end[:nx], run.raw.z_end
            if ends:
                hit = next(e for e in run.events if e.name == event)
                late = max(late, hit.t - m.t[-1], key=abs)
                before, end = (np.array([side[n] for n in names]) for side in (hit.before, hit.after))
                # The plan, gone on to when the event came: a landing that is late is not told twice.
                gap = max(gap, _distance(before, m.x[-1] + (hit.t - m.t[-1]) * m.slopes[1][-1]))
            follows = m.x[i + 1] if not ends else None
            if ends and k + 1 < len(result.phases):
                follows = result.phases[k + 1].x[0]
            if follows is not None:
                gap = max(gap, _distance(end, follows))
    return ReplayPieces(tuple(runs), gap, late, tuple(events))


def find_gait_in_pieces(pieces: ReplayPieces, walker: System, result: Solution) -> tuple[Gait | None, str]:
    """Return the gait next to a plan by multiple shooting, from the middles of its intervals; or None, and
    why there is none. walker: the machine with its plan."""
    begin, section = begin_of(result), result.phases[-1].until
    happened = sorted({event.name for run in pieces.runs for event in run.events})
    step = ReturnMap(walker, section, x0=begin["x0"], z0=begin["z0"], events=happened)
    moments = [Shot(0.0, step.start.x, step.start.z)]
    for run in pieces.runs[:: math.ceil(len(pieces.runs) / MAX_SHOTS)][1:]:
        middle = (run.t0 + run.t1) / 2
        there = run.at([middle])
        x, z = (np.array([there[name][0] for name in walker.labels(group)]) for group in "xz")
        moments.append(Shot(middle, x, z))
    return gait_through(step, moments, result.duration)


def _begin_piece(z: Any, places: Mapping[str, slice], inputs: np.ndarray, number: int, t: np.ndarray) -> Any:
    """Return discrete states, by name or all of them, in which a piece of the plan begins."""
    begin = {"piece": number, "piece_begin": float(t[0]), "piece_end": float(t[1]), "plan_now": inputs}
    if isinstance(z, dict):  # where the motion begins: by name
        return {**z, **begin}
    vector = np.array(z, dtype=float)
    for name, value in begin.items():
        vector[places[name]] = value
    return vector


def _run_interval(
    walker: System, m: Motion, i: int, event: str, options: dict[str, Any]
) -> Trajectory | None:
    """Run one interval; where an event of this name ends it, up to just after that; None where this does not
    come."""
    begin, end = float(m.t[i]), float(m.t[i + 1])
    if not event:
        return _check_not_interrupted(simulate(walker, t=(begin, end), **options))
    run = _check_not_interrupted(simulate(walker, t=(begin, end + OVERTIME * (end - begin)), **options))
    hits = [e.t for e in run.events if e.name == event and e.t > begin]
    if not hits:
        return None
    return _check_not_interrupted(simulate(walker, t=(begin, hits[0] + AFTER_EVENT), **options))


def _check_not_interrupted(run: Trajectory) -> Trajectory:
    """Return a run; where Ctrl-C ended it, raise `KeyboardInterrupt`, which ends the whole search."""
    if run.raw.interrupted:
        raise KeyboardInterrupt
    return run


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference of two states, relative to 1 + |b|."""
    return float((np.abs(a - b) / (1 + np.abs(b))).max(initial=0.0))


__all__ = ["ReplayPieces", "find_gait_in_pieces", "replay_in_pieces"]
