"""The linear inverted pendulum (LIP): a mass at constant height on a massless leg, and what it says of
stepping: extrapolated centre of mass, capture point, capturability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from strut.checks import checked, positive
from strut.errors import ValueRangeError
from strut.system import Quantity, sx

Signal = TypeVar("Signal", float, ca.SX, np.ndarray)
"""A number, an expression, or an array: a place in space has x and y, and each moves by itself."""
MAX_EXPONENT = 700.0
"""[1] Natural rate times time, at most: beyond, e to this power is no number."""
GRAVITY = 9.81
"""[m/s^2] Acceleration of free fall, unless another is given."""


@checked
@dataclass(frozen=True)
class LinearPendulum:
    """A mass `height` [m] above its foot that stays at this height: x'' = w^2 (x - foot), w = sqrt(g /
    height).

    What moves with it may be numbers, expressions, or arrays of x and y: in space both horizontal directions
    move by themselves. g: [m/s^2].
    """

    height: float
    g: float = GRAVITY

    def __post_init__(self) -> None:
        positive("height of a linear inverted pendulum", self.height, "m")
        positive("g of a linear inverted pendulum", self.g, "m/s^2")

    @property
    def rate(self) -> float:
        """Its natural rate w = sqrt(g / height) [1/s]."""
        return math.sqrt(self.g / self.height)

    def xcom(self, x: Signal, v: Signal) -> Signal:
        """The extrapolated centre of mass x + v / w [m] (Hof 2005), also the instantaneous capture point: a
        foot put there brings the mass to rest above itself."""
        _check_signals(x, v)
        point: Signal = x + v / self.rate
        return point

    def xcom_after(self, xcom: Signal, foot: Signal, t: Signal) -> Signal:
        """Where the extrapolated centre of mass is a time t [s] later, on a foot that does not move: it runs
        away from the foot, with a speed in proportion to its distance."""
        _check_signals(xcom, foot, t)
        later: Signal = foot + (xcom - foot) * _exponential(self.rate * t)
        return later

    def motion(self, x: Signal, v: Signal, foot: Signal, t: Signal) -> tuple[Signal, Signal]:
        """Place [m] and speed [m/s] of the mass a time t [s] later, on a foot that does not move."""
        _check_signals(x, v, foot, t)
        w = self.rate
        grows, decays = _exponential(w * t), _exponential(-w * t)
        c, s = (grows + decays) / 2, (grows - decays) / 2
        return foot + (x - foot) * c + v / w * s, (x - foot) * w * s + v * c

    def orbital_energy(self, x: Signal, v: Signal, foot: Signal) -> Signal:
        """v^2 / 2 - w^2 (x - foot)^2 / 2 [m^2/s^2]: it does not change while the foot stands, and decides
        whether the mass passes over the foot (positive) or turns back."""
        _check_signals(x, v, foot)
        energy: Signal = v**2 / 2 - (self.rate * (x - foot)) ** 2 / 2
        return energy

    def capturable(self, steps: int | float, longest: float, shortest_time: float) -> float:
        """How far [m] the capture point may be from the stance foot so that the mass comes to rest within a
        number of steps (Koolen et al. 2012, point feet): d_N = (longest + d_{N-1}) exp(-w t), d_0 = 0.

        steps: 0, 1, ... or math.inf. longest: of a step [m], in any direction. shortest_time: that a step
            takes at least [s].
        """
        positive("longest step of the pendulum", longest, "m")
        positive("shortest_time of a step", shortest_time, "s")
        if math.isnan(steps) or (steps != math.inf and (steps < 0 or steps != int(steps))):
            raise ValueRangeError(f"capturable within {steps} steps: give 0, 1, 2, ... or math.inf")
        shrinks = math.exp(-self.rate * shortest_time)
        if steps == math.inf:
            return longest * shrinks / (1 - shrinks)
        return longest * shrinks * (1 - shrinks**steps) / (1 - shrinks)

    def steps_to_capture(self, xcom: Signal, foot: Signal, *, longest: float, shortest_time: float) -> float:
        """The least number of steps within which the mass comes to rest, in a plane or in space: 0, 1, 2,
        ..., or math.inf where no number of them is enough (see `capturable`).

        xcom, foot: the capture point and the foot that stands [m], numbers, or arrays of x and y.
        """
        away = float(np.linalg.norm(np.atleast_1d(np.asarray(xcom, float) - np.asarray(foot, float))))
        if not away < self.capturable(math.inf, longest, shortest_time):
            return 0.0 if away == 0 else math.inf
        steps = 0
        while away > self.capturable(steps, longest, shortest_time):
            steps += 1
        return float(steps)


def _check_signals(*signals: object) -> None:
    """Refuse what is neither a number nor an expression."""
    for signal in signals:
        if not isinstance(signal, (int, float, np.floating, np.ndarray, ca.SX, ca.DM)):
            raise ValueRangeError(
                f"a pendulum is given {signal!r}: numbers, arrays or expressions are needed"
            )


def _exponential(value: Any) -> Any:
    """e to the power of a number, an array or an expression."""
    if isinstance(value, ca.SX):
        return ca.exp(value)
    largest = float(np.abs(value).max()) if np.isfinite(value).all() else math.inf
    if not largest < MAX_EXPONENT:
        raise ValueRangeError(
            f"a pendulum is asked for where it is {value} times its own time later or before: at most "
            f"{MAX_EXPONENT:g} can be computed"
        )
    return np.exp(value) if isinstance(value, np.ndarray) else math.exp(value)


@checked
def pendulum_rate(height: ca.SX | Quantity | float, g: ca.SX | Quantity | float = GRAVITY) -> ca.SX:
    """The natural rate sqrt(g / height) [1/s] of a pendulum whose height [m] is an expression. g: [m/s^2]."""
    return ca.sqrt(sx(g) / sx(height))


__all__ = ["LinearPendulum", "pendulum_rate"]
