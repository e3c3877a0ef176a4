"""A sampled controller with a quadratic program as C: its functions, and the loop around them."""

from __future__ import annotations

import ctypes
import hashlib
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from strut.codegen.backends import required_compiler, runtime_and_digest
from strut.codegen.c import emit
from strut.codegen.cache import build, key_of
from strut.codegen.native import CONTROLLER
from strut.codegen.qp_library import CHECKS, QpReport, QpShape, QpStatus
from strut.gc_pause import pause_gc

BUILD = (("t", "x", "m", "p"), ("H", "g", "T", "target", "w", "A", "low", "up", "k"))
"""Arguments and results of what writes the program of a sample; k: values that `act` uses again."""
ACT = (("t", "x", "m", "p", "k", "y"), ("u", "m_next", "o"))
"""Arguments and results of what makes commands, the next memory and outputs of the solution y."""
SAFE = (("t", "x", "m", "p"), ("u",))
"""Arguments and results of the commands that are given when nothing else can be."""
FIRST = (("x", "p"), ("m",))
"""Arguments and results of what memory begins with."""


@dataclass(frozen=True, eq=False)
class QpFunctions:
    """The plain functions of a controller, with the signatures `BUILD`, `ACT`, `SAFE` and `FIRST`, and the
    shape of its program. Matrices are given transposed, so that they lie in memory row by row."""

    name: str
    build: ca.Function
    act: ca.Function
    safe: ca.Function
    first: ca.Function
    shape: QpShape

    @property
    def sizes(self) -> dict[str, int]:
        """Sizes for the templates: variables NY, goals NT, rows NA, sensors NS, memory NM, parameters NP,
        values kept NK, commands NU, outputs NO."""
        return {
            "NY": self.shape.n,
            "NT": self.shape.goals,
            "NA": self.shape.rows,
            "NS": self.build.numel_in(1),
            "NM": self.build.numel_in(2),
            "NP": self.build.numel_in(3),
            "NK": self.act.numel_in(4),
            "NU": self.act.numel_out(0),
            "NO": self.act.numel_out(2),
        }

    def text(self, prefix: str) -> str:
        """C of the functions and the loop. prefix: what its names begin with."""
        sizes = [f"#define STRUT_{key} {value}" for key, value in self.sizes.items()]
        functions = [
            emit(f, name, *signature)
            for f, name, signature in (
                (self.build, "build", BUILD),
                (self.act, "act", ACT),
                (self.safe, "safe", SAFE),
                (self.first, "first", FIRST),
            )
        ]
        return "\n".join(
            [
                f"#define STRUT_PREFIX {prefix}",
                '#include "strut_template.h"',
                *sizes,
                *functions,
                '#include "strut_loop.h"\n',
            ]
        )

    def digest(self) -> str:
        """A hash of all that the text depends on besides our own files."""
        parts = [f.serialize() for f in (self.build, self.act, self.safe, self.first)]
        return hashlib.sha256("\0".join([*parts, repr(self.shape)]).encode()).hexdigest()


def loop_struct(statuses: int = len(QpStatus)) -> type[ctypes.Structure]:
    """The type of a controller's loop in C: `strut_loop.h`."""
    pointers = ("solve", "qp", "p", "m", "u", "sensor_places", "command_places", "record")
    counters = ("capacity", "samples", "patience", "failures", "begun")

    class Loop(ctypes.Structure):
        _fields_ = [
            *((name, ctypes.c_void_p) for name in pointers),
            *((name, ctypes.c_int64) for name in counters),
            ("counts", ctypes.c_int64 * statuses),
        ]

    return Loop


LoopState = loop_struct()
"""A controller's loop, as the compiled code reads it."""
REPORT_FIELDS = tuple(field[0] for field in QpReport._fields_)
"""What a row of a loop's record says of each program, after the time and before commands, memory, variables
and outputs."""


class NativeController:
    """The compiled functions of a controller: `act`, which the simulator calls, and `sample`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.library = ctypes.CDLL(str(path))
        self.act = ctypes.cast(self.library.strut_act, CONTROLLER)
        self.sample = self.library.strut_sample
        self.sample.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p]


def compile_controller(functions: QpFunctions) -> NativeController:
    """Return a controller's functions compiled, from the cache if they are there. Raises `CompileError`
    without a C compiler."""
    cc = required_compiler("native")
    assert cc is not None
    runtime, generator = runtime_and_digest()
    own = {path.name: path.read_text() for path in sorted(CHECKS.glob("*.h"))}
    content = "\0".join([functions.digest(), generator, *own.values(), Path(__file__).read_text()])

    def sources() -> dict[str, str]:
        with pause_gc():
            head = (
                '#include "strut_math.h"\n'
                '#define STRUT_EXPORT __attribute__((visibility("default")))\n#define STRUT_API static\n'
            )
            unit = head + functions.text("strut_controller") + '#include "strut_act.h"\n'
        return {**runtime, **own, "model.c": unit}

    return NativeController(build(key_of(content, cc), sources, "model.c", cc, functions.name))


__all__ = [
    "ACT",
    "BUILD",
    "REPORT_FIELDS",
    "SAFE",
    "LoopState",
    "NativeController",
    "QpFunctions",
    "compile_controller",
]
