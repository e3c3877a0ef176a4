"""A run in compiled code: hand it arrays, collect them when they are full, stay interruptible."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from strut.codegen import Control, Native, Record, RecordingEnd, RunCounter, RunStatus, address, byref
from strut.simulate.options import Hold, Options
from strut.simulate.record import JUMP_FIELDS, STEP_FIELDS, Raw, join_chunks, kind_of, shapes
from strut.system import Start

STEPS_BETWEEN_LOOKS = 50_000
"""Steps between looks at the keyboard: well below a second even for a large machine."""
HISTORY_ROWS = 1024
"""Rows of delay history to begin with; it grows when a run asks for more."""
FIRST_CAPACITY, MAX_CAPACITY = 128, 65536
"""Steps of the first piece of a record, and of the largest; each is four times as long as the one before."""
TICK_SLACK = 1e-12
"""Fraction of a controller's period by which a run may begin after a tick that it still has."""

ArrayPlace = tuple[str, int, int, bool]
"""Where an array of a record lies: its name, its offset and row length in doubles, and whether it has a row
per step (or per jump)."""


class NativeRun:
    """One run of a compiled system, advanced piece by piece."""

    def __init__(self, native: Native, options: Options, start: Start, begin: float, seed: int) -> None:
        self.native, self.options = native, options
        self.lib = native.library
        self.width = native.sizes["NX"] + (native.sizes["NW"] if options.ledger else 0)
        self.rows = shapes(self.width, options.degree, native.sizes)
        sizes = native.sizes
        words = native.sim_size // 8 + 1  # the sim struct, then what `see` reads: t, x, z, u, counts, balance
        ends = list(
            itertools.accumulate([words, 1, self.width, sizes["NZ"], sizes["NU"], len(RunCounter), 2])
        )
        self.memory = np.empty(ends[-1])
        self.at = address(self.memory) or 0
        self.places = [self.at + 8 * end for end in ends[:-1]]
        self.parts = [self.memory[i:j] for i, j in itertools.pairwise(ends)]
        self.parts[4] = self.parts[4].view(np.int64)
        rows = HISTORY_ROWS if sizes["ND"] else 0
        self.history = np.empty((rows, 1 + 2 * sizes["ND"]))
        self.native_options = options.native(dense=True)
        self.lib.strut_begin(
            self.at,
            byref(self.native_options),
            begin,
            address(start.x),
            address(start.z),
            address(start.u),
            address(start.p),
            seed,
            address(self.history) if rows else None,
            rows,
        )
        self.chunks: list[dict[str, np.ndarray]] = []
        self.capacity = FIRST_CAPACITY
        self.control = Control()

    def see(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Report where the run is: time, states (with integrated powers), discrete states, and counters:
        status, cause, steps, rejected, flows, jumps, culprit."""
        self.lib.strut_see(self.at, *self.places)
        t, x, z, _, counts, _ = self.parts
        return float(t[0]), x, z, counts

    def hold(self, u: np.ndarray) -> None:
        """Set the inputs, from now on."""
        self.lib.strut_hold(self.at, address(np.ascontiguousarray(u, dtype=float)))

    def go(self, t_stop: float, progress: Callable[[float], None] | None = None) -> None:
        """Run to `t_stop` or to the end of the run, recording."""
        self.lib.strut_resume(self.at)
        while True:
            record, block, places = self._record(self.capacity, max(16, self.capacity // 4))
            try:
                answer = self.lib.strut_go(
                    self.at, t_stop, byref(record), byref(self.control), STEPS_BETWEEN_LOOKS
                )
            finally:  # an interrupt arrives here, and must not lose what was recorded
                self._keep(record, block, places)
            if answer == RecordingEnd.STOPPED:
                if self.see()[3][RunCounter.STATUS] != RunStatus.NO_HISTORY:
                    return
                longer = np.empty((4 * len(self.history), self.history.shape[1]))
                self.lib.strut_lengthen(self.at, address(longer), len(longer))
                self.history = longer
            self.capacity = min(4 * self.capacity, MAX_CAPACITY)
            if progress:
                progress(self.see()[0])

    def _layout(self, steps: int, jumps: int) -> tuple[int, list[ArrayPlace]]:
        """How many doubles a record takes, and where each of its arrays lies. Made once per model and
        size."""
        key = (steps, jumps, self.width, self.options.degree)
        if key not in self.native.layouts:
            at, places = 0, []
            for name in (*STEP_FIELDS, *JUMP_FIELDS):
                row = math.prod(self.rows[name])
                places.append((name, at, row, name in STEP_FIELDS))
                at += row * (steps if name in STEP_FIELDS else jumps)
            self.native.layouts[key] = (at, places)
        layout: tuple[int, list[ArrayPlace]] = self.native.layouts[key]
        return layout

    def _record(self, steps: int, jumps: int) -> tuple[Record, np.ndarray, list[ArrayPlace]]:
        """A record with room for so many steps and jumps, its memory, and where its arrays lie."""
        size, places = self._layout(steps, jumps)
        block = np.empty(size)
        begin = address(block) or 0
        at = [begin + 8 * offset for _, offset, _, _ in places]
        split = len(STEP_FIELDS)
        return Record(steps, 0, *at[:split], jumps, 0, *at[split:]), block, places

    def _keep(self, record: Record, block: np.ndarray, places: list[ArrayPlace]) -> None:
        """Add what was recorded to the chunks."""
        chunk: dict[str, np.ndarray] = {}
        few = record.steps * 4 < record.steps_capacity  # then keep copies, not views of a mostly empty block
        for name, offset, row, counts_steps in places:
            n = record.steps if counts_steps else record.jumps
            if not n:
                chunk[name] = self._empty(name)
                continue
            piece = block[offset : offset + n * row]
            if few:
                piece = piece.copy()
            chunk[name] = (
                piece.reshape(n, *self.rows[name])
                if kind_of(name) is np.float64
                else piece.view(kind_of(name))[:n]
            )
        self.chunks.append(chunk)

    def _empty(self, name: str) -> np.ndarray:
        """No rows, of the right width; made once per model."""
        key = (name, self.rows[name])
        if key not in self.native.layouts:
            self.native.layouts[key] = np.empty((0, *self.rows[name]), dtype=kind_of(name))
        empty: np.ndarray = self.native.layouts[key]
        return empty

    def raw(self, interrupted: bool = False) -> Raw:
        """The record of the run so far. interrupted: whether it was stopped from the keyboard."""
        t, x, z, counts = self.see()
        if not self.chunks:
            self._keep(*self._record(0, 0))
        counters = {
            counter.name.lower(): int(counts[counter])
            for counter in (RunCounter.STEPS, RunCounter.REJECTED, RunCounter.FLOWS, RunCounter.JUMPS)
        }
        return Raw(
            **join_chunks(self.chunks),
            t_end=t,
            x_end=x,
            z_end=z,
            u_end=self.parts[3],
            status=int(counts[RunCounter.STATUS]),
            cause=int(counts[RunCounter.CAUSE]),
            culprit=int(counts[RunCounter.CULPRIT]),
            interrupted=interrupted,
            counters=counters,
            balance=(float(self.parts[5][0]), float(self.parts[5][1])),
        )


def native_controller(run: NativeRun, hold: Hold, begin: float) -> None:
    """Let the compiled run call a C controller by itself."""
    import ctypes

    run.control.act = ctypes.cast(hold.function, ctypes.c_void_p)  # type: ignore[arg-type]  # `is_native` said so
    run.control.data = hold.data
    run.control.every, run.control.offset = hold.every, hold.offset
    run.control.tick = first_tick(hold, begin)


def first_tick(hold: Hold, begin: float) -> int:
    """The number of a controller's first tick in a run that begins at a time [s]."""
    return int(np.ceil((begin - hold.offset) / hold.every - TICK_SLACK))


def is_native(function: Any) -> bool:
    """Say whether a controller is a C function rather than Python."""
    import ctypes

    return isinstance(function, ctypes._CFuncPtr)  # type: ignore[attr-defined]  # the base of every ctypes function pointer
