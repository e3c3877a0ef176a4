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
from strut.system import Discrete, Event, Param, System, sx

RISE = "stair"
"""The parameter that says by how much the ground rises from step to step [m]."""
MAX_RISE = 1.0
"""The largest rise of a step [m]."""


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


__all__ = ["has_stairs", "level_ground", "on_stairs", "stair_rise"]
