"""`track`: a gait held by springs and dampers that motors play, along its planned motion (joint
impedance)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.actuator.drives import Drive, drives
from strut.checks import checked, finite
from strut.control.closed_loop import FeedbackLaw, close_loop
from strut.control.held_gait import HeldGait, find_held_gait
from strut.control.input_limits import (
    InputLimits,
    command_limits,
    limit_settings,
    unkept_requirements,
    warn_of_unkept,
)
from strut.control.kalman import Kalman, kalman_observer
from strut.control.motion_table import MotionTable, motion_table, read_index
from strut.control.read_motion import reference_motion
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.gait import Gait
from strut.optimal import Design
from strut.system import Param, start

Gains = float | Mapping[str, float]
"""One number for all inputs, or numbers by the name of the input."""


@checked
def track(
    source: Gait | Design,
    stiffness: Gains,
    damping: Gains = 0.0,
    *,
    index: str | ca.SX = "auto",
    limits: InputLimits | None = None,
    observer: Kalman | None = None,
) -> HeldGait:
    """Hold a gait by joint impedance: u = u* - stiffness (q - q*) - damping (q' - q'*), in the angle (or
    length) q along which each input acts, as the energy account of the machine tells it.

    source: a gait, or a design. stiffness: [N m/rad, or N/m], damping: [N m s/rad, or N s/m]; one number for
        all inputs, or by the input's name (0 for those not named); parameters of the closed loop
        (INPUT_stiffness, INPUT_damping). index: by what the motion is followed: 'time', counted anew from
        every step, or a state, an output or an expression that grows, or falls, all through a step; 'auto'
        takes the angle or length that moves most steadily, or time where none does, and `method` says which.
    limits, observer: as in `lqr`.
    Nothing is promised of stability: the multipliers of what comes out say what it is. Raises NoGaitError
    where the loop has none.
    """
    motion = reference_motion(source)
    expression, index_name = read_index(motion, index)
    table = motion_table(motion, expression)
    sources = drives(motion.plant)
    stiff, damp = (
        _gains(sources, word, each) for word, each in (("stiffness", stiffness), ("damping", damping))
    )
    parameters = tuple(
        Param(f"{d.input.name}_{word}", values[k], unit)
        for word, values in (("stiffness", stiff), ("damping", damp))
        for k, d in enumerate(sources)
        for unit in [d.stiffness_unit if word == "stiffness" else d.damping_unit]
    )
    estimator, quality = kalman_observer(table, observer) if observer is not None else (None, None)
    bounds = command_limits(source, motion, limits)
    unkept = unkept_requirements(source, motion.plant)
    warn_of_unkept(unkept, motion.plant.name)
    law = replace(_law(table, sources, parameters), limits=bounds, observer=estimator)
    loop = close_loop(table, law)
    own = {n: v for n, v in motion.gait.x0.items() if n in loop.labels("x")}
    loop_gait = find_held_gait(loop, own, motion.gait)
    settings = {
        **{q.name: float(np.asarray(q.value).item()) for q in parameters},
        **limit_settings(bounds),
        **(observer.settings() if observer is not None else {}),
    }
    names = tuple(q.name for q in motion.plant.u)
    return HeldGait(
        before=motion.gait,
        gait=loop_gait,
        method=f"joint impedance{'' if observer is None else ' with an observer'}, by {index_name}",
        settings=settings,
        inputs=names,
        estimate=quality,
        unkept=unkept,
    )


def _gains(sources: list[Drive], word: str, given: Gains) -> list[float]:
    """Return a gain for every input. Raises for names that are none, and for numbers below zero."""
    names = [d.input.name for d in sources]
    by_name = given if isinstance(given, Mapping) else dict.fromkeys(names, given)
    for name, value in by_name.items():
        if name not in names:
            raise UnknownNameError(f"{word} of '{name}', which is no input: {did_you_mean(name, names)}")
        if finite(f"{word} of '{name}'", value) < 0:
            raise ValueRangeError(f"{word} of '{name}' is {value:g}: 0 or more is needed")
    return [float(by_name.get(name, 0.0)) for name in names]


def _law(table: MotionTable, sources: list[Drive], parameters: tuple[Param, ...]) -> FeedbackLaw:
    """Return the law of impedance: its table holds planned inputs, angles and rates."""
    plant, count = table.motion.plant, len(sources)
    x = plant.vector("x")
    moving = ca.vertcat(*[d.angle for d in sources], *[d.rate for d in sources])
    angles_and_rates = plant.function("moving", [moving], "xp", clock=False)
    p = start(plant).p
    signals = [
        np.hstack([piece.u, np.array([np.array(angles_and_rates(row, p))[:, 0] for row in piece.x])])
        for piece in table.pieces
    ]
    gains = ca.vertcat(*[q.sym for q in parameters])

    def feedback(wanted: ca.SX, seen: ca.SX) -> ca.SX:
        pulls = gains * (wanted - ca.substitute(moving, x, seen))
        return pulls[:count] + pulls[count:]

    return FeedbackLaw(signals, feedback, parameters)


__all__ = ["track"]
