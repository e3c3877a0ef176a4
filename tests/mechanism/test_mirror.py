"""Left and right: images in the mirror, and the symmetry of machines that have one."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param
from strut.errors import ModelError
from strut.mechanism import Mechanism, Stop, Tree, constraints, joints, observe, shapes, symmetry, system
from strut.mechanism.spatial import rotation_of_rpy
from strut.walkers.coman import coman_mechanism

EXACT = 1e-12  # two ways to the same number, a few hundred operations apart
FLIP = np.diag([1.0, -1.0, 1.0])


def biped(hip=None, base=None):
    """A pelvis in space with a leg on the left that no axis favours, and its mirror image."""
    m = Mechanism("biped")
    length = Param("length", 0.43, "m")
    pelvis = m.body("pelvis", 9.0, (0.01, 0, 0.05), (0.08, 0, 0.01, 0.07, 0, 0.06))
    m.joint("base", m.world, pelvis, base or joints.free(), actuated=False)
    thigh = m.body("thigh_l", 8.0, (0.02, 0.03, -0.43 * length), (0.14, 0.01, -0.02, 0.13, 0.005, 0.03))
    m.joint(
        "hip_l",
        pelvis,
        thigh,
        hip or joints.revolute((0.6, 0.0, 0.8)),
        at=(0.01, 0.1, -0.02),
        rotation=rotation_of_rpy([0.1, 0.2, 0.3]),
        damping=0.3,
    )
    shank = m.body("shank_l", 3.0, (0.01, -0.01, -0.2), (0.05, 0.001, 0.002, 0.04, 0.003, 0.014))
    m.joint(
        "knee_l",
        thigh,
        shank,
        joints.revolute("y"),
        at=(0, 0.01, -length),
        spring=5.0,
        rest=0.2,
        stop=Stop(-0.1, 2.0, 500.0),
    )
    rail = m.body("rail_l", 0.5, (0, 0.1, 0), 0.01)
    m.joint("rail_l", shank, rail, joints.prismatic((0.0, 0.6, 0.8)), armature=0.1)
    m.frame("foot_l", shank, (0.05, 0.02, -0.4), rotation_of_rpy([0.3, 0, 0.1]))
    m.shape(
        shank,
        shapes.capsule((0, 0, 0), (0.05, 0.02, -0.4), 0.03),
        shapes.mesh("shank.stl", 0.001, at=(0, 0.1, 0)),
    )
    m.mirror()
    return m


def evaluate(tree, frame, q, v):
    params = list(tree.mechanism.params.values())
    f = ca.Function(
        "f",
        [tree.q, tree.v, ca.vertcat(*[p.sym for p in params], ca.SX(0, 1))],
        [tree.mass_matrix, tree.bias, observe.position(tree, frame), observe.com(tree), tree.qdot],
    )
    return [np.array(r) for r in f(q, v, np.concatenate([p.value for p in params] or [np.empty(0)]))]


def names_of(tree):
    from strut.mechanism.states import coordinate_names, velocity_names

    order = [n.connection for n in tree.nodes if not n.connection.joint.gear]
    return [n for c in order for n in coordinate_names(c)], [n for c in order for n in velocity_names(c)]


def state(tree, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, tree.nq), rng.standard_normal(tree.nv)


CYLINDER, SKEW = (0.48, 0.64, 0.6), (0.8, 0.0, 0.6)
HIPS = {
    "revolute": joints.revolute((0.48, 0.64, 0.6)),
    "spherical": joints.spherical(),
    "universal": joints.universal("x", SKEW),
    "euler": joints.spherical_euler("xyz"),
    "cylindrical": joints.cylindrical(CYLINDER),
    "helical": joints.helical(CYLINDER, 0.1),
    "planar": joints.planar("x"),
}


@pytest.mark.parametrize("hip", HIPS)
@pytest.mark.parametrize("base", ["free", "planar", "fixed"])
def test_the_image_moves_like_the_original(hip, base):
    m = biped(HIPS[hip], joints.KINDS[base].make())
    tree, same = Tree(m), symmetry(m)
    q, v = state(tree, 3)
    coordinates, velocities = names_of(tree)
    Q, V = same.matrix(coordinates), same.matrix(velocities)
    np.testing.assert_array_equal(Q @ Q, np.eye(tree.nq))
    M, bias, foot, com, rate = evaluate(tree, "foot_l", q, v)
    M2, bias2, foot2, com2, rate2 = evaluate(tree, "foot_r", Q @ q, V @ v)
    np.testing.assert_allclose(M2, V @ M @ V.T, atol=EXACT * np.abs(M).max())
    np.testing.assert_allclose(bias2, V @ bias, atol=EXACT * np.abs(bias).max())
    np.testing.assert_allclose(rate2, Q @ rate, atol=EXACT * np.abs(rate).max())
    np.testing.assert_allclose(foot2, FLIP @ foot, atol=EXACT)
    np.testing.assert_allclose(com2, FLIP @ com, atol=EXACT)
    assert all(
        sign == 1 for name, (_, sign) in same.states.items() if name.endswith(("_l", "_r"))
    )  # equal coordinates: mirrored posture


def test_signs_of_the_base():
    same = symmetry(biped())
    negative = {name for name, (_, sign) in same.states.items() if sign < 0}
    assert negative == {"base.y", "base.qx", "base.qz", "base.wx", "base.wz", "base.vy"}
    assert same.states["knee_l_rate"] == ("knee_r_rate", 1.0)
    assert same.inputs["hip_r_torque"] == ("hip_l_torque", 1.0)
    assert same.outputs["foot_l_y"] == ("foot_r_y", -1.0)
    assert same.frames["foot_l"] == "foot_r"
    assert same.bodies["pelvis"] == "pelvis"
    assert same.relabel({"knee_l": 0.3, "base.y": 0.1}) == {"knee_r": 0.3, "base.y": -0.1}
    with pytest.raises(ModelError, match="'hop' has no mirror image"):
        same.relabel({"hop": 1.0})


def test_a_mirrored_run_mirrors():
    m = biped()
    machine, same = system(m), symmetry(m)
    begin = {"base.z": 1.0, "hip_l": 0.3, "knee_r": 0.4, "base.wx": 0.5, "base.vy": 0.2, "rail_l": 0.05}
    first = strut.simulate(machine, t=0.5, x0=begin)
    second = strut.simulate(machine, t=0.5, x0=same.relabel(begin))
    assert first.ok
    for name, (image, sign) in {**same.states, **same.outputs}.items():
        assert second[image][-1] == pytest.approx(sign * first[name][-1], abs=1e-8), name


def test_what_is_copied():
    m = biped()
    left, right = m.connections["knee_l"], m.connections["knee_r"]
    assert right.stop is left.stop
    assert float(ca.DM(right.spring)) == 5.0
    assert float(ca.DM(right.rest)) == 0.2
    assert len(m.params) == 2  # g and length, shared
    capsule, mesh = shapes.in_numbers(m)["shank_r"]
    np.testing.assert_allclose(capsule.end, (0.05, -0.02, -0.4))
    np.testing.assert_allclose(mesh.scale, (0.001, -0.001, 0.001))
    np.testing.assert_allclose(mesh.at, (0, -0.1, 0))


def test_twice_mirrored_is_the_original():
    rng = np.random.default_rng(0)
    for hip in HIPS.values():
        again = joints.mirror_image(joints.mirror_image(hip))
        q = ca.SX.sym("q", hip.nq)
        first, second = (ca.Function("f", [q], [j.pose(q).R, j.pose(q).p, j.S(q)]) for j in (hip, again))
        number = rng.uniform(-1, 1, hip.nq)
        for a, b in zip(first(number), second(number), strict=True):
            np.testing.assert_allclose(np.array(a), np.array(b), atol=1e-15)


def test_gears_and_constraints_are_mirrored():
    m = Mechanism("crank")
    for name, parent in (("a_l", "world"), ("b_l", "a_l"), ("c_l", "b_l")):
        body = m.body(name, 1.0, (0, 0.1, -0.2), 0.1)
        joint = joints.gear("j_a_l", -0.5, of=joints.revolute("x")) if name == "c_l" else joints.revolute("x")
        m.joint(
            f"j_{name}",
            m.bodies[parent],
            body,
            joint,
            at=(0, 0.3, -0.4),
            initial=None if name == "c_l" else 0.1,
        )
    m.frame("tip_l", m.bodies["c_l"], (0, 0.1, -0.4))
    m.frame("anchor_l", m.world, (0, 0.9, -1.4))
    m.constrain(constraints.coupled("belt_l", "j_a_l", "j_b_l", 2.0))
    m.mirror()
    tree = Tree(m)
    assert m.connections["j_c_r"].joint.gear[0] == "j_a_r"
    np.testing.assert_allclose(np.array(ca.DM(m.frames["anchor_r"].X_BF.p)).reshape(-1), (0, -0.9, -1.4))
    assert tree.nv == 4
    run = strut.simulate(system(m), t=1.0)
    np.testing.assert_allclose(run["tip_l_y"], -run["tip_r_y"], atol=1e-9)
    np.testing.assert_allclose(run["j_b_r"], 2 * run["j_a_r"], atol=1e-6)
    assert np.ptp(run["j_a_l"]) > 0.1


@pytest.mark.parametrize("kind", ["point", "hinge", "slot", "no_slip", "rolling"])
def test_constraints_of_the_image_hold_where_those_of_the_original_do(kind):
    m = Mechanism("one")
    ball = m.body("ball_l", 1.0, (0, 0.1, 0), (0.1, 0.2, 0.3))
    m.joint("free_l", m.world, ball, joints.free(), at=(0.1, 0.5, 0))
    m.frame("at_l", ball, (0, 0.1, 0.2), rotation_of_rpy([0.1, 0.2, 0.3]))
    m.frame("there_l", m.world, (0.3, 0.4, 0.2), rotation_of_rpy([0.3, 0.1, 0.2]))
    axis = (0.48, 0.64, 0.6)
    m.constrain(
        {
            "point": lambda: constraints.point("c_l", "at_l", "there_l"),
            "hinge": lambda: constraints.hinge("c_l", "at_l", "there_l", axis),
            "slot": lambda: constraints.slot("c_l", "at_l", "there_l", axis),
            "no_slip": lambda: constraints.no_slip("c_l", "at_l", axis),
            "rolling": lambda: constraints.rolling("c_l", "at_l", axis, 0.3),
        }[kind]()
    )
    m.mirror()
    tree = Tree(m)
    rng = np.random.default_rng(1)
    q, v = rng.uniform(-1, 1, 7), rng.standard_normal(6)
    results = []
    for side in ("_l", "_r"):
        rows = m.constraints["c" + side].rows(tree)
        f = ca.Function("f", [tree.q, tree.v], [ca.sumsqr(rows.phi), ca.sumsqr(rows.K @ tree.v)])
        results.append([float(r) for r in f(np.tile(q, 2), np.tile(v, 2))])
    assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_legs_written_twice_are_symmetric_too():
    """As in the first sketch: a loop over the sides, and the same axis for both; the signs say so."""
    m = Mechanism("twice")
    pelvis = m.body("pelvis", 5.0, (0, 0, 0), 0.1)
    m.joint("base", m.world, pelvis, joints.planar("x"))
    for side, s in zip(m.sides, (1, -1), strict=True):
        leg = m.body("leg" + side, Param("mass" + side, 2.0), (0, 0, -0.3), 0.1)
        m.joint("hip" + side, pelvis, leg, joints.revolute("x"), at=(0, 0.1 * s, 0))
    same = symmetry(m)
    assert same.states["hip_l"] == ("hip_r", -1.0)
    assert same.states["base.roll"] == ("base.roll", -1.0)
    assert same.params["mass_l"] == "mass_r"


def test_coman_is_symmetric_but_for_its_waist():
    same = symmetry(coman_mechanism(), sides=("l_", "r_"), inertias=False)
    assert same.states["l_hip_lat"] == ("r_hip_lat", -1.0)
    assert same.frames["l_sole1"] == "r_sole2"
    assert same.states["l_knee_sag"] == ("r_knee_sag", 1.0)
    assert {n for n in ("x", "y", "z", "roll", "pitch", "yaw") if same.states[n][1] < 0} == {
        "y",
        "roll",
        "yaw",
    }


def bent(change):
    m = biped()
    change(m)
    return m


def _replace(table, name, **fields):
    from dataclasses import replace

    table[name] = replace(table[name], **fields)


def _geared(m, leader):
    """A wheel on each knee, but with the wrong ratio, or the wrong leader, on the right."""
    for side, at, ratio in (("_l", "knee_l", 2.0), ("_r", leader, -2.0)):
        wheel = m.body("wheel" + side, 0.1, inertia=0.1)
        m.joint("gear" + side, m.bodies["shank" + side], wheel, joints.gear(at, ratio))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda m: m.frame("toe_l", m.bodies["shank_l"]),
            "frame 'toe_l' has no mirror image: no frame is at the mirrored place on body 'shank_r'",
        ),
        (
            lambda m: _replace(m.frames, "foot_r", X_BF=m.frames["foot_l"].X_BF),
            "frame 'foot_l' has no mirror image",
        ),
        (
            lambda m: _replace(m.connections, "hip_r", X_PJ=m.connections["hip_l"].X_PJ),
            "joint 'hip_r' is not where the mirror image of 'hip_l' is",
        ),
        (
            lambda m: _replace(m.connections, "knee_r", joint=joints.prismatic("y")),
            "the motion of joint 'knee_r' \\(prismatic\\)",
        ),
        (
            lambda m: _replace(m.bodies, "thigh_r", mass=ca.SX(8.1)),
            "the inertia of body 'thigh_r' is not the mirror image",
        ),
        (
            lambda m: _geared(m, "knee_r"),
            "joint 'gear_r' does not follow 'knee_r' as the mirror image of 'gear_l' follows 'knee_l'",
        ),
        (lambda m: _geared(m, "hip_r"), "joint 'gear_r' does not follow 'hip_r'"),
        (lambda m: m.mirror(), "has a body 'thigh_r' already"),
        (lambda m: m.mirror("_x"), "there is no side '_x' to mirror"),
        (lambda m: Mechanism("empty").mirror(), "'empty' has nothing to mirror"),
    ],
)
def test_what_is_not_symmetric_is_named(change, message):
    with pytest.raises(ModelError, match=message):
        symmetry(bent(change))


def test_images_nobody_can_know():
    m = Mechanism("m")
    body = m.body("a_l", 1.0, inertia=1.0)
    m.joint("middle", m.world, body, joints.revolute())
    with pytest.raises(ModelError, match="joint 'middle' carries 'a_l', which is mirrored"):
        m.mirror()
    for constraint, message in (
        (constraints.general("c_l", lambda tree: tree.q), "constraint 'c_l' is one of your own"),
        (
            constraints.coupled("c_l", "j_l", "spine"),
            "constraint 'c_l' couples 'spine', which is in the middle",
        ),
    ):
        m = Mechanism("m")
        m.joint("spine", m.world, m.body("back", 1.0, inertia=1.0), joints.revolute())
        m.joint("j_l", m.bodies["back"], m.body("a_l", 1.0, inertia=1.0), joints.revolute())
        m.constrain(constraint)
        with pytest.raises(ModelError, match=message):
            m.mirror()


def test_a_mirrored_joint_keeps_its_limits():
    m = Mechanism("knees", planar=True)
    thigh = m.body("thigh_l", 1.0, inertia=0.1)
    m.joint("knee_l", m.world, thigh, joints.revolute("y"), limits=(0.02, 2.0))
    m.mirror()
    assert m.limits == {"knee_l": (0.02, 2.0), "knee_r": (0.02, 2.0)}
    assert [q.limits for q in system(m).x[:2]] == [(0.02, 2.0)] * 2
