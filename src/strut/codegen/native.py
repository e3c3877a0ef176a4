"""A compiled system, seen from Python: plain functions over arrays, through ctypes with the interpreter lock
released."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from strut.codegen.lower import JACOBIANS, Lowered
from strut.codegen.runtime.layout import (
    CONTROL,
    CONTROLLER_ARGUMENTS,
    ENTRY_POINTS,
    JACOBIAN_ENTRY,
    MANY,
    OPTIONS,
    RECORD,
    EntryPoint,
    ctypes_type,
)
from strut.codegen.runtime.status import RESULT_SIZES
from strut.codegen.upgrade import Upgrade

FUNCTION_NUMBERS = {name: number for number, name in enumerate(RESULT_SIZES)}
"""The number by which `strut_eval` knows a function of the model."""

CONTROLLER = ctypes.CFUNCTYPE(
    None,
    *(
        ctypes.POINTER(ctypes.c_double) if "double *" in argument else ctypes_type(argument)
        for argument in CONTROLLER_ARGUMENTS
    ),
)
"""The C type of a controller: void act(double t, const double *x, const double *z, const double *p, double
*u, void *data)."""


class NativeOptions(ctypes.Structure):
    """How to integrate, as the runtime reads it: `strut_options`."""

    _fields_ = OPTIONS.ctypes_fields()


class Record(ctypes.Structure):
    """Addresses of arrays into which a run is recorded: `strut_record`."""

    _fields_ = RECORD.ctypes_fields()


class Control(ctypes.Structure):
    """A controller in C and its clock: `strut_control`."""

    _fields_ = CONTROL.ctypes_fields()


class Many(ctypes.Structure):
    """A batch of runs, as addresses of arrays: `strut_many`."""

    _fields_ = MANY.ctypes_fields()


def address(array: np.ndarray | None) -> int | None:
    """Where the numbers of an array begin in memory; None, a null pointer in C, for None."""
    return None if array is None else array.__array_interface__["data"][0]


def rows(array: Any, m: int, n: int) -> np.ndarray:
    """`array` as m rows of n doubles, one after the other in memory."""
    return np.ascontiguousarray(
        np.broadcast_to(np.asarray(array, dtype=float).reshape((-1, n) if n else (m, 0)), (m, n))
    )


class Caller:
    """One function of a system for one point after another, where `evaluate` would spend more time on its
    arguments than on
    the function: put the point into `t`, `x`, `z`, `u`, `d`, call, and read what is returned before the next
        call overwrites it."""

    def __init__(self, sizes: Mapping[str, int], which: str, p: Any) -> None:
        self.t, self.x, self.z, self.u, self.d = (
            np.zeros(n) for n in (1, sizes["NX"], sizes["NZ"], sizes["NU"], sizes["ND"])
        )
        self.p = np.ascontiguousarray(np.broadcast_to(np.asarray(p, dtype=float).reshape(-1), (sizes["NP"],)))
        self.out = np.zeros(sizes[RESULT_SIZES[which]])
        self.own: np.ndarray | None = None
        self.run: Callable[[], Any] = lambda: None

    def __call__(self) -> np.ndarray:
        """Evaluate the function at the point that was put in."""
        self.run()
        return self.out


class Native:
    """The shared library of a system."""

    compiled = True

    def __init__(self, path: Path, lowered: Lowered, upgrade: Upgrade | None = None) -> None:
        self.path, self.lowered, self.upgrade = path, lowered, upgrade
        self.sizes = lowered.sizes
        self.layouts: dict[Any, Any] = {}  # of records, kept by the runs that use them
        self.better: Native | None = None
        self.run_time: float | None = None  # [s] of a run of the last batch: whether threads pay for the next
        self.library = ctypes.CDLL(str(path))
        for entry in ENTRY_POINTS:
            self._declare(entry)
        self.sim_size: int = self.library.strut_sim_size()
        self.parameters_size: int = self.library.strut_parameters_size()

    def spend(self, seconds: float) -> None:
        """Count the time of its runs [s], where a better library may pay."""
        if self.upgrade is not None:
            self.upgrade.spend(seconds)

    def best(self) -> Native:
        """The better library of the system where there is one by now, else this one."""
        path = None if self.upgrade is None else self.upgrade.path()
        if path is not None:
            self.upgrade, self.better = None, Native(path, self.lowered)
        return self.better or self

    def _declare(self, entry: EntryPoint) -> Any:
        """Tell ctypes the types of a function of the library, and return it."""
        function = getattr(self.library, entry.name)
        function.argtypes, function.restype = entry.ctypes_arguments(), ctypes_type(entry.result)
        return function

    def parameters(self) -> np.ndarray:
        """Memory for parameters and what depends on them alone."""
        return np.empty(self.parameters_size)

    def sim(self) -> np.ndarray:
        """Memory for one run."""
        return np.empty(self.sim_size // 8 + 1)

    def evaluate(  # noqa: PLR0917  # the vectors of a system, in the order that all its functions have
        self, which: str, t: Any, x: Any, z: Any, u: Any, p: Any, d: Any = 0.0
    ) -> np.ndarray:
        """One of the functions of `RESULT_SIZES` at many points: rows of results for rows of arguments."""
        t = np.ascontiguousarray(np.atleast_1d(np.asarray(t, dtype=float)))
        m, s = len(t), self.sizes
        args = [rows(x, m, s["NX"]), rows(z, m, s["NZ"]), rows(u, m, s["NU"])]
        p = np.ascontiguousarray(p, dtype=float)
        stride = s["NP"] if p.ndim == 2 else 0
        d = rows(np.zeros(s["ND"]) if np.isscalar(d) else d, m, s["ND"]) if s["ND"] else np.empty((m, 0))
        out = np.empty((m, s[RESULT_SIZES[which]]))
        own = self.parameters()
        points = [address(t), *map(address, args), address(p)]
        self.library.strut_eval(
            FUNCTION_NUMBERS[which], m, *points, stride, address(d), address(out), address(own)
        )
        return out

    def caller(self, which: str, p: Any) -> Caller:
        """`evaluate` at one point after another, with everything prepared; see `Caller`."""
        call = Caller(self.sizes, which, p)
        call.own = self.parameters()
        places = [address(a) for a in (call.t, call.x, call.z, call.u, call.p)]
        rest = map(c_void_p, map(address, (call.d, call.out, call.own)))
        call.run = functools.partial(
            self.library.strut_eval, FUNCTION_NUMBERS[which], 1, *map(c_void_p, places), 0, *rest
        )
        return call

    def jacobian(  # noqa: PLR0913, PLR0917  # the vectors of a system, in the order that all its functions have
        self,
        which: str,
        t: float,
        x: Any,
        z: Any,
        u: Any,
        p: Any,
        d: Any = (),
        random: Any = (),
        jump: int = 0,
    ) -> dict[str, np.ndarray]:
        """Dense Jacobians by name of variable; `which` is 'flow_jacobian', 'guard_jacobian' or
        'reset_jacobian'."""
        s = self.sizes
        height = {"flow_jacobian": s["NX"], "guard_jacobian": s["NG"], "reset_jacobian": s["NX"] + s["NZ"]}[
            which
        ]
        variables = JACOBIANS[which][1]
        out = [
            np.zeros((height, {"t": 1, "x": s["NX"], "u": s["NU"], "p": s["NP"]}[n]), order="F")
            for n in variables
        ]
        args = [np.ascontiguousarray(a, dtype=float).reshape(-1) for a in (x, z, u, p, d, random)]
        entry = self._declare(JACOBIAN_ENTRY)
        own = self.parameters()
        entry(list(JACOBIANS).index(which), jump, t, *map(address, args), *map(address, out), address(own))
        return dict(zip(variables, out, strict=True))


__all__ = [
    "CONTROLLER",
    "Caller",
    "Control",
    "Many",
    "Native",
    "NativeOptions",
    "Record",
    "address",
    "byref",
    "rows",
]
