"""`BatchTask`: what all runs of a batch have in common, and the arrays into which they write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from strut.codegen import Many, address, integrator_number
from strut.simulate.options import Options
from strut.system import Start

RESULTS = ("t", "x", "z", "y", "work", "lost", "counts", "steps", "status", "cause", "culprit")
"""Arrays of results, in the order of the fields of `Many`."""


def result_arrays(
    sizes: Mapping[str, int], runs: int, stops: int, columns: int, ledger: bool
) -> dict[str, Any]:
    """Return arrays for the results of all runs, a row each; status 0 is that of a run that was not done."""
    return {
        "t": np.zeros(runs),
        "x": np.zeros((runs, sizes["NX"])),
        "z": np.zeros((runs, sizes["NZ"])),
        "y": np.full((runs, stops, columns), np.nan),
        "work": np.zeros((runs, sizes["NW"])) if ledger else None,
        "lost": np.zeros((runs, sizes["NL"])) if ledger else None,
        "counts": np.zeros((runs, sizes["NJ"]), dtype=np.int64),
        "steps": np.zeros(runs, dtype=np.int64),
        "status": np.zeros(runs, dtype=np.int32),
        "cause": np.full(runs, -1, dtype=np.int32),
        "culprit": np.full(runs, -1, dtype=np.int32),
    }


def number_options(options: Options) -> np.ndarray:
    """Return options as compiled code reads them that may have another precision: method, ledger, step,
    max_step, rtol, atol, zeno, max_steps."""
    return np.array(
        [
            integrator_number(options.method),
            options.ledger,
            options.step or 0.0,
            min(options.max_step, 1e300),
            options.rtol,
            options.atol,
            options.zeno,
            options.max_steps,
        ],
        dtype=float,
    )


def _are_alike(rows: np.ndarray) -> bool:
    """Whether all rows are equal; those that are one row in memory are."""
    return rows.strides[0] == 0 or bool((rows[-1] == rows[0]).all() and (rows == rows[0]).all())


@dataclass(frozen=True, eq=False)
class BatchTask:
    """Where the runs of a batch begin, where they stop, which outputs are wanted and where results go.

    columns: indices of the components of outputs. room: arrays of results. at_end: outputs are those at the
    end of a run, whenever that is.
    """

    options: Options
    values: Start
    begin: float
    stops: np.ndarray
    columns: np.ndarray
    room: dict[str, Any]
    seed: int
    at_end: bool

    @cached_property
    def row_widths(self) -> tuple[int, ...]:
        """How far apart the rows of runs are, of x, z, u and p: 0 where all are alike, so that one does for
        all."""
        values = self.values
        return tuple(
            0 if len(rows) and _are_alike(rows) else rows.shape[1]
            for rows in (values.x, values.z, values.u, values.p)
        )

    def many(self, history: np.ndarray | None = None, lane: np.ndarray | None = None) -> Many:
        """Return the batch as compiled code reads it. history: memory for delayed signals, by rows. lane:
        memory for one run."""
        values = self.values
        return Many(
            self.begin,
            address(self.stops),
            address(values.x),
            address(values.z),
            address(values.u),
            address(values.p),
            len(self.stops),
            *self.row_widths,
            self.seed,
            0 if history is None else len(history),
            address(history),
            address(self.columns),
            len(self.columns),
            int(self.at_end),
            *[address(self.room[name]) for name in RESULTS],
            address(lane),
        )


__all__ = ["BatchTask", "number_options", "result_arrays"]
