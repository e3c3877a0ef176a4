"""Requirements, bounds and costs of one's own hold in designs and sweeps, and are listed as asked."""

import copy
import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import ModelError, StorageError, UnknownNameError, ValueRangeError
from strut.optimal import Integral, OwnCost, StepRequirement
from strut.report import design_result
from strut.system import time

SLOPE = math.radians(3)
ROUNDING = 1e-6
"""What solver and mesh leave of a limit [its unit]."""


@pytest.fixture(scope="module")
def walker():
    return walkers.compass()


@pytest.fixture(scope="module")
def plain(walker):
    return optimal.design(walker, slope=SLOPE, speed=0.8)


@pytest.fixture(scope="module")
def asked(walker):
    """A design with requirements at every place; each is broken by the design without them."""
    return optimal.design(
        walker,
        slope=SLOPE,
        speed=0.8,
        require=[
            StepRequirement(
                "slow legs", walker["swing_rate"] - walker["stance_rate"], high=2.25, unit="rad/s"
            ),
            ("late torque", "hip_torque", 0.02, math.inf, "end"),
            StepRequirement("first push", "hip_torque", equal=-0.1, at="begin"),
            StepRequirement("net push", "hip_torque", low=-0.25, at="integral"),
            StepRequirement("back swing", "swing_rate", high=-0.56, at="after", phase="heel_strike"),
        ],
        within={"hip_torque": (-1.0, 1.0), "swing": (-0.5, 0.3)},
    )


def path(design, name):
    t = np.linspace(0, design.result.duration, 801)
    return design.result.at(t)[name]


def test_requirements_hold_at_every_place(walker, plain, asked):
    assert asked.ok, asked.wrong
    fast = path(plain, "swing_rate") - path(plain, "stance_rate")
    assert fast.max() > 2.29
    assert (path(asked, "swing_rate") - path(asked, "stance_rate")).max() < 2.25 + 1e-3
    torque = path(asked, "hip_torque")
    assert path(plain, "hip_torque")[-1] < 0 < 0.02 - ROUNDING < torque[-1]
    assert torque[0] == pytest.approx(-0.1, abs=ROUNDING)
    assert np.abs(torque).max() < 1.0 + ROUNDING
    t = np.linspace(0, asked.result.duration, 801)
    assert np.trapezoid(torque, t) > -0.25 - 1e-4
    assert plain.result.x0["swing_rate"] > -0.56 + ROUNDING > asked.result.x0["swing_rate"]
    assert asked.result.cost > plain.result.cost


def test_they_are_listed_as_asked(asked):
    rows = asked.limits.rows()
    assert ("late torque (hip_torque, at the end)", "at least 0.02", "N m", "asked") in rows
    assert ("within: swing", "-0.5 to 0.3", "", "asked") in rows
    assert any(name.startswith("slow legs (") and unit == "rad/s" for name, _, unit, _ in rows)
    assert ("net push (hip_torque, integrated over the time)", "at least -0.25", "N m s", "asked") in rows
    listed = json.loads(json.dumps(asked.data()["goal"]))["asked"]
    assert [each["name"] for each in listed["require"]] == [
        "slow legs",
        "late torque",
        "first push",
        "net push",
        "back swing",
    ]
    assert listed["require"][4] == {
        "name": "back swing",
        "expression": "swing_rate",
        "high": -0.56,
        "at": "after",
        "phase": "heel_strike",
        "unit": "rad/s",
    }
    assert listed["within"] == {"hip_torque": [-1.0, 1.0], "swing": [-0.5, 0.3]}
    chapter = next(each for each in design_result(asked).chapters if each.heading == "The design")
    assert any("late torque" in str(table) for table in chapter.tables)


def test_those_that_decide_the_answer_are_told_as_asked_and_with_their_units(asked):
    limits = {each.name: each for each in asked.active_limits}
    units = {"slow legs": "rad/s", "net push": "N m s", "bounds of hip_torque": "N m"}
    assert units.keys() <= limits.keys()
    for name, unit in units.items():
        assert (limits[name].source, limits[name].unit) == ("asked", unit)
    assert limits["bounds of hip_torque"].sentence.startswith(
        "bounds of hip_torque is at least -1 N m (asked): a "
    )


def test_a_design_with_them_pickles(asked):
    again = pickle.loads(pickle.dumps(asked))
    assert again.limits.data() == asked.limits.data()
    assert copy.copy(asked.limits.own.require[0]).name == "slow legs"
    changed = replace(asked.limits.own.require[2], name="other")
    assert (changed.low, changed.high) == (-0.1, -0.1)


def test_they_hold_on_a_frozen_branch():
    # Feet on rigid ground: the plan is made for another System, whose resets take the branches of a gait.
    walker = walkers.compass_duindam()
    hip = walker["hip"]
    made = optimal.design(
        walker,
        speed=0.6,
        # Weights of costs are parameters that the gait to begin from does not have.
        cost={"squared-torque": 1.0, "heat": OwnCost(Integral("heat", walker["hip_torque"] ** 2))},
        guess=gait.find(walker),
        require=[("wide", hip, -math.inf, 0.6), ("soft", "hip_torque", -1.0, 1.0, "begin")],
    )
    assert made.system.events != made.planned_system.events
    assert made.ok, made.wrong
    assert path(made, "hip").max() < 0.6 + 1e-3
    assert abs(path(made, "hip_torque")[0]) < 1.0 + ROUNDING


@pytest.mark.parametrize(
    ("require", "error", "text"),
    [
        ([("a", "hip_torqe", 0, 1)], UnknownNameError, "did you mean 'hip_torque'?"),
        ([("a", "hip_torque", 0, 1, "pth")], ModelError, "requirement 'a' is at 'pth': did you mean 'path'?"),
        ([("a", "hip_torque", 1, 0)], ValueRangeError, "wants 1 to 0: the first must not exceed the second"),
        ([("a", "hip_torque", 0, 1)] * 2, ModelError, "requirement 'a' stands twice"),
        (
            [("a", "hip_torque", 0, 1, "end", "heel_strke")],
            UnknownNameError,
            "which is no event of 'compass': did you mean 'heel_strike'?",
        ),
        ([("a", "hip_torque")], ModelError, "is no requirement: give optimal.StepRequirement("),
        ([("a", "hip_torque", -math.inf, math.inf)], ValueRangeError, "give low, high or equal"),
        (
            [("a", walkers.compass()["swing"], 0, 1)],
            UnknownNameError,
            "requirement 'a' uses 'swing', which 'compass' does not have",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_before_the_search(walker, require, error, text, monkeypatch):
    def never(*arguments):
        raise AssertionError("the search began")

    monkeypatch.setattr("strut.optimal.walk.design_search.find_reference", never)
    with pytest.raises(error) as caught:
        optimal.design(walker, slope=SLOPE, require=require)
    assert text in str(caught.value)


def test_wrong_bounds_of_states_and_wrong_phases_are_refused(walker):
    with pytest.raises(
        UnknownNameError, match="'swng' is no state or input of 'compass': did you mean 'swing'"
    ):
        optimal.design(walker, within={"swng": (0, 1)})
    with pytest.raises(ValueRangeError, match=r"'swing' is \(1, 0\): give a number, or bounds"):
        optimal.design(walker, within={"swing": (1, 0)})
    with pytest.raises(UnknownNameError, match="no phase of this step does: known: heel_strike; say phases="):
        optimal.design(walker, slope=SLOPE, require=[("a", "hip_torque", 0, 1, "end", "passes")])
    with pytest.raises(ValueRangeError, match="has equal=1 and low or high: give one of them"):
        StepRequirement("a", "hip_torque", 0.0, equal=1.0)


# ---- costs ----


def test_a_cost_of_ones_own_equals_the_one_by_name(walker, plain):
    torque = walker["hip_torque"]
    heat = Integral("heat", torque**2)
    own = optimal.design(
        walker, slope=SLOPE, speed=0.8, cost=OwnCost(heat, name="heating", unit="N^2 m^2 s", weight=2.0)
    )
    assert own.ok, own.wrong
    by_name = plain.result.cost * plain.weight * plain.step_length
    assert own.result.cost == pytest.approx(2 * own.result.totals["heat"], rel=1e-9)
    assert own.result.totals["heat"] <= by_name * (1 + 1e-6)  # the step length is free: not over distance
    name, value, unit = next(row for row in own.rows() if row[0].startswith("cost"))
    assert (name, unit) == ("cost (heating)", "N^2 m^2 s")
    assert value == pytest.approx(own.result.cost)
    assert "heat = integral of " in own.cost.meaning
    assert own.data()["cost_unit"] == "N^2 m^2 s"


def test_a_bare_expression_is_a_cost(walker):
    made = optimal.design(walker, slope=SLOPE, speed=0.8, cost=time)
    assert made.result.cost == pytest.approx(made.result.duration, rel=1e-9)
    assert made.cost.name == "own cost"


def test_costs_of_ones_own_mix_with_names(walker, plain):
    sway = OwnCost(Integral("sway", walker["swing_rate"] ** 2), weight=0.5, unit="rad^2/s")
    downhill = walker.using(slope=SLOPE)
    mixed = optimal.design(
        downhill, speed=0.8, cost={"squared-torque": 1.0, "sway": sway}, guess=gait.find(downhill)
    )
    assert mixed.ok, mixed.wrong
    parts = mixed.parts()
    assert mixed.result.cost == pytest.approx(parts["squared-torque"] + 0.5 * parts["sway"], rel=1e-7)
    assert ("part: sway, before its weight", pytest.approx(parts["sway"]), "rad^2/s") in mixed.rows()
    assert mixed.data()["cost_parts"] == parts
    t = np.linspace(0, plain.result.duration, 801)
    assert parts["sway"] < np.trapezoid(path(plain, "swing_rate") ** 2, t)


def test_costs_by_name_with_integrals_of_one_name_do_not_share_them(walker):
    # 'energy' and 'paper' both integrate 'work'.
    both = optimal.cost_of_transport(
        optimal.walk.costs.add_weight_parameters(walker, {"energy": 1.0, "paper": 1.0}),
        {"energy": 1.0, "paper": 1.0},
        ("heel_strike",),
    )
    names = [total.name for total in both.totals]
    assert len(set(names)) == len(names) == 4


def test_two_integrals_of_one_name_are_refused(walker):
    a, b = Integral("same", walker["swing"]), Integral("same", walker["stance"])
    with pytest.raises(ModelError, match="uses the integral 'same', and there is another one of that name"):
        optimal.design(walker, slope=SLOPE, cost=OwnCost(a.sym + 2 * b.sym))


def test_a_problem_out_of_a_pickle_knows_its_integrals(walker):
    heat = Integral("heat", walker["hip_torque"] ** 2)
    problem = optimal.Problem(walker).phase("step", until="heel_strike").minimise(heat)
    again = pickle.loads(pickle.dumps(problem)).minimise(2 * heat.sym)
    assert len(again.totals) == 1
    assert len(again.require("cool", heat, high=1.0, at="end").totals) == 1


def test_wrong_costs_are_explained(walker):
    with pytest.raises(
        UnknownNameError, match=r"no cost 'sway': known: .*; one of your own is optimal.OwnCost"
    ):
        optimal.design(walker, cost={"squared-torque": 1.0, "sway": 1.0})
    with pytest.raises(ModelError, match=r"cost 'sway' is .*: give the weight of a cost by name"):
        optimal.design(walker, cost={"sway": "swing_rate"})
    with pytest.raises(ModelError, match="the dict of costs is empty"):
        optimal.design(walker, cost={})
    with pytest.raises(ValueRangeError, match="the weight of cost 'sway' is -1: it must not be negative"):
        OwnCost(walker["swing"], "sway", weight=-1)
    with pytest.raises(ModelError, match="cost 'own cost' has 2 numbers: one is needed"):
        OwnCost([walker["swing"], walker["stance"]])


# ---- sweeps ----


def test_sweeps_keep_them_and_know_their_file_by_them(walker, tmp_path):
    file = tmp_path / "a.sqlite"
    rate = walker["swing_rate"] - walker["stance_rate"]
    cost = {"squared-torque": 1.0, "sway": OwnCost(Integral("sway", rate**2), weight=0.5, unit="rad^2/s")}
    options = {"slope": SLOPE, "cost": cost, "within": {"hip_torque": (-2.0, 2.0)}}
    values = [0.75, 0.8, 0.85]
    curve = optimal.trade_off(
        walker, "speed", values, require=[("slow legs", rate, -10.0, 2.5)], file=file, workers=2, **options
    )
    assert curve.ok
    assert "part: sway [rad^2/s]" in curve.rows()[0]
    one = curve.design(0.8)
    assert (path(one, "swing_rate") - path(one, "stance_rate")).max() < 2.5 + 1e-3
    # The same again is read from the file; another requirement, bound or cost is another sweep.
    again = optimal.trade_off(
        walker, "speed", values, require=[("slow legs", rate, -10.0, 2.5)], file=file, **options
    )
    assert again.wall < curve.wall
    for changes, what in (
        ({"require": [("slow legs", rate, -10.0, 2.4)]}, "own"),
        ({"require": [("slow legs", rate + 1e-3, -10.0, 2.5)]}, "own"),
        ({"within": {"hip_torque": (-3.0, 2.0)}}, "own"),
        ({"cost": {**cost, "sway": OwnCost(Integral("sway", rate**4), weight=0.5)}}, "cost"),
    ):
        other = {"require": [("slow legs", rate, -10.0, 2.5)], **options, **changes}
        with pytest.raises(StorageError, match=f"holds another sweep .its {what} differs"):
            optimal.trade_off(walker, "speed", values, file=file, **other)
