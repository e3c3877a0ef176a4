"""Branches of gaits: folds and period doublings, checked against simulation."""

import math

import numpy as np
import pytest

import strut
from strut.errors import ModelError, NoGaitError, UnknownNameError, ValueRangeError
from strut.gait import ReturnMap, find, follow, gaits_at
from strut.gait.newton import shoot
from strut.walkers import compass, kneed, rimless_wheel, round_foot, simplest


@pytest.fixture(scope="module")
def branch():
    return follow(compass(), "slope", to=math.radians(5), points=40)


def test_compass_doubles_its_period(branch):
    (doubling,) = branch.bifurcations
    assert doubling.kind == "doubling"
    assert np.abs(doubling.point.multipliers + 1).min() < 1e-8
    assert math.degrees(doubling.at) == pytest.approx(4.3909, abs=1e-4)
    before, after = branch.gait(doubling.at - 1e-8), branch.gait(doubling.at + 1e-8)
    assert before.stable
    assert not after.stable


def test_simulation_doubles_where_the_branch_says(branch):
    """Just below, step lengths of a long walk settle to one value; above, to two, those of the doubled branch."""
    at = branch.bifurcations[0].at
    for slope, lengths in ((at - 5e-4, 1), (at + 5e-4, 2)):
        near = {**branch.gait(slope).x0}
        near["stance_rate"] += 1e-3
        run = strut.simulate(compass(slope=slope), t=400.0, x0=near)
        assert run.status == "done"
        steps = [e.after["step_length"] for e in run.events if e.name == "heel_strike"][-4:]
        assert (abs(steps[-1] - steps[-2]) > 1e-3) == (lengths == 2)
        assert steps[-1] == pytest.approx(steps[-3], abs=1e-4)


def test_the_doubled_branch_is_a_gait_of_two_steps(branch):
    doubled = branch.bifurcations[0].doubled(to=math.radians(4.6), points=20)
    assert doubled.steps == 2
    assert doubled.stable[3:].all()
    gait = doubled.gait(math.radians(4.5))
    assert gait.steps == 2
    single = branch.gait(math.radians(4.5))
    assert abs(gait.x0["stance"] - single.x0["stance"]) > 1e-3
    assert gait.period == pytest.approx(2 * single.period, rel=1e-2)


def test_shooting_finds_the_same_gait_of_two_steps(branch):
    """Multiple shooting, from two states that do not follow from each other, and Newton on two steps agree."""
    slope = math.radians(4.6)
    doubled = branch.bifurcations[0].doubled(to=math.radians(4.7), points=20).gait(slope)
    single = branch.gait(slope)
    step = ReturnMap(compass(slope=slope))
    away = doubled.y0 - single.y0
    orbit = shoot(step, np.array([single.y0 + 0.8 * away, single.y0 - 0.8 * away]))
    assert orbit is not None
    assert orbit[0] == pytest.approx(doubled.y0, abs=1e-9)
    assert step(orbit[0]).y == pytest.approx(orbit[1], abs=1e-9)
    assert np.abs(orbit[0] - orbit[1]).max() > 1e-2


def test_simplest_walker_doubles_where_garcia_says():
    branch = follow(simplest(), "slope", to=0.017, points=30)
    assert [b.kind for b in branch.bifurcations] == ["doubling"]
    assert branch.bifurcations[0].at == pytest.approx(0.0151, abs=1e-4)


def test_the_gaits_of_the_kneed_walker_meet_in_a_fold():
    """The long and the short gait are one branch, which turns back where a multiplier is 1; below there is no gait."""
    long = find(kneed())
    branch = follow(kneed(), "slope", to=0.02, start=long, points=30, bounds=(0.02, 0.06))
    (fold,) = (b for b in branch.bifurcations if b.kind == "fold")
    assert np.abs(fold.point.multipliers - 1).min() < 1e-6
    assert fold.at == pytest.approx(branch.parameter.min(), abs=1e-4)
    assert fold.at <= branch.parameter.min() + 1e-10
    again = branch.gait(
        0.0504, occurrence=len(np.flatnonzero(np.diff(np.sign(branch.parameter - 0.0504)))) - 1
    )
    assert again.period == pytest.approx(0.484238, abs=1e-6)
    with pytest.raises(NoGaitError):
        find(kneed(slope=fold.at - 1e-4), starts=60)


def test_a_branch_gives_its_gaits_at_other_values():
    """Both where it passes a value twice, up to the fold, and none beyond it."""
    branch = follow(kneed(), "slope", to=0.02, start=find(kneed()), points=30, bounds=(0.02, 0.06))
    (fold,) = (b.at for b in branch.bifurcations if b.kind == "fold")
    values = [0.058, 0.045, fold + 1e-6, fold - 1e-6]
    gaits = gaits_at(branch, values)
    assert [each.value for each in gaits] == [values[0], *(2 * [values[1]]), *(2 * [values[2]]), values[3]]
    long, short = (each.point for each in gaits[1:3])
    assert long.period == pytest.approx(branch.gait(0.045, occurrence=0).period, abs=1e-8)
    assert short.period == pytest.approx(branch.gait(0.045, occurrence=1).period, abs=1e-8)
    assert long.period - short.period > 0.05
    around = [each.point.period for each in gaits[3:5]]
    assert 1e-5 < around[0] - around[1] < 1e-2
    assert gaits[-1].point is None
    assert gaits[-1].why == f"the branch does not come there: {branch.ended}"


def test_a_doubled_branch_gives_its_gaits_at_other_values(branch):
    doubled = branch.bifurcations[0].doubled(to=math.radians(4.6), points=20)
    (gait,) = gaits_at(doubled, [0.079])
    assert gait.point.period == pytest.approx(doubled.gait(0.079).period, abs=1e-9)
    assert gait.point.period > 1.5 > branch.gait(0.079).period


def test_a_branch_reaches_the_end_of_a_range():
    """Feet without a radius are points."""
    branch = follow(round_foot(), "radius", to=0.0, points=20)
    assert branch.ended == "reached radius = 0"
    assert branch.parameter[-1] == 0
    assert np.isfinite(branch.period).all()


def test_derivatives_predict_the_branch(branch):
    gait = branch.gait(0.06)
    k = int(np.argmin(np.abs(branch.parameter - 0.06)))
    change = (branch.values("stance")[k + 1] - branch.values("stance")[k - 1]) / (
        branch.parameter[k + 1] - branch.parameter[k - 1]
    )
    assert gait.derivative("slope")["stance"] == pytest.approx(change, rel=1e-2)


def test_a_branch_ends_where_the_old_foot_does_not_lift():
    """The map goes on beyond it; but there the simulator says that both feet stand."""
    branch = follow(kneed(slope=0.11), "slope", to=0.14, points=10)
    assert "double_support: the old foot did not lift" in branch.ended
    end = branch.parameter[-1]
    assert 0.1190 < end < 0.1200
    beyond = ReturnMap(kneed(slope=end + 1e-3), x0=find(kneed(slope=end)).x0)
    y = beyond.free(beyond.start.x)
    for _ in range(6):  # Newton finds the fixed point; find() refuses it
        done = beyond(y)
        y = y - np.linalg.solve(done.by_y - np.eye(len(y)), done.y - y)
    assert np.abs(beyond(y).y - y).max() < 1e-10
    with pytest.raises(NoGaitError, match="double_support"):
        find(kneed(slope=end + 1e-3), beyond.whole(y), starts=0)


def test_a_branch_ends_where_steps_do():
    branch = follow(rimless_wheel(slope=0.15), "slope", to=0.0, points=20)
    assert branch.ended.startswith(f"beyond slope = {branch.parameter[-1]:.6g} ")
    assert branch.parameter.min() > 0


def test_what_cannot_be_followed(branch):
    with pytest.raises(UnknownNameError, match="slope"):
        follow(compass(), "slop", to=0.1)
    with pytest.raises(ValueRangeError, match="already"):
        follow(compass(), "hip_mass", to=10.0)
    with pytest.raises(ValueRangeError, match="passes slope"):
        branch.gait(1.0)
    with pytest.raises(UnknownNameError, match="period"):
        branch.values("stanc")
    fold = strut.gait.Bifurcation("fold", 0.1, branch.points[0], branch)
    with pytest.raises(ModelError, match="only a doubling"):
        fold.doubled()


def test_points_agree_with_gaits_found_alone(branch):
    k = len(branch) // 2
    gait = find(compass(slope=branch.parameter[k]), dict(zip(branch.names, branch.points[k].y, strict=True)))
    assert gait.y0 == pytest.approx(branch.points[k].y, abs=1e-9)
    assert gait.period == pytest.approx(branch.points[k].period, abs=1e-9)
