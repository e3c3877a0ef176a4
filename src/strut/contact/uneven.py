"""Uneven ground: a height of its own under each foot, which changes while the foot is off the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from strut.checks import checked
from strut.contact.ground import Ground, ground_of
from strut.contact.touch import Touch
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.tree import Tree
from strut.system import Discrete


@checked
def uneven(ground: Ground | None = None) -> Ground:
    """Return ground that may be higher under each foot by a height of its own.

    ground: a plane, stairs or profile; level where none is given. On it, `contact.rigid` gives each foot F a
    discrete state F_ground [m], 0 unless told: by how much the ground under it is higher. The foot lands
    there only after it was above it. `gait.step_down`, `step_up` and `walk_over` then change the ground
    under a foot when it leaves; risers are not touched.
    """
    return replace(ground_of(ground), uneven=True)


def foot_heights(tree: Tree, touches: Sequence[Touch], ground: Ground) -> list[Discrete | None]:
    """Return the heights of the ground under feet, as discrete states; None where it is not uneven.

    Raises ModelError for two feet of one body: the ground under one would change while the other stands.
    """
    if not ground.uneven:
        return [None] * len(touches)
    by_body: dict[str, str] = {}
    for touch in touches:
        body = observe.frame_of(tree, touch.frame).body.name
        if body in by_body:
            raise ModelError(
                f"the ground under '{body}' is not made uneven: it stands on '{by_body[body]}' and on "
                f"'{touch.name}', and uneven ground takes one contact of each body; give it one, or ground "
                f"that is not uneven"
            )
        by_body[body] = touch.name
    return [
        Discrete(f"{t.name}_ground", 0.0, "m", description=f"height of the ground under {t.name}")
        for t in touches
    ]


def raise_ground(ground: Ground, height: ca.SX) -> Ground:
    """Return the same ground, higher by `height` [m]."""
    return replace(ground, height=lambda x, y: ground.height(x, y) + height)


__all__ = ["foot_heights", "raise_ground", "uneven"]
