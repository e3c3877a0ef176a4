"""The functions of a lowered system on plain arrays, by CasADi's virtual machine."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from strut.codegen import Lowered
from strut.errors import ModelError


class ModelPoint(NamedTuple):
    """Where a model is evaluated: the time [s], states, discrete states, inputs, parameters and delayed
    signals."""

    t: float
    x: np.ndarray
    z: np.ndarray
    u: np.ndarray
    p: np.ndarray
    d: np.ndarray


class LoweredModel:
    """A lowered system, evaluated at one point at a time. States may be followed by integrated powers, which
    nothing depends on.

    powers: whether they are. nx: how many states there are. width: with powers.
    """

    def __init__(self, low: Lowered, powers: bool) -> None:
        self.low = low
        self.nx = low.sizes["NX"]
        self.width = self.nx + (low.sizes["NW"] if powers else 0)

    def call(self, name: str, *arguments: Any) -> np.ndarray:
        """Evaluate one of the functions that have a single result, by its name."""
        return _row(self.low.functions[name](*_vectors(arguments)))

    def rate(self, point: ModelPoint) -> np.ndarray:
        """The rates of the states, and the powers behind them."""
        arguments = point._replace(x=point.x[: self.nx])
        if self.width == self.nx:
            return self.call("flow", *arguments)
        rates, powers = self.low.functions["flow_and_powers"](*_vectors(arguments))
        return np.concatenate([_row(rates), _row(powers)])

    def guards_and_rates(self, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        """The guards and their rates [1/s], of t, x, z, u, p and the rates of x."""
        guards, rates = self.low.functions["guards_and_rates"](*_vectors(arguments))
        return _row(guards), _row(rates)

    def jacobian(self, point: ModelPoint) -> np.ndarray:
        """The Jacobian of the rates by the state. That of the powers is left out: nothing depends on them,
        and Newton's method converges without. An entry that is infinite (that of a square root at zero) is
        left out too: the matrix only guides Newton's method."""
        if self.low.state_jacobian is None:
            raise ModelError(
                "an implicit method needs the Jacobian by the state: lower the system with stiff=True"
            )
        full = np.zeros((self.width, self.width))
        exact = np.array(self.low.state_jacobian(*_vectors(point._replace(x=point.x[: self.nx]))))
        full[: self.nx, : self.nx] = np.where(np.isfinite(exact), exact, 0.0)
        return full

    def reset(self, j: int, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        """States and discrete states after jump `j`, of t, x, z, u, p, delayed signals and random numbers."""
        x, z = self.low.resets[j](*_vectors(arguments))
        return _row(x), _row(z)

    def loss(self, j: int, *arguments: Any) -> np.ndarray:
        """The energies [J] that jump `j` takes, of t, x, z, u, p before it, and x, z after it."""
        return _row(self.low.losses[j](*_vectors(arguments)))


def _vectors(arguments: tuple[Any, ...]) -> list[ca.DM]:
    return [ca.DM(np.atleast_1d(a)) for a in arguments]


def _row(result: Any) -> np.ndarray:
    return np.array(result).reshape(-1)
