"""Limits that decide an answer are named, with what moving them would save; defaults that only guide do not
decide."""

import math
from dataclasses import replace

import pytest

from strut import gait, optimal, walkers
from strut.optimal.walk import goal_defaults
from strut.optimal.walk.active_limits import find_active_limits
from strut.report import design_result

MOVED = 1e-3
"""By this part a limit is moved to see what its multiplier promises."""


@pytest.fixture(scope="module")
def compass():
    return walkers.compass(slope=0.0)


@pytest.fixture(scope="module")
def passive():
    return gait.find(walkers.compass())


@pytest.fixture(scope="module")
def level(compass, passive):
    return optimal.design(compass, speed=0.5, guess=passive)


def asked_with(level, name, value):
    """A design at half a metre per second with one more limit."""
    free = {"hip_spring": (0.0, value)} if name == "bounds of hip_spring" else ()
    asked = {} if free else {name: value}
    return optimal.design(
        level.result.problem.system, free, **{"speed": 0.5, **asked}, guess=level.passive, intervals=14
    )


@pytest.mark.parametrize(
    ("name", "value", "limit", "side", "unit", "source"),
    [
        ("step_length", (0.2, 0.3), "step length", "high", "m", "asked"),
        ("step_length", (0.45, 0.6), "step length", "low", "m", "asked"),
        ("duration", (0.2, 0.6), "duration", "high", "s", "asked"),
        ("torque", 20.0, "torque of hip_torque", "high", "N m", "asked"),
        ("friction", 0.23, "friction", "high", "", "asked"),
        ("bounds of hip_spring", 4.0, "bounds of hip_spring", "high", "N m/rad", "asked"),
        ("speed", 0.5, "speed", "equal", "m/s", "asked"),
    ],
)
def test_a_limit_says_what_moving_it_saves(level, name, value, limit, side, unit, source):
    here = asked_with(level, name, value)
    assert here.result.ok
    active = {each.name: each for each in here.active_limits}
    assert limit in active, [each.sentence for each in here.active_limits]
    found = active[limit]
    bound = value if not isinstance(value, tuple) else value[side == "high"]
    assert (found.side, found.unit, found.source) == (side, unit, source)
    assert found.value == pytest.approx(bound)
    # The same with the limit moved a little, both ways.
    costs = []
    for part in (1 - MOVED, 1 + MOVED):
        moved = (
            value * part
            if not isinstance(value, tuple)
            else tuple(v * part if k == (side == "high") else v for k, v in enumerate(value))
        )
        costs.append(asked_with(level, name, moved).result.cost)
    assert found.slope == pytest.approx((costs[1] - costs[0]) / (2 * MOVED * bound), rel=5e-3)


def test_an_answer_without_limits_lists_what_was_asked(level):
    assert [each.name for each in level.active_limits] == ["speed"]
    speed = level.active_limits[0]
    assert speed.sentence == (
        f"speed is exactly 0.5 m/s (asked): a metre per second less would save {speed.slope:.3g}, at this rate"
    )


def test_sentences_say_which_way_and_how_much():
    low = optimal.ActiveLimit("step length", "low", 0.13, "m", "default", 0.0527, "step_length")
    assert low.sentence == (
        "step length is at least 0.13 m (default): a metre less would save 0.0527, at this rate"
    )
    high = optimal.ActiveLimit("friction", "high", 1.0, "", "default", -0.005, "friction")
    assert high.sentence == "friction is at most 1 (default): 1 more would save 0.005, at this rate"

    touched = optimal.ActiveLimit(
        "torque of hip", "high", 86.3, "N m", "default", -4e-9, "torque", decides=False
    )
    assert touched.sentence == (
        "torque of hip is at most 86.3 N m (default): it is touched and hardly matters, a newton metre more "
        "would save 4e-09, at this rate"
    )


def test_a_guide_that_is_touched_is_named_however_little_it_matters(level):
    """A torque that peaks at its default for an instant: what is pressed there is next to nothing. The multipliers
    of a solution whose torque is bounded are made small, all else stays."""
    near = asked_with(level, "torque", 20.0)
    (torque,) = [each for each in near.active_limits if each.field == "torque"]
    assert torque.decides
    faint = replace(
        near.result,
        multipliers=tuple(
            replace(group, multiplier=1e-9 * group.multiplier)
            if group.name == "bounds of hip_torque"
            else group
            for group in near.result.multipliers
        ),
    )
    asked = [each.field for each in find_active_limits(faint, near.limits)]
    assert "torque" not in asked  # who asked for it knows it
    goal = replace(near.limits.goal, torque=None)
    limits = replace(near.limits, goal=goal).with_defaults(torque={"hip_torque": 20.0})
    (guide,) = [each for each in find_active_limits(faint, limits) if each.field == "torque"]
    assert not guide.decides
    assert (guide.name, guide.source, guide.value) == ("torque of hip_torque", "default", 20.0)
    assert guide.slope == pytest.approx(1e-9 * torque.slope)


def test_guides_do_not_decide(compass, passive, level, monkeypatch):
    """Held within 30 % of the passive gait, which walks with longer steps, the search ends where it does
    without."""
    monkeypatch.setattr(goal_defaults, "REFERENCE_FACTOR", 1.3)
    narrow = optimal.design(compass, speed=0.5, guess=passive)
    assert narrow.ok
    assert narrow.result.cost == pytest.approx(level.result.cost, rel=1e-6)
    assert [each.name for each in narrow.active_limits] == ["speed"]
    assert narrow.limits["step_length"][0] < passive.step_length / 1.3


def test_a_default_that_still_decides_is_named():
    """Work alone asks for ever shorter steps: 0.00554 within a factor of four of the passive gait."""
    short = optimal.design(walkers.compass(), cost="energy", speed=0.5, slope=0.0)
    assert short.ok
    assert short.result.cost < 0.0036
    named = [each for each in short.active_limits if each.source == "default"]
    assert named
    assert {each.field for each in named} <= {"step_length", "duration", "torque", "friction"}
    assert all(math.isfinite(each.slope) and each.slope for each in named)
    assert short.data()["active_limits"][0].keys() >= {"name", "value", "unit", "source", "slope", "sentence"}
    page = design_result(short)
    assert f"A default decides: {named[0].sentence}." in page.remarks
    table = next(
        t for chapter in page.chapters for t in chapter.tables if t.title == "What decides the answer"
    )
    assert len(table.rows) == len(short.active_limits)
