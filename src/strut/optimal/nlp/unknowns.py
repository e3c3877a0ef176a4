"""`Layout`: the index map of the NLP: which unknown is which state, input, duration or parameter."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca
import numpy as np

from strut.gait.section import section_of
from strut.optimal.nlp.scheme import Transcription, lagrange, tableau
from strut.optimal.problem import Phase, Problem, Requirement, bounds_name, check_problem
from strut.optimal.totals import Integral, Jumps
from strut.system import start, sx, time

UNBOUNDED = (-math.inf, math.inf)
"""Bounds of what has none."""
Symbolic = Any
"""CasADi's SX or MX."""


@dataclass(eq=False)
class Span:
    """The places of the unknowns of a phase.

    phase: which. moving: the discrete states that depend on the motion and are unknowns. fractions: widths
    of its intervals, of one. duration, discrete, x, w,
    inner, slack: indices of unknowns.
    """

    phase: Phase
    fractions: np.ndarray
    moving: tuple[int, ...]
    duration: int = -1
    discrete: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    x: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=int))
    w: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=int))
    inner: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=int))
    slack: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0, 2), dtype=int))

    @property
    def count(self) -> int:
        """How many intervals there are."""
        return len(self.fractions)

    @property
    def nodes(self) -> np.ndarray:
        """Where intervals begin and end, of one."""
        return np.concatenate([[0.0], np.cumsum(self.fractions)[:-1], [1.0]])


@dataclass(frozen=True)
class LimitPlace:
    """Which limit the bounds of a number of the NLP stand for, and where: its name, the phase by its index,
    and the part of the phase that is over, 0 to 1."""

    limit: str
    phase: int = 0
    place: float = 0.0


@dataclass(eq=False)
class RowBlock:
    """Names and bounds of numbers that are added one group after the other.

    limits: by index, which limit the bounds of a number stand for; what only makes a motion one of the
        system, such as defects, stands for none.
    """

    names: list[str] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    limits: dict[int, LimitPlace] = field(default_factory=dict)

    def add(self, names: Sequence[str], low: Any, high: Any, limits: Sequence[LimitPlace] = ()) -> np.ndarray:
        """Add a group of numbers, and return their indices. limits: for each of them, where they have any."""
        first = len(self.names)
        self.limits |= {first + k: limit for k, limit in enumerate(limits)}
        self.names += names
        self.low += list(np.broadcast_to(low, len(names)).astype(float))
        self.high += list(np.broadcast_to(high, len(names)).astype(float))
        return np.arange(first, first + len(names))


class Layout:
    """The unknowns of a problem on a mesh: free parameters first, then phase by phase and interval by
    interval."""

    def __init__(
        self, problem: Problem, how: Transcription, fractions: Sequence[np.ndarray] | None = None
    ) -> None:
        check_problem(problem)
        self.problem, self.how, self.system = problem, how, problem.system
        system = self.system
        self.nx, self.nu, self.nz, self.np = (system.size(g) for g in "xuzp")
        self.start = start(system)
        self.vectors = system.vectors()
        self.flow = ca.densify(ca.vertcat(*[system.flow[q.name] for q in system.x], ca.SX(0, 1)))
        self.free = [system.slices("p")[name].start for name in problem.parameters]
        self.taken = list(range(self.np + self.nz * len(problem.phases)))
        self.table = None if how.method == "shooting" else tableau(how.method, how.stages)
        self.points = how.steps + 1 if self.table is None else len(self.table.c)
        self.basis = lagrange(how.degree)
        self.unknowns = RowBlock()
        self.discrete = self._discrete_states()
        self.spans = [
            Span(phase, self._fractions(k, fractions), self.discrete[k][1])
            for k, phase in enumerate(problem.phases)
        ]
        self._place()
        self._cyclic()

    def _discrete_states(self) -> list[tuple[np.ndarray, tuple[int, ...]]]:
        """Return of every phase: numbers of its discrete states, and which of them depend on the motion and
        are unknowns instead."""
        system, problem = self.system, self.problem
        numbers = self.start.z.copy()
        moving: tuple[int, ...] = ()
        by_phase: list[tuple[np.ndarray, tuple[int, ...]]] = []
        live = self._live_discrete()
        varied = ca.vertcat(
            self.vectors[0], time, self.vectors[2], *[system[name] for name in problem.parameters]
        )
        for k, phase in enumerate(problem.phases):
            for name, value in phase.z.items():
                numbers[system.slices("z")[name]] = value
            fixed = {
                i
                for name in phase.z
                for i in range(system.slices("z")[name].start, system.slices("z")[name].stop)
            }
            needed = self._phase_expressions(k)
            moving = tuple(
                i
                for i in moving
                if i not in fixed and (i in live[k] or ca.depends_on(needed, self.vectors[1][i]))
            )
            by_phase.append((numbers.copy(), moving))
            if phase.until is None:
                continue
            reset = system.event(phase.until).reset
            left = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in system.z], ca.SX(0, 1))
            dependent = ca.vertcat(varied, *[self.vectors[1][i] for i in moving])
            values = ca.Function("left", [time, *self.vectors], [left])(
                0, self.start.x, numbers, self.start.u, self.start.p
            )
            moving = tuple(i for i in range(self.nz) if ca.depends_on(left[i], dependent))
            numbers = np.array(values).reshape(-1)
        return by_phase

    def _live_discrete(self) -> list[set[int]]:
        """Return of every phase which discrete states it or a later one uses for anything but their own
        bookkeeping, from the last phase backwards."""
        z, system, live = self.vectors[1], self.system, set[int]()
        by_phase: list[set[int]] = []
        for k in range(len(self.problem.phases) - 1, -1, -1):
            phase, used = self.problem.phases[k], self._used_expressions(k)
            reset = {} if phase.until is None else system.event(phase.until).reset
            left = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in system.z], ca.SX(0, 1))
            live_after = ca.vertcat(*[left[i] for i in sorted(live)], ca.SX(0, 1))
            names = {i for name in phase.z for i in range(self.nz)[system.slices("z")[name]]}
            live = {i for i in range(self.nz) if ca.depends_on(ca.vertcat(used, live_after), z[i])} - names
            by_phase.insert(0, live)
        return by_phase

    def _used_expressions(self, k: int) -> ca.SX:
        """Return what a phase evaluates, but for the discrete states that the event at its end sets."""
        phase, system, is_last = self.problem.phases[k], self.system, k == len(self.problem.phases) - 1
        asked = [r.expression for at in ("path", "begin", "end") for r in self.requirements(k, at)]
        asked += [phase.after(system, r.expression) for r in self.requirements(k, "after")]
        parts = [self.flow, *asked, *[e for _, e in self.rates(phase)]]
        parts += [phase.after(system, self.vectors[0]), *([self.problem.objective] if is_last else [])]
        if phase.until is not None:
            parts.append(sx(system.event(phase.until).guard))
            parts += [t.of(phase.until) for t in self.problem.totals if isinstance(t, Jumps)]
        return ca.vertcat(*[ca.vec(e) for e in parts])

    def _phase_expressions(self, k: int) -> ca.SX:
        """Return everything that a phase evaluates."""
        phase, system = self.problem.phases[k], self.system
        parts = [
            self.flow,
            *[r.expression for r in self.requirements(k, "path")],
            *[e for _, e in self.rates(phase)],
        ]
        parts += [r.expression for where in ("begin", "end", "after") for r in self.requirements(k, where)]
        if phase.until is not None:
            event = system.event(phase.until)
            parts += [sx(event.guard), *[sx(e) for n, e in event.reset.items()]]
            parts += [t.of(phase.until) for t in self.problem.totals if isinstance(t, Jumps)]
        return ca.vertcat(*[ca.vec(e) for e in parts])

    def rates(self, phase: Phase) -> list[tuple[Integral, ca.SX]]:
        """Return the integrals that run in a phase, with their rates."""
        return [
            (t, t.rate)
            for t in self.problem.totals
            if isinstance(t, Integral) and t.phase in (None, phase.name)
        ]

    def requirements(self, k: int, at: str) -> list[Requirement]:
        """Return the requirements on phase k at one of its places: 'path', 'begin', 'end' or 'after'."""
        phases = self.problem.phases
        default = {"path": None, "begin": phases[0].name, "end": phases[-1].name, "after": phases[-1].name}[
            at
        ]
        return [
            r
            for r in self.problem.requirements
            if r.at == at and (r.phase or default or phases[k].name) == phases[k].name
        ]

    def _fractions(self, k: int, given: Sequence[np.ndarray] | None) -> np.ndarray:
        """Return the widths of the intervals of phase k, of one: those given, or equal ones."""
        if given is not None:
            return np.asarray(given[k], dtype=float)
        n = np.broadcast_to(self.how.intervals, len(self.problem.phases))[k]
        return np.full(int(n), 1 / int(n))

    def _place(self) -> None:
        """Number the unknowns: free parameters, then of every phase its duration, discrete states that move,
        and interval by interval states, inputs, inner states and slacks."""
        problem, how, system = self.problem, self.how, self.system
        self.p_at = self.unknowns.add(
            list(problem.parameters),
            [b[0] for b in problem.parameters.values()],
            [b[1] for b in problem.parameters.values()],
            [LimitPlace(bounds_name(name)) for name in problem.parameters],
        )
        (low, high), (u_low, u_high) = problem.bounds("x"), problem.bounds("u")
        points, interior = self.points, 0 if self.table is None else sum(1 for c in self.table.c if 0 < c < 1)
        for k, span in enumerate(self.spans):
            name, n = span.phase.name, span.count
            span.duration = int(
                self.unknowns.add(
                    [f"duration of {name}"],
                    span.phase.duration[0],
                    span.phase.duration[1],
                    [LimitPlace(f"duration of {name}", k, 1.0)],
                )[0]
            )
            labels = system.labels("z")
            span.discrete = self.unknowns.add(
                [f"{labels[i]} in {name}" for i in span.moving], -math.inf, math.inf
            )
            splits = sum(1 for t, _ in self.rates(span.phase) if t.split)
            x, w, inner, slack, last = [], [], [], [], np.zeros(0, dtype=int)
            for i in range(n + 1):
                first, final = k == 0 and i == 0, k == len(self.spans) - 1 and i == n
                fixed = (problem.begins, "beginning") if first else (problem.ends, "end") if final else None
                x.append(self._state(f"{name}, node {i}", (low, high), (k, span.nodes[i]), fixed))
                if i == n:
                    break
                # Inputs are continuous in a phase: an interval begins with the last place of the one before.
                places = [last] if how.degree and i else []
                while len(places) <= how.degree:
                    place = span.nodes[i] + span.fractions[i] * len(places) / max(how.degree, 1)
                    places.append(
                        self.unknowns.add(
                            [f"{u} in {name}, interval {i}" for u in system.labels("u")],
                            u_low,
                            u_high,
                            [LimitPlace(bounds_name(u), k, place) for u in system.labels("u")],
                        )
                    )
                last = places[-1]
                w.append(places)
                inner.append(
                    [
                        self._state(f"{name}, interval {i}", (low, high), (k, span.nodes[i]))
                        for _ in range(interior)
                    ]
                )
                names = [f"slack in {name}, interval {i}"] * (points * splits * 2)
                slack.append(self.unknowns.add(names, 0.0, math.inf).reshape(points, splits, 2))
            span.x, span.w = np.array(x), np.array(w, dtype=int).reshape(n, how.degree + 1, self.nu)
            span.inner = np.array(inner, dtype=int).reshape(n, interior, self.nx)
            span.slack = np.array(slack, dtype=int).reshape(n, points, splits, 2)

    def _state(
        self,
        where: str,
        bounds: tuple[np.ndarray, np.ndarray],
        place: tuple[int, float],
        fixed: tuple[Mapping[str, tuple[float, float]], str] | None = None,
    ) -> np.ndarray:
        """Add the unknowns of one state, within bounds and, where it is fixed at an end (by name, and which
        end), within those. place: index of the phase, and the part of it that is over."""
        labels, (low, high), (values, end) = self.system.labels("x"), bounds, fixed or ({}, "")
        lows = [max(low[i], values.get(n, UNBOUNDED)[0]) for i, n in enumerate(labels)]
        highs = [min(high[i], values.get(n, UNBOUNDED)[1]) for i, n in enumerate(labels)]
        limits = [LimitPlace(f"{n} at the {end}" if n in values else bounds_name(n), *place) for n in labels]
        return self.unknowns.add([f"{n} at {where}" for n in labels], lows, highs, limits)

    def _cyclic(self) -> None:
        """Fix where the motion begins: states that only say how far a repeating motion has come begin where
        the system does."""
        last = self.problem.phases[-1].until
        self.cyclic: tuple[int, ...] = ()
        self.shear: ca.Function | None = None
        if self.problem.repeats is None or last is None:
            return
        section = section_of(self.system, last)
        self.cyclic, self.shear = section.cyclic, section.shear
        for i in self.cyclic:
            if self.system.labels("x")[i] not in self.problem.begins:
                self.unknowns.limits.pop(int(self.spans[0].x[0, i]), None)
                self.unknowns.low[self.spans[0].x[0, i]] = self.unknowns.high[self.spans[0].x[0, i]] = (
                    self.start.x[i]
                )

    def with_parameters(self, free: Sequence[int], taken: Sequence[int]) -> Self:
        """Return a layout for stage functions alone in which other parameters are free, and of whose numbers
        stages take only those at the places `taken`; the rest is zero."""
        other = copy.copy(self)
        other.free, other.taken = list(free), list(taken)
        return other

    def stage_text(self, k: int) -> str:
        """Return what stages of phase k depend on besides expressions of the system, as text."""
        moving, numbers = self.spans[k].moving, self.discrete[k][0]
        flags = [(i, n) for i, n in enumerate(numbers.tolist()) if n in (0.0, 1.0) and i not in moving]
        first = self.np + self.nz * k
        discrete = [i - first for i in self.taken if i >= self.np]
        return repr((k, self.nx, self.nu, self.nz, self.how.degree, moving, flags, discrete))

    def weights(self) -> np.ndarray:
        """Return the weights of the points of an interval, for integrals that are not part of the
        integration itself."""
        if self.table is not None:
            return self.table.b
        m = self.how.steps
        if m % 2:
            return np.concatenate([[0.5], np.ones(m - 1), [0.5]]) / m
        return np.array([1, *([4, 2] * (m // 2))[:-1], 1]) / (3 * m)

    def context(self, k: int, v: Symbolic, d: Symbolic, tau: Symbolic) -> tuple[Symbolic, ...]:
        """Return time, state, discrete states, inputs and parameters at a place of an interval, and its
        duration [s]."""
        span, at = self.spans[k], 0

        def take(n: int) -> Symbolic:
            nonlocal at
            at += n
            return v[at - n : at]

        x, w = take(self.nx), take((self.how.degree + 1) * self.nu)
        durations, discrete, free = take(k + 1), take(len(span.moving)), take(len(self.free))
        place, width = d[0], d[1]
        t = durations[k] * (place + width * tau)
        for j in range(k):
            t = t + durations[j]
        u = type(v).zeros(self.nu, 1)
        for i in range(self.how.degree + 1):
            factor = sum(float(c) * tau**j for j, c in enumerate(self.basis[i]))
            u = u + factor * w[i * self.nu : (i + 1) * self.nu]
        numbers = self._all_numbers(d)
        p = _with(numbers[: self.np], self.free, free)
        z = self._discrete_context(k, numbers, discrete)
        return t, x, z, u, p, durations[k] * width

    def read_vector(self, k: int, v: Symbolic, d: Symbolic, tau: Symbolic) -> Symbolic:
        """Return what a point reads of the unknowns, which is linear in them: time, state, inputs, discrete
        states that move, free parameters, and the duration of its interval [s]."""
        t, x, z, u, p, h = self.context(k, v, d, tau)
        moving, free = [z[i] for i in self.spans[k].moving], [p[i] for i in self.free]
        return ca.vertcat(t, x, u, *moving, *free, h)  # of a single number, p[[]] would be a row

    def read_context(self, k: int, read: Symbolic, d: Symbolic) -> tuple[Symbolic, ...]:
        """Return what `context` does, from what a point reads."""
        span = self.spans[k]
        sizes = [1, self.nx, self.nu, len(span.moving), len(self.free), 1]
        t, x, u, moving, free, h = ca.vertsplit(read, np.cumsum([0, *sizes]).tolist())
        numbers = self._all_numbers(d)
        p = _with(numbers[: self.np], self.free, free)
        return t, x, self._discrete_context(k, numbers, moving), u, p, h

    def _discrete_context(self, k: int, numbers: Symbolic, moving: Symbolic) -> Symbolic:
        """Return the discrete states of phase k: unknowns where they move, numbers else. What is 0 or 1, a
        flag such as of a foot that stands, is a constant: what it switches off is not even written."""
        own = numbers[self.np + self.nz * k : self.np + self.nz * (k + 1)]
        z = _with(own, self.spans[k].moving, moving)
        flags = [i for i, n in enumerate(self.discrete[k][0]) if n in (0.0, 1.0)]
        flags = [i for i in flags if i not in self.spans[k].moving]
        return _with(z, flags, type(numbers)(ca.DM(self.discrete[k][0][flags])))

    def index(self, k: int, x: np.ndarray, interval: int, extra: Sequence[int] = ()) -> np.ndarray:
        """Return the indices of the unknowns that a stage takes; see `context`."""
        span = self.spans[k]
        durations = [each.duration for each in self.spans[: k + 1]]
        return np.concatenate(
            [x, span.w[interval].reshape(-1), durations, span.discrete, self.p_at, extra]
        ).astype(int)

    def symbols(self, kind: Any, k: int, data: int, extra: int = 0) -> tuple[Symbolic, Symbolic]:
        """Return the symbols of a stage: local variables, and numbers of which `data` are its own."""
        n = (
            self.nx
            + (self.how.degree + 1) * self.nu
            + k
            + 1
            + len(self.spans[k].moving)
            + len(self.free)
            + extra
        )
        return kind.sym("v", n), kind.sym("d", data + self.data)

    def numbers(self, p: np.ndarray | None = None) -> np.ndarray:
        """Return the NLP's own parameters: those of the system, and the discrete states of every phase."""
        return np.concatenate([self.start.p if p is None else p, *[z for z, _ in self.discrete]])

    def _all_numbers(self, d: Symbolic) -> Symbolic:
        """Return parameters and discrete states of all phases, of the numbers of a stage."""
        count, tail = self.np + self.nz * len(self.problem.phases), d[d.numel() - self.data :]
        return tail if self.data == count else _with(type(d).zeros(count, 1), self.taken, tail)

    @property
    def data(self) -> int:
        """How many numbers follow the data of a stage: parameters, and the discrete states of every phase,
        or those of them that are taken."""
        return len(self.taken)


def _with(numbers: Symbolic, places: Sequence[int], values: Symbolic) -> Symbolic:
    """Return a vector with some entries replaced."""
    if not len(places):
        return numbers
    at = {place: k for k, place in enumerate(places)}
    return ca.vertcat(*[values[at[i]] if i in at else numbers[i] for i in range(numbers.numel())])


__all__ = ["Layout", "LimitPlace", "RowBlock", "Span"]
