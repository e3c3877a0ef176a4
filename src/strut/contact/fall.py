"""A fall: the event that ends a run where a part of the machine comes too low over the ground."""

from __future__ import annotations

from strut.contact.ground import Ground
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.tree import Tree
from strut.system import Event, Expression, sx

Fall = tuple[str, Expression] | None
"""A frame, and the height over the ground [m] below which the machine has fallen; None for no such event."""


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


__all__ = ["Fall", "add_fall_parameters", "fall_events"]
