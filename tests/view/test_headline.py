"""Cards of a run: how far a step went, whoever counts it."""

from dataclasses import replace

import numpy as np
import pytest

from strut.simulate.trajectory import Trajectory
from strut.view.pages.headline import headline, step_length


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
