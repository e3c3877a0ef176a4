"""How many steps an integrator may take for one step of a walker."""

from __future__ import annotations

from strut.system import System

SOFT_GROUND_FACTOR = 10
"""[1] How many times as many steps of the integrator a walker on soft ground may take: the stiffness of
ground, and of dampers on light feet, holds explicit steps short."""


def step_budget(system: System, steps: int) -> int:
    """Return the most steps of an integrator for one step of a walker, of which one on rigid ground may take
    so many: feet whose landing changes no state at once stand on ground that gives way."""
    feet = () if system.walk is None else system.walk.feet
    states = {q.name for q in system.x}
    hard = any(foot.lands and states.intersection(system.event(foot.lands).reset) for foot in feet)
    return steps * (SOFT_GROUND_FACTOR if feet and not hard else 1)


__all__ = ["step_budget"]
