"""A compiled system, seen from Python: plain functions over arrays, through ctypes with the interpreter lock
released."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from ctypes import POINTER, byref, c_double, c_int, c_int32, c_int64, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from strut.codegen.lower import JACOBIANS, Lowered

CONTROLLER = ctypes.CFUNCTYPE(
    None, c_double, POINTER(c_double), POINTER(c_double), POINTER(c_double), POINTER(c_double), c_void_p
)
"""The C type of a controller: void act(double t, const double *x, const double *z, const double *p, double
*u, void *data)."""

FUNCTIONS = ("flow", "powers", "outputs", "energies", "guards", "signals")
WIDTH = dict(zip(FUNCTIONS, ("NX", "NW", "NY", "NE", "NG", "ND"), strict=True))


class NativeOptions(ctypes.Structure):
    _fields_ = [
        ("method", c_int32),
        ("ledger", c_int32),
        ("dense", c_int32),
        ("reserved", c_int32),
        ("step", c_double),
        ("max_step", c_double),
        ("rtol", c_double),
        ("atol", c_double),
        ("zeno", c_double),
        ("max_steps", c_int64),
    ]


class Record(ctypes.Structure):
    _fields_ = [
        ("steps_capacity", c_int64),
        ("steps", c_int64),
        *[(n, c_void_p) for n in ("t", "h", "poly", "z", "u")],
        ("jumps_capacity", c_int64),
        ("jumps", c_int64),
        *[
            (n, c_void_p)
            for n in ("jump_t", "x_before", "z_before", "x_after", "z_after", "loss", "jump", "jump_after")
        ],
    ]


class Control(ctypes.Structure):
    _fields_ = [
        ("act", c_void_p),
        ("data", c_void_p),
        ("every", c_double),
        ("offset", c_double),
        ("tick", c_int64),
    ]


class Many(ctypes.Structure):
    _fields_ = [
        ("t0", c_double),
        *[(n, c_void_p) for n in ("stops", "x0", "z0", "u", "p")],
        *[(n, c_int64) for n in ("n_stops", "x_stride", "z_stride", "u_stride", "p_stride")],
        ("seed", c_uint64),
        ("capacity", c_int64),
        ("history", c_void_p),
        ("wanted", c_void_p),
        ("n_wanted", c_int64),
        ("at_end", c_int64),
        *[
            (n, c_void_p)
            for n in (
                "t",
                "x",
                "z",
                "y",
                "work",
                "lost",
                "counts",
                "steps",
                "status",
                "cause",
                "culprit",
                "sim",
            )
        ],
    ]


def address(array: np.ndarray | None) -> int | None:
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
        self.out = np.zeros(sizes[WIDTH[which]])
        self.own: np.ndarray | None = None
        self.run: Callable[[], Any] = lambda: None

    def __call__(self) -> np.ndarray:
        self.run()
        return self.out


class Native:
    """The shared library of a system."""

    compiled = True

    def __init__(self, path: Path, lowered: Lowered) -> None:
        self.path = path
        self.sizes = lowered.sizes
        self.layouts: dict[Any, Any] = {}  # of records, kept by the runs that use them
        self.library = ctypes.CDLL(str(path))
        lib = self.library
        lib.strut_sim_size.restype = c_int64
        self.sim_size: int = lib.strut_sim_size()
        lib.strut_parameters_size.restype = c_int64
        self.parameters_size: int = lib.strut_parameters_size()
        lib.strut_begin.argtypes = [
            c_void_p,
            POINTER(NativeOptions),
            c_double,
            *[c_void_p] * 4,
            c_uint64,
            c_void_p,
            c_int64,
        ]
        lib.strut_begin.restype = None
        lib.strut_go.argtypes = [c_void_p, c_double, POINTER(Record), POINTER(Control), c_int64]
        lib.strut_hold.argtypes = [c_void_p, c_void_p]
        lib.strut_hold.restype = None
        lib.strut_resume.argtypes = [c_void_p]
        lib.strut_resume.restype = None
        lib.strut_see.argtypes = [c_void_p] * 7
        lib.strut_see.restype = None
        lib.strut_lengthen.argtypes = [c_void_p, c_void_p, c_int64]
        lib.strut_lengthen.restype = None
        lib.strut_batch.argtypes = [POINTER(NativeOptions), POINTER(Many), c_int64, c_int64]
        lib.strut_batch.restype = None
        lib.strut_eval.argtypes = [c_int, c_int64, *[c_void_p] * 5, c_int64, *[c_void_p] * 3]
        lib.strut_eval.restype = None

    def parameters(self) -> np.ndarray:
        """Memory for parameters and what depends on them alone."""
        return np.empty(self.parameters_size)

    def sim(self) -> np.ndarray:
        """Memory for one run."""
        return np.empty(self.sim_size // 8 + 1)

    def evaluate(self, which: str, t: Any, x: Any, z: Any, u: Any, p: Any, d: Any = 0.0) -> np.ndarray:
        """One of `FUNCTIONS` at many points: rows of results for rows of arguments."""
        t = np.ascontiguousarray(np.atleast_1d(np.asarray(t, dtype=float)))
        m, s = len(t), self.sizes
        args = [rows(x, m, s["NX"]), rows(z, m, s["NZ"]), rows(u, m, s["NU"])]
        p = np.ascontiguousarray(p, dtype=float)
        stride = s["NP"] if p.ndim == 2 else 0
        d = rows(np.zeros(s["ND"]) if np.isscalar(d) else d, m, s["ND"]) if s["ND"] else np.empty((m, 0))
        out = np.empty((m, s[WIDTH[which]]))
        own = self.parameters()
        points = [address(t), *map(address, args), address(p)]
        self.library.strut_eval(
            FUNCTIONS.index(which), m, *points, stride, address(d), address(out), address(own)
        )
        return out

    def caller(self, which: str, p: Any) -> Caller:
        """`evaluate` at one point after another, with everything prepared; see `Caller`."""
        made = Caller(self.sizes, which, p)
        made.own = self.parameters()
        places = [address(a) for a in (made.t, made.x, made.z, made.u, made.p)]
        rest = map(c_void_p, map(address, (made.d, made.out, made.own)))
        made.run = functools.partial(
            self.library.strut_eval, FUNCTIONS.index(which), 1, *map(c_void_p, places), 0, *rest
        )
        return made

    def jacobian(
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
        entry = self.library.strut_jacobian
        entry.argtypes = [c_int, c_int, c_double, *[c_void_p] * 10]
        entry.restype = None
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
