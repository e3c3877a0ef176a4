"""A mechanism as a `System`: coordinates and velocities as states, torques as inputs, the energy account filled."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.closure import Constrained, all_rows, closed
from strut.mechanism.constraints import Rows
from strut.mechanism.mechanism import Connection, Mechanism
from strut.mechanism.tree import Tree
from strut.system.event import Sample
from strut.system.ledger import Ledger
from strut.system.quantity import Expression, Input, State, sx
from strut.system.system import System


def coordinate_names(c: Connection) -> list[str]:
    """Of the states of a joint: 'hip', or 'base.x', 'base.z', ..."""
    return [c.name if not suffix else f"{c.name}.{suffix}" for suffix in c.joint.coordinates]


def velocity_names(c: Connection) -> list[str]:
    return [f"{c.name}_rate" if not suffix else f"{c.name}.{suffix}" for suffix in c.joint.velocities]


def _rate_units(c: Connection) -> tuple[str, ...]:
    if c.joint.rate_units:
        return c.joint.rate_units
    return tuple(f"{unit}/s" if unit else "1/s" for unit in c.joint.units)


def system(mechanism: Mechanism, description: str = "", stabilise: Expression = 30.0, project: Expression | None = None) -> System:
    """The mechanism as a system.

    States are the joints' coordinates and velocities; every actuated joint has an input NAME_torque (or NAME_force), a
    push along its velocities. Outputs are the positions of all frames and of the centre of mass, and the forces of
    constraints. The ledger holds kinetic energy, gravity, every spring, damper and actuator.

    With constraints the initial state is moved onto them. Drift is pulled back with the rate `stabilise` [1/s], and for
    long runs removed every `project` seconds by projection.
    """
    tree = Tree(mechanism)
    _check_movable(tree)
    mechanism.note_params(stabilise, 0 if project is None else project)
    positions, velocities, inputs = quantities_of(tree)
    tau, entries = forces_of(tree, inputs)
    samples: dict[str, ca.SX] = {}
    outputs = _places(tree)
    if mechanism.constraints:
        positions, velocities, closure = _closed(tree, positions, velocities)
        constrained = Constrained(tree, closure, sx(stabilise))
        acceleration, force = constrained.forward(tau)
        outputs |= {label: force[k] for k, label in enumerate(closure.labels)}
        outputs["closure_error"] = ca.norm_2(closure.phi)
        driven = {f"{label}_drive": force[k] * closure.k0[k] for k, label in enumerate(closure.labels) if not closure.k0[k].is_zero()}
        entries["supplied"] |= driven
        if project is not None:
            q_new, v_new = constrained.projected()
            samples = {s.name: q_new[k] for k, s in enumerate(positions)} | {s.name: v_new[k] for k, s in enumerate(velocities)}
    else:
        acceleration = tree.forward(tau)
    stored = {"kinetic": observe.kinetic(tree), "gravity": observe.potential(tree), **entries["stored"]}
    q, v = ca.vertcat(*[s.sym for s in positions], ca.SX(0, 1)), ca.vertcat(*[s.sym for s in velocities], ca.SX(0, 1))

    def bound(expressions: dict[str, ca.SX]) -> dict[str, ca.SX]:
        if not expressions:
            return {}
        values = ca.substitute(list(expressions.values()), [tree.q, tree.v], [q, v])
        return dict(zip(expressions, values, strict=True))

    rates = bound({"q": tree.qdot, "v": acceleration})
    flow: dict[str, Any] = {s.name: rates["q"][k] for k, s in enumerate(positions)}
    flow |= {s.name: rates["v"][k] for k, s in enumerate(velocities)}
    return System(
        mechanism.name,
        x=(*positions, *velocities),
        u=tuple(inputs.values()),
        p=tuple(mechanism.params.values()),
        flow=flow,
        samples=(Sample("projection", every=project, set=bound(samples)),) if samples else (),
        outputs=bound(outputs),
        ledger=Ledger(bound(stored), bound(entries["supplied"]), bound(entries["dissipated"])),
        description=description or f"mechanism of {len(tree.nodes)} bodies",
    )


def _places(tree: Tree) -> dict[str, ca.SX]:
    """Positions of frames and of the centre of mass; in a plane without y."""
    axes = {"x": 0, "z": 2} if tree.mechanism.planar else {"x": 0, "y": 1, "z": 2}
    places = {name: observe.position(tree, name) for name in tree.mechanism.frames} | {"com": observe.com(tree)}
    return {f"{name}_{axis}": p[k] for name, p in places.items() for axis, k in axes.items()}


def _closed(tree: Tree, positions: list[State], velocities: list[State]) -> tuple[list[State], list[State], Rows]:
    """States that satisfy the constraints for the parameters' own values, and the rows that are independent."""
    rows = all_rows(tree)
    tree.mechanism.note_params(rows.phi, rows.K, rows.k0)
    params = list(tree.mechanism.params.values())
    symbols, values = ca.vertcat(*[p.sym for p in params], ca.SX(0, 1)), np.concatenate([p.value for p in params] or [np.empty(0)])
    start = ca.Function("start", [symbols], [ca.vertcat(*[sx(s.value) for s in (*positions, *velocities)])])
    numbers = np.array(start(values)).reshape(-1)
    closure, q, v = closed(tree, rows, numbers[: tree.nq], numbers[tree.nq :], values, symbols)
    moved = [State(s.name, float(value), s.unit) for s, value in zip((*positions, *velocities), (*q, *v), strict=True)]
    return moved[: tree.nq], moved[tree.nq :], closure


def quantities_of(tree: Tree) -> tuple[list[State], list[State], dict[int, Input]]:
    positions, velocities, inputs = [], [], {}
    for node in tree.nodes:
        c = node.connection
        if c.joint.gear:
            continue
        for name, value, unit in zip(coordinate_names(c), c.initial, c.joint.units, strict=True):
            positions.append(State(name, value, unit))
        for name, value, unit in zip(velocity_names(c), c.initial_rate, _rate_units(c), strict=True):
            velocities.append(State(name, value, unit))
        if c.actuated and c.joint.kind != "free":
            for k, (name, unit) in enumerate(zip(velocity_names(c), _rate_units(c), strict=True)):
                push, force_unit = ("torque", "N m") if unit == "rad/s" else ("force", "N")
                base = c.name if c.joint.nv == 1 else name
                inputs[tree.v_of[c.name].start + k] = Input(f"{base}_{push}", 0.0, force_unit)
    return positions, velocities, inputs


def forces_of(tree: Tree, inputs: dict[int, Input]) -> tuple[ca.SX, dict[str, dict[str, ca.SX]]]:
    """Generalised forces along the velocities, and what they mean for the energy."""
    tau = [inputs[k].sym if k in inputs else ca.SX(0) for k in range(tree.nv)]
    entries: dict[str, dict[str, ca.SX]] = {"stored": {}, "supplied": {}, "dissipated": {}}
    for k, source in inputs.items():
        entries["supplied"][source.name] = source.sym * tree.v[k]
    for node in tree.nodes:
        c = node.connection
        for k, column in enumerate(node.columns):
            q = node.q[k] if c.joint.nq == c.joint.nv else None
            v = node.v[k]
            ratio = sx(c.joint.gear[1]) if c.joint.gear else ca.SX(1)
            label = c.name if c.joint.nv == 1 else velocity_names(c)[k]
            if c.spring is not None and q is not None:
                stretch = q - (c.rest if c.rest is not None else 0)
                tau[column] = tau[column] - ratio * c.spring * stretch
                entries["stored"][f"{label}_spring"] = c.spring * stretch**2 / 2
            if c.damping is not None:
                tau[column] = tau[column] - ratio * c.damping * v
                entries["dissipated"][f"{label}_damper"] = c.damping * v**2
            if c.stop is not None and q is not None:
                push, stored, lost = _stop(c, q, v)
                tau[column] = tau[column] + ratio * push
                entries["stored"][f"{label}_stop"] = stored
                entries["dissipated"][f"{label}_stop_damper"] = lost
    return ca.vertcat(*tau, ca.SX(0, 1)), entries


def _stop(c: Connection, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Push, stored energy and dissipation of a soft stop. Its damper grows with the penetration, so the push is
    continuous, and it never pulls."""
    assert c.stop is not None
    low, high, k, d = (sx(e) for e in (c.stop.low, c.stop.high, c.stop.stiffness, c.stop.damping))
    under, over = ca.fmax(low - q, 0), ca.fmax(q - high, 0)
    elastic = k * (under - over)
    depth = under + over
    damped = -d * depth * v
    total = ca.if_else(under > 0, ca.fmax(elastic + damped, 0), ca.fmin(elastic + damped, 0))
    return total, k * depth**2 / 2, (elastic - total) * v


def _check_movable(tree: Tree) -> None:
    """A velocity that moves no inertia makes the mass matrix singular: name the body."""
    carried = [node.inertia.mass.is_zero() and node.connection.child.about_com.is_zero() for node in tree.nodes]
    for k in reversed(range(len(tree.nodes))):
        node = tree.nodes[k]
        if node.columns and carried[k] and node.connection.armature is None:
            raise ModelError(
                f"body '{node.name}' has no mass and carries none, but joint '{node.connection.name}' can move it: "
                "give it a mass, or a fixed joint, or the joint an armature"
            )
        if node.parent >= 0:
            carried[node.parent] = carried[node.parent] and carried[k]
