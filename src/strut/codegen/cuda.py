"""A system for a graphics card: its unit compiled with the one method that is asked for, by nvcc or NVRTC."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from strut.codegen.backends import runtime_and_digest
from strut.codegen.cache import build, compiler, find_content, key_of
from strut.codegen.crew_text import NEAR_NUMBERS, RUNS_PER_BLOCK
from strut.codegen.cuda_driver import Card
from strut.codegen.lower import Lowered
from strut.codegen.nvrtc import Nvrtc, find_nvrtc
from strut.codegen.translation_unit import device_text
from strut.errors import CompileError, DeviceError
from strut.gc_pause import pause_gc

CREWS = (1, 2, 4, 8)
"""How many threads of a card can do each run."""
PRECISIONS = ("double", "single")
"""Precisions of the numbers of a run on a card."""
CUDA_FLAGS = ("-std=c++17", "-diag-suppress=177")
"""Of nvcc and NVRTC; 177: functions of the runtime that a model does not use."""
NVCC_FLAGS = ("-O3", "-cubin")
"""Of nvcc alone: machine code of a card, without a program around it."""
EMULATION_FLAGS = ("-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-x", "c++")
"""Of a C++ compiler that compiles the same text for the processor."""
NO_CUDA_COMPILER = (
    "no CUDA compiler found (install nvcc, or NVRTC with pip install 'strut[cuda]'), and the cache has no "
    "kernels of this machine that were compiled elsewhere"
)
"""What is said where there is none."""
UNIT_FILE = "model.cu"
"""Name of the file of the unit that is compiled."""
ELF_MAGIC = b"\x7fELF"
"""First bytes of a file of machine code of a card."""


@dataclass(frozen=True)
class CudaCompiler:
    """A compiler for cards: 'nvcc' or 'nvrtc', and its file."""

    kind: str
    path: Path


def find_cuda_compiler(cuda: int | None = None) -> CudaCompiler | None:
    """Return the compiler for graphics cards: $NVCC, nvcc on the path or in $CUDA_HOME/bin, else NVRTC; None
    if there is none. cuda: the version that the driver knows (13.0 is 13000), which NVRTC should not
    exceed."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    for name in (os.environ.get("NVCC"), "nvcc", str(Path(home) / "bin" / "nvcc") if home else None):
        path = shutil.which(name) if name else None
        if path:
            return CudaCompiler("nvcc", Path(path))
    library = find_nvrtc(None if cuda is None else cuda // 1000)
    return None if library is None else CudaCompiler("nvrtc", library)


def build_device_library(
    low: Lowered,
    method: str,
    precision: str = "double",
    capability: int | None = None,
    *,
    ledger: bool = False,
    crew: int = 1,
    chosen: CudaCompiler | None = None,
) -> Path:
    """Return the file of a system's kernels, compiled once and kept in the cache.

    method: of integration; only this one is compiled. precision: 'double' or 'single'. capability: of the
    card it is for (90 for 9.0); None compiles the same text for the processor, which runs it thread by
    thread: for tests. ledger: whether runs keep an account of energy. crew: how many
    threads do the long functions of each run together. chosen: the compiler; found by default. Without
    one, kernels are taken that the cache has of another compiler, of another machine (`compile_for_card`).
    Raises `DeviceError` for a system or method that no card runs, `CompileError` where there is neither a
    compiler nor such kernels, or it fails.
    """
    check_device_model(low)
    if precision not in PRECISIONS:
        raise DeviceError(f"precision '{precision}' is unknown: allowed are {', '.join(PRECISIONS)}")
    runtime, generator = runtime_and_digest(method)
    low = low if ledger else low.without_account
    precision_flags = ("-DSTRUT_FLOAT",) if precision == "single" else ()

    def sources() -> dict[str, str]:
        with pause_gc():
            return {**runtime, UNIT_FILE: device_text(low, method, crew)}

    title = f"{low.name} for a graphics card"
    if capability is None:
        cc = compiler()
        if cc is None:
            raise CompileError("no C compiler found: install gcc or clang, or set CC")
        flags = (*EMULATION_FLAGS, *precision_flags)
        return build(
            key_of(low.digest + generator + str(crew), cc, flags=flags),
            sources,
            UNIT_FILE,
            cc,
            title,
            flags=flags,
        )
    chosen = chosen or find_cuda_compiler()
    content = f"{kernels_of(capability)} {precision} {crew} {low.digest} {generator}"
    if chosen is None:
        path = find_content(content)
        if path is None:
            raise CompileError(NO_CUDA_COMPILER)
        return path
    flags = (*CUDA_FLAGS, *(NVCC_FLAGS if chosen.kind == "nvcc" else ()), f"-arch=sm_{capability}")
    flags = (*flags, *precision_flags)
    cc = (str(chosen.path),)
    produce = _nvcc_step(chosen.path, flags) if chosen.kind == "nvcc" else _nvrtc_step(chosen.path, flags)
    return build(
        key_of(low.digest + generator + str(crew), cc, flags=flags),
        sources,
        UNIT_FILE,
        cc,
        title,
        flags=flags,
        produce=produce,
        content=content,
    )


def kernels_of(capability: int) -> str:
    """Return how the content of kernels for cards of a compute capability (90 for 9.0) begins."""
    return f"kernels of sm_{capability}"


def read_capability(text: str) -> int:
    """Return the compute capability (90) that a text names: '9.0', 'sm_90' or '90'. Raises `DeviceError` for
    any other."""
    match = re.fullmatch(r"(?:sm_)?(\d{1,2})\.?(\d)", text)
    if match is None:
        raise DeviceError(
            f"'{text}' is no compute capability of a card: give it as 9.0 or sm_90 (nvidia-smi --query-gpu="
            f"compute_cap --format=csv tells that of a card)"
        )
    return 10 * int(match[1]) + int(match[2])


Produce = Callable[[Path, Path], None]
"""Compiles the unit in a folder into a file."""


def _nvcc_step(nvcc: Path, flags: tuple[str, ...]) -> Produce:
    """Return what compiles with nvcc. Raises `CompileError` where it fails."""

    def produce(folder: Path, product: Path) -> None:
        command = [str(nvcc), *flags, "-o", str(product), str(folder / UNIT_FILE)]
        try:
            process = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CompileError(
                f"the CUDA compiler {nvcc} could not be started ({error.strerror}): set NVCC to one that "
                f"works"
            ) from error
        if process.returncode != 0:
            raise CompileError(f"{nvcc} could not compile the generated C:\n{process.stderr[:2000]}")
        if not product.is_file() or not product.read_bytes().startswith(ELF_MAGIC):
            raise CompileError(f"'{nvcc}' ended well but wrote no machine code: set NVCC to a CUDA compiler")

    return produce


def _nvrtc_step(library: Path, flags: tuple[str, ...]) -> Produce:
    """Return what compiles with NVRTC. Raises `CompileError` where it fails."""

    def produce(folder: Path, path: Path) -> None:
        headers = {header.name: header.read_text() for header in folder.glob("*.h")}
        path.write_bytes(Nvrtc(library).compile((folder / UNIT_FILE).read_text(), headers, flags))

    return produce


MIN_CREW_INSTRUCTIONS = 30_000
"""Instructions of the longest function of a step from which on four threads do a run faster than one, in
double precision. Measured on an H200: with 45,000 they are 1.5 times as fast, 3 times with many events; with
15,000 they take 1.6 times as long. In single precision one thread is faster."""
CREW_MEMORY = 8 * RUNS_PER_BLOCK * NEAR_NUMBERS
"""[bytes] Memory of a multiprocessor that the threads of a crew share, at most."""
SHARED_BYTES = {80: 163 << 10, 87: 163 << 10, 90: 227 << 10, 100: 227 << 10, 103: 227 << 10}
"""[bytes] What threads of a block can share, by compute capability; 99 KiB of others."""
LEAST_SHARED_BYTES = 99 << 10
"""[bytes] Of cards that are not among these."""
BEST_CREW = 4
"""Threads that do each run of such a system: as many as a multiprocessor has schedulers."""


def absent_card(capability: int) -> Card:
    """Return what is known of cards of a compute capability (90 for 9.0), of which none need be here."""
    name = f"compute capability {capability // 10}.{capability % 10}"
    shared = SHARED_BYTES.get(capability, LEAST_SHARED_BYTES)
    return Card(name=name, multiprocessors=0, capability=capability, cuda=0, shared=shared)


def choose_crew(low: Lowered, card: Card, precision: str) -> int:
    """Return how many threads do each run of a system fastest on a card: several where functions are so long
    that the numbers of as many runs as there are threads overflow its caches."""
    if low.looped or precision == "single":
        return 1
    size = low.sizes
    handed_over = 3 * size["NX"] + 2 * size["NG"] + size["NZ"] + size["NU"] + size["NP"]
    longest = max(low.functions[name].n_instructions() for name in ("flow", "guards_and_rates"))
    has_room = handed_over < NEAR_NUMBERS // 2 and card.shared >= CREW_MEMORY
    return BEST_CREW if longest >= MIN_CREW_INSTRUCTIONS and has_room else 1


def check_device_model(low: Lowered) -> None:
    """Raise `DeviceError` for a system whose runs need memory that grows, which threads of a card do not
    have."""
    if low.sizes["ND"]:
        raise DeviceError(
            f"system '{low.name}' has delays, whose history a thread of a graphics card has no memory for: "
            f"use device='cpu'"
        )


__all__ = [
    "CREWS",
    "NO_CUDA_COMPILER",
    "PRECISIONS",
    "CudaCompiler",
    "absent_card",
    "build_device_library",
    "check_device_model",
    "choose_crew",
    "find_cuda_compiler",
    "kernels_of",
    "read_capability",
]
