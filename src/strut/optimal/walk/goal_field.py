"""`GoalField`: all there is to know of one requirement on a step; and how functions take such requirements as
keywords."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, cast, get_type_hints

import numpy as np

from strut.checks import is_number, number_array
from strut.errors import ValueRangeError
from strut.gait import Gait
from strut.optimal.problem import Problem
from strut.optimal.solver.result import Solution
from strut.optimal.solver.watch import SearchWatch
from strut.optimal.walk.replay import Replay
from strut.system import System

GoalValue = float | tuple[float, float] | Mapping[str, float]
"""A number; bounds (low, high); or numbers by name of an input."""
F = TypeVar("F", bound=Callable[..., Any])
GOAL = "goal"
"""The key of a field's metadata under which its `GoalField` is."""
DOCSTRING_COLUMNS = 100
"""Width of a docstring's lines that are made of fields."""


class UsualStep(Protocol):
    """What defaults read of a reference: a gait, if one is known, duration [s] and length [m] of its step."""

    @property
    def gait(self) -> Gait | None:
        """The gait, if there is one."""

    @property
    def period(self) -> float | None:
        """The usual duration of a step [s]."""

    @property
    def step_length(self) -> float | None:
        """The usual length of a step [m]."""


@dataclass(frozen=True, kw_only=True)
class GoalField:
    """All there is to know of one requirement on a step, besides its name and type.

    unit: its SI unit. flag, metavar, help: of the command line. meaning: for the docstring of `design`.
    pair: whether bounds (low, high) may stand for a number. swept: whether `trade_off` can vary it.
    check: of a name and the value given for it; returns the value, raises `ValueRangeError`.
    default: of walker, reference and what is asked by name: the value where none is asked, or None.
    widest: the value that holds where there is neither one asked nor a default.
    guide: whether the default only guides the search: it is widened where it would decide the answer.

    What it does, each where it applies:
    on_walker: of walker and value, the walker that is planned for.
    on_problem: of problem, value and foot margin, the problem with this requirement. The foot margin is the
        part of a limit on the forces of feet that is kept free.
    on_solution: of solution, value and the watch of the search, a solution that meets it.
    broken: of replay and value, sentences that say where the simulator shows that it is not met.
    """

    unit: str
    flag: str
    metavar: str
    help: str
    meaning: str
    pair: bool = False
    swept: bool = True
    check: Callable[[str, Any], GoalValue] | None = None
    default: Callable[[System, UsualStep, Mapping[str, GoalValue]], GoalValue | None] | None = None
    widest: GoalValue | None = None
    guide: bool = False
    on_walker: Callable[[System, GoalValue], System] | None = None
    on_problem: Callable[[Problem, GoalValue, float], Problem] | None = None
    on_solution: Callable[[Solution, GoalValue, SearchWatch], Solution] | None = None
    broken: Callable[[Replay, GoalValue], tuple[str, ...]] | None = None


# ---- values ----


def as_number(value: GoalValue) -> float:
    """Return a value that is one number; `ValueRangeError` if it is none."""
    if not is_number(value):
        raise ValueRangeError(f"{value!r} is no number")
    return float(cast(float, value))


def as_bounds(value: GoalValue) -> tuple[float, float]:
    """Return a value as bounds (low, high): a number is both."""
    if isinstance(value, tuple):
        return value
    return as_number(value), as_number(value)


def check_bounds(name: str, value: Any) -> GoalValue:
    """Return a positive number, or bounds (low, high) of one."""
    ends = number_array(name, value).reshape(-1)
    if len(ends) not in (1, 2) or not 0 < ends[0] <= ends[-1] or not ends[0] < np.inf:
        raise ValueRangeError(
            f"{name} is {value}: give a positive number, or bounds (low, high) with low <= high"
        )
    return float(ends[0]) if len(ends) == 1 else (float(ends[0]), float(ends[-1]))


def check_number(rule: Callable[[float], bool], why: str) -> Callable[[str, Any], GoalValue]:
    """Return a check for a number that keeps a rule; `why` ends the sentence that refuses others."""

    def check(name: str, value: Any) -> GoalValue:
        if not rule(value):
            raise ValueRangeError(f"{name} is {value}{why}")
        return float(value)

    return check


# ---- fields of a goal ----


def requirement(description: GoalField) -> Any:
    """Return a field of a dataclass that is None unless asked for, with its description."""
    return field(default=None, metadata={GOAL: description})


def goal_fields(goal: Any) -> dict[str, GoalField]:
    """Return the requirements that a class of goals, or a goal, has: by name, in the order of its fields."""
    return {each.name: each.metadata[GOAL] for each in fields(goal) if GOAL in each.metadata}


def take_goal(goal: type, after: str, names: Iterable[str] | None = None) -> Callable[[F], F]:
    """Return a decorator for a function that takes the fields of a goal among its `**keywords`.

    Signature, annotations and docstring of the function show every field as a keyword of its own: behind the
    parameter `after`, and in place of the line `{goal}` of the docstring. names: the fields; by default all.
    """

    def decorate(function: F) -> F:
        described, types = goal_fields(goal), get_type_hints(goal)
        chosen = {name: described[name] for name in (described if names is None else names)}
        keywords = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=types[name])
            for name in chosen
        ]
        parameters = list(inspect.signature(function).parameters.values())
        at = [each.name for each in parameters].index(after) + 1
        signature = inspect.signature(function).replace(
            parameters=[*parameters[:at], *keywords, *parameters[at:]]
        )
        function.__signature__ = signature  # type: ignore[attr-defined]  # what `help` and `inspect` show
        function.__annotations__ |= {name: types[name] for name in chosen}
        function.__doc__ = (function.__doc__ or "").replace("    {goal}\n", _docstring_lines(chosen))
        return function

    return decorate


def _docstring_lines(chosen: Mapping[str, GoalField]) -> str:
    """Return what stands in a docstring of these fields: name, unit and meaning."""
    texts = [
        f"{name}{f' [{each.unit}]' if each.unit else ''}: {each.meaning}" for name, each in chosen.items()
    ]
    return "".join(
        textwrap.fill(text, DOCSTRING_COLUMNS, initial_indent=" " * 4, subsequent_indent=" " * 8) + "\n"
        for text in texts
    )


__all__ = ["GoalField", "GoalValue", "UsualStep", "goal_fields", "requirement", "take_goal"]
