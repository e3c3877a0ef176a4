"""The solver of quadratic programs as a compiled library: daqp's C source with our checks around it (see
`qp/strut_qp.h`), built once and used by compiled controllers, and from Python as their reference."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import numpy as np

from strut.codegen.backends import required_compiler
from strut.codegen.cache import FLAGS, build, key_of
from strut.codegen.native import address
from strut.errors import CompileError

SOLVER = Path(__file__).parent / "third_party" / "daqp"
"""daqp, unchanged, under its own licence."""
CHECKS = Path(__file__).parent / "qp"
"""Our C around it."""
SOLVER_UNITS = (
    "auxiliary.c",
    "factorization.c",
    "utils.c",
    "eq_elim.c",
    "avi.c",
    "bnb.c",
    "hierarchical.c",
    "daqp_prox.c",
    "daqp.c",
    "api.c",
)
"""daqp's C files, in an order in which they can be one unit."""
SOLVER_FLAGS = tuple("-O3" if flag == "-O2" else flag for flag in FLAGS if flag != "-fvisibility=hidden")
"""Of the compiler: dense loops over short vectors gain by -O3."""


class QpStatus(IntEnum):
    """How a quadratic program ended: `strut_qp_status`, and what a controller adds to it."""

    SOLVED = 0
    RETRIED = 1
    RELAXED = 2
    FAILED = 3
    BAD_DATA = 4
    BAD_SENSOR = 5
    BAD_COMMAND = 6


class QpReport(ctypes.Structure):
    """How good a solution is: `strut_qp_report`."""

    _fields_ = [
        (name, ctypes.c_double)
        for name in (
            "status",
            "iterations",
            "relaxed",
            "relaxation",
            "missed_row",
            "stationarity",
            "feasibility",
            "complementarity",
        )
    ]


def solver_sources() -> dict[str, str]:
    """The C files of the solver by name: daqp's, its licence, and ours around it."""
    files = {
        path.name: path.read_text()
        for folder in (SOLVER, CHECKS)
        for path in sorted(folder.iterdir())
        if path.suffix in (".c", ".h")
    }
    return files | {"daqp_LICENSE": (SOLVER / "LICENSE").read_text()}


def solver_unit() -> str:
    """The one C text that is the whole solver."""
    return "".join(f'#include "{name}"\n' for name in (*SOLVER_UNITS, "strut_qp.c"))


@functools.cache
def _solver_library() -> ctypes.CDLL:
    cc = required_compiler("native")
    assert cc is not None
    sources = solver_sources()
    key = key_of("\0".join([solver_unit(), *sources.values()]), cc, flags=SOLVER_FLAGS)
    path = build(
        key,
        lambda: {**sources, "all.c": solver_unit()},
        "all.c",
        cc,
        "the solver of quadratic programs",
        flags=SOLVER_FLAGS,
    )
    library = ctypes.CDLL(str(path))
    library.strut_qp_new.restype = ctypes.c_void_p
    library.strut_qp_new.argtypes = [ctypes.c_int] * 3 + [ctypes.c_void_p] * 2 + [ctypes.c_int]
    library.strut_qp_free.argtypes = [ctypes.c_void_p]
    library.strut_qp_free.restype = None
    library.strut_qp_solve.argtypes = [ctypes.c_void_p] * 11
    return library


@dataclass(frozen=True)
class QpShape:
    """The sizes of a quadratic program, and what never changes about it.

    n: variables. levels: of each goal, from 1. ranks: of the bounds of the variables, then of the rows; 0:
    never relaxed. slack: whether goals have variables of their own in the first attempt.
    """

    n: int
    levels: tuple[int, ...]
    ranks: tuple[int, ...]
    slack: bool = False

    @property
    def goals(self) -> int:
        """How many goals there are."""
        return len(self.levels)

    @property
    def rows(self) -> int:
        """How many rows there are besides the bounds."""
        return len(self.ranks) - self.n


class QpSolver:
    """The memory of a solver for programs of one shape. One thread may use it at a time."""

    def __init__(self, shape: QpShape) -> None:
        self.shape, self.library = shape, _solver_library()
        levels = np.array(shape.levels or (0,), dtype=np.int32)
        ranks = np.array(shape.ranks or (0,), dtype=np.int32)
        self.at: int | None = self.library.strut_qp_new(
            shape.n, shape.goals, shape.rows, address(levels), address(ranks), int(shape.slack)
        )
        if not self.at:
            raise CompileError(
                f"no memory for a quadratic program of {shape.n} variables and {shape.rows} rows: free some"
            )

    def __del__(self) -> None:
        if getattr(self, "at", None):
            self.library.strut_qp_free(self.at)
            self.at = None

    @property
    def solve_address(self) -> int:
        """Where the C function `strut_qp_solve` is."""
        return ctypes.cast(self.library.strut_qp_solve, ctypes.c_void_p).value or 0

    def solve(self, *data: Any) -> tuple[np.ndarray, QpReport]:
        """Solve one program from H, g, T, target, w, A, low and up, matrices row by row; see
        `strut_qp.h`. Return the variables and the report."""
        arrays = [np.ascontiguousarray(np.asarray(each, dtype=float)) for each in data]
        y, report = np.zeros(max(self.shape.n, 1)), QpReport()
        self.library.strut_qp_solve(self.at, *map(address, arrays), address(y), ctypes.addressof(report))
        return y[: self.shape.n], report


def solve_qp(  # noqa: PLR0913 the parts of a program, each by its own name
    *,
    H: Any,
    g: Any,
    low: Any,
    up: Any,
    A: Any = (),
    T: Any = (),
    target: Any = (),
    w: Any = (),
    levels: Sequence[int] | None = None,
    ranks: Sequence[int] | None = None,
    slack: bool = False,
) -> tuple[np.ndarray, QpReport]:
    """Solve one quadratic program: minimise y'Hy/2 + g'y + sum w (T y - target)^2 / 2 with low <= (y, A y) <=
    up. Return y and a `QpReport`, whose status is a `QpStatus`."""
    n = len(np.atleast_1d(g))
    goals, rows = len(np.atleast_1d(target)), len(np.atleast_1d(low)) - n
    shape = QpShape(
        n,
        tuple([1] * goals if levels is None else levels),
        tuple([0] * (n + rows) if ranks is None else ranks),
        slack,
    )
    return QpSolver(shape).solve(H, g, T, target, w, A, low, up)


__all__ = ["QpReport", "QpShape", "QpSolver", "QpStatus", "solve_qp", "solver_sources", "solver_unit"]
