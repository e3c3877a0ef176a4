"""A fall: the event that ends a run where a part of the machine comes too low over the ground; of walkers
that stand on one foot one forwards and one back, and one where that foot would pull."""

from __future__ import annotations

import casadi as ca

from strut.contact.ground import Ground
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.tree import Tree
from strut.system import Event, Expression, sx

Fall = tuple[str, Expression] | None
"""A frame, and the height over the ground [m] below which the machine has fallen; None for no such event."""
FELL_FORWARD = "it fell: the hip came down in front"
FELL_BACK = "it fell: the hip came down behind"
PULLED = "the stance foot would pull on the ground"
"""What the events fall, sit and take_off of walkers mean."""


def add_fall_parameters(fall: Fall, params: ParameterSet) -> None:
    """Add the parameters of the height of a fall; `ModelError` where it is no frame and height."""
    if fall is None:
        return
    if not (isinstance(fall, (tuple, list)) and len(fall) == 2 and isinstance(fall[0], str)):
        raise ModelError(f"fall is {fall!r}: give a frame and a height [m], fall=('hip', 0.5)")
    params.add_number(fall[1], "the height of a fall")


def fall_events(fall: Fall, tree: Tree, ground: Ground) -> list[Event]:
    """Return the event that ends a run with status 'fall', if one is asked for."""
    if fall is None:
        return []
    low = sx(fall[1]) - ground.gap(observe.position(tree, fall[0]))
    reason = f"it fell: {fall[0]} came down"
    return [Event("fall", guard=low, terminal=True, failure=True, priority=9, description=reason)]


def hip_falls(low: ca.SX, *, forward: ca.SX, back: ca.SX) -> list[Event]:
    """Return the events fall and sit of a walker on one foot, which end a run.

    low: positive where its hip is too low [m]. forward, back: whether it moves that way.
    """
    return [
        Event(
            name,
            ca.if_else(way, low, -1),
            terminal=True,
            failure=True,
            priority=2,
            description=reason,
        )
        for name, way, reason in (("fall", forward, FELL_FORWARD), ("sit", back, FELL_BACK))
    ]


def foot_pulls(normal: ca.SX) -> Event:
    """Return the event take_off of such a walker, which ends a run. normal: force on its stance foot [N]."""
    return Event("take_off", guard=-normal, terminal=True, failure=True, priority=3, description=PULLED)


__all__ = ["Fall", "add_fall_parameters", "fall_events", "foot_pulls", "hip_falls"]
