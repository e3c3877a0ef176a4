"""Our recursions against Pinocchio and MuJoCo, on random trees."""

import casadi as ca
import numpy as np
import pytest

from strut.mechanism import Tree, observe
from tests.mechanism.random_trees import Plan, to_mujoco, to_pinocchio

TOLERANCE = 1e-9  # relative, asked for; what is reached is about 1e-14
TREES = 200


def relative(ours, theirs):
    return np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())


def evaluate(tree, frame, q, v, a, tau):
    """Everything we compute, in one function."""
    acceleration, force = ca.SX.sym("a", tree.nv), ca.SX.sym("tau", tree.nv)
    J = observe.jacobian(tree, frame)
    names = [
        "M",
        "bias",
        "inverse",
        "articulated",
        "J",
        "J_rate",
        "com",
        "com_jacobian",
        "momentum",
        "momentum_matrix",
        "kinetic",
        "potential",
    ]
    results = [
        tree.mass_matrix,
        tree.bias,
        tree.inverse(acceleration),
        tree.articulated(force),
        J,
        observe.jacobian_rate(tree, J),
        observe.com(tree),
        observe.com_jacobian(tree),
        observe.momentum(tree),
        observe.momentum_matrix(tree),
        observe.kinetic(tree),
        observe.potential(tree),
    ]
    f = ca.Function("all", [tree.q, tree.v, acceleration, force], results)
    return {n: np.array(r) for n, r in zip(names, f(q, v, a, tau), strict=True)}


@pytest.mark.slow  # 200 trees of up to 40 velocities, each derived anew: a minute and a half
def test_against_pinocchio():
    pin = pytest.importorskip("pinocchio")
    flip = [3, 4, 5, 0, 1, 2]  # Pinocchio puts the linear part first
    rng = np.random.default_rng(7)
    worst = 0.0
    for seed in range(TREES):
        plan = Plan(seed, int(rng.integers(4, 41)), base="free" if seed % 3 else "")
        tree = Tree(plan.mechanism())
        model, translate = to_pinocchio(plan, tree)
        data = model.createData()
        q, v, a, tau = plan.state(tree)
        theirs, P = translate(q)
        frame = f"f{len(plan.rows) - 1}"
        ours = evaluate(tree, frame, q, v, a, tau)
        zero = np.zeros(model.nv)
        columns = [pin.rnea(model, data, theirs, zero, e) - pin.rnea(model, data, theirs, zero, zero) for e in np.eye(model.nv)]
        expected = {
            "M": P.T @ np.array(columns) @ P,
            "bias": P.T @ pin.rnea(model, data, theirs, P @ v, zero),
            "inverse": P.T @ pin.rnea(model, data, theirs, P @ v, P @ a),
            "articulated": P.T @ pin.aba(model, data, theirs, P @ v, P @ tau),
        }
        pin.forwardKinematics(model, data, theirs, P @ v, zero)
        pin.computeJointJacobians(model, data, theirs)
        pin.updateFramePlacements(model, data)
        number = model.getFrameId(frame)
        expected["J"] = (pin.getFrameJacobian(model, data, number, pin.ReferenceFrame.LOCAL) @ P)[flip]
        expected["J_rate"] = pin.getFrameAcceleration(model, data, number, pin.ReferenceFrame.LOCAL).vector[flip]
        expected["com"] = pin.centerOfMass(model, data, theirs, P @ v)
        expected["com_jacobian"] = pin.jacobianCenterOfMass(model, data, theirs) @ P
        expected["momentum_matrix"] = (pin.ccrba(model, data, theirs, P @ v) @ P)[flip]
        expected["momentum"] = data.hg.vector[flip]
        expected["kinetic"] = pin.computeKineticEnergy(model, data, theirs, P @ v)
        expected["potential"] = pin.computePotentialEnergy(model, data, theirs)
        for name, value in expected.items():
            error = relative(ours[name].reshape(np.shape(value)), value)
            assert error < TOLERANCE, (seed, name, error)
            worst = max(worst, error)
    assert worst < 1e-11  # far inside what was asked


def test_against_mujoco():
    mujoco = pytest.importorskip("mujoco")
    for seed in range(40):
        plan = Plan(1000 + seed, 4 + seed % 20, kinds=("revolute", "prismatic", "spherical"), base="free" if seed % 2 else "")
        tree = Tree(plan.mechanism())
        model, translate = to_mujoco(plan, tree)
        data = mujoco.MjData(model)
        q, v, _, _ = plan.state(tree)
        theirs, P = translate(q)
        data.qpos[:], data.qvel[:] = theirs, P @ v
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        f = ca.Function("f", [tree.q, tree.v], [tree.mass_matrix, observe.com(tree), tree.articulated(ca.SX.zeros(tree.nv))])
        ours, com, _ = (np.array(r) for r in f(q, v))
        assert relative(ours, P.T @ M @ P) < TOLERANCE, seed
        assert relative(com.reshape(-1), data.subtree_com[0]) < TOLERANCE, seed
        if plan.rows[0]["kind"] != "free":  # its velocities are in other axes: accelerations differ by a product of velocities
            free_fall = np.array(f(q, v)[2]).reshape(-1)
            assert relative(free_fall, P.T @ data.qacc) < 1e-8, seed
