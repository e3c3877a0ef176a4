"""`DeviceLibrary`: the kernels of a system on a graphics card, and the memory that their runs have there."""

from __future__ import annotations

import ctypes
import time as clock
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ctypes import c_int64, c_uint64
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strut.codegen.cuda_driver import Card, CardKernel, Driver
from strut.codegen.native import Many
from strut.errors import DeviceError

THREADS_PER_BLOCK = 64
"""Threads of a block: two warps, so that few registers of a block are left unused by long kernels."""
WARP = 32
"""Threads of a warp."""
SUMMARY_BLOCKS = 64
"""Blocks that sum up a population: enough to read its results as fast as memory gives them."""
MEMORY_SHARE = 0.8
"""[1] The part of a card's free memory that one launch takes at most."""
NAN_BYTE = 0xFF
"""Every byte of a double that is not a number (NaN)."""
ALIGNMENT = 256
"""[bytes] What addresses of arrays on a card are multiples of."""

ACCOUNT = np.dtype(
    [
        *[(name, "f8") for name in ("count", "mean", "squares", "least", "most")],
        ("least_run", "i8"),
        ("most_run", "i8"),
    ]
)
"""`strut_account`: of one output over some runs their number, mean, sum of squared differences from it,
extremes, and which runs had them."""


@dataclass(frozen=True)
class RunArray:
    """An array of a batch: its field of `Many`, bytes of a row, whether each run has one, and whether it is a
    result."""

    field: str
    row: int
    per_run: bool
    result: bool

    def size(self, runs: int) -> int:
        """Return its bytes, for so many runs."""
        return self.row * (runs if self.per_run else 1)


def run_arrays(many: Many, sizes: Mapping[str, int]) -> list[RunArray]:
    """Return the arrays of a batch; those that it does not want are left out."""
    starts = (
        ("x0", "x_stride", "NX"),
        ("z0", "z_stride", "NZ"),
        ("u", "u_stride", "NU"),
        ("p", "p_stride", "NP"),
    )
    outputs = many.n_stops * many.n_wanted
    results = {"t": 8, "x": 8 * sizes["NX"], "z": 8 * sizes["NZ"], "y": 8 * outputs}
    results |= {"work": 8 * sizes["NW"]} if many.work else {}
    results |= {"lost": 8 * sizes["NL"]} if many.lost else {}
    results |= {"counts": 8 * sizes["NJ"], "steps": 8, "status": 4, "cause": 4, "culprit": 4}
    return [
        RunArray("stops", 8 * many.n_stops, False, False),
        RunArray("wanted", 4 * many.n_wanted, False, False),
        *(RunArray(f, 8 * sizes[n], bool(getattr(many, stride)), False) for f, stride, n in starts),
        *(RunArray(field, row, True, True) for field, row in results.items()),
    ]


@dataclass(frozen=True)
class PopulationAccount:
    """What the runs of a launch were, in few numbers: how many had each ending (by status, then by the event
    that ended them), and accounts of every wanted output (`ACCOUNT`), a row for each share of the runs."""

    endings: np.ndarray
    accounts: np.ndarray


def load_library(path: Path, sizes: Mapping[str, int], driver: Driver) -> DeviceLibrary:
    """Return the kernels of a file on the card of a driver, which keeps them there for the next batch."""
    library = driver.libraries.get(path)
    if library is None:
        library = driver.libraries[path] = DeviceLibrary(path, sizes, driver)
    return library


class DeviceLibrary:
    """The kernels of a system, on a card. sizes: of the system, as it was compiled."""

    def __init__(self, path: Path, sizes: Mapping[str, int], driver: Driver) -> None:
        self.driver, self.sizes = driver, sizes
        module = driver.load(path)
        self.kernel: CardKernel = driver.kernel(module, "strut_do_runs")
        self.summary_kernel = driver.kernel(module, "strut_summarise")
        self.crew, near, self.far, groups = self._ask_crew(driver.kernel(module, "strut_tell_crew"))
        self.runs_per_block = WARP * groups if self.crew > 1 else THREADS_PER_BLOCK
        self.threads = self.runs_per_block * max(1, self.crew)
        self.shared = self.runs_per_block * near
        if self.shared > driver.card.shared:
            raise DeviceError(
                f"{self.crew} threads that do a run together share {self.shared // 1024} KiB with those of "
                f"their block, and {driver.card.name} has {driver.card.shared // 1024} KiB: use crew=1"
            )
        if self.shared:
            driver.allow_shared(self.kernel, self.shared)
        self.blocks = max(1, driver.blocks_per_multiprocessor(self.kernel, self.threads, self.shared))
        self.seconds_on_card = 0.0

    def _ask_crew(self, kernel: CardKernel) -> tuple[int, int, int, int]:
        """Return how many members a crew has, how much memory of each run they share near and far [bytes],
        and how many warps a member has."""
        answer = np.zeros(4, dtype=np.int64)
        with self.room(answer.nbytes) as (place,):
            self.driver.launch(kernel, 1, 1, (c_uint64(place),))
            self.driver.fetch(answer.ctypes.data, place, answer.nbytes)
        crew, near, far, groups = answer.tolist()
        return crew, near, far, groups

    @property
    def card(self) -> Card:
        """The card."""
        return self.driver.card

    @property
    def way(self) -> str:
        """The card's name and, where several threads do each run, how many."""
        return f"{self.card.name}, crews of {self.crew}" if self.crew > 1 else self.card.name

    def memory_needed(self, many: Many, runs: int) -> int:
        """Return how much memory some runs take on the card, besides the threads' own [bytes]."""
        arrays = sum(_round_up(array.size(runs)) for array in run_arrays(many, self.sizes))
        return arrays + _round_up(4 * runs) + _round_up(self.far_size)

    @property
    def far_size(self) -> int:
        """Memory that crews share besides that of their multiprocessors [bytes]."""
        return self.card.multiprocessors * self.blocks * self.runs_per_block * self.far

    def runs_per_launch(self, many: Many, runs: int) -> int:
        """Return how many runs fit into the card's memory at once. Raises `DeviceError` if not even one
        does."""
        one, all_runs = self.memory_needed(many, 1), self.memory_needed(many, 1 + runs)
        per_run, free = max(1, -(-(all_runs - one) // max(1, runs))), self.driver.free_memory()
        room = int(MEMORY_SHARE * free) - one
        if room < per_run:
            raise DeviceError(
                f"one run takes {one / 2**20:.3g} MiB of memory, and {self.card.name} has "
                f"{free / 2**20:.3g} MiB free: use device='cpu', or fewer times in at=..."
            )
        return int(max(1, min(runs, room // per_run)))

    @property
    def runs_at_once(self) -> int:
        """How many runs fill the card."""
        return max(1, self.card.multiprocessors * self.blocks * self.runs_per_block)

    def launch_shape(self, runs: int) -> tuple[int, int]:
        """Return how many blocks do some runs, and how many threads each has. Runs that do not fill the card
        are in blocks of one warp, so that more multiprocessors have some."""
        many = self.card.multiprocessors
        if self.crew <= 1 and runs <= many * THREADS_PER_BLOCK:
            return max(1, min(-(-runs // WARP), many * self.blocks)), WARP
        needed = -(-runs // self.runs_per_block)
        return max(1, min(needed, many * self.blocks)), self.threads

    @contextmanager
    def rows_on_card(self, options: np.ndarray, many: Many, begin: int, end: int) -> Iterator[RowsOnCard]:
        """The runs from one number to before another, on the card until the block ends; none is done yet."""
        runs, arrays = end - begin, run_arrays(many, self.sizes)
        sizes = [array.size(runs) for array in arrays]
        with self.room(8, 4 * runs, self.far_size, *sizes) as (counter, order, far, *places):
            there = Many.from_buffer_copy(many)
            there.history, there.capacity, there.lane = None, 0, None
            for array, place in zip(arrays, places, strict=True):
                setattr(there, array.field, place)
                if array.result:  # as of a run that is not done: outputs are no numbers, others zero
                    self.driver.fill(place, array.size(runs), NAN_BYTE if array.field == "y" else 0)
                else:
                    host = (getattr(many, array.field) or 0) + (begin * array.row if array.per_run else 0)
                    self.driver.send(place, host, array.size(runs))
            yield RowsOnCard(self, options, many, there, begin, runs, order, counter, far)

    @contextmanager
    def room(self, *sizes: int) -> Iterator[list[int]]:
        """Places on the card of so many bytes each, given back when the block ends."""
        ends = np.cumsum([_round_up(size) for size in sizes])
        at = self.driver.allocate(int(ends[-1]))
        try:
            yield [at, *(at + int(end) for end in ends[:-1])]
        finally:
            self.driver.release(at)


@dataclass(frozen=True, eq=False)
class RowsOnCard:
    """Runs of a batch whose rows lie on the card: `many` here and there, the number of the first, how many,
    and memory there for the order in which they are done, a counter, and what crews share."""

    library: DeviceLibrary
    options: np.ndarray
    many: Many
    there: Many
    begin: int
    runs: int
    order_at: int
    counter_at: int
    far_at: int

    def give_order(self, order: np.ndarray) -> None:
        """Say in which order runs are done, by their numbers among these."""
        order = np.ascontiguousarray(order, dtype=np.int32)
        self.library.driver.send(self.order_at, order.ctypes.data, order.nbytes)

    def do_runs(self, begin: int, end: int, *, ordered: bool = False) -> None:
        """Do the runs from one place of the order to before another; without an order the place is the
        number. Raises `DriverError` if the card fails."""
        library, driver = self.library, self.library.driver
        first = np.array([begin], dtype=np.uint64)
        driver.send(self.counter_at, first.ctypes.data, first.nbytes)
        numbers = (ctypes.c_double * len(self.options))(*self.options)
        arguments = (
            numbers,
            self.there,
            c_int64(self.begin),
            c_uint64(self.order_at if ordered else 0),
            c_int64(end),
            c_uint64(self.counter_at),
            c_uint64(self.far_at),
        )
        blocks, threads = library.launch_shape(end - begin)
        began = clock.perf_counter()
        driver.launch(library.kernel, blocks, threads, arguments, shared=library.shared)
        library.seconds_on_card += clock.perf_counter() - began

    def fetch_results(self) -> None:
        """Copy the results into their rows here; a run that was not done has status 0."""
        for array in run_arrays(self.many, self.library.sizes):
            if array.result:
                host = getattr(self.many, array.field) + self.begin * array.row
                self.library.driver.fetch(host, getattr(self.there, array.field), array.size(self.runs))

    def sum_up(self, is_good: np.ndarray, statuses: int) -> PopulationAccount:
        """Return an account of the results, made on the card.

        is_good: by ending, whether outputs of such a run count. statuses: how many endings are no events.
        """
        driver, outputs = self.library.driver, self.many.n_wanted
        endings = np.zeros(len(is_good), dtype=np.uint64)
        accounts = np.zeros((SUMMARY_BLOCKS * THREADS_PER_BLOCK, outputs), dtype=ACCOUNT)
        good = np.ascontiguousarray(is_good, dtype=np.uint8)
        arrays: tuple[np.ndarray, ...] = (good, endings, accounts)
        with self.library.room(*[array.nbytes for array in arrays]) as places:
            for array, place in zip(arrays, places, strict=True):
                driver.send(place, array.ctypes.data, array.nbytes)
            numbers = (c_int64(self.begin), c_int64(self.runs), c_int64(statuses))
            addresses = [c_uint64(place) for place in places]
            driver.launch(
                self.library.summary_kernel,
                SUMMARY_BLOCKS,
                THREADS_PER_BLOCK,
                (self.there, *numbers, *addresses),
            )
            for array, place in zip(arrays[1:], places[1:], strict=True):
                driver.fetch(array.ctypes.data, place, array.nbytes)
        return PopulationAccount(endings.astype(np.int64), accounts)


def _round_up(size: int) -> int:
    """Bytes, rounded up to where the next array may begin."""
    return max(1, -(-size // ALIGNMENT)) * ALIGNMENT


__all__ = ["ACCOUNT", "DeviceLibrary", "PopulationAccount", "RowsOnCard", "load_library"]
