"""A requirement on a step is described once: everything that lists requirements reads the same fields."""

import inspect
import math
from dataclasses import dataclass

import pytest
import typer

from strut import gait, optimal, walkers
from strut.cli.app import application
from strut.cli.design_texts import read_goal
from strut.errors import UnknownNameError, ValueRangeError
from strut.optimal.walk.goal_field import GoalField, as_number, goal_fields, requirement, take_goal
from strut.optimal.walk.reference import ReferenceStep
from strut.optimal.walk.step_goal import SWEPT_UNITS, StepGoal
from strut.optimal.walk.step_limits import StepLimits, complete_limits
from strut.optimal.walk.step_problem import StepPlan, problem_of
from strut.report import design_result

FIELDS = goal_fields(StepGoal)
VALUES = {
    "speed": 0.8,
    "slope": math.radians(3),
    "step_length": (0.2, 0.9),
    "duration": (0.3, 1.5),
    "torque": 30.0,
    "friction": 0.9,
    "clearance": 0.0,
    "stability": 5.0,
    "stair": 0.02,
    "steps": 2,
    "flight": 0.1,
}


def require_still_hip(problem, value, foot_margin):
    rate = problem.system["swing_rate"]
    return problem.require("the leg swings slowly", rate, -as_number(value), as_number(value))


@dataclass(frozen=True, kw_only=True)
class GoalWithSwing(StepGoal):
    """One more requirement: all that it takes."""

    swing_rate: float | None = requirement(
        GoalField(
            unit="rad/s",
            flag="--swing-rate",
            metavar="RATE",
            help="How fast the leg swings at most.",
            meaning="of the leg, at most.",
            on_problem=require_still_hip,
        )
    )


@pytest.fixture(scope="module")
def asked():
    return optimal.design(walkers.compass(), friction=0.9, speed=0.8, slope=math.radians(3), torque=30.0)


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_a_keyword_a_flag_and_can_be_swept(name):
    parameter = inspect.signature(optimal.design).parameters[name]
    assert parameter.kind is parameter.KEYWORD_ONLY
    assert f"    {name}" in optimal.design.__doc__
    command = typer.main.get_command(application(["design", "run"])).commands["design"]
    option = next(each for each in command.params if each.name == name)
    assert option.opts == [FIELDS[name].flag]
    assert option.help.replace("\\[", "[") == FIELDS[name].help
    assert option.metavar == FIELDS[name].metavar
    assert SWEPT_UNITS[name] == FIELDS[name].unit
    assert StepGoal(**{name: VALUES[name]}).asked_values() == {name: VALUES[name]}


def test_reports_say_what_was_asked_and_what_is_a_default(asked):
    data = asked.data()["goal"]
    assert data["asked"] == {"speed": 0.8, "slope": math.radians(3), "torque": 30.0, "friction": 0.9}
    assert set(data["default"]) == {"step_length", "duration"}
    table = next(
        table
        for chapter in design_result(asked).chapters
        for table in chapter.tables
        if table.title == "What was asked"
    )
    assert ("friction", "0.9", "", "asked") in [tuple(row) for row in table.rows]
    assert {row[0] for row in table.rows} == {n.replace("_", " ") for n in {*data["asked"], *data["default"]}}


def test_one_more_field_is_one_more_requirement():
    walker = walkers.compass()
    assert list(goal_fields(GoalWithSwing)) == [*FIELDS, "swing_rate"]
    goal = GoalWithSwing(speed=0.8, swing_rate=3.0)
    limits = complete_limits(goal, walker, ReferenceStep(section="heel_strike", guess=None))
    problem = problem_of(walker, StepPlan(events=("heel_strike",)), limits, list(limits.fields))
    names = [r.name for r in problem.requirements]
    assert "the leg swings slowly" in names
    assert "speed" in names
    assert ("swing rate", "3", "rad/s", "asked") in limits.rows()

    @take_goal(GoalWithSwing, after="walker")
    def search(walker, **goal):
        """Search.

        {goal}
        """

    assert "swing_rate" in inspect.signature(search).parameters
    assert "swing_rate [rad/s]: of the leg, at most." in search.__doc__


def test_defaults_are_known_by_name():
    walker = walkers.compass()
    passive = gait.find(walker)
    reference = ReferenceStep(section="heel_strike", guess=passive, gait=passive)
    limits = complete_limits(StepGoal(friction=0.5), walker, reference)
    assert set(limits.defaults) == {"speed", "step_length", "duration", "torque"}
    assert limits["friction"] == 0.5
    assert limits["speed"] == passive.speed
    assert limits["stability"] is None
    assert "speed" not in complete_limits(StepGoal(step_length=0.5), walker, reference).defaults
    assert limits.with_defaults(clearance=0.0)["clearance"] == 0.0


def test_texts_of_the_command_line_become_values():
    texts = {"speed": "0.5:0.6", "slope": "3deg", "step_length": "40cm", "torque": "30"}
    values = {name: value for name, value in read_goal(texts).items() if value is not None}
    expected = {"speed": (0.5, 0.6), "slope": math.radians(3), "step_length": 0.4, "torque": 30.0}
    assert values == expected
    assert StepGoal(**values).asked_values() == expected


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("speed", -1.0, "speed is -1.0: give a positive number, or bounds"),
        ("duration", (2.0, 1.0), r"duration is \(2.0, 1.0\)"),
        ("torque", 0.0, "torque is 0.0 N m: what is allowed must be positive"),
        ("torque", {"hip_torque": -1.0}, "what is allowed must be positive"),
        ("friction", 0.0, "friction is 0.0: the coefficient must be positive"),
        ("clearance", -0.1, "clearance is -0.1: a height above the ground must not be negative"),
        ("stability", 0.0, "stability is 0.0: multipliers have a size, it must be positive"),
    ],
)
def test_values_are_checked_where_they_are_given(name, value, said):
    with pytest.raises(ValueRangeError, match=said):
        StepGoal(**{name: value})


def test_a_step_problem_takes_what_a_problem_can_require():
    walker = walkers.compass()
    problem = optimal.step_problem(
        walker, ["heel_strike"], speed=0.8, torque={"hip_torque": 5.0}, friction=math.inf
    )
    assert problem.limits == {"hip_torque": (-5.0, 5.0)}
    assert {r.name for r in problem.requirements} >= {"speed", "step time", "step length"}
    assert not any("slip" in r.name for r in problem.requirements)
    with pytest.raises(UnknownNameError, match="'stability' is nothing that a step problem can require"):
        optimal.step_problem(walker, ["heel_strike"], stability=0.9)
    assert StepLimits().rows() == []
