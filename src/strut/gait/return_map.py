"""`ReturnMap`: one step of a walker, or several, as a function of the state just after the event that ends a
step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from threading import get_ident
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, integer, positive
from strut.errors import UnknownNameError, did_you_mean
from strut.gait.section import Section, section_of
from strut.gait.transport import mirrored_states
from strut.gait.variational import variational
from strut.simulate import simulate_batch
from strut.simulate.options import check_system
from strut.simulate.prepared_run import Ready
from strut.system import System, start

TOLERANCE = {"rtol": 1e-12, "atol": 1e-14}
"""Steps are integrated this exactly: fixed points are wanted to 1e-12, and cost little."""
ROUGH = {"rtol": 1e-8, "atol": 1e-10}
"""On the way to a fixed point this is enough, in half the time."""
LONGEST = 60.0
"""A step that takes longer [s] is none."""
MOST_STEPS = 4000
"""Of the integrator within one step of the walker, which takes about a hundred: one that needs more swings,
rattles and never lands."""


@dataclass(frozen=True, eq=False)
class Steps:
    """Many evaluations of a return map, a row each.

    x: states after the step (nan where there was none). y: the free ones of them. period: how long it took
        [s].
    by_y, by_p: derivatives of y by the free states before, and by the map's parameters.
    status: the section's name, or why there was no step: the terminal event, or what the integrator said.
    """

    x: np.ndarray
    y: np.ndarray
    period: np.ndarray
    by_y: np.ndarray = field(repr=False)
    by_p: np.ndarray = field(repr=False)
    status: np.ndarray = field(repr=False)
    ok: np.ndarray = field(repr=False)


@dataclass(frozen=True, eq=False)
class Step:
    """One evaluation of a return map; see `Steps`. period_by_y, period_by_p: derivatives of the period."""

    x: np.ndarray
    y: np.ndarray
    period: float
    by_y: np.ndarray
    by_p: np.ndarray
    status: str
    ok: bool
    period_by_y: np.ndarray
    period_by_p: np.ndarray


class ReturnMap:
    """A walker's step: from the state just after the event `section` to the state just after the next one.

    Where the system has a symmetry, left and right are exchanged after every step, so that a gait is a fixed
    point of one step. It is evaluated at free states y (see `Section`): those that do not merely say how far
    the walker has come, one for each set that the section makes equal. Discrete states begin every step as
    `z0` says; that they return to it is checked when a gait is replayed.
    Derivatives are exact: variational equations along the flow, saltation at events.

    section: the event; by default heel_strike, else the touchdown of the foot in the air. steps: how many
        make one evaluation.
    parameters: names to differentiate by. Compiled once per system, section and parameters.
    """

    @checked
    def __init__(
        self,
        system: System,
        section: str | None = None,
        parameters: Sequence[str] = (),
        steps: int = 1,
        x0: Any = None,
        z0: Any = None,
        longest: float = LONGEST,
    ) -> None:
        check_system(system)
        integer("steps", steps, 1)
        positive("longest", longest, "s")
        self.system, self.steps, self.longest = system, steps, longest
        self.shape: Section = section_of(system, section)
        self.section, self.parameters = self.shape.event, tuple(parameters)
        self.chosen = np.array(self.shape.free, dtype=int)
        self.all_free = len(self.chosen) == system.size("x")
        self.start = start(system, x0, z0)
        for name in self.parameters:
            if name not in system.slices("p"):
                known = [q.name for q in system.p]
                raise UnknownNameError(
                    f"system '{system.name}' has no parameter '{name}': {did_you_mean(name, known)}"
                )
        self.varied, self.exchange = _made(system, self.section, len(self.parameters))
        nx, n = system.size("x"), system.size("x") + len(self.parameters)
        self.nx, self.n = nx, n
        self.variation = np.hstack([np.eye(nx), np.zeros((nx, n - nx))]).reshape(-1, order="F")
        self.held = np.concatenate([self.start.z, np.zeros(self.varied.size("z") - len(self.start.z))])
        self.varying = [next(q for q in system.p if q.name == name) for name in self.parameters]
        self.places = [system.slices("p")[name].start for name in self.parameters]
        along = np.zeros((system.size("p"), len(self.parameters)))
        along[self.places, range(len(self.places))] = 1.0
        self.along = along.reshape(-1, order="F")

    @property
    def names(self) -> tuple[str, ...]:
        """The free states, by name."""
        return self.shape.names

    def free(self, x: np.ndarray) -> np.ndarray:
        """The free states of whole ones."""
        return np.asarray(x, dtype=float)[..., self.chosen]

    def whole(self, y: np.ndarray) -> np.ndarray:
        """States from free ones."""
        return (
            np.asarray(y, dtype=float)
            if self.all_free
            else self.shape.whole(np.asarray(y, dtype=float), self.start.x)
        )

    def __call__(self, y: Any, p: Any = None, rough: bool = False) -> Step:
        """One step from free states `y`, or from whole ones; `p`: values of the map's parameters. rough: see
        `ROUGH`."""
        y = np.asarray(y, dtype=float)
        m, nx = len(self.shape.free), self.nx
        if len(y) == nx != m:
            y = self.free(y)
        ready = self._prepared(rough)
        ready.p[0, : len(self.start.p)], ready.p[0, len(self.start.p) :] = self.start.p, self.along
        if p is not None:
            ready.p[0, self.places] = self._allowed(p)
        by_y: np.ndarray | None = None
        by_p, period, free = np.zeros((m, len(self.parameters))), 0.0, self.chosen
        time_y, time_p = np.zeros(m), np.zeros(len(self.parameters))
        for _ in range(self.steps):
            ready.x0[0, :nx], ready.x0[0, nx:], ready.z0[0] = self.whole(y), self.variation, self.held
            ready()
            period += float(ready.t[0])
            x, J = ready.x[0, :nx].copy(), ready.x[0, nx:].reshape(self.n, nx).T
            if ready.status != self.section or not isfinite(ready.x.sum()):
                nothing = np.full(nx, np.nan)
                missing = np.full((m, m), np.nan), by_p * np.nan
                return Step(
                    nothing,
                    self.free(nothing),
                    period,
                    *missing,
                    ready.status,
                    False,
                    time_y * np.nan,
                    time_p * np.nan,
                )
            if self.exchange is not None:
                turned, S, Sp = (
                    np.array(part) for part in self.exchange(x, ready.z[0, : len(self.start.z)], ready.p[0])
                )
                x, J = turned[:, 0], S @ J
                J[:, nx:] += Sp
            later = ready.z[0, -self.n :]
            by_time = later[:nx] if self.all_free else later[:nx] @ self.shape.spread
            time_y, time_p = (
                time_y + (by_time if by_y is None else by_time @ by_y),
                time_p + by_time @ by_p + later[nx:],
            )
            A = J[:, :nx].copy() if self.all_free else J[free, :nx] @ self.shape.spread
            if self.parameters:
                by_p = A @ by_p + J[free, nx:]
            by_y, y = A if by_y is None else A @ by_y, x if self.all_free else x[free]
        assert by_y is not None
        return Step(x, y, period, by_y, by_p, self.section, True, time_y, time_p)

    def _prepared(self, rough: bool = False) -> Ready:
        """The variational run with everything in place; made once per section and parameters, for each
        thread."""
        key = f"return-map-ready-{self.longest}-{rough}-{get_ident()}"
        if key not in self.varied.cache:
            self.varied.cache[key] = Ready(
                self.varied, self.longest, **(ROUGH if rough else TOLERANCE), max_steps=MOST_STEPS
            )
        ready: Ready = self.varied.cache[key]
        ready.u[0] = self.start.u
        return ready

    def _allowed(self, p: Any) -> np.ndarray:
        """Values of the map's parameters, within their bounds."""
        values = np.asarray(p, dtype=float).reshape(-1)
        for q, value in zip(self.varying, values, strict=True):
            if not q.bounds[0] <= value <= q.bounds[1]:
                q.check(np.array([value]))
        return values

    def many(
        self, y: np.ndarray, p: np.ndarray | None = None, threads: int | None = None, rough: bool = False
    ) -> Steps:
        """Steps from many free states, rows of `y`, on all cores; `p`: rows of values of the map's
        parameters. rough: see `ROUGH`."""
        rows = len(y)
        values = np.repeat(self.start.p[None], rows, axis=0)
        if p is not None:
            values[:, self.places] = p
        values = np.hstack([values, np.repeat(self.along[None], rows, axis=0)])
        m, k = len(self.shape.free), len(self.parameters)
        by_y, by_p = np.repeat(np.eye(m)[None], rows, axis=0), np.zeros((rows, m, k))
        period, status, ok = (
            np.zeros(rows),
            np.full(rows, self.section, dtype=object),
            np.ones(rows, dtype=bool),
        )
        x, y = np.full((rows, self.nx), np.nan), np.array(y, dtype=float)
        for _ in range(self.steps):
            alive = np.flatnonzero(ok)
            if not len(alive):
                break
            x1, J, t, said = self._step(self.whole(y[alive]), values[alive], threads, rough)
            good = (said == self.section) & np.isfinite(x1).all(axis=1) & np.isfinite(J).all(axis=(1, 2))
            x[alive], y[alive], period[alive], status[alive], ok[alive] = (
                x1,
                self.free(x1),
                period[alive] + t,
                said,
                good,
            )
            J[~good] = np.nan
            S, free = self.shape.spread, self.chosen
            A, B = J[:, free, : self.nx] @ S, J[:, free, self.nx :]
            by_y[alive], by_p[alive] = A @ by_y[alive], A @ by_p[alive] + B
        bad = ~ok
        x[bad], y[bad], by_y[bad], by_p[bad] = np.nan, np.nan, np.nan, np.nan
        return Steps(x, y, period, by_y, by_p, status, ok)

    def _step(
        self, x: np.ndarray, p: np.ndarray, threads: int | None, rough: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        rows = len(x)
        finite = np.isfinite(x).all(axis=1)
        begin = np.hstack([np.where(finite[:, None], x, 0.0), np.repeat(self.variation[None], rows, axis=0)])
        options: dict[str, Any] = {**(ROUGH if rough else TOLERANCE), "max_steps": MOST_STEPS}
        done = simulate_batch(
            self.varied, self.longest, x0=begin, z0=self.held, u=self.start.u, p=p, threads=threads, **options
        )
        x1 = done.x[:, : self.nx]
        J = done.x[:, self.nx :].reshape(rows, self.n, self.nx).transpose(0, 2, 1)
        if self.exchange is not None:
            z1 = done.z[:, : len(self.start.z)]
            turned, S, Sp = (np.array(part) for part in self.exchange(x1.T, z1.T, p.T))
            S = S.reshape(self.nx, rows, self.nx).transpose(1, 0, 2)
            J = S @ J
            J[:, :, self.nx :] += Sp.reshape(self.nx, rows, -1).transpose(1, 0, 2)
            x1 = turned.T
        said = np.where(finite, done.status, "not finite")
        return x1, J, done.t, said


def _made(system: System, section: str, directions: int) -> tuple[System, ca.Function | None]:
    """The variational system and the exchange of left and right, with its derivatives; made once."""
    key = f"return-map-{section}-{directions}"
    if key not in system.cache:
        varied = variational(system, section, directions)
        system.cache[key] = (varied, _exchange(system, varied, directions))
    made: tuple[System, ca.Function | None] = system.cache[key]
    return made


def _exchange(system: System, varied: System, directions: int) -> ca.Function | None:
    if not system.symmetry:
        return None
    x, z, p = system.vectors("xzp")
    new = ca.vertcat(*mirrored_states(system))
    along = ca.reshape(varied.p[-1].sym, p.numel(), directions) if directions else ca.SX(p.numel(), 0)
    by_p = ca.jtimes(new, p, along) if directions else ca.SX(new.numel(), 0)
    everything = ca.vertcat(*[q.sym for q in varied.p], ca.SX(0, 1))
    return ca.Function(
        "exchange", [x, z, everything], [ca.densify(new), ca.densify(ca.jacobian(new, x)), ca.densify(by_p)]
    )


__all__ = ["ReturnMap", "Step", "Steps"]
