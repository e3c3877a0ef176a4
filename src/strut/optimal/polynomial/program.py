"""The nonlinear program of a gait search: coefficients of polynomials, inputs at points, durations and
parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev

from strut.errors import ModelError
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.unknowns import Layout
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.interrupt_warning import hide_interrupt_warning
from strut.optimal.solver.mesh_solve import EXCEPTION
from strut.optimal.totals import Initial, Jumps
from strut.system import sx, time

MIN_VIOLATION = 1e-7
"""Constraints that are violated by less, in their own unit, are met."""
Moment = tuple[Any, ...]
"""t, x, z, u, p."""


@dataclass(frozen=True)
class PolynomialMesh:
    """The polynomials of a search, and its points.

    degree: of the polynomials. nodes: points of a phase at which the dynamics hold and costs are summed.
    rule: where they are, 'riemann' or 'gauss'.
    """

    degree: int
    nodes: int
    rule: str


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """What the solver found.

    curves: of each phase the duration and the coefficients. worst: the three
    constraints that are missed most.
    """

    status: str
    success: bool
    cost: float
    parameters: Mapping[str, float]
    curves: Sequence[tuple[float, np.ndarray]]
    totals: Mapping[str, float]
    worst: Mapping[str, float]
    iterations: int


def gauss(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of Gauss between 0 and 1, and their weights."""
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

    def worst_violations(self, g: np.ndarray) -> dict[str, float]:
        """Return the three constraints that are violated most: by name, by how much."""
        wrong = np.maximum(np.array(self.low) - g, g - np.array(self.high))
        worst: dict[str, float] = {}
        for i in np.argsort(-wrong):
            if wrong[i] <= MIN_VIOLATION or len(worst) == 3:
                break
            worst.setdefault(self.names[i], float(wrong[i]))
        return worst


class _Unknowns:
    """Unknowns with their bounds and where the search begins."""

    def __init__(self) -> None:
        self.symbols: list[Any] = []
        self.start: list[Any] = []
        self.low: list[Any] = []
        self.high: list[Any] = []

    def add(self, symbol: Any, start: Any, low: Any, high: Any) -> Any:
        self.symbols.append(symbol)
        for column, values in ((self.start, start), (self.low, low), (self.high, high)):
            column.append(np.broadcast_to(np.asarray(values, dtype=float).ravel(order="F"), symbol.numel()))
        return symbol


class Program:
    """A problem among polynomials of one degree. pairs: every position with its velocity, by their places in
    the state."""

    def __init__(
        self,
        problem: Problem,
        begin: Guess,
        pairs: Sequence[tuple[int, int]],
        mesh: PolynomialMesh,
    ) -> None:
        self.problem, self.layout, self.pairs = problem, Layout(problem, Transcription(intervals=1)), pairs
        if any(moving for _, moving in self.layout.discrete):
            raise ModelError(
                f"discrete states of '{problem.system.name}' depend on the motion and matter later: use solve"
            )
        self.rows, self.unknowns = _Rows(), _Unknowns()
        self.totals: dict[str, Any] = {t.name: ca.MX(0) for t in problem.totals}
        self._set_mesh(mesh)
        # Free parameters are unknowns; the others keep their values.
        bounds = list(problem.parameters.values())
        free = ca.MX.sym("p", len(self.layout.free))
        start = [begin.parameters[name] for name in problem.parameters]
        self.p = ca.MX(self.layout.start.p)
        self.p[self.layout.free] = self.unknowns.add(
            free, start, [low for low, _ in bounds], [high for _, high in bounds]
        )
        # Phase after phase: its motion, what holds along it and at its ends, and where the next one begins.
        now, first, last = ca.MX(0), ca.MX(0), ca.MX(0)
        final: Moment = ()
        for k, stretch in enumerate(begin.phases):
            T, x, u, accelerations = self._motion(k, stretch)
            z = ca.MX(self.layout.discrete[k][0])
            self._along(k, (now + T * ca.DM(self.place).T, x, z, u), T, accelerations)
            self._fix_states(k, x)
            if k == 0:
                first = x[:, 0]
            else:
                self.rows.add(last - x[:, 0], 0.0, 0.0, f"states after {problem.phases[k - 1].until}")
            _add_phase_begin(self.layout, k, self.rows, (now, x[:, 0], z, u[:, 0], self.p))
            now = now + T
            final = (now, x[:, -1], z, u[:, -1], self.p)
            last = _add_phase_end(self.layout, k, self.rows, self.totals, final)
        if problem.repeats is not None:
            chosen = [i for i in range(self.layout.nx) if i not in self.layout.cyclic]
            moved = last - first
            if self.layout.shear is not None:  # on a slope
                moved = moved - self.layout.shear(self.p) @ moved[list(self.layout.cyclic)]
            self.rows.add(moved[chosen], 0.0, 0.0, "the motion repeats")
        self.cost = _with_totals(self.layout, problem.objective, self.totals, final)

    def _set_mesh(self, mesh: PolynomialMesh) -> None:
        """Set places and weights, and there the values of Chebyshev's polynomials and of their first two
        derivatives."""
        inner, weights = (
            (np.arange(1, mesh.nodes + 1) / mesh.nodes, np.full(mesh.nodes, 1 / mesh.nodes))
            if mesh.rule == "riemann"
            else gauss(mesh.nodes)
        )
        self.place = np.unique(np.concatenate([[0.0], inner, [1.0]]))
        self.weight = np.zeros(len(self.place))
        self.weight[np.searchsorted(self.place, inner)] = weights
        s = 2 * self.place - 1
        self.bases = [chebyshev.chebvander(s, mesh.degree)]
        for d in (1, 2):
            columns = [chebyshev.chebval(s, chebyshev.chebder(each, d)) for each in np.eye(mesh.degree + 1)]
            self.bases.append(np.column_stack(columns))

    def _motion(self, k: int, stretch: Stretch) -> tuple[Any, Any, Any, Any]:
        """Add the unknowns of a phase, and return its duration, states, inputs, and the accelerations of its
        polynomials."""
        layout, phase, count = self.layout, self.problem.phases[k], len(self.place)
        fit = np.linalg.lstsq(
            self.bases[0], stretch.x(self.place)[:, [at for at, _ in self.pairs]], rcond=None
        )[0].T
        bounds = [(layout.unknowns.low[i], layout.unknowns.high[i]) for i in layout.spans[k].w[0, 0]]
        T = self.unknowns.add(ca.MX.sym("T"), stretch.duration, *phase.duration)
        b = self.unknowns.add(ca.MX.sym("b", *fit.shape), fit, -math.inf, math.inf)
        low, high = (np.tile(np.array(side)[:, None], (1, count)) for side in zip(*bounds, strict=True))
        u = self.unknowns.add(ca.MX.sym("u", layout.nu, count), stretch.u(self.place).T, low, high)
        q = [ca.mtimes(b, ca.DM(basis.T)) * (2 / T) ** d for d, basis in enumerate(self.bases)]
        x = ca.MX.zeros(layout.nx, count)
        for row, (at, rate) in enumerate(self.pairs):
            x[at, :], x[rate, :] = q[0][row, :], q[1][row, :]
        return T, x, u, q[2]

    def _along(self, k: int, motion: Moment, T: Any, accelerations: Any) -> None:
        """Require at every point the dynamics and what is required along the path, and add what is summed."""
        layout, phase, (t, x, z, u) = self.layout, self.problem.phases[k], motion
        asked, rates, count = layout.requirements(k, "path"), layout.rates(phase), len(self.place)
        columns = [
            ca.densify(ca.vertcat(*parts, ca.SX(0, 1)))
            for parts in ([e for _, e in rates], [r.expression for r in asked])
        ]
        point = ca.Function(
            "point", [time, *layout.vectors], [layout.flow[[rate for _, rate in self.pairs]], *columns]
        )
        have, sums, along = point.map(count)(t, x, ca.repmat(z, 1, count), u, ca.repmat(self.p, 1, count))
        self.rows.add(have - accelerations, 0.0, 0.0, f"dynamics in {phase.name}")
        for j, (total, _) in enumerate(rates):
            self.totals[total.name] += T * ca.mtimes(sums[j, :], ca.DM(self.weight))
        for j, r in enumerate(asked):
            self.rows.add(along[j, :], r.low, r.high, f"{r.name} ({phase.name})")

    def _fix_states(self, k: int, x: Any) -> None:
        """Require the states that are given where the motion begins and ends; those that only say how far it
        came begin where the system does."""
        problem, labels = self.problem, list(self.problem.system.labels("x"))
        ends = [(problem.begins, 0, "beginning")] if k == 0 else []
        ends += [(problem.ends, -1, "end")] if k == len(problem.phases) - 1 else []
        for fixed, node, where in ends:
            for name, (low, high) in fixed.items():
                self.rows.add(x[labels.index(name), node], low, high, f"{name} at the {where}")
        for total in problem.totals if k == 0 else ():
            if isinstance(total, Initial):
                self.totals[total.name] = x[labels.index(total.state), 0]
        for i in self.layout.cyclic if k == 0 else ():
            if labels[i] not in problem.begins:
                self.rows.add(
                    x[i, 0], self.layout.start.x[i], self.layout.start.x[i], f"{labels[i]} at the beginning"
                )

    def solve(self, tolerance: float, iterations: int) -> ProgramSolution:
        """Solve it by IPOPT, and return what was found."""
        v = ca.vertcat(*[ca.vec(each) for each in self.unknowns.symbols])
        options: dict[str, Any] = {
            "print_time": False,
            "ipopt": {"print_level": 0, "sb": "yes", "tol": tolerance, "max_iter": iterations},
        }
        run = ca.nlpsol(
            "search", "ipopt", {"x": v, "f": self.cost, "g": ca.vertcat(*self.rows.values)}, options
        )
        start, low, high = (
            np.concatenate(parts) for parts in (self.unknowns.start, self.unknowns.low, self.unknowns.high)
        )
        with hide_interrupt_warning():
            outcome = run(
                x0=np.clip(start, low, high),
                lbx=low,
                ubx=high,
                lbg=np.array(self.rows.low),
                ubg=np.array(self.rows.high),
            )
        stats = run.stats()
        if stats["return_status"] == EXCEPTION:  # somebody pressed Ctrl-C
            raise KeyboardInterrupt
        free, *each = ca.Function("unknowns", [v], self.unknowns.symbols)(outcome["x"])
        totals = ca.Function("totals", [v], [ca.vertcat(*self.totals.values(), ca.MX(0, 1))])(outcome["x"])
        return ProgramSolution(
            stats["return_status"].replace("_", " ").lower(),
            bool(stats["success"]),
            float(outcome["f"]),
            dict(zip(self.problem.parameters, np.array(free).reshape(-1).tolist(), strict=True)),
            [(float(T), np.array(b)) for T, b in zip(each[::3], each[1::3], strict=True)],
            dict(zip(self.totals, np.array(totals).reshape(-1).tolist(), strict=True)),
            self.rows.worst_violations(np.array(outcome["g"]).reshape(-1)),
            int(stats["iter_count"]),
        )


def _value(layout: Layout, expression: ca.SX, moment: Moment) -> Any:
    return ca.Function("e", [time, *layout.vectors], [ca.densify(ca.vec(expression))])(*moment)


def _with_totals(layout: Layout, expression: ca.SX, totals: Mapping[str, Any], moment: Moment) -> Any:
    symbols = [t.sym for t in layout.problem.totals]
    f = ca.Function("e", [time, *layout.vectors, *symbols], [ca.densify(ca.vec(expression))])
    return f(*moment, *[totals[t.name] for t in layout.problem.totals])


def _add_phase_begin(layout: Layout, k: int, rows: _Rows, moment: Moment) -> None:
    for r in layout.requirements(k, "begin"):
        rows.add(_value(layout, r.expression, moment), r.low, r.high, f"{r.name} (beginning)")


def _add_phase_end(layout: Layout, k: int, rows: _Rows, totals: dict[str, Any], moment: Moment) -> Any:
    """Require the event at the end of a phase, and return the state after it, left and right exchanged where
    the motion repeats so."""
    problem, system, phase = layout.problem, layout.system, layout.spans[k].phase
    until = phase.until
    is_last = k == len(layout.spans) - 1
    if until is not None:
        event = system.event(until)
        guard = sx(event.guard)
        rows.add(_value(layout, guard, moment), 0.0, 0.0, f"{until} at the end")
        slope = ca.jtimes(guard, layout.vectors[0], layout.flow) + ca.jacobian(guard, time)
        if event.direction != "both":
            sign = 1.0 if event.direction == "up" else -1.0
            rows.add(sign * _value(layout, slope, moment), 0.0, math.inf, f"{until} comes from its side")
        for total in problem.totals:
            if isinstance(total, Jumps):
                totals[total.name] = totals[total.name] + _value(layout, total.of(until), moment)
    for r in (*layout.requirements(k, "end"), *layout.requirements(k, "after")):
        e = phase.after(system, r.expression) if r.at == "after" else r.expression
        rows.add(_with_totals(layout, e, totals, moment), r.low, r.high, f"{r.name} (end)")
    exchange = is_last and problem.repeats
    x = ca.vertcat(*[sx(system.symmetry.get(q.name, q.sym)) if exchange else q.sym for q in system.x])
    return _value(layout, phase.after(system, x), moment)
