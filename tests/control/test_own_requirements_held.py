"""What a design was asked of its inputs, by requirements of one's own, when something holds its gait."""

import warnings

import casadi as ca
import pytest

from strut import control, optimal, walkers

SPEED = 0.8
"""[m/s] At which the compass is unstable: something must hold it."""
MAX_TORQUE = 30.0
"""[N m] More than the plan takes, so that every requirement is met."""


@pytest.fixture(scope="module")
def walker():
    return walkers.compass()


def designed(walker, **asked):
    made = optimal.design(walker, speed=SPEED, intervals=12, **asked)
    assert made.ok, made.wrong
    return made


@pytest.fixture(scope="module")
def bounded(walker):
    """One input bounded in four ways, the tightest of which is -18 to 15 N m."""
    torque = walker["hip_torque"]
    require = [
        ("by name", "hip_torque", -MAX_TORQUE, 15.0),
        ("by size", ca.fabs(torque), 0.0, 25.0),
        ("scaled", -2 * torque + 1, -49.0, 37.0),  # -18 to 25
        ("squared", torque**2, -1.0, 20.0**2),
    ]
    return designed(walker, require=require, within={"hip_torque": (-19.0, MAX_TORQUE)})


@pytest.mark.parametrize(
    "hold",
    [control.lqr, lambda source: control.track(source, 40.0, 4.0)],
    ids=["lqr", "track"],
)
def test_bounds_of_an_input_are_limits_of_the_loop(bounded, hold):
    with warnings.catch_warnings():
        warnings.simplefilter("error", control.RequirementWarning)
        held = hold(bounded)
    assert held.settings["least of hip_torque"] == pytest.approx(-18.0)
    assert held.settings["largest of hip_torque"] == pytest.approx(15.0)
    assert held.unkept == ()


def test_what_cannot_be_a_limit_is_said(walker):
    power = walker["hip_torque"] * (walker["swing_rate"] - walker["stance_rate"])
    made = designed(
        walker, require=[("power", power, -500.0, 500.0), ("heat", "hip_torque", 0, 1e4, "begin")]
    )
    said = (
        r"the loop that holds 'compass' does not keep 'power' \(.*, all along: -500 to 500\) of its design: "
        "only bounds of one input, all along the step, become its limits; give it more"
    )
    with pytest.warns(control.RequirementWarning, match=said):
        held = control.lqr(made)
    (unkept,) = held.unkept
    assert unkept.startswith("'power' (")
    assert held.data()["unkept"] == [unkept]


def test_what_is_set_from_step_to_step_has_no_limits(bounded):
    with pytest.warns(control.RequirementWarning, match="`lqr` and `track` have") as caught:
        control.step_lqr(bounded, by=("hip_torque",))
    text = str(caught[0].message)
    assert "'by name' (hip_torque, all along: -30 to 15)" in text
    assert "'hip_torque' (-19 to 30)" in text


def test_limits_of_ones_own_take_their_place(bounded):
    assert "least of hip_torque" not in control.lqr(bounded, limits={}).settings
