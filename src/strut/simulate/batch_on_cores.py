"""Runs of a batch on the cores of this machine: in compiled code, in lanes, or in Python."""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from strut.codegen import Native, Virtual, byref, compile_system, lower_system
from strut.simulate.batch_in_lanes import end_runs_at_events, lanes_work
from strut.simulate.batch_task import BatchTask
from strut.simulate.options import STIFF
from strut.simulate.record import HISTORY_FULL
from strut.simulate.run_native import HISTORY_ROWS
from strut.system import Start, System

ALONE_TIME = 5e-3
"""Runs that together are expected to take less [s] are done by one thread: starting others takes 1 ms, and
the search for a gait asks for hundreds of such batches."""


def do_runs_here(
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
    # of one thread: else every second batch of about ALONE_TIME would be done alone
    cores = 1 if short else min(threads, runs - first)
    model.run_time = cores * spread_time / (runs - first) if runs > first else None
    model.spend(spread_time)
    return interrupted


def do_runs_in_lanes(
    system: System,
    task: BatchTask,
    lanes: int,
    precision: str,
    *,
    threads: int,
    progress: Callable[[float], None] | None,
) -> bool:
    """Do all runs in lanes, on the cores of this machine. Returned is whether they were interrupted."""
    work = _lanes_work(system, task, lanes, precision)
    return _spread(work, range(len(task.values.p)), threads, progress, together=lanes)


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
    they were interrupted. short: they are expected to take less than `ALONE_TIME`; the calling thread begins
    alone, and others join in where it takes longer."""
    piece = max(1, min(256, len(runs) // (8 * threads) or 1))
    piece = -(-piece // together) * together
    if threads == 1 and together > 1 and progress is None:
        piece = len(runs)  # so that a lane whose run has ended takes any other
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


__all__ = ["do_runs_here", "do_runs_in_lanes"]
