"""Equations of motion of whole machines: strut's compiled recursions against Pinocchio and MuJoCo, called from Python.

Every contender gets the same states, one after the other, and the same machine: peers read the URDF that strut writes. strut
evaluates all states in one call to its library; the peers are called once per state, as their users do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from bench.peers import mujoco, optional
from bench.timing import Contender, Effort, Row, Section, measure
from strut import State, System, compiled, simulate_batch
from strut.mechanism import Mechanism, Tree, joints, system, urdf
from strut.walkers.coman import coman_mechanism

pinocchio = optional("pinocchio")
POINTS = 200
PUBLISHED = {5: 2.5, 10: 10.4, 20: 37.8, 50: 405.0}  # [us] of one RK4 step of the original code generator on such a chain
CHAINS = tuple(PUBLISHED)


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


def functions(m: Mechanism) -> dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]]:
    """Ours: q, v and a third vector as rows of states, one row of results each."""
    tree = Tree(m)
    third = ca.SX.sym("third", tree.nv)
    wanted = {"inverse dynamics": tree.inverse(third), "mass matrix": ca.vec(tree.mass_matrix), "forward dynamics": tree.forward(third)}
    found = {}
    for name, expression in wanted.items():
        q, v, a = State("q", np.zeros(tree.nq)), State("v", np.zeros(tree.nv)), State("a", np.zeros(tree.nv))
        bound = ca.substitute([expression], [tree.q, tree.v, third], [q.sym, v.sym, a.sym])[0]
        params = list(m.params.values())
        model = compiled(System("one", x=[q, v, a], p=params, flow={q: 0, v: 0, a: 0}, outputs={"y": bound}))
        p = np.concatenate([param.value for param in params])
        found[name] = lambda Q, V, A, model=model, p=p: model.evaluate("outputs", np.zeros(len(Q)), np.hstack([Q, V, A]), [], [], p)
    return found


def _pinocchio(text: str, names: list[str], Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> dict[str, Callable[[], Any]]:
    if pinocchio is None:
        return {}
    pin = pinocchio
    model = pin.buildModelFromXML(text)
    data = model.createData()
    order = [model.joints[model.getJointId(name)].idx_v for name in names]
    configurations = []
    for row in Q:
        q = np.zeros(model.nq)
        for name, value in zip(names, row, strict=True):
            joint = model.joints[model.getJointId(name)]
            q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        configurations.append(q)
    place = np.argsort(order)
    rows = [(q, v[place], a[place]) for q, v, a in zip(configurations, V, A, strict=True)]
    return {
        "inverse dynamics": lambda: [pin.rnea(model, data, q, v, a)[order] for q, v, a in rows],
        "mass matrix": lambda: [pin.crba(model, data, q) for q, _, _ in rows],
        "forward dynamics": lambda: [pin.aba(model, data, q, v, a)[order] for q, v, a in rows],
    }


def _mujoco(text: str, names: list[str], Q: np.ndarray, V: np.ndarray, A: np.ndarray) -> dict[str, Callable[[], Any]]:
    if mujoco is None:
        return {}
    mj = mujoco
    try:
        model = mj.MjModel.from_xml_string(text)
    except ValueError:  # it refuses bodies without mass, which COMAN's base chain has
        return {}
    data = mj.MjData(model)
    order = [int(model.joint(name).dofadr[0]) for name in names]

    def each(call: Callable[[], Any], into: str, result: str) -> list[np.ndarray]:
        out = []
        for q, v, a in zip(Q, V, A, strict=True):
            data.qpos[order], data.qvel[order] = q, v
            getattr(data, into)[order] = a
            call()
            out.append(getattr(data, result)[order].copy())
        return out

    return {
        "inverse dynamics": lambda: each(lambda: mj.mj_inverse(model, data), "qacc", "qfrc_inverse"),
        "forward dynamics": lambda: each(lambda: mj.mj_forward(model, data), "qfrc_applied", "qacc"),
    }


def _compared(title: str, m: Mechanism, effort: Effort) -> list[Section]:
    names = [n.connection.name for n in Tree(m).nodes]
    rng = np.random.default_rng(0)
    Q, V, A = (rng.uniform(-1, 1, (POINTS, len(names))) for _ in range(3))
    text, ours = urdf.dump(m), functions(m)
    theirs = {"Pinocchio": _pinocchio(text, names, Q, V, A), "MuJoCo": _mujoco(text, names, Q, V, A)}
    sections = []
    for name, f in ours.items():
        mine = f(Q, V, A)
        contenders = [Contender("strut", "compiled", lambda f=f: f(Q, V, A))]
        for peer, calls in theirs.items():
            call = calls.get(name)
            error = None
            if call is not None and name != "mass matrix":
                error = float(np.abs(np.array(call()) - mine).max() / np.abs(mine).max())
            contenders.append(Contender(peer, "" if call else "not installed, or cannot", call, error))
        rows = tuple(Row(r.name, r.setting, r.error, tuple(t / POINTS for t in r.times), r.note) for r in measure(contenders, effort))
        sections.append(Section(f"{title}: {name}, per state", "relative, against strut", rows))
    return sections


def _steps(effort: Effort) -> list[Section]:
    sections = []
    for n, published in PUBLISHED.items():
        machine = system(planar_chain(n)).using({"q0": 0.6})

        def run(machine: System = machine) -> Any:
            return simulate_batch(machine, 0.5, method="rk4", step=1e-3, threads=1)

        measured = measure([Contender("strut", "RK4", run)], effort)[0]
        row = Row("strut", "RK4, per step", None, tuple(t / 500 for t in measured.times))
        quoted = Row("published generator", "RK4, per step", None, (published * 1e-6,), "quoted, another machine", "quoted")
        sections.append(Section(f"planar chain of {n}: simulating", "none", (row, quoted)))
    return sections


def run(effort: Effort) -> list[Section]:
    """Chains of several lengths and COMAN; then steps of the published chain."""
    sections = []
    for n in CHAINS:
        sections += _compared(f"chain of {n}", chain(n), effort)
    return sections + _compared("COMAN, 29 joints", coman_mechanism(), effort) + _steps(effort)
