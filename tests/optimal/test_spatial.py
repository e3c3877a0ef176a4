"""Bipeds in space on a floating base: the stride sways, its mirror image mirrors, and a design walks."""

import casadi as ca
import numpy as np
import pytest

from strut import Mechanism, optimal, walkers
from strut import joints as joint_kinds
from strut.gait.exchange import mirror
from strut.gait.section import default_section
from strut.gait.transport import distance, on_slope
from strut.optimal.walk.goal_requirements import require_friction
from strut.optimal.walk.kinematic_stride import kinematic_stride
from strut.optimal.walk.step_goal import StepGoal
from strut.system import start
from tests.optimal.floating import on_rigid_ground

HALF_WIDTH = 0.08
"""[m] from the middle of the hips to either of them."""


def stilts():
    """A torso on two legs with hips that turn about x and y, knees, and points for feet: twelve degrees of
    freedom."""
    m = Mechanism("stilts")
    torso = m.body("torso", mass=14.0, com=(0, 0, 0.2), inertia=(0.5, 0.45, 0.15))
    m.joint("base", m.world, torso, joint_kinds.free(), initial=(0, 0, 0.78, 0, 0, 0, 1), actuated=False)
    for side, sign, hip in (("_l", 1, -0.3), ("_r", -1, 0.15)):
        pelvis = m.body(f"pelvis{side}", mass=1.0, inertia=(0.005, 0.005, 0.005))
        thigh = m.body(f"thigh{side}", mass=4.0, com=(0, 0, -0.15), inertia=(0.05, 0.05, 0.01))
        shank = m.body(f"shank{side}", mass=2.0, com=(0, 0, -0.15), inertia=(0.03, 0.03, 0.005))
        m.joint(
            f"roll{side}",
            torso,
            pelvis,
            joint_kinds.revolute("x"),
            at=(0, sign * HALF_WIDTH, 0),
            limits=(-0.5, 0.5),
        )
        m.joint(f"hip{side}", pelvis, thigh, joint_kinds.revolute("y"), initial=hip)
        m.joint(
            f"knee{side}",
            thigh,
            shank,
            joint_kinds.revolute("y"),
            at=(0, 0, -0.4),
            initial=0.2,
            limits=(0.02, 2.0),
        )
        m.frame(f"foot{side}", shank, (0, 0, -0.4))
    return m


@pytest.fixture(scope="module")
def walker():
    return on_rigid_ground(stilts(), fall=("torso", 0.4))


def test_the_stride_sways_towards_the_foot_that_stands_and_back(walker):
    section = default_section(walker)
    stride = kinematic_stride(walker, section, speed=0.5)
    beside, begin = stride.guess["base.y"], start(walker)
    stance = {"foot_l_touchdown": -1, "foot_r_touchdown": 1}[section]  # the right foot stands at negative y
    middle = stance * beside[len(beside) // 2]
    assert abs(beside[0] + beside[-1]) < 1e-6  # mirrored
    assert 0.1 * HALF_WIDTH < middle < HALF_WIDTH
    # Both feet stay where they are put: the one that stands does not move at all.
    foot = next(f for f in walker.walk.feet if f.lands != section)
    f = walker.function("place", [foot.at], clock=False)
    rows = np.array([stride.guess[name] for name in walker.labels("x")]).T
    places = np.array([np.array(f(row, begin.z, begin.u, begin.p)).reshape(-1) for row in rows])
    assert np.ptp(places[[0, len(rows) // 2, -1]], axis=0).max() < 1e-6


def test_exchanging_left_and_right_turns_y_roll_and_yaw(walker):
    begin, labels = start(walker), walker.labels("x")
    x = np.arange(1.0, len(labels) + 1)
    turned, _ = mirror(walker, x, begin.z, begin.p)
    back, _ = mirror(walker, turned, begin.z, begin.p)
    np.testing.assert_array_equal(back, x)
    for name in ("base.y", "base.qx", "base.qz", "base.wx", "base.wz", "base.vy"):
        assert turned[labels.index(name)] == -x[labels.index(name)]
    assert turned[labels.index("roll_l")] == -x[labels.index("roll_r")]
    assert turned[labels.index("hip_l")] == x[labels.index("hip_r")]


def test_a_friction_cone_in_space_is_round(walker):
    """Inside, (mu N)^2 exceeds the square of the force along the ground, whatever its direction."""
    problem = optimal.Problem(walker).phase(
        "step", until="foot_l_touchdown", z={"foot_l_on": 0, "foot_r_on": 1}
    )
    cones = require_friction(problem, 0.5, 0.0).requirements
    assert [c.name for c in cones] == ["foot_r does not slip"]
    begin = start(walker)
    forces = [walker[f"foot_r_{kind}"] for kind in ("normal", "friction_x", "friction_y")]
    f = walker.function("cone", [cones[0].expression, *forces, ca.SX(walker.walk.weight)], clock=False)
    z = np.array([float(name == "foot_r_on") for name in walker.labels("z")])
    inside, normal, along, across, weight = (float(e) for e in f(begin.x, z, begin.u + 3.0, begin.p))
    assert inside * weight == pytest.approx((0.5 * normal) ** 2 - along**2 - across**2)
    assert StepGoal(friction=0.5).friction == 0.5


@pytest.mark.slow  # three minutes: twelve degrees of freedom, of which the replay takes most
def test_a_biped_in_space_is_designed_and_repeats(walker):
    design = optimal.design(walker, speed=0.5)
    assert design.ok, design.wrong
    assert design.replay.balance.relative < 1e-6
    assert design.gait is not None
    assert abs(design.gait.multipliers[0]) > 1  # a plan without feedback falls


def test_a_step_on_a_slope_goes_forwards():
    """Two states say where its foot stands on a slope, way and height: how far they came has a sign. Without, a
    stride uphill backwards was as long as one forwards, and designs of it walked that way."""
    walker = on_slope(walkers.trunk_3d(), np.deg2rad(3.0))
    section = default_section(walker)
    stride = kinematic_stride(walker, section, speed=0.3)
    assert stride.guess["leg_r_pitch"][-1] > stride.guess["leg_r_pitch"][0]  # its hip comes forward
    begin = start(walker)
    x = {name: begin.x[k] for k, name in enumerate(walker.labels("x"))}
    f = walker.function("came", [distance(walker, section)], clock=False)

    def came(way):
        turned = x | {"leg_r_pitch": 0.2 * way, "leg_l_pitch": -0.2 * way}
        return float(f([turned[name] for name in walker.labels("x")], begin.z, begin.u, begin.p))

    assert came(1) > 0.3
    assert came(-1) == pytest.approx(-came(1), rel=1e-6)
