"""Multipliers of COMAN's gaits: against differences of runs with located contacts, and what is said of them."""

import numpy as np
import pytest

from strut.studies.coman_gait import coman_walker
from strut.studies.coman_stability import COMAN
from strut.studies.human_stability import GaitStability, settled_gait, step_time, walk_until_settled
from strut.studies.kieboom_gaits import exact_row, multiplier_row
from strut.studies.known_gaits import known_gait
from tests.studies.half_periods import check_half_period
from tests.studies.test_known_gaits import verified_ways

AGREEMENT = 1e-4  # relative to the largest entry


@pytest.mark.timeout(900)
@pytest.mark.slow  # 50 s of walking at 0.1 ms, and variational equations compiled: a minute
def test_multipliers_are_those_of_differences_of_located_runs():
    """The kept gait whose phase is a state, against the machine that time drives and whose contacts are located: the
    same fixed point, and the same derivative."""
    kept = known_gait("coman-const")
    values = COMAN.values(kept.mode, kept.parameters)
    machine = COMAN.machine().using(values)
    gait = settled_gait(machine, walk_until_settled(machine))
    assert gait.steps == 1
    assert abs(gait.multipliers[0]) == pytest.approx(0.695, abs=0.002)
    other = coman_walker("table", events=True).using(values)
    period = 2 * step_time(machine)
    assert period == pytest.approx(1 / kept.parameters["frequency"])
    check_half_period(gait, other, period=period, return_error=1e-8, agreement=AGREEMENT)


def test_what_is_said_of_multipliers():
    gait = known_gait("coman-step")
    row = multiplier_row(gait, GaitStability(1, 0.05, 0.695, 0.695, 0.322))
    assert row.quantity == "coman-step: largest multiplier over a step"
    assert row.ours == "0.695, stable"
    assert row.remark == "with landings that set the phase right: 0.322"
    limping = multiplier_row(gait, GaitStability(2, 0.2, 1.44, np.nan, np.nan))
    assert limping.ours == "1.200, unstable"
    assert limping.remark == "it repeats after 2 steps; its trunk is assisted; without: no gait"
    wandering = multiplier_row(gait, GaitStability(0, 0.1, np.nan, np.nan, np.nan, why="falls", growth=1.1))
    assert wandering.ours == "no gait"
    assert wandering.remark == "falls; small deviations grow by 1.100 a step"


def test_what_is_said_of_located_contacts():
    """Of 10 J/m 0.02 is 0.2 %."""
    gait = known_gait("coman-step")
    located, fine = {"cost": 10.0, "speed": 0.4}, {"cost": 10.02, "speed": 0.4}
    row = exact_row(gait, verified_ways(gait, {"located": located, "fine": fine}))
    assert row.quantity.startswith("coman-step: cost with located contacts")
    assert row.ours == "10.00 J/m, 0.2 % apart; speed 0 %"
    assert exact_row(gait, verified_ways(gait, {"fine": fine})).ours == "a run broke off"
