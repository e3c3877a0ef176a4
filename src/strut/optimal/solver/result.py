"""`Solution`: a solved problem, with everything that says how far to trust it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.optimal.nlp.scheme import Transcription, lagrange
from strut.optimal.problem import Problem, Requirement
from strut.optimal.solver.bound_multipliers import BoundMultipliers
from strut.optimal.solver.curves import PhaseCurve, PiecewiseCurve, StateCurve, state_curve
from strut.optimal.solver.defect import Defects, PlannedPhase, find_defects, phase_integrals
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.optimum import OptimumPoint
from strut.simulate import SavedResult
from strut.system import Packed, System, time
from strut.tabular import TableTexts, Tabular

MAX_KKT_RESIDUAL = 1e-6
"""The largest KKT residual, relative to the scales of unknowns, constraints and cost, of a solution that is
`ok`."""
MARGIN_SLACK = 1e-9
"""A requirement with a margin that is exceeded by more between the points, in its own unit, is violated
there."""
PATH_SLACK = 1e-3
"""A requirement without a margin that is exceeded by more than this part of its largest value in the motion
is, too."""
MIN_COST = 1e-3
"""A cost smaller than this part of its scale is hardly anything: its error is relative to this part."""
COST = "the cost"
"""What the cost is called among scales."""
KEPT = "kept: no better motion was found"
"""The status of a motion that a search was given and did not better."""
INTERRUPTED = "interrupted"
"""The status of a solution whose search was ended by Ctrl-C."""
ONE_START = "one start: nothing is known of other optima"
"""What is said of the starts of a search that had one."""
PATH_SAMPLES = 10
"""Points of an interval at which requirements along the path are looked at again."""


@dataclass(frozen=True, eq=False)
class Motion:
    """One phase of a solution.

    t: of its nodes [s]. x: states at the nodes, rows. w: inputs by interval, place in it and input.
    z: its discrete states. slopes: of the states, per second, at the beginning and at the end of every
        interval.
    integrals: what the plan takes the problem's integrals for, by interval.
    places: within an interval, 0 to 1, where collocation has states, too. inner: these, by interval and
        place.
    """

    name: str
    until: str | None
    t: np.ndarray
    x: np.ndarray = field(repr=False)
    w: np.ndarray = field(repr=False)
    z: np.ndarray = field(repr=False)
    slopes: tuple[np.ndarray, np.ndarray] = field(repr=False)
    integrals: np.ndarray = field(repr=False)
    places: np.ndarray = field(repr=False, default_factory=lambda: np.empty(0))
    inner: np.ndarray = field(repr=False, default_factory=lambda: np.empty((0, 0, 0)))

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.t[-1] - self.t[0])

    def states(self, t: np.ndarray) -> np.ndarray:
        """Return states at any times [s], by the polynomials of collocation; of a plan by shooting, and of
        Hermite-Simpson, by cubic polynomials between the nodes."""
        return self.state_curve(np.asarray(t, dtype=float))

    def inputs(self, t: np.ndarray) -> np.ndarray:
        """Return inputs at any times [s], by the polynomials of the plan."""
        return self.input_curve(np.asarray(t, dtype=float))

    @property
    def state_curve(self) -> StateCurve:
        """The states over time [s]."""
        return state_curve(self.t, self.x, self.slopes, places=self.places, inner=self.inner)

    @property
    def input_curve(self) -> PiecewiseCurve:
        """The inputs over time [s]."""
        return PiecewiseCurve(self.t, self.w, lagrange(self.w.shape[1] - 1))

    def stretch(self) -> Stretch:
        """Return the phase as one of a guess."""
        begin, span = float(self.t[0]), self.duration
        return Stretch(
            span, PhaseCurve(self.state_curve, begin, span), PhaseCurve(self.input_curve, begin, span)
        )


@dataclass(frozen=True, eq=False)
class Solution(SavedResult, Tabular, Packed):
    """A solved problem.

    ok: the solver ended where the conditions of an optimum hold (see `kkt`), and, if that was asked for, with
        defects small enough.
    status: what the solver said. cost: what was minimised. parameters: of those that were free.
    phases: the motion. totals: the integrals and sums by name, as planned; `accurate_totals` has them from
        the adaptive integrator.
    kkt: 'stationarity', 'feasibility' and 'complementarity', relative to the scales of unknowns, constraints
        and cost. worst: the constraints that are violated most, by name and in their own unit.
    iterations: of the solver, on the last mesh. times: 'build', 'compile', 'solve' [s], and of the latter on
        the processor, 'cpu'; all meshes together.
    meshes: how many intervals there were, and the defect, on every mesh tried.
    multipliers: of Lagrange, of every limit that has bounds.
    starts: of the search; agreeing: how many of them ended with the least cost; unsolved: how many ended
        nowhere; refused_starts: how many ended with a lower cost, and what they found is not ok.
    optimum: unknowns and multipliers, for another search to begin warm.
    scales: of states, integrals and 'the cost' that are far from one: their size, in their own unit, relative
        to which defects and conditions of an optimum are judged.
    cost_accuracy: what the inputs may cost too much, relative to the cost, if that was asked for; then
        input_errors has what they do, by phase and interval, and cost_error_found by how much the cost is too
        large, both in its unit.
    """

    problem: Problem = field(repr=False)
    how: Transcription
    status: str
    cost: float
    parameters: Mapping[str, float]
    phases: tuple[Motion, ...] = field(repr=False)
    totals: Mapping[str, float]
    kkt: Mapping[str, float]
    worst: Mapping[str, float]
    iterations: int
    times: Mapping[str, float]
    success: bool
    accuracy: float | None = None
    meshes: tuple[tuple[int, float], ...] = ()
    starts: int = 1
    multipliers: tuple[BoundMultipliers, ...] = field(repr=False, default=())
    agreeing: int = 1
    unsolved: int = 0
    refused_starts: int = 0
    optimum: OptimumPoint | None = field(repr=False, default=None)
    scales: Mapping[str, float] = field(repr=False, default_factory=dict)
    cost_accuracy: float | None = None
    input_errors: tuple[np.ndarray, ...] = field(repr=False, default=())
    cost_error_found: float | None = None
    cost_error: ClassVar[cached_property[float]]
    """By how much the cost is too large because inputs are polynomials on a mesh, in its unit: what the
    search found; else an estimate, which takes about as long as an iteration. The room's `__init__` attaches
    it, since it needs a mesh and so stands above this file."""
    unmet: ClassVar[cached_property[dict[str, float]]]
    """Of a problem that was not solved: what was asked that cannot be met, by name and by how much. It takes
    at most some seconds: `unmet_requirements`, which the room's `__init__` attaches, since it solves and so
    stands above this file."""
    sensitivity: ClassVar[Callable[..., Any]]
    """How it depends on a number that was given: `strut.optimal.sensitivity`, attached likewise."""
    cost_slopes: ClassVar[cached_property[dict[str, float]]]
    """By how much the least cost grows for each unit of every parameter that is not free, by name."""

    @property
    def ok(self) -> bool:
        """Whether the conditions of an optimum hold, and plan and cost are as accurate as was asked: `wrong`
        says what does not."""
        return not self.wrong

    @cached_property
    def wrong(self) -> tuple[str, ...]:
        """What keeps it from being `ok`, each in a sentence."""
        if self.is_interrupted:
            return (f"the search was {INTERRUPTED}: this is the best that it had",)
        if not self.success:
            return (f"not solved: {self.status}",)
        faults = []
        largest = max(self.kkt.values())
        if not largest <= MAX_KKT_RESIDUAL:
            faults.append(
                f"the conditions of an optimum hold to {largest:.2g} only, not to {MAX_KKT_RESIDUAL:g}"
            )
        if self.accuracy is not None and not self.defect <= self.accuracy:
            faults.append(
                f"the plan differs from the adaptive integrator by {self.defect:.2g}, more than "
                f"{self.accuracy:g}: give more intervals"
            )
        if self.inputs_too_coarse:
            faults.append(
                f"better inputs would save about {self.relative_cost_error:.2g} of the cost, more than "
                f"{self.cost_accuracy:g}: give more intervals, another control=..., or ask for less by "
                f"cost_accuracy=..."
            )
        return tuple(faults)

    @property
    def cost_size(self) -> float:
        """The size of the cost, or a part of its scale where it is hardly anything, in its unit."""
        return max(abs(self.cost), MIN_COST * self.cost_scale)

    @property
    def cost_scale(self) -> float:
        """The scale of the cost, in its unit; 1 where it was not scaled."""
        return self.scales.get(COST, 1.0)

    @property
    def relative_cost_error(self) -> float:
        """The error of the cost relative to its size."""
        return self.cost_error / self.cost_size

    @property
    def inputs_too_coarse(self) -> bool:
        """Whether the inputs cost more too much than was asked."""
        return self.cost_accuracy is not None and not self.relative_cost_error <= self.cost_accuracy

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search: this is the best that it had."""
        return self.status == INTERRUPTED

    @property
    def agreement_text(self) -> str:
        """How many of several starts agree, in words."""
        if self.starts == 1:
            return ONE_START
        parts = [f"{self.agreeing} of {self.starts} starts agree"]
        parts += [f"{self.unsolved} led nowhere"] if self.unsolved else []
        parts += [f"{self.refused_starts} cheaper and not ok"] if self.refused_starts else []
        return ", ".join(parts)

    @property
    def duration(self) -> float:
        """The duration of the whole motion [s]."""
        return float(self.phases[-1].t[-1])

    @cached_property
    def system(self) -> System:
        """The system with the parameters that were found."""
        of = self.problem
        return (of.system if of.branch is None else of.branch.actual).using(self.parameters)

    @property
    def p(self) -> np.ndarray:
        """All parameters of the system, those that were free as they were found."""
        return np.concatenate([np.asarray(q.value, dtype=float) for q in self.system.p] or [np.empty(0)])

    @cached_property
    def defects(self) -> tuple[Defects, ...]:
        """The collocation defects of every phase: its intervals against the adaptive integrator."""
        return tuple(
            find_defects(
                self.problem,
                PlannedPhase(name=m.name, t=m.t, x=m.x, z=m.z, w=m.w, p=self.p, integrals=m.integrals),
                self.scales,
            )
            for m in self.phases
        )

    @property
    def defect(self) -> float:
        """The largest collocation defect."""
        return max(d.worst for d in self.defects)

    @cached_property
    def accurate_totals(self) -> dict[str, float]:
        """The integrals by name, from the adaptive integrator."""
        totals: dict[str, float] = {}
        for m, d in zip(self.phases, self.defects, strict=True):
            for k, total in enumerate(phase_integrals(self.problem, m.name)):
                totals[total.name] = totals.get(total.name, 0.0) + float(d.integrals[:, k].sum())
        return totals

    @cached_property
    def path_violations(self) -> dict[str, float]:
        """By how much what holds at the points of the mesh is violated anywhere between them: requirements
        along the path, by name, and the bounds of states and inputs, as 'bounds of NAME'."""
        violations: dict[str, float] = {}
        for r in self.problem.path_requirements():
            worst = max(
                (
                    float(self.over(r, m)[0].max(initial=0.0))
                    for m in self.phases
                    if r.phase in (None, m.name)
                ),
                default=0.0,
            )
            violations[r.name] = max(violations.get(r.name, 0.0), worst)
        return violations

    @cached_property
    def exceeded_limits(self) -> dict[str, tuple[float, str]]:
        """What holds at the points of the mesh and is exceeded between them by more than its slack: by name,
        by how much, and the unit."""
        exceeded: dict[str, tuple[float, str]] = {}
        for r, _, over, _ in self._path_excesses:
            worst = float(over.max(initial=0.0))
            if worst > self._path_slack(r) and worst > exceeded.get(r.name, (0.0, ""))[0]:
                exceeded[r.name] = (worst, r.unit)
        return exceeded

    def exceeds_limits(self, k: int) -> np.ndarray:
        """Return whether each interval of the phase of this number exceeds a limit between its points."""
        exceeds = np.zeros(len(self.phases[k].t) - 1, dtype=bool)
        for r, phase, over, _ in self._path_excesses:
            if phase == k:
                exceeds |= over > self._path_slack(r)
        return exceeds

    @cached_property
    def _path_excesses(self) -> list[tuple[Requirement, int, np.ndarray, float]]:
        """Requirements along the path, numbers of phases, and there what `over` says."""
        return [
            (r, k, *self.over(r, m))
            for r in self.problem.path_requirements()
            for k, m in enumerate(self.phases)
            if r.phase in (None, m.name)
        ]

    def _path_slack(self, r: Requirement) -> float:
        """Return by how much a requirement along the path may be exceeded between the points of the mesh. How
        large it is counts in the whole motion: a limit that decides all of a phase is next to nothing
        there."""
        size = max(size for other, _, _, size in self._path_excesses if other.name == r.name)
        return MARGIN_SLACK if r.margin else max(PATH_SLACK * size, r.safety)

    def over(self, r: Requirement, m: Motion) -> tuple[np.ndarray, float]:
        """Return by how much a requirement is violated at most in each interval of a phase; and how large
        what it asks of is at most."""
        system = self.problem.system
        groups = system.vectors()
        f = ca.Function("asked", [time, *groups], [r.expression])
        t = np.concatenate([np.linspace(a, b, PATH_SAMPLES) for a, b in pairwise(m.t)])
        still = [np.repeat(part[:, None], len(t), axis=1) for part in (m.z, self.p)]
        values = np.array(f(t[None], m.states(t).T, still[0], m.inputs(t).T, still[1]))
        over = np.maximum(r.low - values, values - r.high).max(axis=0, initial=0.0)
        return over.reshape(-1, PATH_SAMPLES).max(axis=1), float(np.abs(values).max(initial=0.0))

    def at(self, times: Any) -> dict[str, np.ndarray]:
        """Return states and inputs, by name, at times [s]; where a phase ends, what was before."""
        t = np.atleast_1d(np.asarray(times, dtype=float))
        if t.size and not (t.min() >= self.phases[0].t[0] - 1e-12 and t.max() <= self.duration * (1 + 1e-12)):
            raise ValueRangeError(
                f"asked for t = {t.min():g} to {t.max():g} s, but the motion lasts {self.duration:g} s"
            )
        system = self.problem.system
        x, u = np.empty((len(t), system.size("x"))), np.empty((len(t), system.size("u")))
        k = np.clip(np.searchsorted([m.t[-1] for m in self.phases], t, side="left"), 0, len(self.phases) - 1)
        for i, m in enumerate(self.phases):
            if (k == i).any():
                x[k == i], u[k == i] = m.states(t[k == i]), m.inputs(t[k == i])
        columns = {n: x[:, i] for i, n in enumerate(system.labels("x"))} | {
            n: u[:, i] for i, n in enumerate(system.labels("u"))
        }
        return {n: v[0] for n, v in columns.items()} if np.ndim(times) == 0 else columns

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a state at the nodes of all phases, or an input at the beginnings of intervals and the end;
        a parameter's value."""
        system = self.problem.system
        if name in system.labels("x"):
            return np.concatenate([m.x[:, system.labels("x").index(name)] for m in self.phases])
        if name in system.labels("u"):
            return np.concatenate([m.inputs(m.t)[:, system.labels("u").index(name)] for m in self.phases])
        if name in system.labels("p"):
            return np.asarray(self.p[system.labels("p").index(name)])
        names = [*system.labels("x"), *system.labels("u"), *system.labels("p")]
        raise UnknownNameError(f"the result has no '{name}': {did_you_mean(name, names)}")

    @property
    def t(self) -> np.ndarray:
        """The times of the nodes of all phases [s]."""
        return np.concatenate([m.t for m in self.phases])

    @property
    def x0(self) -> dict[str, float]:
        """The state in which the motion begins, by name."""
        return dict(zip(self.problem.system.labels("x"), map(float, self.phases[0].x[0]), strict=True))

    def columns(self) -> dict[str, np.ndarray]:
        """Return time [s], states and inputs at the nodes of all phases; where one ends and the next begins,
        both."""
        system = self.problem.system
        names = np.concatenate([np.full(len(m.t), m.name, dtype=object) for m in self.phases])
        motion = {name: self[name] for name in (*system.labels("x"), *system.labels("u"))}
        return {"phase": names, "t": self.t, **motion}

    def _card_tables(self) -> TableTexts:
        parameters = [(name, f"{value:.9g}") for name, value in self.parameters.items()]
        totals = [(name, f"{value:.9g}") for name, value in self.totals.items()]
        return {
            "parameters": (("name", "value"), parameters),
            "totals": (("name", "value"), totals),
            **super()._card_tables(),
        }

    def guess(self) -> Guess:
        """Return this motion as the beginning of another search."""
        stretches = tuple(m.stretch() for m in self.phases)
        return Guess(stretches, dict(self.parameters), self.optimum if self.success else None)

    def summary(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        solved = self.success and not self.is_interrupted
        return {
            "ok": self.ok,
            "wrong": list(self.wrong),
            "status": self.status,
            "cost": self.cost,
            "cost_error": self.cost_error if solved and math.isfinite(self.cost_error) else None,
            "parameters": dict(self.parameters),
            "duration": self.duration,
            "x0": self.x0,
            "kkt": dict(self.kkt),
            "defect": None if self.is_interrupted else self.defect,
            "iterations": self.iterations,
            "times": dict(self.times),
            "worst": dict(self.worst),
            "exceeded": {} if self.is_interrupted else dict(self.path_violations),
            "meshes": [list(m) for m in self.meshes],
            "starts": self.starts,
            "agreeing": self.agreeing,
            "unsolved_starts": self.unsolved,
            "refused_starts": self.refused_starts,
        }

    def __repr__(self) -> str:
        good = "ok" if self.ok else f"not ok ({self.wrong[0]})"
        n = sum(len(m.t) - 1 for m in self.phases)
        return (
            f"<Result of {self.problem.system.name}: {good}, cost {self.cost:.6g}, {self.iterations} "
            f"iterations, {n} intervals>"
        )


__all__ = ["Motion", "Solution"]
