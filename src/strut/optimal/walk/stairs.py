"""Stairs: the ground of a walker that rises, or falls, by the same height from step to step.

The walker is one that stands on its stance foot (`contact.stepping`): treads are level where the ground was,
and a foot lands on the tread above, or below, the one that the other stands on. How long treads are is the
length of a step.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.section import default_section
from strut.optimal.walk.read_walk import stands_in_turn, velocity_states
from strut.system import Discrete, Event, Param, System, start, sx

RISE = "stair"
"""The parameter that says by how much the ground rises from step to step [m]."""
SAME_RATE = 1e-9
"""Rates of a motor [rad/s] up to this are zero, where the whole machine turns at 1 rad/s."""
MAX_RISE = 1.0
"""The largest rise of a step [m]."""

LOW_RISE, MAX_THROWN_RISE = 0.02, 0.03
"""Rises of a step [m]: that a machine of human size climbs by throwing its leg forward, where the ground goes
down besides; and beyond which nothing is searched for unless that is asked."""


def on_stairs(walker: System, rise: float) -> System:
    """Return the walker on stairs that rise by so much with every step [m], negative downstairs. Raises
    `ModelError` for walkers that do not stand on one foot in the fewest coordinates."""
    if has_stairs(walker):
        return walker.using({RISE: rise})
    section, walk = default_section(walker), walker.walk
    foot = None if walk is None else walk.foot_of(section)
    discrete = {q.name: q for q in walker.z}
    says_place = walk is not None and walk.lift in discrete and walk.lift in walk.progress
    if walk is None or foot is None or not foot.gap or not says_place:
        if stands_in_turn(walker, section):
            raise ModelError(
                f"stairs are asked, but the base of '{walker.name}' floats, and stairs are not planned for "
                f"floating bases: the ready-made rabbit, on its foot, climbs them (strut design rabbit "
                f"--stair {rise:g}), and so may a walker of your own that is made with contact.stepping(...)"
            )
        raise ModelError(
            f"stairs are asked, but '{walker.name}' does not say where its stance foot stands: stairs are "
            f"for walkers that change legs at every step, contact.stepping(...)"
        )
    height = Param(RISE, rise, "m", bounds=(-MAX_RISE, MAX_RISE), description="of the ground, at every step")
    level = Discrete("stair_level", 0.0, "m", description="of the tread that the stance foot stands on")
    place = discrete[walk.lift].sym

    def over(expression: ca.SX, tread: ca.SX) -> ca.SX:
        """What an expression of the height of the machine over the ground is over a tread."""
        return ca.substitute([sx(expression)], [place], [place - tread])[0]

    here, next_tread = level.sym, level.sym + height.sym
    events: list[Event] = []
    for event in walker.events:
        reset = {name: sx(e) for name, e in event.reset.items()}
        if event.name == section:  # where it lands is where it lands: only when it does is another matter
            reset |= {level.name: next_tread}
            events.append(replace(event, guard=over(event.guard, next_tread), reset=reset))
        elif event.name in foot.events:
            reset = {name: over(e, next_tread) for name, e in reset.items()}
            events.append(replace(event, guard=over(event.guard, next_tread), reset=reset))
        else:
            events.append(replace(event, guard=over(event.guard, here)))
    outputs = {**walker.outputs, foot.gap: over(walker.outputs[foot.gap], next_tread)}
    return walker.replace(z=(*walker.z, level), p=(*walker.p, height), events=tuple(events), outputs=outputs)


def has_stairs(walker: System) -> bool:
    """Return whether a walker is on stairs. Its swing foot is below the tread on which it will land at first:
    it is asked to be above it from where it passes the other foot."""
    return RISE in walker.labels("p")


def stair_rise(walker: System) -> float:
    """Return by how much the ground of a walker rises with every step [m]: 0 without stairs."""
    return next((float(np.ravel(q.value)[0]) for q in walker.p if q.name == RISE), 0.0)


def level_ground(walker: System) -> System:
    """Return a walker on ground without stairs, if it was on some: the same system with another number."""
    return walker.using({RISE: 0.0}) if has_stairs(walker) else walker


def climbing_doubt(walker: System) -> str:
    """Say why a walker may not climb its stairs, where only one motor drives it, between its legs; empty for
    others, and downstairs.

    Such a motor has no moment about the stance foot: gravity alone changes the angular momentum there, m g
    times the lead of the centre of mass. On a leg of fixed length a step up by h takes 2 g h from the square
    of the speed, and only a leg thrown forward, by its lead, gives that back.
    """
    rise, velocities = stair_rise(walker), velocity_states(walker)
    if not rise > 0 or walker.size("u") != 1 or not walker.ledger.supplied:
        return ""
    power = sum((sx(each) for each in walker.ledger.supplied.values()), ca.SX(0))
    rate = ca.jacobian(power, walker.vector("u"))
    begin = start(walker)
    together = begin.x.copy()
    together[velocities] = 1.0  # all of it turns about the stance foot
    turns = walker.function("rate", [rate], clock=False)(together, begin.z, begin.u, begin.p)
    if abs(float(turns)) > SAME_RATE:
        return ""
    return (
        f"'{walker.name}' has one motor, between its legs, and cannot push off the ground: only the mass of "
        f"a leg thrown forward lifts it, by a centimetre or two a step, and {rise:g} m is asked. A walker "
        f"with motors in its knees, as rabbit, or in its ankle, as compass-driven, climbs 0.05 m"
    )


__all__ = ["climbing_doubt", "has_stairs", "level_ground", "on_stairs", "stair_rise"]
