"""`simulate_batch`: thousands of runs of one system, on all cores, without Python in the loop."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked, integer, number_array, seed_number
from strut.codegen import SINGLE_DEFAULTS, compile_system, lower_system
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.simulate.batch_in_lanes import chosen_lanes
from strut.simulate.batch_on_card import check_device, do_runs_on_card
from strut.simulate.batch_on_cores import do_runs_here, do_runs_in_lanes
from strut.simulate.batch_summary import BatchSummary, PopulationTotal
from strut.simulate.batch_task import BatchTask, result_arrays
from strut.simulate.ending import ending_message
from strut.simulate.names import Names
from strut.simulate.options import check_method, check_system, chosen_options, interval
from strut.simulate.record import STATUS, TERMINAL
from strut.simulate.schedule import refuse_schedules
from strut.simulate.simulate import check_times, names_of
from strut.simulate.stability_check import CHECKED_METHODS, StepPoint, warn_if_unstable
from strut.system import System, runs_in, start
from strut.tabular import Tabular


@dataclass(frozen=True, eq=False)
class Batch(Tabular):
    """The results of many runs, a row each.

    t: when each ended [s]. x, z: final states. status: 'done', the name of the terminal event, or what went
        wrong.
    counts: how often each event and sample happened. outputs: by name, at the end, or at the times asked for
        (nan after a run has ended). steps: taken by each run.
    supplied, dissipated, lost: energy totals [J] by name, if the ledger was asked for.
    wall: how long it took [s]. device: what ran them: 'cpu', 'cpu, 8 lanes', or the name of a
        graphics card, with ', crews of 4' where four threads did each run.
    """

    t: np.ndarray
    x: np.ndarray = field(repr=False)
    z: np.ndarray = field(repr=False)
    status: np.ndarray = field(repr=False)
    counts: Mapping[str, np.ndarray] = field(repr=False)
    outputs: Mapping[str, np.ndarray] = field(repr=False)
    steps: np.ndarray = field(repr=False)
    supplied: Mapping[str, np.ndarray] = field(repr=False)
    dissipated: Mapping[str, np.ndarray] = field(repr=False)
    lost: Mapping[str, np.ndarray] = field(repr=False)
    names: Names = field(repr=False)
    wall: float = 0.0
    interrupted: bool = False
    device: str = "cpu"
    cause: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int), repr=False)
    culprit: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=int), repr=False)

    def message(self, run: int) -> str:
        """How a run ended, as a sentence: as `Trajectory.message`."""
        cause, culprit, states = int(self.cause[run]), int(self.culprit[run]), [*self.x[run], *self.z[run]]
        return ending_message(
            str(self.status[run]), self.names, float(self.t[run]), cause=cause, culprit=culprit, states=states
        )

    @property
    def ok(self) -> np.ndarray:
        """Tell which runs reached their end, or ended in an event meant to end them: not in a failure, such
        as a fall."""
        good_endings = {"done", *self.names.jumps} - set(self.names.failures)
        return np.array([s in good_endings for s in self.status])

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, name: str) -> np.ndarray:
        """A final state or discrete state, or a chosen output, over the runs."""
        for group, array in (("x", self.x), ("z", self.z)):
            labels = getattr(self.names, group)
            if name in labels:
                return array[:, labels.index(name)]
        if name in self.outputs:
            return self.outputs[name]
        raise UnknownNameError(
            f"the batch has no '{name}': {did_you_mean(name, [*self.names.x, *self.names.z, *self.outputs])}"
        )

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every run how it ended and when [s], its last states, outputs that have one value each,
        how often every event happened, and energies [J]."""
        energies = {
            f"{name} ({word})": values
            for word, part in (
                ("supplied", self.supplied),
                ("dissipated", self.dissipated),
                ("lost", self.lost),
            )
            for name, values in part.items()
        }
        return {
            "status": self.status,
            "ok": self.ok,
            "t": self.t,
            **{name: self.x[:, k] for k, name in enumerate(self.names.x)},
            **{name: self.z[:, k] for k, name in enumerate(self.names.z)},
            **{name: values for name, values in self.outputs.items() if values.ndim == 1},
            **{f"times {name}": values for name, values in self.counts.items()},
            **energies,
        }

    def __repr__(self) -> str:
        kinds, counts = np.unique(self.status, return_counts=True)
        return (
            f"<Batch of {len(self)} runs: "
            + ", ".join(f"{n} {s}" for s, n in zip(kinds, counts, strict=True))
            + ">"
        )


@checked
def simulate_batch(  # noqa: PLR0913 what a run can be given, as of `simulate`, and what a batch has besides
    system: System,
    t: float | tuple[float, float],
    *,
    x0: Any = None,
    z0: Any = None,
    u: Any = None,
    p: Any = None,
    outputs: Sequence[str] = (),
    at: Any = None,
    seed: int = 0,
    threads: int | None = None,
    backend: str | None = None,
    device: str = "cpu",
    precision: str = "double",
    lanes: int | str = 1,
    crew: int | str = "auto",
    check_steps: bool = True,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Batch:
    """Run a system many times and return a `Batch`.

    t: how long [s], or (begin, end).
    x0, z0, u, p: by name a number for all runs or an array with one per run; or matrices with one row per
        run.
    outputs: names of outputs to return, at the end of each run or, with `at`, at those times (nan after a run
        ended).
    seed: run k draws its random numbers from stream k of this seed.
    threads: how many; all cores by default.
    device: 'cuda' for a graphics card, one run per thread of it, in several launches where its memory is
        short. Where there is no card, or it fails under way, a warning says so and the rest is done on the
        processor; `device` of the batch says what ran.
    precision: on a card or in lanes 'double' or 'single', which has tolerances of its own unless rtol and
        atol are given.
    lanes: how many runs each core does at once, in its vector registers: 'auto' for as many as they hold.
        For systems without samples, delays and events, but for those that end a run, with method='rk4' or
        'euler': five to seven times as fast, compiled by a C++ compiler at first. An event is seen where its
        guard has another sign after a step than before, and found as in any run.
    crew: how many threads of a card do each run, 1, 2, 4 or 8. 'auto' takes 4 in double precision where the
        flow or the guards have 30,000 operations or more and the card's blocks share memory enough, else 1;
        `device` of the batch says which.
    check_steps: whether the beginning and end of three runs are looked at, to warn of fixed steps that are
        too long for a method. A search that runs its best again with finer steps leaves it out: it takes tens
        of milliseconds of a large machine, compiled for the processor, too.
    progress: called with the fraction done.
    options: as for `simulate`; the ledger is off unless ledger=True.

    Memory is what is returned and nothing per step. A run that fails is marked in `status`, and stops no
    other. A keyboard interrupt returns what is finished, the rest with status 'not run'.
    """
    began = clock.perf_counter()
    way = _Way(device, precision, lanes, crew, threads, backend, progress)
    task, names = _prepare(
        system,
        t,
        {"x": x0, "z": z0, "u": u, "p": p},
        outputs=outputs,
        at=at,
        seed=seed,
        way=way,
        options=options,
    )
    ran_on, interrupted = _do_task(system, task, way)
    wall = clock.perf_counter() - began
    if check_steps:
        _warn_of_unstable_steps(system, task, way)
    times = None if at is None else np.size(at)
    return _batch(system, task, names, times, wall=wall, interrupted=interrupted, device=ran_on)


@checked
def summarise_batch(  # noqa: PLR0913 as of `simulate_batch`
    system: System,
    t: float | tuple[float, float],
    *,
    measures: Sequence[str] = (),
    x0: Any = None,
    z0: Any = None,
    u: Any = None,
    p: Any = None,
    seed: int = 0,
    threads: int | None = None,
    backend: str | None = None,
    device: str = "cpu",
    precision: str = "double",
    lanes: int | str = 1,
    crew: int | str = "auto",
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> BatchSummary:
    """Run a system many times and return what the population did, in few numbers: a `BatchSummary`.

    measures: names of outputs; of each the mean, the spread and the best runs, over those that ended well, at
        their ends.
    The rest is as of `simulate_batch`. On a graphics card the results of single runs stay there and are
    summed up there: nothing of the population's size comes back. The best run, by its number, can be run
    again.
    """
    began = clock.perf_counter()
    way = _Way(device, precision, lanes, crew, threads, backend, progress)
    task, names = _prepare(
        system,
        t,
        {"x": x0, "z": z0, "u": u, "p": p},
        outputs=measures,
        at=None,
        seed=seed,
        way=way,
        options=options,
    )
    total = PopulationTotal(names_of(system), _column_names(system, names))
    ran_on, interrupted = _do_task(system, task, way, total)
    return total.summary(wall=clock.perf_counter() - began, interrupted=interrupted, device=ran_on)


@dataclass(frozen=True)
class _Way:
    """Where and how runs are done, as of `simulate_batch`."""

    device: str
    precision: str
    lanes: int | str
    crew: int | str
    threads: int | None
    backend: str | None
    progress: Callable[[float], None] | None

    @property
    def together(self) -> int:
        """How many runs a core does at once."""
        return chosen_lanes(self.lanes, self.precision, self.backend)


def _prepare(
    system: System,
    t: float | tuple[float, float],
    starts: Mapping[str, Any],
    *,
    outputs: Sequence[str],
    at: Any,
    seed: int,
    way: _Way,
    options: dict[str, Any],
) -> tuple[BatchTask, Sequence[str]]:
    """Return what the runs have in common, and the names of outputs. Everything is checked before anything is
    compiled."""
    refuse_schedules(starts["u"], "simulate_batch")
    check_system(system)
    seed_number(seed)
    begin, end = interval(t)
    if "control" in options:
        raise ModelError("a batch takes no Hold: write the controller as expressions, in a Sample")
    if isinstance(outputs, str):
        outputs = [outputs]
    if way.threads is not None:
        integer("threads", way.threads, 1)
    check_device(way.device, way.precision, way.backend, way.together, way.crew)
    coarse = {"rtol": SINGLE_DEFAULTS.rtol, "atol": SINGLE_DEFAULTS.atol, "zeno": SINGLE_DEFAULTS.zeno}
    chosen = chosen_options({"ledger": False, **(coarse if way.precision == "single" else {}), **options})
    check_method(system, chosen, lower_system(system).tables["velocity_of"])
    values = start(system, *[starts[group] for group in "xzup"], runs=runs_in(system, **starts))
    check_times(system, values.p)
    stops, columns = _stops(at, begin, end), _output_columns(system, outputs)
    # all runs write into one set of arrays, in pieces on several threads
    room = result_arrays(
        lower_system(system).sizes, len(values.p), len(stops), len(columns), bool(chosen.ledger)
    )
    task = BatchTask(
        options=chosen,
        values=values,
        begin=begin,
        stops=stops,
        columns=columns,
        room=room,
        seed=seed,
        at_end=at is None,
    )
    return task, outputs


def _do_task(
    system: System, task: BatchTask, way: _Way, total: PopulationTotal | None = None
) -> tuple[str, bool]:
    """Do all runs. Returned is what ran them, and whether they were interrupted. total: what takes an account
    of the runs; rows of those that a card did are not written then."""
    ran_on, first, interrupted, runs = "cpu", 0, False, len(task.values.p)
    threads = way.threads or os.cpu_count() or 1
    if way.device == "cuda":
        card_name, first, interrupted = do_runs_on_card(
            lower_system(system), task, way.precision, way.crew, progress=way.progress, total=total
        )
        ran_on = card_name if first == runs or interrupted else f"{card_name}, cpu" if first else "cpu"
    if first < runs and not interrupted:
        if way.together > 1:
            ran_on = f"cpu, {way.together} lanes"
            interrupted = do_runs_in_lanes(
                system, task, way.together, way.precision, threads=threads, progress=way.progress
            )
        else:
            interrupted = do_runs_here(
                system, task, first, backend=way.backend, threads=threads, progress=way.progress
            )
    if total and first < runs:
        total.add_rows(task.room, first)
    return ran_on, interrupted


def _warn_of_unstable_steps(system: System, task: BatchTask, way: _Way) -> None:
    """Look at the beginning and the end of the first, middle and last run; see `warn_if_unstable`."""
    options, values, room = task.options, task.values, task.room
    if options.method not in CHECKED_METHODS or options.step is None or system.delays:
        return
    few = np.unique(np.linspace(0, len(values.p) - 1, 3).astype(int)).tolist()
    rows = [k for k in few if np.all(np.isfinite(room["x"][k])) and room["steps"][k]]
    ends = [(task.begin, values.x, values.z), (float(task.stops[-1]), room["x"], room["z"])]
    points = [StepPoint(t, x[k], z[k], values.u[k], values.p[k]) for k in rows for t, x, z in ends]
    warn_if_unstable(
        system.name,
        compile_system(system, backend=way.backend).evaluate,
        points,
        steps=max((int(room["steps"][k]) for k in rows), default=0),
        method=options.method,
        step=options.step,
    )


def _stops(at: Any, begin: float, end: float) -> np.ndarray:
    """The times [s] at which runs stop: those asked for, checked, and the end."""
    if at is None:
        return np.array([end])
    stops = np.atleast_1d(number_array("at", at))
    if not stops.size or not np.all(np.isfinite(stops)):
        raise ValueRangeError(f"'at' is {at!r}: give at least one time, all of them finite")
    if np.any(np.diff(stops) < 0) or stops[0] < begin or stops[-1] > end:
        raise ValueRangeError(
            f"'at' must ascend within the run, {begin:g} to {end:g} s; it goes from {stops[0]:g} to "
            f"{stops[-1]:g} s"
        )
    return stops if stops[-1] == end else np.append(stops, end)


def _output_columns(system: System, outputs: Sequence[str]) -> np.ndarray:
    """Indices of the components of outputs, by their names."""
    places = system.slices("outputs")
    for name in outputs:
        if name not in places:
            raise UnknownNameError(
                f"'{name}' is not an output of '{system.name}': {did_you_mean(name, list(system.outputs))}"
            )
    return np.array(
        [k for name in outputs for k in range(places[name].start, places[name].stop)], dtype=np.int32
    )


def _column_names(system: System, outputs: Sequence[str]) -> list[str]:
    """Names of the components of outputs: its own of one that has one, else with numbers."""
    places = system.slices("outputs")
    widths = {name: places[name].stop - places[name].start for name in outputs}
    return [name if widths[name] == 1 else f"{name}[{k}]" for name in outputs for k in range(widths[name])]


def _batch(
    system: System,
    task: BatchTask,
    outputs: Sequence[str],
    times: int | None,
    *,
    wall: float,
    interrupted: bool,
    device: str,
) -> Batch:
    """The results with names. times: how many were asked for, None for outputs at the end."""
    names, room, ledger = names_of(system), task.room, task.options.ledger
    words = np.array([*STATUS, *names.jumps], dtype=object)
    words[0] = "not run"
    code = np.where(room["status"] == TERMINAL, len(STATUS) + room["cause"], room["status"])
    status = words[code]
    places, y, at = system.slices("outputs"), room["y"], 0
    by_name = {}
    for name in outputs:
        width = places[name].stop - places[name].start
        column = y[:, :times, at : at + width] if times is not None else y[:, -1, at : at + width]
        by_name[name] = column[..., 0] if width == 1 else column
        at += width
    counts: dict[str, np.ndarray] = {}
    for k, name in enumerate(names.jumps):
        counts[name] = counts.get(name, 0) + room["counts"][:, k]
    s = len(names.supplied)
    work, lost = (room["work"], room["lost"]) if ledger else (np.empty((0, 0)), np.empty((0, 0)))
    return Batch(
        t=room["t"],
        x=room["x"],
        z=room["z"],
        status=status,
        counts=counts,
        outputs=by_name,
        steps=room["steps"],
        supplied=dict(zip(names.supplied, work[:, :s].T, strict=True)) if ledger else {},
        dissipated=dict(zip(names.dissipated, -work[:, s:].T, strict=True)) if ledger else {},
        lost=dict(zip(names.lost, lost.T, strict=True)) if ledger else {},
        names=names,
        wall=wall,
        interrupted=interrupted,
        device=device,
        cause=room["cause"],
        culprit=room["culprit"],
    )


__all__ = ["Batch", "simulate_batch", "summarise_batch"]
