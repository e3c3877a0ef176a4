"""NVRTC, CUDA's compiler as a library: where only the driver is installed, it comes from a wheel
(`nvidia-cuda-nvrtc`, the extra `strut[cuda]`)."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

from strut.errors import CompileError

MAX_LOG = 2000
"""Characters of the compiler's log that an error shows."""
LIBRARY_FILES = ("*/lib/libnvrtc.so.*", "*/bin/nvrtc64_*.dll", "*/bin/x86_64/nvrtc64_*.dll")
"""Where the wheels have the library, within the package `nvidia`; first Linux, then Windows."""


def find_nvrtc(newest: int | None = None) -> Path | None:
    """Return the library of NVRTC: of a wheel, of $CUDA_HOME, or of the system; None if there is none.

    newest: the major version of CUDA that the driver knows; a later one is left, unless there is no other.
    """
    libraries = sorted(_libraries(), key=_major, reverse=True)
    fitting = [path for path in libraries if newest is None or _major(path) <= newest]
    return next(iter([*fitting, *libraries]), None)


def _libraries() -> Iterator[Path]:
    """Every NVRTC that is there."""
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for pattern in LIBRARY_FILES:
            yield from (
                p for p in Path(folder).glob(pattern) if "builtins" not in p.name and "alt" not in p.name
            )
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")):
        if home:
            yield from Path(home).glob("lib64/libnvrtc.so.*")
    system = ctypes.util.find_library("nvrtc")
    if system:
        yield Path(system)


def _major(path: Path) -> int:
    """The major version in the name of a library: libnvrtc.so.13, nvrtc64_130_0.dll; 0 if it has none."""
    number = re.search(r"\.so\.(\d+)|nvrtc64_(\d+)\d_", path.name)
    return int(number[1] or number[2]) if number else 0


class Nvrtc:
    """NVRTC, seen from Python."""

    def __init__(self, path: Path) -> None:
        try:
            self.library = ctypes.CDLL(str(path))
        except OSError as error:
            raise CompileError(
                f"NVRTC, {path}, cannot be loaded ({error}): install the wheel nvidia-cuda-nvrtc again"
            ) from error
        self.library.nvrtcGetErrorString.restype = c_char_p
        for name in ("nvrtcGetProgramLogSize", "nvrtcGetCUBINSize"):
            getattr(self.library, name).argtypes = [c_void_p, POINTER(c_size_t)]
        for name in ("nvrtcGetProgramLog", "nvrtcGetCUBIN"):
            getattr(self.library, name).argtypes = [c_void_p, c_char_p]

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of NVRTC. Raises `CompileError`."""
        number = getattr(self.library, function)(*arguments)
        if number:
            words = self.library.nvrtcGetErrorString(number).decode(errors="replace")
            raise CompileError(f"NVRTC failed in {function}: {words}")

    def compile(self, source: str, headers: Mapping[str, str], options: Sequence[str]) -> bytes:
        """Return the machine code of a unit. Raises `CompileError` with the compiler's log."""
        program = c_void_p()
        texts = (c_char_p * len(headers))(*[text.encode() for text in headers.values()])
        names = (c_char_p * len(headers))(*[name.encode() for name in headers])
        self.call(
            "nvrtcCreateProgram", byref(program), source.encode(), b"model.cu", len(headers), texts, names
        )
        try:
            flags = (c_char_p * len(options))(*[option.encode() for option in options])
            number = self.library.nvrtcCompileProgram(program, c_int(len(options)), flags)
            if number:
                log = self._text(program, "nvrtcGetProgramLog").decode(errors="replace")
                words = self.library.nvrtcGetErrorString(number).decode(errors="replace")
                raise CompileError(f"NVRTC could not compile the generated C: {words}\n{log[:MAX_LOG]}")
            return self._text(program, "nvrtcGetCUBIN")
        finally:
            self.library.nvrtcDestroyProgram(byref(program))

    def _text(self, program: c_void_p, function: str) -> bytes:
        """What a function of NVRTC writes, whose size another one tells."""
        size = c_size_t()
        self.call(f"{function}Size", program, byref(size))
        text = ctypes.create_string_buffer(size.value)
        self.call(function, program, text)
        return text.raw


__all__ = ["Nvrtc", "find_nvrtc"]
