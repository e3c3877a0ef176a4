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


def hold_gait(gait: Gait, mode: str = "const") -> HeldGait:
    """Hold a gait of a machine of `gait_machine(mode)` from step to step: points of references follow the
    states after a step, and the frequency does but where stiffness steps with the phase, because derivatives
    by it do not know when."""
    return step_lqr(gait, [name for name in HOLDING_PARAMETERS if mode != "step" or name != "frequency"])


@dataclass(frozen=True)
class WayToWalk:
    """How a gait walks in some way. multiplier: the modulus of its largest, over a step [1]. pushes: that are
    survived, backwards and forwards [N s]."""

    multiplier: float
    pushes: tuple[float, float]


def ways_to_walk(mode: str, parameters: Mapping[str, float]) -> dict[str, WayToWalk]:
    """Return how a gait walks as it is, with landings that set its phase right, and held from step to step.
    Raises `NoGaitError` where parameters lead to no gait of one step."""
    walker = gait_machine(mode).using(parameters)
    walk = walk_until_settled(walker)
    if walk.status != "done":
        raise NoGaitError(f"the walk ends early ({walk.status}): there is no gait to be pushed")
    gait = settled_gait(walker, walk)
    if gait.steps != 1:
        raise NoGaitError(f"the gait repeats after {gait.steps} steps: those of one are held")
    listening = gait_machine(feedback=True).using(table_values(mode, parameters))
    landing, holding = reset_gait(listening, gait), hold_gait(gait, mode)
    machines = {
        "as it is": (walker, gait),
        "landings set its phase right": (landing.system, landing),
        "held from step to step": (holding.system, holding.gait),
    }
    return {
        name: WayToWalk(float(abs(each.multipliers[0])), survived_pushes(system, each))
        for name, (system, each) in machines.items()
    }


__all__ = [
    "PushLimits",
    "WayToWalk",
    "hold_gait",
    "push_limits",
    "survived_pushes",
    "ways_to_walk",
]
