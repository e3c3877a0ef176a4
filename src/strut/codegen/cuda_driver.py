"""The driver of graphics cards (CUDA's driver API), through ctypes: the card, its memory, and kernels on it.

Nothing else of CUDA is needed to run what was compiled."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strut.errors import DeviceError

DRIVER_LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
"""The driver's own library, which comes with it."""
MAX_NAME_LENGTH = 256
"""Characters of a card's name, at most."""

NO_MEMORY = 2
"""Number of the error CUDA_ERROR_OUT_OF_MEMORY."""
NO_DEVICE = 100
"""Number of the error CUDA_ERROR_NO_DEVICE."""
TOO_OLD_ERRORS = (35, 200, 209, 218, 222, 223, 803, 804)
"""Numbers of the errors of a driver that does not know the code, or the library, that it is given:
insufficient driver, invalid image, no binary for this card, invalid or unsupported PTX, mismatch with the
kernel's part of the driver."""

FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "cuInit": (c_uint,),
    "cuDriverGetVersion": (POINTER(c_int),),
    "cuDeviceGet": (POINTER(c_int), c_int),
    "cuDeviceGetName": (c_char_p, c_int, c_int),
    "cuDeviceGetAttribute": (POINTER(c_int), c_int, c_int),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxSetCurrent": (c_void_p,),
    "cuStreamSynchronize": (c_void_p,),
    "cuMemGetInfo_v2": (POINTER(c_size_t), POINTER(c_size_t)),
    "cuMemAllocAsync": (POINTER(c_uint64), c_size_t, c_void_p),
    "cuMemFreeAsync": (c_uint64, c_void_p),
    "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
    "cuMemcpyDtoHAsync_v2": (c_void_p, c_uint64, c_size_t, c_void_p),
    "cuMemsetD8Async": (c_uint64, ctypes.c_ubyte, c_size_t, c_void_p),
    "cuModuleLoad": (POINTER(c_void_p), c_char_p),
    "cuModuleGetFunction": (POINTER(c_void_p), c_void_p, c_char_p),
    "cuFuncGetAttribute": (POINTER(c_int), c_int, c_void_p),
    "cuFuncSetAttribute": (c_void_p, c_int, c_int),
    "cuOccupancyMaxActiveBlocksPerMultiprocessor": (POINTER(c_int), c_void_p, c_int, c_size_t),
    "cuLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, POINTER(c_void_p), c_void_p),
}
"""Every function of the driver that is called, with the types of its arguments."""

THREAD_STREAM = c_void_p(2)
"""Handle of the stream that each thread of the processor has (CU_STREAM_PER_THREAD): what a thread gives to
the card is done in order, and what several give side by side."""
CAPABILITY_MAJOR, CAPABILITY_MINOR, MULTIPROCESSORS, BLOCK_SHARED = 75, 76, 16, 97
"""Numbers of attributes of a card."""
LOCAL_BYTES, REGISTERS, MAX_SHARED_BYTES = 3, 4, 8
"""Numbers of attributes of a kernel."""


class DriverError(DeviceError):
    """An error of the driver, with its number (0 if there is none)."""

    number: int = 0


@dataclass(frozen=True)
class Card:
    """A graphics card: its name, multiprocessors, compute capability (90 for 9.0), the version of CUDA that
    its driver knows (13.0 is 13000), and how much memory the threads of a block can share [bytes]."""

    name: str
    multiprocessors: int
    capability: int
    cuda: int
    shared: int

    @property
    def cuda_words(self) -> str:
        """The version of CUDA that the driver knows, in words."""
        return f"{self.cuda // 1000}.{self.cuda % 1000 // 10}"


@dataclass(frozen=True)
class CardKernel:
    """A kernel on a card: its handle, registers and local memory [bytes] of one of its threads."""

    handle: c_void_p
    registers: int
    local: int


class Driver:
    """The driver, with the first card."""

    def __init__(self, name: str = DRIVER_LIBRARY) -> None:
        try:
            self.library = ctypes.CDLL(name)
        except OSError as error:
            raise DeviceError(f"no graphics card with CUDA answers (there is no driver, {name})") from error
        for function, arguments in FUNCTIONS.items():
            entry = getattr(self.library, function, None)
            if entry is None:
                raise DeviceError(
                    f"the driver of the graphics card is too old: it has no {function}; install a newer one"
                )
            entry.argtypes, entry.restype = arguments, c_int
        self.device = c_int()
        context = c_void_p()
        try:
            self.call("cuInit", 0)
            self.call("cuDeviceGet", byref(self.device), 0)
            self.card = self._read_card()
            self.call("cuDevicePrimaryCtxRetain", byref(context), self.device)
        except DriverError as error:
            if error.number in TOO_OLD_ERRORS:
                raise DeviceError(
                    f"the driver of the graphics card is too old, or not the one that is running ({error}): "
                    f"install a newer one and restart"
                ) from error
            raise DeviceError(f"no graphics card with CUDA answers ({error})") from error
        self.context = context
        self.libraries: dict[Path, Any] = {}  # what is loaded, by its file: see `load_library`

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises `DriverError`."""
        number = getattr(self.library, function)(*arguments)
        if number:
            error = DriverError(f"{self.words(number)}, error {number} of {function}")
            error.number = number
            raise error

    def words(self, number: int) -> str:
        """What an error means, in the driver's words."""
        text, lookup = c_char_p(), getattr(self.library, "cuGetErrorString", None)
        if lookup is None or lookup(number, byref(text)) or not text.value:
            return "an error that the driver has no words for"
        return text.value.decode(errors="replace")

    def integer(self, function: str, *arguments: Any) -> int:
        """Return what a function writes through its first argument."""
        number = c_int()
        self.call(function, byref(number), *arguments)
        return number.value

    def _read_card(self) -> Card:
        name = ctypes.create_string_buffer(MAX_NAME_LENGTH)
        self.call("cuDeviceGetName", name, MAX_NAME_LENGTH, self.device)
        major, minor, multiprocessors, shared = (
            self.integer("cuDeviceGetAttribute", attribute, self.device)
            for attribute in (CAPABILITY_MAJOR, CAPABILITY_MINOR, MULTIPROCESSORS, BLOCK_SHARED)
        )
        return Card(
            name=name.value.decode(errors="replace"),
            multiprocessors=multiprocessors,
            capability=10 * major + minor,
            cuda=self.integer("cuDriverGetVersion"),
            shared=shared,
        )

    def use(self) -> None:
        """Make the card's context that of this thread."""
        self.call("cuCtxSetCurrent", self.context)

    def free_memory(self) -> int:
        """Return how much of the card's memory is free [bytes]."""
        free, total = c_size_t(), c_size_t()
        self.call("cuMemGetInfo_v2", byref(free), byref(total))
        return free.value

    def load(self, path: Path) -> c_void_p:
        """Return the module of a file with compiled kernels. Raises `DeviceError` where the driver is too old
        for it."""
        module = c_void_p()
        try:
            self.call("cuModuleLoad", byref(module), str(path).encode())
        except DriverError as error:
            if error.number in TOO_OLD_ERRORS:
                raise DeviceError(
                    f"the driver of {self.card.name} knows CUDA {self.card.cuda_words}, and does not take "
                    f"what the compiler made ({error}): install a newer driver, or a compiler that is not "
                    f"newer than it"
                ) from error
            raise
        return module

    def kernel(self, module: c_void_p, name: str) -> CardKernel:
        """Return a kernel of a module."""
        handle = c_void_p()
        self.call("cuModuleGetFunction", byref(handle), module, name.encode())
        registers, local = (
            self.integer("cuFuncGetAttribute", attribute, handle) for attribute in (REGISTERS, LOCAL_BYTES)
        )
        return CardKernel(handle, registers, local)

    def blocks_per_multiprocessor(self, kernel: CardKernel, threads: int, shared: int = 0) -> int:
        """Return how many blocks of a kernel, of so many threads that share so many bytes, a multiprocessor
        holds at once."""
        function = "cuOccupancyMaxActiveBlocksPerMultiprocessor"
        return self.integer(function, kernel.handle, threads, shared)

    def allow_shared(self, kernel: CardKernel, size: int) -> None:
        """Let the threads of a block share so many bytes. Raises `DriverError` where a multiprocessor has
        fewer."""
        self.call("cuFuncSetAttribute", kernel.handle, MAX_SHARED_BYTES, size)

    def allocate(self, size: int) -> int:
        """Return the address of so many bytes of the card's memory."""
        at = c_uint64()
        self.call("cuMemAllocAsync", byref(at), max(1, size), THREAD_STREAM)
        return at.value

    def release(self, at: int) -> None:
        """Give memory back, without waiting for what other threads do. A card that has failed has none to
        give back."""
        self.library.cuMemFreeAsync(at, THREAD_STREAM)

    def send(self, to: int, source: int, size: int) -> None:
        """Copy bytes from here to the card; they may change once it returns."""
        if size:
            self.call("cuMemcpyHtoDAsync_v2", to, source, size, THREAD_STREAM)

    def fetch(self, to: int, source: int, size: int) -> None:
        """Copy bytes from the card to here."""
        if size:
            self.call("cuMemcpyDtoHAsync_v2", to, source, size, THREAD_STREAM)
            self.call("cuStreamSynchronize", THREAD_STREAM)

    def fill(self, at: int, size: int, byte: int = 0) -> None:
        """Set bytes of the card's memory."""
        if size:
            self.call("cuMemsetD8Async", at, byte, size, THREAD_STREAM)

    def launch(
        self, kernel: CardKernel, blocks: int, threads: int, arguments: Sequence[Any], *, shared: int = 0
    ) -> None:
        """Run a kernel and wait for its end; those of other threads run beside it.

        arguments: ctypes objects, in its order. shared: bytes that the threads of a block share."""
        addresses = (c_void_p * len(arguments))(*[ctypes.addressof(a) for a in arguments])
        shape = (blocks, 1, 1, threads, 1, 1, shared)
        self.call("cuLaunchKernel", kernel.handle, *shape, THREAD_STREAM, addresses, None)
        self.call("cuStreamSynchronize", THREAD_STREAM)


@functools.cache
def _open(name: str) -> Driver:
    return Driver(name)


def open_driver() -> Driver:
    """Return the driver with the first card. Raises `DeviceError` where there is none, or it is too old."""
    driver = _open(DRIVER_LIBRARY)
    driver.use()
    return driver


def forget_driver() -> None:
    """Forget the driver, after its card has failed: the next batch asks anew."""
    _open.cache_clear()


__all__ = ["NO_MEMORY", "Card", "CardKernel", "Driver", "DriverError", "forget_driver", "open_driver"]
