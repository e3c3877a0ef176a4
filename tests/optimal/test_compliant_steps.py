"""Steps on ground that gives way: their phases, the stride that a search begins with, and a design."""

import casadi as ca
import numpy as np
import pytest
from examples import rabbit

import strut
from strut import contact, gait, joints, optimal
from strut.gait.section import default_section, section_of
from strut.gait.transport import weight_of
from strut.optimal.walk.check_walker import check_symmetry
from strut.optimal.walk.compliant_stride import compliant_stride
from strut.optimal.walk.read_walk import gives_way
from tests.optimal.floating import on_rigid_ground, on_soft_ground, telescopic

LAWS = {
    "linear": (contact.linear(1e4, 200.0), ("foot_r_slack", "foot_r_liftoff", "foot_r_touchdown")),
    "elastic": (contact.linear(1e4), ("foot_r_liftoff", "foot_r_touchdown")),
    "hunt_crossley": (contact.hunt_crossley(1e5, 0.2), ("foot_r_liftoff", "foot_r_touchdown")),
}


@pytest.fixture(scope="module")
def walker():
    return on_soft_ground(telescopic())


@pytest.mark.parametrize("law", LAWS)
def test_a_damped_foot_goes_slack_before_it_leaves(law):
    """Force k d + c d' is zero before the depth d is, where the foot leaves; a force that is a product of the
    depth is not."""
    make, events = LAWS[law]
    system = on_soft_ground(telescopic(), law=make)
    stride = compliant_stride(system, "foot_r_touchdown", speed=0.5)
    assert stride.events == events
    both, *_, swing = stride.branch.discrete
    assert both["foot_l_on"] == both["foot_r_on"] == swing["foot_l_on"] == 1
    assert swing["foot_r_on"] == 0
    assert sum(stride.shares) == pytest.approx(1)


def test_the_stride_stands_as_deep_as_its_weight_presses(walker):
    stride = compliant_stride(walker, "foot_r_touchdown", speed=0.5, step_length=0.3)
    x = np.column_stack([stride.guess[name] for name in walker.labels("x")])
    f = walker.function("stance", [walker["foot_l_gap"], ca.vertcat(walker.walk.feet[0].at)], clock=False)
    begin = strut.system.start(walker)
    z = np.array([1.0 if name == "foot_l_on" else 0.0 for name in walker.labels("z")])
    gaps, places = zip(
        *[[np.array(e).ravel() for e in f(row, z, begin.u, begin.p)] for row in x], strict=True
    )
    half = len(x) // 2
    assert gaps[half][0] == pytest.approx(-weight_of(walker) / 1e4, rel=1e-6)
    assert np.ptp(np.array(places)[:, 0]) < 1e-6  # the stance foot stays where it is
    assert stride.step_length == pytest.approx(0.3)


def test_left_and_right_are_exchanged_with_their_flags(walker):
    check_symmetry(walker)
    assert gives_way(walker, default_section(walker))
    assert not gives_way(on_rigid_ground(telescopic()), "foot_r_touchdown")
    assert [foot.opposite for foot in walker.walk.feet] == ["foot_r", "foot_l"]
    assert {"foot_l_on", "foot_l_slack"} <= set(walker.symmetry)


def test_only_the_way_along_the_ground_is_no_part_of_a_gait(walker):
    """How high a walker is matters to its feet, also where none of them is in the ground."""
    labels = walker.labels("x")
    assert [labels[i] for i in section_of(walker).cyclic] == ["base.x"]


def test_flags_begin_as_the_state_says(walker):
    """A foot that begins in the ground stands without an event, in one that begins above it does not."""
    deep = strut.simulate(walker, t=1e-3, x0={"base.z": 0.7, "hip_l": 0.0, "hip_r": 0.0, "leg_r": 0.2})
    assert deep["foot_l_on"][0] == 1
    assert deep["foot_r_on"][0] == 0
    assert not deep.samples


@pytest.mark.slow  # a minute of solving, and variational equations are compiled
def test_rabbit_on_soft_ground_is_designed_and_walks():
    """What motors do, ground takes: the balance of the replay closes, and the step repeats as a gait."""
    soft = on_soft_ground(rabbit.robot(), stiffness=2e4)
    design = optimal.design(soft, speed=0.6)
    assert design.ok, design.wrong
    assert design.replay.actual_events == ["foot_r_slack", "foot_r_liftoff", "foot_r_touchdown"]
    balance = design.replay.balance
    assert balance.relative < 1e-6
    assert balance.work == pytest.approx(balance.lost + balance.dissipated, rel=1e-6)
    assert design.gait is not None
    assert isinstance(design.gait, gait.Gait)
    assert design.result.cost == pytest.approx(0.22908, abs=1e-4)
    # The same on stiffer ground, from there: both feet are on it for a shorter time.
    stiffer = optimal.design(
        on_soft_ground(rabbit.robot(), 3e4, contact.viscous(4.5e3)), speed=0.6, guess=design
    )
    assert stiffer.ok, stiffer.wrong
    both, other = (sum(phase.t[-1] - phase.t[0] for phase in d.result.phases[:2]) for d in (design, stiffer))
    assert other < both


@pytest.mark.slow  # half a minute of solving, and variational equations are compiled
def test_rabbit_is_designed_on_soft_ground_with_friction_that_slides():
    """Friction that is nearly mu times the load from 0.1 m/s on: feet creep within their cone, and what they
    dissipate closes the balance."""
    friction = contact.coulomb(0.8, speed=0.1)
    design = optimal.design(on_soft_ground(rabbit.robot(), stiffness=2e4, friction=friction), speed=0.6)
    assert design.ok, design.wrong
    assert design.result.cost == pytest.approx(0.24474, abs=1e-4)
    assert design.replay.balance.relative < 1e-6
    assert all(load.friction_needed < 0.8 for load in design.replay.foot_loads)


@pytest.mark.slow  # ten seconds of solving, and a walker of eighteen states is compiled
def test_arms_are_swung_by_their_motors():
    """Arms are joints like others: they change sides, and the account of the step closes with their work."""
    robot = rabbit.robot()
    for side, begin in (("_l", 0.2), ("_r", -0.2)):
        arm = robot.body(f"arm{side}", mass=2.0, com=(0, 0, -0.25), inertia=0.05)
        robot.joint(
            f"shoulder{side}",
            robot.bodies["torso"],
            arm,
            joints.revolute("y"),
            at=(0, 0, 0.5),
            initial=begin,
        )
    design = optimal.design(on_rigid_ground(robot, fall=("torso", 0.4)), speed=0.6)
    assert design.ok, design.wrong
    assert design.replay.balance.relative < 1e-6
    step = design.result.phases[-1]
    names = design.system.labels("x")
    left, right = names.index("shoulder_l"), names.index("shoulder_r")
    assert step.x[-1, left] == pytest.approx(design.result.phases[0].x[0, right], abs=1e-6)
    assert np.ptp(step.x[:, left]) > 0.05  # [rad]
