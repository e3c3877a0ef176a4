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
from strut.tabular import Tabular

MAX_RATE = 1e-10
"""Largest rate of a state at rest [1/s], relative to the larger of 1 and the largest state."""
MAX_ITERATIONS = 200
"""Steps of the Levenberg-Marquardt method."""
FIRST_DAMPING, MIN_DAMPING, MAX_DAMPING = 1e-6, 1e-16, 1e12
"""Damping of the first step, and the range that it stays in: a tenth after a step that helps, ten times as
much after one that does not."""


@dataclass(frozen=True, eq=False)
class Equilibrium(Tabular):
    """A state in which a system rests.

    x, states: the states as a vector and by name. residual: the largest rate that is left [1/s].
    iterations: how many it took.
    """

    x: np.ndarray
    states: dict[str, float]
    residual: float
    iterations: int

    def columns(self) -> dict[str, list[object]]:
        """Return name and value of every state."""
        return {"state": list(self.states), "value": list(self.states.values())}

    @property
    def ok(self) -> bool:
        """Whether the largest rate is next to nothing (`MAX_RATE`)."""
        return self.residual < MAX_RATE * max(1.0, float(np.abs(self.x).max(initial=0.0)))


@checked
def equilibrium(
    system: System,
    x0: Any = None,
    *,
    z0: Any = None,
    u: Any = None,
    p: Any = None,
    hold: Sequence[str] = (),
    t: float = 0.0,
) -> Equilibrium:
    """Find states near `x0` whose flow is zero, by the Levenberg-Marquardt method with exact derivatives, and
    return them with how well they are at rest.

    x0, z0, u, p: by name or as whole vectors, where not the system's own. hold: names of states that stay as
    they are. t: the time [s]. Discrete states and inputs are held. What is found may be unstable: see
    `modes`; where nothing is, `ok` is false. Raises UnknownNameError for a name in `hold` that is no state.
    """
    x = start(system, x0, z0, u, p).x.copy()
    labels = system.labels("x")
    for name in hold:
        if name not in system.slices("x"):
            raise UnknownNameError(
                f"'{name}' is not a state of '{system.name}': {did_you_mean(name, list(labels))}"
            )
    free = np.ones(len(x), dtype=bool)
    for name in hold:
        free[system.slices("x")[name]] = False
    residual, damping, used = np.inf, FIRST_DAMPING, 0
    for used in range(MAX_ITERATIONS):  # noqa: B007 reported
        here = linearise(system, t, x, z0=z0, u=u, p=p)
        residual = float(np.abs(here.f0).max(initial=0.0))
        if residual < MAX_RATE:
            break
        J = here.A[:, free]
        step = np.linalg.solve(J.T @ J + damping * np.eye(J.shape[1]), -J.T @ here.f0)
        trial = x.copy()
        trial[free] += step
        there = linearise(system, t, trial, z0=z0, u=u, p=p)
        if float(np.abs(there.f0).max(initial=0.0)) < residual:
            x, damping = trial, max(damping / 10, MIN_DAMPING)
            continue
        damping = min(damping * 10, MAX_DAMPING)
        if damping >= MAX_DAMPING:
            break
    return Equilibrium(x, dict(zip(labels, map(float, x), strict=True)), residual, used + 1)
