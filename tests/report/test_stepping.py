"""Pictures of a machine that steps show what its controller recorded."""

from __future__ import annotations

import numpy as np
import pytest

from strut.errors import UnknownNameError, ValueRangeError
from strut.report import stepping_histories, stepping_strip
from strut.studies.rijt_scenarios import humanoid_loop
from strut.walkers.rijt import FEET


def test_strips_and_histories() -> None:
    controller, machine = humanoid_loop()
    run = controller.using(walking_speed=0.5).run(machine, 1.0)
    strip = stepping_strip(run, FEET, (0.5, 1.0), poses=3)
    k = np.abs(run.t - 0.75).argmin()
    named = strip.by_name
    assert named["CoM"].x[1] == run["com"][k, 0]
    assert named["XcoM"].x[1] == run["xcom"][k]
    assert {"CoM reference", "foot_r reference", "foot_l reference", "foot_r force", "both forces"} <= set(
        named
    )
    sticks = named["rijt"]
    assert (
        len(sticks.x) == 3 * 3 * 6
    )  # three poses of six sticks (the base is told in two), two ends and a gap
    histories = stepping_histories(run, FEET)
    assert (histories["x"].by_name["XcoM"].y == run["xcom"]).all()
    with pytest.raises(UnknownNameError, match="no reference of a foot 'foot_x'.*foot_r"):
        stepping_histories(run, ["foot_x"])
    with pytest.raises(ValueRangeError, match="from 2 to 3 s cannot be drawn"):
        stepping_strip(run, FEET, (2.0, 3.0))
