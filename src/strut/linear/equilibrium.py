"""`equilibrium`: where a system rests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import UnknownNameError, did_you_mean
from strut.linear.linearise import linearise
from strut.system import System, start

TOLERANCE = 1e-10  # of the largest rate that is left


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """States by name and as a vector; the largest rate that is left; `ok` if that is next to nothing."""

    x: np.ndarray
    states: dict[str, float]
    residual: float
    iterations: int

    @property
    def ok(self) -> bool:
        return self.residual < TOLERANCE * max(1.0, float(np.abs(self.x).max(initial=0.0)))


@checked
def equilibrium(
    system: System,
    x0: Any = None,
    z0: Any = None,
    u: Any = None,
    p: Any = None,
    hold: Sequence[str] = (),
    t: float = 0.0,
) -> Equilibrium:
    """States whose flow is zero, near `x0`, by damped Newton steps with exact derivatives; states named in
    `hold` stay as
    they are. It may be unstable: see `modes`. Discrete states and inputs are held."""
    x = start(system, x0, z0, u, p).x.copy()
    labels = system.labels("x")
    for name in hold:
        if name not in system.slices("x"):
            raise UnknownNameError(
                f"'{name}' is not a state of '{system.name}': {did_you_mean(name, list(labels))}"
            )
    held = np.zeros(len(x), dtype=bool)
    for name in hold:
        held[system.slices("x")[name]] = True
    residual, damping, used = np.inf, 1e-6, 0
    for used in range(200):  # noqa: B007 reported
        here = linearise(system, t, x, z0, u, p)
        residual = float(np.abs(here.f0).max(initial=0.0))
        if residual < TOLERANCE:
            break
        J = here.A[:, ~held]
        step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ here.f0)
        trial = x.copy()
        trial[~held] += step
        better = float(np.abs(linearise(system, t, trial, z0, u, p).f0).max(initial=0.0)) < residual
        x, damping = (trial, max(damping / 10, 1e-16)) if better else (x, min(damping * 10, 1e12))
        if not better and damping >= 1e12:
            break
    return Equilibrium(x, dict(zip(labels, map(float, x), strict=True)), residual, used + 1)
