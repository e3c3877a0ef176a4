"""Searches of gaits that end early: by their budget, by Ctrl-C; and what they say they had by then."""

import math
import time

import numpy as np
import pytest

import strut
from strut import gait
from strut.errors import NoGaitError, ValueRangeError
from strut.gait import ReturnMap, random_search
from strut.gait.deadline import MAX_WALL_FACTOR, Deadline
from strut.gait.standing import stands_still
from strut.walkers import compass

SLOPED = compass(slope=strut.deg(4))
LEVEL = compass(slope=0.0)
GUESS = {"stance": 0.25, "swing": -0.25, "stance_rate": -1.2, "swing_rate": 0.0}


class Watch:
    """Clocks that stand still until they are told."""

    def __init__(self, monkeypatch):
        self.wall = self.processor = 0.0
        monkeypatch.setattr("strut.gait.deadline.clock.monotonic", lambda: self.wall)
        monkeypatch.setattr("strut.gait.deadline.clock.process_time", lambda: self.processor)

    def work(self, seconds):
        self.wall += seconds
        self.processor += seconds

    def wait(self, seconds):
        self.wall += seconds


@pytest.fixture
def interrupt_at(monkeypatch):
    """Ctrl-C at the n-th batch of steps."""

    def arm(n):
        many, calls = ReturnMap.many, []

        def counted(self, *arguments, **options):
            calls.append(len(calls))
            if len(calls) == n:
                raise KeyboardInterrupt
            return many(self, *arguments, **options)

        monkeypatch.setattr(ReturnMap, "many", counted)

    return arm


def test_the_time_of_other_programs_counts_up_to_a_factor(monkeypatch):
    watch = Watch(monkeypatch)
    deadline = Deadline(10.0)
    part = deadline.part(0.5)
    watch.work(4.0)
    watch.wait(5.0)
    assert deadline.left == pytest.approx(6.0)
    assert part.left == pytest.approx(1.0)
    watch.work(1.5)
    assert part.is_over
    assert not deadline.is_over
    watch.wait(MAX_WALL_FACTOR * 10.0)
    assert deadline.is_over


def test_an_interrupt_of_a_part_is_one_of_the_whole():
    deadline = Deadline()
    part = deadline.part(0.1).part(0.1)
    assert not part.is_over
    assert not deadline.is_over
    part.interrupt()
    assert part.is_over
    assert deadline.is_over
    assert deadline.interrupted


def test_without_a_gait_the_error_says_what_the_budget_left_untried():
    with pytest.raises(NoGaitError) as caught:
        gait.find_all(LEVEL, starts=200_000, budget=0.5)
    text = str(caught.value)
    assert "Newton's method began from " in text
    assert "of 200000 random states when the budget of 0.5 s was over" in text
    assert "Try other parameters, another guess, or a longer budget (--budget, budget=)" in text
    tried = int(text.split("began from ")[1].split(" ")[0])
    assert tried < 200_000


def test_a_budget_ends_a_search_about_then():
    began = time.process_time()
    with pytest.raises(NoGaitError):
        gait.find_all(LEVEL, starts=10_000_000, budget=1.0)
    assert time.process_time() - began < 20.0  # drawing ten million states is no part of it


def test_gaits_found_by_the_end_of_a_budget_are_returned_with_a_warning():
    # Newton's method comes to the gait in a fraction of a second; a busy machine needs several times that.
    with pytest.warns(gait.BudgetWarning, match=r"after its budget of 5 s, when \d+ of 200000 random states"):
        gaits = gait.find_all(SLOPED, starts=200_000, budget=5.0)
    assert any(each.stable for each in gaits)


def test_a_budget_that_suffices_changes_nothing():
    free, timed = gait.find_all(SLOPED, starts=60), gait.find_all(SLOPED, starts=60, budget=600.0)
    assert [each.period for each in timed] == [each.period for each in free]
    assert gait.find(SLOPED, GUESS, budget=600.0).x0 == gait.find(SLOPED, GUESS).x0


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan])
def test_a_budget_is_a_time(budget):
    with pytest.raises(ValueRangeError, match="budget"):
        gait.find(SLOPED, budget=budget)


def test_the_nearest_state_of_a_failed_search_is_a_guess():
    """The state that came nearest on level ground leads to the gait on a slope."""
    with pytest.raises(NoGaitError) as caught:
        gait.find(LEVEL, starts=40)
    assert "where the machine does, where it walks to, and from 40 of 40 random states" in str(caught.value)
    nearest = caught.value.nearest
    assert set(nearest) == set(LEVEL.labels("x"))
    step = ReturnMap(LEVEL)
    y = step.free(np.array([nearest[name] for name in LEVEL.labels("x")]))
    once = step(y, rough=True)
    assert once.ok
    assert np.linalg.norm(once.y - y) == pytest.approx(caught.value.closest, rel=1e-3)
    assert gait.find(SLOPED, nearest).stable


@pytest.mark.parametrize("n", [1, 2, 4])
def test_an_interrupt_says_that_nothing_was_found_yet(interrupt_at, n):
    interrupt_at(n)
    with pytest.raises(gait.GaitSearchInterrupted, match="no gait was found yet") as caught:
        gait.find_all(SLOPED, starts=40)
    assert caught.value.gaits == []
    assert isinstance(caught.value, KeyboardInterrupt)


def test_an_interrupt_while_gaits_are_simulated_keeps_those_found(monkeypatch):
    verify, calls = random_search.verified_gait, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return verify(*arguments)

    monkeypatch.setattr(random_search, "verified_gait", interrupted)
    with pytest.raises(gait.GaitSearchInterrupted, match="^1 found") as caught:
        gait.find_all(SLOPED, starts=100)
    (kept,) = caught.value.gaits
    assert kept.residual < 1e-10


def test_a_machine_that_lands_at_once_stands_still():
    """A step of no time is none, one of a usual time is, whatever it returns to."""
    step = ReturnMap(SLOPED)
    y = step.free(step.start.x)[None]
    steps = step.many(y, rough=True)
    assert not stands_still(step, y, steps, float(steps.period[0])).any()
    hasty = type(steps)(**{**vars(steps), "period": np.zeros(1)})
    assert stands_still(step, y, hasty, float(steps.period[0])).all()
