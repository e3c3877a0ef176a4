"""`StepGoal`: what can be asked of a step, each requirement described once.

A new requirement is one field here, with a `GoalField` that says its unit, its flag, how it is checked and
what it does. From these fields come the options of `strut design`, the keywords of `optimal.design` and
`optimal.step_problem`, what `optimal.trade_off` can sweep, and what reports and JSON say was asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import casadi as ca
import numpy as np

from strut.checks import checked, is_number
from strut.errors import ModelError, ValueRangeError
from strut.gait.transport import on_slope, weight, weight_of
from strut.optimal.problem import Phase, Problem
from strut.optimal.walk.broken_limits import broken_clearance, broken_friction, broken_stability
from strut.optimal.walk.contact_phases import has_soles
from strut.optimal.walk.goal_field import (
    GoalField,
    GoalValue,
    UsualStep,
    as_bounds,
    as_number,
    check_bounds,
    check_number,
    goal_fields,
    requirement,
)
from strut.optimal.walk.hold_feet import friction_limit
from strut.optimal.walk.read_walk import (
    clears_ground,
    feet_by_body,
    feet_with_forces,
    gives_way,
    landing_foot,
    lands_softly,
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
from strut.optimal.walk.stability import stabilise
from strut.optimal.walk.stairs import has_stairs, on_stairs
from strut.optimal.walk.travel import (
    count_steps,
    distance_travelled,
    landings_in_turn,
    last_section,
    phase_ends,
)
from strut.system import Foot, System, time

MIN_STEP_TIME, MAX_STEP_TIME = 0.05, 10.0
"""Bounds of the duration of a step [s], where nothing is known of it."""
MIN_STEP_LENGTH = 1e-3
"""The least length of a step [m], where nothing is known of it."""
REFERENCE_FACTOR = 4.0
"""By default, duration and length of a step are within this factor of those of the reference."""
SOLE_FACTOR = 1.5
"""And the length of a step of feet with heel and toe: far from the stride that a search begins with, its
contact phases are those of another motion. Where this decides, it is widened from a step that was found."""
TORQUE_FACTOR = 1.0
"""By default, torques are at most this many times weight by step length of the reference."""
ANY_FLIGHT = (0.05, MAX_STEP_TIME)
"""Bounds of the time in the air [s] of a step of a machine that runs or hops, where none is asked."""
USUAL_FLIGHT = (0.3, 0.36)
"""[1] The part of a step that a run is in the air, to begin a search with: nearly given, since flights of
quite other lengths are optima of their own; it is then widened like every guide."""
DEFAULT_FRICTION = 1.0
"""By default, the coefficient of friction that feet must not exceed."""


def check_torque(name: str, value: Any) -> GoalValue:
    """Return positive numbers: one for all inputs, or one by name of an input."""
    largest = value.values() if isinstance(value, Mapping) else [value]
    if not all(is_number(each) and each > 0 for each in largest):
        raise ValueRangeError(f"{name} is {value} N m: what is allowed must be positive")
    return {str(k): float(v) for k, v in value.items()} if isinstance(value, Mapping) else float(value)


# ---- defaults ----


def default_speed(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return the speed of the reference gait [m/s], where nothing is asked that would set one."""
    if "step_length" in asked or "duration" in asked or usual.gait is None or not walker.u:
        return None
    return usual.gait.speed if usual.gait.speed > 0 else None


def around(usual: float | None, factor: float | None = None) -> GoalValue | None:
    """Return bounds within a factor, by default `REFERENCE_FACTOR`, of what is usual."""
    factor = REFERENCE_FACTOR if factor is None else factor
    return None if usual is None or not usual > 0 else (usual / factor, usual * factor)


def default_length(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return bounds of the length of a step [m] around what is usual."""
    near = usual.gait is None and has_soles(walker) and "duration" not in asked
    return around(usual.step_length, SOLE_FACTOR if near else None)


def default_torque(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return weight by usual step length [N m], for inputs that are torques without bounds of their own."""
    if usual.step_length is None or not usual.step_length > 0:
        return None
    unlimited = [q for q in walker.u if q.size == 1 and q.unit == "N m" and not np.isfinite(q.range).any()]
    return {q.name: TORQUE_FACTOR * weight_of(walker) * usual.step_length for q in unlimited} or None


def default_friction(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return the friction of the walker's own ground; `DEFAULT_FRICTION` where that has no limit and the
    walker says what it needs; None on ground that gives way, whose law limits the force already."""
    own = friction_limit(walker)
    if own is not None:
        return own
    rigid = [foot for foot in feet_with_forces(walker) if not lands_softly(walker, foot)]
    return DEFAULT_FRICTION if rigid and says_friction(walker) else None


def default_clearance(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return 0 [m] where the swing foot of the reference gait stays above the ground."""
    clears = usual.gait is not None and not has_stairs(walker) and clears_ground(usual.gait)
    return 0.0 if clears else None


def default_flight(walker: System, usual: UsualStep, asked: Mapping[str, GoalValue]) -> GoalValue | None:
    """Return bounds of the time in the air [s] of a machine that runs or hops: the usual part of a step."""
    if walker.walk is None or not walker.walk.flight or not walker.u:
        return None
    if usual.period is None:
        return ANY_FLIGHT
    low, high = (max(part * usual.period, ANY_FLIGHT[0]) for part in USUAL_FLIGHT)
    return low, high


# ---- what they require ----


def steps_of(problem: Problem) -> int:
    """Return how many steps the motion of a problem has."""
    return count_steps(problem.system, phase_ends(problem))


def check_count(name: str, value: Any) -> GoalValue:
    """Return a whole number of steps, one or more."""
    if not is_number(value) or value != int(value) or value < 1:
        raise ValueRangeError(f"{name} is {value}: a whole number of steps is needed, 1 or more")
    return int(value)


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


@checked
@dataclass(frozen=True, kw_only=True)
class StepGoal:
    """What is asked of a step; None where nothing is. See the `meaning` of each field, or
    `optimal.design`."""

    speed: float | tuple[float, float] | None = requirement(
        GoalField(
            unit="m/s",
            flag="--speed",
            metavar="V",
            help="How fast it walks [m/s], a number or LOW:HIGH; as its passive gait unless given.",
            meaning="how fast it walks, a number or bounds (low, high). Where neither speed nor step_length "
            "nor duration is given, as fast as the passive gait.",
            pair=True,
            check=check_bounds,
            default=default_speed,
            on_problem=require_speed,
        )
    )
    slope: float | None = requirement(
        GoalField(
            unit="rad",
            flag="--slope",
            metavar="ANGLE",
            help="Of the ground [rad, or 3deg], positive downhill; the model's own unless given.",
            meaning="of the ground, positive downhill.",
            on_walker=lambda walker, value: on_slope(walker, cast(float, value)),
        )
    )
    stair: float | None = requirement(
        GoalField(
            unit="m",
            flag="--stair",
            metavar="RISE",
            help="By how much the ground rises with every step [m]; negative downstairs.",
            meaning="by how much the ground rises with every step, negative downstairs: level treads, as "
            "long as a step. For walkers that change legs at every step (`contact.stepping`).",
            on_walker=lambda walker, value: on_stairs(walker, as_number(value)),
        )
    )
    step_length: float | tuple[float, float] | None = requirement(
        GoalField(
            unit="m",
            flag="--step-length",
            metavar="LENGTH",
            help="Length of a step [m], a number or LOW:HIGH; near that of its passive gait unless given.",
            meaning="a number or bounds (low, high); by default within a factor of four of that of the "
            "passive gait (of feet with heel and toe, of 1.5 of the stride that the search begins with).",
            pair=True,
            check=check_bounds,
            default=default_length,
            guide=True,
            widest=(MIN_STEP_LENGTH, math.inf),
            on_problem=require_step_length,
        )
    )
    duration: float | tuple[float, float] | None = requirement(
        GoalField(
            unit="s",
            flag="--step-time",
            metavar="TIME",
            help="Duration of a step [s], a number or LOW:HIGH; near that of its passive gait unless given.",
            meaning="of a step, a number or bounds (low, high); by default within a factor of four of that "
            "of the passive gait.",
            pair=True,
            check=check_bounds,
            default=lambda walker, usual, asked: around(usual.period),
            guide=True,
            widest=(MIN_STEP_TIME, MAX_STEP_TIME),
            on_problem=require_duration,
        )
    )
    flight: float | tuple[float, float] | None = requirement(
        GoalField(
            unit="s",
            flag="--flight",
            metavar="TIME",
            help="Time in the air of a step [s], a number or LOW:HIGH: it runs, or hops on one leg.",
            meaning="time in the air of a step, a number or bounds (low, high): it runs, or hops on one leg. "
            "For machines whose base floats (`contact.rigid`); by default at least 0.05 s of those that say "
            "they run (`Walk.flight`), none of others.",
            pair=True,
            check=check_bounds,
            default=default_flight,
            guide=True,
            widest=ANY_FLIGHT,
            on_problem=require_flight,
        )
    )
    torque: float | Mapping[str, float] | None = requirement(
        GoalField(
            unit="N m",
            flag="--torque",
            metavar="MOST",
            help="Largest torque [N m]; weight by step length unless given.",
            meaning="of every input, at most, or of some by name; by default, of inputs without bounds of "
            "their own, weight by step length of the passive gait. What only counts work would else take "
            "any torque for a short time.",
            check=check_torque,
            default=default_torque,
            guide=True,
            on_problem=require_torque,
        )
    )
    friction: float | None = requirement(
        GoalField(
            unit="",
            flag="--friction",
            metavar="MU",
            help="Friction [1] that the feet must not exceed; that of the ground, or 1, unless given.",
            meaning="coefficient that the feet must not exceed; by default that of the walker's own ground, "
            "or 1 where that has no limit and the walker says what it needs. math.inf: no limit.",
            check=check_number(lambda mu: mu > 0, ": the coefficient must be positive"),
            default=default_friction,
            on_problem=require_friction,
            broken=broken_friction,
        )
    )
    steps: int | None = requirement(
        GoalField(
            unit="",
            flag="--steps",
            metavar="N",
            help="Steps until the motion repeats, 1 unless given; of 2, left and right may differ.",
            meaning="how many steps the motion has until it repeats; by default one, which where left and "
            "right are exchanged its mirror image follows. Of two, left and right steps may differ, and so "
            "may the legs themselves. `speed`, `step_length` and `duration` are then means.",
            check=check_count,
        )
    )
    clearance: float | None = requirement(
        GoalField(
            unit="m",
            flag="--clearance",
            metavar="HEIGHT",
            help="Of the swing foot where it passes the other, on a floating base in mid-swing [m]; stiff "
            "legs have none.",
            meaning="height of the swing foot where it passes the other; on a floating base in the middle of "
            "its swing, by time, and less towards its ends, as a parabola is. It then stays above the ground "
            "all along. By default 0 where it does so in the gait to begin from; stiff legs scuff, and the "
            "ground is not asked.",
            check=check_number(lambda h: h >= 0, ": a height above the ground must not be negative"),
            default=default_clearance,
            on_problem=require_clearance,
            broken=broken_clearance,
        )
    )
    stability: float | None = requirement(
        GoalField(
            unit="",
            flag="--stability",
            metavar="R",
            help="No multiplier is larger [1]; below 1 it is stable by itself.",
            meaning="every multiplier of the walker that follows its plan is at most this; below 1 it is "
            "stable by itself.",
            check=check_number(lambda r: r > 0, ": multipliers have a size, it must be positive"),
            on_solution=lambda solution, value, watch: stabilise(solution, as_number(value), watch=watch),
            broken=broken_stability,
        )
    )

    def __post_init__(self) -> None:
        for name, each in goal_fields(self).items():
            value = getattr(self, name)
            if value is not None and each.check is not None:
                object.__setattr__(self, name, each.check(name, value))

    def asked_values(self) -> dict[str, GoalValue]:
        """Return what is asked, by name."""
        values = {name: getattr(self, name) for name in goal_fields(self)}
        return {name: value for name, value in values.items() if value is not None}


SWEPT_UNITS = {name: each.unit for name, each in goal_fields(StepGoal).items() if each.swept}
"""What of a step can be swept, with its unit."""

__all__ = ["SWEPT_UNITS", "StepGoal", "require_speed"]
