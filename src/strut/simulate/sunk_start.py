"""Feet that begin a run in rigid ground: the ground lifts them out of it, and no account has that energy."""

from __future__ import annotations

import numpy as np

from strut.simulate.trajectory import Trajectory
from strut.system import stops_dead

MAX_RIGID_DEPTH = 1e-6
"""[m] A point on rigid ground may begin so far below it: numbers are rounded."""


def sunk_feet(run: Trajectory) -> dict[str, float]:
    """Return how deep [m] feet begin in the ground, by name, of those that say how high they are and do not
    swing through it by design; without those that are no deeper than `MAX_RIGID_DEPTH`."""
    if run.system is None or run.system.walk is None:
        return {}
    feet = [foot for foot in run.system.walk.feet if foot.gap and foot.normal and not foot.passes]
    depths = {foot.name: -float(run[foot.gap].flat[0]) for foot in feet}
    return {name: depth for name, depth in depths.items() if depth > MAX_RIGID_DEPTH}


def lifted_feet(run: Trajectory) -> dict[str, float]:
    """Return how deep [m] feet begin in rigid ground on which they then stand, by name: the pull that keeps
    them from drifting (Baumgarte stabilisation) lifts them out of it."""
    depths = sunk_feet(run)
    if run.system is None or run.system.walk is None:
        return {}
    return {
        foot.name: depths[foot.name]
        for foot in run.system.walk.feet
        if foot.name in depths and foot.lands and foot.stands and stops_dead(run.system, foot)
        if np.any((run[foot.stands] > 0) & (run[foot.gap] < -MAX_RIGID_DEPTH))
    }


def describe_lift(run: Trajectory) -> str:
    """Say which foot begins deepest in rigid ground, and what to do; empty where none is lifted out of it."""
    depths = lifted_feet(run)
    if not depths:
        return ""
    deepest = max(depths, key=lambda name: depths[name])
    others = len(depths) - 1
    more = f" (and {others} other{'s' if others > 1 else ''} no deeper)" if others else ""
    depth = f"{1000 * depths[deepest]:.3g} mm"
    return (
        f"'{deepest}' begins {depth} in the ground{more}, which is rigid there and lifts it out, and no "
        f"entry of the account has that energy; let the machine begin {depth} higher"
    )


__all__ = ["MAX_RIGID_DEPTH", "describe_lift", "lifted_feet", "sunk_feet"]
