"""One step of every method in Python: the counterpart of the C runtime, for systems that are not compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.codegen import BASIS, INTEGRATORS, RK4, Tableau
from strut.extras import optional_module
from strut.simulate.options import Options

Rate = Callable[[float, np.ndarray], np.ndarray]
"""The rates of the states at a time [s] and a state."""
MACHINE_EPSILON = float(np.finfo(float).eps)
"""Relative distance of neighbouring numbers."""
MULTISTEP_SLACK = 1e3 * MACHINE_EPSILON
"""Relative difference of step lengths that are equal, for the multistep method."""
OUTSIDE_ERROR_TEST = 1e300
"""Absolute tolerance of what takes no part in an error test."""


@dataclass
class Trial:
    """A step that was tried: its length [s], the states and rates where it ends, its error relative to what
    is allowed, and `cover`, which gives its dense output as powers of the fraction of the step."""

    h: float
    x: np.ndarray
    dx: np.ndarray
    error: float
    cover: Callable[[], np.ndarray]


def hermite(h: float, x0: np.ndarray, dx0: np.ndarray, x1: np.ndarray, dx1: np.ndarray) -> np.ndarray:
    """The cubic over a step that has these values and rates at its ends, as powers of the fraction of the
    step."""
    a, b = h * dx0, h * dx1
    return np.array([x0, a, 3 * (x1 - x0) - 2 * a - b, 2 * (x0 - x1) + a + b])


def line(x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
    """The straight line over a step between these values, as powers of the fraction of the step."""
    return np.array([x0, x1 - x0, np.zeros_like(x0), np.zeros_like(x0)])


def weighted_sum(weights: Sequence[float], rates: Sequence[np.ndarray]) -> np.ndarray:
    """The sum of rates times weights, from the first to the last, leaving out weights that are zero."""
    terms = [weight * rate for weight, rate in zip(weights, rates, strict=True) if weight]
    return functools.reduce(np.add, terms)


def first_step(
    rate: Rate,
    t: float,
    x: np.ndarray,
    dx: np.ndarray,
    *,
    nx: int,
    options: Options,
    longest: float,
    order: int,
) -> float:
    """A guess of the first step [s] of an adaptive method from how fast the rates change (Hairer, Norsett and
    Wanner, II.4).

    rate: of the states. t, x, dx: where it begins, and the rates there. nx: how many states count; powers
        follow them. longest: no step is longer [s]. order: of the method.
    """
    if not nx:
        return longest
    n = slice(0, nx)
    size = options.atol + options.rtol * np.abs(x[n])
    d0, d1 = np.mean((x[n] / size) ** 2), np.mean((dx[n] / size) ** 2)
    h = min(1e-6 if d0 < 1e-10 or d1 < 1e-10 else 0.01 * np.sqrt(d0 / d1), longest)
    ahead = rate(t + h, x + h * dx)
    d2 = max(d1, np.mean(((ahead[n] - dx[n]) / size) ** 2) / h**2)
    guess = (0.01 / np.sqrt(d2)) ** (1 / order) if d2 > 1e-30 else max(1e-6, h * 1e-3)
    return float(min(100 * h, guess, longest))


class Stepper:
    """Trial steps of an explicit method. `past` holds earlier rates for the multistep method, newest
    first."""

    def __init__(self, rate: Rate, options: Options, nx: int, tables: Mapping[str, list[int]]) -> None:
        self.rate, self.options, self.nx = rate, options, nx
        self.velocity = np.array(tables["velocity_of"], dtype=int)
        self.integral = np.array(tables["integral"], dtype=bool)
        self.past: list[np.ndarray] = []
        self.h_past = 0.0
        self.integrator = INTEGRATORS[options.method]
        self.tableau = self.integrator.tableau

    @property
    def adaptive(self) -> bool:
        """Whether the method estimates its error."""
        return self.tableau is not None and self.tableau.adaptive

    def trial(self, t: float, x: np.ndarray, dx: np.ndarray, h: float) -> Trial:
        """Try a step of length `h` [s] from a time, states and their rates."""
        if self.tableau is not None and self.tableau.adaptive:
            return self._embedded_trial(self.tableau, t, x, dx, h)
        if self.tableau is not None:
            new = self._runge_kutta(self.tableau, t, x, dx, h)
        else:
            others = {"leapfrog": self._leapfrog, "predictor-corrector": self._predictor_corrector}
            new = others[self.options.method](t, x, dx, h)
        end = self.rate(t + h, new)
        # a step of Euler's is a straight line: anything else would put events where it never is
        straight = self.integrator.straight
        return Trial(h, new, end, 0.0, lambda: line(x, new) if straight else hermite(h, x, dx, new, end))

    def _runge_kutta(self, m: Tableau, t: float, x: np.ndarray, dx: np.ndarray, h: float) -> np.ndarray:
        """The end of a fixed step of a Runge-Kutta method, with sums in the order of the C."""
        k = [dx]
        for c, row in zip(m.c[1:], m.a, strict=True):
            k.append(self.rate(t + c * h, x + h * weighted_sum(row, k)))
        end: np.ndarray = x + h / m.divisor * weighted_sum(m.b, k)
        if m.quadrature:  # powers, which follow the states, are integrals, too
            beside = np.concatenate([self.integral, np.ones(len(x) - self.nx, dtype=bool)])
            end[beside] = (x + h * weighted_sum(m.quadrature, k))[beside]
        return end

    def _leapfrog(self, t: float, x: np.ndarray, dx: np.ndarray, h: float) -> np.ndarray:
        """The leapfrog or velocity Verlet method, of order 2: positions by their accelerations, all else by
        the trapezoidal rule."""
        paired = np.flatnonzero(self.velocity >= 0)
        new = x + h * dx
        new[paired] += h**2 / 2 * dx[self.velocity[paired]]
        k = self.rate(t + h, new)
        others = np.setdiff1d(np.arange(len(x)), paired)
        new[others] = x[others] + h / 2 * (dx[others] + k[others])
        return new

    def _predictor_corrector(self, t: float, x: np.ndarray, dx: np.ndarray, h: float) -> np.ndarray:
        """The predictor of Adams and Bashforth and the corrector of Adams and Moulton, of order 4; RK4 until
        there are three rates from before."""
        if len(self.past) < 3 or abs(h - self.h_past) > MULTISTEP_SLACK * h:
            return self._runge_kutta(RK4, t, x, dx, h)
        f1, f2, f3 = self.past
        k = self.rate(t + h, x + h / 24 * (55 * dx - 59 * f1 + 37 * f2 - 9 * f3))
        end: np.ndarray = x + h / 24 * (9 * k + 19 * dx - 5 * f1 + f2)
        return end

    def _embedded_trial(self, m: Tableau, t: float, x: np.ndarray, dx: np.ndarray, h: float) -> Trial:
        """A step of an embedded Runge-Kutta method, with the error that its other weights estimate."""
        k = [dx]
        for c, row in zip(m.c[1:], m.a, strict=True):
            k.append(self.rate(t + c * h, x + h * np.dot(row, k)))
        new = x + h / m.divisor * np.dot(m.b, k)
        k.append(self.rate(t + h, new))
        n = slice(0, self.nx)
        scale = self.options.atol + self.options.rtol * np.maximum(np.abs(x[n]), np.abs(new[n]))
        with np.errstate(all="ignore"):
            squares = [np.sum((np.dot(e, k)[n] / scale) ** 2) for e in m.errors]
            if len(squares) == 1:
                error = h * np.sqrt(squares[0] / max(self.nx, 1))
            else:
                both = squares[0] + 0.01 * squares[1]
                error = h * squares[0] / np.sqrt(both * max(self.nx, 1)) if both != 0 else 0.0
        return Trial(h, new, k[-1], float(error), lambda: self._dense_output(m, t, x, h, stages=k, end=new))

    def _dense_output(
        self, m: Tableau, t: float, x: np.ndarray, h: float, *, stages: list[np.ndarray], end: np.ndarray
    ) -> np.ndarray:
        """The dense output of a step to the states `end`, as powers of the fraction of the step."""
        if not m.dense:
            return hermite(h, x, stages[0], end, stages[-1])
        if not m.extra_a:
            return np.vstack([x, h * np.dot(m.dense, stages)])
        more = list(stages)
        for c, row in zip(m.extra_c, m.extra_a, strict=True):
            more.append(self.rate(t + c * h, x + h * np.dot(row, more)))
        f0 = end - x
        f1 = h * stages[0] - f0
        f2 = 2 * f0 - h * (stages[-1] + stages[0])
        poly: np.ndarray = BASIS @ np.vstack([f0, f1, f2, h * np.dot(m.dense, more)])
        poly[0] = x
        return poly


class StiffStepper:
    """Steps of SciPy's implicit methods, the same as those of the C runtime (strut_bdf.h, strut_radau.h). A
    step chooses its own length; shortened to an event, it is read off the dense output, whose order is that
    of the method."""

    def __init__(
        self,
        rate: Rate,
        jacobian: Callable[[float, np.ndarray], np.ndarray],
        options: Options,
        nx: int,
        longest: float,
    ) -> None:
        integrate = optional_module("scipy.integrate", f"method '{options.method}'")
        self.solver_type = {"radau": integrate.Radau, "bdf": integrate.BDF}[options.method]
        self.rate, self.jacobian, self.options, self.nx, self.longest = rate, jacobian, options, nx, longest
        self.solver: Any = None
        self.previous_step: float | None = None

    def restart(self) -> None:
        """Forget the steps before: the states have jumped."""
        self.solver = None

    def _begin(self, t: float, x: np.ndarray, t_stop: float) -> None:
        """Make SciPy's solver anew, from a time and states until `t_stop` [s]."""
        first = self.options.step if self.previous_step is None else self.previous_step
        outside = np.full(
            len(x) - self.nx, OUTSIDE_ERROR_TEST
        )  # the powers of the ledger take no part in the error test
        self.solver = self.solver_type(
            self.rate,
            t,
            x,
            t_stop,
            rtol=self.options.rtol,
            atol=np.concatenate([np.full(self.nx, self.options.atol), outside]),
            jac=self.jacobian,
            max_step=min(self.longest, t_stop - t),
            first_step=None if first is None else min(first, self.longest, t_stop - t),
        )

    def step(self, t: float, x: np.ndarray, t_stop: float) -> Trial | None:
        """Try a step from a time and states that does not go beyond `t_stop` [s]; None if there is none."""
        while True:
            if self.solver is None or self.solver.t != t or self.solver.t_bound != t_stop:
                self._begin(t, x, t_stop)
            tried = self.solver.h_abs
            try:
                self.solver.step()
                break
            except ValueError:  # of SciPy, where a stage of a long step is not finite: a shorter one may be
                self.previous_step, self.solver = 0.1 * tried, None
            if not self.previous_step > 10 * MACHINE_EPSILON * abs(t):
                return None
        if self.solver.status == "failed":
            return None
        h = self.solver.t - t
        self.previous_step = h
        dense = self.solver.dense_output()
        size = self.options.degree + 1

        def cover() -> np.ndarray:
            nodes = (1 - np.cos(np.pi * np.arange(size) / (size - 1))) / 2
            values = dense(t + nodes * h).T
            fitted: np.ndarray = np.linalg.solve(np.vander(nodes, size, increasing=True), values)
            return fitted

        return Trial(h, self.solver.y.copy(), self.rate(self.solver.t, self.solver.y), 0.0, cover)
