"""Whether a robot that strut has read moves as its peer's does: mass matrix, bias forces, gravity, passive
forces and centre of mass at random configurations and velocities, relative to the largest number of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.mechanism import Mechanism, Tree, observe
from strut.mechanism.generalised_forces import forces_of
from strut.mechanism.io.names import name_of

AGREED = 1e-9
"""Relative difference up to which two machines are the same."""
TRIALS = 2
NEARBY = 1e-3
"""[m] Centres of mass nearer to the origin are compared as if they were this far away."""


def worst_against_mujoco(m: Mechanism, path: Path) -> tuple[str, float]:
    """The quantity that differs most from MuJoCo's, and by how much."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT) | int(
        mujoco.mjtDisableBit.mjDSBL_CONTACT
    )
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    data = mujoco.MjData(model)
    tree = Tree(m)
    if tree.nv != model.nv:
        return f"{tree.nv} velocities instead of {model.nv}", np.inf
    ours, worst = _ours(tree, passive=True), ("nothing", 0.0)
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        q, v = _random(tree, rng)
        theirs, P, turning = _as_mujoco(tree, model, q, v)
        M = np.zeros((model.nv, model.nv))
        data.qpos[:], data.qvel[:] = theirs, 0
        mujoco.mj_forward(model, data)
        gravity = P.T @ data.qfrc_bias
        data.qvel[:] = P @ v
        mujoco.mj_forward(model, data)
        mujoco.mj_fullM(model, data, M)
        expected = {
            "mass matrix": P.T @ M @ P,
            "bias": P.T @ (data.qfrc_bias + M @ turning),
            "gravity": gravity,
            "passive": P.T @ data.qfrc_passive,
            "centre of mass": data.subtree_com[0] if model.body_mass.sum() else np.zeros(3),
        }
        worst = max(worst, _worst(ours(q, v), expected), key=lambda pair: pair[1])
    return worst


def worst_against_pinocchio(m: Mechanism, path: Path) -> tuple[str, float]:
    """The quantity that differs most from Pinocchio's, and by how much. It lets joints with <mimic> move
    freely: here they follow."""
    import pinocchio as pin

    root = (pin.JointModelFreeFlyer(),) if "base" in m.connections else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    data = model.createData()
    tree = Tree(m)
    ours, worst = _ours(tree, passive=False), ("nothing", 0.0)
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        q, v = _random(tree, rng)
        theirs, P = _as_pinocchio(tree, model, q)
        M = pin.crba(model, data, theirs)
        M = np.triu(M) + np.triu(M, 1).T
        expected = {
            "mass matrix": P.T @ M @ P,
            "bias": P.T @ pin.nonLinearEffects(model, data, theirs, P @ v),
            "gravity": P.T @ pin.computeGeneralizedGravity(model, data, theirs),
            "centre of mass": _centre(pin, model, data, theirs),
        }
        worst = max(worst, _worst(ours(q, v), expected), key=lambda pair: pair[1])
    return worst


def _centre(pin: Any, model: Any, data: Any, q: np.ndarray) -> np.ndarray:
    """Pinocchio's, with what is fixed to the world counted too."""
    moving, fixed = pin.centerOfMass(model, data, q), model.inertias[0]
    total = data.mass[0] + fixed.mass
    return (data.mass[0] * moving + fixed.mass * fixed.lever) / total if total else np.zeros(3)


def _worst(ours: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> tuple[str, float]:
    worst = [("nothing", 0.0)]
    for name, theirs in expected.items():
        difference = np.abs(ours[name].reshape(theirs.shape) - theirs).max(initial=0.0)
        like = (
            (theirs, expected["gravity"], expected["mass matrix"]) if name == "bias" else (theirs,)
        )  # at velocities of about one
        scale = max(np.abs(e).max(initial=0.0) for e in like)
        least = NEARBY if name == "centre of mass" else 1e-9
        worst.append((name, float(difference / max(scale, least))))
    return max(worst, key=lambda pair: pair[1])


def _ours(tree: Tree, passive: bool) -> Any:
    """Our quantities as a function of q and v, for the parameters' own values."""
    m = tree.mechanism
    still = ca.substitute([tree.bias], [tree.v], [ca.SX.zeros(tree.nv)])[0]
    push = forces_of(tree, {})[0] if passive else ca.SX.zeros(tree.nv)
    aside = (
        m.forces["gravity_aside"].effect(tree).tau if "gravity_aside" in m.forces else ca.SX.zeros(tree.nv)
    )
    centre = observe.com(tree) if _moves_mass(tree) else ca.SX.zeros(3)
    params = list(m.params.values())
    symbols = ca.vertcat(*[p.sym for p in params], ca.SX(0, 1))
    values = np.concatenate([p.value for p in params] or [np.empty(0)])
    names = ("mass matrix", "bias", "gravity", "passive", "centre of mass")
    f = ca.Function(
        "f",
        [tree.q, tree.v, symbols],
        [ca.densify(e) for e in (tree.mass_matrix, tree.bias - aside, still - aside, push - aside, centre)],
    )
    return lambda q, v: dict(zip(names, (np.array(r) for r in f(q, v, values)), strict=True))


def _moves_mass(tree: Tree) -> bool:
    return any(not node.inertia.mass.is_zero() for node in tree.nodes)


def _random(tree: Tree, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    q = rng.uniform(-1, 1, tree.nq)
    for node in tree.nodes:
        if node.connection.joint.kind in ("free", "spherical"):
            where = tree.q_of[node.connection.name]
            q[where.stop - 4 : where.stop] /= np.linalg.norm(q[where.stop - 4 : where.stop])
    return q, rng.standard_normal(tree.nv)


def _as_mujoco(
    tree: Tree, model: Any, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Our q as MuJoCo's, the matrix P from our velocities to its, and the rate of P times v: its free joints
    move in the world's axes. Joints are in the same order in both."""
    theirs, P, turning = np.zeros(model.nq), np.zeros((model.nv, model.nv)), np.zeros(model.nv)
    moving = [c for c in tree.mechanism.connections.values() if c.joint.nv]
    for number, c in enumerate(moving):
        mine, where = q[tree.q_of[c.name]], tree.v_of[c.name]
        at, row = int(model.jnt_qposadr[number]), int(model.jnt_dofadr[number])
        if c.joint.kind == "free":
            theirs[at : at + 7] = [*mine[:3], mine[6], *mine[3:6]]
            R = np.array(ca.DM(c.joint.pose(ca.SX(mine)).R))
            P[row : row + 3, where.start + 3 : where.stop] = R
            P[row + 3 : row + 6, where.start : where.start + 3] = np.eye(3)
            turning[row : row + 3] = R @ np.cross(
                v[where.start : where.start + 3], v[where.start + 3 : where.stop]
            )
            continue
        theirs[at : at + c.joint.nq] = [mine[3], *mine[:3]] if c.joint.kind == "spherical" else mine
        P[row : row + c.joint.nv, where] = np.eye(c.joint.nv)
    return theirs, P, turning


def _as_pinocchio(tree: Tree, model: Any, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Our q as Pinocchio's and the matrix from our velocities to its: continuous joints are points on a
    circle there."""
    import pinocchio as pin

    theirs, P = pin.neutral(model), np.zeros((model.nv, tree.nv))
    places = {name_of(name): k for k, name in enumerate(model.names)}
    for node in tree.nodes:
        c = node.connection
        if not c.joint.nv:
            continue
        joint = model.joints[
            places["root_joint"] if c.name == "base" and "root_joint" in places else places[c.name]
        ]
        if c.joint.kind == "free":
            theirs[joint.idx_q : joint.idx_q + 7] = q[tree.q_of[c.name]]
            P[joint.idx_v : joint.idx_v + 6, tree.v_of[c.name]] = np.roll(np.eye(6), 3, axis=1)
            continue
        if c.joint.nv != 1:
            raise NotImplementedError(
                f"joint '{c.name}' is {c.joint.kind}: its coordinates are not translated"
            )
        leader, ratio, offset = c.joint.gear or (c.name, 1.0, 0.0)
        angle = float(ratio) * q[tree.q_of[leader].start] + float(offset)
        theirs[joint.idx_q : joint.idx_q + joint.nq] = (
            [angle] if joint.nq == 1 else [np.cos(angle), np.sin(angle)]
        )
        P[joint.idx_v, tree.v_of[leader].start] = float(ratio)
    return theirs, P
