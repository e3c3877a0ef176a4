"""`StepGoal`: what can be asked of a step, each requirement described once.

A new requirement is one field here, with a `GoalField` that says its unit, its flag, how it is checked and
what it does. From these fields come the options of `strut design`, the keywords of `optimal.design` and
`optimal.step_problem`, what `optimal.trade_off` can sweep, and what reports and JSON say was asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from strut.checks import checked, is_number
from strut.errors import ValueRangeError
from strut.gait.transport import on_slope
from strut.optimal.walk.broken_limits import broken_clearance, broken_friction, broken_stability
from strut.optimal.walk.goal_defaults import (
    ANY_FLIGHT,
    MAX_STEP_TIME,
    MIN_STEP_LENGTH,
    MIN_STEP_TIME,
    around,
    default_clearance,
    default_flight,
    default_friction,
    default_length,
    default_speed,
    default_torque,
)
from strut.optimal.walk.goal_field import (
    GoalField,
    GoalValue,
    as_number,
    check_bounds,
    check_number,
    goal_fields,
    requirement,
)
from strut.optimal.walk.goal_requirements import (
    require_clearance,
    require_duration,
    require_flight,
    require_friction,
    require_speed,
    require_step_length,
    require_torque,
)
from strut.optimal.walk.stability import stabilise
from strut.optimal.walk.stairs import on_stairs


def check_torque(name: str, value: Any) -> GoalValue:
    """Return positive numbers: one for all inputs, or one by name of an input."""
    largest = value.values() if isinstance(value, Mapping) else [value]
    if not all(is_number(each) and each > 0 for each in largest):
        raise ValueRangeError(f"{name} is {value} N m: what is allowed must be positive")
    return {str(k): float(v) for k, v in value.items()} if isinstance(value, Mapping) else float(value)


def check_count(name: str, value: Any) -> GoalValue:
    """Return a whole number of steps, one or more."""
    if not is_number(value) or value != int(value) or value < 1:
        raise ValueRangeError(f"{name} is {value}: a whole number of steps is needed, 1 or more")
    return int(value)


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

__all__ = ["SWEPT_UNITS", "StepGoal"]
