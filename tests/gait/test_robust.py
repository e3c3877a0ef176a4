"""What gaits survive, what impacts take, and which states lead back."""

import math

import numpy as np
import pytest

import strut
from strut.errors import ModelError, UnknownNameError
from strut.gait import (
    basin,
    find,
    froude,
    impact_loss,
    push,
    sensitivity_norm,
    step_down,
    step_up,
    weight_of,
)
from strut.gait.robust import survives
from strut.walkers import compass, compass_duindam, kneed, rimless_wheel, simplest, slip


@pytest.fixture(scope="module")
def duindam():
    return find(compass(leg_mass=1, hip_mass=5, g=9.8))


def test_steps_down_of_duindams_compass(duindam):
    """2.0 cm survives and 2.2 cm does not, as in the notes; but what survives is no interval, and its first end is lower."""
    x, z = (np.repeat(v[None], 3, axis=0) for v in (duindam.vector, np.array(list(duindam.z0.values()))))
    z[:, 1] += [0.0, 0.020, 0.022]
    assert survives(duindam, x, z)[0].tolist() == [True, True, False]
    limit = step_down(duindam)
    assert limit.largest == pytest.approx(0.01663, abs=2e-5)
    assert limit.beyond - limit.largest < 1.1e-5
    assert limit.fell == "fall"
    assert 0.020 < limit.again < 0.022
    assert "some larger ones are survived again" in str(limit)


def test_the_largest_push_is_the_simulators(duindam):
    """Just below it the walker walks thirty seconds, just above it falls, in runs that know nothing of gaits."""
    limit = push(duindam, {"stance_rate": -1.0})
    for size, status in ((limit.largest, "done"), (limit.beyond, limit.fell)):
        pushed = {**duindam.x0, "stance_rate": duindam.x0["stance_rate"] - size}
        assert strut.simulate(duindam.system, t=30.0, x0=pushed, rtol=1e-8, atol=1e-10).status == status


def test_a_limit_of_nothing_says_what_was_tried(duindam):
    """Nothing tried is survived: the answer is no 0, but less than the smallest that was tried."""
    limit = step_up(duindam, most=0.1, exact=0.1, trials_beyond=0)
    assert (limit.largest, limit.beyond, limit.less_than) == (0.0, 0.05, 0.05)
    assert str(limit) == "step up: less than 0.05 m is survived: that, the smallest tried, ends by sit"
    assert step_up(duindam, most=0.05, exact=1e-3, trials_beyond=0).less_than is None


def test_free_feet_survive_the_same_step_up(duindam):
    """By steps of the ground, on a floating base; lifted, on its stance foot. Higher than it steps, it falls."""
    limits = [step_up(g, most=0.05, exact=1e-4, trials_beyond=0) for g in (duindam, find(compass_duindam()))]
    assert 0 < limits[0].largest < 0.05
    assert limits[1].largest == pytest.approx(limits[0].largest, abs=2e-4)


def test_free_feet_survive_the_same_step_down(duindam):
    assert step_down(find(compass_duindam())).largest == pytest.approx(step_down(duindam).largest, abs=2e-5)


def test_pushes(duindam):
    forward, back = push(duindam, {"stance_rate": -1.0}), push(duindam, "stance_rate")
    assert 0 < back.largest < forward.largest < 1
    with pytest.raises(UnknownNameError, match="stance_rate"):
        push(duindam, "stance_rat")
    with pytest.raises(ModelError, match="cannot step down"):
        step_down(find(rimless_wheel(slope=0.15)))


@pytest.mark.parametrize(
    ("angle", "fractions"), [(0.5, (0.9971, 0.2704)), (0.2, (0.9976, 0.0495)), (0.8, (0.9958, 0.5523))]
)
def test_what_an_impact_takes(angle, fractions):
    """Section 4.1.4 of the notes on Duindam's thesis."""
    loss = impact_loss(compass(leg_mass=1, hip_mass=5), {"stance": -angle / 2, "swing": angle / 2})
    assert loss.fractions == pytest.approx(fractions, abs=5e-5)
    stance, swing = loss.directions[:, 1]
    if angle == 0.5:
        relative = np.array([stance, swing - stance])
        relative *= -np.sign(relative[0]) / np.linalg.norm(relative)
        assert relative == pytest.approx([-0.923, 0.384], abs=1e-3)


def test_impact_loss_is_what_the_simulator_loses():
    gait = find(compass())
    run = gait.trajectory
    strike = next(e for e in run.events if e.name == "heel_strike")
    loss = impact_loss(gait.system, {n: strike.before[n] for n in gait.x0})
    v = np.array([strike.before[n] for n in loss.names])
    assert v @ loss.loss @ v / 2 == pytest.approx(gait.energy_per_step, abs=1e-9)


def test_weights():
    assert weight_of(compass()) == pytest.approx(20 * 9.81)
    assert weight_of(simplest()) == pytest.approx(1.0)
    assert weight_of(kneed()) == pytest.approx((0.5 + 2 * 0.5 + 2 * 0.05) * 9.81)
    assert weight_of(slip()) == pytest.approx(80 * 9.81)
    assert froude(2.0, 1.0, 4.0) == 1.0


def test_motors_have_their_costs():
    """A constant hip torque: its signed work is what it supplies, absolute work no less than positive, torque squared times time."""
    gait = find(compass(hip_torque=0.2))
    found = gait.energetics
    assert found.costs["signed-work"] * found.weight * gait.step_length == pytest.approx(
        found.supplied["hip_torque"]
    )
    assert (
        found.costs["absolute-work"]
        >= found.costs["positive-work"]
        >= abs(found.costs["signed-work"]) - 1e-12
    )
    assert found.costs["squared-torque"] * found.weight * gait.step_length == pytest.approx(
        0.04 * gait.period, rel=1e-9
    )
    assert found.spent == pytest.approx(found.fallen + found.supplied["hip_torque"], abs=1e-8)
    assert "net work" in found.table()


def test_dampers_take_their_part():
    gait = find(compass(hip_damping=0.02))
    found = gait.energetics
    assert found.dissipated["hip_damper"] > 0.01
    assert found.spent == pytest.approx(found.lost["heel_strike"] + found.dissipated["hip_damper"])
    assert found.spent == pytest.approx(found.fallen, abs=1e-8)
    assert gait.cost_of_transport == pytest.approx(math.sin(math.radians(3)), abs=1e-9)


def test_a_basin_holds_its_gait():
    gait = find(compass())
    found = basin(gait, cells=(21, 15))
    assert found.label.shape == (21, 15)
    assert found.walks[10, 7]
    assert set(found.outcomes) <= {"walks", "fall", "sit", "take_off", "double_support", "stopped"}
    assert 0 < found.walks.mean() < 1
    with pytest.raises(UnknownNameError, match="stance"):
        basin(gait, ("stanc", "swing"))


def test_sensitivity_norm_is_that_of_a_linear_system():
    gait = find(rimless_wheel(slope=0.15))
    norm = sensitivity_norm(gait, np.array([[0.0], [1.0]]), np.array([[0.0, 1.0]]))
    assert norm == pytest.approx(1 / math.sqrt(1 - gait.jacobian[1, 1] ** 2), rel=1e-9)
    assert sensitivity_norm(find(compass(slope=math.radians(4.6))), np.eye(4), np.eye(4)) == math.inf


def test_sensitivity_norm_is_what_steps_do():
    """A small disturbance, walked in the simulator: the summed squares of what a leg's angle shows of it."""
    gait, size = find(compass()), 1e-6
    disturbed = {**gait.x0, "stance_rate": gait.x0["stance_rate"] + size}
    runs = [
        strut.simulate(gait.system, t=30 * gait.period, x0=x0, rtol=1e-12, atol=1e-14)
        for x0 in (disturbed, gait.x0)
    ]
    angles = [
        np.array([e.after["stance"] for e in run.events if e.name == "heel_strike"][:25]) for run in runs
    ]
    seen = (
        np.linalg.norm(angles[0] - angles[1]) / size
    )  # the disturbance itself is one of the rate: the angle shows it from the first step on
    index = list(gait.names).index
    column, row = np.zeros((4, 1)), np.zeros((1, 4))
    column[index("stance_rate")], row[0, index("stance")] = 1.0, 1.0
    assert sensitivity_norm(gait, column, row) == pytest.approx(seen, rel=1e-4)


def test_a_walker_whose_ground_goes_with_it_cannot_step_down():
    with pytest.raises(ModelError, match="names no state that lifts it over the ground"):
        step_down(find(simplest()))
