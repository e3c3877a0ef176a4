"""`simulate_batch`: thousands of runs of one system, on all cores, without Python in the loop."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.checks import checked, integer, number_array, seed_number
from strut.codegen import SINGLE_DEFAULTS, Native, Virtual, byref, compile_system, lower_system
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.simulate.batch_in_lanes import chosen_lanes, end_runs_at_events, lanes_work
from strut.simulate.batch_on_card import check_device, do_runs_on_card
from strut.simulate.batch_task import BatchTask, result_arrays
from strut.simulate.ending import ending_message
from strut.simulate.names import Names
from strut.simulate.options import STIFF, check_method, check_system, chosen_options, interval
from strut.simulate.record import HISTORY_FULL, STATUS, TERMINAL
from strut.simulate.run_native import HISTORY_ROWS
from strut.simulate.schedule import refuse_schedules
from strut.simulate.simulate import check_times, names_of
from strut.system import Start, System, runs_in, start
from strut.tabular import Tabular

ALONE_TIME = 5e-3
"""Runs that together are expected to take less [s] are done by one thread: starting others takes 1 ms, and
the search for a gait asks for hundreds of such batches."""


@dataclass(frozen=True, eq=False)
class Batch(Tabular):
    """The results of many runs, a row each.

    t: when each ended [s]. x, z: final states. status: 'done', the name of the terminal event, or what went
        wrong.
    counts: how often each event and sample happened. outputs: by name, at the end, or at the times asked for
        (nan after a run has ended). steps: taken by each run.
    supplied, dissipated, lost: energy totals [J] by name, if the ledger was asked for.
    wall: how long it took [s]. device: what ran them: 'cpu', 'cpu, 8 lanes', or the name of a
        graphics card.
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
    device: 'cuda' for a graphics card, one run per thread of it, several launches where its memory is
    short. Where
        there is none, or it fails under way, a warning says so and the rest is done on the processor;
        `device` of the batch says what ran. precision: on a card or in lanes 'double' or 'single', which has
        tolerances of its own unless rtol and atol are given.
    lanes: how many runs each core does at once, in its vector registers: 'auto' for as many as they hold.
        For systems without samples, delays and events, but for those that end a run, with method='rk4' or
        'euler': five to seven times as fast, compiled by a C++ compiler at first. An event is seen where its
        guard has another sign after a step than before, and found as in any run.
    progress: called with the fraction done.
    options: as for `simulate`; the ledger is off unless ledger=True.

    Memory is what is returned and nothing per step. A run that fails is marked in `status`, and stops no
    other. A keyboard interrupt returns what is finished, the rest with status 'not run'.
    """
    refuse_schedules(u, "simulate_batch")
    began = clock.perf_counter()
    # everything is checked before anything is compiled
    check_system(system)
    seed_number(seed)
    begin, end = interval(t)
    if "control" in options:
        raise ModelError("a batch takes no Hold: write the controller as expressions, in a Sample")
    if isinstance(outputs, str):
        outputs = [outputs]
    if threads is not None:
        integer("threads", threads, 1)
    together = chosen_lanes(lanes, precision, backend)
    check_device(device, precision, backend, together)
    coarse = {"rtol": SINGLE_DEFAULTS.rtol, "atol": SINGLE_DEFAULTS.atol, "zeno": SINGLE_DEFAULTS.zeno}
    chosen = chosen_options({"ledger": False, **(coarse if precision == "single" else {}), **options})
    check_method(system, chosen, lower_system(system).tables["velocity_of"])
    values = start(system, x0, z0, u, p, runs=runs_in(system, x=x0, z=z0, u=u, p=p))
    runs = len(values.p)
    check_times(system, values.p)
    stops = _stops(at, begin, end)
    # all runs write into one set of arrays, in pieces on several threads
    columns = _output_columns(system, outputs)
    sizes = lower_system(system).sizes
    threads = threads or os.cpu_count() or 1
    task = BatchTask(
        options=chosen,
        values=values,
        begin=begin,
        stops=stops,
        columns=columns,
        room=result_arrays(sizes, runs, len(stops), len(columns), chosen.ledger),
        seed=seed,
        at_end=at is None,
    )
    ran_on, first, interrupted = "cpu", 0, False
    if device == "cuda":
        card_name, first, interrupted = do_runs_on_card(lower_system(system), task, precision, progress)
        ran_on = card_name if first == runs or interrupted else f"{card_name}, cpu" if first else "cpu"
    if first < runs and not interrupted:
        if together > 1:
            ran_on = f"cpu, {together} lanes"
            work = _lanes_work(system, task, together, precision)
            interrupted = _spread(work, range(runs), threads, progress, together=together)
        else:
            interrupted = _do_runs_here(
                system, task, first, backend=backend, threads=threads, progress=progress
            )
    wall = clock.perf_counter() - began
    times = None if at is None else np.size(at)
    return _batch(system, task, outputs, times, wall=wall, interrupted=interrupted, device=ran_on)


def _do_runs_here(
    system: System,
    task: BatchTask,
    first: int,
    *,
    backend: str | None,
    threads: int,
    progress: Callable[[float], None] | None,
) -> bool:
    """Do the runs from number `first` on, on the cores of this machine. Returned is whether they were
    interrupted."""
    model = compile_system(system, backend=backend, stiff=task.options.method in STIFF)
    runs = len(task.values.p)
    if isinstance(model, Virtual):
        return _spread(_virtual_work(model, task), range(first, runs), 1, progress)
    short = model.run_time is not None and model.run_time * (runs - first) < ALONE_TIME
    spread_began = clock.perf_counter()
    interrupted = _spread(_native_work(model, task), range(first, runs), threads, progress, short=short)
    spread_time = clock.perf_counter() - spread_began
    model.run_time = spread_time / (runs - first) if runs > first else None
    model.spend(spread_time)
    return interrupted


def _lanes_work(system: System, task: BatchTask, lanes: int, precision: str) -> Callable[[int, int], None]:
    """A function that does the runs from one number to before another in lanes, and those that an event ends
    from the step before it on one by one, in double precision."""
    work = lanes_work(lower_system(system), task, lanes, precision)
    if not system.events:
        return work
    model = compile_system(system)

    def do_rest(rest: BatchTask) -> None:
        work_one = _virtual_work(model, rest) if isinstance(model, Virtual) else _native_work(model, rest)
        work_one(0, 1)

    def work_and_end(first: int, last: int) -> None:
        work(first, last)
        end_runs_at_events(task, first, last, do_rest)

    return work_and_end


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


def _native_work(model: Native, task: BatchTask) -> Callable[[int, int], None]:
    """A function that does the runs from one number to before another, in compiled code."""
    delayed, room = model.sizes["ND"], task.room
    native = task.options.native(dense=False)

    def work(first: int, last: int) -> None:
        run(first, last, HISTORY_ROWS * 16 if delayed else 0)

    def run(first: int, last: int, rows: int) -> None:
        """Do the runs from one number to before another, with so many rows of delay history."""
        history, lane = np.empty((rows, 1 + 2 * delayed)), model.sim()
        many = task.many(history, lane)
        model.library.strut_batch(byref(native), byref(many), first, last)
        for k in first + np.flatnonzero(room["status"][first:last] == HISTORY_FULL):
            room["counts"][k] = 0
            run(int(k), int(k) + 1, 8 * rows)  # its delay history was too short: once more with a longer one

    return work


def _virtual_work(model: Virtual, task: BatchTask) -> Callable[[int, int], None]:
    """A function that does the runs from one number to before another, in Python."""
    from strut.simulate.python_engine import Engine
    from strut.simulate.random import Stream

    values, columns, room = task.values, task.columns, task.room

    def work(first: int, last: int) -> None:
        for k in range(first, last):
            run = Engine(
                model.lowered,
                task.options,
                Start(values.x[k], values.z[k], values.u[k], values.p[k]),
                task.begin,
                task.seed,
            )
            run.stream = Stream(task.seed, k)
            for s, stop in enumerate(task.stops):
                run.go(float(stop))
                if len(columns) and (run.t >= stop or task.at_end):
                    y = model.evaluate(
                        "outputs", run.t, run.x[: run.nx], run.z, run.u, run.p, run._delayed_signals(run.t)
                    )[0]
                    room["y"][k, s] = y[columns]
            room["t"][k], room["x"][k], room["z"][k] = run.t, run.x[: run.nx], run.z
            room["steps"][k], room["status"][k], room["cause"][k] = run.steps, run.status, run.cause
            room["culprit"][k] = run.culprit
            room["counts"][k] = (
                np.bincount(run.chunks["jump"], minlength=room["counts"].shape[1])
                if run.chunks["jump"]
                else 0
            )
            if room["work"] is not None:
                room["work"][k] = run.x[run.nx :]
                room["lost"][k] = np.sum(run.chunks["loss"], axis=0) if run.chunks["loss"] else 0.0

    return work


def _spread(
    work: Callable[[int, int], None],
    runs: range,
    threads: int,
    progress: Callable[[float], None] | None,
    *,
    short: bool = False,
    together: int = 1,
) -> bool:
    """Do all runs in small pieces on several threads, as many together as a core does. Returned is whether
    they were interrupted. short: they
    are expected to take less than `ALONE_TIME`; the calling thread begins alone, and others join in where it
    takes longer."""
    piece = max(1, min(256, len(runs) // (8 * threads) or 1))
    piece = -(-piece // together) * together
    starts, end = runs[::piece], runs.stop
    alone = threads == 1 or len(starts) == 1
    began, pieces_done = clock.perf_counter(), 0
    try:
        while pieces_done < len(starts) and (alone or (short and clock.perf_counter() - began < ALONE_TIME)):
            work(starts[pieces_done], min(starts[pieces_done] + piece, end))
            pieces_done += 1
            if progress:
                progress(pieces_done / len(starts))
    except KeyboardInterrupt:
        return True
    if pieces_done == len(starts):
        return False
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(work, first, min(first + piece, end)) for first in starts[pieces_done:]]
        for k, future in enumerate(futures, pieces_done):
            future.result()
            if progress:
                progress((k + 1) / len(starts))
    except KeyboardInterrupt:
        return True
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return False


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


__all__ = ["Batch", "simulate_batch"]
