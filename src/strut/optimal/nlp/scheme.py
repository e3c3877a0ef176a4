"""`Transcription`: how a motion becomes finitely many numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ValueRangeError, did_you_mean

CONTROLS = {"constant": 0, "linear": 1, "quadratic": 2, "cubic": 3}
"""Degree of the polynomial that an input is in every interval. All but the constant ones are continuous
within a phase."""
COLLOCATION = ("radau", "gauss", "hermite-simpson")
"""Methods whose stages are unknowns."""
METHODS = ("shooting", *COLLOCATION)
"""All methods."""


@dataclass(frozen=True)
class CollocationTableau:
    """A Runge-Kutta method whose stages are unknowns: nodes c, matrix A, weights b. `order` is that of the
    end of an interval."""

    c: np.ndarray
    A: np.ndarray
    b: np.ndarray
    order: int

    @property
    def explicit_first(self) -> bool:
        """Whether the first stage is the beginning of the interval."""
        return bool(self.c[0] == 0.0)

    @property
    def ends(self) -> bool:
        """Whether the last stage is the end of the interval."""
        return bool(self.c[-1] == 1.0)


@checked
@dataclass(frozen=True)
class Transcription:
    """How a motion becomes finitely many numbers.

    method: 'radau' (default), 'gauss' or 'hermite-simpson' collocation, or multiple 'shooting' with RK4.
    intervals: of every phase, or one number for each. steps: of RK4, per interval.
    stages: of radau and gauss, per interval; 3, or as many more as it takes to see all of an input.
    control: what an input is in an interval: 'constant', 'linear', 'quadratic' or 'cubic'. A method must see
        an input at more points than the input has ways to change: what it does not see it cannot account for,
            and an optimiser would use that.
    """

    method: str = "radau"
    intervals: int | tuple[int, ...] = 20
    stages: int = 0
    steps: int = 4
    control: str = "linear"

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ModelError(
                f"transcription '{self.method}' is unknown: {did_you_mean(self.method, list(METHODS))}"
            )
        if self.control not in CONTROLS:
            raise ModelError(
                f"control '{self.control}' is unknown: {did_you_mean(self.control, list(CONTROLS))}"
            )
        seen = self.degree + 1
        if not self.stages:
            object.__setattr__(self, "stages", max(3, seen))
        for label in ("stages", "steps"):
            if not getattr(self, label) >= 1:
                raise ValueRangeError(f"{label} is {getattr(self, label)}: at least 1 is needed")
        points = {"shooting": 2 * self.steps + 1, "hermite-simpson": 3}.get(self.method, self.stages)
        if points < seen:
            what = {"shooting": "more steps", "hermite-simpson": "control='quadratic' at most"}.get(
                self.method, f"stages={seen}"
            )
            raise ModelError(
                f"{self.method} sees an input at {points} points of an interval, too few for "
                f"control='{self.control}': say {what}"
            )
        for n in np.atleast_1d(self.intervals):
            if not n >= 1 or n != int(n):
                raise ValueRangeError(f"intervals is {self.intervals}: a whole number, at least 1, is needed")

    @property
    def degree(self) -> int:
        """The degree of the polynomial that an input is in an interval."""
        return CONTROLS[self.control]

    @property
    def order(self) -> int:
        """The order of accuracy: by which power of the interval the error at its ends shrinks."""
        return 4 if self.method == "shooting" else tableau(self.method, self.stages).order


def tableau(method: str, stages: int) -> CollocationTableau:
    """Return the tableau of collocation at the zeros of (shifted) Legendre, Radau or Lobatto polynomials."""
    if method == "hermite-simpson":
        return _collocation(np.array([0.0, 0.5, 1.0]), 4)
    legendre = np.polynomial.legendre.Legendre
    if method == "gauss":
        nodes = legendre.basis(stages).roots()
        return _collocation((np.sort(nodes.real) + 1) / 2, 2 * stages)
    nodes = (legendre.basis(stages) - legendre.basis(stages - 1)).roots()  # Radau IIA: the end is a node
    nodes = (np.sort(nodes.real) + 1) / 2
    nodes[-1] = 1.0
    return _collocation(nodes, 2 * stages - 1)


def _collocation(c: np.ndarray, order: int) -> CollocationTableau:
    """Return the tableau with nodes c: A and b integrate polynomials through the nodes exactly."""
    s = len(c)
    V = np.vander(c, s, increasing=True)
    powers = np.arange(1, s + 1)
    A = np.linalg.solve(V.T, ((c[:, None] ** powers) / powers).T).T
    b = np.linalg.solve(V.T, 1.0 / powers)
    return CollocationTableau(c, A, b, order)


def inner_places(table: CollocationTableau) -> np.ndarray:
    """Return the nodes of a tableau between both ends of an interval."""
    return table.c[(table.c > 0) & (table.c < 1)]


def hull(degree: int) -> np.ndarray:
    """Return rows that make, of an input's values at its degree + 1 places, the corners within which its
    polynomial stays (those of Bernstein), but for the first and the last, which are values themselves."""
    powers = lagrange(degree)
    corners = np.zeros((max(degree - 1, 0), degree + 1))
    for k in range(1, degree):
        for j in range(k + 1):
            corners[k - 1] += math.comb(k, j) / math.comb(degree, j) * powers[:, j]
    return corners


def lagrange(degree: int) -> np.ndarray:
    """Return the coefficients, by powers of the place in an interval (0 to 1), of the polynomials that are
    one at one of degree + 1 equally spaced
    places and zero at the others: a row each."""
    places = np.linspace(0, 1, degree + 1) if degree else np.array([0.5])
    return np.linalg.inv(np.vander(places, degree + 1, increasing=True)).T
