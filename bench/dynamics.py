"""Equations of motion of whole machines: strut's compiled recursions against Pinocchio and MuJoCo, called
from Python.

Every contender gets the same states, one after the other, and the same machine: peers read the URDF that
strut writes. strut evaluates all states in one call to its library, and in a row of its own one state a call;
the peers are called once per state, as their users do.
"""

from __future__ import annotations

import contextlib
import time as clock
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from bench.compile import fresh_cache
from bench.peers import mujoco, optional
from bench.robots import MISSING, humanoid
from bench.timing import Contender, Effort, Row, Section, measure
from strut import State, System, compile_system, simulate_batch
from strut.mechanism import Mechanism, Tree, joints, system, urdf
from strut.walkers.coman import coman_mechanism

pinocchio = optional("pinocchio")
POINTS = 200
PUBLISHED = {
    5: 2.5,
    10: 10.4,
    20: 37.8,
    30: 106.0,
    40: 217.0,
    50: 405.0,
}  # [us] of one RK4 step of the original code generator on such a chain
CHAINS = tuple(PUBLISHED)
WANTED = ("inverse dynamics", "mass matrix", "forward dynamics")


def chain(n: int) -> Mechanism:
    """Rods of 1 m and 1 kg in a row, hinges about alternating axes, so that nothing is planar."""
    m = Mechanism(f"chain{n}")
    parent = m.world
    for k in range(n):
        rod = m.body(f"rod{k}", 1.0, (0, 0, -0.5), [0.0835, 0.0835, 0.0004])
        m.joint(f"q{k}", parent, rod, joints.revolute("xyz"[k % 3]), at=(0, 0, -1.0 if k else 0.0))
        parent = rod
    return m


def planar_chain(n: int) -> Mechanism:
    """The chain of the published figures: all hinges about y."""
    m = Mechanism(f"planar{n}")
    parent = m.world
    for k in range(n):
        rod = m.body(f"rod{k}", 1.0, (0, 0, -0.5), [0.0835, 0.0835, 0.0004])
        m.joint(f"q{k}", parent, rod, joints.revolute("y"), at=(0, 0, -1.0 if k else 0.0), actuated=False)
        parent = rod
    return m


def functions(m: Mechanism, names: tuple[str, ...] = WANTED) -> dict[str, Ours]:
    """Ours, by name."""
    tree = Tree(m)
    third = ca.SX.sym("third", tree.nv)
    wanted: dict[str, Callable[[], ca.SX]] = {
        "inverse dynamics": lambda: tree.inverse(third),
        "mass matrix": lambda: ca.vec(tree.mass_matrix),
        "forward dynamics": lambda: tree.forward(third),
    }
    return {name: Ours(m, tree, third, wanted[name]()) for name in names}


class Ours:
    """An expression of q, v and a third vector, compiled."""

    def __init__(self, m: Mechanism, tree: Tree, third: ca.SX, expression: ca.SX) -> None:
        q, v, a = State("q", np.zeros(tree.nq)), State("v", np.zeros(tree.nv)), State("a", np.zeros(tree.nv))
        bound = ca.substitute([expression], [tree.q, tree.v, third], [q.sym, v.sym, a.sym])[0]
        params = list(m.params.values())
        self.model = compile_system(
            System("one", x=[q, v, a], p=params, flow={q: 0, v: 0, a: 0}, outputs={"y": bound})
        )
        self.p = np.concatenate([param.value for param in params] or [np.empty(0)])
        self.parts = np.cumsum([tree.nq, tree.nv])

    def at(self, Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> np.ndarray:
        """A row of results for each row of states, in one call."""
        return self.model.evaluate("outputs", np.zeros(len(Q)), np.hstack([Q, V, A]), [], [], self.p)

    def each(self, Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> Callable[[], list[np.ndarray]]:
        """The same by one call for each state."""
        call = self.model.caller("outputs", self.p)
        q_of, v_of, a_of = np.split(call.x, self.parts)
        rows = list(zip(Q, V, A, strict=True))

        def run() -> list[np.ndarray]:
            out = []
            for q, v, a in rows:
                q_of[:], v_of[:], a_of[:] = q, v, a
                out.append(call().copy())
            return out

        return run


def states(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and a third vector, a row each; quaternions have length one."""
    rng = np.random.default_rng(0)
    Q, V, A = (rng.uniform(-1, 1, (POINTS, n)) for n in (tree.nq, tree.nv, tree.nv))
    for node in tree.nodes:
        if node.connection.joint.kind == "free":
            turn = slice(tree.q_of[node.connection.name].start + 3, tree.q_of[node.connection.name].stop)
            Q[:, turn] /= np.linalg.norm(Q[:, turn], axis=1)[:, None]
    return Q, V, A


class Pinocchio:
    """Its model of the same machine, its states, and where its velocities stand in ours."""

    def __init__(self, text: str, tree: Tree, Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> None:
        pin: Any = pinocchio
        self.model = model = pin.buildModelFromXML(text)
        self.data = model.createData()
        self.order = np.zeros(tree.nv, dtype=int)
        configurations = np.zeros((len(Q), model.nq))
        for name, where in tree.v_of.items():
            if where.stop == where.start:
                continue
            joint, ours = model.joints[model.getJointId(name)], Q[:, tree.q_of[name]]
            free = joint.nv == 6
            self.order[where] = joint.idx_v + np.array([3, 4, 5, 0, 1, 2] if free else [0])
            theirs = ours if joint.nq == ours.shape[1] else np.hstack([np.cos(ours), np.sin(ours)])
            configurations[:, joint.idx_q : joint.idx_q + joint.nq] = theirs
        place = np.argsort(self.order)
        self.rows = list(
            zip(
                configurations,
                np.ascontiguousarray(V[:, place]),
                np.ascontiguousarray(A[:, place]),
                strict=True,
            )
        )

    def calls(self) -> dict[str, Callable[[], Any]]:
        pin: Any = pinocchio
        model, data, rows = self.model, self.data, self.rows
        return {
            "inverse dynamics": lambda: [pin.rnea(model, data, q, v, a).copy() for q, v, a in rows],
            "mass matrix": lambda: [pin.crba(model, data, q) for q, _, _ in rows],
            "forward dynamics": lambda: [pin.aba(model, data, q, v, a).copy() for q, v, a in rows],
        }

    def ours(self, name: str, results: np.ndarray) -> np.ndarray:
        """What it found, in the order of our velocities."""
        return results[:, self.order]


class MuJoCo:
    """Its model of the same machine and its states. A free base moves in the world's axes there, so its
    velocities, accelerations and forces are turned, outside of what is timed. Contacts, limits and sensors
    have no part in it."""

    def __init__(self, text: str, tree: Tree, Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> None:
        mj: Any = mujoco
        self.model = model = mj.MjModel.from_xml_string(text)
        model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONSTRAINT
        self.data = mj.MjData(model)
        count = len(Q)
        self.q, self.turn = (
            np.zeros((count, model.nq)),
            np.zeros((count, model.nv, tree.nv)),
        )  # turn: from our velocities to its
        self.extra = np.zeros((count, model.nv))  # of its accelerations: axes that do not turn with the body
        for name, where in tree.v_of.items():
            if where.stop == where.start:
                continue
            at, row, ours = (
                int(model.joint(name).qposadr[0]),
                int(model.joint(name).dofadr[0]),
                Q[:, tree.q_of[name]],
            )
            if where.stop - where.start == 1:
                self.q[:, at], self.turn[:, row, where.start] = ours[:, 0], 1
                continue
            self.q[:, at : at + 7] = ours[:, [0, 1, 2, 6, 3, 4, 5]]
            for k in range(count):
                R = np.zeros(9)
                mj.mju_quat2Mat(R, self.q[k, at + 3 : at + 7])
                self.turn[k, row : row + 3, where.start + 3 : where.stop] = R.reshape(3, 3)
                self.turn[k, row + 3 : row + 6, where.start : where.start + 3] = np.eye(3)
                self.extra[k, row : row + 3] = R.reshape(3, 3) @ np.cross(V[k, where][:3], V[k, where][3:])
        self.v = np.einsum("kij,kj->ki", self.turn, V)
        self.a = np.einsum("kij,kj->ki", self.turn, A) + self.extra
        self.f = np.linalg.solve(self.turn.transpose(0, 2, 1), A[:, :, None])[:, :, 0]

    def calls(self) -> dict[str, Callable[[], Any]]:
        mj: Any = mujoco
        model, data = self.model, self.data

        def matrix() -> None:
            mj.mj_kinematics(model, data)
            mj.mj_comPos(model, data)
            mj.mj_makeM(model, data)

        def each(
            call: Callable[[], Any], given: np.ndarray, into: np.ndarray, result: np.ndarray
        ) -> list[np.ndarray]:
            out = []
            for q, v, a in zip(self.q, self.v, given, strict=True):
                data.qpos[:], data.qvel[:] = q, v
                into[:] = a
                call()
                out.append(result.copy())
            return out

        return {
            "inverse dynamics": lambda: each(
                lambda: mj.mj_inverse(model, data), self.a, data.qacc, data.qfrc_inverse
            ),
            "mass matrix": lambda: each(matrix, self.a, data.qacc, data.M),
            "forward dynamics": lambda: each(
                lambda: mj.mj_forward(model, data), self.f, data.qfrc_applied, data.qacc
            ),
        }

    def ours(self, name: str, results: np.ndarray) -> np.ndarray:
        """What it found, along our velocities."""
        if name == "inverse dynamics":
            return np.einsum("kij,ki->kj", self.turn, results)
        return np.linalg.solve(self.turn, (results - self.extra)[:, :, None])[:, :, 0]


def compare_ways(title: str, m: Mechanism, effort: Effort, text: str | None = None) -> list[Section]:
    """`text` is the machine as URDF; strut writes it unless it was read from one."""
    tree = Tree(m)
    Q, V, A = states(tree)
    text, ours = text or urdf.dump(m), functions(m)
    peers: dict[str, Any] = {
        "Pinocchio": Pinocchio(text, tree, Q, V, A) if pinocchio else None,
        "MuJoCo": None,
    }
    if mujoco:
        with contextlib.suppress(ValueError):  # it refuses bodies without mass, which COMAN's base chain has
            peers["MuJoCo"] = MuJoCo(text, tree, Q, V, A)
    sections = []
    for name, f in ours.items():
        mine = f.at(Q, V, A)
        contenders = [
            Contender("strut", "all states in a call", lambda f=f: f.at(Q, V, A)),
            Contender("strut", "one state a call", f.each(Q, V, A)),
        ]
        for who, peer in peers.items():
            call = peer.calls()[name] if peer else None
            error = None
            if call is not None and name != "mass matrix":
                results = peer.ours(name, np.array(call()))
                error = float(np.abs(results - mine).max() / np.abs(mine).max())
            contenders.append(Contender(who, "" if call else "not installed, or cannot", call, error))
        rows = tuple(
            Row(r.name, r.setting, r.error, tuple(t / POINTS for t in r.times), r.note)
            for r in measure(contenders, effort)
        )
        sections.append(Section(f"{title}: {name}, per state", "relative, against strut", rows))
    return sections


def _humanoid(effort: Effort) -> list[Section]:
    """Where it is installed; with the time to derive and compile forward dynamics, which shall stay below 30
    s."""
    text = humanoid()
    if text is None:
        return [Section("humanoid, 35 velocities", "none", (Row("strut", note=MISSING),))]
    with fresh_cache():
        began = clock.perf_counter()
        functions(urdf.parse(text), ("forward dynamics",))
        seconds = clock.perf_counter() - began
    own_row = Row("strut", "derive, write and compile", None, (seconds,), "asked for: below 30 s")
    sections = compare_ways("humanoid, 35 velocities", urdf.parse(text), effort, text)
    return [*sections, Section("humanoid: getting ready", "none", (own_row,))]


def _steps(effort: Effort) -> list[Section]:
    sections = []
    for n, published in PUBLISHED.items():
        machine = system(planar_chain(n)).using({"q0": 0.6})

        def run(machine: System = machine) -> Any:
            return simulate_batch(machine, 0.5, method="rk4", step=1e-3, threads=1)

        measured = measure([Contender("strut", "RK4", run)], effort)[0]
        row = Row("strut", "RK4, per step", None, tuple(t / 500 for t in measured.times))
        quoted = Row(
            "published generator",
            "RK4, per step",
            None,
            (published * 1e-6,),
            "quoted, another machine",
            "quoted",
        )
        sections.append(Section(f"planar chain of {n}: simulating", "none", (row, quoted)))
    return sections


def run(effort: Effort) -> list[Section]:
    """Chains of several lengths, COMAN and a humanoid; then steps of the published chain."""
    sections = []
    for n in CHAINS:
        sections += compare_ways(f"chain of {n}", chain(n), effort)
    return (
        sections
        + compare_ways("COMAN, 29 joints", coman_mechanism(), effort)
        + _humanoid(effort)
        + _steps(effort)
    )
