"""Uneven ground: by which state a walker is lifted over it."""

from __future__ import annotations

import casadi as ca

from strut.errors import ModelError
from strut.system import System, sx


def lifting_state(system: System) -> str:
    """Return the state that lifts a walker over the ground, so that the ground of its next step is lower.
    Raises ModelError where its walk names none."""
    walk = system.walk
    if walk is not None and walk.lift and _guards_depend_on(system, walk.lift):
        return walk.lift
    raise ModelError(
        f"'{system.name}' cannot step down, up or over rough ground: its walk names no state that lifts it "
        f"over the ground and that its landings depend on, Walk(lift=...), nor parameters of a step of the "
        f"ground, Walk(ground_step=...)"
    )


def _guards_depend_on(system: System, name: str) -> bool:
    """Say whether any event depends on a state. The ground of some models goes wherever the foot is."""
    return any(bool(ca.depends_on(sx(e.guard), system[name])) for e in system.events)


__all__ = ["lifting_state"]
