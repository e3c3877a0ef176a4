"""Uneven ground: a height of its own under each foot, which changes while the foot is off the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import casadi as ca

from strut.checks import checked
from strut.contact.ground import Ground, ground_of
from strut.contact.touch import Touch
from strut.mechanism import observe
from strut.mechanism.tree import Tree
from strut.system import Discrete


@checked
def uneven(ground: Ground | None = None) -> Ground:
    """Return ground that may be higher under each foot by a height of its own.

    ground: a plane, stairs or profile; level where none is given. On it, `contact.rigid` and
    `contact.compliant` give each foot F a discrete state F_ground [m], 0 unless told: by how much the ground
    under it is higher. Contacts of one body, a heel and a toe, share one: BODY_ground. A foot lands there
    only after it was above it. `gait.step_down`, `step_up` and `walk_over` then change the ground under a
    foot when it leaves, with all contacts of its body; risers are not touched.
    """
    return replace(ground_of(ground), uneven=True)


def foot_heights(tree: Tree, touches: Sequence[Touch], ground: Ground) -> list[Discrete | None]:
    """Return the heights of the ground under feet, as discrete states, which contacts of one body share; None
    where it is not uneven."""
    if not ground.uneven:
        return [None] * len(touches)
    bodies = [observe.frame_of(tree, touch.frame).body.name for touch in touches]
    heights: dict[str, Discrete] = {}
    for touch, body in zip(touches, bodies, strict=True):
        name = touch.name if bodies.count(body) == 1 else body
        text = f"height of the ground under {name}"
        heights.setdefault(body, Discrete(f"{name}_ground", 0.0, "m", description=text))
    return [heights[body] for body in bodies]


def different_heights(heights: Sequence[Discrete | None]) -> list[Discrete]:
    """Return each height of the ground once."""
    return list({z.name: z for z in heights if z is not None}.values())


def lowest_ground(ground: Ground, heights: Sequence[Discrete | None]) -> Ground:
    """Return the ground, where it is uneven as low as under the lowest foot: over it, a machine falls."""
    own = [z.sym for z in different_heights(heights)]
    return raise_ground(ground, reduce(ca.fmin, own)) if own else ground


def raise_ground(ground: Ground, height: ca.SX) -> Ground:
    """Return the same ground, higher by `height` [m]."""
    return replace(ground, height=lambda x, y: ground.height(x, y) + height)


__all__ = ["different_heights", "foot_heights", "lowest_ground", "raise_ground", "uneven"]
