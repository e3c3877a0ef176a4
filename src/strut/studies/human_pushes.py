"""Pushes that gaits of the human survive: as they are, with landings that set the phase right, and held from
step to step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from strut import evolve
from strut.control import HeldGait, step_lqr
from strut.errors import NoGaitError
from strut.gait import Gait
from strut.simulate import simulate_batch
from strut.studies.gait_verification import FINE_STEP
from strut.studies.human_gait import FREQUENCY, table_values
from strut.studies.human_stability import gait_machine, reset_gait, settled_gait, walk_until_settled
from strut.system import System

SPEED_CHANGES = 0.02 * np.arange(1, 41)
"""[m/s] Of the whole body, that are tried, backwards and forwards."""
SURVIVED_STEPS = 25
"""Steps after a push by which it is survived."""
MASS = 70.0
"""[kg] Of the body."""
HOLDING_PARAMETERS = (
    *[f"hip_reference_{k}" for k in range(1, 5)],
    *[f"{joint}_reference_{k}" for joint in ("knee", "ankle") for k in (1, 2)],
    "frequency",
)
"""What a law from step to step may change: points of references, and the frequency."""


@dataclass(frozen=True)
class PushLimits:
    """Pushes [N s], backwards and forwards, all smaller ones of which are survived: of the gait as it is, and
    with landings that set the phase right."""

    open: tuple[float, float]
    reset: tuple[float, float]


def survived_pushes(system: System, gait: Gait) -> tuple[float, float]:
    """Return the pushes [N s] at the beginning of a gait, backwards and forwards, up to which all that are
    tried are survived: `SURVIVED_STEPS` steps are walked afterwards, without assistance."""
    sizes = np.concatenate([-SPEED_CHANGES, SPEED_CHANGES])
    x = np.repeat(gait.vector[None], len(sizes), axis=0)
    x[:, system.labels("x").index("x_rate")] += sizes
    z = np.repeat(np.array(list(gait.z0.values()))[None], len(sizes), axis=0)
    end = SURVIVED_STEPS / (2 * FREQUENCY)
    batch = simulate_batch(system.using(assist=0.0), end, x0=x, z0=z, method="rk4", step=FINE_STEP)
    ok = np.asarray(batch.status == "done").reshape(2, -1)
    counts = [int(np.argmin(np.append(row, False))) for row in ok]
    backwards, forwards = (MASS * float(SPEED_CHANGES[k - 1]) if k else 0.0 for k in counts)
    return backwards, forwards


def push_limits(bests: Mapping[str, evolve.Individual]) -> dict[str, PushLimits]:
    """Return by mode the pushes that gaits of bests survive, where there is one of one step."""
    limits = {}
    for mode, best in bests.items():
        values = table_values(mode, best.parameters)
        walker = gait_machine().using(values)
        walk = walk_until_settled(walker)
        if walk.status != "done":
            continue
        try:
            gait = settled_gait(walker, walk)
            if gait.steps != 1:
                continue
            landing = reset_gait(gait_machine(feedback=True).using(values), gait)
        except NoGaitError:
            continue
        limits[mode] = PushLimits(
            open=survived_pushes(landing.system.using(touchdown_gain=0.0), landing),
            reset=survived_pushes(landing.system, landing),
        )
    return limits


def hold_gait(gait: Gait) -> HeldGait:
    """Hold a gait of a machine of `gait_machine('const')`, or of another mode's own, from step to step."""
    return step_lqr(gait, HOLDING_PARAMETERS)


__all__ = ["PushLimits", "hold_gait", "push_limits", "survived_pushes"]
