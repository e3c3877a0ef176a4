"""Machines with known motion, two derivations that agree, and mistakes that are named."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Event, Param
from strut.errors import ModelError
from strut.mechanism import Mechanism, Pose, Stop, Tree, constraints, joints, observe, system


def box(m, x, y, z):
    return np.diag([m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12])


def chain(n, damping=0.0, joint=None):
    """Kieboom, model 2.18: rods of 1 m and 1 kg, the first at 0.2 pi."""
    m = Mechanism("chain")
    parent, d = m.world, Param("damping", damping, "N m s/rad")
    for k in range(n):
        rod = m.body(f"rod{k + 1}", 1.0, (0, 0, -0.5), box(1, 0.05, 0.05, 1))
        at = (0, 0, 0 if k == 0 else -1.0)
        m.joint(
            f"q{k + 1}",
            parent,
            rod,
            joint or joints.revolute("y"),
            at=at,
            damping=d,
            initial=0.2 * np.pi if k == 0 else 0.0,
            actuated=False,
        )
        parent = rod
    m.frame("tip", parent, (0, 0, -1))
    return m


DAMPED = {  # Kieboom, section 4.12, recomputed independently
    0.5: (0.440657, -0.028235, 0.028236, 0.032602, 0.013752),
    2.0: (-0.267400, -0.200431, -0.078413, -0.044237, -0.014306),
    10.0: (-0.060922, -0.016616, -0.010304, -0.010818, -0.005015),
}
UNDAMPED = {
    0.5: (0.269409, 0.082046, 0.151990, 0.158022, -0.039524),
    2.0: (-0.523546, -0.082223, -0.021027, -0.181762, 0.065741),
}


@pytest.mark.parametrize(("damping", "table"), [(20.0, DAMPED), (0.0, UNDAMPED)])
def test_five_pendulums(damping, table):
    run = strut.simulate(system(chain(5)), t=max(table), p={"damping": damping})
    for t, expected in table.items():
        np.testing.assert_allclose([run.at(t)[f"q{k}"] for k in range(1, 6)], expected, atol=1e-6)
    assert run.ledger.energy[0] == pytest.approx(-99.205709, abs=1e-6)
    assert run.ledger.residual < 1e-8


def lagrange(q, v, kinetic, potential):
    """M and bias from the energies alone: the second derivation."""
    momentum = ca.jacobian(kinetic, v).T
    M = ca.jacobian(momentum, v)
    bias = ca.jacobian(momentum, q) @ v - ca.jacobian(kinetic, q).T + ca.jacobian(potential, q).T
    return M, bias


@pytest.mark.parametrize("n", [1, 2, 4])
def test_recursive_and_lagrangian_derivations_agree(n):
    """Energies written by hand for planar rods, against the recursions on the tree."""
    tree = Tree(chain(n))
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    kinetic, potential = ca.SX(0), ca.SX(0)
    x = z = vx = vz = angle = rate = ca.SX(0)
    for k in range(n):
        angle, rate = angle + q[k], rate + v[k]
        along = (
            -ca.sin(angle),
            -ca.cos(angle),
        )  # a rotation about +y moves the lower end of a rod towards -x
        ahead = (-ca.cos(angle) * rate, ca.sin(angle) * rate)
        cx, cz = vx + 0.5 * ahead[0], vz + 0.5 * ahead[1]
        kinetic = kinetic + (cx**2 + cz**2) / 2 + box(1, 0.05, 0.05, 1)[1, 1] * rate**2 / 2
        potential = potential + 9.81 * (z + 0.5 * along[1])
        x, z, vx, vz = x + along[0], z + along[1], vx + ahead[0], vz + ahead[1]
    M, bias = lagrange(q, v, kinetic, potential)
    theirs = ca.Function("l", [q, v], [M, bias])
    ours = ca.Function("r", [tree.q, tree.v, tree.mechanism.gravity], [tree.mass_matrix, tree.bias])
    rng = np.random.default_rng(1)
    for _ in range(5):
        a, b = rng.uniform(-2, 2, n), rng.uniform(-2, 2, n)
        for one, other in zip(ours(a, b, 9.81), theirs(a, b), strict=True):
            np.testing.assert_allclose(np.array(one), np.array(other), rtol=1e-12, atol=1e-12)


def test_every_number_can_be_a_parameter_and_be_differentiated_by():
    """Derivatives of the accelerations by length, mass, place of the mass and inertia, against central differences."""
    length, mass, fraction, inertia = (
        Param("length", 0.9),
        Param("mass", 1.3),
        Param("fraction", 0.4),
        Param("inertia", 0.07),
    )
    m = Mechanism("two", planar=True)
    upper = m.body("upper", mass, (0, 0, -fraction * length), inertia)
    lower = m.body("lower", 2 * mass, (0, 0, -0.5 * length), inertia)
    m.joint("a", m.world, upper, joints.revolute())
    m.joint("b", upper, lower, joints.revolute(), at=(0, 0, -length))
    machine = system(m)
    assert set(machine.labels("p")) == {"g", "length", "mass", "fraction", "inertia"}
    model = strut.compile_system(machine, jacobians=True)
    x, p, u = (
        np.array([0.3, -0.8, 1.1, 0.4]),
        np.array([q.value[0] for q in machine.p]),
        np.array([0.2, -0.1]),
    )
    exact = model.jacobian("flow_jacobian", 0.0, x, [], u, p)["p"]
    for k in range(len(p)):
        h = 1e-6
        ahead, back = p.copy(), p.copy()
        ahead[k] += h
        back[k] -= h
        slope = (model.evaluate("flow", 0.0, x, [], u, ahead) - model.evaluate("flow", 0.0, x, [], u, back))[
            0
        ] / (2 * h)
        np.testing.assert_allclose(exact[:, k], slope, rtol=1e-6, atol=1e-7)


def test_energy_and_momentum_of_a_free_body():
    """Duindam's invariant: without gravity, energy and momentum in the world are kept; the quaternion stays a unit."""
    m = Mechanism("brick", g=0.0)
    brick = m.body("brick", 2.0, (0.1, -0.05, 0.2), box(2, 0.3, 0.2, 0.1) + 0.0)
    m.joint("base", m.world, brick, joints.free(), rate=(1.0, -2.0, 3.0, 0.5, 0.1, -0.2))
    tree = Tree(m)
    machine = system(m)
    momentum = observe.momentum(tree)
    f = ca.Function("f", [tree.q, tree.v], [momentum, observe.kinetic(tree)])
    run = strut.simulate(machine, t=20.0)
    states = np.column_stack([run[name] for name in machine.labels("x")])
    first, last = (f(row[:7], row[7:]) for row in (states[0], states[-1]))
    np.testing.assert_allclose(np.array(last[0]), np.array(first[0]), atol=1e-8)
    assert float(last[1]) == pytest.approx(float(first[1]), rel=1e-9)
    quaternion = states[:, 3:7]
    np.testing.assert_allclose(np.linalg.norm(quaternion, axis=1), 1, atol=1e-9)


JOINTS = {
    "revolute": (joints.revolute([0.6, 0.0, 0.8]), 1),
    "prismatic": (joints.prismatic([0.0, 0.6, 0.8]), 1),
    "helical": (joints.helical([0.6, 0.0, 0.8], 0.3), 1),
    "cylindrical": (joints.cylindrical("z"), 2),
    "universal": (joints.universal("x", "y"), 2),
    "planar": (joints.planar("y"), 3),
    "euler": (joints.spherical_euler("zyx"), 3),
    "spherical": (joints.spherical(), 3),
    "free": (joints.free(), 6),
}


@pytest.mark.parametrize("name", JOINTS)
def test_subspace_and_rate_are_what_the_pose_says(name):
    """S v and q' = B v against the derivative of the pose along a motion; S' v against that of S."""
    joint, nv = JOINTS[name]
    assert joint.nv == nv
    rng = np.random.default_rng(5)
    q0, v = rng.uniform(-0.8, 0.8, joint.nq), rng.standard_normal(nv)
    if joint.nq != nv and joint.kind != "planar":
        q0[-4:] /= np.linalg.norm(q0[-4:])
    q, w = ca.SX.sym("q", joint.nq), ca.SX.sym("v", nv)
    X = joint.pose(q)
    f = ca.Function("f", [q, w], [X.R, X.p, joint.S(q), joint.qdot(q, w), joint.S_rate(q, w)])
    R, _, S, qdot, bias = (np.array(r) for r in f(q0, v))
    h = 1e-6
    ahead, back = f(q0 + h * qdot.reshape(-1), v), f(q0 - h * qdot.reshape(-1), v)
    dR, dp, dS = ((np.array(ahead[k]) - np.array(back[k])) / (2 * h) for k in range(3))
    spin = R.T @ dR
    np.testing.assert_allclose(S[:3] @ v, [spin[2, 1], spin[0, 2], spin[1, 0]], atol=1e-8)
    np.testing.assert_allclose(S[3:] @ v, (R.T @ dp).reshape(-1), atol=1e-8)
    np.testing.assert_allclose(dS @ v, bias.reshape(-1), atol=1e-7)


def test_a_joint_from_its_transform_alone_moves_like_the_built_in_one():
    def hinge(q):
        c, s = ca.cos(q[0]), ca.sin(q[0])
        return Pose(
            ca.vertcat(ca.horzcat(c, 0, s), ca.horzcat(0, 1, 0), ca.horzcat(-s, 0, c)), ca.SX.zeros(3)
        )

    one, other = (
        strut.simulate(system(chain(3, joint=joint)), t=2.0)
        for joint in (joints.revolute("y"), joints.custom(hinge, [""], ["rad"]))
    )
    np.testing.assert_allclose(one.raw.x_end[:6], other.raw.x_end[:6], atol=1e-9)


def test_a_curve_as_a_joint():
    """A bead on a parabola, from its transform alone: energy is kept, and the period for small swings is the pendulum's
    with the parabola's radius of curvature."""
    m = Mechanism("bead")
    bead = m.body("bead", 1.0, inertia=0.0)
    m.joint(
        "s",
        m.world,
        bead,
        joints.custom(lambda q: Pose.at((q[0], 0, q[0] ** 2 / 2)), [""], ["m"]),
        initial=1e-3,
        actuated=False,
    )
    plain = system(m)
    run = strut.simulate(plain.replace(events=[Event("top", plain["s_rate"], direction="down")]), t=20.0)
    assert np.diff(run.events.t)[-1] == pytest.approx(2 * np.pi / np.sqrt(9.81), rel=1e-6)
    assert run.ledger.relative < 1e-6


def test_gears_carry_inertia_and_force():
    """A wheel driven through a ratio r: the motor feels r^2 of its inertia."""
    ratio = Param("ratio", 3.0)
    m = Mechanism("drive", g=0.0)
    motor, wheel = m.body("motor", 1.0, inertia=0.2), m.body("wheel", 1.0, inertia=0.5)
    m.joint("shaft", m.world, motor, joints.revolute("z"))
    m.joint("axle", m.world, wheel, joints.gear("shaft", ratio, of=joints.revolute("z")), damping=0.1)
    run = strut.simulate(system(m), t=1.0, u={"shaft_torque": 1.0})
    inertia, drag = 0.2 + 9 * 0.5, 9 * 0.1
    assert run["shaft_rate"][-1] == pytest.approx((1 - np.exp(-drag / inertia)) / drag, rel=1e-9)
    assert run.ledger.residual < 1e-9


def test_springs_armatures_and_stops():
    m = Mechanism("knee", planar=True, g=0.0)
    shank = m.body("shank", 2.0, (0, 0, -0.2), 0.1)
    m.joint(
        "knee",
        m.world,
        shank,
        joints.revolute(),
        spring=50.0,
        rest=0.3,
        armature=0.5,
        stop=Stop(-0.2, 1.0, 2e3, 100.0),
        initial=0.9,
        rate=6.0,
    )
    run = strut.simulate(system(m), t=5.0)
    assert run.ledger.residual < 1e-6
    assert run["knee"].max() < 1.15
    assert run["knee"].min() > -0.35
    gentle = system(m).using(knee=0.5, knee_rate=0.0)
    omega = np.sqrt(50 / (0.1 + 2 * 0.04 + 0.5))
    run = strut.simulate(gentle, t=1.0)
    np.testing.assert_allclose(run["knee"], 0.3 + 0.2 * np.cos(omega * run.t), atol=1e-8)


def test_external_wrenches_and_inverse_dynamics_undo_each_other():
    tree = Tree(chain(3))
    tau, wrench = ca.SX.sym("tau", 3), ca.SX.sym("f", 6)
    there = tree.forward(tau, {"rod3": wrench})
    back = tree.inverse(there, {"rod3": wrench})
    f = ca.Function(
        "f",
        [tree.q, tree.v, tau, wrench, tree.mechanism.gravity],
        [back, tree.articulated_body_algorithm(tau, {"rod3": wrench}), there],
    )
    rng = np.random.default_rng(2)
    tau0 = rng.standard_normal(3)
    undone, articulated, direct = f(
        rng.uniform(-1, 1, 3), rng.standard_normal(3), tau0, rng.standard_normal(6), 9.81
    )
    np.testing.assert_allclose(np.array(undone).reshape(-1), tau0, rtol=1e-12)
    np.testing.assert_allclose(np.array(articulated), np.array(direct), rtol=1e-10)


def test_initial_values_can_be_parameters():
    lean = Param("lean", 0.3, "rad")
    m = Mechanism("stick", planar=True)
    m.joint(
        "hinge",
        m.world,
        m.body("stick", 1.0, (0, 0, -0.5), 0.1),
        joints.revolute(),
        initial=2 * lean,
        rate=-lean,
    )
    run = strut.simulate(system(m), t=0.0, p={"lean": 0.5})
    assert run["hinge"][0] == 1.0
    assert run["hinge_rate"][0] == -0.5


# ---- loops ----


def closed_chain():
    """Kieboom, model 2.20: three rods closed onto the world, a parallelogram."""
    m = Mechanism("loop")
    parent = m.world
    for k, q in enumerate((-0.2 * np.pi, 0.7 * np.pi, 0.3 * np.pi)):
        rod = m.body(f"rod{k + 1}", 1.0, (0, 0, -0.5), box(1, 0.05, 0.05, 1))
        m.joint(
            f"q{k + 1}",
            parent,
            rod,
            joints.revolute("y"),
            at=(0, 0, 0 if k == 0 else -1),
            initial=q,
            actuated=False,
        )
        parent = rod
    m.frame("tip", parent, (0, 0, -1))
    m.frame("anchor", m.world, (-1, 0, 0))
    return m


@pytest.mark.parametrize("close", [constraints.point, constraints.hinge])
def test_loop_on_the_base(close):
    """Period 1.87775 s for an amplitude of 0.2 pi; redundant rows are found; the loop stays closed for a minute."""
    m = closed_chain()
    m.constrain(close("loop", "tip", "anchor"))
    plain = system(m, project=0.05)
    assert [name for name in plain.outputs if name.startswith("loop_")] == ["loop_x", "loop_z"]
    run = strut.simulate(plain.replace(events=[Event("turn", plain["q1_rate"])]), t=60.0)
    assert run["closure_error"].max() < 1e-8
    np.testing.assert_allclose(np.diff(run.events.t), 1.877749, atol=1e-6)
    assert run.ledger.residual < 1e-8
    amplitudes = [np.ptp(run[f"q{k}"]) / 2 for k in (1, 2, 3)]
    np.testing.assert_allclose(amplitudes, 0.2 * np.pi, rtol=1e-3)


def test_stabilisation_alone_bounds_the_drift():
    m = closed_chain()
    m.constrain(constraints.point("loop", "tip", "anchor"))
    run = strut.simulate(system(m, stabilise=20.0), t=60.0, rtol=1e-8, atol=1e-10)
    assert run["closure_error"].max() < 1e-8


PANTOGRAPH = {
    0.05: (0.20555, -0.94298),
    0.25: (0.95506, -1.12988),
    1.0: (0.47096, -1.06173),
    10.0: (0.60026, -1.05438),
}


def test_pantographic_leg():
    """Kieboom, model 2.21, against the values recomputed from a reduced Lagrangian model."""
    m = Mechanism("pantograph")
    pi = np.pi
    hip = m.body("hip", 0.01, (0, 0, -0.02), box(0.01, 0.01, 0.005, 0.04))
    knee = m.body("knee", 0.02, (0, 0, -0.03), box(0.02, 0.01, 0.005, 0.06))
    ankle = m.body("ankle", 0.01, (0, 0, -0.025), box(0.01, 0.01, 0.005, 0.05))
    par = m.body("par", 0.1, (0, 0, 0.025), box(0.1, 0.01, 0.005, 0.05))
    m.joint("hip", m.world, hip, joints.revolute(), initial=0.1 * pi, damping=1e-3, actuated=False)
    m.joint(
        "knee",
        hip,
        knee,
        joints.revolute(),
        at=(0, 0, -0.04),
        initial=-0.4 * pi,
        spring=0.1,
        rest=-0.4 * pi,
        actuated=False,
    )
    m.joint("ankle", knee, ankle, joints.revolute(), at=(0, 0, -0.06), initial=0.4 * pi, actuated=False)
    m.joint("par", ankle, par, joints.revolute(), at=(0, 0, 0.02), initial=-0.4 * pi, actuated=False)
    m.frame("top", par, (0, 0, 0.06))
    m.frame("seat", hip, (0, 0, -0.02))
    m.constrain(constraints.hinge("loop", "top", "seat"))
    run = strut.simulate(system(m, project=0.01), t=10.0)
    for t, (hip_angle, knee_angle) in PANTOGRAPH.items():
        assert run.at(t)["hip"] == pytest.approx(hip_angle, abs=2e-5)
        assert run.at(t)["knee"] == pytest.approx(knee_angle, abs=2e-5)
    assert run["closure_error"].max() < 1e-10


def test_initial_states_are_moved_onto_the_constraints():
    m = closed_chain()
    m.constrain(constraints.point("loop", "tip", "anchor"))
    m.connections.clear()
    parent = m.world
    for k, q in enumerate((-0.55, 2.1, 1.0)):  # not closed
        m.joint(
            f"q{k + 1}",
            parent,
            m.bodies[f"rod{k + 1}"],
            joints.revolute("y"),
            at=(0, 0, 0 if k == 0 else -1),
            initial=q,
            rate=1.0,
        )
        parent = m.bodies[f"rod{k + 1}"]
    run = strut.simulate(system(m), t=0.0)
    assert run["closure_error"][0] < 1e-11


def test_a_loop_that_cannot_close_is_named():
    m = closed_chain()
    m.frame("far", m.world, (9, 0, 0))
    m.constrain(constraints.point("loop", "tip", "far"))
    with pytest.raises(ModelError, match=r"cannot close constraint 'loop': \d\S* m remain along x"):
        system(m)


def test_prescribed_motion_and_its_force():
    """A pendulum driven to swing as 0.3 sin 2t: the torque is what inverse dynamics says."""
    m = chain(1)
    m.constrain(constraints.prescribed("drive", "q1", 0.3 * ca.sin(2 * strut.time)))
    run = strut.simulate(system(m), t=3.0)
    np.testing.assert_allclose(run["q1"], 0.3 * np.sin(2 * run.t), atol=1e-8)
    inertia = box(1, 0.05, 0.05, 1)[1, 1] + 0.25
    torque = inertia * -1.2 * np.sin(2 * run.t) + 9.81 * 0.5 * np.sin(0.3 * np.sin(2 * run.t))
    np.testing.assert_allclose(run["drive_torque"], torque, atol=1e-6)


def test_coupled_joints_and_gears_are_the_same_machine():
    def drive(geared):
        m = Mechanism("drive", g=0.0)
        motor, wheel = m.body("motor", 1.0, inertia=0.2), m.body("wheel", 1.0, inertia=0.5)
        m.joint("shaft", m.world, motor, joints.revolute("z"))
        m.joint(
            "axle",
            m.world,
            wheel,
            joints.gear("shaft", 3.0, of=joints.revolute("z")) if geared else joints.revolute("z"),
            actuated=False,
        )
        if not geared:
            m.constrain(constraints.coupled("teeth", "shaft", "axle", 3.0))
        return strut.simulate(system(m), t=1.0, u={"shaft_torque": 1.0})["shaft_rate"][-1]

    assert drive(True) == pytest.approx(drive(False), rel=1e-9)


def test_numbers_of_constraints_can_be_parameters():
    """Ratio, amplitude, stabilisation: all are found in the constraints and become parameters of the system."""
    ratio, swing, pull = Param("ratio", 3.0), Param("swing", 0.3, "rad"), Param("pull", 20.0, "1/s")
    m = Mechanism("drive", g=0.0)
    for name in ("shaft", "axle"):
        m.joint(name, m.world, m.body(f"{name}_body", 1.0, inertia=0.2), joints.revolute("z"), actuated=False)
    m.constrain(constraints.coupled("teeth", "shaft", "axle", ratio))
    m.constrain(constraints.prescribed("crank", "shaft", swing * ca.sin(strut.time)))
    machine = system(m, stabilise=pull)
    assert set(machine.labels("p")) == {"ratio", "swing", "pull"}
    run = strut.simulate(machine, t=2.0, p={"swing": 0.1}, x0={"shaft_rate": 0.1, "axle_rate": 0.3})
    np.testing.assert_allclose(run["axle"], 0.3 * np.sin(run.t), atol=1e-8)


def test_a_skate_does_not_slip_sideways():
    """A sleigh on ice: the blade moves along itself only, energy is kept, and it turns straight (Caratheodory)."""
    m = Mechanism("sleigh", g=0.0)
    board = m.body("board", 2.0, (0.3, 0, 0), 0.1)
    m.joint("base", m.world, board, joints.planar("z"), actuated=False, rate=(1.0, 0.0, 2.0))
    m.frame("blade", board)
    m.constrain(constraints.no_slip("ice", "blade", "y"))
    run = strut.simulate(system(m), t=10.0)
    assert np.abs(run["base.vy"]).max() < 1e-9
    assert run.ledger.residual < 1e-8
    assert abs(run["base.wz"][-1]) < 1e-3


# ---- mistakes ----


def broken(build):
    m = Mechanism("machine")
    build(m)
    return system(m)


MISTAKES = [
    (
        lambda m: m.joint("j", m.world, m.body("ghost"), joints.revolute()),
        "body 'ghost' has no mass and carries none, but joint 'j' can move it",
    ),
    (lambda m: m.body("b", mass=-1.0), "body 'b' has mass -1 kg"),
    (
        lambda m: m.body("b", 1.0, inertia=[-1.0, 1.0, 1.0]),
        "body 'b' has a negative principal moment of inertia",
    ),
    (
        lambda m: m.body("b", 1.0, inertia=[[1, 2, 0], [0, 1, 0], [0, 0, 1]]),
        "body 'b' has an inertia that is not symmetric",
    ),
    (lambda m: m.body("b", 1.0, inertia=[1.0, 2.0]), "the inertia of body 'b' has 2 numbers"),
    (lambda m: m.body("b", 1.0), "body 'b' of mechanism 'machine' is joined to nothing"),
    (lambda m: (m.body("b", 1.0), m.body("b", 2.0)), "has a body 'b' already"),
    (
        lambda m: m.joint("j", m.world, m.body("b", 1.0), joints.revolute([1, 1, 0])),
        r"axis \[1.0, 1.0, 0.0\] has length 1.41421",
    ),
    (lambda m: m.joint("j", m.body("b", 1.0), m.world, joints.revolute()), "has the world as child"),
    (lambda m: m.body("b", ca.SX.sym("stray")), "uses 'stray', which is unknown"),
    (
        lambda m: m.joint("j", m.world, m.body("b", 1.0), joints.fixed(), spring=1.0),
        "is fixed: a spring, damper or armature has nothing to act on",
    ),
    (
        lambda m: m.joint("j", m.world, m.body("b", 1.0), joints.planar(), spring=1.0),
        "is planar: a joint spring or stop needs coordinates whose rates are the velocities",
    ),
    (
        lambda m: m.joint("j", m.world, m.body("b", 1.0), joints.free(), initial=[1, 2]),
        "7 and 6 numbers are needed",
    ),
    (
        lambda m: m.joint("j", m.world, m.body("b", 1.0, inertia=1.0), joints.gear("k")),
        "joint 'j' follows 'k', which is no joint of one coordinate",
    ),
]


@pytest.mark.parametrize(("build", "message"), MISTAKES)
def test_mistakes_name_the_body(build, message):
    with pytest.raises(ModelError, match=message):
        broken(build)


def test_cycles_and_second_parents_are_named():
    m = Mechanism("machine")
    a, b = m.body("a", 1.0), m.body("b", 1.0)
    m.joint("ab", a, b, joints.revolute())
    with pytest.raises(ModelError, match="gives body 'b' a second parent, after 'ab'"):
        m.joint("wb", m.world, b, joints.revolute())
    m.joint("ba", b, a, joints.revolute())
    with pytest.raises(ModelError, match="bodies 'b', 'a' hang on one another but not on the world"):
        Tree(m)


def test_coman_weighs_what_was_published():
    from strut.walkers.coman import coman_mechanism

    tree = Tree(coman_mechanism())
    assert tree.nv == 29
    assert float(ca.DM(observe.mass(tree))) == pytest.approx(28.357, abs=1e-3)


def test_coman_needs_fewer_operations_than_published():
    """Robotran's generator: 4106 for inverse dynamics, 17414 for mass matrix and bias."""
    from strut.system.ported_function import operation_count
    from strut.walkers.coman import coman_mechanism

    tree = Tree(coman_mechanism())
    a = ca.SX.sym("a", 29)
    inverse = ca.Function("i", [tree.q, tree.v, a, tree.mechanism.gravity], [tree.inverse(a)])
    direct = ca.Function("d", [tree.q, tree.v, tree.mechanism.gravity], [tree.mass_matrix, tree.bias])
    assert operation_count(inverse) <= 4106
    assert operation_count(direct) <= 17414


def test_snakeboard():
    """Duindam, example 2.21, with J = m r^2: steered at a constant angle phi, a constant torque u on the torso gives
    alpha' = -sin(phi)/beta u, the board moves at r cos(phi)/beta alpha and turns at sin(phi)/beta alpha, with
    beta^2 = m r^2 - Jt sin^2(phi). (The thesis prints the first with the wrong sign.)"""
    mass, r, torso, wheels, phi, torque = 2.0, 0.5, 0.1, 0.05, 0.3, 0.2
    m = Mechanism("snakeboard", g=0.0)
    board = m.body("board", mass, inertia=mass * r**2 - torso - wheels)
    m.joint("base", m.world, board, joints.planar("z"), actuated=False)
    m.joint("torso", board, m.body("torso", inertia=torso), joints.revolute("z"))
    front, rear = m.body("front", inertia=wheels / 2), m.body("rear", inertia=wheels / 2)
    m.joint("steer", board, front, joints.revolute("z"), at=(r, 0, 0), initial=phi)
    m.joint("follow", board, rear, joints.gear("steer", -1.0, of=joints.revolute("z")), at=(-r, 0, 0))
    m.constrain(constraints.no_slip("front_wheels", "front", "y"))
    m.constrain(constraints.no_slip("rear_wheels", "rear", "y"))
    run = strut.simulate(system(m), t=3.0, u={"torso_torque": torque})
    beta = np.sqrt(mass * r**2 - torso * np.sin(phi) ** 2)
    alpha = -np.sin(phi) / beta * torque * run.t
    speed = np.hypot(run["base.vx"], run["base.vy"])
    np.testing.assert_allclose(run["steer"], phi, atol=1e-9)
    np.testing.assert_allclose(speed, r * np.cos(phi) / beta * np.abs(alpha), atol=1e-8)
    np.testing.assert_allclose(run["base.wz"], np.sin(phi) / beta * alpha, atol=1e-8)
    assert run.ledger.residual < 1e-8


def test_bodies_welded_to_the_world_do_not_count():
    """A pendulum on a heavy post, which stands on a slab: mass, centre and momentum are the pendulum's."""
    m = Mechanism("post")
    slab, post, bob = (
        m.body("slab", 50.0, (1, 0, 0)),
        m.body("post", 20.0, (0, 3, 0)),
        m.body("bob", 2.0, (0, 0, -0.5), (0.1, 0.1, 0.1)),
    )
    tool = m.body("tool", 1.0)
    m.joint("ground", m.world, slab, joints.fixed())
    m.joint("foot", slab, post, joints.fixed(), at=(0, 0, 2))
    m.joint("hinge", post, bob, joints.revolute("y"))
    m.joint("grip", bob, tool, joints.fixed(), at=(0, 0, -0.8))
    tree = Tree(m)
    f = ca.Function(
        "f",
        [tree.q, tree.v],
        [observe.mass(tree), observe.com(tree), observe.momentum(tree), observe.momentum_matrix(tree)],
    )
    angle, rate = 0.3, 2.0
    mass, centre, momentum, matrix = (np.array(e) for e in f(angle, rate))
    assert mass.item() == 3.0
    arm = (2.0 * 0.5 + 1.0 * 0.8) / 3.0
    np.testing.assert_allclose(
        centre.reshape(-1), [-arm * np.sin(angle), 0, 2 - arm * np.cos(angle)], atol=1e-15
    )
    about_centre = 0.1 + 2.0 * 0.5**2 + 1.0 * 0.8**2 - 3.0 * arm**2
    expected = [
        0,
        about_centre * rate,
        0,
        -3.0 * arm * rate * np.cos(angle),
        0,
        3.0 * arm * rate * np.sin(angle),
    ]
    np.testing.assert_allclose(momentum.reshape(-1), expected, atol=1e-14)
    np.testing.assert_allclose(matrix.reshape(-1) * rate, expected, atol=1e-14)


def test_what_cannot_move_has_no_centre_of_mass():
    m = Mechanism("wall")
    m.joint("stands", m.world, m.body("wall", 5.0), joints.fixed())
    with pytest.raises(
        ModelError, match="mechanism 'wall' has no centre of mass: none of its bodies can move"
    ):
        observe.com(Tree(m))
    assert float(ca.DM(observe.mass(Tree(m)))) == 0.0


def test_a_joint_of_ones_own_moves_in_a_planar_mechanism():
    """Its motion subspace, derived from the transform, is also wanted at numbers: does the joint stay in the plane?"""
    m = Mechanism("slider", planar=True)
    m.joint(
        "slide",
        m.world,
        m.body("block", 2.0),
        joints.custom(lambda q: Pose.at((2 * q[0], 0, 0)), ["slide"]),
        rate=1.5,
    )
    run = strut.simulate(system(m), t=1.0)
    assert run["com_x"][-1] == pytest.approx(3.0, abs=1e-9)
    out = Mechanism("sideways", planar=True)
    out.joint(
        "slide", out.world, out.body("block", 2.0), joints.custom(lambda q: Pose.at((0, q[0], 0)), ["slide"])
    )
    with pytest.raises(ModelError, match="plane"):
        system(out)
