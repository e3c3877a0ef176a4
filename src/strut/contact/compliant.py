"""Compliant contact: ground that gives way. Forces follow from penetration and sliding; events only mark
where laws change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca

from strut.checks import checked
from strut.contact.continuous_pad import ContinuousPad
from strut.contact.exchange import Exchange, exchange_with_flags, opposite_foot
from strut.contact.fall import Fall, add_fall_parameters, fall_events
from strut.contact.ground import Ground, ground_of
from strut.contact.joint_reactions import show_reactions
from strut.contact.laws import AnchoredFriction, Law, SmoothFriction
from strut.contact.pad import Pad
from strut.contact.touch import Touch, add_contact_parameters, reachable_spot, touches_of
from strut.contact.uneven import different_heights, foot_heights, lowest_ground, raise_ground
from strut.contact.walk import walk_of
from strut.errors import ModelError
from strut.mechanism import observe
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


@checked
def compliant(  # noqa: PLR0913 -- options of a public function, by keyword
    mechanism: Mechanism,
    feet: Sequence[str | Touch | Sequence[Touch]],
    ground: Ground | None = None,
    *,
    law: Law,
    friction: AnchoredFriction | SmoothFriction | None = None,
    events: bool = True,
    fall: Fall = None,
    symmetry: Exchange = None,
    stabilise: Expression = 10.0,
    reactions: Sequence[str] = (),
    description: str = "",
) -> System:
    """The mechanism on ground that gives way, as a system.

    feet: frames' names for points, or `point`, `sphere`, `arc`, `wheel`, `polygon`, `cylinder`.
    law: of the normal force: `linear`, `hunt_crossley`, `hertz`, `cubic`, `geyer`.
    friction: `anchored`, `viscous`, `coulomb`, or None for none.
    events: False for contact from the state alone, inside the flow, for fixed steps and large batches: a
        step then costs what the flow costs, and the kinks of the laws lie inside steps. See `ContinuousPad`
        for what differs.
    fall: (frame, height [m]); when the frame comes lower over the ground the run ends with status 'fall'.
    symmetry: 'auto', what `mechanism.symmetry` returns, or a function of the tree to the states with left and
        right exchanged; strains and flags of feet whose names differ by _l and _r are exchanged without being
        named. A step of such a machine is then a gait.
    stabilise: rate [1/s] at which drift of closed loops is pulled back.
    reactions: joints beyond which no foot is, whose force and moment become outputs NAME_reaction_x, ..., as
        of `mechanism.system`.

    Each foot F has discrete states F_on, with a damped law F_slack (the depth [m] at which it began to leave
    faster than the ground follows, else 0), and with anchored friction F_slip and the state F_strain (in
    space F_strain_x and F_strain_y, along the ground); events F_touchdown, F_liftoff, F_slack and F_press,
    F_slide and F_stick; outputs F_gap, F_normal and F_friction (in space F_friction_x and F_friction_y).
    Unless they are given, flags begin as the state says in which a run begins. Without events a foot has
    none of these but its strain and its outputs, and a state F_contact_time, how long it has touched [s]. On
    curved ground the normal force acts along the gradient of the gap, so that elastic contact conserves
    energy. A foot that slides into the riser of stairs is deep in the ground at once: the energy of that is
    in no book. Uneven ground (`contact.uneven`) needs events.
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
    if surface.uneven and not events:
        raise ModelError(
            "contact.compliant without events does not take uneven ground: a foot that leaves is an event, "
            "at which the ground under it changes; leave out events=False, or give the plane, stairs or "
            "profile itself"
        )
    params = mechanism.parameter_set()
    add_contact_parameters(params, surface, touches, stabilise=stabilise)
    params.add(*law.numbers, *(friction.numbers if friction else ()))
    add_fall_parameters(fall, params)
    assembly = Assembly(mechanism, params)
    pads: list[Pad | ContinuousPad] = []
    heights = foot_heights(assembly.tree, touches, surface)
    different = different_heights(heights)
    begin = _in_states(assembly, different)
    for t, z in zip(touches, heights, strict=True):
        at = reachable_spot(assembly.tree, t, surface if z is None else raise_ground(surface, z.sym))
        row = _gap_row(assembly.tree, at.gap) if surface.kind == "profile" else None
        if not events:
            pads.append(ContinuousPad(assembly.tree, at, law, friction, gradient=row))
            continue
        pads.append(Pad(assembly.tree, at, law, friction, begin=begin, gradient=row, height=z))
    exchange = exchange_with_flags(
        symmetry, assembly, [*[q for pad in pads for q in (*pad.rates, *pad.discrete)], *different]
    )
    return system_with_pads(
        assembly,
        pads,
        stabilise=sx(stabilise),
        description=description or f"{mechanism.name} on compliant ground",
        companions=PadCompanions(
            z=different,
            events=fall_events(fall, assembly.tree, lowest_ground(surface, heights)),
            symmetry=exchange,
            reactions=reactions,
            standing=[observe.frame_of(assembly.tree, each.frame).body.name for each in touches],
        ),
        floor=surface.floor(),
        walk=walk_of(assembly, surface, _feet(assembly, touches, pads, exchange)),
    )


def _in_states(assembly: Assembly, heights: Sequence[Discrete]) -> Callable[[ca.SX], ca.SX]:
    """What makes an initial value of an expression of the tree: one of the states, on ground that is not yet
    uneven. heights: of the ground under feet."""
    symbols, even = [z.sym for z in heights], [ca.SX(0) for _ in heights]
    return lambda expression: assembly.in_states(ca.substitute([sx(expression)], symbols, even))[0]


def _feet(
    assembly: Assembly,
    touches: Sequence[Touch],
    pads: Sequence[Pad | ContinuousPad],
    exchange: Mapping[str, ca.SX],
) -> list[Foot]:
    """The contacts as users of the system see them: with their places, and the foot on the other side."""
    by_flag = {pad.touching.state.name: pad.spot.name for pad in pads if isinstance(pad, Pad)}
    return [
        replace(
            pad.foot,
            at=assembly.in_states([pad.spot.point])[0],
            body=observe.frame_of(assembly.tree, touch.frame).body.name,
            opposite=opposite_foot(exchange, pad.touching.state, by_flag) if isinstance(pad, Pad) else "",
        )
        for touch, pad in zip(touches, pads, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class PadCompanions:
    """What a system has besides its pads: further states with their rates, discrete states and events, the
    values that quantities begin a run with, states with left and right exchanged, joints whose reactions are
    outputs, and bodies that the ground pushes."""

    rates: Mapping[State, ca.SX] = field(default_factory=dict)
    z: Sequence[Discrete] = ()
    events: Sequence[Event] = ()
    begin: Mapping[Quantity, ca.SX] = field(default_factory=dict)
    symmetry: Mapping[str, ca.SX] = field(default_factory=dict)
    reactions: Sequence[str] = ()
    standing: Sequence[str] = ()


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
    assembly.tau = assembly.tau + _pushes(assembly.tree, pads)
    force = ca.SX(0, 1)
    for pad in pads:
        for group, entries in pad.entries.items():
            assembly.entries[group] |= entries
        for unit, outputs in pad.outputs.items():
            assembly.show(unit, outputs)
        more |= pad.rates
        z += pad.discrete
        events += pad.events()
        flags |= pad.initial_flags() if beside.begin else {}
    if assembly.closure is None:
        acceleration = assembly.tree.forward(assembly.tau)
    else:
        acceleration, force = Constrained(assembly.tree, assembly.closure, stabilise).forward(assembly.tau)
        assembly.note_closure(force)
    show_reactions(assembly, beside.reactions, beside.standing, acceleration, force)
    acceleration, more = _share_expressions(assembly, acceleration, more)
    arrows = [Arrow(pad.spot.name, pad.spot.point, pad.force) for pad in pads]
    samples = []
    if beside.begin:
        first_values = _initial_values(flags, beside.begin)
        samples.append(Sample("contact_begin", every=ONE_TIME_PERIOD, set=first_values))
    return assembly.build(
        acceleration,
        description,
        z=z,
        events=events,
        samples=samples,
        more=more,
        symmetry=beside.symmetry,
        floor=floor,
        arrows=arrows,
        walk=walk,
    )


def _pushes(tree: Tree, pads: Sequence[Pad | ContinuousPad]) -> ca.SX:
    """The generalised forces of all pads. Those of points of bodies are the gradient of force times place, by
    reverse differentiation: the forces on a body are summed up before they go down its chain of joints."""
    total = sum((pad.push for pad in pads if not pad.spot.moves_with_body), ca.SX.zeros(tree.nv))
    own = [pad for pad in pads if pad.spot.moves_with_body]
    if own:
        points, forces = (
            ca.vertcat(*each) for each in zip(*[(p.spot.point, p.force) for p in own], strict=True)
        )
        along = ca.jtimes(points, tree.q, forces, True)
        total = total + ca.jtimes(tree.qdot, tree.v, along, True)
    return ca.densify(total)


def _share_expressions(
    assembly: Assembly, acceleration: ca.SX, rates: Mapping[State, ca.SX]
) -> tuple[ca.SX, dict[State, ca.SX]]:
    """Accelerations and rates, and the entries of the ledger in the assembly, with what they have in common
    computed once (common subexpressions): differentiation writes poses anew."""
    entries = [(group, name) for group, own in assembly.entries.items() for name in own]
    own = [ca.SX(assembly.entries[group][name]) for group, name in entries]
    first, *others = ca.cse([acceleration, *map(ca.SX, rates.values()), *own])
    for (group, name), expression in zip(entries, others[len(rates) :], strict=True):
        assembly.entries[group][name] = expression
    return first, dict(zip(rates, others[: len(rates)], strict=True))


def _initial_values(flags: dict[str, ca.SX], begin: Mapping[Quantity, ca.SX]) -> dict[str, ca.SX]:
    """What the first sample sets: the quantities in `begin` to their values, and the flags
    to theirs, worked out after that."""
    values = ca.substitute(list(flags.values()), [q.sym for q in begin], list(begin.values()))
    return dict(zip(flags, values, strict=True)) | {q.name: value for q, value in begin.items()}


def _gap_row(tree: Tree, gap: ca.SX) -> ca.SX:
    """The row that gives the rate of a gap."""
    return ca.densify(ca.jacobian(ca.jtimes(gap, tree.q, tree.qdot), tree.v))
