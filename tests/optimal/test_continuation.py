"""Ways to a goal that one search does not reach: stages of slope and speed, and a price on squared torque."""

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from strut import gait, optimal, walkers
from strut.optimal.solver.watch import SearchWatch
from strut.optimal.walk import guided_search
from strut.optimal.walk.continuation import MIN_STEP, continue_to_goal
from strut.optimal.walk.design_task import DesignTask
from strut.optimal.walk.priced_search import lower_prices
from strut.optimal.walk.read_walk import slope_of
from strut.optimal.walk.reference import ReferenceStep
from strut.report import design_result


@dataclass
class Outcome:
    """What a stage comes to."""

    success: bool
    speed: float
    slope: float


@pytest.fixture(scope="module")
def compass():
    return walkers.compass()


@pytest.fixture(scope="module")
def passive(compass):
    return gait.find(compass)


def level_problem(compass):
    return optimal.step_problem(compass.using(slope=0.0), ["heel_strike"])


def asked_speed(problem):
    return next(float(r.low) for r in problem.requirements if r.name == "speed")


def walk_along(compass, passive, reach):
    """The stages that a solver is asked for which succeeds within `reach` of the last success, as parts of
    the way from the slope of the gait to the flat."""
    asked, last = [], [0.0]
    steep = slope_of(passive.system)

    def solve_stage(problem, begin, **limits):
        part = 1 - slope_of(problem.system) / steep
        asked.append(part)
        good = part - last[0] <= reach
        last[0] = part if good else last[0]
        return Outcome(good, asked_speed(problem), slope_of(problem.system))

    return continue_to_goal(level_problem(compass), passive, 0.5, solve_stage), asked


def test_slope_and_speed_go_from_those_of_the_gait_to_what_is_asked(compass, passive):
    end, parts = walk_along(compass, passive, reach=1.0)
    assert parts == pytest.approx([0.0, 0.25, 0.625, 1.0])
    assert end.speed == pytest.approx(0.5)
    assert end.slope == pytest.approx(0.0)


def test_a_step_that_fails_is_halved(compass, passive):
    end, parts = walk_along(compass, passive, reach=0.15)
    assert end.success
    assert parts[:3] == pytest.approx([0.0, 0.25, 0.125])
    assert parts[-1] == pytest.approx(1.0)


def test_where_no_step_leads_further_there_is_no_end(compass, passive):
    end, parts = walk_along(compass, passive, reach=0.5 * MIN_STEP)
    assert end is None
    assert len(parts) == 5  # 0, and 1/4, 1/8, 1/16, 1/32 of the way


def test_stages_lead_to_the_same_optimum(compass, passive, monkeypatch):
    """The direct searches, that with larger torques, too, are made to fail: the way from the passive gait ends
    at the same cost."""
    direct, first = guided_search.solve, []

    def fail_twice(*args, **kwargs):
        solution = direct(*args, **kwargs)
        first.append(solution)
        return replace(solution, success=False) if len(first) <= 2 else solution

    monkeypatch.setattr(guided_search, "solve", fail_twice)
    stages = []
    level = optimal.design(
        compass, speed=0.5, slope=0.0, like=passive, progress=lambda stage: stages.append(stage.name)
    )
    assert stages.index("with larger torques") < stages.index("towards slope and speed in stages")
    assert level.ok
    assert level.result.cost == pytest.approx(first[0].cost, rel=1e-6)


def test_work_without_an_optimum_has_a_price_on_torque_and_says_so(tmp_path):
    """With motors in hip and ankle there are steps of ever less energy, and no best one."""
    driven = walkers.compass_driven()
    goal = {
        "speed": 0.3,
        "slope": 0.0,
        "budget": 3.0,
    }  # few finer meshes: what is told here is in the first, and in lower prices
    calm = optimal.design(driven, **goal)
    cheap = optimal.design(driven, cost="energy", guess=calm, **goal)
    assert calm.ok
    assert cheap.ok
    assert cheap.cost.name == "energy + squared-torque"
    price = cheap.active_limits[0]
    assert price.source == "default"
    assert "of squared torque stands beside energy (default)" in price.sentence
    assert cheap.data()["active_limits"][0]["value"] == price.value > 0
    assert f"A default decides: {price.sentence}." in design_result(cheap).remarks
    cheap.save(tmp_path / "cheap.h5")
    assert optimal.load(tmp_path / "cheap.h5").price == price
    # By the balance of a step on the flat, motors give what the impact takes: the cost is twice that.
    balance = cheap.replay.balance
    twice_lost = 2 * balance.lost / (cheap.weight * cheap.step_length)
    assert cheap.parts()["energy"] == pytest.approx(twice_lost, rel=1e-5)
    assert twice_lost < calm.replay.balance.lost / (calm.weight * calm.step_length)
    alone = optimal.design(driven, cost="energy", guess=calm, price_torque=False, **goal)
    assert not alone.ok


def test_prices_begin_higher_where_the_first_leads_to_nothing():
    """A price of 1000 leads somewhere, and from there one of 100, but no lower one; what was tried, in order,
    each from the last that was ok."""
    asked = []

    def find(task):
        price = task.cost.get("squared-torque", 0.0) if isinstance(task.cost, dict) else math.inf
        asked.append((price, task.reference.guess))
        good = price > 500 or (price > 50 and 1000.0 in [before for before, _ in asked])
        return PricedStep(ok=good, name=price)

    task = DesignTask(
        walker=walkers.compass_driven(),
        free=(),
        cost="energy",
        reference=ReferenceStep("heel_strike", None),
        settings={},
        watch=SearchWatch(),
    )
    designs = list(lower_prices(task, 1.0, find))
    assert asked == [(math.inf, None), (100.0, math.inf), (1000.0, math.inf), (100.0, 1000.0), (10.0, 100.0)]
    assert [each.price.value for each in designs] == [1000.0, 100.0]


def test_prices_end_where_no_work_is_left():
    """Of a cost that cannot be negative, nothing is left to be made smaller at a price of 0.01: work alone,
    which costs most, is not searched for again; and the sentence says why the price is there."""
    asked = []

    def find(task):
        price = task.cost["squared-torque"] if isinstance(task.cost, dict) else math.inf
        asked.append(price)
        return PricedStep(ok=True, name=price)

    task = DesignTask(
        walker=walkers.compass_driven(),
        free=(),
        cost="positive-work",
        reference=ReferenceStep("heel_strike", None),
        settings={},
        watch=SearchWatch(),
    )
    last = list(lower_prices(task, 1.0, find))[-1]
    assert asked == [math.inf, 100.0, 10.0, 1.0, 0.1, 0.01]
    assert last.price.work == pytest.approx(9e-7)
    assert "among motions that need no work" in last.price.sentence


@dataclass(frozen=True)
class PricedStep:
    """A design of which only this is asked: whether it is ok, and what it is known by."""

    ok: bool
    name: float
    price: object = None
    result = SimpleNamespace(success=True, is_interrupted=False, accuracy=None, phases=())
    limits = SimpleNamespace(guides={})

    def guess(self):
        return self.name

    def parts(self):
        return {"squared-torque": 1.0, "positive-work": 9e-5 * self.name}

    weight = 10.0
