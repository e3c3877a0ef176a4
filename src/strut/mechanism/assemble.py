"""A mechanism as a `System`: coordinates and velocities as states, torques as inputs, the energy account
filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.closure import BAUMGARTE_RATE, Constrained, LoopCloser, all_rows
from strut.mechanism.generalised_forces import forces_of
from strut.mechanism.looks.picture import scene_of
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.parts import ConstraintRows
from strut.mechanism.pushes import pushes_of
from strut.mechanism.reactions import reaction_outputs
from strut.mechanism.reduce import MIN_REGULARITY, Reduced, choose_independent
from strut.mechanism.states import coordinate_names, push_names, quantities_of, velocity_names
from strut.mechanism.tree import Tree
from strut.system import (
    Arrow,
    BatchRewrite,
    Discrete,
    Event,
    Expression,
    Floor,
    Implied,
    Ledger,
    Sample,
    State,
    System,
    Walk,
    sx,
    time,
)

DEPENDENCE_LOST_MEANING = (
    "the velocities that were chosen no longer say how it moves: choose others, or leave out `reduced`"
)
"""What the event dependence_lost tells the user."""
MAX_LOOP_GAP = 1e-3
"""[m, rad] by which a loop may be open before a run ends."""


class Assembly:
    """A mechanism on its way to a `System`: its tree, states, inputs, forces and energy account, with the
    initial state moved onto the constraints. Contact and other rooms add to it before `build`.

    params: the parameters the system will have, those of the mechanism and whatever else is used; without any
    given, a copy of the mechanism's. The mechanism itself is not changed.
    """

    def __init__(self, mechanism: Mechanism, params: ParameterSet | None = None) -> None:
        self.mechanism = mechanism
        self.params = mechanism.parameter_set() if params is None else params
        self.tree = tree = Tree(mechanism)
        _check_movable(tree)
        self.positions, self.velocities, self.inputs = quantities_of(tree)
        self.tau, self.entries = forces_of(tree, self.inputs, self.params)
        self.pushes = pushes_of(tree)
        self.tau = self.tau + self.pushes.tau if self.pushes.inputs else self.tau
        self.entries["supplied"] |= self.pushes.supplied
        self.entries["stored"] = {
            "kinetic": observe.kinetic(tree),
            "gravity": observe.potential(tree),
            **self.entries["stored"],
        }
        self.outputs: dict[str, ca.SX] = {}
        self.units: dict[str, str] = {}
        places = _places(tree, self.params)
        self.points = {name: tuple(coordinates) for name, coordinates in places.items()}
        self.show("m", {name: e for coordinates in places.values() for name, e in coordinates.items()})
        self.closure: ConstraintRows | None = None
        self.K = np.empty((0, tree.nv))
        self.kept = list(range(tree.nv))
        self.velocity, self.qdot = tree.v, tree.qdot
        if mechanism.constraints:
            self.positions, self.velocities, self.closure, self.K = _close_initial_state(
                tree, self.positions, self.velocities, self.params
            )

    def show(self, unit: str, outputs: Mapping[str, ca.SX]) -> None:
        """Add outputs, all in one unit; an empty one where none is known."""
        self.outputs |= outputs
        self.units |= dict.fromkeys(outputs, unit)

    def note_closure(self, force: ca.SX) -> None:
        """Make constraint forces outputs, and book what moving constraints supply."""
        assert self.closure is not None
        c = self.closure
        self.show(
            "", {label: force[k] for k, label in enumerate(c.labels)} | {"closure_error": ca.norm_2(c.phi)}
        )
        driven = {
            f"{label}_drive": force[k] * c.k0[k] for k, label in enumerate(c.labels) if not c.k0[k].is_zero()
        }
        self.entries["supplied"] |= driven

    def start(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Evaluate the initial q and v, and the parameters, as numbers."""
        symbols, values = self.params.symbols, self.params.values
        f = ca.Function(
            "start",
            [symbols],
            [ca.vertcat(*[sx(s.value) for s in (*self.positions, *self.velocities)], ca.SX(0, 1))],
        )
        numbers = np.array(f(values)).reshape(-1)
        return numbers[: self.tree.nq], numbers[self.tree.nq :], values

    def evaluate(self, expression: ca.SX, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Evaluate an expression of q, v and parameters, at time 0."""
        symbols, values = self.params.symbols, self.params.values
        return np.array(
            ca.Function("value", [self.tree.q, self.tree.v, time, symbols], [ca.densify(expression)])(
                q, v, 0.0, values
            )
        )

    def in_states(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Rewrite expressions of the tree's q and v as expressions of the states."""
        tree = self.tree
        q = ca.vertcat(*[s.sym for s in self.positions], ca.SX(0, 1))
        w = ca.vertcat(*[self.velocities[k].sym for k in self.kept], ca.SX(0, 1))
        v = ca.substitute([self.velocity], [tree.q, tree.v[self.kept]], [q, w])[0]
        return list(ca.substitute(expressions, [tree.q, tree.v], [q, ca.densify(v)]))

    def states(self, q: ca.SX, v: ca.SX) -> dict[str, ca.SX]:
        """Name new values of all states, for resets."""
        values = {s.name: q[k] for k, s in enumerate(self.positions)}
        return values | {self.velocities[k].name: v[k] for k in self.kept}

    def _implied_rates(
        self, batch: BatchRewrite, residual: Callable[[ca.SX, ca.SX], ca.SX] | None, forces: ca.SX
    ) -> Callable[[], Implied | None]:
        """Collect accelerations and forces of constraints as what a residual implies: derivatives go through
        it, by the implicit function theorem."""
        if residual is None or not self.tree.nv:
            return lambda: None
        names, rates = tuple(s.name for s in self.velocities), ca.SX.sym("acceleration", self.tree.nv)
        unknown = ca.SX.sym("force", forces.numel())
        equations = batch.add({"residual": residual(rates, unknown), "further": forces})
        return lambda: Implied(names, ca.vertcat(rates, unknown), **(equations() or {}))

    def _loop_open_event(self) -> list[Event]:
        """The event that ends a run whose loops are open: one begun with other parameters or angles than they
        close for."""
        if self.closure is None or not ca.symvar(self.closure.phi):
            return []  # rolling and skating have nothing to close
        gap = ca.norm_2(self.closure.phi)
        hint = "a loop is open: begin from mechanism.closed_state(...)"
        return [
            Event(
                "loop_open",
                guard=gap - MAX_LOOP_GAP,
                terminal=True,
                failure=True,
                eager=True,
                priority=9,
                description=hint,
            )
        ]

    def build(  # noqa: PLR0913 fields of a System that rooms add to, all but two by keyword
        self,
        acceleration: ca.SX,
        description: str = "",
        *,
        z: Sequence[Discrete] = (),
        events: Sequence[Event] = (),
        samples: Sequence[Sample] = (),
        symmetry: Mapping[str, ca.SX] | None = None,
        more: Mapping[State, ca.SX] | None = None,
        residual: Callable[[ca.SX, ca.SX], ca.SX] | None = None,
        forces: ca.SX | None = None,
        arrows: Sequence[Arrow] = (),
        floor: Floor | None = None,
        walk: Walk | None = None,
    ) -> System:
        """The system. Guards, resets, losses and samples may use the tree's q and v; `more` are further
        states and their rates; `residual` of accelerations and `forces` of constraints is zero for the right
        ones, and shorter to differentiate; `arrows` and `floor` are drawn."""
        more = more or {}
        # all expressions are collected first and rewritten at once: common subexpressions stay common
        all_of_it = BatchRewrite()
        flow = all_of_it.add(
            self.states(self.qdot, acceleration) | {s.name: rate for s, rate in more.items()}
        )
        happening, clocked = (
            all_of_it.add_jumps([*events, *self._loop_open_event()]),
            all_of_it.add_jumps(samples),
        )
        images = {**self.pushes.images, **symmetry} if symmetry else {}
        outputs, exchanged = all_of_it.add(self.outputs), all_of_it.add(images)
        books = [all_of_it.add(self.entries[group]) for group in ("stored", "supplied", "dissipated")]
        scene = replace(scene_of(self.tree, arrows, floor), points=self.points)
        looks = all_of_it.add(scene.columns())
        rates = self._implied_rates(all_of_it, residual, ca.SX(0, 1) if forces is None else forces)
        all_of_it.rewrite(self.in_states)
        return System(
            self.mechanism.name,
            x=(*self.positions, *[self.velocities[k] for k in self.kept], *more),
            z=tuple(z),
            u=(*self.inputs.values(), *self.pushes.inputs),
            p=tuple(self.params),
            flow=flow() or {},
            events=happening(),
            samples=clocked(),
            outputs=outputs() or {},
            output_units=self.units,
            ledger=Ledger(*(book() or {} for book in books)),
            symmetry=exchanged() or {},
            implied=rates(),
            scene=scene.with_columns(looks() or {}),
            walk=walk,
            description=description or f"mechanism of {len(self.tree.nodes)} bodies",
        )


@checked
def system(
    mechanism: Mechanism,
    description: str = "",
    *,
    stabilise: Expression = BAUMGARTE_RATE,
    project: Expression | None = None,
    reduced: bool | Sequence[str] = False,
    reactions: bool | Sequence[str] = False,
) -> System:
    """The mechanism as a system.

    States are the joints' coordinates and velocities; every actuated joint has an input NAME_torque (or
    NAME_force), a push along its velocities. Outputs are the positions of all frames and of the centre of
    mass, and the forces of constraints. The ledger holds kinetic energy, gravity, every spring, damper and
    actuator.

    With constraints the initial state is moved onto them. Drift is pulled back with the rate `stabilise`
    [1/s], and for long runs removed every `project` seconds by projection.

    reduced: only independent velocities are states, chosen automatically (True) or those of the joints named;
        the others become outputs. The run ends with status 'dependence_lost' where they no longer determine
        the motion.
    reactions: outputs NAME_reaction_x, ..., NAME_reaction_mx, ... of all joints (True) or of those named:
        force and moment that the joint's child gets through the joint, drive included, along the world's
        axes, about the child's origin.
    """
    params = mechanism.parameter_set()
    params.add_number(stabilise, "the rate of stabilisation, stabilise,", low=0.0)
    if project is not None:
        params.add_number(project, "the time between projections, project,", low=0.0, above=True)
    assembly = Assembly(mechanism, params)
    tree, closure = assembly.tree, assembly.closure
    events: list[Event] = []
    samples: list[Sample] = []
    force = ca.SX(0, 1)
    reduced = reduced if isinstance(reduced, bool) else tuple(reduced)  # also of arrays of names
    if closure is None and reduced and not isinstance(reduced, bool):
        raise ModelError(
            f"reduced names {', '.join(map(str, reduced))}, but '{mechanism.name}' has no constraints: "
            "all its velocities are independent; leave reduced out"
        )
    if closure is not None:
        solver: Constrained | Reduced
        if reduced:
            solver, lost = _reduce(assembly, closure, reduced, sx(stabilise))
            events.append(lost)
        else:
            solver = Constrained(tree, closure, sx(stabilise))
        acceleration, force = solver.forward(assembly.tau)
        assembly.note_closure(force)
        if project is not None:
            samples.append(Sample("projection", every=project, set=assembly.states(*solver.project_state())))
    else:
        acceleration = tree.forward(assembly.tau)
    # joints' reactions need the accelerations and the forces of constraints
    if reactions:
        names = list(mechanism.connections) if isinstance(reactions, bool) else reactions
        for name, push in reaction_outputs(tree, names, acceleration, closure, force).items():
            assembly.show("N m" if name.rpartition("_")[2].startswith("m") else "N", {name: push})
    # inverse dynamics is shorter to differentiate than the solve; with constraints there is no such residual
    residual = None if closure is not None else lambda a, _: tree.inverse(a) - assembly.tau
    return assembly.build(acceleration, description, events=events, samples=samples, residual=residual)


def _reduce(
    assembly: Assembly, closure: ConstraintRows, reduced: bool | Sequence[str], stabilise: ca.SX
) -> tuple[Reduced, Event]:
    """Keep independent velocities alone as states of an assembly; the others become outputs. The event ends a
    run where they no longer determine the motion."""
    tree = assembly.tree
    assembly.kept = choose_independent(tree, assembly.K, reduced)
    solver = Reduced(tree, closure, assembly.kept, stabilise)
    assembly.velocity = solver.velocity()
    assembly.qdot = ca.substitute([tree.qdot], [tree.v], [tree.v + solver.correction()])[0]
    for k in solver.dependent:
        assembly.show(assembly.velocities[k].unit, {assembly.velocities[k].name: tree.v[k]})
    start = float(abs(np.prod(np.diag(np.linalg.qr(assembly.K[:, solver.dependent])[1]))))
    lost = Event(
        "dependence_lost",
        guard=MIN_REGULARITY * start - solver.regularity(),
        terminal=True,
        failure=True,
        description=DEPENDENCE_LOST_MEANING,
    )
    return solver, lost


def _places(tree: Tree, params: ParameterSet) -> dict[str, dict[str, ca.SX]]:
    """Positions of frames and of the centre of mass by name, each coordinate under the name of its output; in
    a plane without y. A frame whose coordinates would be called as a state is, or another frame's, is called
    NAME_frame."""
    m = tree.mechanism
    axes = {"x": 0, "z": 2} if m.planar else {"x": 0, "y": 1, "z": 2}
    used_names = {name for c in m.connections.values() for name in (*coordinate_names(c), *velocity_names(c))}
    used_names |= {name for c in m.connections.values() for name, _ in push_names(c)} | {
        p.name for p in params
    }
    places: dict[str, dict[str, ca.SX]] = {}
    points = {name: observe.position(tree, name) for name in m.frames}
    points |= {"com": observe.com(tree)} if observe.moving_nodes(tree) else {}
    for name, p in points.items():
        label = name
        while any(f"{label}_{axis}" in used_names for axis in axes):
            label = f"{label}_frame"
        places[label] = {f"{label}_{axis}": p[k] for axis, k in axes.items()}
        used_names |= set(places[label])
    return places


@checked
def closed_state(
    mechanism: Mechanism, x0: Mapping[str, float] | None = None, p: Mapping[str, float] | None = None
) -> dict[str, float]:
    """States from which a mechanism with loops can begin: those named in `x0` as they are, the others moved
    until all loops close, for the parameters' own values or those in `p`. `simulate(system,
    x0=closed_state(m, {"crank": 0.5}, p), p=p)`."""
    tree, params = Tree(mechanism), mechanism.parameter_set()
    rows = all_rows(tree)
    params.add(rows.phi, rows.K, rows.k0)
    positions, velocities, _ = quantities_of(tree)
    symbols, values = params.symbols, params.values
    at = {q.name: k for k, q in enumerate(params)}
    for name, value in (p or {}).items():
        if name not in at:
            raise UnknownNameError(
                f"mechanism '{mechanism.name}' has no parameter '{name}': {did_you_mean(name, list(at))}"
            )
        values[at[name]] = value
    start = ca.Function("start", [symbols], [ca.vertcat(*[sx(s.value) for s in (*positions, *velocities)])])
    numbers = np.array(start(values)).reshape(-1)
    names = [s.name for s in (*positions, *velocities)]
    fixed_velocities: set[int] = set()
    for name, value in (x0 or {}).items():
        if name not in names:
            raise UnknownNameError(
                f"mechanism '{mechanism.name}' has no state '{name}': {did_you_mean(name, names)}"
            )
        k = names.index(name)
        numbers[k] = value
        joint = (
            next(c for c, where in tree.q_of.items() if where.start <= k < where.stop) if k < tree.nq else ""
        )
        fixed_velocities |= (
            set(range(tree.v_of[joint].start, tree.v_of[joint].stop)) if joint else {k - tree.nq}
        )
    closer = LoopCloser(tree, rows, symbols, values)
    _, q, v = closer.close(numbers[: tree.nq], numbers[tree.nq :], sorted(fixed_velocities))
    return dict(zip(names, (float(n) for n in (*q, *v)), strict=True))


def _close_initial_state(
    tree: Tree, positions: list[State], velocities: list[State], params: ParameterSet
) -> tuple[list[State], list[State], ConstraintRows, np.ndarray]:
    """Move the initial state onto the constraints, for the parameters' own values. Returns coordinates,
    velocities, the independent rows, and their K there. The parameters of the constraints are added to
    `params`."""
    rows = all_rows(tree)
    params.add(rows.phi, rows.K, rows.k0)
    symbols, values = params.symbols, params.values
    start = ca.Function("start", [symbols], [ca.vertcat(*[sx(s.value) for s in (*positions, *velocities)])])
    numbers = np.array(start(values)).reshape(-1)
    closer = LoopCloser(tree, rows, symbols, values)
    closure, q, v = closer.close(numbers[: tree.nq], numbers[tree.nq :])
    moved = [
        State(s.name, float(value), s.unit)
        for s, value in zip((*positions, *velocities), (*q, *v), strict=True)
    ]
    K = np.array(ca.Function("K", [tree.q, time, symbols], [ca.densify(closure.K)])(q, 0.0, values))
    return moved[: tree.nq], moved[tree.nq :], closure, K


def _check_movable(tree: Tree) -> None:
    """Raise ModelError, with the name of the body, where a velocity moves no inertia: the mass matrix would
    be singular."""
    carried = [
        node.inertia.mass.is_zero() and node.connection.child.about_com.is_zero() for node in tree.nodes
    ]
    for k in reversed(range(len(tree.nodes))):
        node = tree.nodes[k]
        if node.columns and carried[k] and node.connection.armature is None:
            raise ModelError(
                f"body '{node.name}' has no mass and carries none, but joint '{node.connection.name}' can "
                f"move it: "
                "give it a mass, or a fixed joint, or the joint an armature"
            )
        if node.parent >= 0:
            carried[node.parent] = carried[node.parent] and carried[k]
