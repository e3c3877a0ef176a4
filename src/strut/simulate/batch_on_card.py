"""Runs of a batch on a graphics card, in launches that fit its memory."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable

from strut.codegen import (
    PRECISIONS,
    DeviceLibrary,
    Lowered,
    build_device_library,
    check_device_model,
    find_capability,
    find_nvcc,
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
    low: Lowered, task: BatchTask, precision: str, progress: Callable[[float], None] | None
) -> tuple[str, int, bool]:
    """Do the runs of a batch on a graphics card. Returned are its name, how many runs were done, in order,
    and whether somebody interrupted them. Where there is no card, or it fails, a warning says so, and fewer
    are done."""
    check_device_model(low)
    if task.options.method in STIFF:
        raise DeviceError(
            f"method '{task.options.method}' solves equations in every step, which runs on the processor "
            f"alone: use device='cpu', or an explicit method"
        )
    capability = find_capability()
    if capability is None or find_nvcc() is None:
        missing = (
            "no graphics card with CUDA answers" if capability is None else "no CUDA compiler, nvcc, found"
        )
        _warn(missing, task.options)
        return "", 0, False
    try:
        chosen = task.options
        library = DeviceLibrary(
            build_device_library(low, chosen.method, precision, capability, ledger=bool(chosen.ledger))
        )
        return do_launches(library, low, task, progress)
    except (CompileError, DeviceError) as error:
        _warn(str(error), task.options)
        return "", 0, False


def do_launches(
    library: DeviceLibrary, low: Lowered, task: BatchTask, progress: Callable[[float], None] | None
) -> tuple[str, int, bool]:
    """Do the runs of a batch with a kernel, launch by launch; returned is as of `do_runs_on_card`."""
    many, runs, options = task.many(), len(task.values.p), number_options(task.options)
    card = library.card()
    most = library.runs_per_launch(many, card, runs) if runs else 0
    wave = library.runs_at_once(card)
    runs_done, count = 0, min(most, FIRST_LAUNCH_WAVES * wave)
    try:
        while runs_done < runs:
            end, began = min(runs, runs_done + count), clock.perf_counter()
            library.do_runs(options, many, runs_done, end, card)
            runs_done, took = end, max(clock.perf_counter() - began, 1e-6)
            count = int(min(most, max(wave, count * min(LAUNCH_TIME / took, MAX_LAUNCH_GROWTH))))
            if progress:
                progress(runs_done / runs)
    except KeyboardInterrupt:
        return card.name, runs_done, True
    except DeviceError as error:
        _warn(str(error), task.options)
    return card.name, runs_done, False


def _warn(reason: str, options: Options) -> None:
    """Say why the processor goes on, and how exactly: tolerances stay those that the card was asked for."""
    warnings.warn(
        f"{reason}: the batch goes on on the processor, in double precision with rtol {options.rtol:g}",
        RuntimeWarning,
        stacklevel=5,
    )


__all__ = ["DEVICES", "check_device", "do_launches", "do_runs_on_card"]
