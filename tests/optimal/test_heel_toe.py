"""Feet of several points on rigid ground: which of them stand in each phase, the stride, and a design."""

import re
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from strut import contact, control, optimal
from strut.errors import ModelError
from strut.gait.return_map import ReturnMap
from strut.gait.section import default_section
from strut.gait.transport import weight_of
from strut.optimal.walk.contact_phases import contact_phases, step_section
from strut.optimal.walk.goal_defaults import SOLE_FACTOR
from strut.optimal.walk.reference import find_reference
from strut.optimal.walk.sole_stride import HEEL_LIFT, LANDING_SHARE, sole_stride
from strut.optimal.walk.step_goal import StepGoal
from strut.optimal.walk.step_limits import complete_limits
from strut.optimal.walk.step_problem import BRANCH_MARGIN, step_problem
from strut.system import start, sx, time
from tests.optimal.floating import on_rigid_ground
from tests.optimal.heel_toe import POINTS, heel_toe


@pytest.fixture(scope="module")
def walker():
    return on_rigid_ground(heel_toe(), POINTS, fall=("torso", 0.4))


# ---- the phases ----


def test_a_step_ends_where_a_heel_lands(walker):
    assert default_section(walker).endswith("_touchdown")
    assert step_section(walker, "toe_l_touchdown") == "heel_l_touchdown"
    assert step_section(walker, "heel_r_touchdown") == "heel_r_touchdown"


def test_heel_strike_foot_flat_and_heel_off_follow_each_other(walker):
    phases = contact_phases(walker, "heel_r_touchdown")
    assert phases.events == ("toe_l_touchdown", "heel_l_release", "heel_r_touchdown")
    assert [sorted(each) for each in phases.standing] == [["heel_l"], ["heel_l", "toe_l"], ["toe_l"]]
    assert phases.next_standing == {"heel_r"}


def test_double_support_is_a_phase_of_its_own_where_it_is_given(walker):
    events = ("toe_r_release", "toe_l_touchdown", "heel_l_release", "heel_r_touchdown")
    phases = contact_phases(walker, "heel_r_touchdown", events)
    assert sorted(phases.standing[0]) == ["heel_l", "toe_r"]
    assert phases.next_standing == {"heel_r", "toe_l"}


WRONG = {
    "twice": (
        ("toe_l_touchdown", "toe_l_touchdown", "heel_r_touchdown"),
        "ends a phase in which foot 'toe_l' of 'heel_toe' is on the ground already",
    ),
    "unknown": (("heel_strike", "heel_r_touchdown"), "'heel_strike' neither puts a foot .* nor lets one go"),
    "another end": (
        ("toe_l_touchdown", "heel_l_release"),
        "phases end with 'heel_l_release', and the step with",
    ),
    "in the air": (("heel_l_release", "heel_r_touchdown"), "nothing of 'heel_toe' is on the ground before"),
}


@pytest.mark.parametrize("case", WRONG)
def test_phases_that_make_no_step_are_refused(walker, case):
    events, sentence = WRONG[case]
    with pytest.raises(ModelError, match=sentence):
        contact_phases(walker, "heel_r_touchdown", events)


# ---- the ground under two points of one body ----


def test_a_flat_foot_carries_the_weight_and_heel_alone_holds_it_along_the_ground(walker):
    """Forces over a moment of standing on both points equal mass times acceleration of the centre of mass
    less gravity, along the ground and upwards (Newton), and the second point has no force along it."""
    begin, labels = start(walker), walker.labels("z")
    z = np.array([float(name in ("heel_l_on", "toe_l_on")) for name in labels])
    z[[labels.index("heel_l_on"), labels.index("toe_l_on")]] = 1.0
    rng = np.random.default_rng(3)
    gravity = walker.ledger.stored["gravity"]
    weight = float(ca.Function("w", [walker.vector("p")], [walker.walk.weight])(begin.p))
    x = begin.x.copy()
    x[walker.labels("x").index("base.pitch")] = 0.0
    x[walker.labels("x").index("hip_l")] = 0.0  # the left foot is flat
    u = rng.uniform(-5, 5, len(begin.u))
    height = gravity / weight
    flow = ca.vertcat(*[walker.flow[q.name] for q in walker.x])
    rise = ca.jtimes(ca.jtimes(height, walker.vector("x"), flow), walker.vector("x"), flow)
    forces = [walker[f"{point}_{kind}"] for point in ("heel_l", "toe_l") for kind in ("normal", "friction")]
    f = walker.function("forces", [rise, *forces], clock=False)
    acceleration, *loads = (float(each) for each in f(x, z, u, begin.p))
    heel, heel_along, toe, toe_along = loads
    assert heel + toe == pytest.approx(weight * (1 + acceleration / 9.81), rel=1e-9)
    assert toe_along == 0.0
    assert heel_along != 0.0


# ---- the stride ----


def test_the_stride_keeps_what_stands_where_it_is_and_the_rest_above_the_ground(walker):
    phases = contact_phases(walker, "heel_r_touchdown")
    stride = sole_stride(walker, phases, speed=0.5)
    assert stride.step_length / stride.period == pytest.approx(0.5)
    begin = start(walker)
    places = {f.name: f for f in walker.walk.feet}
    f = walker.function(
        "feet", [ca.vertcat(*[ca.vertcat(walker[p.gap], p.at[0]) for p in places.values()])], clock=False
    )
    for part, standing in zip(stride.guess.phases, phases.standing, strict=True):
        rows = part.x(np.linspace(0, 1, 9))
        feet = np.array([np.array(f(row, begin.z, begin.u, begin.p)).reshape(-1, 2) for row in rows])
        for k, name in enumerate(places):
            if name in standing:
                assert np.abs(feet[:, k, 0]).max() < 1e-5
                assert np.ptp(feet[:, k, 1]) < 1e-4
            else:
                assert feet[:, k, 0].min() > -2e-3
    last = stride.branch.discrete
    assert [float(each["toe_l_on"][0]) for each in last] == [0.0, 1.0, 1.0]


DOUBLE_SUPPORT = ("toe_r_release", "toe_l_touchdown", "heel_l_release", "heel_r_touchdown")


def test_the_foot_behind_stays_on_its_toe_in_a_double_support(walker):
    """It does not move until it is let go, soon, with its heel higher than where it is let go in a step."""
    stride = sole_stride(walker, contact_phases(walker, "heel_r_touchdown", DOUBLE_SUPPORT), speed=0.5)
    first = stride.guess.phases[0]
    assert first.duration == pytest.approx(LANDING_SHARE * stride.period)
    begin = start(walker)
    places = {f.name: f for f in walker.walk.feet}
    toe, heel = places["toe_r"], places["heel_r"]
    f = walker.function("feet", [ca.vertcat(walker[toe.gap], toe.at[0], walker[heel.gap])], clock=False)
    feet = np.array(
        [np.array(f(x, begin.z, begin.u, begin.p)).ravel() for x in first.x(np.linspace(0, 1, 9))]
    )
    assert np.abs(feet[:, 0]).max() < 1e-5
    assert np.ptp(feet[:, 1]) < 1e-4
    assert feet[-1, 2] == pytest.approx(HEEL_LIFT * (1 + LANDING_SHARE) * 0.2, rel=1e-6)  # a foot of 0.2 m


def test_what_presses_a_heel_is_asked_of_the_feet_that_stand_in_each_phase(walker):
    """While the heel stands alone, what would let it go is the walker's own guard with these feet, not that
    of the later phase in which its toe stands, too, and which ends with its release."""
    phases = contact_phases(walker, "heel_r_touchdown")
    stride = sole_stride(walker, phases, speed=0.5)
    problem = step_problem(stride.branch.system, phases.events, branch=stride.branch, foot_margin=0.01)
    asked = [
        q
        for q in problem.requirements
        if q.name == "what presses 'heel_l' to the ground" and q.phase == "until toe_l_touchdown"
    ]
    assert len(asked) == 1
    groups = [time, *walker.vectors()]
    both = ca.Function("both", groups, [asked[0].expression, -sx(walker.event("heel_l_release").guard)])
    begin, rng = start(walker), np.random.default_rng(2)
    z = np.concatenate([problem.phases[0].z[q.name] for q in walker.z])
    for x in stride.guess.phases[0].x(np.array([0.1, 0.5, 0.9])):
        required, rest = both(0.0, x, z, rng.uniform(-5, 5, len(begin.u)), begin.p)
        assert float(required) == pytest.approx(float(rest), rel=1e-9)


def test_conditions_are_of_what_decides_alone(walker):
    """A foot that swings high above the ground may move as fast as it likes where another lands."""
    stride = sole_stride(walker, contact_phases(walker, "heel_r_touchdown"), speed=0.5)
    rates = ca.vertcat(*[q.sym for q in walker.x if q.name.endswith("_rate")])
    for event, conditions in stride.branch.conditions.items():
        moving = [c for c in conditions if ca.depends_on(c, rates)]
        # Who lands comes down (so say its guard and its reset); who stands stays, or is let go.
        assert len(moving) <= 3, event


def test_a_plan_stays_inside_of_its_branch(walker):
    """At its very edge rounding would decide in a replay whether the foot behind holds or leaves where the
    other lands: a human's plan went there, and was not repeated."""
    phases = contact_phases(walker, "heel_r_touchdown", DOUBLE_SUPPORT)
    stride = sole_stride(walker, phases, speed=0.5)
    problem = step_problem(stride.branch.system, phases.events, branch=stride.branch, foot_margin=0.01)
    kept = [
        q for q in problem.requirements if q.name.startswith("what keeps the impact of 'heel_r_touchdown'")
    ]
    assert len(kept) == len(stride.branch.conditions["heel_r_touchdown"]) > 0
    assert {q.low for q in kept} == {BRANCH_MARGIN}


# ---- designs ----


def heron():
    """The machine of the guide, from its model file."""
    return contact.load(EXAMPLES / "heron.toml")


def test_the_file_describes_the_machine_of_the_guide():
    walker = heron()
    assert {foot.body for foot in walker.walk.feet} == {"foot_l", "foot_r"}
    assert weight_of(walker) == pytest.approx(9.81 * (10 + 2 * (3 + 2 + 0.8)))
    assert contact_phases(walker, "heel_r_touchdown").events == (
        "toe_l_touchdown",
        "heel_l_release",
        "heel_r_touchdown",
    )


EXAMPLES = Path(__file__).parents[2] / "examples"
FLAT = ("toe_l_touchdown", "heel_r_touchdown")
TANGENT_STEP = 1e-7
"""Of central differences: multipliers are 1e5, and what the map is curved by shows beyond."""


@pytest.mark.slow(reason="the search and the replay of a machine of 18 states, half a minute of processor")
def test_a_walker_that_keeps_its_feet_flat_is_ok():
    design = optimal.design(heron(), speed=0.7, step_length=0.4, phases=FLAT)
    assert design.ok, design.wrong
    assert design.replay.planned_events == list(FLAT)
    assert design.result.cost == pytest.approx(0.29994, abs=1e-4)


@pytest.mark.slow(reason="the search and the replay of a machine of 18 states, half a minute of processor")
def test_a_heel_is_let_go_by_inputs_that_jump():
    """With the phases that are usual. Multipliers are derivatives of the return map, by central differences,
    though the release comes when inputs jump, and not where its guard crosses zero."""
    design = optimal.design(heron(), speed=0.7, step_length=0.4)
    assert design.ok, design.wrong
    assert [p.until for p in design.result.problem.phases if p.by_inputs] == ["heel_r_release"]
    assert design.gait is not None
    step = ReturnMap(design.machine, design.section)
    y = step.free(start(design.machine).x)
    whole = step(y)
    along = whole.by_y @ np.random.default_rng(0).standard_normal(len(y))
    along /= np.abs(along).max()
    ahead, behind = step(y + TANGENT_STEP * along), step(y - TANGENT_STEP * along)
    slope = (ahead.y - behind.y) / (2 * TANGENT_STEP)
    assert slope == pytest.approx(whole.by_y @ along, abs=1e-4 * np.abs(slope).max())
    with pytest.raises(ModelError, match="lets a foot go by inputs that jump .'heel_r_release'."):
        control.lqr(design)


def test_what_inputs_bring_about_needs_an_event(walker):
    with pytest.raises(ModelError, match="phase 'swing' ends by time, and inputs bring no event about"):
        optimal.Problem(walker).phase("swing", by_inputs=True)


def test_a_limit_that_begins_at_rest_grows_with_the_square_of_time(walker):
    """A foot that is let go without speed keeps such a limit with a finite acceleration."""
    rising = replace(
        optimal.Problem(walker).phase("swing").require("above", walker["toe_l_gap"], low=0.0, margin=1e-3),
    ).requirements[-1]
    rest = replace(rising, begins_at_rest=True)
    assert rest.bounds(0.5)[0] == rising.bounds(0.5)[0] == 1e-3
    assert rising.bounds(1e-3)[0] / rising.bounds(5e-4)[0] == pytest.approx(2, rel=1e-2)
    assert rest.bounds(1e-3)[0] / rest.bounds(5e-4)[0] == pytest.approx(4, rel=1e-2)


@pytest.mark.slow(reason="the search and the replay of a machine of 18 states, 45 s of processor")
@pytest.mark.timeout(1800)
def test_without_a_step_length_one_near_the_stride_is_found():
    """It is begun near the stride, and what decides is said in parts of a step."""
    design = optimal.design(heron(), speed=0.7)
    assert design.ok, design.wrong
    assert 0.5 < design.step_length < 0.8
    sentences = [each.sentence for each in design.active_limits]
    assert any(
        re.match(r"the phase until \w+, as a part of the step, is at least 0.1 \(step\)", s)
        for s in sentences
    )


def test_steps_of_soles_are_searched_for_near_the_stride_first():
    walker = heron()
    reference = find_reference(walker, None, None, None, StepGoal(speed=0.7))
    low, high = complete_limits(StepGoal(speed=0.7), walker, reference)["step_length"]
    assert high / low == pytest.approx(SOLE_FACTOR**2)
    assert low < reference.step_length < high
