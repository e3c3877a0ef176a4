"""What a goal of a step requires of its problem: one function for each field of `StepGoal`.

Each takes the problem, what is asked, and the margin of forces on feet [1]; it returns the problem with the
requirement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.transport import weight
from strut.optimal.problem import Phase, Problem
from strut.optimal.walk.goal_defaults import ANY_FLIGHT
from strut.optimal.walk.goal_field import GoalValue, as_bounds, as_number
from strut.optimal.walk.read_walk import (
    feet_by_body,
    gives_way,
    landing_foot,
    says_friction,
    swing_foot,
)
from strut.optimal.walk.replay import LIGHT_LOAD
from strut.optimal.walk.require import (
    flight_phases,
    require_above_ground,
    require_force,
    require_swing,
    time_in_phase,
)
from strut.optimal.walk.stairs import has_stairs
from strut.optimal.walk.travel import (
    count_steps,
    distance_travelled,
    landings_in_turn,
    last_section,
    phase_ends,
)
from strut.system import Foot, time


def steps_of(problem: Problem) -> int:
    """Return how many steps the motion of a problem has."""
    return count_steps(problem.system, phase_ends(problem))


def require_speed(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Bound distance over duration at the end of the motion [m/s]."""
    low, high = as_bounds(value)
    pace = distance_travelled(problem.system, phase_ends(problem)) / time
    return problem.require("speed", pace, low, high, at="end", unit="m/s")


def require_step_length(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Bound how far a step comes along the ground [m], of several the mean."""
    low, high = as_bounds(value)
    along = distance_travelled(problem.system, phase_ends(problem)) / steps_of(problem)
    return problem.require("step length", along, low=low, high=high, at="end", unit="m")


def require_duration(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Bound the time at the end of the motion, over its steps [s]."""
    low, high = as_bounds(value)
    return problem.require("step time", time / steps_of(problem), low=low, high=high, at="end", unit="s")


def require_flight(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Bound the time in the air of a step [s], of several the mean."""
    low, high = as_bounds(value)
    flights = flight_phases(problem)
    if not flights and value == ANY_FLIGHT:
        return problem  # nobody asks: it walks
    if not flights:
        raise ModelError(
            f"a flight of {low:g} s is asked, but '{problem.system.name}' always stands in this motion: "
            f"leave out guess or phases, so that it begins with a stride that has one"
        )
    air = sum((time_in_phase(phase).sym for phase in flights), ca.SX(0)) / steps_of(problem)
    return problem.require("flight", air, low=low, high=high, at="end", unit="s")


def require_torque(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Bound the size of inputs all along [N m]."""
    largest = value if isinstance(value, Mapping) else dict.fromkeys(problem.system.labels("u"), value)
    return problem.within({name: (-as_number(limit), as_number(limit)) for name, limit in largest.items()})


def require_friction(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Keep the force on every foot inside the friction cone |friction| <= mu normal, by the foot margin.
    Where a foot is let go, normal force and friction do not vanish at once: its cone is then wider by
    `LIGHT_LOAD` of the weight, else both would have to be zero there."""
    walker, coefficient = problem.system, as_number(value)
    if math.isinf(coefficient):
        return problem
    if not says_friction(walker):
        raise ModelError(
            f"friction is limited, but the walk of '{walker.name}' has no foot that says what it needs: "
            f"Foot(normal=..., friction=(...,))"
        )
    phases = {phase.name for phase in problem.phases}
    for name, feet in feet_by_body(walker).items():
        # Points of one body share what holds it along the ground in ways that nothing says.
        normal = sum((walker[foot.normal] for foot in feet), ca.SX(0))
        ways = zip(*[foot.friction for foot in feet], strict=True)
        sideways = [sum((walker[part] for part in parts), ca.SX(0)) for parts in ways]
        goes = {p.name for p in problem.phases if _leaves_ground(p, feet)}
        for load, without in ((ca.SX(0), goes), (LIGHT_LOAD * weight(walker), phases - goes)):
            holding = (1 - foot_margin) * normal + load
            for way, excess, per_limit in _cone(coefficient, holding, sideways, weight(walker)):
                problem = require_force(
                    problem, f"{name} does not slip{way}", excess, without=without, per_limit=per_limit
                )
    return problem


def _cone(
    coefficient: float, holding: ca.SX, sideways: list[ca.SX], weight: ca.SX
) -> list[tuple[str, ca.SX, ca.SX]]:
    """Return what is positive inside a friction cone [N], each with the word for its side and its derivative
    by the coefficient. In space a cone has no sides, and its equation is smooth in squares."""
    edge = coefficient * holding
    if len(sideways) == 1:
        return [(" forwards", edge - sideways[0], holding), (" backwards", edge + sideways[0], holding)]
    inside = (edge**2 - ca.sumsqr(ca.vertcat(*sideways))) / weight
    return [("", inside, 2 * edge * holding / weight)] if sideways else []


def _leaves_ground(phase: Phase, feet: Sequence[Foot]) -> bool:
    """Return whether a phase ends where the last of some feet on the ground leaves it."""
    standing = [foot for foot in feet if np.any(phase.z.get(foot.stands, 1.0))]
    return [foot.lifts for foot in standing] == [phase.until] and phase.until is not None


def require_clearance(problem: Problem, value: GoalValue, foot_margin: float) -> Problem:
    """Keep the swing foot above the ground all along, and so high [m] where it passes the other; nothing
    where no phase ends with its passing. A foot that lands wherever it touches is so high in the middle of
    its swing, by time, and less towards its ends, as a parabola is."""
    if has_stairs(problem.system):
        raise ModelError(
            f"a clearance of {as_number(value):g} m is asked on stairs, where the swing foot begins below "
            f"the tread that it steps on: leave out clearance; it is above that tread once it is in front"
        )
    section = last_section(phase_ends(problem))
    if landing_foot(problem.system, section) is not None:
        if flight_phases(problem) or gives_way(problem.system, section):
            return problem  # there the contact sequence keeps feet so high
        for landing in landings_in_turn(problem.system, section):
            problem = require_above_ground(problem, landing, as_number(value))
        return problem
    foot = swing_foot(problem.system, section)
    if foot is None or all(phase.until != foot.passes for phase in problem.phases):
        return problem
    return require_swing(problem, as_number(value))
