"""One motor in the hip: servos in current, latches, and Dribbel that walks by them."""

import numpy as np
import pytest

import strut
from strut import actuator, control, gait, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.studies.duindam_dribbel import approach, averages


def arm():
    """A machine of one's own: an arm with a motor."""
    m = strut.Mechanism("arm", planar=True)
    link = m.body("link", 2.0, (0, 0, -0.2), 0.03)
    m.joint("elbow", m.world, link, strut.joints.revolute("y"))
    return actuator.dc_motors(strut.mechanism.system(m), "maxon-re40-gp42c", smooth=True)


def test_the_current_is_what_the_law_says():
    """Whatever the joint does, back-EMF included; and never beyond the limit."""
    loop = control.current_servo(arm(), "elbow", 0.5, kp=20.0, kd=0.4, limit=6.0)
    run = strut.simulate(loop, t=2.0)
    expected = np.clip(20.0 * (0.5 - run["elbow"]) - 0.4 * run["elbow_rate"], -6, 6)
    assert np.abs(expected).max() == 6
    assert np.abs(expected).min() < 3
    assert np.allclose(run["elbow_current"], expected, atol=1e-12)
    assert run.ledger.residual < 1e-8


@pytest.fixture(scope="module")
def minute():
    return strut.simulate(walkers.dribbel_robot(), t=60.0, rtol=1e-7)


def test_dribbel_walks_for_a_minute_at_its_cost_and_current(minute):
    """Duindam: 0.22 at 0.54 m/s with 7.5 A in simulation; 0.23 at 0.32 m/s measured."""
    assert minute.ok
    walked = averages(minute)
    assert 0.15 < walked.transport < 0.30
    assert 0.15 < walked.electrical_transport < 0.30
    assert 0.4 < walked.speed < 0.7
    assert np.abs(minute["hip_current"]).max() <= 8
    assert minute.ledger.residual < 1e-4


def test_dribbel_comes_to_a_gait(minute):
    """The states in which the right knee is latched repeat: a limit cycle, and a stable one."""
    latches = [e.after for e in minute.events if e.name == "knee_r_latch"][-4:]
    assert approach(minute) == pytest.approx(0.714, abs=0.01)
    for name in ("ankle", "hip", "ankle_rate", "hip_rate", "knee_r_rate"):
        assert np.ptp([float(state[name]) for state in latches]) < 1e-4


def test_multipliers_of_dribbel_are_those_of_its_runs(minute):
    """Newton finds the gait that runs come to. Along the first eigenvector a stride shrinks by its multiplier: by
    central differences of runs, and in the run from where it begins."""
    machine = walkers.dribbel_robot()
    happening = sorted({e.name for e in minute.events if e.t > 50})
    stride = gait.find(machine, events=happening)
    assert stride.kind == "stable"
    assert stride.period == pytest.approx(1.1509, abs=1e-3)
    largest = abs(stride.multipliers[0])
    assert largest == pytest.approx(approach(minute), abs=0.005)
    step = gait.ReturnMap(machine, events=happening)
    values, vectors = np.linalg.eig(step(stride.y0).by_y)
    first = np.real(vectors[:, np.argmax(np.abs(values))])
    after = []
    for size in (1e-5, -1e-5):
        x = step.shape.whole(stride.y0 + size * first, step.start.x, step.start.p)
        run = strut.simulate(machine, t=1.5, x0=x, rtol=1e-11, atol=1e-13)
        landed = next(e.after for e in run.events if e.name == "knee_r_latch")
        after.append([float(landed[name]) for name in step.names])
    measured = (np.array(after[0]) - np.array(after[1])) / 2e-5
    assert measured == pytest.approx(largest * first, abs=1e-4)


def test_knees_are_straight_while_their_leg_stands_and_bend_while_it_swings(minute):
    late = minute.at(np.linspace(40, 60, 4000))
    for side in "lr":
        standing = (late[f"foot_{side}_on"] > 0) & (late[f"knee_{side}_latched"] > 0)
        assert np.abs(late[f"knee_{side}"][standing]).max() < 0.05
        assert late[f"knee_{side}"].min() < -0.3
        assert late[f"knee_{side}"].max() < 0.05  # the stop


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match="'arm' has no motor 'elbo' that is driven by voltage"):
        control.current_servo(arm(), "elbo", 0.0, kp=1.0)
    with pytest.raises(ValueRangeError, match="limit of a servo in current is -1"):
        control.current_servo(arm(), "elbow", 0.0, kp=1.0, limit=-1)
    with pytest.raises(UnknownNameError, match="'foot_x' of 'dribbel'"):
        control.knee_latches(walkers.dribbel(), {"hip": "foot_x"}, stiffness=1.0, damping=1.0)
    with pytest.raises(ValueRangeError, match="stiffness of a latch is 0: a positive number"):
        control.knee_latches(walkers.dribbel(), {"hip": "foot_l"}, stiffness=0.0, damping=1.0)
    with pytest.raises(UnknownNameError, match="'knee' is locked and has no latch"):
        control.knee_latches(
            walkers.dribbel(), {"hip": "foot_l"}, stiffness=1.0, damping=1.0, locked=("knee",)
        )
    with pytest.raises(ModelError, match="does not say when it lifts|no foot besides"):
        control.knee_latches(walkers.compass(), {"hip": "swing"}, stiffness=1.0, damping=1.0)
