"""Compliant contact: ground that gives way. Forces follow from penetration and sliding; events only mark
where laws change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca

from strut.checks import checked
from strut.contact.continuous_pad import ContinuousPad
from strut.contact.ground import Ground, ground_of
from strut.contact.laws import AnchoredFriction, Law, SmoothFriction
from strut.contact.touch import Spot, Touch, add_contact_parameters, reachable_spot, touches_of
from strut.contact.walk import parameter_name, walk_of
from strut.errors import ModelError
from strut.mechanism.assemble import Assembly
from strut.mechanism.closure import Constrained
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system import (
    Arrow,
    Discrete,
    Event,
    Expression,
    Floor,
    Foot,
    Quantity,
    Sample,
    State,
    System,
    Walk,
    sx,
)

ONE_TIME_PERIOD = 1e9
"""[s] The period of a sample that happens once, when a run begins at time 0."""
FORCE_SLACK = 1e-9
"""[N], and relative to the friction limit [1]: a contact whose force exceeds the limit by less does not
slide."""
LIFTOFF_MARGIN = 1e-12
"""[m] How far a contact must open before it counts as open: what touches and is at rest has a depth that is
rounding, and would land and lift for ever. The force is nothing there already; rounding of a depth is 1e-15
m, and of a guard that rests at -1, 6e-14."""


@checked
def compliant(
    mechanism: Mechanism,
    feet: Sequence[str | Touch | Sequence[Touch]],
    ground: Ground | None = None,
    *,
    law: Law,
    friction: AnchoredFriction | SmoothFriction | None = None,
    events: bool = True,
    stabilise: Expression = 10.0,
    description: str = "",
) -> System:
    """The mechanism on ground that gives way, as a system.

    feet: frames' names for points, or `point`, `sphere`, `arc`, `wheel`, `polygon`, `cylinder`.
    law: of the normal force: `linear`, `hunt_crossley`, `hertz`, `cubic`, `geyer`.
    friction: `anchored`, `viscous`, `coulomb`, or None for none.
    events: False for contact from the state alone, inside the flow, for fixed steps and large batches: a
        step then costs what the flow costs, and the kinks of the laws lie inside steps. See `ContinuousPad`
        for what differs.
    stabilise: rate [1/s] at which drift of closed loops is pulled back.

    Each foot F has discrete states F_on, with a damped law F_slack (the depth [m] at which it began to leave
    faster than the ground follows, else 0), and with anchored friction F_slip and the state F_strain (in
    space F_strain_x and F_strain_y, along the ground); events F_touchdown, F_liftoff, F_slack and F_press,
    F_slide and F_stick; outputs F_gap, F_normal and F_friction (in space F_friction_x and F_friction_y). A
    run that begins at time 0 sets the flags of feet that begin inside the ground. Without events a foot has
    none of these but its strain and its outputs, and a state F_contact_time, how long it has touched [s]. On
    curved ground the normal force acts along the gradient of the gap, so that elastic contact conserves
    energy. A foot that slides into the riser of stairs is deep in the ground at once: the energy of that is
    in no book.
    """
    if not isinstance(law, Law):
        raise ModelError(
            f"the law of compliant contact is {law!r}: use contact.linear(...), hunt_crossley, hertz, cubic "
            f"or geyer"
        )
    if friction is not None and not isinstance(friction, (AnchoredFriction, SmoothFriction)):
        raise ModelError(
            f"the friction of compliant contact is {friction!r}: use contact.anchored(...), "
            f"viscous, coulomb, or None"
        )
    surface, touches = ground_of(ground), touches_of(feet)
    params = mechanism.parameter_set()
    add_contact_parameters(params, surface, touches, stabilise=stabilise)
    params.add(*law.numbers, *(friction.numbers if friction else ()))
    assembly = Assembly(mechanism, params)
    q, v, _ = assembly.start()
    pads: list[Pad | ContinuousPad] = []
    for t in touches:
        at = reachable_spot(assembly.tree, t, surface)
        row = _gap_row(assembly.tree, at.gap) if surface.kind == "profile" else None
        if not events:
            pads.append(ContinuousPad(assembly.tree, at, law, friction, gradient=row))
            continue
        inside = bool(assembly.evaluate(at.gap, q, v).item() < 0)
        pads.append(Pad(assembly.tree, at, law, friction, inside=inside, gradient=row))
    walk = walk_of(assembly, surface, [pad.foot for pad in pads])
    return system_with_pads(
        assembly,
        pads,
        stabilise=sx(stabilise),
        description=description or f"{mechanism.name} on compliant ground",
        floor=surface.floor(),
        walk=walk,
    )


@dataclass(frozen=True, eq=False)
class PadCompanions:
    """What a system has besides its pads: further states with their rates, discrete states and events, and
    the values that quantities begin a run with."""

    rates: Mapping[State, ca.SX] = field(default_factory=dict)
    z: Sequence[Discrete] = ()
    events: Sequence[Event] = ()
    begin: Mapping[Quantity, ca.SX] = field(default_factory=dict)


def system_with_pads(
    assembly: Assembly,
    pads: Sequence[Pad | ContinuousPad],
    *,
    stabilise: ca.SX,
    description: str,
    companions: PadCompanions | None = None,
    floor: Floor | None = None,
    walk: Walk | None = None,
) -> System:
    """Add the forces, energies, states and events of pads to an assembly, and build the system.

    stabilise: rate [1/s] at which drift of closed loops is pulled back (Baumgarte stabilisation).
    companions: what the system has besides. floor, walk: of the system.
    """
    beside = companions or PadCompanions()
    more, z, events = dict(beside.rates), list(beside.z), list(beside.events)
    flags: dict[str, ca.SX] = {}
    for pad in pads:
        assembly.tau = assembly.tau + pad.push
        for group, entries in pad.entries.items():
            assembly.entries[group] |= entries
        for unit, outputs in pad.outputs.items():
            assembly.show(unit, outputs)
        more |= pad.rates
        z += pad.discrete
        events += pad.events()
        flags |= pad.initial_flags()
    if assembly.closure is None:
        acceleration = assembly.tree.forward(assembly.tau)
    else:
        acceleration, force = Constrained(assembly.tree, assembly.closure, stabilise).forward(assembly.tau)
        assembly.note_closure(force)
    arrows = [Arrow(pad.spot.name, pad.spot.point, pad.force) for pad in pads]
    initial_values = _initial_values(flags, beside.begin)
    start = Sample(
        "contact_begin", every=ONE_TIME_PERIOD, set=initial_values, loss=None if beside.begin else {}
    )
    return assembly.build(
        acceleration,
        description,
        z=z,
        events=events,
        samples=[start] if initial_values else [],
        more=more,
        floor=floor,
        arrows=arrows,
        walk=walk,
    )


def _initial_values(flags: dict[str, ca.SX], begin: Mapping[Quantity, ca.SX]) -> dict[str, ca.SX]:
    """What the first sample sets: the quantities in `begin` to their values, and the flags to theirs, worked
    out after that."""
    if not begin:
        return flags
    values = ca.substitute(list(flags.values()), [q.sym for q in begin], list(begin.values()))
    return dict(zip(flags, values, strict=True)) | {q.name: value for q, value in begin.items()}


@dataclass(eq=False)
class Flag:
    """A discrete state that is 0, or positive."""

    state: Discrete

    @property
    def on(self) -> ca.SX:
        """1 where the state is positive."""
        return self.state.sym > 0

    @property
    def off(self) -> ca.SX:
        """1 where the state is not positive."""
        return self.state.sym <= 0

    def set(self, value: Expression) -> dict[str, ca.SX]:
        """The reset that gives the state a value."""
        return {self.state.name: sx(value)}


class Pad:
    """One compliant contact: its flags, forces, energies and events.

    at: where and how the surfaces meet. inside: whether they overlap when a run begins.
    gradient: the row along which the normal force acts; the first row of `at` unless given.
    """

    def __init__(
        self,
        tree: Tree,
        at: Spot,
        law: Law,
        friction: AnchoredFriction | SmoothFriction | None,
        *,
        inside: bool,
        gradient: ca.SX | None = None,
    ) -> None:
        name = at.name
        self.spot, self.law, self.friction = at, law, friction
        row = at.K[0, :] if gradient is None else gradient
        self.depth, self.rate = -at.gap, -(row @ tree.v)
        self.touching = Flag(Discrete(f"{name}_on", float(inside)))
        self.slack = Flag(Discrete(f"{name}_slack", 0.0)) if law.grip is not None else None
        self.slip = Flag(Discrete(f"{name}_slip", 0.0)) if isinstance(friction, AnchoredFriction) else None
        self.along = at.K[1:, :] @ tree.v
        suffixes = ("",) if at.K.shape[0] == 2 else ("_x", "_y")
        self.strains = (
            [State(f"{name}_strain{s}", 0.0, "m") for s in suffixes] if self.slip is not None else []
        )
        self.rates: dict[State, ca.SX] = {}
        on = self.touching.on
        pressing = on if self.slack is None else on * self.slack.off
        self.normal = pressing * law.pressing_force(self.depth, self.rate)
        self.stored = (
            law.energy(self.depth)
            if self.slack is None
            else law.energy(ca.fmax(self.depth, self.slack.state.sym))
        )
        self.entries: dict[str, dict[str, ca.SX]] = {
            "stored": {f"{name}_spring": self.stored},
            "dissipated": {f"{name}_damper": pressing * (self.normal - law.elastic(self.depth)) * self.rate},
        }
        tangential = self._friction()
        self.force = at.directions @ ca.vertcat(self.normal, tangential)
        self.push = row.T @ self.normal + at.K[1:, :].T @ tangential
        forces = {f"{name}_normal": self.normal} | {
            f"{name}_friction{s}": tangential[k] for k, s in enumerate(suffixes)
        }
        self.outputs = {"m": {f"{name}_gap": at.gap}, "N": forces}

    @property
    def foot(self) -> Foot:
        """This contact as users of the system see it."""
        name, forces = self.spot.name, list(self.outputs["N"])
        return Foot(
            name=name,
            lands=f"{name}_touchdown",
            stands=self.touching.state.name,
            normal=forces[0],
            friction=tuple(forces[1:]),
            coefficient=parameter_name(self.friction.mu if self.friction is not None else None),
            gap=f"{name}_gap",
        )

    @property
    def discrete(self) -> list[Discrete]:
        """The flags, as discrete states."""
        return [flag.state for flag in (self.touching, self.slack, self.slip) if flag is not None]

    def _friction(self) -> ca.SX:
        """Friction along the tangents; notes what it stores and dissipates, and how strains change."""
        name, on = self.spot.name, self.touching.on
        if self.friction is None:
            return ca.SX.zeros(self.along.numel())
        if isinstance(self.friction, SmoothFriction):
            force = on * self.friction.push(self.normal, self.along)
            self.entries["dissipated"][f"{name}_friction"] = -ca.dot(force, self.along)
            return force
        assert self.slip is not None
        stiffness, damping, mu = (sx(n) for n in self.friction.numbers)
        strain = ca.vertcat(*[s.sym for s in self.strains])
        stick_force = stiffness * strain + damping * self.along
        size = _length(stick_force)
        limit = mu * self.normal
        self.excess = size - limit
        self.slide_slack = FORCE_SLACK * (2 + limit)
        dragged = (
            self.slip.on * self.excess / damping
        )  # the speed at which the place the foot holds on to moves
        rate = on * (self.along - dragged * stick_force / size)
        self.rates = dict(zip(self.strains, ca.vertsplit(rate), strict=True))
        self.energy = stiffness * ca.sumsqr(strain) / 2
        self.entries["stored"][f"{name}_strain"] = self.energy
        self.entries["dissipated"][f"{name}_friction"] = on * (damping * ca.sumsqr(rate) + limit * dragged)
        return -on * stick_force * (1 - self.slip.on * self.excess / size)

    def initial_flags(self) -> dict[str, ca.SX]:
        """The flags with which a run begins, as expressions of where it begins."""
        inside = self.depth > 0
        flags = self.touching.set(ca.fmax(self.touching.on * (self.depth >= -LIFTOFF_MARGIN), inside))
        if self.slack is not None:
            assert self.law.grip is not None
            flags |= self.slack.set(self.depth * inside * (self.law.grip(self.depth, self.rate) <= 0))
        return flags

    def events(self) -> list[Event]:
        """Events at which the law changes: landing and leaving, slack and press, slide and stick, kinks."""
        name, on, off = self.spot.name, self.touching.on, self.touching.off
        land, leave, loss = self.touching.set(1), self.touching.set(0), dict[str, ca.SX]()
        if self.slack is not None:
            leave |= self.slack.set(0)
            loss[f"{name}_slack"] = self.slack.on * self.stored
        if self.slip is not None:
            leave |= self.slip.set(0) | {s.name: ca.SX(0) for s in self.strains}
            loss[f"{name}_strain"] = self.energy
        events = [
            Event(
                f"{name}_touchdown", guard=ca.if_else(off, self.depth, -1), reset=land, priority=1, loss={}
            ),
            Event(
                f"{name}_liftoff",
                guard=ca.if_else(on, -self.depth - LIFTOFF_MARGIN, -1),
                reset=leave,
                priority=1,
                loss=loss,
            ),
        ]
        if self.slack is not None:
            events += self._slack_events(self.slack)
        if self.slip is not None:
            events += self._slip_events(self.slip)
        for k, kink in enumerate(self.law.kinks(self.depth, self.rate)):
            events.append(Event(f"{name}_cap{k or ''}", kink, direction="both", when=on, priority=4, loss={}))
        return events

    def _slack_events(self, slack: Flag) -> list[Event]:
        """A foot that leaves faster than the ground follows goes slack, and presses when it is met again."""
        name, on = self.spot.name, self.touching.on
        assert self.law.grip is not None
        grip = self.law.grip(self.depth, self.rate)
        recovered = {f"{name}_slack": self.stored - self.law.energy(self.depth)}
        return [
            Event(
                f"{name}_slack",
                ca.if_else(on * slack.off, -grip, -1),
                slack.set(self.depth),
                priority=2,
                loss={},
            ),
            Event(
                f"{name}_press",
                ca.if_else(on * slack.on, grip, -1),
                slack.set(0),
                priority=2,
                loss=recovered,
            ),
        ]

    def _slip_events(self, slip: Flag) -> list[Event]:
        """A foot slides where spring and damper exceed the friction limit, and sticks where they fall
        below."""
        name, on = self.spot.name, self.touching.on
        return [
            Event(
                f"{name}_slide",
                ca.if_else(on * slip.off, self.excess - self.slide_slack, -1),
                slip.set(1),
                priority=3,
                loss={},
            ),
            Event(
                f"{name}_stick",
                ca.if_else(on * slip.on, -self.excess, -1),
                slip.set(0),
                priority=3,
                loss={},
            ),
        ]


def _gap_row(tree: Tree, gap: ca.SX) -> ca.SX:
    """The row that gives the rate of a gap."""
    return ca.densify(ca.jacobian(ca.jtimes(gap, tree.q, tree.qdot), tree.v))


def _length(vector: ca.SX) -> ca.SX:
    """The length of a vector, smoothed at zero so that it is differentiable and never zero."""
    return ca.sqrt(ca.sumsqr(vector) + FORCE_SLACK**2)
