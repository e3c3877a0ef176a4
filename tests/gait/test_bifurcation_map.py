"""Steps that are walked over a parameter, against gaits that Newton's method finds."""

import numpy as np
import pytest

import strut
from strut import gait, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError


@pytest.fixture(scope="module")
def found():
    return gait.find(walkers.compass(slope=strut.deg(3)))


def test_steps_are_those_of_the_stable_branches(found):
    steps = gait.bifurcation_map(found, "slope", strut.deg(4.6), values=17, steps=150, kept=20)
    branch = gait.follow(found.system, "slope", to=strut.deg(4.6), start=found, points=17)
    (doubling,) = branch.bifurcations
    values = np.unique(steps.at)
    assert len(values) == 17
    assert len(steps.at) == len(steps.step_time) == len(steps.states) == 17 * 20
    for value in values:
        times = steps.step_time[steps.at == value]
        if abs(value / doubling.at - 1) < 0.01:
            continue  # near a doubling a walk settles as slowly as one likes
        kinds = len(np.unique(np.round(times, 6)))
        assert kinds == (1 if value < doubling.at else 2)
    # below the doubling a step takes as long as that of the gait there; it settles to 0.98^150 near it
    for value in values[values < 0.9 * doubling.at]:
        alone = gait.find(walkers.compass(slope=float(value)))
        assert steps.step_time[steps.at == value] == pytest.approx(alone.period, rel=1e-6)
        first = steps.states[steps.at == value][:, 0]
        assert first == pytest.approx(alone.x0[steps.names[0]], rel=1e-6)
    assert list(steps.columns()) == ["slope", "step_time", *found.names]
    assert steps.ended == f"reached slope = {strut.deg(4.6):g}"


def test_it_ends_where_the_walker_falls(found):
    parts = []
    steps = gait.bifurcation_map(
        found, "slope", strut.deg(8), values=12, steps=20, kept=5, progress=parts.append
    )
    assert steps.at.max() < strut.deg(5.5)  # where chaos ends in falls (Goswami and others, 1998)
    assert "fall" in steps.ended
    assert parts == sorted(parts)
    assert len(parts) == len(np.unique(steps.at))


def test_what_makes_no_sense_is_refused(found):
    with pytest.raises(UnknownNameError, match="there is no parameter 'slop': did you mean 'slope'"):
        gait.bifurcation_map(found, "slop", 0.1)
    with pytest.raises(ValueRangeError, match="kept is 20: a whole number is needed, 1 to 10"):
        gait.bifurcation_map(found, "slope", 0.06, steps=10, kept=20)
    dribbel = gait.find(walkers.dribbel())
    with pytest.raises(ModelError, match="whose steps all end in one event"):
        gait.bifurcation_map(dribbel, "slope", 0.05)


def test_every_step_of_a_doubled_gait_has_its_own_time(found):
    """The steps that are walked lie on the branch of gaits of two steps, one short and one long; their mean is none."""
    branch = gait.follow(found.system, "slope", to=strut.deg(4.6), start=found, points=9)
    (doubling,) = branch.bifurcations
    doubled = gait.doubled_branch(doubling, to=strut.deg(4.7), points=7)
    one, other = doubled.values_after_steps("period")
    assert one + other == pytest.approx(doubled.period)
    place = int(np.argmax(doubled.parameter))
    slope = float(doubled.parameter[place])
    steps = gait.bifurcation_map(
        gait.find(walkers.compass(slope=slope), steps=2), "slope", slope + 1e-6, values=2
    )
    walked = np.unique(np.round(steps.step_time[steps.at == slope], 5))
    assert walked == pytest.approx(sorted([one[place], other[place]]), abs=1e-4)
    assert abs(walked[1] - walked[0]) > 0.05


def test_beside_a_doubling_steps_are_walked_until_they_settle(found):
    """No dash of many heights: each value has the one or two that it comes to."""
    branch = gait.follow(found.system, "slope", to=strut.deg(4.6), start=found, points=9)
    at = branch.bifurcations[0].at
    steps = gait.bifurcation_map(found, "slope", 1.04 * at, values=30, steps=40, kept=20)
    for value in np.unique(steps.at):
        times = steps.step_time[steps.at == value]
        apart = np.abs(np.subtract.outer(times, [times[-1], times[-2 % len(times)]])).min(axis=1)
        assert apart.max() < 2e-3  # of 0.1 s between both branches at the end
