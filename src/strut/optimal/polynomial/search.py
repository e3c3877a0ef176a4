"""Duindam's gait search: every position of a phase is one polynomial of time, and inputs are what the motion
needs (his Definition 4.2).

Few unknowns and no integration: a rough motion in an instant, to begin an accurate search from. Costs are
sums over points of a mesh, and a search with many coefficients and few points can hide torque between them:
`accurate_totals` says what the cost is.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.unknowns import Layout
from strut.optimal.polynomial.program import PolynomialMesh, Program, gauss
from strut.optimal.problem import Problem
from strut.optimal.solver.guess import Guess, Stretch, make_guess
from strut.optimal.totals import Integral
from strut.system import System, time

RULES = ("riemann", "gauss")
"""Where the points of a phase are."""
TOTAL_POINTS = 400
"""Points of Gauss at which `accurate_totals` takes integrals."""


@dataclass(frozen=True, eq=False)
class Curves:
    """Polynomials of one phase. duration [s]. coefficients: of Chebyshev polynomials over the place -1 to 1,
    a row for each position."""

    duration: float
    coefficients: np.ndarray


@dataclass(frozen=True, eq=False)
class Search:
    """What `gait_search` found. cost: as the sums over points say. totals: integrals likewise. `guess` begins
    an accurate search."""

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
        """Return states and inputs of a phase, rows, at places 0 to 1."""
        curves, pairs = self.curves[k], position_pairs(self.problem.system)
        s, per = 2 * np.asarray(place, dtype=float) - 1, 2 / curves.duration
        q = [
            chebyshev.chebval(
                s, curves.coefficients.T if d == 0 else chebyshev.chebder(curves.coefficients.T, d)
            )
            * per**d
            for d in range(3)
        ]
        x = np.empty((len(s), 2 * len(pairs)))
        for row, (at, rate) in enumerate(pairs):
            x[:, at], x[:, rate] = q[0][row], q[1][row]
        return x, self._inputs(k, curves.duration * np.asarray(place), x, q[2].T)

    def _inputs(self, k: int, t: np.ndarray, x: np.ndarray, accelerations: np.ndarray) -> np.ndarray:
        """Return the least inputs (least squares) that give these accelerations."""
        layout = Layout(self.problem, Transcription(intervals=1))
        rates, before = (
            [rate for _, rate in position_pairs(self.problem.system)],
            sum(c.duration for c in self.curves[:k]),
        )
        f = ca.Function(
            "f",
            [time, *layout.vectors],
            [layout.flow[rates], ca.jacobian(layout.flow[rates], layout.vectors[2])],
        )
        p, z = layout.start.p.copy(), layout.discrete[k][0]
        p[layout.free] = list(self.parameters.values())
        inputs = np.zeros((len(t), layout.nu))
        for row in range(len(t)):
            for _ in range(3):  # once is enough where torques enter linearly
                have, by = (np.array(part) for part in f(before + t[row], x[row], z, inputs[row], p))
                inputs[row] += np.linalg.lstsq(by, accelerations[row] - have[:, 0], rcond=None)[0]
        return inputs

    @property
    def accurate_totals(self) -> dict[str, float]:
        """The integrals, taken finely along the polynomials."""
        layout, totals = Layout(self.problem, Transcription(intervals=1)), dict.fromkeys(self.totals, 0.0)
        p = layout.start.p.copy()
        p[layout.free] = list(self.parameters.values())
        place, weight = gauss(TOTAL_POINTS)
        begin = 0.0
        for k, phase in enumerate(self.problem.phases):
            x, u = self.motion(k, place)
            length = self.curves[k].duration
            for total, rate in layout.rates(phase):
                whole = {"": rate, "positive": ca.fmax(rate, 0), "absolute": ca.fabs(rate)}[total.split]
                f = ca.Function("f", [time, *layout.vectors], [whole]).map(len(place))
                still = [np.repeat(part[:, None], len(place), axis=1) for part in (layout.discrete[k][0], p)]
                values = np.array(f((begin + length * place)[None], x.T, still[0], u.T, still[1])).reshape(-1)
                totals[total.name] += float(length * weight @ values)
            begin += length
        return {
            name: value
            for name, value in totals.items()
            if name in {t.name for t in self.problem.totals if isinstance(t, Integral)}
        }

    def guess(self) -> Guess:
        """Return what an accurate search begins from: `problem.solve(search)`."""

        def part(k: int, which: int) -> Any:
            return lambda s: self.motion(k, np.asarray(s))[which]

        stretches = tuple(Stretch(c.duration, part(k, 0), part(k, 1)) for k, c in enumerate(self.curves))
        return Guess(stretches, dict(self.parameters))


def position_pairs(system: System) -> list[tuple[int, int]]:
    """Return every position with its velocity, by their places in the state; anything else is refused."""
    x = ca.vertsplit(ca.vertcat(*[q.sym for q in system.x], ca.SX(0, 1)))
    flow = ca.vertsplit(ca.densify(ca.vertcat(*[system.flow[q.name] for q in system.x])))
    at = {s.element_hash(): i for i, s in enumerate(x)}
    pairs = [
        (i, at[f.element_hash()]) for i, f in enumerate(flow) if f.is_symbolic() and f.element_hash() in at
    ]
    for i, name in enumerate(system.labels("x")):
        if sum(i in pair for pair in pairs) != 1:
            raise ModelError(
                f"state '{name}' of '{system.name}' is neither a position nor the rate of one: polynomials "
                f"cannot describe it"
            )
    if system.size("u") < len(pairs):
        raise ModelError(
            f"'{system.name}' has {system.size('u')} inputs for {len(pairs)} positions: a polynomial motion "
            f"needs one for each; use solve"
        )
    return pairs


@checked
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
    """Search the motion of least cost among polynomials of time, one for each position and phase, inputs by
    inverse dynamics, and return it with what the search says of it.

    The system has an input for each of its positions. degree: of the polynomials; a sequence raises it in
        stages, as Duindam does.
    nodes: points at which the dynamics and the constraints along the path hold, and costs are summed. rule:
    'riemann', at m/N of the phase with equal weights (his 4.3), or 'gauss'. Integrals that are split by sign
    are refused: they need `solve`.
    """
    if rule not in RULES:
        raise ModelError(f"rule '{rule}' is unknown: allowed are {', '.join(RULES)}")
    degrees = [degree] if isinstance(degree, int) else list(degree)
    if nodes < 2 or not degrees or min(degrees) < 3:
        raise ValueRangeError(
            f"a search needs at least 2 nodes and degree 3: nodes is {nodes}, degree {degree}"
        )
    for total in problem.totals:
        if isinstance(total, Integral) and total.split:
            raise ModelError(
                f"integral '{total.name}' is split by sign: a gait search takes smooth costs only; use solve"
            )
    begin: Any = make_guess(problem, guess)
    for each in degrees:
        mesh = PolynomialMesh(degree=each, nodes=nodes, rule=rule)
        result = _search_polynomials(problem, begin, mesh, tolerance, iterations)
        begin = result.guess()
    return result


def _search_polynomials(
    problem: Problem, begin: Guess, mesh: PolynomialMesh, tolerance: float, iterations: int
) -> Search:
    """Return what a search among polynomials of one degree finds."""
    started = clock.perf_counter()
    program = Program(problem, begin, position_pairs(problem.system), mesh)
    built = clock.perf_counter()
    solution = program.solve(tolerance, iterations)
    curves = tuple(Curves(duration, coefficients) for duration, coefficients in solution.curves)
    times = {"build": built - started, "solve": clock.perf_counter() - built}
    return Search(
        problem=problem,
        degree=mesh.degree,
        nodes=mesh.nodes,
        status=solution.status,
        success=solution.success,
        cost=solution.cost,
        parameters=solution.parameters,
        curves=curves,
        totals=solution.totals,
        worst=solution.worst,
        iterations=solution.iterations,
        times=times,
    )


__all__ = ["Curves", "Search", "gait_search"]
