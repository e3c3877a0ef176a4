"""Derivatives of forward dynamics through the inverse, against differentiating the recursions themselves and Pinocchio's."""

import casadi as ca
import numpy as np
import pytest

from strut.mechanism import Mechanism, Tree, joints
from strut.mechanism.derivatives import forward_derivatives
from tests.mechanism.random_trees import Plan, to_pinocchio

TOLERANCE = 1e-9  # relative, asked for; what is reached is about 1e-13


def relative(ours, theirs):
    return np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())


@pytest.mark.parametrize("seed", range(12))
def test_through_the_inverse_and_straight_agree(seed):
    """On random trees of all joints, quaternions as four numbers; short ones factorise, long ones articulate."""
    plan = Plan(300 + seed, 3 + 2 * seed, base="free" if seed % 2 else "")
    tree = Tree(plan.mechanism())
    q, v, _, tau0 = plan.state(tree)
    tau = ca.SX.sym("tau", tree.nv)
    symbols = [tree.q, tree.v, tau]
    ours = ca.Function("ours", symbols, list(forward_derivatives(tree, tau)))(q, v, tau0)
    straight = ca.Function("straight", symbols, [ca.jacobian(tree.forward(tau), s) for s in symbols])(
        q, v, tau0
    )
    for one, other in zip(ours, straight, strict=True):
        assert relative(np.array(one), np.array(other)) < TOLERANCE


def test_gears_and_armatures():
    m = Mechanism("geared", g=9.81)
    a, b, c = (m.body(name, 1.0, (0.1, 0.2, -0.3), [0.03, 0.04, 0.05]) for name in "abc")
    m.joint("a", m.world, a, joints.revolute("y"), armature=0.2)
    m.joint("b", a, b, joints.revolute("x"), at=(0, 0, -0.4))
    m.joint("c", b, c, joints.gear("a", -2.0, 0.1, of=joints.revolute("z")), at=(0, 0, -0.4))
    tree, tau = Tree(m), ca.SX.sym("tau", 2)
    symbols = [tree.q, tree.v, tau]
    ours = ca.Function("ours", symbols, list(forward_derivatives(tree, tau)))(
        [0.3, -0.7], [1.0, 2.0], [0.5, 0.1]
    )
    straight = ca.Function("straight", symbols, [ca.jacobian(tree.forward(tau), s) for s in symbols])(
        [0.3, -0.7], [1.0, 2.0], [0.5, 0.1]
    )
    for one, other in zip(ours, straight, strict=True):
        assert relative(np.array(one), np.array(other)) < TOLERANCE


def depth_first(plan):
    """Its parents chosen anew, each on the way from the last body to the root: Pinocchio's derivatives want subtrees in a row."""
    rng = np.random.default_rng(len(plan.rows))
    for k, row in enumerate(plan.rows[1:], 1):
        path = [k - 1]
        while plan.rows[path[-1]]["parent"] >= 0:
            path.append(plan.rows[path[-1]]["parent"])
        row["parent"] = int(rng.choice(path))
    return plan


def test_against_pinocchio():
    """It differentiates by small motions along the velocities: ours by q, times q' by v."""
    pin = pytest.importorskip("pinocchio")
    for seed in range(10):
        kinds = ("revolute", "prismatic", "spherical")
        plan = depth_first(Plan(400 + seed, 8 + 2 * seed, kinds=kinds, base="free" if seed % 2 else ""))
        tree = Tree(plan.mechanism())
        model, translate = to_pinocchio(plan, tree)
        data = model.createData()
        q, v, _, tau0 = plan.state(tree)
        theirs, P = translate(q)
        pin.computeABADerivatives(model, data, theirs, P @ v, P @ tau0)
        tau = ca.SX.sym("tau", tree.nv)
        by_q, by_v, by_tau = forward_derivatives(tree, tau)
        motions = by_q @ ca.jacobian(tree.qdot, tree.v)
        found = ca.Function("f", [tree.q, tree.v, tau], [motions, by_v, by_tau])(q, v, tau0)
        M = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for ours, expected in zip(found, (data.ddq_dq, data.ddq_dv, M), strict=True):
            assert relative(np.array(ours), P.T @ expected @ P) < TOLERANCE, seed
