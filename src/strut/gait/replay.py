"""Replays: a gait must come back in the simulator itself, which knows nothing of variations and sections,
discrete states included."""

from __future__ import annotations

from dataclasses import dataclass
from threading import get_ident

import casadi as ca
import numpy as np

from strut.gait.exchange import mirror
from strut.gait.return_map import MAP_TOLERANCES, MAX_INTEGRATOR_STEPS, ReturnMap
from strut.gait.step_budget import step_budget
from strut.gait.transport import distance_between
from strut.simulate import Trajectory, simulate
from strut.simulate.prepared_run import PreparedRun
from strut.system import System, memo

RETURN_TOLERANCE = 1e-8
"""By how much the free states after a replayed step may differ from those before, relative to 1 + |y| and
times what the gait itself magnifies."""
REPLAY_MARGIN = 1e-10
"""By how much a replayed run outlasts its period, relative and in seconds: enough for the last event and for
what it sets off at once, too little to move."""
TIME_TOLERANCE = 1e-10
"""By how much the event that ends a replayed step may come earlier or later, relative to 1 s + the period,
and times by how much the gait magnifies more than 1."""
MAX_LATENESS = 1.01
"""But at most after so many periods."""
MIN_STEP = 1e-6
"""Shortest distance [m], and shortest duration [s], of a step."""
MAX_REPLAY_STEPS = 10 * MAX_INTEGRATOR_STEPS
"""Most steps of the integrator in a replayed period."""


@dataclass(frozen=True, eq=False)
class GaitReplay:
    """How one period ended in the simulator: its status, the states, how many events there were, and how far
    it came [m]."""

    status: str
    x: np.ndarray
    z: np.ndarray
    events: int
    distance: float


def replay_time(period: float) -> float:
    """A period [s], and just so much longer that the event that ends it happens in the run."""
    return period * (1 + REPLAY_MARGIN) + REPLAY_MARGIN


def record(system: System, x0: np.ndarray, z0: np.ndarray, period: float) -> Trajectory:
    """Simulate one period [s] from a state, as a trajectory."""
    return simulate(
        system, t=replay_time(period), x0=x0, z0=z0, rtol=MAP_TOLERANCES["rtol"], atol=MAP_TOLERANCES["atol"]
    )


def replay(
    step: ReturnMap, x: np.ndarray, z: np.ndarray, period: float, p: np.ndarray | None = None
) -> GaitReplay:
    """Simulate one period [s] from a state, in the system without variations. p: other values of all
    parameters."""
    run = memo(step.system, prepared_replay, get_ident())
    run.x0[0], run.z0[0], run.u[0], run.p[0] = x, z, step.start.u, step.start.p if p is None else p
    run(replay_time(period))
    x1, z1, values = run.x[0].copy(), run.z[0].copy(), run.p[0].copy()
    return GaitReplay(
        status=run.status,
        x=x1,
        z=z1,
        events=int(run.counts.sum()),
        distance=distance_between(step.system, (x, z), (x1, z1), values, step.shape),
    )


def prepared_replay(system: System, thread: int) -> PreparedRun:
    """A run of a system with everything in place, for replays. Each thread has its own."""
    return PreparedRun(system, 1.0, **MAP_TOLERANCES, max_steps=step_budget(system, MAX_REPLAY_STEPS))


def why_no_gait(step: ReturnMap, y: np.ndarray, period: float, magnified: float) -> tuple[str, float]:
    """Why a fixed point of the map is no gait, empty if it is one; and how far it comes in a period [m].

    The state it ends in must be the one it began in, and its discrete states must make the next step like the
    first. magnified: by how much a step of it magnifies what is next to it, rounding included: the 2-norm of
    its Jacobian, which the largest multiplier may be far below. So the second step, too, begins at the fixed
    point itself, and both are judged just after the event that ends them.
    """
    first = replay_to_event(step, step.whole(y), step.start.z, period, magnified)
    why = why_no_step(first, period)
    if why:
        return why, first.distance
    # each replay ends a little after its last event, and the state moves on meanwhile
    moved = (replay_time(period) - period) * max_initial_rate(step, step.whole(y))
    allowed = (RETURN_TOLERANCE + moved) * max(1.0, magnified) * (1 + np.abs(y).max())
    turned = bool(step.system.symmetry) and step.steps % 2 == 1
    x, z = mirror(step.system, first.x, first.z, step.start.p) if turned else (first.x, first.z)
    first_state = state_set_off(step, y)
    if not np.abs(step.free(x) - first_state).max() < allowed:
        return "the first step did not come back", first.distance
    second = replay_to_event(step, step.whole(first_state, x), z, period, magnified)
    if second.status != "done":
        return second.status, first.distance
    x = mirror(step.system, second.x, second.z, step.start.p)[0] if turned else second.x
    repeats = np.abs(step.free(x) - first_state).max() < allowed
    return "" if repeats else "the second step was another", first.distance


def state_set_off(step: ReturnMap, y: np.ndarray) -> np.ndarray:
    """The free states once all has happened that the section sets off at the same instant: nothing, usually,
    and then they are y. A replay ends after it."""
    instant = replay(step, step.whole(y), step.start.z, 0.0)
    return step.free(instant.x) if instant.events and instant.status == "done" else y


def replay_to_event(
    step: ReturnMap, x: np.ndarray, z: np.ndarray, period: float, magnified: float
) -> GaitReplay:
    """Simulate one period [s] to just after the event that ends it, which comes as much earlier or later as a
    gait that magnifies rounding lets it."""
    within = TIME_TOLERANCE * (magnified - 1) * (1 + period)
    if not within > 0:
        return replay(step, x, z, period)
    longer = min(period + within, period * MAX_LATENESS)
    run = simulate(
        step.system,
        t=longer,
        x0=x,
        z0=z,
        rtol=MAP_TOLERANCES["rtol"],
        atol=MAP_TOLERANCES["atol"],
        max_steps=step_budget(step.system, MAX_REPLAY_STEPS),
    )
    if run.status == "interrupted":
        raise KeyboardInterrupt
    times = np.array([event.t for event in run.events])
    near = times[np.abs(times - period) <= within]
    return replay(step, x, z, float(near[np.abs(near - period).argmin()]) if len(near) else period)


def max_initial_rate(step: ReturnMap, x: np.ndarray) -> float:
    """The largest |dx/dt| at a state, of those that are finite."""
    rates = np.array(memo(step.system, rate_function)(0.0, x, step.start.z, step.start.u, step.start.p))
    return float(np.abs(rates[np.isfinite(rates)]).max(initial=0.0))


def rate_function(system: System) -> ca.Function:
    """The flow as a function of the time and of all vectors."""
    return system.function("rates", [ca.vertcat(*[system.flow[q.name] for q in system.x])])


def why_no_step(first: GaitReplay, period: float) -> str:
    """Why a replayed period [s] is no step; empty if it may be one."""
    if first.status != "done":
        return first.status
    if not period > MIN_STEP or abs(first.distance) < MIN_STEP:
        return "stood still"
    return "" if first.events else "made no step"


__all__ = ["GaitReplay", "record", "replay", "why_no_gait", "why_no_step"]
