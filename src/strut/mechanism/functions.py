"""The dynamics and kinematics of a mechanism as functions of plain vectors, to be exported or called."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import BAUMGARTE_RATE, Constrained
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

TWIST_ROWS = "rows: angular velocity x, y, z, then velocity x, y, z of the origin, along the world's axes"
"""What the rows of a frame's Jacobian are."""


@checked
def functions(
    mechanism: Mechanism, frames: Iterable[str] | None = None, stabilise: Expression = BAUMGARTE_RATE
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
    parameters = mechanism.parameter_set()
    parameters.add(stabilise)
    assembly = Assembly(mechanism, parameters)
    if not assembly.tree.nv:
        raise ModelError(
            f"mechanism '{mechanism.name}' cannot move, so it has no dynamics: give it a joint that is not "
            f"fixed"
        )
    maker = _FunctionMaker(assembly)
    maker.add_forward_dynamics(sx(stabilise))
    maker.add_tree_dynamics()
    maker.add_kinematics(mechanism.frames if frames is None else frames)
    return maker.functions


class _FunctionMaker:
    """Writes functions of an assembly: its ports, each with the symbols or the expression it carries."""

    def __init__(self, assembly: Assembly) -> None:
        self.closure, self.tree = assembly.closure, assembly.tree
        tree, params = assembly.tree, list(assembly.params)
        accelerations = tuple(Entry(f"{s.name}'", rate_unit(s.unit)) for s in assembly.velocities)
        self.q = (port("q", "coordinates", assembly.positions), tree.q)
        self.v = (port("v", "velocities", assembly.velocities), tree.v)
        self.a = (Port("a", "accelerations", accelerations), ca.SX.sym("a", tree.nv))
        self.tau = (Port("tau", "generalised forces", _push_entries(tree)), ca.SX.sym("tau", tree.nv))
        self.p = (
            port("p", "parameters", params, defaults=True),
            ca.vertcat(*[each.sym for each in params], ca.SX(0, 1)),
        )
        self.passive = forces_of(tree, {})[0]
        self.functions: dict[str, PortedFunction] = {}

    def add(
        self, name: str, note: str, inputs: list[tuple[Port, ca.SX]], outputs: list[tuple[Port, ca.SX]]
    ) -> None:
        """Add a function; time comes before its arguments where a result depends on it."""
        on_time = any(ca.depends_on(ca.vec(e), time) for _, e in outputs if e.numel())
        clock = [(Port("t", "time", (Entry("t", "s"),)), time)] if on_time else []
        self.functions[name] = make_ported_function(name, note, [*clock, *inputs], outputs)

    def add_forward_dynamics(self, stabilise: ca.SX) -> None:
        """Add accelerations under generalised forces; with constraints their forces and Jacobian too."""
        tree, closure, inputs = self.tree, self.closure, [self.q, self.v, self.tau, self.p]
        push = self.tau[1] + self.passive
        if closure is None:
            self.add(
                "forward_dynamics",
                "Accelerations under generalised forces.",
                inputs,
                [(self.a[0], tree.forward(push))],
            )
            return
        acceleration, force = Constrained(tree, closure, stabilise).forward(push)
        along = Port(
            "force", "constraint forces along their rows", tuple(Entry(label) for label in closure.labels)
        )
        rows = Port(
            "K",
            f"rows: {', '.join(closure.labels)}; columns: velocities",
            shape=(len(closure.labels), tree.nv),
        )
        self.add(
            "forward_dynamics",
            "Accelerations under generalised forces with the constraints kept, and the forces that keep "
            "them.",
            inputs,
            [(self.a[0], acceleration), (along, force)],
        )
        self.add(
            "constraint_jacobian",
            "K of the independent constraints: M a + bias = tau + K' force.",
            [self.q, self.p],
            [(rows, closure.K)],
        )

    def add_tree_dynamics(self) -> None:
        """Add inverse dynamics, mass matrix and bias, which constraints do not change."""
        tree, q, v, p = self.tree, self.q, self.v, self.p
        tree_alone = " of the tree without its constraints" if self.closure is not None else ""
        square = Port("M", "mass matrix", shape=(tree.nv, tree.nv))
        self.add(
            "inverse_dynamics",
            f"Generalised forces{tree_alone} for given accelerations.",
            [q, v, self.a, p],
            [(self.tau[0], tree.inverse(self.a[1]) - self.passive)],
        )
        self.add("mass_matrix", f"Mass matrix{tree_alone}.", [q, p], [(square, tree.mass_matrix)])
        self.add(
            "bias",
            f"Generalised forces{tree_alone} for no acceleration: Coriolis, centrifugal, gravity, springs, "
            f"dampers and stops.",
            [q, v, p],
            [(Port("h", "bias", self.tau[0].entries), tree.bias - self.passive)],
        )

    def add_kinematics(self, frames: Iterable[str]) -> None:
        """Add positions and Jacobians of frames and of the centre of mass."""
        tree, inputs = self.tree, [self.q, self.p]
        place = Port("r", "position in the world", tuple(Entry(axis, "m") for axis in "xyz"))
        twist = Port("J", f"{TWIST_ROWS}; columns: velocities", shape=(6, tree.nv))
        for frame in frames:
            self.add(
                f"position_{frame}",
                f"Where frame {frame} is.",
                inputs,
                [(place, observe.position(tree, frame))],
            )
            self.add(
                f"jacobian_{frame}",
                f"How frame {frame} moves: its twist is J v.",
                inputs,
                [(twist, observe.world_jacobian(tree, frame))],
            )
        self.add("com_position", "Where the centre of mass is.", inputs, [(place, observe.com(tree))])
        velocity = Port("J", "rows: x, y, z; columns: velocities", shape=(3, tree.nv))
        self.add(
            "com_jacobian",
            "How the centre of mass moves: its velocity is J v.",
            inputs,
            [(velocity, observe.com_jacobian(tree))],
        )


def _push_entries(tree: Tree) -> tuple[Entry, ...]:
    """Names and units of the forces along each velocity."""
    entries: list[Entry] = []
    for node in tree.nodes:
        c = node.connection
        if not c.joint.gear:
            note = "" if c.actuated and not c.joint.floating else "not actuated"
            entries += [Entry(name, unit, note) for name, unit in push_names(c)]
    return tuple(entries)
