"""The gaits of the human that searches found on soft ground, let walk on rigid ground: on heel, ball and
toes."""

from __future__ import annotations

from functools import cache

import numpy as np

from strut import control, walkers
from strut.simulate import Trajectory, simulate
from strut.studies import human_table
from strut.studies.gait_verification import EXACT_TOLERANCE
from strut.studies.human_gait import DURATION, FREQUENCY, JOINTS, TORQUES, table_values
from strut.studies.known_gaits import KnownGait
from strut.studies.study import Row
from strut.system import System

MAX_STEPS = 30_000
"""Steps of a run, at most: about twice those of ten seconds of walking. A run that needs more has feet that
land and leave without end."""
CHATTER_LANDINGS = 100
"""Landings of one point of a sole in a second from which on it is said to chatter."""
SAMPLES = 8001
"""Instants of the second half of a run at which it is measured."""


@cache
def rigid_walker() -> System:
    """Return the human on rigid ground with its controller, as the machine of tables."""
    return control.phase_impedance(walkers.human(ground="rigid"), JOINTS, "table", frequency=FREQUENCY)


def walk_on_rigid_ground(gait: KnownGait) -> Trajectory:
    """Let the human walk in a known gait on rigid ground with Coulomb's friction, as long as in a search."""
    return simulate(
        rigid_walker().using(table_values(gait.mode, gait.parameters)),
        DURATION,
        rtol=EXACT_TOLERANCE,
        atol=EXACT_TOLERANCE,
        max_steps=MAX_STEPS,
        ledger=False,
    )


def rigid_ground_row(gait: KnownGait) -> Row:
    """Return which torque a gait takes on rigid ground, and how much of the time its trunk is assisted; as in
    the searches, the first half is left out. Of a walk that ends early: when, how, and what it did so far."""
    published = f"{human_table.PUBLISHED[gait.mode][2]}, the best of {gait.mode}"
    name = f"{gait.name}: torque on rigid ground"
    run = walk_on_rigid_ground(gait)
    if run.t1 < DURATION:
        return Row(name, published, f"ends after {run.t1:.2f} s: {run.status}", _why_it_ended(run))
    walk = run.at(np.linspace(DURATION / 2, DURATION, SAMPLES))
    torque = float(np.mean(sum(np.abs(walk[each]) for each in TORQUES)))
    assisted = 100 * float(np.mean(walk["assisting"] > 0))
    assistance = "unassisted" if assisted == 0 else f"its trunk is assisted {assisted:.0f} % of the time"
    return Row(
        name,
        published,
        f"{torque:.1f} N m at {float(np.mean(walk['speed'])):.3f} m/s, {assistance}",
        f"{DURATION:g} s, the first half left out; found on soft ground, not searched anew",
    )


def _why_it_ended(run: Trajectory) -> str:
    """What a run says of its early end: what its event means, or which points land again and again."""
    if run.ending_meaning:
        return run.ending_meaning
    landings = {
        name: count
        for name, count in run.events.counts().items()
        if name.endswith("_touchdown") and count > CHATTER_LANDINGS * max(run.t1, 1.0)
    }
    listed = ", ".join(f"{name.removesuffix('_touchdown')} {count} times" for name, count in landings.items())
    return f"contacts chatter: so often landed {listed}" if listed else ""


__all__ = ["rigid_ground_row", "walk_on_rigid_ground"]
