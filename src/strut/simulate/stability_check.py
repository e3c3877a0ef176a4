"""Is a method of fixed step stable on the run that it made? A linear analysis at a few of its steps, and the
error that all of them admit to."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from strut.codegen import INTEGRATORS, Tableau
from strut.simulate.record import Raw

CHECKED_METHODS = ("rkc",)
"""Methods whose runs are looked at. The instability of others ends in infinite numbers, which ends the run; a
method for stiff damping is used where contacts keep what it makes up within bounds."""
SAMPLED_STEPS = 12
"""[1] Steps of a run that are looked at, spread evenly over it."""
MAX_STATES = 400
"""[1] States of the largest system that is looked at: its eigenvalues take a second at each step."""
DIFFERENCE_STEP = 1e-7
"""[1] Step of the central differences, by the larger of 1 and the state. The exact Jacobian of a large
machine takes minutes to make; its eigenvalues are wanted to a few digits."""
MAX_SPURIOUS_GROWTH = 100.0
"""[1] By how much a method may, over a run, magnify a small deviation that the system itself does not."""

ERROR_WEIGHT = 0.4
"""[1] The error of a step of `rkc`, by the cubic term of its dense output (Sommeijer, Shampine and Verwer
1997, equation 2.10: 0.8 (x0 - x1) + 0.4 h (f0 + f1))."""
MIN_ERROR_OF_RANGE = 1e-3
"""[1] Least error of a step that counts, over the range of the state in the run."""
MIN_ERROR_OF_SIZE = 1e-9
"""[1] Least error of a step that counts, over 1 + the size of the state: below, it is rounding."""
DOUBTFUL_PART = 0.1
"""[1] Part of the steps with such an error from which on eigenvalues are looked at, which takes a tenth of a
second for a large machine."""
MIN_STEPS = 100
"""[1] Steps of a run from which on it may be called wrong for their errors: what is fast and damped takes
some tens of steps to come to rest, and is followed roughly until then."""
MAX_WRONG_PART = 0.5
"""[1] Part of the steps whose error may be larger than their motion. Of stable runs of COMAN it is 0.03, at
the edge of stability 0.24, of unstable ones 1."""

Evaluate = Callable[..., np.ndarray]
"""A function of a system at many points, by its name: see `Native.evaluate`."""


class StepPoint(NamedTuple):
    """Where a step of a run begins: the time [s], states, discrete states, inputs and parameters."""

    t: float
    x: np.ndarray
    z: np.ndarray
    u: np.ndarray
    p: np.ndarray


class StabilityWarning(UserWarning):
    """A method of fixed step was not stable on a run: its results are not those of the system."""


def amplification(tableau: Tableau, z: np.ndarray) -> np.ndarray:
    """The stability function R(z) of an explicit Runge-Kutta method: what a step makes of a mode with rate
    z / step; infinite where it is too large for a number."""
    b = np.array(tableau.b) / tableau.divisor
    stages = np.ones((len(b), len(z)), dtype=complex)
    with np.errstate(over="ignore", invalid="ignore"):
        # stage by stage: a general solver calls the matrix singular where z exceeds 1e16, as of wild states
        for row, values in enumerate(tableau.a, 1):
            stages[row] += z * (np.array(values) @ stages[: len(values)])
        answer: np.ndarray = 1 + z * (b @ stages)
    return np.where(np.isfinite(answer), answer, np.inf)


def points_of_run(raw: Raw, p: np.ndarray, *, nx: int, step: float) -> list[StepPoint]:
    """Some of the steps of a run that have their whole length, spread evenly over it."""
    whole = np.flatnonzero(np.isclose(raw.h, step, rtol=1e-9))
    chosen = (
        whole[np.unique(np.linspace(0, len(whole) - 1, SAMPLED_STEPS).astype(int))] if len(whole) else whole
    )
    return [StepPoint(float(raw.t[k]), raw.poly[k, 0, :nx], raw.z[k], raw.u[k], p) for k in chosen]


def warn_if_unstable(
    system_name: str, evaluate: Evaluate, points: list[StepPoint], *, steps: int, method: str, step: float
) -> bool:
    """Warn where a method of fixed step magnified what the system does not: with its name, the rate of the
    mode, and the step that would be stable there. Return whether that is so.

    evaluate: the functions of the system. points: where some steps of a run begin. steps: how many it
    took. step: how long each is [s].
    """
    tableau = INTEGRATORS[method].tableau
    if (
        method not in CHECKED_METHODS
        or tableau is None
        or not points
        or not 0 < len(points[0].x) <= MAX_STATES
    ):
        return False
    excess, mode, when = list[float](), 0j, 0.0
    for point in points:
        eigenvalues = np.linalg.eigvals(_jacobian(evaluate, point))
        growth = np.log(np.abs(amplification(tableau, step * eigenvalues)) + 1e-300)
        spurious = growth - np.maximum(0.0, step * eigenvalues.real)
        worst = int(np.argmax(spurious))
        excess.append(max(0.0, float(spurious[worst])))
        if excess[-1] == max(excess):
            mode, when = complex(eigenvalues[worst]), point.t
    if steps * float(np.mean(excess)) <= np.log(MAX_SPURIOUS_GROWTH):
        return False
    shorter = step * 2.0 ** -np.arange(0.25, 10, 0.25)
    stable = shorter[np.abs(amplification(tableau, shorter * mode)) <= 1]
    advice = f"give step={stable[0]:.2g} or less" if len(stable) else "take a shorter step"
    imaginary = f" {mode.imag:+.3g}i" if abs(mode.imag) > 1e-3 * abs(mode) else ""
    warnings.warn(
        f"method '{method}' is not stable on '{system_name}' at steps of {step:g} s: at t = {when:.3g} s a "
        f"step magnifies the mode with rate {mode.real:.3g}{imaginary} 1/s {np.exp(max(excess)):.3g} times, "
        f"at {np.count_nonzero(excess)} of {len(excess)} steps that were looked at. The run is wrong: "
        f"{advice}, or use 'dop853'",
        StabilityWarning,
        stacklevel=5,
    )
    return True


def wrong_parts(raw: Raw, nx: int) -> np.ndarray:
    """Of each state the part of a run's steps whose error is larger than what the state moved."""
    begin, *powers = np.moveaxis(raw.poly[:, :4, :nx], 1, 0)
    error, motion = ERROR_WEIGHT * np.abs(powers[2]), np.abs(sum(powers))
    low, high = begin.min(axis=0), begin.max(axis=0)
    least = np.maximum(
        MIN_ERROR_OF_RANGE * (high - low), MIN_ERROR_OF_SIZE * (1 + np.maximum(np.abs(low), np.abs(high)))
    )
    return np.asarray(np.mean(error > np.maximum(motion, least), axis=0))


def check_run(
    system_name: str,
    raw: Raw,
    evaluate: Evaluate | None,
    *,
    p: np.ndarray,
    states: tuple[str, ...],
    method: str,
    step: float,
) -> None:
    """Warn where a method of fixed step was not stable on a run: where some steps are doubtful, with the mode
    that it magnifies; where most are wrong and no mode explains it, as in a limit cycle of the method, with
    the state that is worst.

    evaluate: the functions of the system; None where they cannot be evaluated at single points. p: its
        parameters. states: their names.
    """
    if method not in CHECKED_METHODS or not len(raw.h) or not states:
        return
    parts = wrong_parts(raw, len(states))
    worst = int(np.argmax(parts))
    if parts[worst] <= DOUBTFUL_PART:
        return  # what grows is too small to be seen, or nothing grows
    points = points_of_run(raw, p, nx=len(states), step=step)
    steps = raw.counters["steps"]
    if evaluate is not None and warn_if_unstable(
        system_name, evaluate, points, steps=steps, method=method, step=step
    ):
        return
    if parts[worst] > MAX_WRONG_PART and len(raw.h) >= MIN_STEPS:
        warnings.warn(
            f"method '{method}' does not follow '{system_name}' at steps of {step:g} s: in "
            f"{parts[worst]:.0%} of them the error of '{states[worst]}' is larger than its motion. "
            f"The run is wrong: take shorter steps, or use 'dop853'",
            StabilityWarning,
            stacklevel=4,
        )


def _jacobian(evaluate: Evaluate, point: StepPoint) -> np.ndarray:
    """The derivative of the rates by the states, by central differences, all in one call."""
    t, x, z, u, p = point
    n = len(x)
    by = DIFFERENCE_STEP * np.maximum(1.0, np.abs(x))
    around = np.concatenate([x + np.diag(by), x - np.diag(by)])
    rows = evaluate("flow", np.full(2 * n, t), around, np.tile(z, (2 * n, 1)), np.tile(u, (2 * n, 1)), p)
    jacobian: np.ndarray = ((rows[:n] - rows[n:]) / (2 * by)[:, None]).T
    return np.where(np.isfinite(jacobian), jacobian, 0.0)


__all__ = [
    "CHECKED_METHODS",
    "StabilityWarning",
    "StepPoint",
    "amplification",
    "check_run",
    "warn_if_unstable",
]
