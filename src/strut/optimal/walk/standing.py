"""What standing still means for a walker: no velocity, feet on the ground, and inputs that hold it.

A foot that holds takes velocities away: those of a machine that floats depend on each other. Asked all at
once they would be asked twice, and no solver likes that. So the states that are asked are chosen: a largest
set of those that can differ independently of each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.extras import optional_module
from strut.gait.section import section_of
from strut.optimal.problem import Problem
from strut.optimal.walk.read_walk import velocity_states
from strut.optimal.walk.require import EVENT_MARGIN
from strut.system import Foot, System, sx

RANK_SLACK = 1e-7
"""[1] Directions of a null space whose pivots are smaller than this part of the largest depend on others."""
FOOT_HEIGHT = 1e-3
"""[m] A foot that is no higher than this, and no deeper, stands on the ground. Stiff legs beside each other
touch it without crossing it: no equation of zero height has a slope there."""


@dataclass(frozen=True, eq=False)
class SystemPoint:
    """A state of a system in numbers: continuous states, discrete states, and parameters."""

    x: np.ndarray
    z: np.ndarray
    p: np.ndarray

    def feet_on_ground(self, system: System) -> list[Foot]:
        """Return the feet that hold here, of those whose walk says so by a discrete state."""
        flags = dict(zip(system.labels("z"), self.z.tolist(), strict=True))
        feet = () if system.walk is None else system.walk.feet
        return [f for f in feet if f.stands and f.at is not None and flags.get(f.stands, 0.0) > 0]


def foot_rates(system: System, feet: Sequence[Foot]) -> ca.SX:
    """Return the velocities of feet [m/s], three numbers for each, as expressions of the state."""
    flow = ca.vertcat(*[sx(system.flow[q.name]) for q in system.x])
    rates = [ca.jtimes(sx(foot.at), system.vector("x"), flow) for foot in feet if foot.at is not None]
    return ca.vertcat(*rates, ca.SX(0, 1))


def independent_states(system: System, rows: ca.SX, at: SystemPoint, among: Sequence[int]) -> list[int]:
    """Return states, of those at the places `among`, that can differ independently of each other while rows
    stay zero, as they are at a point: as many as the null space of their derivatives has dimensions, chosen
    by QR with pivoting."""
    x, still = system.vector("x"), np.zeros(system.size("u"))
    f = system.function("rows", [ca.densify(ca.jacobian(rows, x[list(among)]))], clock=False)
    slopes = np.array(f(at.x, at.z, still, at.p)).reshape(-1, len(among))
    linalg = optional_module("scipy.linalg", "a start or a stop")
    directions = linalg.null_space(slopes) if slopes.size else np.eye(len(among))
    _, upper, pivots = linalg.qr(directions.T, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(upper))
    count = int((sizes > RANK_SLACK * sizes.max(initial=0.0)).sum())
    return sorted(among[i] for i in pivots[:count])


def gait_states(system: System, section: str, at: SystemPoint) -> list[int]:
    """Return the states that say, just after a step has ended, whether it was one of a gait that begins at a
    point: without those that say how far it has come, those that the event makes equal to others, and those
    that follow from both feet being on the ground, and from one that holds."""
    feet = () if system.walk is None else system.walk.feet
    gaps = [sx(system[foot.gap]) for foot in feet if foot.gap]
    rows = ca.vertcat(*gaps, foot_rates(system, at.feet_on_ground(system)))
    return independent_states(system, rows, at, section_of(system, section).free)


def free_velocities(system: System, at: SystemPoint) -> list[int]:
    """Return the velocities that can differ independently of each other while the feet hold."""
    rows = foot_rates(system, at.feet_on_ground(system))
    return independent_states(system, rows, at, velocity_states(system))


def require_standing(problem: Problem, place: str, at: SystemPoint, *, held: bool) -> Problem:
    """Require rest at the 'begin' or the 'end' of a motion: no velocity, feet that hold on the ground. held:
    the others are on it, too, and inputs hold the machine: its accelerations are zero."""
    system = problem.system
    phase = problem.phases[0 if place == "begin" else -1].name
    labels, free = system.labels("x"), free_velocities(system, at)
    units = [q.unit for q in system.x for _ in range(q.size)]
    holding = at.feet_on_ground(system)
    if place == "begin":  # where no flow has led to: every velocity, and feet that hold are on the ground
        problem = problem.begin({labels[i]: 0.0 for i in velocity_states(system)})
        for foot in holding:
            problem = problem.require(
                f"{foot.name} stands", foot.gap, equal=0.0, at="begin", phase=phase, unit="m"
            )
    else:
        problem = problem.end({labels[i]: 0.0 for i in free})
        problem = keep_swing_away(problem, phase, holding)
    if not held:
        return problem
    for foot in system.walk.feet if system.walk is not None else ():
        if foot.gap and foot not in holding:
            problem = problem.require(
                f"{foot.name} is on the ground",
                foot.gap,
                -FOOT_HEIGHT,
                FOOT_HEIGHT,
                at=place,
                phase=phase,
                unit="m",
            )
    flow = ca.vertcat(*[sx(system.flow[q.name]) for q in system.x])
    for i in free:
        problem = problem.require(
            f"{labels[i]} is held", flow[i], equal=0.0, at=place, phase=phase, unit=f"{units[i]}/s"
        )
    return problem


def keep_swing_away(problem: Problem, phase: str, holding: Sequence[Foot]) -> Problem:
    """Require of a phase in which a walker comes to rest that its swing foot causes no event: one that lands
    wherever it touches stays above the ground, another does not pass the foot that holds."""
    for foot in problem.system.walk.feet if problem.system.walk is not None else ():
        if foot.passes:
            guard = sx(problem.system.event(foot.passes).guard)
            problem = problem.require(
                f"{foot.name} stays behind", guard, high=0.0, phase=phase, margin=EVENT_MARGIN
            )
        elif foot.gap and foot.stands and foot not in holding:
            problem = problem.require(
                f"{foot.name} is above the ground",
                foot.gap,
                low=0.0,
                phase=phase,
                margin=EVENT_MARGIN,
                unit="m",
            )
    return problem


__all__ = ["SystemPoint", "gait_states", "require_standing"]
