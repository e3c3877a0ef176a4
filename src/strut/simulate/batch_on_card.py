"""Runs of a batch on a graphics card, in launches that fit its memory."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable

from strut.codegen import (
    CREWS,
    INTEGRATORS,
    NO_CUDA_COMPILER,
    NO_MEMORY,
    PRECISIONS,
    DeviceLibrary,
    DriverError,
    Lowered,
    RowsOnCard,
    StepKind,
    build_device_library,
    check_device_model,
    choose_crew,
    find_content,
    find_cuda_compiler,
    forget_driver,
    kernels_of,
    load_library,
    open_driver,
)
from strut.errors import CompileError, DeviceError, ModelError, did_you_mean
from strut.simulate.batch_order import neighbours_together
from strut.simulate.batch_summary import PopulationTotal
from strut.simulate.batch_task import BatchTask, number_options
from strut.simulate.options import STIFF, Options

DEVICES = ("cpu", "cuda")
"""Where the runs of a batch can be done."""
LAUNCH_TIME = 2.0
"""[s] About how long a launch takes: an interrupt is heard between launches, and progress is told there."""
FIRST_LAUNCH_WAVES = 4
"""Runs of the first launch, in waves that fill the card; how long it takes says how many the next ones
have."""
MAX_LAUNCH_GROWTH = 16.0
"""By how many times a launch has more runs than the one before, at most."""
LAUNCH_CUT = 4
"""By how many times a launch has fewer runs than one for which the card had no memory."""


def check_device(device: str, precision: str, backend: str | None, lanes: int, crew: int | str) -> None:
    """Raise `ModelError` where a batch is asked for on a device, with a precision or a crew, that there is
    not."""
    if crew != "auto" and (crew not in CREWS or isinstance(crew, bool)):
        raise ModelError(f"crew is {crew!r}: give {', '.join(map(str, CREWS))}, or 'auto' for the fastest")
    if crew not in ("auto", 1) and device == "cpu":
        raise ModelError("a crew is of a graphics card: leave it out, or say device='cuda'")
    if device not in DEVICES:
        raise ModelError(f"device '{device}' is unknown: {did_you_mean(device, DEVICES)}")
    if precision not in PRECISIONS:
        raise ModelError(f"precision '{precision}' is unknown: {did_you_mean(precision, PRECISIONS)}")
    if precision == "single" and device == "cpu" and lanes == 1:
        raise ModelError(
            "precision 'single' is for graphics cards and lanes: say device='cuda' or lanes='auto', or leave "
            "it out"
        )
    if device == "cuda" and lanes > 1:
        raise ModelError("lanes are of a processor: leave them out with device='cuda'")
    if device == "cuda" and backend is not None:
        raise ModelError(
            f"backend '{backend}' is a way to run on the processor: leave it out with device='cuda'"
        )


def do_runs_on_card(
    low: Lowered,
    task: BatchTask,
    precision: str,
    crew: int | str,
    *,
    progress: Callable[[float], None] | None,
    total: PopulationTotal | None = None,
) -> tuple[str, int, bool]:
    """Do the runs of a batch on a graphics card. Returned are its name, how many runs were done, in order,
    and whether somebody interrupted them. Where there is no card, or it fails, a warning says so, and fewer
    are done. crew: how many threads do each run, or 'auto'. total: what takes an account of the runs; their
    rows are not written then."""
    check_device_model(low)
    if task.options.method in STIFF:
        raise DeviceError(
            f"method '{task.options.method}' solves equations in every step, which runs on the processor "
            f"alone: use device='cpu', or an explicit method"
        )
    try:
        library = open_library(low, task.options, precision, crew)
        return do_launches(library, task, progress, total)
    except (CompileError, DeviceError) as error:
        _warn(str(error), task.options)
        return "", 0, False


def lack_of_card() -> str:
    """Return why no runs can be done on a graphics card here; nothing where they can."""
    try:
        driver = open_driver()
    except DeviceError as error:
        return str(error)
    if find_cuda_compiler(driver.card.cuda) or find_content(kernels_of(driver.card.capability)):
        return ""
    return NO_CUDA_COMPILER


def open_library(low: Lowered, options: Options, precision: str, crew: int | str = "auto") -> DeviceLibrary:
    """Return the kernels of a system on the card, compiled if need be. crew: how many threads do each run;
    'auto' for as many as are fastest. Raises `DeviceError` where there is no
    card, or its driver is too old, `CompileError` where there is no compiler, nor kernels that were compiled
    elsewhere, or it fails."""
    driver = open_driver()
    chosen = find_cuda_compiler(driver.card.cuda)
    if chosen is None and find_content(kernels_of(driver.card.capability)) is None:
        raise CompileError(NO_CUDA_COMPILER)
    path = build_device_library(
        low,
        options.method,
        precision,
        driver.card.capability,
        ledger=bool(options.ledger),
        crew=choose_crew(low, driver.card, precision) if crew == "auto" else int(crew),
        chosen=chosen,
    )
    return load_library(path, low.sizes, driver)


def do_launches(
    library: DeviceLibrary,
    task: BatchTask,
    progress: Callable[[float], None] | None,
    total: PopulationTotal | None = None,
) -> tuple[str, int, bool]:
    """Do the runs of a batch with a kernel, as many as fit into memory at a time; returned is as of
    `do_runs_on_card`."""
    many, runs, options = task.many(), len(task.values.p), number_options(task.options)
    most = library.runs_per_launch(many, runs) if runs else 0
    name, runs_done = library.way, 0
    try:
        while runs_done < runs:
            end = min(runs, runs_done + most)
            try:
                with library.rows_on_card(options, many, runs_done, end) as rows:
                    interrupted = _do_rows(rows, task, _part_of(progress, runs_done / runs, end / runs))
                    if total is None:
                        rows.fetch_results()
                    else:
                        total.add_account(rows.sum_up(total.is_good, total.statuses))
            except DriverError as error:
                if error.number != NO_MEMORY or most <= library.runs_at_once:
                    raise
                most = max(library.runs_at_once, most // LAUNCH_CUT)  # others use the card's memory, too
                continue
            runs_done = end
            if interrupted:
                return name, runs_done, True
    except KeyboardInterrupt:
        return name, runs_done, True
    except DeviceError as error:
        forget_driver()
        left = f"{runs - runs_done} of {runs} runs are left"
        _warn(f"{name} failed on runs {runs_done} to {end - 1} ({error}; {left})", task.options)
    return name, runs_done, False


def _part_of(
    progress: Callable[[float], None] | None, begin: float, end: float
) -> Callable[[float], None] | None:
    """What tells the progress of a part that goes from one fraction of the whole to another."""
    return (lambda fraction: progress(begin + (end - begin) * fraction)) if progress else None


def _do_rows(rows: RowsOnCard, task: BatchTask, progress: Callable[[float], None] | None) -> bool:
    """Do the runs that lie on the card, in launches of about `LAUNCH_TIME`. Returned is whether somebody
    interrupted them."""
    wave, runs_done = rows.library.runs_at_once, 0
    count = FIRST_LAUNCH_WAVES * wave
    try:
        ordered = _order_rows(rows, task)
        while runs_done < rows.runs:
            end, began = min(rows.runs, runs_done + count), clock.perf_counter()
            rows.do_runs(runs_done, end, ordered=ordered)
            runs_done, took = end, max(clock.perf_counter() - began, 1e-6)
            count = int(max(wave, count * min(LAUNCH_TIME / took, MAX_LAUNCH_GROWTH)))
            if progress:
                progress(runs_done / rows.runs)
    except KeyboardInterrupt:
        return True
    return False


def _order_rows(rows: RowsOnCard, task: BatchTask) -> bool:
    """Put the runs that lie on the card into an order in which they wait less for each other. Returned is
    whether that was worth it: not for few, nor for runs that all take the same steps."""
    adaptive = INTEGRATORS[task.options.method].kind is StepKind.ADAPTIVE
    takes_alike = not adaptive and not rows.library.sizes["NG"]
    if takes_alike or rows.runs < rows.library.runs_at_once:
        return False
    order = neighbours_together(task, rows.begin, rows.begin + rows.runs)
    if order is None:
        return False
    rows.give_order(order)
    return True


def _warn(reason: str, options: Options) -> None:
    """Say why the processor goes on, and how exactly: steps or tolerances stay those that the card was asked
    for."""
    exactness = f"rtol {options.rtol:g}"
    if INTEGRATORS[options.method].kind is not StepKind.ADAPTIVE and options.step is not None:
        exactness = f"{options.method} in steps of {options.step:g} s"
    warnings.warn(
        f"{reason}: the batch goes on on the processor, in double precision with {exactness}",
        RuntimeWarning,
        stacklevel=5,
    )


__all__ = ["DEVICES", "check_device", "do_launches", "do_runs_on_card", "lack_of_card", "open_library"]
