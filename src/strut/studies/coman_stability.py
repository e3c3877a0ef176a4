"""Are COMAN's gaits stable? Their exact multipliers on the soft ground on which it learns, as the human's are
judged."""

from __future__ import annotations

from functools import cache

import numpy as np

from strut import control, walkers
from strut.gait import locate_jumps
from strut.studies.coman_gait import (
    FEET,
    FREQUENCY_RANGE,
    GROUND_STIFFNESS,
    JOINTS,
    POSTURE,
    START_SPEED,
    hip_height,
)
from strut.studies.coman_pictures import table_values
from strut.studies.human_stability import JudgedBody, without_contact_times
from strut.system import System
from strut.walkers.coman_planar import EFFORT


@cache
def coman_gait_machine(mode: str = "table", *, feedback: bool = False) -> System:
    """Return COMAN whose phase is a state, and whose flow jumps in events alone, but along the phase. mode:
    as of `control.phase_impedance`. feedback: whether landings may set the phase right; by a gain of 0 at
    first."""
    soft = walkers.coman_planar(ground="soft", events=False, ground_stiffness=GROUND_STIFFNESS)
    touchdown = control.TouchdownReset(FEET, phase=0.0, gain=0.0) if feedback else None
    loop = control.phase_impedance(
        without_contact_times(soft),
        JOINTS,
        mode,
        frequency=float(np.mean(FREQUENCY_RANGE)),
        limit=EFFORT,
        clock="state",
        touchdown=touchdown,
    )
    begin = {**POSTURE, "z": hip_height(POSTURE), "x_rate": START_SPEED}
    return locate_jumps(loop.using(begin), besides=("phase",))


COMAN = JudgedBody(coman_gait_machine, table_values, FEET)
"""COMAN of the study."""

__all__ = ["COMAN", "coman_gait_machine"]
