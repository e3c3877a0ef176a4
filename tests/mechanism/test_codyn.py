"""The same machines as codyn 3.6.4 runs them, van den Kieboom's original: trajectories, mass matrices, bias forces, Jacobians.

`data/codyn_*.csv` are rows of what its native build printed, in full precision. Its conventions are ours up to names: a
body's node carries its joint, `tr` is our `at`; a positive angle about an axis turns the same way; gravity is (0, 0, -9.81);
quaternions stand w first, their rates and all velocities are the body's. C is our bias, H our mass matrix, with velocities
depth first where ours go breadth first; its joint torques are not in C. Jacobians have rotation first and the world's axes.

Its default method is Euler's, with all derivatives before any update, which the thesis' model 2.19 does not override; the
others ask for RK4. Steps are 1 ms.
"""

import csv
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut.mechanism import Mechanism, Pose, Tree, joints, observe, system

DATA = Path(__file__).parent / "data"
STEP = 1e-3  # [s], codyn's default
ROUNDING = 1e-12  # the same method with the same step leaves only the order of additions
GROWN = 1e-10  # rounding after 3000 steps of a machine whose neighbouring motions part


def table(name):
    """Columns by name."""
    with (DATA / f"codyn_{name}.csv").open() as file:
        rows = list(csv.reader(file))
    return dict(zip(rows[0], np.array(rows[1:], dtype=float).T, strict=True))


def matrix(columns, name, rows, count, at=0):
    return np.array([[columns[f"{name}[{r};{c}]"][at] for c in range(count)] for r in range(rows)])


def cylinder(m, r, h):
    return np.diag([m * (3 * r * r + h * h) / 12, m * (3 * r * r + h * h) / 12, m * r * r / 2])


def box(m, x, y, z):
    return np.diag([m * (y * y + z * z) / 12, m * (x * x + z * z) / 12, m * (x * x + y * y) / 12])


def sphere(m):
    """codyn's default inertia: a ball of 0.1 m radius."""
    return 0.4 * m * 0.1**2


def assert_same(run, columns, names, tolerance):
    for theirs, ours in names.items():
        found = [run.at(t)[ours] for t in columns["t"]]
        np.testing.assert_allclose(
            found, columns[theirs], rtol=0, atol=tolerance, err_msg=f"{theirs} and {ours}"
        )


COM = {f"model.com[{k};0]": f"com_{axis}" for k, axis in enumerate("xyz")}
ONE = {"a.q": "a", "a.dq": "a_rate"}
TWO = {"a.q[0;0]": "a.x", "a.q[1;0]": "a.z", "a.dq[0;0]": "a.x_rate", "a.dq[1;0]": "a.z_rate"}
JOINTS = {
    **{f"prismatic{axis.upper()}": (joints.prismatic(axis), 0.3, 0.5, ONE) for axis in "xyz"},
    **{f"revolute{axis.upper()}": (joints.revolute(axis), 0.3, 0.5, ONE) for axis in "xyz"},
    "prismaticXZ": (
        joints.custom(lambda q: Pose.at((q[0], 0, q[1])), ["x", "z"], ["m", "m"]),
        (0.1, 0.2),
        (0.5, -0.2),
        TWO,
    ),
}


@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_that_carries_a_hinge(name):
    joint, initial, rate, names = JOINTS[name]
    m = Mechanism("probe")
    a, b = (
        m.body("a", 1.2, (0.1, 0.2, -0.3), [0.05, 0.06, 0.04]),
        m.body("b", 0.7, (0.05, 0, -0.2), cylinder(0.7, 0.05, 0.4)),
    )
    m.joint("a", m.world, a, joint, initial=initial, rate=rate, actuated=False)
    m.joint("b", a, b, joints.revolute("x"), at=(0.1, -0.1, -0.4), initial=-0.6, rate=1.5, actuated=False)
    run = strut.simulate(system(m), t=1.0, method="rk4", step=STEP)
    assert_same(run, table(name), names | {"b.q": "b", "b.dq": "b_rate"} | COM, ROUNDING)


def tree_of_joints():
    """A slider carries a hinge with a hinge, and a screw with a ball joint."""
    m = Mechanism("tree")
    a, b = (
        m.body("a", 2.0, (0, 0, 0.1), sphere(2.0)),
        m.body("b", 1.5, (0, 0.1, -0.3), cylinder(1.5, 0.05, 0.6)),
    )
    c, d = (
        m.body("c", 1.0, (0, 0.05, -0.2), sphere(1.0)),
        m.body("d", 1.0, (0.25, 0, 0), box(1.0, 0.5, 0.05, 0.05)),
    )
    s = m.body("s", 0.8, (0, 0, -0.2), sphere(0.8))
    m.joint(
        "a", m.world, a, joints.prismatic("x"), initial=0.1, rate=0.5, spring=4.0, damping=0.3, actuated=False
    )
    m.joint("b", a, b, joints.revolute("x"), at=(0, 0, -0.5), initial=0.4, actuated=False)
    m.joint("c", a, c, joints.helical("y", 0.2), at=(0.2, 0, 0), initial=-0.3, actuated=False)
    m.joint("d", b, d, joints.revolute("z"), at=(0, 0, -0.6), rate=2.0, damping=0.1, actuated=False)
    m.joint("s", c, s, joints.spherical(), at=(0, 0.1, -0.4), rate=(0.3, -0.2, 1.1), actuated=False)
    return m


def test_a_tree_of_five_kinds_of_joints():
    """codyn divides the quaternion by its squared length after every step, ours is pulled to length one: with a length that
    is one to rounding neither shows."""
    names = {f"{n}.q": n for n in "abcd"} | {f"{n}.dq": f"{n}_rate" for n in "abcd"} | COM
    names |= {f"s.q[{k};0]": f"s.q{axis}" for k, axis in enumerate("wxyz")} | {
        f"s.dq[{k};0]": f"s.w{axis}" for k, axis in enumerate("xyz")
    }
    run = strut.simulate(system(tree_of_joints()), t=3.0, method="rk4", step=STEP)
    assert_same(run, table("tree"), names, GROWN)


def dynamics(m, q, v, torques):
    tree = Tree(m)
    f = ca.Function(
        "f",
        [tree.q, tree.v, tree.mechanism.gravity],
        [tree.mass_matrix, tree.bias, tree.forward(ca.SX(torques))],
    )
    return tree, *(np.array(r) for r in f(q, v, 9.81))


def test_mass_matrix_and_bias_of_the_tree():
    theirs = table("tree_dynamics")
    torques = np.array([-4 * 0.1 - 0.3 * 0.5, 0, 0, -0.1 * 2.0, 0, 0, 0])
    q, v = [0.1, 0.4, -0.3, 0, 0, 0, 0, 1], [0.5, 0, 0, 2, 0.3, -0.2, 1.1]
    tree, M, bias, acceleration = dynamics(tree_of_joints(), q, v, torques)
    order = [k for name in "abdcs" for k in range(tree.nv)[tree.v_of[name]]]  # codyn's: depth first
    np.testing.assert_allclose(M[np.ix_(order, order)], matrix(theirs, "dynamics.H", 7, 7), atol=1e-14)
    np.testing.assert_allclose(bias[order], matrix(theirs, "dynamics.C", 7, 1), atol=1e-14)
    np.testing.assert_allclose(
        acceleration[order], matrix(theirs, "dynamics.ddq", 7, 1), rtol=1e-12, atol=1e-13
    )


def pendulums():
    """Kieboom, model 2.19: four pendulums, the first hung 1 m below the origin, each with a ball's inertia at its middle."""
    m = Mechanism("pendulums")
    parent = m.world
    for k in range(1, 5):
        body = m.body(f"p{k}", 1.0, (0, 0, -0.5), sphere(1.0))
        m.joint(
            f"p{k}",
            parent,
            body,
            joints.revolute("y"),
            at=(0, 0, -1),
            initial=0.1 * k,
            rate=0.2 * k,
            actuated=False,
        )
        parent = body
    m.frame("tip", parent, (0, 0, -1))
    return m


def test_four_pendulums_by_eulers_method():
    names = {f"p{k}.q": f"p{k}" for k in range(1, 5)} | {f"p{k}.dq": f"p{k}_rate" for k in range(1, 5)} | COM
    columns = table("pendulums")
    assert_same(
        strut.simulate(system(pendulums()), t=1.0, method="euler", step=STEP, ledger=False),
        columns,
        names,
        ROUNDING,
    )
    fine = strut.simulate(system(pendulums()), t=1.0)  # what it would be without Euler's error
    assert abs(fine["p4"][-1] - columns["p4.q"][-1]) > 1e-3  # so the agreement is with the method, too


def test_mass_matrix_and_bias_of_the_pendulums():
    theirs = table("pendulums_dynamics")
    _, M, bias, acceleration = dynamics(pendulums(), [0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.6, 0.8], np.zeros(4))
    np.testing.assert_allclose(M, matrix(theirs, "dynamics.H", 4, 4), atol=1e-13)
    np.testing.assert_allclose(bias, matrix(theirs, "dynamics.C", 4, 1), atol=1e-13)
    np.testing.assert_allclose(acceleration, matrix(theirs, "dynamics.ddq", 4, 1), rtol=1e-12)


def test_jacobians_of_the_pendulums():
    """The tip's Jacobian agrees. codyn's Jacobian of the centre of mass does not, and is wrong: it is not the derivative of
    codyn's own centre of mass. Its column i is m_i/M times the motion not of one point but of two, the centre of mass and
    the body's own, added up (the thesis' equation 2.70, applied); that formula is reproduced here."""
    columns, m = table("pendulums"), pendulums()
    tree = Tree(m)
    J_com, centres = observe.com_jacobian(tree), [X.point(ca.SX([0, 0, -0.5])) for X in tree.poses]
    f = ca.Function(
        "f",
        [tree.q],
        [observe.world_jacobian(tree, "tip"), observe.position(tree, "tip"), observe.com(tree), J_com],
    )
    g = ca.Function("g", [tree.q], [ca.horzcat(*[X.p for X in tree.poses]), ca.horzcat(*centres)])
    y = np.array([0, 1.0, 0])
    for row in range(len(columns["t"])):
        q = np.array([columns[f"p{k}.q"][row] for k in range(1, 5)])
        J, tip, com, J_com = (np.array(r) for r in f(q))
        np.testing.assert_allclose(J, matrix(columns, "p4.jac.J", 6, 4, row), atol=1e-14)
        np.testing.assert_allclose(com, matrix(columns, "model.com", 3, 1, row), atol=1e-12)
        origins, centres = (np.array(r).T for r in g(q))
        slopes = [
            (np.array(f(q + h)[2]) - np.array(f(q - h)[2])).reshape(-1) / 2e-6 for h in 1e-6 * np.eye(4)
        ]
        np.testing.assert_allclose(J_com.T, slopes, atol=1e-9)
        theirs = matrix(columns, "jacobian.Jcom", 6, 4, row)
        assert np.abs(theirs[3:] - J_com).max() > 0.1
        added = [
            np.cross(y, (com.reshape(-1) - o) + (c - o)) / 4 for o, c in zip(origins, centres, strict=True)
        ]
        np.testing.assert_allclose(theirs[3:].T, added, atol=1e-12)
        np.testing.assert_allclose(theirs[:3].T, [y / 4] * 4, atol=1e-14)
        rebased = matrix(
            columns, "p4.JComInP4", 6, 4, row
        )  # minus that of the last body's point at the centre of mass
        there = J[3:] + np.cross(J[:3].T, (com - tip).reshape(-1)).T
        np.testing.assert_allclose(theirs - rebased, np.vstack([J[:3], there]), atol=1e-12)
