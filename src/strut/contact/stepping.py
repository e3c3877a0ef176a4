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
from strut.contact.arming import Swing
from strut.contact.fall import foot_pulls, hip_falls
from strut.contact.ground import Ground, even_ground
from strut.contact.leg_drives import add_drive_parameters, add_drives
from strut.contact.leg_exchange import exchange_matrix
from strut.contact.legs import Legs
from strut.contact.legs_alike import LegSwap
from strut.contact.stance_coordinates import StanceCoordinates
from strut.contact.switched_rows import MaskedRows
from strut.contact.touch import Touch, add_contact_parameters, point, spot
from strut.contact.walk import slope_name
from strut.errors import ModelError
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
    Ledger,
    Scene,
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
    """Return the mechanism as a walker on `ground`: see `Legs`.

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
    """A walker that steps, put together: its coordinates on the stance foot, discrete states and resets."""

    def __init__(self, mechanism: Mechanism, legs: Legs, ground: Ground) -> None:
        self.legs, self.ground = legs, ground
        self.stance, self.swing = (
            foot if isinstance(foot, Touch) else point(foot) for foot in (legs.stance, legs.swing)
        )
        params = mechanism.parameter_set()
        add_contact_parameters(params, ground, (self.stance, self.swing))
        params.add_number(legs.fall, "the height of a fall")
        params.add_number(legs.margin, "the margin of legs")
        add_drive_parameters(params, legs.drives)
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
        self.coords = StanceCoordinates(assembly, legs, self.stance, ground)
        self.exchange = exchange_matrix(tree, legs, self.coords.free, (self.stance.frame, self.swing.frame))
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
        gap = spot(self.tree, self.swing, self.ground).gap
        ahead = (
            observe.position(self.tree, self.swing.frame) - observe.position(self.tree, self.stance.frame)
        )[0]
        self.landing = Swing(gap, ahead - sx(legs.margin), self.coords.on_first_foothold)

    # ---- in single support ----

    def _lock_rows(self) -> ca.SX:
        """Over all velocities."""
        rows = ca.SX.zeros(len(self.legs.locks), self.tree.nv)
        for k, lock in enumerate(self.legs.locks):
            rows[k, self.tree.v_of[lock.lower].start] = 1
            rows[k, self.tree.v_of[lock.upper].start] = -1
        return rows

    def _flow(self, tau: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Accelerations of the angles, the force on the stance foot, along the axes, and those of locks."""
        tree, T = self.tree, self.coords.T
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
        force = (M @ whole + bias)[self.coords.base]
        return free, force, locking

    def _residual(self, tau: ca.SX, unknown: ca.SX) -> ca.SX:
        """What is zero for the right accelerations of the angles, force on the stance foot and forces of
        locks, the `unknown`: inverse dynamics, and the rows of locks, which hold or let go."""
        coords = self.coords
        acceleration, force, locking = ca.vertsplit(
            unknown, np.cumsum([0, len(coords.free), len(coords.base), len(self.locked)]).tolist()
        )
        rows = self._lock_rows() @ coords.T
        on = ca.vertcat(*[z.sym for z in self.locked], ca.SX(0, 1))
        needed = self.tree.inverse(coords.T @ acceleration)
        motion = coords.T.T @ (needed - tau) - rows.T @ locking
        return ca.vertcat(
            motion, needed[coords.base] - force, on * (rows @ acceleration) + (1 - on) * locking
        )

    # ---- heel strike ----

    @property
    def mirror(self) -> ca.SX:
        """The factors of places along the axes when legs change names: in space, -1 sideways."""
        return ca.SX([1, 1] if len(self.coords.axes) == 2 else [1, -1, 1])

    def _strike(self) -> tuple[dict[str, ca.SX], ca.SX]:
        """The reset of heel strike, a plastic impact after which the legs change names; and the gap of the
        swing foot [m]."""
        tree, coords = self.tree, self.coords
        there, here = (spot(tree, foot, self.ground) for foot in (self.swing, self.stance))
        rows = self._lock_rows()
        K = ca.vertcat(there.K, rows)
        masked = MaskedRows(tree.factors, K)
        on = ca.vertcat(*[1 for _ in coords.axes], *[z.sym for z in self.locked])
        v = tree.v + masked.effect(masked.forces(-(K @ tree.v), on))
        reset: dict[str, ca.SX] = {}
        exchange = ca.sparsify(ca.DM(self.exchange))
        angles, rates = (exchange @ each[coords.free] for each in (tree.q, v))
        for k, (position, velocity) in enumerate(zip(coords.positions, coords.velocities, strict=True)):
            reset[position.name] = angles[k]
            reset[velocity.name] = rates[k]
        centre = observe.position(tree, self.swing.frame)[coords.axes]
        foothold = self.mirror * centre - coords.lifted - coords.rolls @ angles
        length = ca.norm_2((there.point - here.point)[[0, 2]])
        if (
            coords.rolls.nnz()
        ):  # the stance foot rolled on while it stood: a step is longer than feet are apart
            length = ca.norm_2((foothold - ca.vertcat(*[z.sym for z in coords.foothold]))[[0, -1]])
        steps, step_length, step_time, struck_at, lift = self.counters
        reset |= {z.name: foothold[k] for k, z in enumerate(coords.foothold)}
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
        tree, T = self.tree, self.coords.T
        rows = self._lock_rows() @ T
        masked = MaskedRows(Factors(T.T @ tree.mass_matrix @ T), rows)
        on = ca.vertcat(*[ca.SX(1) if i == k else z.sym for i, z in enumerate(self.locked)])
        w = tree.v[self.coords.free]
        after = w + masked.effect(masked.forces(-(rows @ w), on))
        lock = self.legs.locks[k]
        reset = {velocity.name: after[i] for i, velocity in enumerate(self.coords.velocities)}
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
        normal = self.ground.frame(observe.position(tree, self.stance.frame))[self.coords.axes, 0]
        events = [
            *self.landing.events(),
            Event("heel_strike", guard=-gap, when=self.landing.armed.sym, reset=strike, priority=1),
            *hip_falls(-height, forward=onward >= 0, back=onward < 0),
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
            events.append(foot_pulls(ca.dot(normal, force)))
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
            progress=tuple(
                z.name for z, axis in zip(self.coords.foothold, self.coords.axes, strict=True) if axis != 1
            ),
            step_length="step_length",
            slope=slope_name(self.ground),
            lift="foothold_z",
            weight=observe.mass(self.tree) * self.tree.mechanism.gravity,
            gravity="gravity",
            kinetic="kinetic",
        )

    def _show_outputs(self, gap: ca.SX, force: ca.SX) -> None:
        """Add what the walker shows to the outputs. gap: of the swing foot [m]. force: on the stance foot
        [N]."""
        tree, (_, step_length, step_time, *_) = self.tree, self.counters
        directions = self.ground.frame(observe.position(tree, self.stance.frame))
        self.assembly.show("m", {"clearance": gap})
        speed = ca.if_else(step_time.sym > 0, step_length.sym / ca.fmax(step_time.sym, 1e-12), 0)
        self.assembly.show("m/s", {"speed": speed})
        along = directions[self.coords.axes, :].T @ force
        friction = along[1] if tree.mechanism.planar else ca.norm_2(along[1:])
        self.assembly.show("N", {"stance_normal": along[0], "stance_friction": friction})

    def _scene(self, force: ca.SX) -> Scene:
        """The picture, with the force on the stance foot [N] as an arrow. Raises where the legs are not
        alike."""
        tree, assembly = self.tree, self.assembly
        push = ca.vertcat(force[0], 0, force[1]) if tree.mechanism.planar else force
        legs = LegSwap(
            tree,
            self.legs,
            feet=(self.stance, self.swing),
            exchange=(self.coords.free, self.exchange),
            params=assembly.params,
        )
        legs.check_legs_alike()
        arrow = Arrow("stance_foot", spot(tree, self.stance, self.ground).point, push)
        scene = scene_of(tree, [arrow], self.ground.floor())
        return replace(scene, points=assembly.points, swaps=legs.swapped_parts(scene))

    def system(self, description: str, take_off: bool) -> System:
        """The walker: its flow, events, outputs, energy account and picture, as expressions of the states
        alone."""
        assembly, tree, coords = self.assembly, self.tree, self.coords
        tau, entries, inputs = add_drives(assembly, self.legs.drives)
        acceleration, force, locking = self._flow(tau)
        forces = ca.vertcat(force, locking)
        unknown = ca.SX.sym("acceleration", len(coords.free) + forces.numel())
        strike, gap = self._strike()
        self._show_outputs(gap, force)
        rates = {q.name: tree.v[c] for q, c in zip(coords.positions, coords.free, strict=True)}
        accelerations = {v.name: acceleration[k] for k, v in enumerate(coords.velocities)}
        drawing = self._scene(force)

        # All expressions are of all coordinates so far; together they become ones of the states.
        together = BatchRewrite()
        flow = together.add(rates | accelerations)
        events = together.add_jumps(self._events(gap, strike, force, take_off))
        outputs, looks = together.add(assembly.outputs), together.add(drawing.columns())
        books = [together.add(entries[group]) for group in ("stored", "supplied", "dissipated")]
        equations = together.add({"residual": self._residual(tau, unknown), "further": forces})
        together.rewrite(coords.in_states)
        return System(
            assembly.mechanism.name,
            x=(*coords.positions, *coords.velocities),
            z=(*coords.foothold, *self.landing.discrete, *self.locked, *self.bent, *self.counters),
            u=tuple(inputs),
            p=tuple(assembly.params),
            flow=flow() or {},
            events=events(),
            outputs=outputs() or {},
            output_units=assembly.units,
            ledger=Ledger(*(book() or {} for book in books)),
            implied=Implied(tuple(v.name for v in coords.velocities), unknown, **(equations() or {})),
            scene=drawing.with_columns(looks() or {}),
            walk=self._walk(),
            description=description,
        )
