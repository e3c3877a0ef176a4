"""Replays: a gait must come back in the simulator itself, which knows nothing of variations and sections,
discrete states included."""

from __future__ import annotations

from dataclasses import dataclass
from threading import get_ident

import casadi as ca
import numpy as np

from strut.gait.return_map import MOST_STEPS, TOLERANCE, ReturnMap
from strut.gait.transport import mirror, travelled
from strut.simulate import Trajectory, simulate
from strut.simulate.prepared_run import Ready
from strut.system import System, sx, time

RETURNS = 1e-8
"""A replayed step must come back this closely, times what the gait itself magnifies."""
AFTER = 1e-10
"""By how much a replayed run outlasts its period, relative and in seconds: enough for the last event and for
what it sets off at once, too little to move."""
STANDS = 1e-6
"""A step shorter than this [m], or than this [s], is no step."""


@dataclass(frozen=True, eq=False)
class GaitReplay:
    """How one period ended in the simulator: its status, the states, how many events there were, and how far
    it came [m]."""

    status: str
    x: np.ndarray
    z: np.ndarray
    events: int
    distance: float


def lasting(period: float) -> float:
    """A period, and just so much longer that the event that ends it happens in the run."""
    return period * (1 + AFTER) + AFTER


def record(system: System, x0: np.ndarray, z0: np.ndarray, period: float) -> Trajectory:
    """One period as a trajectory."""
    return simulate(system, t=lasting(period), x0=x0, z0=z0, rtol=TOLERANCE["rtol"], atol=TOLERANCE["atol"])


def replay(
    step: ReturnMap, x: np.ndarray, z: np.ndarray, period: float, p: np.ndarray | None = None
) -> GaitReplay:
    """One period from a state; `p`: other values of all parameters."""
    system, key = step.system, f"gait-replay-{get_ident()}"
    if key not in system.cache:
        system.cache[key] = Ready(system, 1.0, **TOLERANCE, max_steps=MOST_STEPS * 10)
    run: Ready = system.cache[key]
    run.x0[0], run.z0[0], run.u[0], run.p[0] = x, z, step.start.u, step.start.p if p is None else p
    run(lasting(period))
    x1, z1, values = run.x[0].copy(), run.z[0].copy(), run.p[0].copy()
    return GaitReplay(
        run.status, x1, z1, int(run.counts.sum()), travelled(system, (x, z), (x1, z1), values, step.shape)
    )


def refused(step: ReturnMap, y: np.ndarray, period: float, magnified: float) -> tuple[str, float]:
    """Why a fixed point of the map is no gait, empty if it is one; and how far it comes in a period [m].

    The state it ends in, discrete states included, must make the next step like the first. magnified: by how
    much a step of it magnifies what is next to it, rounding included.
    """
    first = replay(step, step.whole(y), step.start.z, period)
    why = fallen(step, first, period)
    if why:
        return why, first.distance
    turned = bool(step.system.symmetry) and step.steps % 2 == 1
    x, z = mirror(step.system, first.x, first.z, step.start.p) if turned else (first.x, first.z)
    second = replay(step, x, z, period)
    if second.status != "done":
        return second.status, first.distance
    x = mirror(step.system, second.x, second.z, step.start.p)[0] if turned else second.x
    moved = (
        2 * (lasting(period) - period) * _fastest(step, step.whole(y))
    )  # each replay ends that much after its last event
    close = (RETURNS + moved) * max(1.0, magnified**2) * (1 + np.abs(y).max())
    return "" if np.abs(step.free(x) - y).max() < close else "the second step was another", first.distance


def _fastest(step: ReturnMap, x: np.ndarray) -> float:
    """The largest rate of a state at the beginning, per second."""
    system = step.system
    if "gait-rates" not in system.cache:
        groups = [time, *system.vectors()]
        system.cache["gait-rates"] = ca.Function(
            "rates", groups, [ca.vertcat(*[sx(system.flow[q.name]) for q in system.x])]
        )
    rates = np.array(system.cache["gait-rates"](0.0, x, step.start.z, step.start.u, step.start.p))
    return float(np.abs(rates[np.isfinite(rates)]).max(initial=0.0))


def fallen(step: ReturnMap, first: GaitReplay, period: float) -> str:
    """Why a replayed period is none; empty if it may be one."""
    if first.status != "done":
        return first.status
    if not period > STANDS or first.distance < STANDS:
        return "stood still"
    return "" if first.events else "made no step"


__all__ = ["GaitReplay", "fallen", "record", "refused", "replay"]
