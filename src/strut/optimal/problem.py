"""`Problem`: what is wanted of a motion of a system, in the words of the system.

A phase is the system with its discrete states held, from where the last one ended until the guard of a named
event is zero; the event's reset leads to the next. Or it ends by time, and the next begins where it ended, or
after a jump that is given. Inputs are free, durations are free or given, and so are parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from strut.checks import checked, number_array
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.totals import Initial, Integral, MotionTotal
from strut.optimal.walk.frozen_branch import FrozenBranch
from strut.simulate.options import check_system
from strut.system import Expression, Packed, System, activate, hold_disturbances, known_symbol, memo, sx, time

MIN_DURATION = 1e-4
"""The least duration of a phase that is free to end [s]."""
PLACES = ("path", "begin", "end", "after")
"""Where something can be required: along a phase, at its ends, or after the event that ends it."""


@dataclass(frozen=True, eq=False)
class Phase:
    """A part of the motion in which nothing jumps. duration: bounds [s]. z: values of discrete states that
    are held in it. jump: where it ends by time, new values of continuous states for the next, by name:
    expressions of the state before. by_inputs: whether its event comes where the inputs jump to those of the
    next phase, as a foot that these lift is let go: the guard is then not zero at its end."""

    name: str
    until: str | None
    duration: tuple[float, float]
    z: Mapping[str, Any]
    jump: Mapping[str, ca.SX] = field(default_factory=dict)
    by_inputs: bool = False

    def after(self, system: System, expression: ca.SX) -> ca.SX:
        """Return an expression of the state after what ends the phase, as one of the state before."""
        if self.until is not None:
            return system.after(self.until, expression)
        changed = [q for q in system.x if q.name in self.jump]
        return ca.substitute([expression], [q.sym for q in changed], [self.jump[q.name] for q in changed])[0]


@dataclass(frozen=True, eq=False)
class Requirement(Packed):
    """low <= expression <= high: along a phase ('path'), at its 'begin', at its 'end', or 'after' the event
    that ends it.
    margin: in the middle of a phase the bounds are narrower by so much, and less towards its ends.
    unit: of the expression. per_limit: where what was asked is a number inside the expression, and not its
        bound, the derivative of the expression by that number.
    begins_at_zero: whether something else has it zero at the beginning of the phase: no bound stands there.
    begins_at_rest: whether it may begin without a rate, too, as of a foot that rises: the bounds then narrow
        from there with the square of time, else with time.
    safety: by how much the bounds are narrower all along than what must hold.
    """

    name: str
    expression: ca.SX
    low: float
    high: float
    at: str
    phase: str | None
    margin: float = 0.0
    unit: str = ""
    per_limit: ca.SX | None = None
    begins_at_zero: bool = False
    begins_at_rest: bool = False
    safety: float = 0.0

    def bounds(self, place: float) -> tuple[float, float]:
        """Return the bounds where a part `place`, 0 to 1, of the phase is over."""
        part = 4 * place * (1 - place)
        margin = self.margin * (part**2 if self.begins_at_rest else part)
        return self.low + margin, self.high - margin


@checked
@dataclass(frozen=True, eq=False)
class Problem(Packed):
    """An optimal control problem over states, inputs, durations and parameters. Every method gives a new
    problem; `solve` solves it.

    Problem(walker).phase("step", until="heel_strike").periodic().free("hip_spring").minimise(effort).solve()
    """

    system: System
    phases: tuple[Phase, ...] = ()
    requirements: tuple[Requirement, ...] = ()
    parameters: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    begins: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    repeats: bool | None = None
    objective: ca.SX = field(default_factory=lambda: ca.SX(0))
    totals: tuple[MotionTotal, ...] = ()
    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    resumes: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    branch: FrozenBranch | None = field(default=None, repr=False)
    solve: ClassVar[Callable[..., Any]]
    """Solves it and gives a `Solution`: `strut.optimal.solve`, which the room's `__init__` attaches, since it
    stands above this file."""

    def __post_init__(self) -> None:
        check_system(self.system)
        object.__setattr__(self, "system", hold_disturbances(self.system))
        if self.branch is not None:
            branch = replace(self.branch, system=self.system, actual=hold_disturbances(self.branch.actual))
            object.__setattr__(self, "branch", branch)
        if self.system.delays:
            raise ModelError(
                f"system '{self.system.name}' has delays: a problem needs a state that says what follows"
            )

    @checked
    def phase(
        self,
        name: str = "motion",
        until: str | None = None,
        duration: float | tuple[float, float] = (MIN_DURATION, math.inf),
        z: Mapping[str, Any] | None = None,
        jump: Mapping[str, Expression] | None = None,
        *,
        part: str = "",
        by_inputs: bool = False,
    ) -> Problem:
        """Return the problem with a further phase.

        until: the event that ends it; without one it ends with its duration, a number or
        bounds [s].
        z: values of discrete states; what is not named is as the last event left it, or as the system
        begins.
        jump: of a phase that ends by time, new values of continuous states, by name, as expressions of the
        state before: {"velocity": -0.5 * velocity}. What is not named stays.
        part: of a system whose parts take turns (`alternate`), the one that is active.
        by_inputs: the event comes because inputs jump to those of the next phase. Its guard is then not zero
        at the end; require what brings it about where the next phase begins."""
        if by_inputs and until is None:
            raise ModelError(
                f"phase '{name}' ends by time, and inputs bring no event about: give until=..., or leave out "
                f"by_inputs"
            )
        if until is not None:
            self.system.event(until)
        if any(each.name == name for each in self.phases):
            raise ModelError(f"phase '{name}' stands twice: give every phase its own name")
        discrete = {**(activate(self.system, part) if part else {}), **(z or {})}
        places = self.system.slices("z")
        for label in discrete:
            if label not in places:
                raise UnknownNameError(
                    f"phase '{name}' holds '{label}', which is no discrete state: "
                    f"{did_you_mean(label, list(places))}"
                )
        low, high = _pair(duration, f"the duration of phase '{name}'")
        if not low > 0:
            raise ValueRangeError(f"phase '{name}' lasts at least {low:g} s: that must be positive")
        jumps = self._jump(name, until, jump or {})
        phase = Phase(name, until, (low, high), discrete, jumps, by_inputs)
        return replace(self, phases=(*self.phases, phase))

    def _jump(self, phase: str, until: str | None, jump: Mapping[str, Expression]) -> dict[str, ca.SX]:
        """Return the jump at the end of a phase as expressions by name of a state; checked."""
        if jump and until is not None:
            raise ModelError(
                f"phase '{phase}' ends with '{until}' and has a jump of its own: the event says what jumps; "
                f"leave out jump=..., or until=..."
            )
        sizes = {q.name: q.size for q in self.system.x}
        jumps: dict[str, ca.SX] = {}
        for name, value in jump.items():
            if name not in sizes:
                raise UnknownNameError(
                    f"the jump of phase '{phase}' sets '{name}', which is no state of '{self.system.name}': "
                    f"{did_you_mean(name, list(sizes))}"
                )
            jumps[name] = sx(value)
            if jumps[name].numel() != sizes[name]:
                raise ModelError(
                    f"the jump of phase '{phase}' gives '{name}' {jumps[name].numel()} numbers: it has "
                    f"{sizes[name]}"
                )
            if self._totals(jumps[name], f"the jump of phase '{phase}'"):
                raise ModelError(
                    f"the jump of phase '{phase}' uses a total of the motion for '{name}': give an "
                    f"expression of states, inputs, parameters and time"
                )
        return jumps

    @checked
    def begin(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Problem:
        """Bound states at the beginning of the motion: numbers, or bounds (low, high)."""
        return replace(self, begins={**self.begins, **self._states({**(values or {}), **more})})

    @checked
    def end(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Problem:
        """Bound states at the end of the motion (before the event that ends it, if one does): numbers, or
        bounds (low, high)."""
        return replace(self, ends={**self.ends, **self._states({**(values or {}), **more})})

    @checked
    def within(self, values: Mapping[str, Any] | None = None, /, **more: Any) -> Problem:
        """Bound states and inputs all along by (low, high), beside those they have by themselves."""
        names = [label for g in ("x", "u") for label in self.system.labels(g)]
        limits = {}
        for name, value in {**(values or {}), **more}.items():
            if name not in names:
                raise UnknownNameError(
                    f"'{name}' is no state or input of '{self.system.name}': {did_you_mean(name, names)}"
                )
            limits[name] = _pair(value, f"'{name}'")
        return replace(self, limits={**self.limits, **limits})

    def bounds(self, group: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and largest values that states ('x') or inputs ('u') may have all along: their
        own, and those of `within`."""
        quantities, labels = getattr(self.system, group), self.system.labels(group)
        low, high = (
            np.concatenate([np.full(q.size, q.range[side]) for q in quantities] or [np.empty(0)])
            for side in (0, 1)
        )
        for i, name in enumerate(labels):
            a, b = self.limits.get(name, (-math.inf, math.inf))
            low[i], high[i] = max(low[i], a), min(high[i], b)
        return low, high

    def path_requirements(self) -> tuple[Requirement, ...]:
        """Return all that must hold all along: what was required along the path, and bounds of states and
        inputs, as 'bounds of NAME'."""
        along = [r for r in self.requirements if r.at == "path"]
        for group, column in zip("xu", self.system.vectors("xu"), strict=True):
            for i, (name, low, high) in enumerate(
                zip(self.system.labels(group), *self.bounds(group), strict=True)
            ):
                if math.isfinite(low) or math.isfinite(high):
                    bounds = Requirement(bounds_name(name), column[i], float(low), float(high), "path", None)
                    along.append(bounds)
        return tuple(along)

    def _states(self, values: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
        names = self.system.labels("x")
        for name in values:
            if name not in names:
                raise UnknownNameError(
                    f"'{name}' is no state of '{self.system.name}': {did_you_mean(name, list(names))}"
                )
        return {name: _pair(value, f"state '{name}'") for name, value in values.items()}

    @checked
    def require(  # noqa: PLR0913 -- what can be said of a requirement
        self,
        name: str,
        expression: Expression,
        low: float = -math.inf,
        high: float = math.inf,
        *,
        equal: float | None = None,
        at: str = "path",
        phase: str | None = None,
        margin: float = 0.0,
        safety: float = 0.0,
        unit: str = "",
        per_limit: Expression | None = None,
    ) -> Problem:
        """Require low <= expression <= high, or equality; by its name it is called if it cannot be met.

        expression: an output's name or an expression of time, states, inputs, parameters, and (asked at the
        end) integrals and initial values. at: 'path', 'begin', 'end' or 'after' the event at the end.
        phase: one of them; by default every phase along the path, the first at the beginning, the last at the
            end.
        margin: along the path, kept by so much in the middle of a phase, and by less towards its ends, where
        an event may have it zero: so that it holds between the points of the mesh, too.
        safety: by how much low and high are already narrower than what must hold: by no more may they be
        exceeded between the points of the mesh.
        unit: of the expression, for people. per_limit: where a limit stands inside the expression, and is not
            its bound, the derivative of the expression by it.
        """
        if at not in PLACES:
            raise ModelError(f"requirement '{name}' is at '{at}': allowed are {', '.join(PLACES)}")
        column = self.system[expression] if isinstance(expression, str) else sx(expression)
        low, high = (equal, equal) if equal is not None else (low, high)
        if not margin >= 0 or (margin and at != "path"):
            raise ValueRangeError(
                f"requirement '{name}' has margin {margin:g} at '{at}': it must not be negative, and is for "
                f"the path only"
            )
        if not low + margin <= high - margin:
            raise ValueRangeError(
                f"requirement '{name}' wants {low:g} to {high:g}: the first must not exceed the second"
            )
        totals = self._totals(column, f"requirement '{name}'")
        if totals and at not in ("end", "after"):
            raise ModelError(
                f"requirement '{name}' uses the {totals[0].kind} '{totals[0].name}', which is known at the "
                f"end only: say at='end'"
            )
        every_total = (*self.totals, *(t for t in totals if t not in self.totals))
        return replace(
            self,
            requirements=(
                *self.requirements,
                Requirement(
                    name=name,
                    expression=column,
                    low=float(low),
                    high=float(high),
                    at=at,
                    phase=phase,
                    margin=float(margin),
                    safety=float(safety),
                    unit=unit,
                    per_limit=None if per_limit is None else sx(per_limit),
                ),
            ),
            totals=every_total,
        )

    @checked
    def free(self, *names: str, **bounds: tuple[float, float]) -> Problem:
        """Free parameters, to be found together with the motion, within their own bounds or those given:
        free("mass", stiffness=(0, 100))."""
        places = {q.name: q for q in self.system.p}
        parameters = dict(self.parameters)
        for name in (*names, *bounds):
            if name not in places:
                raise UnknownNameError(
                    f"system '{self.system.name}' has no parameter '{name}': "
                    f"{did_you_mean(name, list(places))}"
                )
            if places[name].size != 1:
                raise ModelError(f"parameter '{name}' is a vector: only single numbers can be free")
            parameters[name] = _pair(bounds.get(name, places[name].bounds), f"parameter '{name}'")
        return replace(self, parameters=parameters)

    @checked
    def periodic(self, symmetry: bool | None = None) -> Problem:
        """Require that after the last event the motion is where it began, left and right exchanged where the
        system has a `symmetry` (unless symmetry=False); states that only say how far it has come are left
        out."""
        if symmetry and not self.system.symmetry:
            raise ModelError(f"system '{self.system.name}' has no symmetry: leave out symmetry=True")
        return replace(self, repeats=bool(self.system.symmetry) if symmetry is None else symmetry)

    @checked
    def resume(self, inputs: Mapping[str, str]) -> Problem:
        """Require that inputs begin as another, or the same, ended, so that a motion that repeats does not
        jump in
        them: by name, or with a minus
        sign before it for its negative: resume({"hip_torque": "-hip_torque"})."""
        names, resumes = self.system.labels("u"), {}
        for name, other in inputs.items():
            for each in (name, other.lstrip("-")):
                if each not in names:
                    raise UnknownNameError(
                        f"'{each}' is no input of '{self.system.name}': {did_you_mean(each, list(names))}"
                    )
            resumes[name] = (other.lstrip("-"), -1.0 if other.startswith("-") else 1.0)
        return replace(self, resumes={**self.resumes, **resumes})

    @checked
    def minimise(self, cost: Expression) -> Problem:
        """Return the problem with what should be small: an expression of integrals, sums over events, initial
        values (`initial`), parameters, and state and time at the end of the motion."""
        column = sx(cost)
        if column.numel() != 1:
            raise ModelError(f"the cost has {column.numel()} numbers: one is needed")
        totals = self._totals(column, "the cost")
        return replace(
            self, objective=column, totals=(*self.totals, *(t for t in totals if t not in self.totals))
        )

    def _totals(self, expression: ca.SX, where: str) -> list[MotionTotal]:
        """Return the integrals, sums and initial values in an expression; `UnknownNameError` for other
        strangers."""
        own = memo(self.system, _own_symbols)
        totals: list[MotionTotal] = []
        for symbol in ca.symvar(expression):
            if symbol.element_hash() in own:
                continue
            owner = known_symbol(symbol)
            if not isinstance(owner, MotionTotal):
                raise UnknownNameError(
                    f"{where} uses '{symbol.name()}', which '{self.system.name}' does not have: use its "
                    f"quantities, time, or an Integral "
                    "that is kept in a variable"
                )
            if isinstance(owner, Initial):
                self._states({owner.state: 0.0})
            # A problem out of a pickle has a copy of the integral, with the same symbol.
            same = next((t for t in (*self.totals, *totals) if t.name == owner.name), owner)
            if same.sym.element_hash() != owner.sym.element_hash():
                raise ModelError(
                    f"{where} uses the {owner.kind} '{owner.name}', and there is another one of that name: "
                    "give each its own"
                )
            totals.append(same)
        return totals


def _own_symbols(system: System) -> set[int]:
    """Return the hashes of the symbols of a system, and of time."""
    symbols = ca.vertcat(time, *[q.sym for q in system.quantities()])
    return {symbol.element_hash() for symbol in ca.vertsplit(symbols)}


def bounds_name(label: str) -> str:
    """Return what the bounds of a state, an input or a parameter are called among limits."""
    return f"bounds of {label}"


def _pair(value: Any, what: str) -> tuple[float, float]:
    """Return bounds (low, high): a number is both."""
    pair = number_array(what, value).reshape(-1)
    if not len(pair):
        raise ValueRangeError(f"{what} is {value!r}: give a number, or bounds (low, high) with low <= high")
    low, high = (pair[0], pair[0]) if len(pair) == 1 else (pair[0], pair[-1])
    if len(pair) > 2 or math.isnan(low) or math.isnan(high) or not low <= high:
        raise ValueRangeError(f"{what} is {value!r}: give a number, or bounds (low, high) with low <= high")
    return float(low), float(high)


def check_problem(problem: Problem) -> None:
    """Check what can only be seen when everything has been said: phases, and names of phases."""
    if not problem.phases:
        raise ModelError(
            f"the problem of '{problem.system.name}' has no phase: say .phase('step', until='heel_strike')"
        )
    names = [each.name for each in problem.phases]
    for kind, labels in (
        ("requirement", [(r.name, r.phase) for r in problem.requirements]),
        ("integral", [(t.name, t.phase) for t in problem.totals if isinstance(t, Integral)]),
    ):
        for name, phase in labels:
            if phase is not None and phase not in names:
                raise UnknownNameError(
                    f"{kind} '{name}' belongs to phase '{phase}': {did_you_mean(phase, names)}"
                )
    if problem.repeats is not None and problem.phases[-1].until is None and problem.repeats:
        raise ModelError("a motion that repeats mirrored needs an event that ends it: say until=...")


__all__ = ["Phase", "Problem", "Requirement"]
