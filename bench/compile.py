"""What optimisation costs and what it gains: time to compile against time to run, and time to load from the
cache.

This is where strut.codegen.cache.FLAGS comes from. Runs are RK4 at 1 ms for 10 s without recording, so that
compiled code is all that is timed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.load import SYSTEMS
from bench.timing import Contender, Effort, Row, Section, measure
from strut import System, compile_system, simulate_batch
from strut.codegen import cache as build
from strut.codegen.native import Native

CHOICES = {"-O2": ("-O2",), "-O1": ("-O1",), "-O3": ("-O3",), "-O3 -march=native": ("-O3", "-march=native")}
"""What takes the place of the optimisation flag; the first is the measure of the others."""
BACKEND = "native"
ROOT = Path(__file__).parent.parent
T, STEP = 10.0, 1e-3  # [s]


@contextmanager
def flags(choice: tuple[str, ...]) -> Iterator[None]:
    """strut's own flags with another optimisation."""
    before = build.FLAGS
    build.FLAGS = tuple(flag for old in before for flag in (choice if old.startswith("-O") else (old,)))  # type: ignore[assignment]
    try:
        yield
    finally:
        build.FLAGS = before


@contextmanager
def fresh_cache() -> Iterator[Path]:
    before = os.environ.get("STRUT_CACHE")
    with tempfile.TemporaryDirectory(prefix="strut-bench-") as directory:
        os.environ["STRUT_CACHE"] = directory
        try:
            yield Path(directory)
        finally:
            os.environ.pop("STRUT_CACHE")
            if before is not None:
                os.environ["STRUT_CACHE"] = before


def built(make: Callable[[], System], choice: tuple[str, ...]) -> tuple[System, float, float, int]:
    """A system compiled anew; the time for all of it [s], for the C compiler alone [s], and the size of its
    library [bytes]."""
    spent = 0.0
    run = subprocess.run

    def call_timed(*arguments: Any, **options: Any) -> Any:
        nonlocal spent
        began = clock.perf_counter()
        try:
            return run(*arguments, **options)
        finally:
            spent += clock.perf_counter() - began

    with fresh_cache(), flags(choice):
        build.subprocess.run = call_timed  # type: ignore[attr-defined]
        try:
            began = clock.perf_counter()
            system = make()
            compile_system(system, backend=BACKEND)
            return system, clock.perf_counter() - began, spent, only_library(system).stat().st_size
        finally:
            build.subprocess.run = run  # type: ignore[attr-defined]


def only_library(system: System) -> Path:
    """The one library a system has used. `compile_system` keeps one per backend name, so a run that names its
    backend otherwise than the build did would quietly use the shipped flags, and all rows would be the same
    code."""
    used = {unit.path for unit in system.cache.values() if isinstance(unit, Native)}
    if len(used) != 1:
        raise RuntimeError(f"'{system.name}' ran other code than was built for it: {sorted(map(str, used))}")
    return Path(used.pop())


def _run(system: System) -> np.ndarray:
    many = {"p": {"max_steps": [1e9]}} if "max_steps" in system.slices("p") else {}
    return simulate_batch(system, T, method="rk4", step=STEP, backend=BACKEND, **many).x


def compare_ways(name: str, make: Callable[[], System], effort: Effort) -> Section:
    builds: dict[str, list[tuple[System, float, float, int]]] = {label: [] for label in CHOICES}
    for _ in range(min(3, effort.rounds)):
        for label, choice in CHOICES.items():
            if sum(b[1] for b in builds[label]) < effort.cap:
                builds[label].append(built(make, choice))
    ends = {label: _run(attempts[-1][0]) for label, attempts in builds.items()}
    first = ends[next(iter(CHOICES))]
    rows = measure(
        [
            Contender(
                f"run, {label}",
                "",
                lambda attempts=attempts: _run(attempts[-1][0]),  # type: ignore[misc]
                float(np.max(np.abs(ends[label] - first))),
            )
            for label, attempts in builds.items()
        ],
        effort,
    )
    rows_told: list[Row] = []
    if len({only_library(attempts[-1][0]).name for attempts in builds.values()}) != len(CHOICES):
        raise RuntimeError(f"'{name}': two choices of flags gave one library")
    for row, attempts in zip(rows, builds.values(), strict=True):
        whole, alone, size = min(m[1] for m in attempts), min(m[2] for m in attempts), attempts[-1][3]
        rows_told.append(
            replace(
                row,
                setting=f"ready in {whole:.2f} s, of that cc {alone:.2f} s",
                note=f"{size / 1024:.0f} KiB",
                extra={"ready": [m[1] for m in attempts], "cc": [m[2] for m in attempts], "bytes": size},
            )
        )
    return Section(
        f"{name}, compiled and run: RK4 at 1 ms, 10 s", "end state against the first row", tuple(rows_told)
    )


def time_cached_starts(effort: Effort) -> Section:
    """Fresh processes, each with a warm cache; what they print is the time, so start and imports are left
    out."""
    rows = []
    with fresh_cache():
        for name in SYSTEMS:
            command = [sys.executable, "-m", "bench.load", name]
            subprocess.run([*command, "first"], capture_output=True, check=True, cwd=ROOT)
            processes = [
                subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
                for _ in range(effort.rounds)
            ]
            failed = next((run.stderr.strip().split("\n")[-1] for run in processes if run.returncode), None)
            if failed is not None:
                rows.append(Row(name, note=failed))
                continue
            parts = [tuple(map(float, run.stdout.split())) for run in processes]
            described, ready = (min(part[k] for part in parts) for k in (0, 1))
            rows.append(
                Row(
                    name,
                    f"System {described * 1e3:.1f} ms, compile_system() {ready * 1e3:.1f} ms",
                    None,
                    tuple(map(sum, parts)),
                    extra={"parts": parts},
                )
            )
    return Section(
        "a second process loads a cached system", "none", tuple(rows), "target: below 50 ms, and no compiler"
    )


def run(effort: Effort) -> list[Section]:
    if build.compiler() is None:
        missing = Row("strut", note="no C compiler")
        return [Section("compiling", "none", (missing,))]
    return [*(compare_ways(name, make, effort) for name, make in SYSTEMS.items()), time_cached_starts(effort)]
