"""The integrators of the original, one step each as CasADi expressions; and the `History` of delayed signals.

euler and runge-kutta are as everywhere. leap-frog is symplectic Euler: velocities first, seen from half a
step before, then positions with the new velocities; only equations of second order (x'') have velocities.
predict-correct is an Adams-Bashforth predictor and an Adams-Moulton corrector whose orders grow from 2 and 3
at the beginning of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import ModelError

PREDICTOR = ((1.0,), (3 / 2, -1 / 2), (23 / 12, -16 / 12, 5 / 12), (55 / 24, -59 / 24, 37 / 24, -9 / 24))
"""Coefficients of Adams-Bashforth methods of order 2 and higher as the original counts them, newest rate
first."""
CORRECTOR = ((1 / 2, 1 / 2), (5 / 12, 8 / 12, -1 / 12), (9 / 24, 19 / 24, -5 / 24, 1 / 24))
"""Coefficients of Adams-Moulton methods of order 3 and higher as the original counts them, the new rate
first."""
PAST_RATES = 3
"""How many rates of former steps predict-correct uses."""
TIME_TOLERANCE = 1e-13
"""Times that differ by less than this are the same [s]."""
SEES_BEGINNING = ("euler", "leap-frog")
"""Methods after which conditions of events see the time at which the step began."""

Rate = Callable[[ca.MX, ca.MX, int], ca.MX]
"""Gives the rates at a time and a state, with delayed signals of the beginning (0), middle (1) or end (2) of
the step."""


@dataclass(frozen=True)
class StepStart:
    """The state in which a step begins. rate: gives the rates. t: the time [s]. h: the length of the step
    [s]. x: the state."""

    rate: Rate
    t: ca.MX
    h: ca.MX
    x: ca.MX


def stage_times(method: str, t: float, h: float) -> tuple[float, float, float]:
    """The times at which a step evaluates rates: beginning, middle and end; leap-frog looks back for its
    velocities."""
    return (t, t - h / 2, t + h) if method == "leap-frog" else (t, t + h / 2, t + h)


def new_state(method: str, start: StepStart, is_velocity: ca.DM) -> ca.MX:
    """The state after a step of Euler, leap-frog or Runge-Kutta of order 4, which need the state alone.

    is_velocity: 1 where an element of the state is a velocity, else 0.
    """
    rate, t, h, x = start.rate, start.t, start.h, start.x
    if method == "leap-frog":
        x = x + h * is_velocity * rate(t - h / 2, x, 1)
        return x + h * (1 - is_velocity) * rate(t, x, 0)
    a = rate(t, x, 0)
    if method == "euler":
        return x + h * a
    b = rate(t + h / 2, x + h / 2 * a, 1)
    c = rate(t + h / 2, x + h / 2 * b, 1)
    d = rate(t + h, x + h * c, 2)
    return x + h / 6 * (a + 2 * b + 2 * c + d)


def adams_state(start: StepStart, past: ca.MX, predictor: ca.MX, corrector: ca.MX) -> tuple[ca.MX, ca.MX]:
    """The state after a step of predict-correct (Adams-Bashforth-Moulton), and the rate at its beginning.

    past: rates of former steps as columns, the newest first. predictor, corrector: the coefficients.
    """
    rate, t, h, x = start.rate, start.t, start.h, start.x
    now = rate(t, x, 0)
    rates = ca.horzcat(now, past)
    predicted = x + h * ca.mtimes(rates, predictor)
    ahead = rate(t + h, predicted, 2)
    return x + h * ca.mtimes(ca.horzcat(ahead, rates[:, :PAST_RATES]), corrector), now


def adams_coefficients(step: int, prediction: int, correction: int) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients of predictor and corrector in a step of a run.

    step: counted from 0. prediction, correction: the orders wanted, which the first steps do not reach yet.
    """
    a, b = PREDICTOR[min(prediction, step + 2) - 2], CORRECTOR[min(correction, step + 3) - 3]
    return np.pad(a, (0, 1 + PAST_RATES - len(a))), np.pad(b, (0, 1 + PAST_RATES - len(b)))


class History:
    """Remembers what delayed signals were: a row for each step, linear in between.

    delays: by how much each signal is delayed [s]. before: gives them at times before the run. step: [s].
    Raises `ModelError` where a delay is shorter than a step.
    """

    def __init__(self, delays: Sequence[float], before: Callable[[float], np.ndarray], step: float) -> None:
        self.delays, self.before = np.asarray(delays, dtype=float), before
        self.times: list[float] = []
        self.rows: list[np.ndarray] = []
        for delay in self.delays:
            if not delay >= step - TIME_TOLERANCE:
                raise ModelError(
                    f"a delay of {delay:g} s is shorter than a step of {step:g} s: give a shorter step"
                )

    def push(self, t: float, signals: np.ndarray) -> None:
        """Remember what signals are at a time [s]."""
        self.times.append(t)
        self.rows.append(signals)

    def at(self, t: float) -> np.ndarray:
        """The delayed signals at a time [s]: what each was as long ago as its delay."""
        if not len(self.delays):
            return self.delays
        return np.array([self._value(k, t - delay) for k, delay in enumerate(self.delays)])

    def _value(self, k: int, t: float) -> float:
        """A signal at a time itself, interpolated between steps."""
        if not self.times or t < self.times[0]:
            return float(self.before(t)[k])
        i = max(int(np.searchsorted(self.times, t)) - 1, 0)
        if i + 1 == len(self.times):
            return float(self.rows[i][k])
        begin, end = self.times[i], self.times[i + 1]
        part = 0.0 if abs(t - begin) < TIME_TOLERANCE else (t - begin) / (end - begin)
        return float(self.rows[i][k] + part * (self.rows[i + 1][k] - self.rows[i][k]))
