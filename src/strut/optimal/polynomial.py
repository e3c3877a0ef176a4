"""Duindam's gait search: every position of a phase is one polynomial of time, and inputs are what the motion needs (his Definition 4.2).

Few unknowns and no integration: a rough motion in an instant, to begin an accurate search from. Costs are sums over points of a mesh, and a
search with many coefficients and few points can hide torque between them: `integrated` says what the cost is.
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev

from strut.errors import ModelError, ValueRangeError
from strut.optimal.guess import Guess, Stretch, guessed
from strut.optimal.layout import Layout
from strut.optimal.problem import Integral, Jumps, Problem, after, event_of
from strut.optimal.transcription import Transcription
from strut.system.quantity import sx, time
from strut.system.system import System

RULES = ("riemann", "gauss")
FINE = 400
"""Points of Gauss at which `integrated` takes integrals."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Polynomials of one phase. duration [s]. coefficients: of Chebyshev polynomials over the place -1 to 1, a row for each position."""

    duration: float
    coefficients: np.ndarray


@dataclass(frozen=True, eq=False)
class Search:
    """What `gait_search` found. cost: as the sums over points say. totals: integrals likewise. `guess` begins an accurate search."""

    problem: Problem = field(repr=False)
    degree: int
    nodes: int
    status: str
    success: bool
    cost: float
    parameters: Mapping[str, float]
    curves: tuple[Curves, ...] = field(repr=False)
    totals: Mapping[str, float]
    worst: Mapping[str, float]
    iterations: int
    times: Mapping[str, float]

    @property
    def duration(self) -> float:
        """[s]"""
        return sum(c.duration for c in self.curves)

    def motion(self, k: int, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States and inputs of a phase, rows, at places 0 to 1."""
        curves, pairs = self.curves[k], paired(self.problem.system)
        s, per = 2 * np.asarray(place, dtype=float) - 1, 2 / curves.duration
        q = [
            chebyshev.chebval(s, curves.coefficients.T if d == 0 else chebyshev.chebder(curves.coefficients.T, d)) * per**d
            for d in range(3)
        ]
        x = np.empty((len(s), 2 * len(pairs)))
        for row, (at, rate) in enumerate(pairs):
            x[:, at], x[:, rate] = q[0][row], q[1][row]
        return x, self._inputs(k, curves.duration * np.asarray(place), x, q[2].T)

    def _inputs(self, k: int, t: np.ndarray, x: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """The least inputs that give these accelerations."""
        made = Layout(self.problem, Transcription(intervals=1))
        rates, before = [rate for _, rate in paired(self.problem.system)], sum(c.duration for c in self.curves[:k])
        f = ca.Function("f", [time, *made.vectors], [made.flow[rates], ca.jacobian(made.flow[rates], made.vectors[2])])
        p, z = made.start.p.copy(), made.held[k][0]
        p[made.free] = list(self.parameters.values())
        found = np.zeros((len(t), made.nu))
        for row in range(len(t)):
            for _ in range(3):  # once is enough where torques enter linearly
                have, by = (np.array(part) for part in f(before + t[row], x[row], z, found[row], p))
                found[row] += np.linalg.lstsq(by, wanted[row] - have[:, 0], rcond=None)[0]
        return found

    @property
    def integrated(self) -> dict[str, float]:
        """The integrals, taken finely along the polynomials."""
        made, found = Layout(self.problem, Transcription(intervals=1)), dict.fromkeys(self.totals, 0.0)
        p = made.start.p.copy()
        p[made.free] = list(self.parameters.values())
        place, weight = _gauss(FINE)
        begin = 0.0
        for k, phase in enumerate(self.problem.phases):
            x, u = self.motion(k, place)
            length = self.curves[k].duration
            for total, rate in made.rates(phase):
                whole = {"": rate, "positive": ca.fmax(rate, 0), "absolute": ca.fabs(rate)}[total.split]
                f = ca.Function("f", [time, *made.vectors], [whole]).map(len(place))
                still = [np.repeat(part[:, None], len(place), axis=1) for part in (made.held[k][0], p)]
                values = np.array(f((begin + length * place)[None], x.T, still[0], u.T, still[1])).reshape(-1)
                found[total.name] += float(length * weight @ values)
            begin += length
        return {name: value for name, value in found.items() if name in {t.name for t in self.problem.totals if isinstance(t, Integral)}}

    def guess(self) -> Guess:
        """To begin an accurate search from: `problem.solve(search)`."""

        def part(k: int, which: int) -> Any:
            return lambda s: self.motion(k, np.asarray(s))[which]

        stretches = tuple(Stretch(c.duration, part(k, 0), part(k, 1)) for k, c in enumerate(self.curves))
        return Guess(stretches, dict(self.parameters))


def paired(system: System) -> list[tuple[int, int]]:
    """Every position with its velocity, by their places in the state; anything else is refused."""
    x = ca.vertsplit(ca.vertcat(*[q.sym for q in system.x], ca.SX(0, 1)))
    flow = ca.vertsplit(ca.densify(ca.vertcat(*[system.flow[q.name] for q in system.x])))
    at = {s.element_hash(): i for i, s in enumerate(x)}
    pairs = [(i, at[f.element_hash()]) for i, f in enumerate(flow) if f.is_symbolic() and f.element_hash() in at]
    for i, name in enumerate(system.labels("x")):
        if sum(i in pair for pair in pairs) != 1:
            raise ModelError(f"state '{name}' of '{system.name}' is neither a position nor the rate of one: polynomials cannot describe it")
    if system.size("u") < len(pairs):
        raise ModelError(
            f"'{system.name}' has {system.size('u')} inputs for {len(pairs)} positions: a polynomial motion needs one for each; use solve"
        )
    return pairs


def gait_search(
    problem: Problem,
    guess: Any = None,
    *,
    degree: int | Sequence[int] = 10,
    nodes: int = 20,
    rule: str = "riemann",
    tolerance: float = 1e-8,
    iterations: int = 500,
) -> Search:
    """Search a motion among polynomials of time, one for each position and phase, inputs by inverse dynamics.

    The system has an input for each of its positions. degree: of the polynomials; a sequence raises it in stages, as Duindam does.
    nodes: points at which the dynamics and the constraints along the path hold, and costs are summed. rule: 'riemann', at m/N of the
    phase with equal weights (his 4.3), or 'gauss'. Integrals that are split by sign are refused: they need `solve`.
    """
    if rule not in RULES:
        raise ModelError(f"rule '{rule}' is unknown: allowed are {', '.join(RULES)}")
    degrees = [degree] if isinstance(degree, int) else list(degree)
    if nodes < 2 or not degrees or min(degrees) < 3:
        raise ValueRangeError(f"a search needs at least 2 nodes and degree 3: nodes is {nodes}, degree {degree}")
    for total in problem.totals:
        if isinstance(total, Integral) and total.split:
            raise ModelError(f"integral '{total.name}' is split by sign: a gait search takes smooth costs only; use solve")
    begin: Any = guessed(problem, guess)
    for each in degrees:
        found = _searched(problem, begin, each, nodes, rule, tolerance, iterations)
        begin = found.guess()
    return found


def _gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    s, w = np.polynomial.legendre.leggauss(n)
    return (s + 1) / 2, w / 2


class _Rows:
    """Constraints with names."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.names: list[str] = []

    def add(self, values: Any, low: Any, high: Any, name: str) -> None:
        n = values.numel()
        self.values.append(ca.vec(values))
        self.low += list(np.broadcast_to(low, n))
        self.high += list(np.broadcast_to(high, n))
        self.names += [name] * n


def _searched(problem: Problem, begin: Guess, degree: int, nodes: int, rule: str, tolerance: float, iterations: int) -> Search:
    started = clock.perf_counter()
    made, pairs = Layout(problem, Transcription(intervals=1)), paired(problem.system)
    n, rows = len(pairs), _Rows()
    if any(moving for _, moving in made.held):
        raise ModelError(f"discrete states of '{problem.system.name}' depend on the motion and matter later: use solve")
    inner, weights = (np.arange(1, nodes + 1) / nodes, np.full(nodes, 1 / nodes)) if rule == "riemann" else _gauss(nodes)
    place = np.unique(np.concatenate([[0.0], inner, [1.0]]))
    weight = np.zeros(len(place))
    weight[np.searchsorted(place, inner)] = weights
    bases = [chebyshev.chebvander(2 * place - 1, degree)]
    for d in (1, 2):
        bases.append(
            np.column_stack([chebyshev.chebval(2 * place - 1, chebyshev.chebder(np.eye(degree + 1)[j], d)) for j in range(degree + 1)])
        )
    free = ca.MX.sym("p", len(made.free))
    p = ca.MX(made.start.p)
    p[made.free] = free
    unknowns: list[Any] = [free]
    start: list[Any] = [[begin.parameters[name] for name in problem.parameters]]
    low: list[Any] = [[b[0] for b in problem.parameters.values()]]
    high: list[Any] = [[b[1] for b in problem.parameters.values()]]
    totals: dict[str, Any] = {t.name: ca.MX(0) for t in problem.totals}
    now, first, last = ca.MX(0), ca.MX(0), ca.MX(0)
    for k, (phase, stretch) in enumerate(zip(problem.phases, begin.phases, strict=True)):
        span, z = made.spans[k], ca.MX(made.held[k][0])
        T, b, u = ca.MX.sym("T"), ca.MX.sym("b", n, degree + 1), ca.MX.sym("u", made.nu, len(place))
        q = [ca.mtimes(b, ca.DM(basis.T)) * (2 / T) ** d for d, basis in enumerate(bases)]
        x = ca.MX.zeros(made.nx, len(place))
        for row, (at, rate) in enumerate(pairs):
            x[at, :], x[rate, :] = q[0][row, :], q[1][row, :]
        guessed_x = stretch.x(place)
        fit = np.linalg.lstsq(bases[0], guessed_x[:, [at for at, _ in pairs]], rcond=None)[0].T
        unknowns += [T, ca.vec(b), ca.vec(u)]
        start += [[stretch.duration], fit.ravel(order="F"), stretch.u(place).ravel()]
        bounds = [(made.unknowns.low[i], made.unknowns.high[i]) for i in span.w[0, 0]]
        low += [[phase.duration[0]], np.full(fit.size, -math.inf), np.tile([lo for lo, _ in bounds], len(place))]
        high += [[phase.duration[1]], np.full(fit.size, math.inf), np.tile([hi for _, hi in bounds], len(place))]
        asked = made.requirements(k, "path")
        rates = made.rates(phase)
        columns = [ca.densify(ca.vertcat(*parts, ca.SX(0, 1))) for parts in ([e for _, e in rates], [r.expression for r in asked])]
        point = ca.Function("point", [time, *made.vectors], [made.flow[[rate for _, rate in pairs]], *columns])
        t = now + T * ca.DM(place).T
        repeated = [ca.repmat(each, 1, len(place)) for each in (z, p)]
        have, sums, along = point.map(len(place))(t, x, repeated[0], u, repeated[1])
        rows.add(have - q[2], 0.0, 0.0, f"dynamics in {phase.name}")
        for j, (total, _) in enumerate(rates):
            totals[total.name] += T * ca.mtimes(sums[j, :], ca.DM(weight))
        for j, r in enumerate(asked):
            rows.add(along[j, :], r.low, r.high, f"{r.name} ({phase.name})")
        for end_at, node, fixed in ((0, 0, problem.begins if k == 0 else {}), (1, -1, problem.ends if k == len(made.spans) - 1 else {})):
            for name, (a, c) in fixed.items():
                rows.add(x[problem.system.labels("x").index(name), node], a, c, f"{name} at the {'end' if end_at else 'beginning'}")
        if k == 0:
            first = x[:, 0]
            for i in made.cyclic:
                if problem.system.labels("x")[i] not in problem.begins:
                    rows.add(x[i, 0], made.start.x[i], made.start.x[i], f"{problem.system.labels('x')[i]} at the beginning")
        else:
            rows.add(last - x[:, 0], 0.0, 0.0, f"states after {problem.phases[k - 1].until}")
        _begun(made, k, rows, (now, x[:, 0], z, u[:, 0], p))
        now = now + T
        last = _ended(made, k, rows, totals, (now, x[:, -1], z, u[:, -1], p))
    if problem.repeats is not None:
        chosen = [i for i in range(made.nx) if i not in made.cyclic]
        rows.add(last[chosen] - first[chosen], 0.0, 0.0, "the motion repeats")
    final = (now, x[:, -1], z, u[:, -1], p)
    cost = _with_totals(made, problem.objective, totals, final)
    v = ca.vertcat(*[ca.vec(each) for each in unknowns])
    options: dict[str, Any] = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": tolerance, "max_iter": iterations}}
    run = ca.nlpsol("search", "ipopt", {"x": v, "f": cost, "g": ca.vertcat(*rows.values)}, options)
    built = clock.perf_counter()
    x0, lbx, ubx = (np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts]) for parts in (start, low, high))
    done = run(x0=np.clip(x0, lbx, ubx), lbx=lbx, ubx=ubx, lbg=np.array(rows.low), ubg=np.array(rows.high))
    stats = run.stats()
    values = ca.Function("values", [v], [free, *[e for name in totals for e in [totals[name]]], *unknowns[1:]])(done["x"])
    after_totals = 1 + len(totals)
    curves = tuple(
        Curves(float(values[after_totals + 3 * k]), np.array(values[after_totals + 3 * k + 1]).reshape(n, degree + 1, order="F"))
        for k in range(len(problem.phases))
    )
    g = np.array(done["g"]).reshape(-1)
    wrong = np.maximum(np.array(rows.low) - g, g - np.array(rows.high))
    worst: dict[str, float] = {}
    for i in np.argsort(-wrong):
        if wrong[i] <= 1e-7 or len(worst) == 3:
            break
        worst.setdefault(rows.names[i], float(wrong[i]))
    return Search(
        problem,
        degree,
        nodes,
        stats["return_status"].replace("_", " ").lower(),
        bool(stats["success"]),
        float(done["f"]),
        dict(zip(problem.parameters, np.array(values[0]).reshape(-1).tolist(), strict=True)),
        curves,
        {name: float(values[1 + j]) for j, name in enumerate(totals)},
        worst,
        int(stats["iter_count"]),
        {"build": built - started, "solve": clock.perf_counter() - built},
    )


Moment = tuple[Any, ...]
"""t, x, z, u, p."""


def _value(made: Layout, expression: ca.SX, moment: Moment) -> Any:
    return ca.Function("e", [time, *made.vectors], [ca.densify(ca.vec(expression))])(*moment)


def _with_totals(made: Layout, expression: ca.SX, totals: Mapping[str, Any], moment: Moment) -> Any:
    symbols = [t.sym for t in made.problem.totals]
    f = ca.Function("e", [time, *made.vectors, *symbols], [ca.densify(ca.vec(expression))])
    return f(*moment, *[totals[t.name] for t in made.problem.totals])


def _begun(made: Layout, k: int, rows: _Rows, moment: Moment) -> None:
    for r in made.requirements(k, "begin"):
        rows.add(_value(made, r.expression, moment), r.low, r.high, f"{r.name} (beginning)")


def _ended(made: Layout, k: int, rows: _Rows, totals: dict[str, Any], moment: Moment) -> Any:
    """The event at the end of a phase; the state after it, left and right exchanged where the motion repeats so."""
    problem, system, until = made.problem, made.system, made.spans[k].phase.until
    is_last = k == len(made.spans) - 1
    if until is not None:
        event = event_of(system, until)
        guard = sx(event.guard)
        rows.add(_value(made, guard, moment), 0.0, 0.0, f"{until} at the end")
        slope = ca.jtimes(guard, made.vectors[0], made.flow) + ca.jacobian(guard, time)
        if event.direction != "both":
            sign = 1.0 if event.direction == "up" else -1.0
            rows.add(sign * _value(made, slope, moment), 0.0, math.inf, f"{until} comes from its side")
        for total in problem.totals:
            if isinstance(total, Jumps):
                totals[total.name] = totals[total.name] + _value(made, total.of(until), moment)
    for r in (*made.requirements(k, "end"), *made.requirements(k, "after")):
        e = after(system, until, r.expression) if r.at == "after" and until is not None else r.expression
        rows.add(_with_totals(made, e, totals, moment), r.low, r.high, f"{r.name} (end)")
    exchange = is_last and problem.repeats
    x = ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) if exchange else q.sym for q in system.x])
    return _value(made, after(system, until, x) if until is not None else x, moment)


__all__ = ["Curves", "Search", "gait_search"]
