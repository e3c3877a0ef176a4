"""A system on a graphics card: its unit compiled by nvcc with the one method that is asked for, and a kernel
that does many runs."""

from __future__ import annotations

import ctypes
import os
import shutil
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from strut.codegen.backends import runtime_and_digest
from strut.codegen.cache import build, compiler, key_of
from strut.codegen.lower import Lowered
from strut.codegen.native import Many
from strut.codegen.translation_unit import device_text
from strut.errors import CompileError, DeviceError
from strut.gc_pause import pause_gc

PRECISIONS = ("double", "single")
"""Precisions of the numbers of a run on a card."""
THREADS_PER_BLOCK = 64
"""Threads of a block: two warps, so that few registers of a block are left unused by long kernels."""
MEMORY_SHARE = 0.8
"""The part of a card's free memory that one launch takes at most."""
NVCC_FLAGS = ("-std=c++17", "-O3", "-shared", "-Xcompiler=-fPIC,-fvisibility=hidden", "-diag-suppress=177")
"""Of nvcc; 177: functions of the runtime that a model does not use."""
EMULATION_FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-x", "c++")
"""Of a C++ compiler that compiles the same text for the processor."""
MESSAGE_LENGTH = 512
"""Characters of a message of the card's driver, at most."""


@dataclass(frozen=True)
class Card:
    """A graphics card: its name, free and whole memory [bytes], multiprocessors, compute capability (90 for
    9.0), how many blocks of the kernel a multiprocessor holds at once, and the registers and local memory
    [bytes] of one of its threads."""

    name: str
    free: int
    memory: int
    multiprocessors: int
    capability: int
    blocks: int
    registers: int
    local: int


def find_nvcc() -> tuple[str, ...] | None:
    """Return the command of the CUDA compiler: $NVCC, or nvcc on the path or in $CUDA_HOME/bin; None if
    there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    for name in (os.environ.get("NVCC"), "nvcc", str(Path(home) / "bin" / "nvcc") if home else None):
        path = shutil.which(name) if name else None
        if path:
            return (path,)
    return None


def find_capability() -> int | None:
    """Return the compute capability of the first card (90 for 9.0), asked of the driver; None where there
    is no card or no driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        return None
    # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
    for number, attribute in ((major, 75), (minor, 76)):
        if driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device):
            return None
    return 10 * major.value + minor.value


def build_device_library(
    low: Lowered,
    method: str,
    precision: str = "double",
    capability: int | None = None,
    *,
    ledger: bool = False,
) -> Path:
    """Return the library of a system's kernel, compiled once and kept in the cache.

    method: of integration; only this one is compiled. precision: 'double' or 'single'. capability: of the
    card it is for (90 for 9.0); None compiles the same text for the processor, which runs it thread by
    thread: for tests. ledger: whether runs keep an account of energy.
    Raises `DeviceError` for a system or method that no card runs, `CompileError` where there is no compiler
    or it fails.
    """
    check_device_model(low)
    if precision not in PRECISIONS:
        raise DeviceError(f"precision '{precision}' is unknown: allowed are {', '.join(PRECISIONS)}")
    if capability is not None:
        cc = find_nvcc()
        if cc is None:
            raise CompileError(
                "no CUDA compiler found: install the CUDA toolkit, so that nvcc is on the path or CUDA_HOME "
                "says where it is; or leave out device='cuda'"
            )
        flags: tuple[str, ...] = (*NVCC_FLAGS, f"-arch=sm_{capability}")
    else:
        cc = compiler()
        if cc is None:
            raise CompileError("no C compiler found: install gcc or clang, or set CC")
        flags = EMULATION_FLAGS
    if precision == "single":
        flags = (*flags, "-DSTRUT_FLOAT")
    runtime, generator = runtime_and_digest(method)
    low = low if ledger else low.without_account()

    def sources() -> dict[str, str]:
        with pause_gc():
            return {**runtime, "model.cu": device_text(low, method)}

    key = key_of(low.digest() + generator, cc, flags=flags)
    return build(key, sources, "model.cu", cc, f"{low.name} for a graphics card", flags=flags)


def check_device_model(low: Lowered) -> None:
    """Raise `DeviceError` for a system whose runs need memory that grows, which threads of a card do not
    have."""
    if low.sizes["ND"]:
        raise DeviceError(
            f"system '{low.name}' has delays, whose history a thread of a graphics card has no memory for: "
            f"use device='cpu'"
        )


class DeviceLibrary:
    """The kernel of a system, seen from Python."""

    def __init__(self, path: Path) -> None:
        self.library = ctypes.CDLL(str(path))
        self.library.strut_cuda_bytes.argtypes = [ctypes.POINTER(Many), ctypes.c_int64]
        self.library.strut_cuda_bytes.restype = ctypes.c_int64
        self.library.strut_cuda_batch.argtypes = [
            ctypes.c_void_p,
            ctypes.POINTER(Many),
            *[ctypes.c_int64] * 4,
            ctypes.c_char_p,
            ctypes.c_int64,
        ]
        self.library.strut_cuda_card.argtypes = [
            ctypes.c_char_p,
            ctypes.c_int64,
            ctypes.c_void_p,
            ctypes.c_int64,
        ]

    def card(self) -> Card:
        """Return the card that runs will go to. Raises `DeviceError` where there is none."""
        name, facts = (
            ctypes.create_string_buffer(MESSAGE_LENGTH),
            np.zeros(len(fields(Card)) - 1, dtype=np.int64),
        )
        failed = self.library.strut_cuda_card(name, MESSAGE_LENGTH, facts.ctypes.data, THREADS_PER_BLOCK)
        words = name.value.decode(errors="replace")
        if failed:
            raise DeviceError(f"no graphics card answers ({words}): use device='cpu'")
        return Card(words, *[int(n) for n in facts])

    def runs_per_launch(self, many: Many, card: Card, runs: int) -> int:
        """Return how many runs fit into the card's memory at once. Raises `DeviceError` if not even one
        does."""
        one, two = (self.library.strut_cuda_bytes(ctypes.byref(many), n) for n in (1, 1 + runs))
        per_run = max(1, (two - one) // max(1, runs))
        room = int(MEMORY_SHARE * card.free) - one
        if room < per_run:
            raise DeviceError(
                f"one run takes {one / 2**20:.3g} MiB of memory, and {card.name} has "
                f"{card.free / 2**20:.3g} MiB free: use device='cpu', or fewer times in at=..."
            )
        return int(max(1, min(runs, room // per_run)))

    def runs_at_once(self, card: Card) -> int:
        """Return how many runs fill a card."""
        return max(1, card.multiprocessors * max(1, card.blocks) * THREADS_PER_BLOCK)

    def do_runs(self, options: np.ndarray, many: Many, begin: int, end: int, card: Card) -> None:
        """Do the runs from one number to before another. Raises `DeviceError` if the card fails; nothing is
        written then."""
        message = ctypes.create_string_buffer(MESSAGE_LENGTH)
        needed = -(-(end - begin) // THREADS_PER_BLOCK)
        blocks = max(1, min(needed, card.multiprocessors * max(1, card.blocks)))
        failed = self.library.strut_cuda_batch(
            options.ctypes.data,
            ctypes.byref(many),
            begin,
            end,
            blocks,
            THREADS_PER_BLOCK,
            message,
            MESSAGE_LENGTH,
        )
        if failed:
            words = message.value.decode(errors="replace")
            raise DeviceError(f"{card.name} failed on runs {begin} to {end - 1}: {words}")


__all__ = [
    "PRECISIONS",
    "Card",
    "DeviceLibrary",
    "build_device_library",
    "check_device_model",
    "find_capability",
    "find_nvcc",
]
