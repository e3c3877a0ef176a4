"""`RowFunction`: a CasADi function of many rows at once, in blocks, through memory that both sides share."""

from __future__ import annotations

import casadi as ca
import numpy as np

BLOCK_ROWS = 64
"""Rows that are evaluated by one call."""


class RowFunction:
    """Evaluates a function for every row of its arguments.

    function: of columns, with dense results. Called with arrays of one row for each evaluation; returns
    arrays of as many rows, each a result's elements column by column.
    """

    def __init__(self, function: ca.Function) -> None:
        self._function = function.map(BLOCK_ROWS)  # kept alive for its buffer
        self._arguments = [np.zeros((BLOCK_ROWS, function.nnz_in(k))) for k in range(function.n_in())]
        self._results = [np.zeros((BLOCK_ROWS, function.nnz_out(k))) for k in range(function.n_out())]
        buffer, self._evaluate = self._function.buffer()
        for k, array in enumerate(self._arguments):
            buffer.set_arg(k, array.reshape(-1).data)
        for k, array in enumerate(self._results):
            buffer.set_res(k, array.reshape(-1).data)
        self._buffer = buffer

    def __call__(self, *columns: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the results for rows of arguments."""
        count = len(columns[0])
        results = tuple(np.empty((count, array.shape[1])) for array in self._results)
        for begin in range(0, count, BLOCK_ROWS):
            size = min(BLOCK_ROWS, count - begin)
            # the rows of a block that is not full keep what was there: they are not read
            for own, column in zip(self._arguments, columns, strict=True):
                own[:size] = column[begin : begin + size]
            self._evaluate()
            for result, own in zip(results, self._results, strict=True):
                result[begin : begin + size] = own[:size]
        return results


__all__ = ["RowFunction"]
