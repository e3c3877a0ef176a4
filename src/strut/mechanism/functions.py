"""The dynamics and kinematics of a mechanism as functions of plain vectors, to be exported or called."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import STABILISE, Constrained
from strut.mechanism.generalised_forces import forces_of
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.states import push_names
from strut.mechanism.tree import Tree
from strut.system import (
    Entry,
    Expression,
    Port,
    PortedFunction,
    make_ported_function,
    port,
    rate_unit,
    sx,
    time,
)

TWIST = "rows: angular velocity x, y, z, then velocity x, y, z of the origin, along the world's axes"


@checked
def functions(
    mechanism: Mechanism, frames: Iterable[str] | None = None, stabilise: Expression = STABILISE
) -> dict[str, PortedFunction]:
    """Functions of coordinates q, velocities v and parameters p, by name.

    forward_dynamics(q, v, tau, p): accelerations a = v' under generalised forces tau.
    inverse_dynamics(q, v, a, p): the tau that gives these accelerations.
    mass_matrix(q, p), bias(q, v, p): M a + bias = tau.
    position_FRAME(q, p), jacobian_FRAME(q, p) for each of `frames` (all unless given), and com_position,
    com_jacobian.

    Springs, dampers and stops of joints act beside tau: they are part of the bias. With constraints
    forward_dynamics also returns the forces along their independent rows, M a + bias = tau + K' force with K
    = constraint_jacobian(q, p), and pulls drift back with the rate `stabilise` [1/s]; inverse_dynamics,
    mass_matrix and bias are those of the tree alone. Where a constraint moves with time, time is the first
    argument of what depends on it.
    """
    mechanism.note_params(stabilise)
    made = Assembly(mechanism)
    tree, closure, positions, velocities = made.tree, made.closure, made.positions, made.velocities
    if not tree.nv:
        raise ModelError(
            f"mechanism '{mechanism.name}' cannot move, so it has no dynamics: give it a joint that is not "
            f"fixed"
        )
    params = list(mechanism.params.values())
    acceleration, tau = ca.SX.sym("a", tree.nv), ca.SX.sym("tau", tree.nv)
    q = (port("q", "coordinates", positions), tree.q)
    v = (port("v", "velocities", velocities), tree.v)
    a = (
        Port("a", "accelerations", tuple(Entry(f"{s.name}'", rate_unit(s.unit)) for s in velocities)),
        acceleration,
    )
    push = (Port("tau", "generalised forces", _push_entries(tree)), tau)
    p = (
        port("p", "parameters", params, defaults=True),
        ca.vertcat(*[each.sym for each in params], ca.SX(0, 1)),
    )
    passive = forces_of(tree, {})[0]
    square = Port("M", "mass matrix", shape=(tree.nv, tree.nv))
    named: dict[str, PortedFunction] = {}

    def add(
        name: str, note: str, inputs: list[tuple[Port, ca.SX]], outputs: list[tuple[Port, ca.SX]]
    ) -> None:
        moving = any(ca.depends_on(ca.vec(e), time) for _, e in outputs if e.numel())
        clock = [(Port("t", "time", (Entry("t", "s"),)), time)] if moving else []
        named[name] = make_ported_function(name, note, [*clock, *inputs], outputs)

    if closure is None:
        add(
            "forward_dynamics",
            "Accelerations under generalised forces.",
            [q, v, push, p],
            [(a[0], tree.forward(tau + passive))],
        )
    else:
        moved, force = Constrained(tree, closure, sx(stabilise)).forward(tau + passive)
        along = Port(
            "force", "constraint forces along their rows", tuple(Entry(label) for label in closure.labels)
        )
        rows = Port(
            "K",
            f"rows: {', '.join(closure.labels)}; columns: velocities",
            shape=(len(closure.labels), tree.nv),
        )
        add(
            "forward_dynamics",
            "Accelerations under generalised forces with the constraints kept, and the forces that keep "
            "them.",
            [q, v, push, p],
            [(a[0], moved), (along, force)],
        )
        add(
            "constraint_jacobian",
            "K of the independent constraints: M a + bias = tau + K' force.",
            [q, p],
            [(rows, closure.K)],
        )
    tree_alone = " of the tree without its constraints" if closure is not None else ""
    add(
        "inverse_dynamics",
        f"Generalised forces{tree_alone} for given accelerations.",
        [q, v, a, p],
        [(push[0], tree.inverse(acceleration) - passive)],
    )
    add("mass_matrix", f"Mass matrix{tree_alone}.", [q, p], [(square, tree.mass_matrix)])
    add(
        "bias",
        f"Generalised forces{tree_alone} for no acceleration: Coriolis, centrifugal, gravity, springs, "
        f"dampers and stops.",
        [q, v, p],
        [(Port("h", "bias", push[0].entries), tree.bias - passive)],
    )
    place = Port("r", "position in the world", tuple(Entry(axis, "m") for axis in "xyz"))
    twist = Port("J", f"{TWIST}; columns: velocities", shape=(6, tree.nv))
    for frame in mechanism.frames if frames is None else frames:
        add(f"position_{frame}", f"Where frame {frame} is.", [q, p], [(place, observe.position(tree, frame))])
        add(
            f"jacobian_{frame}",
            f"How frame {frame} moves: its twist is J v.",
            [q, p],
            [(twist, observe.world_jacobian(tree, frame))],
        )
    add("com_position", "Where the centre of mass is.", [q, p], [(place, observe.com(tree))])
    velocity = Port("J", "rows: x, y, z; columns: velocities", shape=(3, tree.nv))
    add(
        "com_jacobian",
        "How the centre of mass moves: its velocity is J v.",
        [q, p],
        [(velocity, observe.com_jacobian(tree))],
    )
    return named


def _push_entries(tree: Tree) -> tuple[Entry, ...]:
    """What pushes along each velocity."""
    found: list[Entry] = []
    for node in tree.nodes:
        c = node.connection
        if not c.joint.gear:
            note = "" if c.actuated and c.joint.kind != "free" else "not actuated"
            found += [Entry(name, unit, note) for name, unit in push_names(c)]
    return tuple(found)
