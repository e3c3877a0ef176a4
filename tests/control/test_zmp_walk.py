"""Walks by a pattern of the zero-moment point: plan, inverse kinematics, and the table that servos follow."""

import sys
from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import strut
from strut import control
from strut.control.motion_player import spline_coefficients, spline_rates
from strut.errors import ModelError, StrutError, UnknownNameError, ValueRangeError
from strut.mechanism import Mechanism, Tree, joints, observe
from strut.walkers.coman import coman_mechanism
from strut.walkers.coman_robot import PARTS

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import zmp_walk as example

MAX_RESIDUAL = 1e-9
"""[m, rad] Of inverse kinematics, as asked for."""
COMAN_SOLE = ((-0.06, 0.13), (-0.045, 0.045))
COMAN_PATTERN = control.WalkPattern(
    step_length=0.08,
    step_time=0.6,
    double_support=0.25,
    com_height=0.48,
    sway=0.0726,
    clearance=0.03,
    trunk_pitch=0.05,
    steps=4,
    spread=0.0726,
    zmp_ahead=0.035,
)


@pytest.fixture(scope="module")
def own_legs():
    return example.inverse(example.biped())


@pytest.fixture(scope="module")
def coman_legs():
    bends = {"hip_sag": -0.4, "knee_sag": 0.8, "ankle_sag": -0.4}
    posture = {f"{side}_{joint}": angle for side in "rl" for joint, angle in bends.items()}
    return control.LegInverse(
        coman_mechanism(PARTS["legs-and-waist"]), "waist", ("r_sole0", "l_sole0"), posture
    )


@pytest.fixture(scope="module", params=["own", "coman"])
def walked(request, own_legs, coman_legs):
    """Legs, a motion of them, and their sole."""
    if request.param == "own":
        return own_legs, control.zmp_walk(own_legs, replace(example.PATTERN, steps=4)), example.SOLE
    return coman_legs, control.zmp_walk(coman_legs, COMAN_PATTERN), COMAN_SOLE


# ---- the pattern ----


def test_feet_move_only_while_they_swing_and_end_side_by_side():
    pattern = example.PATTERN
    t = np.linspace(0, pattern.duration, 4001)
    feet, down = pattern.feet(t), pattern.feet_down(t)
    # one foot or two are down, never none
    assert down.any(axis=1).all()
    for side in (0, 1):
        moved = np.abs(np.diff(feet[:, side], axis=0)).max(axis=1)
        both_down = down[:-1, side] & down[1:, side]
        assert moved[both_down].max() < 1e-12
    assert feet[:, :, 2].max() == pytest.approx(pattern.clearance, rel=1e-5)
    assert feet[-1, 0, 0] == pytest.approx(feet[-1, 1, 0])
    assert feet[-1, 0, 0] == pytest.approx((pattern.steps - 1) * pattern.step_length)
    assert feet[:, 1, 1] - feet[:, 0, 1] == pytest.approx(2 * pattern.spread)


def test_footfalls_are_a_step_apart_in_time_and_space():
    pattern = example.PATTERN
    ends = [swing.end for swing in pattern.swings]
    assert np.diff(ends) == pytest.approx(pattern.step_time)
    assert np.diff([swing.target for swing in pattern.swings])[:-1] == pytest.approx(pattern.step_length)
    shortest = min(swing.end - swing.begin for swing in pattern.swings)
    assert shortest == pytest.approx((1 - pattern.double_support) * pattern.step_time)


def test_the_zmp_reference_is_under_the_foot_that_stands():
    pattern = example.PATTERN
    for swing in pattern.swings:
        t = np.linspace(swing.begin + 1e-6, swing.end - 1e-6, 7)
        other = 1 - swing.side
        assert pattern.zmp_reference(t)[:, 0] == pytest.approx(
            pattern.feet(t)[:, other, 0] + pattern.zmp_ahead
        )
        assert pattern.zmp_reference(t)[:, 1] == pytest.approx((-1, 1)[other] * pattern.sway)


def test_the_mass_between_samples_moves_with_constant_jerk():
    cart = example.PATTERN.cart
    k = 100
    t = np.array([cart.t[k], cart.t[k] + 0.3 * (cart.t[k + 1] - cart.t[k]), cart.t[k + 1] - 1e-15])
    places = cart.place_at(t)
    assert places[0] == pytest.approx(cart.place[k], abs=1e-15)
    # the preview controller's own matrices step from sample to sample
    assert places[2] == pytest.approx(cart.place[k + 1], abs=1e-12)


# ---- inverse kinematics ----


def test_feet_base_and_centre_of_mass_are_where_they_shall_be(walked):
    legs, motion, _ = walked
    assert motion.residual < MAX_RESIDUAL
    body = control.BodyModel(legs.mechanism)
    q = np.column_stack(list(motion.coordinates.values()))
    for k in range(0, len(q), 7):
        for side, foot in enumerate(legs.feet):
            assert np.abs(body.at(body.position(foot), q[k]) - motion.feet[k, side]).max() < MAX_RESIDUAL
            assert np.abs(body.at(body.rotation(foot), q[k]) - np.eye(3)).max() < MAX_RESIDUAL
        assert np.abs(body.at(body.com, q[k]) - motion.com[k]).max() < MAX_RESIDUAL
        lean = body.at(body.rotation(legs.base), q[k])
        assert np.arctan2(lean[0, 2], lean[2, 2]) == pytest.approx(motion.pattern.trunk_pitch, abs=1e-9)


def test_the_knee_of_a_standing_leg_follows_from_the_law_of_cosines(own_legs):
    motion = control.zmp_walk(own_legs, replace(example.PATTERN, steps=1, step_length=0.0, clearance=0.0))
    body = control.BodyModel(own_legs.mechanism)
    q = np.column_stack(list(motion.coordinates.values()))[0]
    hip = body.at(body.position("r_hip_pitch_link"), q)
    ankle = body.at(body.position("r_ankle_roll_link"), q)
    a, b, c = example.THIGH, example.SHANK, np.linalg.norm(hip - ankle)
    bend = np.pi - np.arccos((a**2 + b**2 - c**2) / (2 * a * b))
    assert motion.coordinates["r_knee"][0] == pytest.approx(bend, abs=1e-9)


def test_joint_angles_are_continuous(walked):
    legs, coarse, _ = walked
    fine = control.zmp_walk(legs, coarse.pattern, knots_per_step=80)
    for joint in legs.joints:
        jumps = [np.abs(np.diff(motion.angles()[joint])).max() for motion in (coarse, fine)]
        # four times as many knots: where the angle is smooth, a quarter of the way from one to the next
        assert jumps[1] < 0.3 * jumps[0] + 1e-6
        between = fine.angles()[joint][::4]
        assert np.abs(between - coarse.angles()[joint][: len(between)]).max() < 0.02


def test_a_walk_that_begins_with_the_other_foot_is_the_mirror_image(own_legs):
    left = control.zmp_walk(own_legs, replace(example.PATTERN, steps=3))
    right = control.zmp_walk(own_legs, replace(example.PATTERN, steps=3, first="right"))
    for joint in own_legs.legs[0]:
        sign = -1 if joint.endswith(("_yaw", "_roll")) else 1
        assert left.coordinates[joint] == pytest.approx(
            sign * right.coordinates[joint.replace("r_", "l_", 1)], abs=1e-8
        )


# ---- the ZMP ----


def test_the_zmp_stays_in_the_support_polygon(walked):
    _, motion, sole = walked
    assert motion.support_margin(sole).min() > 0.02
    assert np.abs(motion.zmp - motion.zmp_reference).max() < 0.008


def test_the_support_polygon_is_the_hull_of_the_soles(own_legs):
    motion = control.zmp_walk(own_legs, replace(example.PATTERN, steps=2))
    margins = motion.support_margin(example.SOLE)
    hull = pytest.importorskip("scipy.spatial").ConvexHull
    corners = np.array([(x, y) for x in example.SOLE[0] for y in example.SOLE[1]])
    for k in range(0, len(motion.t), 5):
        down = motion.pattern.feet_down(motion.t[k : k + 1])[0]
        points = np.vstack([corners + motion.feet[k, side, :2] for side in (0, 1) if down[side]])
        edges = hull(points).equations
        assert margins[k] == pytest.approx(-(edges[:, :2] @ motion.zmp[k] + edges[:, 2]).max(), abs=1e-12)


def test_the_zmp_is_that_of_inverse_dynamics(own_legs):
    """An independent derivation: the wrench that carries the base, by the recursive Newton-Euler algorithm."""
    motion = control.zmp_walk(own_legs, replace(example.PATTERN, steps=3))
    q = np.column_stack(list(motion.coordinates.values()))
    tree = Tree(own_legs.mechanism)
    rates = spline_rates(q, motion.every)
    qdot = ca.Function("B", [tree.q], [ca.jacobian(tree.qdot, tree.v)])
    v = np.array(
        [
            np.linalg.lstsq(np.array(qdot(row)), rate, rcond=None)[0]
            for row, rate in zip(q, rates, strict=True)
        ]
    )
    a = spline_rates(v, motion.every)
    acceleration = ca.SX.sym("a", tree.nv)
    at = observe.pose(tree, "torso")
    wrench = tree.inverse(acceleration)[tree.v_of["base"]]
    results = ca.substitute([at.R @ wrench[:3], at.R @ wrench[3:], at.p], [tree.mechanism.g.sym], [9.81])
    function = ca.Function("wrench", [tree.q, tree.v, acceleration], results)
    for k in range(10, len(q) - 10, 9):
        moment, force, place = (np.array(e).ravel() for e in function(q[k], v[k], a[k]))
        about_origin = moment + np.cross(place, force)
        zmp = np.array([-about_origin[1], about_origin[0]]) / force[2]
        # both differentiate splines twice, in another order
        assert np.abs(zmp - motion.zmp[k]).max() < 2e-3


# ---- the table that servos follow ----


def test_splines_through_knots_are_cubic_splines_at_rest_at_both_ends():
    rng = np.random.default_rng(3)
    values, every = rng.normal(size=(9, 2)), 0.25
    c = spline_coefficients(values)
    assert (c[:-2] + 4 * c[1:-1] + c[2:]) / 6 == pytest.approx(values, abs=1e-12)
    curve = CubicSpline(every * np.arange(9), values, bc_type="clamped")
    assert spline_rates(values, every) == pytest.approx(curve(every * np.arange(9), 1), abs=1e-10)


def two_pendulums():
    m = Mechanism("pair")
    for name, y in (("a", 0.0), ("b", 1.0)):
        rod = m.body(name, mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
        m.joint(f"hip_{name}", m.world, rod, joints.revolute("y"), at=(0, y, 2))
    return strut.mechanism.system(m)


def test_a_player_follows_its_table_and_rests_after_it():
    player = control.MotionPlayer(("hip_a", "hip_b"), knots=12)
    system = player.drive(two_pendulums(), kp=50.0, kd=5.0)
    t = 0.1 * np.arange(8)
    angles = {"hip_a": 0.3 * np.sin(3 * t), "hip_b": 0.1 * t**2}
    run = strut.simulate(system, 1.5, p=player.table(t, angles), rtol=1e-9, atol=1e-10)
    assert run.ok
    moments = np.linspace(0.003, 1.45, 200)
    for joint, column in angles.items():
        curve = CubicSpline(t, column, bc_type="clamped")
        expected = curve(np.minimum(moments, t[-1]))
        # past the last knot of the motion the table goes on with its last angle: a spline through a corner
        during = moments < 0.5
        assert np.abs(run.at(moments)[f"{joint}_reference"] - expected)[during].max() < 2e-3
        assert run.at(np.array([1.45]))[f"{joint}_reference"][0] == pytest.approx(column[-1], abs=1e-12)
        assert run.at(t[1:5] + 1e-9)[f"{joint}_reference"] == pytest.approx(column[1:5], abs=1e-6)


def test_tables_differ_from_run_to_run_of_a_batch_and_a_run_may_begin_in_the_middle():
    player = control.MotionPlayer(("hip_a",), knots=10)
    system = player.drive(two_pendulums(), hold={"hip_b": 0.2}, kp=50.0, kd=5.0)
    t = 0.1 * np.arange(10)
    tables = [player.table(t, {"hip_a": scale * np.sin(4 * t)}) for scale in (0.2, 0.5)]
    both = {name: np.array([table[name] for table in tables]) for name in tables[0]}
    batch = strut.simulate_batch(system, 0.8, p=both, rtol=1e-9)
    for k, table in enumerate(tables):
        whole = strut.simulate(system, 0.8, p=table, rtol=1e-9)
        assert batch["hip_a"][k] == pytest.approx(whole["hip_a"][-1], abs=1e-7)
        half = strut.simulate(system, 0.45, p=table, rtol=1e-9)
        rest = strut.simulate(system, (0.45, 0.8), **half.end, rtol=1e-9)
        assert rest["hip_a"][-1] == pytest.approx(whole["hip_a"][-1], abs=1e-7)


# ---- what is wrong ----


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"double_support": 1.0}, "double_support of a walk is 1: it is the part of a step"),
        ({"step_time": 0.0}, "step_time of a walk is 0"),
        ({"sway": -0.1}, "sway of a walk is -0.1: zero or a positive number"),
        ({"steps": 0}, "steps of a walk is 0"),
        ({"first": "lefft"}, "a walk begins with no foot 'lefft'.*left"),
        ({"com_height": float("nan")}, "com_height of a walk is nan"),
    ],
)
def test_patterns_that_are_none_are_refused(change, sentence):
    with pytest.raises(StrutError, match=sentence):
        replace(example.PATTERN, **change)


def test_what_cannot_be_reached_is_said(own_legs):
    with pytest.raises(ValueRangeError, match="legs of 'biped' do not reach.*lower the centre of mass"):
        control.zmp_walk(own_legs, replace(example.PATTERN, com_height=0.9))
    with pytest.raises(ValueRangeError, match="knots_per_step is 2"):
        control.zmp_walk(own_legs, example.PATTERN, knots_per_step=2)


def test_joints_that_would_leave_their_range_are_named(coman_legs):
    with pytest.raises(ValueRangeError, match="takes 'r_hip_lat' from .* and its range is -1.05 to 0.436"):
        control.zmp_walk(coman_legs, replace(COMAN_PATTERN, com_height=0.4, clearance=0.08))


def test_a_walk_planned_for_another_gravity_is_refused(own_legs):
    with pytest.raises(ValueRangeError, match="planned for g = 1.62 m/s.*'biped' has 9.81"):
        control.zmp_walk(own_legs, replace(example.PATTERN, g=1.62))


def test_machines_without_legs_of_six_joints_are_refused():
    m = Mechanism("stilt")
    torso = m.body("torso", mass=1.0, inertia=(1, 1, 1))
    m.joint("base", m.world, torso, joints.free(), actuated=False)
    leg = m.body("leg", mass=1.0, inertia=(1, 1, 1))
    m.joint("hip", torso, leg, joints.revolute("y"))
    m.frame("foot", leg, (0, 0, -1))
    with pytest.raises(ModelError, match="foot 'foot' of 'stilt' is carried from base 'torso' by 1 veloc"):
        control.LegInverse(m, "torso", ("foot", "foot"))
    with pytest.raises(ModelError, match="mechanism 'coman' is planar"):
        control.LegInverse(coman_mechanism(None, "planar"), "waist", ("r_sole0", "l_sole0"))
    with pytest.raises(UnknownNameError, match="the posture has no joint 'kneee'"):
        control.LegInverse(example.biped(), "torso", ("r_sole", "l_sole"), {"kneee": 0.1})
    with pytest.raises(ModelError, match="'r_sole' and 'r_sole' share joints"):
        control.LegInverse(example.biped(), "torso", ("r_sole", "r_sole"))


def test_tables_that_do_not_fit_are_refused():
    player = control.MotionPlayer(("hip_a",), knots=4)
    with pytest.raises(ValueRangeError, match="a motion has 5 knots: this player takes 2 to 4"):
        player.table(np.arange(5.0), {"hip_a": np.zeros(5)})
    with pytest.raises(ValueRangeError, match="begin at 0 and be evenly spaced"):
        player.table([0.0, 1.0, 3.0], {"hip_a": np.zeros(3)})
    with pytest.raises(UnknownNameError, match="the motion has no 'hip_a'.*hip_b"):
        player.table([0.0, 1.0], {"hip_b": np.zeros(2)})
    with pytest.raises(ValueRangeError, match="'hip_a' of a motion has 3 angles: 2 finite ones"):
        player.table([0.0, 1.0], {"hip_a": np.zeros(3)})
    with pytest.raises(ModelError, match="names that differ"):
        control.MotionPlayer(("hip_a", "hip_a"), knots=4)
    with pytest.raises(UnknownNameError, match="no input 'hip_c'"):
        control.MotionPlayer(("hip_c",), knots=4).drive(two_pendulums(), kp=1.0)
