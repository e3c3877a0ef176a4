"""`StepRequirement` and `OwnLimits`: requirements of one's own on a step, beside those of a `StepGoal`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.expression_key import expression_key, expression_text, totals_of
from strut.optimal.problem import PLACES, Problem
from strut.optimal.totals import Integral, MotionTotal
from strut.system import Expression, Packed, System, sx

INTEGRAL = "integral"
"""Where a requirement is asked whose expression is integrated over the step, or over one phase of it."""
PLACE_WORDS = {
    "path": "all along",
    "begin": "at the beginning",
    "end": "at the end",
    "after": "after the event at the end",
    INTEGRAL: "integrated over the time",
}
"""Where something can be required of a step, with what it is called in tables."""
assert set(PLACE_WORDS) == {*PLACES, INTEGRAL}


@checked
@dataclass(frozen=True, eq=False)
class StepRequirement(Packed):
    """low <= expression <= high, asked of a step.

    name: by which it is called where it is listed or cannot be met.
    expression: the name of an output, state, input or parameter, or an expression of these and of `time`.
    low, high: bounds, in the unit of the expression. equal: both at once.
    at: 'path' (all along), 'begin', 'end', 'after' the event that ends the phase, or 'integral': the bounds
        are then those of its integral over the time.
    phase: the event that ends the phase that is meant, such as 'knee_strike'. Without it, the whole step for
        'path' and 'integral', its first phase for 'begin', its last for 'end' and 'after'.
    margin: along the path, kept by so much in the middle of a phase, as for `Problem.require`.
    unit: of the expression, for tables; that of a name is known. text: how the expression is listed.
    """

    name: str
    expression: Expression
    low: float = -math.inf
    high: float = math.inf
    at: str = "path"
    phase: str = ""
    equal: float | None = field(default=None, kw_only=True)
    margin: float = field(default=0.0, kw_only=True)
    unit: str = field(default="", kw_only=True)
    text: str = field(default="", kw_only=True)
    totals: tuple[MotionTotal, ...] = field(default=(), init=False, repr=False)
    """The integrals and sums in the expression, kept as long as it is."""

    def __post_init__(self) -> None:
        if self.at not in PLACE_WORDS:
            raise ModelError(
                f"requirement '{self.name}' is at '{self.at}': {did_you_mean(self.at, list(PLACE_WORDS))}"
            )
        if self.equal is not None:
            if math.isfinite(self.low) or math.isfinite(self.high):
                raise ValueRangeError(
                    f"requirement '{self.name}' has equal={self.equal:g} and low or high: give one of them"
                )
            object.__setattr__(self, "low", float(self.equal))
            object.__setattr__(self, "high", float(self.equal))
            object.__setattr__(self, "equal", None)  # bounds say it all: `replace` takes them as they are
        if math.isinf(self.low) and math.isinf(self.high):
            raise ValueRangeError(
                f"requirement '{self.name}' asks {self.low:g} to {self.high:g}: give low, high or equal"
            )
        if not self.low <= self.high:
            raise ValueRangeError(
                f"requirement '{self.name}' wants {self.low:g} to {self.high:g}: the first must not exceed "
                "the second"
            )
        if not isinstance(self.expression, str):
            object.__setattr__(self, "expression", sx(self.expression))
            object.__setattr__(self, "totals", totals_of(self.expression))

    def column(self, system: System) -> ca.SX:
        """Return the expression, of a system that has its symbols."""
        return system[self.expression] if isinstance(self.expression, str) else sx(self.expression)

    def on_problem(self, problem: Problem) -> Problem:
        """Return the problem with this requirement, in every phase that it is for."""
        expression = self.column(problem.system)
        for phase in self._phases(problem):
            if self.at == INTEGRAL:
                label = re.sub(r"\W", "_", f"required_{self.name}" + (f"_{phase}" if phase else ""))
                total = Integral(label, expression, phase=phase)
                problem = problem.require(self.name, total, self.low, self.high, at="end", unit=self.unit)
            else:
                problem = problem.require(
                    self.name,
                    expression,
                    self.low,
                    self.high,
                    at=self.at,
                    phase=phase,
                    margin=self.margin,
                    unit=self.unit,
                )
        return problem

    def _phases(self, problem: Problem) -> list[str | None]:
        """Return the names of the phases it is for; [None] where none is named."""
        if not self.phase:
            return [None]
        names: list[str | None] = [each.name for each in problem.phases if each.until == self.phase]
        if problem.phases and not names:
            ends = list(dict.fromkeys(str(each.until) for each in problem.phases))
            raise UnknownNameError(
                f"requirement '{self.name}' is for the phase that ends with '{self.phase}', but no phase of "
                f"this step does: {did_you_mean(self.phase, ends)}; say phases=[...] to plan others"
            )
        return names

    @property
    def words(self) -> str:
        """The expression as people read it."""
        if self.text or isinstance(self.expression, str):
            return self.text or str(self.expression)
        return expression_text(self.expression)

    @property
    def meaning(self) -> str:
        """The expression as people read it, and where it is asked."""
        where = PLACE_WORDS[self.at] + (f", until {self.phase}" if self.phase else "")
        return f"{self.words}, {where}"

    def data(self) -> dict[str, Any]:
        """Return it for JSON."""
        ends = {"low": self.low, "high": self.high}
        return {
            "name": self.name,
            "expression": self.words,
            **{side: end for side, end in ends.items() if math.isfinite(end)},
            "at": self.at,
            "phase": self.phase or None,
            "unit": self.unit,
        }


@dataclass(frozen=True, eq=False)
class OwnLimits(Packed):
    """What is asked of a step beside its `StepGoal`. require: requirements. within: bounds of states and
    inputs, by name."""

    require: tuple[StepRequirement, ...] = ()
    within: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def on_problem(self, problem: Problem) -> Problem:
        """Return the problem with all of it."""
        problem = problem.within(self.within) if self.within else problem
        for each in self.require:
            problem = each.on_problem(problem)
        return problem

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return for tables: name with what is meant, bounds, unit, and that it was asked."""
        rows = [
            (f"{each.name} ({each.meaning})", bounds_text(each.low, each.high), each.unit, "asked")
            for each in self.require
        ]
        return rows + [
            (f"within: {name}", bounds_text(low, high), "", "asked")
            for name, (low, high) in self.within.items()
        ]

    def data(self) -> dict[str, Any]:
        """Return for JSON what is asked; nothing where nothing is."""
        asked: dict[str, Any] = {}
        if self.require:
            asked["require"] = [each.data() for each in self.require]
        if self.within:
            asked["within"] = {name: list(pair) for name, pair in self.within.items()}
        return asked

    def identity(self, system: System) -> dict[str, Any]:
        """Return what makes these limits these, for a system: plain data that is equal in every process."""
        keys = [expression_key(system, each.column(system)) for each in self.require]
        listed = [
            {**each.data(), "margin": each.margin, "key": key}
            for each, key in zip(self.require, keys, strict=True)
        ]
        return {**self.data(), **({"require": listed} if listed else {})}


def bounds_text(low: float, high: float) -> str:
    """Return bounds as people read them."""
    if low == high:
        return f"{low:.6g}"
    if math.isinf(low):
        return f"at most {high:.6g}"
    return f"at least {low:.6g}" if math.isinf(high) else f"{low:.6g} to {high:.6g}"


def read_own_limits(
    system: System,
    require: Sequence[StepRequirement | tuple[Any, ...]] = (),
    within: Mapping[str, Any] | None = None,
) -> OwnLimits:
    """Return requirements of one's own, once it is sure that a system has what they name.

    require: each a `StepRequirement`, or a tuple of its first fields (name, expression, low, high, at,
    phase). within: (low, high) by name of a state or input, as for `Problem.within`.
    """
    requirements = [each if isinstance(each, StepRequirement) else _from_tuple(each) for each in require]
    names = [each.name for each in requirements]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"requirement '{name}' stands twice: give every requirement its own name")
    # On a problem without phases, so that a wrong name is found before anything is searched for.
    trial = Problem(system).within(within or {})
    event_names = [event.name for event in system.events]
    for each in requirements:
        if each.phase and each.phase not in event_names:
            raise UnknownNameError(
                f"requirement '{each.name}' is for the phase that ends with '{each.phase}', which is no "
                f"event of '{system.name}': {did_you_mean(each.phase, event_names)}"
            )
        column, integrated = each.column(system), each.at == INTEGRAL
        whole = Integral("trial", column) if integrated else column
        trial.require(
            each.name, whole, each.low, each.high, at="end" if integrated else each.at, margin=each.margin
        )
    units = {q.name: q.unit for q in system.quantities()} | dict(system.output_units)
    return OwnLimits(
        require=tuple(
            each
            if each.unit or not isinstance(each.expression, str)
            else _with_unit(each, units.get(each.expression, ""))
            for each in requirements
        ),
        within=trial.limits,
    )


def _with_unit(each: StepRequirement, unit: str) -> StepRequirement:
    """Return a requirement whose expression is a name, with the unit of that name (of its integral: times
    seconds)."""
    return replace(each, unit=f"{unit} s".strip() if each.at == INTEGRAL else unit)


def _from_tuple(entry: Any) -> StepRequirement:
    """Return the requirement that a tuple says."""
    if not isinstance(entry, (tuple, list)) or not 3 <= len(entry) <= 6:
        raise ModelError(
            f"{entry!r} is no requirement: give optimal.StepRequirement(name, expression, low, high), or "
            "a tuple (name, expression, low, high, at, phase), of which the last three may be left out"
        )
    return StepRequirement(*entry)


__all__ = ["OwnLimits", "StepRequirement", "read_own_limits"]
