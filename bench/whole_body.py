"""Whole-body control at 1 kHz: the planar humanoid of seven joints, and COMAN in space, each standing for one
second of machine, model and quadratic program together; and a sample of COMAN's controller alone, against a
loop in Python of Pinocchio's terms and the same solver, as people write it.

The loop in Python does less than one of strut: it has no machine to move, and no memory or record.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from bench.dynamics import pinocchio
from bench.timing import Contender, Effort, Section, measure
from strut import System, contact, control, mechanism, time, walkers
from strut.codegen import QpSolver, address
from strut.mechanism import Mechanism, urdf

STEP, T = 1e-3, 1.0  # [s]
FEET = tuple(f"{side}_sole{k}" for side in "rl" for k in (1, 2, 3, 4))
BEND = 0.4  # [rad] of the hips, half of that of the knees
POSTURE = {
    f"{side}_{joint}": angle
    for side in "rl"
    for joint, angle in (("hip_sag", -BEND), ("knee_sag", 2 * BEND), ("ankle_sag", -BEND))
}
FRICTION, MAX_FORCE, MAX_TORQUE = 0.5, 400.0, 60.0
HOLD = 30.0  # [1/s] with which what moves of a foot is stopped


def humanoid() -> tuple[control.QpController, System]:
    """The planar humanoid of van de Rijt, which stands, and its machine in steps of a millisecond."""
    m = walkers.rijt_mechanism()
    body = control.BodyModel(m)
    x, _, z = body.at(body.com)
    angle = float(np.arctan2(*[body.at(body.rotation("torso"))[0, k] for k in (2, 0)]))
    feet = ("foot_r", "foot_l")
    tasks: list[Any] = [
        control.CentreOfMassTask(target=[x, z], stiffness=25.0, weight=10.0),
        control.OrientationTask(frame="torso", target=angle, weight=1e2),
    ]
    contacts = [control.PointContact(frame=foot, friction=0.6, max_force=1000.0) for foot in feet]
    controller = control.whole_body(body, every=STEP, tasks=tasks, contacts=contacts, torque_limit=220.0)
    return controller, walkers.rijt()


def coman(depth: float = 0.0) -> tuple[control.QpController, System, dict[str, float], Mechanism]:
    """COMAN in space with ideal torques, which stands and squats by `depth` [m] twice in 4 s; its machine
    on hard ground in steps of a millisecond, and where it begins."""
    m = walkers.coman_mechanism()
    m.push("waist")
    body = control.BodyModel(m)
    q = np.array([POSTURE.get(s.name, 0.0) for s in body.positions])
    q[2] = -body.at(body.position("r_sole0"), q)[2]
    x, _, z = body.at(body.com, q)
    upright = ca.DM.eye(3)
    height = z - depth * (1 - ca.cos(2 * np.pi * 0.5 * time)) / 2
    joints = {s.name: POSTURE.get(s.name, 0.0) for s in body.positions[6:]}
    tasks: list[Any] = [
        control.CentreOfMassTask(target=[x, 0.0, height], stiffness=100.0, weight=100.0),
        control.OrientationTask(frame="waist", target=upright, stiffness=100.0, weight=10.0),
        control.PostureTask(target=joints, stiffness=50.0, weight=0.1),
    ]
    for foot in ("r_foot", "l_foot"):
        still = {"frame": foot, "stiffness": 0.0, "damping": HOLD, "hard": True}
        tasks += [
            control.FrameTask(target=[0.0] * 3, **still),
            control.OrientationTask(target=upright, **still),
        ]
    contacts = [
        control.PointContact(frame=foot, friction=FRICTION, max_force=MAX_FORCE, motion=None, active=1.0)
        for foot in FEET
    ]
    controller = control.whole_body(
        body,
        every=STEP,
        tasks=tasks,
        contacts=contacts,
        torque_limit=MAX_TORQUE,
        acceleration_weight=1e-3,
        force_weight=1e-5,
        name="coman_stands",
    )
    begin = {**POSTURE, "z": float(q[2])}
    return controller, contact.time_stepped(m, FEET, friction=0.7), begin, m


def _loop(
    controller: control.QpController, machine: System, **how: Any
) -> Callable[[], control.ControlledRun]:
    return lambda: controller.run(machine, T, ledger=False, method="euler", step=STEP, **how)


def _sample(controller: control.QpController, machine: System, x0: dict[str, float]) -> tuple[Any, Any]:
    """A function that does one compiled sample, and its loop."""
    loop = controller.loop(machine, x0=x0)
    sensors = np.array([x0.get(each.name, 0.0) for each in controller.sensors])
    at, sample = ctypes.addressof(loop.state), controller.native.sample
    return (lambda: sample(at, 0.0, address(sensors))), loop


class PinocchioLoop:
    """A sample of COMAN's controller as it is written in Python: terms of Pinocchio, rows in NumPy, the
    solver."""

    def __init__(self, controller: control.QpController, m: Mechanism, x0: dict[str, float]) -> None:
        pin: Any = pinocchio
        self.model = model = pin.buildModelFromXML(urdf.dump(m))
        self.names = [each.name for each in controller.sensors[: model.nv]]
        self.order = [model.joints[model.getJointId(name)].idx_v for name in self.names]
        self.q, self.v, self.angles = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        for name in self.names:
            joint, value = model.joints[model.getJointId(name)], x0.get(name, 0.0)
            self.angles[joint.idx_v] = value
            self.q[joint.idx_q : joint.idx_q + joint.nq] = (
                [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
            )
        for name in FEET:
            foot = model.getFrameId(f"{name[0]}_foot")
            at = mechanism.observe.frame_of(mechanism.Tree(m), name).X_BF.p
            place = pin.SE3(np.eye(3), np.array(ca.DM(at)).reshape(-1))
            base = model.frames[foot]
            model.addFrame(pin.Frame(name, base.parentJoint, base.placement * place, pin.FrameType.OP_FRAME))
        self.data = model.createData()
        n, nv = model.nv + 24, model.nv
        self.n, self.nv = n, nv
        self.frames = {f: model.getFrameId(f) for f in (*FEET, "waist", "r_foot", "l_foot")}
        shape = controller.functions.shape
        self.solver = QpSolver(type(shape)(n, (1,) * 29, (0,) * (n + 6 + 12 + 40 + 23)))
        pin.centerOfMass(model, self.data, self.q)
        self.target = self.data.com[0] * [1.0, 0.0, 1.0]  # in the middle, though it begins a hair beside
        self.posture = self.angles[6:].copy()

    def __call__(self) -> np.ndarray:
        pin: Any = pinocchio
        model, data, q, v, nv, n = self.model, self.data, self.q, self.v, self.nv, self.n
        pin.forwardKinematics(model, data, q, v, 0 * v)
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        M = pin.crba(model, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        h = pin.nonLinearEffects(model, data, q, v).copy()
        pin.centerOfMass(model, data, q, v, 0 * v)
        J_com = pin.jacobianCenterOfMass(model, data, q)
        drift_com = data.acom[0]
        world = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

        def jacobian(name: str) -> tuple[np.ndarray, np.ndarray]:
            J = pin.getFrameJacobian(model, data, self.frames[name], world)
            return J, pin.getFrameClassicalAcceleration(model, data, self.frames[name], world).vector

        def rows(block: np.ndarray) -> np.ndarray:
            return np.hstack([block, np.zeros((len(block), n - nv))])

        J_waist, drift_waist = jacobian("waist")
        turn = -data.oMf[self.frames["waist"]].rotation.T
        error = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
        velocity = J_com @ v
        T_rows = np.vstack([rows(J_com), rows(J_waist[3:]), rows(np.eye(nv)[6:])])
        target = np.concatenate(
            [
                100.0 * (self.target - data.com[0]) - 20.0 * velocity - drift_com,
                -100.0 * error - 20.0 * J_waist[3:] @ v - drift_waist[3:],
                50.0 * (self.posture - self.angles[6:]) - 2 * np.sqrt(50.0) * v[6:],
            ]
        )
        w = np.concatenate([np.full(3, 100.0), np.full(3, 10.0), np.full(23, 0.1)])
        J_points = np.vstack([jacobian(name)[0][:3] for name in FEET])
        held = [jacobian(name) for name in ("r_foot", "l_foot")]
        equations = np.vstack([np.hstack([M[:6], -J_points.T[:6]]), *[rows(J) for J, _ in held]])
        values = np.concatenate([-h[:6], *[-drift - HOLD * (J @ v) for J, drift in held]])
        side = FRICTION / np.sqrt(2)
        cone = np.array([[0, 0, -1], [1, 0, -side], [-1, 0, -side], [0, 1, -side], [0, -1, -side]])
        cones = np.hstack([np.zeros((40, nv)), np.kron(np.eye(8), cone)])
        torques = np.hstack([M[6:], -J_points.T[6:]])
        A = np.vstack([equations, cones, torques])
        many, free = np.full(nv, 1000.0), np.full(6, np.inf)
        bound = np.concatenate([free, many[6:], np.full(24, MAX_FORCE)])
        low = np.concatenate([-bound, values, np.full(40, -np.inf), -MAX_TORQUE - h[6:]])
        up = np.concatenate([bound, values, np.zeros(40), MAX_TORQUE - h[6:]])
        H = np.diag(np.concatenate([np.full(nv, 1e-3), np.full(24, 1e-5)]))
        y, report = self.solver.solve(H, np.zeros(n), T_rows, target, w, A, low, up)
        assert report.status == 0
        return torques @ y + h[6:]


def run(effort: Effort) -> list[Section]:
    planar, planar_machine = humanoid()
    big, big_machine, x0, m = coman()
    loops = [
        (f"{machine.name}", controller, _loop(controller, machine, **how))
        for controller, machine, how in ((planar, planar_machine, {}), (big, big_machine, {"x0": x0}))
    ]
    sections = []
    for title, controller, call in loops:
        done = call()
        assert done.ok, done.faults
        name = (
            f"1 s of {title} under whole-body control at 1 kHz, {len(controller.functions.shape.ranks)} rows"
        )
        rows = measure([Contender("strut", "machine, model and program", call, done.kkt)], effort)
        best = rows[0].best or np.nan
        sections.append(Section(name, "largest residual", rows, f"{T / best:.0f} times real time"))
    sample, loop = _sample(big, big_machine, x0)
    sample()
    contenders = [Contender("strut", "compiled", sample, 0.0), Contender("Pinocchio and daqp, in Python")]
    if pinocchio:
        peer = PinocchioLoop(big, m, x0)
        torque = dict(zip(peer.names[6:], peer()[np.array(peer.order[6:]) - 6], strict=True))
        ours = dict(zip(big.command, loop.u, strict=False))
        gap = max(abs(ours[f"{name}_torque"] - value) for name, value in torque.items())
        contenders[1] = Contender("Pinocchio and daqp", "a loop in Python", peer, gap)
    rows = measure(contenders, effort)
    sections.append(Section("a sample of COMAN's controller", "difference of torques [N m]", rows))
    return sections
