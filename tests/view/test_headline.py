"""Cards of a run: how far a step went, whoever counts it."""

from dataclasses import replace

import numpy as np
import pytest

from strut.simulate.trajectory import Trajectory
from strut.view.pages.headline import clearance_text, headline, step_length


@pytest.mark.parametrize("prints", [True, False])
def test_a_step_that_nobody_counts_is_as_long(compass, prints, monkeypatch):
    """From footprints, or where there are none from the way of the centre of mass: a gait that repeats goes as far."""
    counted = step_length(compass)
    stage = compass.stage()
    monkeypatch.setattr(
        Trajectory, "stage", lambda _: stage if prints else replace(stage, prints=np.empty((0, 4)))
    )
    uncounted = replace(compass, names=replace(compass.names, step_length=""))
    assert step_length(uncounted) == pytest.approx(counted, rel=2e-3)
    speed = float(headline(uncounted)["speed"].split()[0])
    assert speed == pytest.approx(float(headline(compass)["speed"].split()[0]), rel=2e-3)


def test_a_negative_clearance_is_said_to_scuff(compass):
    """Legs of a compass swing through the ground: a height below zero is no clearance, and was a bare number."""
    assert headline(compass)["least clearance"].endswith(" m: the foot scuffs")
    assert headline(compass)["least clearance"].startswith("-")
    assert clearance_text(compass, 0.0123) == "0.0123 m"
    assert clearance_text(compass, -1e-12) == "-1e-12 m"  # rounding of a landing
