"""Stepping: walkers that stand on one foot, in the fewest coordinates, and change feet when the other one
lands.

The stance foot is a pivot, or rolls on its arc. At heel strike the new foot stops dead, the old one lets go,
and the legs change names: the state after a step is again a state of the same walker, so a gait is a fixed
point. In space the walker is also mirrored: it is told as if it always stood on the same leg, and what is
sideways changes sign at every step.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.contact.arming import FELL_BACK, FELL_FORWARD, PULLED, Swing
from strut.contact.ground import Ground, even_ground
from strut.contact.leg_exchange import exchange_matrix
from strut.contact.legs import Legs
from strut.contact.legs_alike import LegSwap
from strut.contact.switched_rows import MaskedRows
from strut.contact.touch import Touch, add_contact_parameters, point, spot
from strut.contact.walk import slope_name
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.looks.picture import scene_of
from strut.mechanism.mechanism import Mechanism
from strut.system import (
    Arrow,
    BatchRewrite,
    Discrete,
    Event,
    Factors,
    Foot,
    Implied,
    Input,
    Ledger,
    System,
    Walk,
    sx,
    time,
)

NOT_LIFTED = "the old foot did not lift"
"""What the event double_support means: both feet stay on the ground, which this model does not describe."""
MIN_BEND = 1e-6
"""[rad] A knee must have bent this far before it can lock."""


@checked
def stepping(
    mechanism: Mechanism,
    legs: Legs,
    ground: Ground | None = None,
    description: str = "",
    take_off: bool = True,
) -> System:
    """The mechanism as a walker on `ground`: see `Legs`.

    The ground is ignored until the swing foot has been in front of the stance foot (by `margin` [m]) and
    above the ground.

    Events: passes, clear and returns (see `Swing`), heel_strike, one per lock; and those that end a run: fall
    (forwards), sit (backwards), take_off (the stance foot would pull), double_support (the old foot would go
    into the ground after heel strike).
    Outputs: places of frames, clearance, step_length, step_time and speed of the last step, stance_normal and
    stance_friction.
    """
    return _Stepping(mechanism, legs, even_ground(ground, "stepping")).system(description, take_off)


class _Stepping:
    def __init__(self, mechanism: Mechanism, legs: Legs, ground: Ground) -> None:
        self.legs, self.ground = legs, ground
        self.stance, self.swing = (
            foot if isinstance(foot, Touch) else point(foot) for foot in (legs.stance, legs.swing)
        )
        params = mechanism.parameter_set()
        add_contact_parameters(params, ground, (self.stance, self.swing))
        params.add_number(legs.fall, "the height of a fall")
        params.add_number(legs.margin, "the margin of legs")
        for drive in legs.drives:
            params.add_number(drive.spring, f"the spring of drive '{drive.name}'")
            params.add_number(drive.damping, f"the damping of drive '{drive.name}'", low=0.0)
            params.add_number(drive.rest, f"the rest of drive '{drive.name}'")
            for angle, weight in drive.weights.items():
                params.add_number(weight, f"the weight of '{angle}' in drive '{drive.name}'")
        self.assembly = assembly = Assembly(mechanism, params)
        self.tree = tree = assembly.tree
        if mechanism.constraints:
            raise ModelError(
                f"'{mechanism.name}' has loops: stepping() wants an open tree; use contact.rigid for "
                f"closed ones"
            )
        if tree.nq != tree.nv:
            raise ModelError(
                f"'{mechanism.name}' cannot step: stepping() is for machines whose coordinates are angles"
            )
        self.axes = [0, 2] if mechanism.planar else [0, 1, 2]
        self._check_names()
        self.w = [k for k in range(tree.nv) if k not in self.b]
        self.names = [assembly.positions[k].name for k in self.w]
        self.exchange = exchange_matrix(tree, legs, self.w, (self.stance.frame, self.swing.frame))
        self.foothold = [Discrete(f"foothold_{'xyz'[k]}", 0.0, "m", internal=True) for k in self.axes]
        self.locked = [Discrete(f"{lock.name}_locked", 0.0, internal=True) for lock in legs.locks]
        self.bent = [Discrete(f"{lock.name}_bent", 0.0, internal=True) for lock in legs.locks]
        self.counters = [
            Discrete("steps", 0.0, internal=True),
            Discrete("step_length", 0.0, "m", internal=True),
            Discrete("step_time", 0.0, "s", internal=True),
            Discrete("struck_at", 0.0, "s", internal=True),
            Discrete(
                "lift",
                1.0,
                "m/s",
                description="speed at which the old foot left the ground at the last heel strike",
                internal=True,
            ),
        ]
        self._kinematics()
        gap = spot(self.tree, self.swing, self.ground).gap
        ahead = (
            observe.position(self.tree, self.swing.frame) - observe.position(self.tree, self.stance.frame)
        )[0]
        self.landing = Swing(gap, ahead - sx(legs.margin), self._begin)

    def _begin(self, expression: ca.SX) -> ca.SX:
        """An initial value, on the first foothold."""
        return ca.substitute(
            self._bound([expression]), [z.sym for z in self.foothold], [ca.SX(0)] * len(self.axes)
        )[0]

    def _check_names(self) -> None:
        """Raise unless all joints that the legs name exist, and as many carry the foot as there are axes."""
        tree, legs = self.tree, self.legs
        for name in legs.base:
            if name not in tree.v_of:
                raise UnknownNameError(
                    f"'{tree.mechanism.name}' has no joint '{name}': {did_you_mean(name, list(tree.v_of))}"
                )
        if len(legs.base) != len(self.axes):
            raise ModelError(
                f"the stance foot of '{tree.mechanism.name}' is carried by {len(legs.base)} joints: "
                f"{len(self.axes)} are needed"
            )
        self.b = [tree.v_of[name].start for name in legs.base]

    def _kinematics(self) -> None:
        """The velocities of the base, and its place, from the angles: the stance foot does not slip."""
        tree, b, w = self.tree, self.b, self.w
        here = spot(tree, self.stance, self.ground)
        J = here.K  # along normal and tangents; the base's own columns are those directions
        pivot = sx(self.stance.radius).is_zero()
        rolls = ca.SX(len(b), len(w)) if pivot else -(here.directions @ J[:, w])[self.axes, :]
        if ca.depends_on(rolls, tree.q):
            raise ModelError(
                f"the stance foot of '{tree.mechanism.name}' cannot roll on this ground: arcs need a plane"
            )
        T = ca.SX.zeros(tree.nv, len(w))
        T[b, :] = rolls
        for k, column in enumerate(w):
            T[column, k] = 1
        self.T, self.rolls = ca.sparsify(T), rolls
        reach = here.directions[self.axes, 0] * sx(self.stance.radius)
        centre = observe.position(tree, self.stance.frame)[self.axes]
        offset = ca.substitute([centre], [tree.q[b]], [ca.SX.zeros(len(b))])[0]
        if ca.depends_on(offset, tree.q):
            raise ModelError(
                f"the base of '{tree.mechanism.name}' must sit at the stance foot '{self.stance.frame}'"
            )
        self.lifted = reach - offset
        place = ca.vertcat(*[z.sym for z in self.foothold]) + self.lifted + rolls @ tree.q[w]
        self.q = ca.SX(tree.q)
        self.q[b] = place
        self.q = ca.densify(self.q)
        self.v = ca.densify(self.T @ tree.v[w])

    def _bound(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions of all coordinates, as ones of the states and the foothold."""
        assembly, tree = self.assembly, self.tree
        standing = ca.substitute(expressions, [tree.q, tree.v], [self.q, self.v])
        symbols = [assembly.positions[c].sym for c in self.w] + [assembly.velocities[c].sym for c in self.w]
        formal = [tree.q[c] for c in self.w] + [tree.v[c] for c in self.w]
        return list(ca.substitute(standing, formal, symbols))

    # ---- in single support ----

    def _drives(self) -> tuple[ca.SX, dict[str, dict[str, ca.SX]], list[Input]]:
        """Generalised forces with those of the drives, the energy account with theirs, and all inputs."""
        tree = self.tree
        tau = self.assembly.tau
        entries: dict[str, dict[str, ca.SX]] = {
            group: dict(book) for group, book in self.assembly.entries.items()
        }
        inputs: list[Input] = [*self.assembly.inputs.values(), *self.assembly.pushes.inputs]
        for drive in self.legs.drives:
            row = ca.SX.zeros(tree.nv)
            for name, weight in drive.weights.items():
                if name not in tree.v_of:
                    raise UnknownNameError(
                        f"drive '{drive.name}' acts on '{name}': {did_you_mean(name, list(tree.v_of))}"
                    )
                row[tree.v_of[name].start] = weight
            k, d = sx(drive.spring), sx(drive.damping)
            angle, rate = ca.dot(row, tree.q) - sx(drive.rest), ca.dot(row, tree.v)
            tau = tau - row * (k * angle + d * rate)
            if drive.driven:
                source = Input(f"{drive.name}_torque", 0.0, "N m")
                inputs.append(source)
                tau = tau + row * source.sym
                entries["supplied"][source.name] = source.sym * rate
            if not k.is_zero():
                entries["stored"][f"{drive.name}_spring"] = k * angle**2 / 2
            if not d.is_zero():
                entries["dissipated"][f"{drive.name}_damper"] = d * rate**2
        return tau, entries, inputs

    def _lock_rows(self) -> ca.SX:
        """Over all velocities."""
        rows = ca.SX.zeros(len(self.legs.locks), self.tree.nv)
        for k, lock in enumerate(self.legs.locks):
            rows[k, self.tree.v_of[lock.lower].start] = 1
            rows[k, self.tree.v_of[lock.upper].start] = -1
        return rows

    def _flow(self, tau: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Accelerations of the angles, the force on the stance foot, along the axes, and those of locks."""
        tree, T = self.tree, self.T
        M, bias = tree.mass_matrix, tree.bias
        reduced = T.T @ M @ T
        push = T.T @ (tau - bias)
        rows, factors = self._lock_rows() @ T, Factors(reduced)
        masked = MaskedRows(factors, rows) if self.locked else None
        free, locking = factors.solve(push), ca.SX(0, 1)
        if masked is not None:
            on = ca.vertcat(*[z.sym for z in self.locked])
            locking = masked.forces(-(rows @ free), on)
            free = free + masked.effect(locking)
        whole = T @ free
        force = (M @ whole + bias)[self.b]
        return free, force, locking

    def _residual(self, tau: ca.SX, unknown: ca.SX) -> ca.SX:
        """What is zero for the right accelerations of the angles, force on the stance foot and forces of
        locks, the `unknown`: inverse dynamics, and the rows of locks, which hold or let go."""
        acceleration, force, locking = ca.vertsplit(
            unknown, np.cumsum([0, len(self.w), len(self.b), len(self.locked)]).tolist()
        )
        rows = self._lock_rows() @ self.T
        on = ca.vertcat(*[z.sym for z in self.locked], ca.SX(0, 1))
        needed = self.tree.inverse(self.T @ acceleration)
        motion = self.T.T @ (needed - tau) - rows.T @ locking
        return ca.vertcat(motion, needed[self.b] - force, on * (rows @ acceleration) + (1 - on) * locking)

    # ---- heel strike ----

    @property
    def mirror(self) -> ca.SX:
        """The factors of places along the axes when legs change names: in space, -1 sideways."""
        return ca.SX([1, 1] if len(self.axes) == 2 else [1, -1, 1])

    def _strike(self) -> tuple[dict[str, ca.SX], ca.SX]:
        """The reset of heel strike, a plastic impact after which the legs change names; and the gap of the
        swing foot [m]."""
        tree = self.tree
        there, here = (spot(tree, foot, self.ground) for foot in (self.swing, self.stance))
        rows = self._lock_rows()
        K = ca.vertcat(there.K, rows)
        masked = MaskedRows(tree.factors, K)
        on = ca.vertcat(*[1 for _ in self.axes], *[z.sym for z in self.locked])
        v = tree.v + masked.effect(masked.forces(-(K @ tree.v), on))
        reset: dict[str, ca.SX] = {}
        exchange = ca.sparsify(ca.DM(self.exchange))
        angles, rates = (exchange @ each[self.w] for each in (tree.q, v))
        for k, column in enumerate(self.w):
            reset[self.assembly.positions[column].name] = angles[k]
            reset[self.assembly.velocities[column].name] = rates[k]
        centre = observe.position(tree, self.swing.frame)[self.axes]
        foothold = self.mirror * centre - self.lifted - self.rolls @ angles
        length = ca.norm_2((there.point - here.point)[[0, 2]])
        if self.rolls.nnz():  # the stance foot rolled on while it stood: a step is longer than feet are apart
            length = ca.norm_2((foothold - ca.vertcat(*[z.sym for z in self.foothold]))[[0, -1]])
        steps, step_length, step_time, struck_at, lift = self.counters
        reset |= {z.name: foothold[k] for k, z in enumerate(self.foothold)}
        reset |= {z.name: ca.SX(0) for z in (*self.locked, *self.bent)}
        reset |= {
            **self.landing.flags_after_landing(),
            steps.name: steps.sym + 1,
            step_length.name: length,
            step_time.name: time - struck_at.sym,
            struck_at.name: time,
            lift.name: here.K[0, :] @ v,
        }
        return reset, there.gap

    def _knee_strike(self, k: int) -> dict[str, ca.SX]:
        """The knee locks; the stance foot holds, other locks too."""
        tree, T = self.tree, self.T
        rows = self._lock_rows() @ T
        masked = MaskedRows(Factors(T.T @ tree.mass_matrix @ T), rows)
        on = ca.vertcat(*[ca.SX(1) if i == k else z.sym for i, z in enumerate(self.locked)])
        w = tree.v[self.w]
        after = w + masked.effect(masked.forces(-(rows @ w), on))
        lock = self.legs.locks[k]
        reset = {self.assembly.velocities[c].name: after[i] for i, c in enumerate(self.w)}
        lower, upper = (tree.v_of[name].start for name in (lock.lower, lock.upper))
        reset[self.assembly.positions[lower].name] = tree.q[upper]
        return reset | {self.locked[k].name: ca.SX(1)}

    # ---- together ----

    def _events(self, gap: ca.SX, strike: dict[str, ca.SX], force: ca.SX, take_off: bool) -> list[Event]:
        """Swing, heel strike, what ends a run, and the locks. strike: its reset. force: on the stance foot
        [N]."""
        tree, legs = self.tree, self.legs
        height = self.ground.gap(observe.position(tree, legs.hip)) - sx(legs.fall)
        onward = observe.velocity(tree, legs.hip)[0]
        normal = self.ground.frame(observe.position(tree, self.stance.frame))[self.axes, 0]
        low, pull = -height, -ca.dot(normal, force)
        events = [
            *self.landing.events(),
            Event("heel_strike", guard=-gap, when=self.landing.armed.sym, reset=strike, priority=1),
            Event(
                "fall",
                ca.if_else(onward >= 0, low, -1),
                terminal=True,
                failure=True,
                priority=2,
                description=FELL_FORWARD,
            ),
            Event(
                "sit",
                ca.if_else(onward < 0, low, -1),
                terminal=True,
                failure=True,
                priority=2,
                description=FELL_BACK,
            ),
            Event(
                "double_support",
                -self.counters[-1].sym,
                terminal=True,
                failure=True,
                priority=2,
                description=NOT_LIFTED,
            ),
        ]
        if take_off:
            events.append(
                Event("take_off", guard=pull, terminal=True, failure=True, priority=3, description=PULLED)
            )
        for k, (lock, z) in enumerate(zip(legs.locks, self.locked, strict=True)):
            bend = tree.q[tree.v_of[lock.lower].start] - tree.q[tree.v_of[lock.upper].start]
            bent = self.bent[k]
            events.append(
                Event(
                    f"{lock.name}_ready",
                    guard=-bend - MIN_BEND,
                    when=(1 - z.sym) * (1 - bent.sym),
                    reset={bent.name: 1},
                    internal=True,
                )
            )
            reset = self._knee_strike(k) | {bent.name: ca.SX(0)}
            events.append(Event(lock.name, guard=bend, when=(1 - z.sym) * bent.sym, reset=reset, priority=0))
        return events

    def _walk(self) -> Walk:
        """The stance foot pushes, the swing foot lands; they change names at heel strike."""
        stance = Foot(name="stance", normal="stance_normal", friction=("stance_friction",), leaves="lift")
        swing = Foot(name="swing", lands="heel_strike", gap="clearance", passes="passes", clears="clear")
        return Walk(
            section="heel_strike",
            feet=(stance, swing),
            progress=tuple(z.name for z, axis in zip(self.foothold, self.axes, strict=True) if axis != 1),
            step_length="step_length",
            slope=slope_name(self.ground),
            lift="foothold_z",
            weight=observe.mass(self.tree) * self.tree.mechanism.gravity,
            gravity="gravity",
            kinetic="kinetic",
        )

    def system(self, description: str, take_off: bool) -> System:
        """The walker: its flow, events, outputs, energy account and picture, as expressions of the states
        alone."""
        assembly, tree = self.assembly, self.tree
        tau, entries, inputs = self._drives()
        acceleration, force, locking = self._flow(tau)
        forces = ca.vertcat(force, locking)
        unknown = ca.SX.sym("acceleration", len(self.w) + forces.numel())
        strike, gap = self._strike()
        directions = self.ground.frame(observe.position(tree, self.stance.frame))
        assembly.show("m", {"clearance": gap})
        speed = ca.if_else(
            self.counters[2].sym > 0, self.counters[1].sym / ca.fmax(self.counters[2].sym, 1e-12), 0
        )
        assembly.show("m/s", {"speed": speed})
        along = directions[self.axes, :].T @ force
        friction = along[1] if tree.mechanism.planar else ca.norm_2(along[1:])
        assembly.show("N", {"stance_normal": along[0], "stance_friction": friction})
        flow = {assembly.positions[c].name: tree.v[c] for c in self.w} | {
            assembly.velocities[c].name: acceleration[k] for k, c in enumerate(self.w)
        }

        push = ca.vertcat(force[0], 0, force[1]) if tree.mechanism.planar else force
        legs = LegSwap(
            tree,
            self.legs,
            feet=(self.stance, self.swing),
            exchange=(self.w, self.exchange),
            params=assembly.params,
        )
        legs.check_legs_alike()
        scene = scene_of(
            tree,
            [Arrow("stance_foot", spot(tree, self.stance, self.ground).point, push)],
            self.ground.floor(),
        )
        scene = replace(scene, points=assembly.points, swaps=legs.swapped_parts(scene))
        all_of_it = BatchRewrite()
        rates, happening = (
            all_of_it.add(flow),
            all_of_it.add_jumps(self._events(gap, strike, force, take_off)),
        )
        outputs, looks = all_of_it.add(assembly.outputs), all_of_it.add(scene.columns())
        books = [all_of_it.add(entries[group]) for group in ("stored", "supplied", "dissipated")]
        equations = all_of_it.add({"residual": self._residual(tau, unknown), "further": forces})
        all_of_it.rewrite(self._bound)
        return System(
            assembly.mechanism.name,
            x=(*[assembly.positions[c] for c in self.w], *[assembly.velocities[c] for c in self.w]),
            z=(*self.foothold, *self.landing.discrete, *self.locked, *self.bent, *self.counters),
            u=tuple(inputs),
            p=tuple(assembly.params),
            flow=rates() or {},
            events=happening(),
            outputs=outputs() or {},
            output_units=assembly.units,
            ledger=Ledger(*(book() or {} for book in books)),
            implied=Implied(
                tuple(assembly.velocities[c].name for c in self.w), unknown, **(equations() or {})
            ),
            scene=scene.with_columns(looks() or {}),
            walk=self._walk(),
            description=description,
        )
