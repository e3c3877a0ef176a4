"""From a `Problem` to an `Assembled` one: which number is what, and which stage function says what of it."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut.gait.shape import shape_of
from strut.optimal.assembled import Assembled, Block
from strut.optimal.problem import Integral, Jumps, Phase, Problem, Requirement, after, checked, event_of
from strut.optimal.stage import Stage, compiled, derived
from strut.optimal.transcription import Transcription, lagrange, tableau
from strut.system.quantity import sx, time
from strut.system.system import System
from strut.system.values import start


@dataclass(eq=False)
class Span:
    """Where the unknowns of a phase stand. fractions: widths of its intervals, of one. duration, held, x, w, inner, slack: indices."""

    phase: Phase
    fractions: np.ndarray
    moving: tuple[int, ...]
    duration: int = -1
    held: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=int))
    x: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=int))
    w: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=int))
    inner: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=int))
    slack: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0, 2), dtype=int))

    @property
    def count(self) -> int:
        return len(self.fractions)

    @property
    def nodes(self) -> np.ndarray:
        """Where intervals begin and end, of one."""
        return np.concatenate([[0.0], np.cumsum(self.fractions)[:-1], [1.0]])


@dataclass(eq=False)
class Rows:
    """Names and bounds of numbers that are added one group after the other."""

    names: list[str] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def add(self, names: Sequence[str], low: Sequence[float] | float, high: Sequence[float] | float) -> np.ndarray:
        first = len(self.names)
        self.names += names
        self.low += list(np.broadcast_to(low, len(names)).astype(float))
        self.high += list(np.broadcast_to(high, len(names)).astype(float))
        return np.arange(first, first + len(names))


class Transcribed:
    """A problem on a mesh: unknowns and rows with names and bounds, and the functions of a solver."""

    def __init__(
        self, problem: Problem, how: Transcription, fractions: Sequence[np.ndarray] | None = None, backend: str | None = None
    ) -> None:
        began = clock.perf_counter()
        checked(problem)
        self.problem, self.how, self.system = problem, how, problem.system
        system = self.system
        self.nx, self.nu, self.nz, self.np = (system.size(g) for g in "xuzp")
        self.start = start(system)
        self.vectors = [ca.vertcat(*[q.sym for q in getattr(system, g)], ca.SX(0, 1)) for g in "xzup"]
        self.flow = ca.densify(ca.vertcat(*[system.flow[q.name] for q in system.x], ca.SX(0, 1)))
        self.free = [system.slices("p")[name].start for name in problem.parameters]
        self.unknowns, self.rows = Rows(), Rows()
        self.rows.add(["the cost"], -math.inf, math.inf)
        self.linear: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self.constant: list[tuple[int, float]] = []
        self.pieces: list[tuple[Stage, np.ndarray, np.ndarray, list]] = []
        self.slack_row: dict[int, int] = {}
        self.held = self._held()
        self.spans = [Span(phase, self._fractions(k, fractions), self.held[k][1]) for k, phase in enumerate(problem.phases)]
        self.basis = lagrange(how.degree)
        self._place()
        for k in range(len(self.spans)):
            self._phase(k)
        self.parameters = self.np + self.nz * len(self.spans)
        stages, self.compile_time = compiled([piece[0] for piece in self.pieces], system.name, backend)
        blocks = [Block(s, index, data, _targets(targets)) for s, (_, index, data, targets) in zip(stages, self.pieces, strict=True)]
        self.blocks = blocks
        self.assembled = self._assembled(blocks)
        self.build_time = clock.perf_counter() - began - self.compile_time

    # ---- what is held ----

    def _held(self) -> list[tuple[np.ndarray, tuple[int, ...]]]:
        """Of every phase: numbers of its discrete states, and which of them depend on the motion and are unknowns instead."""
        system, problem = self.system, self.problem
        numbers, moving = self.start.z.copy(), ()
        found: list[tuple[np.ndarray, tuple[int, ...]]] = []
        varied = ca.vertcat(self.vectors[0], time, self.vectors[2], *[system[name] for name in problem.parameters])
        for k, phase in enumerate(problem.phases):
            for name, value in phase.z.items():
                numbers[system.slices("z")[name]] = value
            given = {i for name in phase.z for i in range(system.slices("z")[name].start, system.slices("z")[name].stop)}
            needed = self._needed(k)
            moving = tuple(i for i in moving if i not in given and ca.depends_on(needed, self.vectors[1][i]))
            found.append((numbers.copy(), moving))
            if phase.until is None:
                break
            reset = event_of(system, phase.until).reset
            left = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in system.z], ca.SX(0, 1))
            dependent = ca.vertcat(varied, *[self.vectors[1][i] for i in moving])
            values = ca.Function("left", [time, *self.vectors], [left])(0, self.start.x, numbers, self.start.u, self.start.p)
            moving = tuple(i for i in range(self.nz) if ca.depends_on(left[i], dependent))
            numbers = np.array(values).reshape(-1)
        return found

    def _needed(self, k: int) -> ca.SX:
        """Everything that a phase evaluates."""
        phase, system = self.problem.phases[k], self.system
        parts = [self.flow, *[r.expression for r in self._requirements(k, "path")], *[e for _, e in self._rates(phase)]]
        parts += [r.expression for where in ("begin", "end", "after") for r in self._requirements(k, where)]
        if phase.until is not None:
            event = event_of(system, phase.until)
            parts += [sx(event.guard), *[sx(e) for n, e in event.reset.items()]]
            parts += [t.of(phase.until) for t in self.problem.totals if isinstance(t, Jumps)]
        return ca.vertcat(*[ca.vec(e) for e in parts])

    def _rates(self, phase: Phase) -> list[tuple[Integral, ca.SX]]:
        return [(t, t.rate) for t in self.problem.totals if isinstance(t, Integral) and t.phase in (None, phase.name)]

    def _requirements(self, k: int, at: str) -> list[Requirement]:
        phases = self.problem.phases
        default = {"path": None, "begin": phases[0].name, "end": phases[-1].name, "after": phases[-1].name}[at]
        return [r for r in self.problem.requirements if r.at == at and (r.phase or default or phases[k].name) == phases[k].name]

    def _fractions(self, k: int, given: Sequence[np.ndarray] | None) -> np.ndarray:
        if given is not None:
            return np.asarray(given[k], dtype=float)
        n = np.broadcast_to(self.how.intervals, len(self.problem.phases))[k]
        return np.full(int(n), 1 / int(n))

    # ---- unknowns ----

    def _place(self) -> None:
        problem, how, system = self.problem, self.how, self.system
        self.p_at = self.unknowns.add(
            list(problem.parameters), [b[0] for b in problem.parameters.values()], [b[1] for b in problem.parameters.values()]
        )
        low, high = (np.concatenate([np.full(q.size, q.bounds[side]) for q in system.x] or [np.empty(0)]) for side in (0, 1))
        u_low, u_high = (np.concatenate([np.full(q.size, q.bounds[side]) for q in system.u] or [np.empty(0)]) for side in (0, 1))
        for name, (a, b) in problem.limits.items():
            group = "x" if name in system.labels("x") else "u"
            i = system.labels(group).index(name)
            lows, highs = (low, high) if group == "x" else (u_low, u_high)
            lows[i], highs[i] = max(lows[i], a), min(highs[i], b)
        points = self.points = how.steps + 1 if how.method == "shooting" else len(tableau(how.method, how.stages).c)
        for k, span in enumerate(self.spans):
            name, n = span.phase.name, span.count
            span.duration = int(self.unknowns.add([f"duration of {name}"], *[[b] for b in span.phase.duration])[0])
            labels = system.labels("z")
            span.held = self.unknowns.add([f"{labels[i]} in {name}" for i in span.moving], -math.inf, math.inf)
            splits = sum(1 for t, _ in self._rates(span.phase) if t.split)
            interior = 0 if how.method == "shooting" else sum(1 for c in tableau(how.method, how.stages).c if 0 < c < 1)
            x, w, inner, slack, last = [], [], [], [], np.zeros(0, dtype=int)
            for i in range(n + 1):
                first, final = k == 0 and i == 0, k == len(self.spans) - 1 and i == n
                x.append(self._state(f"{name}, node {i}", low, high, problem.begins if first else problem.ends if final else {}))
                if i == n:
                    break
                places = [last] if how.degree and i else []
                for j in range(len(places), how.degree + 1):
                    places.append(self.unknowns.add([f"{u} in {name}, interval {i}" for u in system.labels("u")], u_low, u_high))
                last = places[-1]
                w.append(places)
                inner.append([self._state(f"{name}, interval {i}", low, high, {}) for _ in range(interior)])
                names = [f"slack in {name}, interval {i}"] * (points * splits * 2)
                slack.append(self.unknowns.add(names, 0.0, math.inf).reshape(points, splits, 2))
            span.x, span.w = np.array(x), np.array(w, dtype=int).reshape(n, how.degree + 1, self.nu)
            span.inner = np.array(inner, dtype=int).reshape(n, interior, self.nx)
            span.slack = np.array(slack, dtype=int).reshape(n, points, splits, 2)
        self._cyclic()
        self._totals()

    def _state(self, where: str, low: np.ndarray, high: np.ndarray, fixed: dict) -> np.ndarray:
        labels = self.system.labels("x")
        lows = [max(low[i], fixed.get(n, (-math.inf,))[0]) for i, n in enumerate(labels)]
        highs = [min(high[i], fixed.get(n, (0, math.inf))[1]) for i, n in enumerate(labels)]
        return self.unknowns.add([f"{n} at {where}" for n in labels], lows, highs)

    def _cyclic(self) -> None:
        """States that only say how far a repeating motion has come begin where the system does."""
        last = self.problem.phases[-1].until
        self.cyclic: tuple[int, ...] = ()
        if self.problem.repeats is None or last is None:
            return
        self.cyclic = shape_of(self.system, last).cyclic
        for i in self.cyclic:
            if self.system.labels("x")[i] not in self.problem.begins:
                self.unknowns.low[self.spans[0].x[0, i]] = self.unknowns.high[self.spans[0].x[0, i]] = self.start.x[i]

    def _totals(self) -> None:
        """Integrals and sums: those in which the cost is linear go into it directly, others are unknowns."""
        problem = self.problem
        asked = ca.vertcat(*[r.expression for r in problem.requirements], ca.SX(0, 1))
        self.direct: dict[str, float] = {}
        self.total_at: dict[str, int] = {}
        self.total_row: dict[str, tuple[int, float]] = {}
        self.objective = problem.objective
        for total in problem.totals:
            slope = ca.simplify(ca.jacobian(problem.objective, total.sym))
            if slope.is_constant() and not ca.depends_on(asked, total.sym):
                self.direct[total.name] = float(ca.DM(slope))
                self.total_row[total.name] = (0, self.direct[total.name])
                self.objective = ca.substitute([self.objective], [total.sym], [ca.SX(0)])[0]
            else:
                at = int(self.unknowns.add([total.name], -math.inf, math.inf)[0])
                row = int(self.rows.add([f"what {total.name} is"], 0.0, 0.0)[0])
                self.linear.append((np.array([row]), np.array([at]), np.array([1.0])))
                self.total_at[total.name], self.total_row[total.name] = at, (row, -1.0)

    # ---- stages ----

    def _context(self, k: int, v: ca.SX | ca.MX, d: ca.SX | ca.MX, tau: ca.SX | ca.MX | float) -> tuple:
        """Time, state, discrete states, inputs and parameters at a place of an interval, and its duration [s]."""
        span, at = self.spans[k], 0

        def take(n: int) -> ca.SX | ca.MX:
            nonlocal at
            at += n
            return v[at - n : at]

        x, w = take(self.nx), take((self.how.degree + 1) * self.nu)
        durations, held, free = take(k + 1), take(len(span.moving)), take(len(self.free))
        place, width = d[0], d[1]
        t = durations[k] * (place + width * tau)
        for j in range(k):
            t = t + durations[j]
        u = type(v).zeros(self.nu, 1)
        for i in range(self.how.degree + 1):
            factor = sum(float(c) * tau**j for j, c in enumerate(self.basis[i]))
            u = u + factor * w[i * self.nu : (i + 1) * self.nu]
        numbers = d[d.numel() - self.np - self.nz * len(self.spans) :]
        p = _with(numbers[: self.np], self.free, free)
        z = _with(numbers[self.np + self.nz * k : self.np + self.nz * (k + 1)], span.moving, held)
        return t, x, z, u, p, durations[k] * width

    def _index(self, k: int, x: np.ndarray, interval: int, extra: Sequence[int] = ()) -> np.ndarray:
        span = self.spans[k]
        durations = [each.duration for each in self.spans[: k + 1]]
        return np.concatenate([x, span.w[interval].reshape(-1), durations, span.held, self.p_at, extra]).astype(int)

    def _symbols(self, kind: type, k: int, data: int, extra: int = 0) -> tuple:
        n = self.nx + (self.how.degree + 1) * self.nu + k + 1 + len(self.spans[k].moving) + len(self.free) + extra
        return kind.sym("v", n), kind.sym("d", data + self.np + self.nz * len(self.spans))

    def _phase(self, k: int) -> None:
        span = self.spans[k]
        rates = self._rates(span.phase)
        smooth = [(t, e) for t, e in rates if not t.split]
        split = [(t, e) for t, e in rates if t.split]
        path = self._requirements(k, "path")
        arguments = [time, *self.vectors]
        column = [ca.vertcat(*[e for _, e in group], ca.SX(0, 1)) for group in (smooth, split)]
        asked = ca.vertcat(*[r.expression for r in path], ca.SX(0, 1))
        self.point = ca.Function("point", arguments, [self.flow, ca.densify(column[0]), ca.densify(column[1]), ca.densify(asked)])
        if self.how.method == "shooting":
            self._shooting(k, smooth, split)
        else:
            self._collocation(k, smooth, split, path)
        self._slacks(k, split)
        self._begin(k)
        self._end(k)

    def _path_rows(self, k: int, path: Sequence[Requirement], where: str) -> np.ndarray:
        names = [f"{r.name} ({where})" for r in path for _ in range(r.expression.numel())]
        low = [r.low for r in path for _ in range(r.expression.numel())]
        high = [r.high for r in path for _ in range(r.expression.numel())]
        return self.rows.add(names, low, high)

    def _collocation(self, k: int, smooth: list, split: list, path: list[Requirement]) -> None:
        """f at every point; the states there are on the polynomial whose derivative this is."""
        span, table, nx = self.spans[k], tableau(self.how.method, self.how.stages), self.nx
        v, d = self._symbols(ca.SX, k, 4)
        *where, h = self._context(k, v, d, d[2])
        flow, rates, powers, asked = self.point(*where)
        stage = derived(f"point_{k}", v, d, ca.vertcat(h * flow, h * d[3] * rates, powers, asked))
        first = int(table.explicit_first)
        inverse = np.linalg.inv(table.A[first:, first:])
        index, data, targets = [], [], []
        nodes, n_path = span.nodes, asked.numel()
        for i in range(span.count):
            inner = iter(span.inner[i])
            states = [span.x[i] if c == 0 else span.x[i + 1] if c == 1 else next(inner) for c in table.c]
            label = f"{span.phase.name}, interval {i}"
            rows = [self.rows.add([f"flow of {n} in {label}" for n in self.system.labels("x")], 0.0, 0.0) for _ in states[first:]]
            for j, row in enumerate(rows):  # h f_j + h (inverse a_0)_j f_0 - sum inverse_ji (X_i - x) = 0
                for i2, state in enumerate(states[first:]):
                    self.linear.append((row, state, np.full(nx, -inverse[j, i2])))
                self.linear.append((row, span.x[i], np.full(nx, inverse[j].sum())))
            if not table.ends:
                weights = table.b @ inverse
                row = self.rows.add([f"end of {n} in {label}" for n in self.system.labels("x")], 0.0, 0.0)
                self.linear.append((row, span.x[i + 1], np.ones(nx)))
                self.linear.append((row, span.x[i], np.full(nx, weights.sum() - 1)))
                for weight, state in zip(weights, states, strict=True):
                    self.linear.append((row, state, np.full(nx, -weight)))
            for j, (c, b) in enumerate(zip(table.c, table.b, strict=True)):
                e = len(index)
                index.append(self._index(k, states[j], i))
                data.append([nodes[i], span.fractions[i], c, b])
                if j < first:
                    share = inverse @ table.A[first:, 0]
                    for row, factor in zip(rows, share, strict=True):
                        targets += [(out, e, r, factor) for out, r in enumerate(row)]
                else:
                    targets += [(out, e, r, 1.0) for out, r in enumerate(rows[j - first])]
                targets += [(nx + out, e, *self.total_row[t.name]) for out, (t, _) in enumerate(smooth)]
                at = nx + len(smooth)
                targets += self._split_targets(k, split, i, j, at, e)
                if n_path:
                    rows_path = self._path_rows(k, path, f"{label}, at {c:.3g} of it")
                    targets += [(at + len(split) + out, e, r, 1.0) for out, r in enumerate(rows_path)]
        self._add(stage, index, data, targets)

    def _split_targets(self, k: int, split: list, interval: int, point: int, at: int, e: int) -> list:
        targets = []
        for s, (t, _) in enumerate(split):
            row = self.rows.add([f"sign of {t.name} in {self.spans[k].phase.name}, interval {interval}"], 0.0, 0.0)
            targets.append((at + s, e, int(row[0]), 1.0))
            pair = self.spans[k].slack[interval, point, s]
            self.linear.append((np.repeat(row, 2), pair, np.array([-1.0, 1.0])))
            self.slack_row[int(pair[0])] = int(row[0])
        return targets

    def _shooting(self, k: int, smooth: list, split: list) -> None:
        """Every interval integrated by RK4; its end is the beginning of the next."""
        span, m, nx = self.spans[k], self.how.steps, self.nx
        v, d = self._symbols(ca.MX, k, 2)
        *_, z, _, p, h = self._context(k, v, d, 0.0)
        step, x, q, powers = h / m, v[:nx], ca.MX.zeros(len(smooth), 1), []

        def at(tau: float, state: ca.MX) -> tuple:
            t, _, _, u, _, _ = self._context(k, v, d, tau)
            return self.point(t, state, z, u, p)

        for i in range(m):
            a, c, b = i / m, (i + 0.5) / m, (i + 1) / m
            k1 = at(a, x)
            powers.append(k1[2])
            k2 = at(c, x + step / 2 * k1[0])
            k3 = at(c, x + step / 2 * k2[0])
            k4 = at(b, x + step * k3[0])
            x = x + step / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            q = q + step / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        if split:
            powers.append(at(1.0, x)[2])
        stage = derived(f"interval_{k}", v, d, ca.vertcat(x, q, *(powers if split else [])))
        index, data, targets = [], [], []
        for i in range(span.count):
            row = self.rows.add([f"end of {n} in {span.phase.name}, interval {i}" for n in self.system.labels("x")], 0.0, 0.0)
            self.linear.append((row, span.x[i + 1], np.ones(nx)))
            index.append(self._index(k, span.x[i], i))
            data.append([span.nodes[i], span.fractions[i]])
            targets += [(out, i, r, -1.0) for out, r in enumerate(row)]
            targets += [(nx + out, i, *self.total_row[t.name]) for out, (t, _) in enumerate(smooth)]
            for j in range(m + 1 if split else 0):
                targets += self._split_targets(k, split, i, j, nx + len(smooth) + j * len(split), i)
        self._add(stage, index, data, targets)
        self._shooting_path(k)

    def _shooting_path(self, k: int) -> None:
        """Path constraints hold where intervals begin."""
        span, path = self.spans[k], self._requirements(k, "path")
        if not path:
            return
        v, d = self._symbols(ca.SX, k, 2)
        *where, _ = self._context(k, v, d, 0.0)
        stage = derived(f"path_{k}", v, d, self.point(*where)[3])
        index = [self._index(k, span.x[i], i) for i in range(1, span.count)]
        data = [[span.nodes[i], span.fractions[i]] for i in range(1, span.count)]
        targets = []
        for e in range(len(index)):
            rows = self._path_rows(k, path, f"{span.phase.name}, node {e + 1}")
            targets += [(out, e, r, 1.0) for out, r in enumerate(rows)]
        self._add(stage, index, data, targets)

    def _slacks(self, k: int, split: list) -> None:
        """The integral of the slacks: of one for what is positive, of both for the absolute value."""
        span = self.spans[k]
        for s, (total, _) in enumerate(split):
            v, d = ca.SX.sym("v", 3), ca.SX.sym("d", 1 + self.np + self.nz * len(self.spans))
            what = v[1] if total.split == "positive" else v[1] + v[2]
            weights = self.weights()
            index = [[span.duration, *span.slack[i, j, s]] for i in range(span.count) for j in range(self.points)]
            data = [[span.fractions[i] * weights[j]] for i in range(span.count) for j in range(self.points)]
            targets = [(0, e, *self.total_row[total.name]) for e in range(len(index))]
            self._add(derived(f"slack_{k}_{s}", v, d, v[0] * d[0] * what), index, data, targets)

    def weights(self) -> np.ndarray:
        """Of the points of an interval, for integrals that are not part of the integration itself."""
        if self.how.method != "shooting":
            return tableau(self.how.method, self.how.stages).b
        m = self.how.steps
        if m % 2:
            return np.concatenate([[0.5], np.ones(m - 1), [0.5]]) / m
        return np.array([1, *([4, 2] * (m // 2))[:-1], 1]) / (3 * m)

    def _begin(self, k: int) -> None:
        span, asked = self.spans[k], self._requirements(k, "begin")
        table = None if self.how.method == "shooting" else tableau(self.how.method, self.how.stages)
        if table is None or not table.explicit_first:
            asked = asked + self._requirements(k, "path")
        if not asked:
            return
        v, d = self._symbols(ca.SX, k, 2)
        *where, _ = self._context(k, v, d, 0.0)
        f = ca.Function("begin", [time, *self.vectors], [ca.densify(ca.vertcat(*[r.expression for r in asked]))])
        rows = self._path_rows(k, asked, f"beginning of {span.phase.name}")
        stage = derived(f"begin_{k}", v, d, f(*where))
        self._add(stage, [self._index(k, span.x[0], 0)], [[0.0, span.fractions[0]]], [(out, 0, r, 1.0) for out, r in enumerate(rows)])

    def _end(self, k: int) -> None:
        problem, span, system = self.problem, self.spans[k], self.system
        until, last = span.phase.until, k == len(self.spans) - 1
        results: list[ca.SX] = []
        targets: list = []

        def give(expression: ca.SX, rows: Sequence[tuple[int, float]]) -> None:
            at = sum(e.numel() for e in results)
            results.append(ca.vec(expression))
            targets.extend((at + out, 0, row, factor) for out, (row, factor) in enumerate(rows))

        asked = self._requirements(k, "end")
        table = None if self.how.method == "shooting" else tableau(self.how.method, self.how.stages)
        if table is None or not table.ends:
            asked = asked + self._requirements(k, "path")
        for r in [*asked, *self._requirements(k, "after")]:
            e = after(system, until, r.expression) if r.at == "after" and until is not None else r.expression
            rows = self._path_rows(k, [r], f"end of {span.phase.name}")
            give(e, [(row, 1.0) for row in rows])
        if until is not None:
            event = event_of(system, until)
            guard = sx(event.guard)
            give(guard, [(int(self.rows.add([f"{until} at the end of {span.phase.name}"], 0.0, 0.0)[0]), 1.0)])
            if event.direction != "both":
                sign = 1.0 if event.direction == "up" else -1.0
                rate = ca.jtimes(guard, self.vectors[0], self.flow) + ca.jtimes(guard, time, ca.SX(1))
                row = self.rows.add([f"{until} comes in its direction"], 0.0, math.inf)
                give(rate, [(int(row[0]), sign)])
            for total in problem.totals:
                if isinstance(total, Jumps) and not total.of(until).is_zero():
                    give(total.of(until), [self.total_row[total.name]])
        if not last:
            self._link(k, give)
        else:
            self._repeat(k, give)
            give(self.objective, [(0, 1.0)])
        totals = [(self.total_at[t.name], t.sym) for t in problem.totals if t.name in self.total_at] if last else []
        v, d = self._symbols(ca.SX, k, 2, len(totals))
        *where, _ = self._context(k, v, d, 1.0)
        f = ca.Function("end", [time, *self.vectors, *[s for _, s in totals]], [ca.densify(ca.vertcat(*results, ca.SX(0, 1)))])
        extra = [v[v.numel() - len(totals) + j] for j in range(len(totals))]
        stage = derived(f"end_{k}", v, d, f(*where, *extra))
        index = self._index(k, span.x[-1], span.count - 1, [at for at, _ in totals])
        self._add(stage, [index], [[span.nodes[-2], span.fractions[-1]]], targets)

    def _link(self, k: int, give) -> None:  # type: ignore[no-untyped-def]
        """The next phase begins where the event leaves the state, and with the discrete states it sets."""
        span, following, system = self.spans[k], self.spans[k + 1], self.system
        until = span.phase.until
        assert until is not None
        left = ca.vertcat(*[after(system, until, q.sym) for q in system.x])
        rows = self.rows.add([f"{n} after {until}" for n in system.labels("x")], 0.0, 0.0)
        self.linear.append((rows, following.x[0], -np.ones(self.nx)))
        give(left, [(r, 1.0) for r in rows])
        if following.moving:
            kept = ca.vertcat(*[after(system, until, q.sym) for q in system.z])[list(following.moving)]
            rows = self.rows.add([f"{system.labels('z')[i]} after {until}" for i in following.moving], 0.0, 0.0)
            self.linear.append((rows, following.held, -np.ones(len(following.moving))))
            give(kept, [(r, 1.0) for r in rows])

    def _repeat(self, k: int, give) -> None:  # type: ignore[no-untyped-def]
        """The end, after its event and the exchange of left and right, is the beginning."""
        problem, system, until = self.problem, self.system, self.spans[k].phase.until
        if problem.repeats is None:
            return
        exchanged = [sx(system.symmetry.get(q.name, q.sym)) if problem.repeats else q.sym for q in system.x]
        left = ca.vertcat(*[after(system, until, e) if until is not None else e for e in exchanged])
        chosen = [i for i in range(self.nx) if i not in self.cyclic]
        rows = self.rows.add([f"{system.labels('x')[i]} repeats" for i in chosen], 0.0, 0.0)
        self.linear.append((rows, self.spans[0].x[0][chosen], -np.ones(len(chosen))))
        give(left[chosen], [(r, 1.0) for r in rows])

    def _add(self, stage: Stage, index: list, data: list, targets: list) -> None:
        if index:
            self.pieces.append((stage, np.array(index, dtype=int).T, np.array(data, dtype=float).T, targets))

    def _assembled(self, blocks: list[Block]) -> Assembled:
        parts = [np.concatenate([part[i] for part in self.linear] or [np.zeros(0)]) for i in range(3)]
        return Assembled(
            len(self.unknowns.names),
            len(self.rows.names) - 1,
            self.parameters,
            blocks,
            (parts[0].astype(int), parts[1].astype(int), parts[2]),
            np.zeros(len(self.rows.names)),
        )

    def planned(self, v: np.ndarray) -> list[np.ndarray]:
        """What the integrals of every phase come to in each interval, a column for each."""
        found, numbers = [], self.numbers()
        for k, span in enumerate(self.spans):
            rates = self._rates(span.phase)
            column = np.zeros((span.count, len(rates)))
            main = next(piece for piece in self.blocks if piece.stage.name in (f"point_{k}", f"interval_{k}"))
            data = np.vstack([main.data, np.repeat(numbers[:, None], main.count, axis=1)])
            values = np.array(main.stage.value.map(main.count)(v[main.index], data))
            smooth = iter(range(self.nx, main.stage.size))
            splits, weights = iter(range(len(rates))), self.weights()
            for j, (total, _) in enumerate(rates):
                if not total.split:
                    column[:, j] = values[next(smooth)].reshape(span.count, -1).sum(axis=1)
                    continue
                slack = v[span.slack[:, :, next(splits)]]
                what = slack[:, :, 0] if total.split == "positive" else slack.sum(axis=2)
                column[:, j] = v[span.duration] * span.fractions * (what @ weights)
            found.append(column)
        return found

    def numbers(self, p: np.ndarray | None = None) -> np.ndarray:
        """The problem's own parameters: those of the system, and the discrete states of every phase."""
        return np.concatenate([self.start.p if p is None else p, *[z for z, _ in self.held]])


def _with(numbers: ca.SX | ca.MX, places: Sequence[int], values: ca.SX | ca.MX) -> ca.SX | ca.MX:
    """A vector with some entries replaced."""
    if not len(places):
        return numbers
    at = {place: k for k, place in enumerate(places)}
    return ca.vertcat(*[values[at[i]] if i in at else numbers[i] for i in range(numbers.numel())])


def _targets(targets: list) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    array = np.array(targets, dtype=float).reshape(-1, 4)
    return array[:, 0].astype(int), array[:, 1].astype(int), array[:, 2].astype(int), array[:, 3]


__all__ = ["Span", "Transcribed"]
