"""Runs of a batch on a graphics card, in launches that fit its memory."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable

import numpy as np

from strut.codegen import (
    NO_MEMORY,
    PRECISIONS,
    DeviceLibrary,
    DriverError,
    Lowered,
    Many,
    build_device_library,
    check_device_model,
    find_cuda_compiler,
    forget_driver,
    open_driver,
)
from strut.errors import CompileError, DeviceError, ModelError, did_you_mean
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

SumUp = Callable[[DeviceLibrary, np.ndarray, Many, int, int], None]
"""Does the runs from one number to before another on a card, and keeps a summary of them."""


def check_device(device: str, precision: str, backend: str | None, lanes: int) -> None:
    """Raise `ModelError` where a batch is asked for on a device, or with a precision, that there is not."""
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
    progress: Callable[[float], None] | None,
    sum_up: SumUp | None = None,
) -> tuple[str, int, bool]:
    """Do the runs of a batch on a graphics card. Returned are its name, how many runs were done, in order,
    and whether somebody interrupted them. Where there is no card, or it fails, a warning says so, and fewer
    are done. sum_up: does a launch in the place of writing the results of its runs."""
    check_device_model(low)
    if task.options.method in STIFF:
        raise DeviceError(
            f"method '{task.options.method}' solves equations in every step, which runs on the processor "
            f"alone: use device='cpu', or an explicit method"
        )
    try:
        library = open_library(low, task.options, precision)
        return do_launches(library, task, progress, sum_up)
    except (CompileError, DeviceError) as error:
        _warn(str(error), task.options)
        return "", 0, False


def open_library(low: Lowered, options: Options, precision: str) -> DeviceLibrary:
    """Return the kernels of a system on the card, compiled if need be. Raises `DeviceError` where there is no
    card, or its driver is too old, `CompileError` where there is no compiler or it fails."""
    driver = open_driver()
    chosen = find_cuda_compiler(driver.card.cuda)
    if chosen is None:
        raise CompileError("no CUDA compiler found (install nvcc, or NVRTC with pip install 'strut[cuda]')")
    path = build_device_library(
        low,
        options.method,
        precision,
        driver.card.capability,
        ledger=bool(options.ledger),
        chosen=chosen,
    )
    return DeviceLibrary(path, low.sizes, driver)


def do_launches(
    library: DeviceLibrary,
    task: BatchTask,
    progress: Callable[[float], None] | None,
    sum_up: SumUp | None = None,
) -> tuple[str, int, bool]:
    """Do the runs of a batch with a kernel, launch by launch; returned is as of `do_runs_on_card`."""
    many, runs, options = task.many(), len(task.values.p), number_options(task.options)
    most = library.runs_per_launch(many, runs) if runs else 0
    name, wave = library.card.name, library.runs_at_once
    runs_done, count = 0, min(most, FIRST_LAUNCH_WAVES * wave)
    try:
        while runs_done < runs:
            end, began = min(runs, runs_done + count), clock.perf_counter()
            try:
                if sum_up is None:
                    library.do_runs(options, many, runs_done, end)
                else:
                    sum_up(library, options, many, runs_done, end)
            except DriverError as error:
                if error.number != NO_MEMORY or count <= wave:
                    raise
                most = count = max(wave, count // LAUNCH_CUT)  # others use the card's memory, too
                continue
            runs_done, took = end, max(clock.perf_counter() - began, 1e-6)
            count = int(min(most, max(wave, count * min(LAUNCH_TIME / took, MAX_LAUNCH_GROWTH))))
            if progress:
                progress(runs_done / runs)
    except KeyboardInterrupt:
        return name, runs_done, True
    except DeviceError as error:
        forget_driver()
        left = f"{runs - runs_done} of {runs} runs are left"
        _warn(f"{name} failed on runs {runs_done} to {end - 1} ({error}; {left})", task.options)
    return name, runs_done, False


def _warn(reason: str, options: Options) -> None:
    """Say why the processor goes on, and how exactly: tolerances stay those that the card was asked for."""
    warnings.warn(
        f"{reason}: the batch goes on on the processor, in double precision with rtol {options.rtol:g}",
        RuntimeWarning,
        stacklevel=5,
    )


__all__ = ["DEVICES", "check_device", "do_launches", "do_runs_on_card", "open_library"]
