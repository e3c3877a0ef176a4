"""The gaits of COMAN that searches found on soft ground, let walk on rigid ground, as the thesis has it."""

from __future__ import annotations

import numpy as np

from strut.simulate import Trajectory, simulate
from strut.studies import coman_table
from strut.studies.coman_gait import DURATION, TORQUES, coman_walker
from strut.studies.coman_pictures import table_values
from strut.studies.gait_verification import EXACT_TOLERANCE, MAX_STEPS
from strut.studies.known_gaits import KnownGait
from strut.studies.study import Row

SAMPLES = 8001
"""Instants of the second half of a run at which it is measured."""


def walk_on_rigid_ground(gait: KnownGait) -> Trajectory:
    """Let COMAN walk in a known gait on rigid ground with Coulomb's friction, as long as in a search."""
    walker = coman_walker("table", ground="rigid", events=True)
    return simulate(
        walker.using(table_values(gait.mode, gait.parameters)),
        DURATION,
        rtol=EXACT_TOLERANCE,
        atol=EXACT_TOLERANCE,
        max_steps=MAX_STEPS,
        ledger=False,
    )


def rigid_ground_row(gait: KnownGait) -> Row:
    """Return what a gait costs on rigid ground, and how much of the time its trunk is assisted; as in the
    searches, the first half is left out."""
    frequency, speed, cost = coman_table.PUBLISHED[gait.mode]
    published = f"{cost} J/m at {speed} m/s and {frequency} Hz, the best of {gait.mode}"
    name = f"{gait.name}: on rigid ground, as published"
    run = walk_on_rigid_ground(gait)
    if run.t1 < DURATION:
        return Row(name, published, f"ends after {run.t1:.2f} s: {run.status}", run.ending_meaning)
    walk = run.at(np.linspace(DURATION / 2, DURATION, SAMPLES))
    power = sum(np.abs(walk[torque] * walk[torque.replace("torque", "rate")]) for torque in TORQUES)
    own_speed = float(np.mean(walk["speed"]))
    assisted = 100 * float(np.mean(walk["assisting"] > 0))
    assistance = "unassisted" if assisted == 0 else f"its trunk is assisted {assisted:.0f} % of the time"
    return Row(
        name,
        published,
        f"{float(np.mean(power)) / own_speed:.1f} J/m at {own_speed:.3f} m/s, {assistance}",
        f"{DURATION:g} s, the first half left out; found on soft ground, not searched anew",
    )


__all__ = ["rigid_ground_row", "walk_on_rigid_ground"]
