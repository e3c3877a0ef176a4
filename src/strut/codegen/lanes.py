"""A system in the lanes of a core: its unit compiled such that every number is several, one of each of
several runs, in the vector registers."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import platform
import sys
from pathlib import Path

import numpy as np

from strut.codegen.backends import runtime_and_digest
from strut.codegen.cache import build, compiler, key_of
from strut.codegen.lower import Lowered
from strut.codegen.native import Many
from strut.codegen.translation_unit import is_smooth, lanes_text
from strut.errors import CompileError, ModelError
from strut.gc_pause import pause_gc

LANES_FLAGS = (
    "-std=c++17",
    "-O2",
    "-shared",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-Wno-psabi",
    "-x",
    "c++",
)
"""Of a C++ compiler; how arguments of vectors are passed need not be the same elsewhere (psabi)."""
NUMBER_BYTES = {"double": 8, "single": 4}
"""Bytes of a number, by precision."""
LANES = (2, 4, 8, 16)
"""How many runs a core can do at once: as many numbers as vector registers hold."""


def register_bytes() -> int:
    """Return the width of this processor's vector registers [bytes]."""
    features = _processor_features()
    return 64 if "avx512f" in features else 32 if "avx2" in features else 16


@functools.cache
def _processor_features() -> frozenset[str]:
    """What the processor says it can do, where the system tells it; nothing elsewhere."""
    path = Path("/proc/cpuinfo")
    if platform.machine() != "x86_64" or not path.exists():
        return frozenset()
    lines = (line for line in path.read_text().splitlines() if line.startswith("flags"))
    return frozenset(next(lines, "").partition(":")[2].split())


def _width_flags() -> tuple[str, ...]:
    """Of the compiler, for the registers that this processor has."""
    features = _processor_features()
    if "avx512f" in features and "avx512dq" in features:
        return ("-mavx512f", "-mavx512dq", "-mavx2", "-mfma")
    return ("-mavx2", "-mfma") if "avx2" in features and "fma" in features else ()


def _library_flags(lanes: int, precision: str) -> tuple[str, ...]:
    """Of the compiler, where glibc has sines of whole registers of so many lanes."""
    letter = {16: "b", 32: "d", 64: "e"}.get(lanes * NUMBER_BYTES[precision], "")
    at_hand = platform.machine() == "x86_64" and sys.platform == "linux" and ctypes.util.find_library("mvec")
    if not letter or not at_hand or lanes * NUMBER_BYTES[precision] > register_bytes():
        return ()
    return (f"-DSTRUT_VECTOR_LIBRARY={letter}", "-Wl,--no-as-needed", "-lmvec")


def full_lanes(precision: str) -> int:
    """Return how many runs fill the registers of this processor."""
    return register_bytes() // NUMBER_BYTES[precision]


def build_lanes_library(
    low: Lowered, method: str, lanes: int, precision: str = "double", *, ledger: bool = False
) -> Path:
    """Return the library of a system's runs in lanes, compiled once and kept in the cache.

    method: of integration; only this one is compiled. lanes: how many runs at once. ledger:
        whether they keep an account of energy.
    Raises `ModelError` for a system with samples, delays or events after which runs go on, or a method
    without fixed steps, `CompileError` where there is no C++ compiler or it fails.
    """
    if not is_smooth(low, method):
        raise ModelError(
            f"system '{low.name}' with method '{method}' cannot run in lanes, which do nothing but steps: it "
            f"takes a system without samples, delays and events, but for those that end a run (compliant "
            f"ground with events=False has none), and method='rk4' or 'euler'; or leave out lanes"
        )
    cc = compiler()
    if cc is None:
        raise CompileError("no C compiler found: install g++ or clang++, or leave out lanes")
    flags = (
        *(f"-DSTRUT_LANES={lanes}", *(("-DSTRUT_FLOAT",) if precision == "single" else ())),
        *_width_flags(),
        *_library_flags(lanes, precision),
        *LANES_FLAGS,
    )
    runtime, generator = runtime_and_digest(method)
    low = low if ledger else low.without_account

    def sources() -> dict[str, str]:
        with pause_gc():
            return {**runtime, "model.cpp": lanes_text(low)}

    key = key_of(low.digest + generator, cc, flags=flags)
    return build(key, sources, "model.cpp", cc, f"{low.name} for {lanes} lanes", flags=flags)


class LanesLibrary:
    """Runs of a system in lanes, seen from Python."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.strut_lanes_batch.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(Many),
            ctypes.c_int64,
            ctypes.c_int64,
        ]

    def do_runs(self, options: np.ndarray, many: Many, begin: int, end: int) -> None:
        """Do the runs from one number to before another. Raises `MemoryError` where there is none; nothing is
        written then."""
        if self.library.strut_lanes_batch(options.ctypes.data, ctypes.byref(many), begin, end):
            raise MemoryError(f"no memory for the runs {begin} to {end - 1} of a batch")


__all__ = ["LANES", "LanesLibrary", "build_lanes_library", "full_lanes"]
