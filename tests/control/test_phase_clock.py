"""A phase that is a state: as the clock, and set right by touchdowns."""

import numpy as np
import pytest

from strut import control, walkers
from strut.contact import compliant, hunt_crossley
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import Mechanism, joints
from strut.simulate import simulate

SWING = {"swing": control.PhaseJoint(["torque"], (-1.0, 1.0), stiffness=500.0, damping=50.0)}


def test_a_phase_that_is_a_state_runs_as_the_clock_does():
    values = {"swing_stiffness": 300.0, "swing_damping": 20.0, "swing_reference_2": 0.5}
    by_time, by_state = (
        control.phase_impedance(walkers.pendulum(), SWING, frequency=0.8, clock=clock).using(values)
        for clock in ("time", "state")
    )
    assert "phase" in by_time.labels("outputs")
    assert "phase" in by_state.labels("x")
    one, other = (simulate(each, 4.0, rtol=1e-10, atol=1e-10) for each in (by_time, by_state))
    times = np.linspace(0, 4, 100)
    np.testing.assert_allclose(one.at(times)["angle"], other.at(times)["angle"], atol=1e-7)
    assert other.events.counts()["phase_wrap"] == 3
    assert other.events.counts()["phase_mark_l"] == 3
    late = simulate(by_state.using(phase=0.4), 3.5, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(late["phase"][-1], (0.4 + 0.8 * 3.5) % 1, atol=1e-9)


def hopper(**options):
    """A mass that falls onto soft ground, whose only motor pushes against it."""
    m = Mechanism("hopper", planar=True)
    body = m.body("body", 10.0, (0, 0, 0), 1.0)
    m.joint("z", m.world, body, joints.prismatic("z"), initial=0.3)
    m.frame("foot", body, (0, 0, 0))
    ground = compliant(m, ["foot"], law=hunt_crossley(1e5, 0.3), events=False)
    return control.phase_impedance(
        ground,
        {"push": control.PhaseJoint(["z"], (0.0, 0.1), stiffness=1000.0)},
        frequency=1.0,
        **options,
    ).using(push_stiffness=0.0, push_damping=0.0)


def test_a_landing_sets_the_phase_right():
    """It lands after sqrt(2 h / g) of falling; from then on the phase is what it should be, or half as far
    from it."""
    fall = np.sqrt(2 * 0.3 / 9.81)  # 0.247 s: the phase then
    for gain in (0.0, 0.5, 1.0):
        reset = control.TouchdownReset({"only": ["foot"]}, phase=0.35, gain=gain, window=0.2)
        run = simulate(hopper(clock="state", touchdown=reset), 0.3, rtol=1e-10, atol=1e-10)
        assert run.events.counts()["only_touchdown"] == 1
        expected = 0.3 + gain * (0.35 - fall)
        assert run["phase"][-1] == pytest.approx(expected, abs=1e-7)
    early = control.TouchdownReset({"only": ["foot"]}, phase=0.6, window=0.2)  # listened to from 0.4 on
    run = simulate(hopper(clock="state", touchdown=early), 0.3, rtol=1e-10, atol=1e-10)
    assert run["phase"][-1] == pytest.approx(0.3, abs=1e-9)


def test_left_and_right_are_exchanged_half_a_cycle_later():
    joint = {"hip": control.PhaseJoint(("hip_r", "hip_l"), (-0.8, 0.8))}
    feet = {"right": ["heel_r", "tip_r"], "left": ["heel_l", "tip_l"]}
    loop = control.phase_impedance(
        walkers.human(events=False),
        joint,
        frequency=0.9,
        clock="state",
        touchdown=control.TouchdownReset(feet, phase=0.1),
    )
    assert loop.walk.section == "phase_mark_l"
    assert str(loop.symmetry["right_armed"]) == "left_armed"
    assert "phase" in loop.symmetry
    alone = {"hip": control.PhaseJoint(("hip_r",), (-0.8, 0.8))}
    limping = control.phase_impedance(walkers.human(events=False), alone, frequency=0.9, clock="state")
    assert not limping.symmetry


def test_what_is_wrong_is_said():
    with pytest.raises(ModelError, match="the clock of a phase is 'sun'"):
        hopper(clock="sun")
    reset = control.TouchdownReset({"only": ["foot"]}, phase=0.3)
    with pytest.raises(ModelError, match="say clock='state'"):
        hopper(touchdown=reset)
    with pytest.raises(UnknownNameError, match="foot 'only' has the contact 'heel'"):
        hopper(clock="state", touchdown=control.TouchdownReset({"only": ["heel"]}, phase=0.3))
    with pytest.raises(ModelError, match="give the contacts of each"):
        control.TouchdownReset({"only": "foot"}, phase=0.3)
    with pytest.raises(ValueRangeError, match="the gain of a touchdown is 2"):
        control.TouchdownReset({"only": ["foot"]}, phase=0.3, gain=2.0)
    with pytest.raises(ValueRangeError, match=r"window of a touchdown is 0\.5"):
        control.TouchdownReset({"only": ["foot"]}, phase=0.3, window=0.5)
