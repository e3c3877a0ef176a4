"""Kept gaits of the human pushed: as they are, with landings that set the phase right, and held from step to step."""

import pytest

from strut.control import step_lqr
from strut.studies import human_pushes
from strut.studies.human_pushes import (
    HOLDING_PARAMETERS,
    MASS,
    SPEED_CHANGES,
    WayToWalk,
    hold_gait,
    ways_to_walk,
)
from strut.studies.kieboom_pushes import way_rows
from strut.studies.known_gaits import known_gait


def test_what_is_said_of_a_gait_that_is_pushed():
    ways = {"as it is": WayToWalk(0.83, (7.0, 7.0)), "held from step to step": WayToWalk(0.47, (4.2, 12.6))}
    first, second = way_rows("one", ways)
    assert first.quantity == "one: as it is"
    assert first.ours == "largest multiplier 0.830; survives 7.0 N s backwards and 7.0 forwards"
    assert second.ours == "largest multiplier 0.470; survives 4.2 N s backwards and 12.6 forwards"
    assert "step_lqr" in second.remark
    (row,) = way_rows("other", "it repeats after 2 steps")
    assert (row.ours, row.remark) == ("not held", "it repeats after 2 steps")


def test_frequencies_hold_no_gait_whose_stiffness_steps_with_the_phase(monkeypatch):
    monkeypatch.setattr(human_pushes, "step_lqr", lambda gait, names: names)
    assert "frequency" in HOLDING_PARAMETERS
    assert set(HOLDING_PARAMETERS) - set(hold_gait(None, "step")) == {"frequency"}
    assert list(hold_gait(None, "ppoly")) == list(HOLDING_PARAMETERS)
    assert human_pushes.step_lqr is not step_lqr


@pytest.mark.timeout(1800)
@pytest.mark.slow  # three machines with variational equations compiled: four minutes
def test_a_kept_gait_is_held():
    """Its largest multiplier is that which `gait.find` says of it elsewhere, smaller where landings set its phase right
    and where it is held, and then it survives larger pushes."""
    free, landing, holding = ways_to_walk("const", known_gait("human-const-first").parameters).values()
    assert free.multiplier == pytest.approx(0.939, abs=0.002)
    assert landing.multiplier < 0.8
    assert holding.multiplier < 0.7
    for each in (free, landing, holding):
        assert all(0 < push <= MASS * SPEED_CHANGES[-1] + 1e-9 for push in each.pushes)
    assert min(holding.pushes) > 2 * max(free.pushes)
