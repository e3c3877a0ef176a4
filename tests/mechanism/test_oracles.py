"""Our recursions against Pinocchio and MuJoCo, on random trees."""

import casadi as ca
import numpy as np
import pytest

from strut.mechanism import Tree, observe
from tests.mechanism.random_trees import IN_MUJOCO, KINDS, Plan, to_mujoco, to_pinocchio

TOLERANCE = 1e-9  # relative, asked for; what is reached is about 1e-14
TREES, PARTS = 200, 4


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
        tree.articulated_body_algorithm(force),
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


def relative_errors(ours, expected):
    return {name: relative(ours[name].reshape(np.shape(value)), value) for name, value in expected.items()}


def by_pinocchio(plan, tree, frame, q, v, a, tau):
    import pinocchio as pin

    flip = [3, 4, 5, 0, 1, 2]  # Pinocchio puts the linear part first
    model, translate = to_pinocchio(plan, tree)
    data = model.createData()
    theirs, P = translate(q)
    zero = np.zeros(model.nv)
    columns = [
        pin.rnea(model, data, theirs, zero, e) - pin.rnea(model, data, theirs, zero, zero)
        for e in np.eye(model.nv)
    ]
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
    return expected


def by_mujoco(plan, tree, q, v, tau):
    import mujoco

    model, translate = to_mujoco(plan, tree)
    data = mujoco.MjData(model)
    theirs, P, turning = translate(q)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = theirs, P @ v, P @ tau
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return {
        "M": P.T @ M @ P,
        "bias": P.T @ (data.qfrc_bias + M @ turning(v)),
        "articulated": P.T @ (data.qacc - turning(v)),
        "com": data.subtree_com[0],
    }


# 200 trees of up to 40 velocities, each derived anew: a minute and a half in all
@pytest.mark.parametrize("part", range(PARTS))
def test_against_pinocchio_and_mujoco(part):
    """Every joint; every second tree has only those that MuJoCo can be told of too."""
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    for seed in range(part, TREES, PARTS):
        shared = (seed // PARTS) % 2 == 0
        size = int(np.random.default_rng(seed).integers(4, 41))
        plan = Plan(seed, size, kinds=IN_MUJOCO if shared else KINDS, base="free" if seed % 3 else "")
        tree = Tree(plan.mechanism())
        q, v, a, tau = plan.state(tree)
        frame = f"f{len(plan.rows) - 1}"
        ours = evaluate(tree, frame, q, v, a, tau)
        errors = {
            f"{name}, Pinocchio": e
            for name, e in relative_errors(ours, by_pinocchio(plan, tree, frame, q, v, a, tau)).items()
        }
        if shared:
            errors |= {
                f"{name}, MuJoCo": e
                for name, e in relative_errors(ours, by_mujoco(plan, tree, q, v, tau)).items()
            }
        worst = max(errors, key=errors.__getitem__)
        assert errors[worst] < TOLERANCE, (seed, worst, errors[worst])
