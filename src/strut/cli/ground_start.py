"""Whether a run begins in the ground: points of contact that are deeper than a machine would stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from strut.cli.answer import number_text, warn
from strut.simulate.sunk_start import lifted_feet, sunk_feet

if TYPE_CHECKING:
    from strut.simulate import Trajectory

MAX_LOAD = 1.1
"""[1] The ground may push a machine that begins on soft points with so many times its weight: at rest with
once."""


def warn_of_sunk_points(run: Trajectory) -> None:
    """Say which point of contact begins deepest in the ground, and how deep: on rigid ground any, on soft
    ground where all points together push more than the weight, so that the machine is thrown up."""
    system = run.system
    if system is None or system.walk is None:
        return
    depths = sunk_feet(run)
    sunk = [foot for foot in system.walk.feet if foot.name in depths]
    if not sunk:
        return
    from strut.gait import weight_of
    from strut.system import stops_dead

    rigid = {foot.name: depths[foot.name] for foot in sunk if foot.lands and stops_dead(system, foot)}
    soft = {foot.name: depths[foot.name] for foot in sunk if foot.name not in rigid}
    if rigid and not lifted_feet(run):  # the warning of the account says so
        _warn(rigid, "which is rigid there")
    force = sum(float(np.ravel(run[foot.normal])[0]) for foot in sunk if foot.name in soft)
    if force <= 0 or system.walk.weight is None:
        return
    load = force / weight_of(system)
    if load > MAX_LOAD:
        _warn(soft, f"which pushes the machine with {number_text(load, 3)} times its weight")


def _warn(depths: dict[str, float], what: str) -> None:
    """Name the deepest of the points that are in the ground."""
    name = max(depths, key=lambda each: depths[each])
    others = len(depths) - 1
    more = f" (and {others} other{'s' if others > 1 else ''} less deep)" if others else ""
    warn(
        f"'{name}' begins {number_text(1000 * depths[name], 3)} mm in the ground{more}, {what}: let the "
        f"machine begin higher"
    )


__all__ = ["warn_of_sunk_points"]
