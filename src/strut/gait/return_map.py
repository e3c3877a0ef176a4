"""`ReturnMap`: one step of a walker, or several, as a function of the state just after the event that ends a
step (a Poincaré map)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from threading import get_ident
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, integer, positive
from strut.errors import UnknownNameError, did_you_mean
from strut.gait.exchange import mirror_steps
from strut.gait.section import Section, section_of
from strut.gait.step_budget import step_budget
from strut.gait.variational import variational
from strut.simulate import simulate_batch
from strut.simulate.options import check_system
from strut.simulate.prepared_run import PreparedRun
from strut.system import System, memo, start, sx, time

MAP_TOLERANCES = {"rtol": 1e-12, "atol": 1e-14}
"""Relative and absolute error of an exactly integrated step: fixed points are wanted to 1e-12, and cost
little."""
ROUGH_TOLERANCE = {"rtol": 1e-8, "atol": 1e-10}
"""Relative and absolute error of a roughly integrated step: enough on the way to a fixed point, in half the
time."""
MAX_STEP_TIME = 60.0
"""Longest duration of a step [s]: what takes longer is none."""
MAX_INTEGRATOR_STEPS = 4000
"""Most steps of the integrator within one step of the walker, which takes about a hundred: one that needs
more swings, rattles and never lands."""


@dataclass(frozen=True, eq=False)
class Step:
    """One evaluation of a return map.

    x: states after the step (nan where there was none), z: discrete ones. y: the free ones of x. period: how
        long it took [s].
    by_y, by_p: derivatives of y by the free states before, and by the map's parameters. period_by_y,
        period_by_p: derivatives of the period [s] by the same.
    status: the section's name, or why there was no step: the terminal event, or what the integrator said.
    ok: whether there was one.
    """

    x: np.ndarray
    z: np.ndarray
    y: np.ndarray
    period: float
    by_y: np.ndarray
    by_p: np.ndarray
    period_by_y: np.ndarray
    period_by_p: np.ndarray
    status: str
    ok: bool


@dataclass(frozen=True, eq=False)
class Steps:
    """Many evaluations of a return map: every field of `Step` with a row for each."""

    x: np.ndarray
    z: np.ndarray = field(repr=False)
    y: np.ndarray
    period: np.ndarray
    by_y: np.ndarray = field(repr=False)
    by_p: np.ndarray = field(repr=False)
    period_by_y: np.ndarray = field(repr=False)
    period_by_p: np.ndarray = field(repr=False)
    status: np.ndarray = field(repr=False)
    ok: np.ndarray = field(repr=False)

    def then(self, rows: np.ndarray, following: Steps) -> Steps:
        """These steps, of which `rows` went on with the steps `following` (chain rule). Others, which fell,
        stay as they are."""
        by_y, by_p = self.by_y[rows], self.by_p[rows]
        chained = Steps(
            x=following.x,
            z=following.z,
            y=following.y,
            period=self.period[rows] + following.period,
            by_y=following.by_y @ by_y,
            by_p=following.by_y @ by_p + following.by_p,
            period_by_y=self.period_by_y[rows] + _rows_times(following.period_by_y, by_y),
            period_by_p=self.period_by_p[rows]
            + _rows_times(following.period_by_y, by_p)
            + following.period_by_p,
            status=following.status,
            ok=following.ok,
        )
        if len(rows) == len(self.ok):
            return chained
        for part in fields(Steps):
            getattr(self, part.name)[rows] = getattr(chained, part.name)
        return self

    def row(self, k: int) -> Step:
        """One of the evaluations."""
        return Step(
            x=self.x[k],
            z=self.z[k],
            y=self.y[k],
            period=float(self.period[k]),
            by_y=self.by_y[k],
            by_p=self.by_p[k],
            period_by_y=self.period_by_y[k],
            period_by_p=self.period_by_p[k],
            status=str(self.status[k]),
            ok=bool(self.ok[k]),
        )


def _rows_times(rows: np.ndarray, matrices: np.ndarray) -> np.ndarray:
    """Every row times the matrix of the same number."""
    product: np.ndarray = (rows[:, None, :] @ matrices)[:, 0, :]
    return product


class ReturnMap:
    """A walker's step: from the state just after the event `section` to the state just after the next one.

    Where the system has a symmetry, left and right are exchanged after every step, so that a gait is a fixed
    point of one step. It is evaluated at free states y (see `Section`): those that do not merely say how far
    the walker has come, one for each set that the section makes equal. Discrete states begin every step as
    `z0` says, but for those that count (`counting_states`: which piece of a plan, which side): these begin as
    the step before left them. That all return is checked when a gait is replayed.
    Derivatives are exact: variational equations along the flow, saltation matrices at events.

    section: the event; by default the one that the system's walk says. parameters: names to differentiate by.
        steps: how many make one evaluation. x0, z0: the states it begins with, where not the system's own.
        longest: a step that takes longer [s] is none. events: those that may happen in a step, where that
        is known; see `variational`.
    Compiled once per system, section and number of parameters.
    """

    @checked
    def __init__(
        self,
        system: System,
        section: str | None = None,
        parameters: Sequence[str] = (),
        *,
        steps: int = 1,
        x0: Any = None,
        z0: Any = None,
        longest: float = MAX_STEP_TIME,
        events: Sequence[str] | None = None,
    ) -> None:
        check_system(system)
        integer("steps", steps, 1)
        positive("longest", longest, "s")
        self.system, self.steps, self.longest = system, steps, longest
        self.budget = step_budget(system, MAX_INTEGRATOR_STEPS)
        self.shape: Section = section_of(system, section)
        self.section, self.parameters = self.shape.event, tuple(parameters)
        self.chosen = np.array(self.shape.free, dtype=int)
        self.all_free = len(self.chosen) == system.size("x")
        self.start = start(system, x0, z0)
        for name in self.parameters:
            if name not in system.slices("p"):
                names = [q.name for q in system.p]
                raise UnknownNameError(
                    f"system '{system.name}' has no parameter '{name}': {did_you_mean(name, names)}"
                )
        happening = None if events is None else tuple(sorted(set(events)))
        for name in happening or ():
            system.event(name)
        flags = () if happening is None else self._kept_flags(happening)
        self.varied = memo(system, variational, self.section, len(self.parameters), happening, flags)
        self.counts = memo(system, counting_states, self.parameters) if steps > 1 else np.zeros(0, bool)
        nx, n = system.size("x"), system.size("x") + len(self.parameters)
        self.nx, self.n = nx, n
        self.variation = np.hstack([np.eye(nx), np.zeros((nx, n - nx))]).reshape(-1, order="F")
        self.held = np.concatenate([self.start.z, np.zeros(self.varied.size("z") - len(self.start.z))])
        self.varying = [next(q for q in system.p if q.name == name) for name in self.parameters]
        self.places = [system.slices("p")[name].start for name in self.parameters]
        along = np.zeros((system.size("p"), len(self.parameters)))
        along[self.places, range(len(self.places))] = 1.0
        self.along = along.reshape(-1, order="F")

    def _kept_flags(self, events: tuple[str, ...]) -> tuple[tuple[str, float], ...]:
        """Discrete states that are 0 or 1 and that none of these events sets before the section, by name; of
        several steps the section counts too, but for the last."""
        before = [
            e for e in self.system.events if e.name in events and (e.name != self.section or self.steps > 1)
        ]
        values = {q.name: self.start.z[self.system.slices("z")[q.name]] for q in self.system.z}
        changing = {name for e in before for name in e.reset}
        return tuple(
            (name, float(value[0]))
            for name, value in values.items()
            if name not in changing and len(value) == 1 and value[0] in (0.0, 1.0)
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the free states."""
        return self.shape.names

    def free(self, x: np.ndarray) -> np.ndarray:
        """The free states of whole ones; of a row, or of many."""
        return self.shape.repeating_part(np.asarray(x, dtype=float), self.start.p)[..., self.chosen]

    def whole(self, y: np.ndarray, at: np.ndarray | None = None, p: np.ndarray | None = None) -> np.ndarray:
        """Whole states from free ones; of a row, or of many. Cyclic states are those the map begins with, or
        those of a state `at`. p: all parameters, where not the map's own."""
        y = np.asarray(y, dtype=float)
        rest, values = self.start.x if at is None else at, self.start.p if p is None else p
        return y if self.all_free else self.shape.whole(y, rest, values)

    def __call__(self, y: Any, p: Any = None, rough: bool = False) -> Step:
        """One evaluation from free states `y`, or from whole ones: `many` of one row. p: values of the map's
        parameters. rough: see `ROUGH_TOLERANCE`."""
        y = np.asarray(y, dtype=float)
        if len(y) == self.nx != len(self.chosen):
            y = self.free(y)
        values = None if p is None else np.asarray(p, dtype=float).reshape(1, -1)
        return self.many(y[None], values, rough=rough).row(0)

    def many(
        self, y: np.ndarray, p: np.ndarray | None = None, *, threads: int | None = None, rough: bool = False
    ) -> Steps:
        """Evaluate the map at many free states, rows of `y`, on all cores. p: rows of values of the map's
        parameters. rough: see `ROUGH_TOLERANCE`. Raises ValueRangeError for a parameter out of its bounds."""
        y = np.asarray(y, dtype=float)
        values = self._parameter_rows(p, len(y))
        z = np.repeat(self.start.z[None], len(y), axis=0)
        steps = self._one_step(y, z, values, threads=threads, rough=rough)
        for _ in range(self.steps - 1):
            walking = np.flatnonzero(steps.ok)
            if not len(walking):
                break
            z = np.where(self.counts, steps.z, self.start.z)[walking]
            following = self._one_step(steps.y[walking], z, values[walking], threads=threads, rough=rough)
            steps = steps.then(walking, following)
        return steps

    def _parameter_rows(self, p: np.ndarray | None, rows: int) -> np.ndarray:
        """The parameters of the variational system in every run: the walker's, then the directions."""
        values = np.empty((rows, len(self.start.p) + len(self.along)))
        values[:, : len(self.start.p)], values[:, len(self.start.p) :] = self.start.p, self.along
        if p is not None:
            for q, column in zip(self.varying, p.T, strict=True):
                if not (q.bounds[0] <= column.min() and column.max() <= q.bounds[1]):
                    q.check(column)
            values[:, self.places] = p
        return values

    def _one_step(
        self, y: np.ndarray, z_begin: np.ndarray, p: np.ndarray, *, threads: int | None, rough: bool
    ) -> Steps:
        """One step of the walker from every row of free and of discrete states, with all derivatives."""
        own = p[:, : len(self.start.p)]
        x_begin = self.whole(y, p=own)
        finite = np.isfinite(x_begin).all(axis=1)
        if not finite.all():
            x_begin = np.where(finite[:, None], x_begin, 0.0)
        x, z, period, status = self._run(x_begin, z_begin, p, threads, rough)
        nx, rows = self.nx, len(y)
        status[~finite] = "not finite"
        ok = (status == self.section) & np.isfinite(x).all(axis=1)
        z_after = z[:, : len(self.start.z)]
        x_after, by_start = x[:, :nx], x[:, nx:].reshape(rows, self.n, nx).transpose(0, 2, 1)
        if self.system.symmetry:
            x_after, z_after, by_x, by_p = mirror_steps(self.system, x_after, z_after, own)
            by_start = by_x @ by_start
            by_start[:, :, nx:] += by_p[:, :, self.places]
        # the section's time, and the free states after it, by the free states before it and by parameters
        time_by = z[:, -self.n :]
        if self.all_free:
            by_y, time_by_y = by_start[:, :, :nx].copy(), time_by[:, :nx]
        else:
            by_start = self._by_start_repeating(x_after, by_start, own)[:, self.chosen]
            by_y, time_by_y = by_start[:, :, :nx] @ self.shape.spread, time_by[:, :nx] @ self.shape.spread
        steps = Steps(
            x=x_after,
            z=z_after,
            y=x_after if self.all_free else self.shape.repeating_part(x_after, own)[:, self.chosen],
            period=period,
            by_y=by_y,
            by_p=by_start[:, :, nx:],
            period_by_y=time_by_y,
            period_by_p=time_by[:, nx:],
            status=status,
            ok=ok,
        )
        return steps if ok.all() else _without_failures(steps)

    def _by_start_repeating(self, x: np.ndarray, by_start: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Derivatives of what repeats of the states `x` after a step, of derivatives of these."""
        shape, nx = self.shape, self.nx
        if shape.shear is None:
            return by_start
        cyclic = list(shape.cyclic)
        repeating: np.ndarray = by_start - shape.shears(p) @ by_start[:, cyclic]
        for row, state, values in zip(repeating, x, p, strict=True):
            row[:, nx:] -= np.array(shape.moved_by_parameters(values, state[cyclic]))[:, self.places]
        return repeating

    def _run(
        self, x: np.ndarray, z: np.ndarray, p: np.ndarray, threads: int | None, rough: bool
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Simulate the variational system from every row of states until its section: the states and
        discrete states there, the times [s], and how each run ended. One row takes a prepared run, because
        checking arguments would cost more than the step."""
        if len(x) == 1:
            run = memo(self.varied, prepared_step, self.longest, rough, self.budget, get_ident())
            run.x0[0, : self.nx], run.x0[0, self.nx :] = x[0], self.variation
            run.z0[0], run.z0[0, : z.shape[1]] = self.held, z[0]
            run.u[0], run.p[0] = self.start.u, p[0]
            run()
            return run.x.copy(), run.z.copy(), run.t.copy(), np.array([run.status], dtype=object)
        begin = np.hstack([x, np.repeat(self.variation[None], len(x), axis=0)])
        batch = simulate_batch(
            self.varied,
            self.longest,
            x0=begin,
            z0=np.hstack([z, np.repeat(self.held[None, z.shape[1] :], len(x), axis=0)]),
            u=self.start.u,
            p=p,
            threads=threads,
            **_integrator(rough, self.budget),
        )
        if batch.interrupted:  # the batch would return what it has; a search is to end
            raise KeyboardInterrupt
        return batch.x, batch.z, batch.t, batch.status


def counting_states(system: System, parameters: tuple[str, ...]) -> np.ndarray:
    """Which discrete states, one flag for each number, events set to values that do not change with the
    states: numbers of pieces, sides, counts of steps. Others hold what was measured, such as a foothold, and
    their derivatives end with a step. parameters: by which they must not change either."""
    z = system.vector("z")
    varying = ca.vertcat(
        system.vector("x"), time, *[next(q.sym for q in system.p if q.name == name) for name in parameters]
    )
    events = [{name: sx(value) for name, value in event.reset.items()} for event in system.events]
    changed = [
        ca.vertcat(*[reset.get(q.name, q.sym) for q in system.z], ca.SX(0, 1))
        for reset in events
        if any(q.name in reset for q in system.z)
    ]
    moves = np.zeros(z.numel(), bool)
    by_others = np.zeros((z.numel(), z.numel()), bool)
    for after in changed:
        moves |= np.array(ca.DM(ca.sparsify(ca.jacobian(after, varying)).sparsity(), 1)).any(axis=1)
        by_others |= np.array(ca.DM(ca.sparsify(ca.jacobian(after, z)).sparsity(), 1)).astype(bool)
    while True:  # what depends on one that moves, moves
        spread = moves | (by_others & moves[None, :]).any(axis=1)
        if (spread == moves).all():
            return ~moves
        moves = spread


def _integrator(rough: bool, budget: int) -> dict[str, Any]:
    """The options of a step's integration, of so many steps of the integrator at most."""
    return {**(ROUGH_TOLERANCE if rough else MAP_TOLERANCES), "max_steps": budget}


def prepared_step(varied: System, longest: float, rough: bool, budget: int, thread: int) -> PreparedRun:
    """A run of a variational system with everything in place, of at most `longest` [s] and so many steps of
    the integrator. Each thread has its own."""
    return PreparedRun(varied, longest, **_integrator(rough, budget))


def _without_failures(steps: Steps) -> Steps:
    """The steps with nan for all numbers of those that failed, but for how long they took."""
    for part in fields(Steps):
        if part.name not in ("period", "status", "ok"):
            getattr(steps, part.name)[~steps.ok] = np.nan
    return steps


__all__ = ["ReturnMap", "Step", "Steps"]
