"""Generalised forces of a mechanism: inputs, springs, dampers and stops of joints, and its other forces, with
their energies."""

from __future__ import annotations

import casadi as ca

from strut.checks import checked
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.parts import Connection
from strut.mechanism.states import velocity_names
from strut.mechanism.tree import Tree
from strut.system import Input, sx


def forces_of(
    tree: Tree, inputs: dict[int, Input], params: ParameterSet | None = None
) -> tuple[ca.SX, dict[str, dict[str, ca.SX]]]:
    """Sum the generalised forces along the velocities, and list what each stores, supplies and dissipates.
    The parameters of forces that belong to no joint are added to `params`."""
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
    total = ca.vertcat(*tau, ca.SX(0, 1))
    for force in tree.mechanism.forces.values():
        effect = force.effect(tree)
        if params is not None:
            params.add(effect.tau, effect.stored, effect.dissipated)
        total = total + effect.tau
        for group, suffix, value in (
            ("stored", "", effect.stored),
            ("dissipated", "_loss", effect.dissipated),
        ):
            if not value.is_zero():
                entries[group][f"{force.name}{suffix}"] = value
    return total, entries


@checked
def passive_forces(tree: Tree) -> ca.SX:
    """The generalised forces of springs, dampers, stops and other forces of a mechanism, without inputs."""
    return forces_of(tree, {})[0]


def _stop(c: Connection, q: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Push, stored energy and dissipation of a soft stop. Its damper grows with the penetration, so the push
    is continuous, and it never pulls."""
    assert c.stop is not None
    low, high, k, d = (sx(e) for e in (c.stop.low, c.stop.high, c.stop.stiffness, c.stop.damping))
    under, over = ca.fmax(low - q, 0), ca.fmax(q - high, 0)
    elastic = k * (under - over)
    depth = under + over
    damped = -d * depth * v
    total = ca.if_else(under > 0, ca.fmax(elastic + damped, 0), ca.fmin(elastic + damped, 0))
    return total, k * depth**2 / 2, (elastic - total) * v
