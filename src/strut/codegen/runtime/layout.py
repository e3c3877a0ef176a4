"""`Struct`s and entry points that C and Python share: what ctypes reads, and what the C compiler is told.

The header is written from these tables (`contract_c`), and the C that defines the functions is compiled
against it, so that a mismatch is an error of the compiler and not a wrong number.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Field:
    """A field of a struct: its C type, name, and meaning with unit."""

    type: str
    name: str
    meaning: str = ""


@dataclass(frozen=True)
class Struct:
    """A C struct: its name, what it is, and its fields in order."""

    name: str
    meaning: str
    fields: tuple[Field, ...]

    def ctypes_fields(self) -> list[tuple[str, Any]]:
        """What `ctypes.Structure._fields_` has to be."""
        return [(field.name, ctypes_type(field.type)) for field in self.fields]


@dataclass(frozen=True)
class EntryPoint:
    """A C function that Python calls: name, type of the result, and C declarations of the arguments."""

    name: str
    result: str
    arguments: tuple[str, ...]

    def ctypes_arguments(self) -> list[Any]:
        """The argument types for ctypes."""
        return [ctypes_type(argument) for argument in self.arguments]


SCALARS: dict[str, Any] = {
    "void": None,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "double": ctypes.c_double,
    "strut_number": ctypes.c_double,  # what Python calls is never compiled as single precision
    "strut_controller": ctypes.c_void_p,
}
"""The ctypes type of each C type that is no pointer; None: nothing is returned."""


def ctypes_type(declaration: str) -> Any:
    """The ctypes type of a C type, or of a declaration such as 'double t'; every pointer is an address."""
    return ctypes.c_void_p if "*" in declaration else SCALARS[declaration.split()[0]]


OPTIONS = Struct(
    "strut_options",
    "how to integrate",
    (
        Field("int32_t", "method", "enum strut_method"),
        Field("int32_t", "ledger", "1: integrate the ledger's powers beside the state"),
        Field("int32_t", "dense", "1: every step leaves its dense output in `poly`"),
        Field("int32_t", "reserved"),
        Field("strut_number", "step", "fixed-step methods: the step [s]; adaptive: first step, 0 = choose"),
        Field("strut_number", "max_step", "[s]"),
        Field("strut_number", "rtol", "adaptive error control, relative, per component"),
        Field("strut_number", "atol", "and absolute"),
        Field("strut_number", "zeno", "relative time within which events count as accumulated"),
        Field("int64_t", "max_steps"),
    ),
)


@dataclass(frozen=True)
class OptionDefaults:
    """Options of a run that nobody chose, the same in Python and in exported C."""

    method: str = "dop853"
    rtol: float = 1e-10
    atol: float = 1e-12
    zeno: float = 1e-12
    max_steps: int = 10_000_000


DEFAULTS = OptionDefaults()
"""In double precision."""
SINGLE_DEFAULTS = OptionDefaults(rtol=1e-5, atol=1e-6, zeno=6e-4)
"""In single precision."""

STEP_FIELDS = (
    Field("double *", "t", "when each step began [s]"),
    Field("double *", "h", "its length [s]"),
    Field("double *", "poly", "its dense output, power by power"),
    Field("double *", "z", "discrete state during it"),
    Field("double *", "u", "inputs during it"),
)
"""Arrays of a record with a row for every step."""
JUMP_FIELDS = (
    Field("double *", "jump_t", "when each jump happened [s]"),
    Field("double *", "x_before"),
    Field("double *", "z_before"),
    Field("double *", "x_after"),
    Field("double *", "z_after"),
    Field("double *", "loss", "energy lost, by channel [J]"),
    Field("int32_t *", "jump", "which it was"),
    Field("int64_t *", "jump_after", "how many steps came before it"),
)
"""Arrays of a record with a row for every jump."""

RECORD = Struct(
    "strut_record",
    "arrays into which a run is recorded, and how far they are filled",
    (
        Field("int64_t", "steps_capacity"),
        Field("int64_t", "steps"),
        *STEP_FIELDS,
        Field("int64_t", "jumps_capacity"),
        Field("int64_t", "jumps"),
        *JUMP_FIELDS,
    ),
)

CONTROLLER_ARGUMENTS = (
    "double t",
    "const double *x",
    "const double *z",
    "const double *p",
    "double *u",
    "void *data",
)
"""What a controller in C is called with; it writes `u`."""

CONTROL = Struct(
    "strut_control",
    "a controller and its clock",
    (
        Field("strut_controller", "act", "null: there is none"),
        Field("void *", "data", "handed to it"),
        Field("double", "every", "period [s]"),
        Field("double", "offset", "time of tick 0 [s]"),
        Field("int64_t", "tick", "the next one"),
    ),
)

MANY = Struct(
    "strut_many",
    "a batch of runs: what they begin with, and where their results go",
    (
        Field("double", "t0", "[s]"),
        Field("const double *", "stops", "times at which outputs are wanted, ascending [s]"),
        Field("const double *", "x0", "a row per run or, with stride 0, one row; so z0, u and p"),
        Field("const double *", "z0"),
        Field("const double *", "u"),
        Field("const double *", "p"),
        Field("int64_t", "n_stops"),
        Field("int64_t", "x_stride"),
        Field("int64_t", "z_stride"),
        Field("int64_t", "u_stride"),
        Field("int64_t", "p_stride"),
        Field("uint64_t", "seed"),
        Field("int64_t", "capacity", "rows of `history`"),
        Field("double *", "history", "of delayed signals"),
        Field(
            "const int32_t *", "wanted", "outputs to return at every stop; nan at those a run did not reach"
        ),
        Field("int64_t", "n_wanted"),
        Field(
            "int64_t", "at_end", "1: outputs at the last stop are those at the end, whenever the run ended"
        ),
        Field("double *", "t", "results: a row per run"),
        Field("double *", "x"),
        Field("double *", "z"),
        Field("double *", "y"),
        Field("double *", "work", "or null"),
        Field("double *", "lost", "or null"),
        Field("int64_t *", "counts", "of each jump, or null"),
        Field("int64_t *", "steps"),
        Field("int32_t *", "status"),
        Field("int32_t *", "cause"),
        Field("int32_t *", "culprit"),
        Field(
            "struct STRUT_(lane) *",
            "lane",
            "memory for one run: with many parameters it is too large for a stack",
        ),
    ),
)

ENTRY_POINTS = (
    EntryPoint("strut_sim_size", "int64_t", ()),
    EntryPoint("strut_parameters_size", "int64_t", ()),
    EntryPoint(
        "strut_begin",
        "void",
        (
            "STRUT_(sim) *s",
            "const strut_options *o",
            "double t",
            "const double *x",
            "const double *z",
            "const double *u",
            "const double *p",
            "uint64_t seed",
            "double *history",
            "int64_t capacity",
        ),
    ),
    EntryPoint(
        "strut_go",
        "int",
        ("STRUT_(sim) *s", "double t_stop", "strut_record *r", "strut_control *c", "int64_t budget"),
    ),
    EntryPoint("strut_hold", "void", ("STRUT_(sim) *s", "const double *u")),
    EntryPoint("strut_resume", "void", ("STRUT_(sim) *s",)),
    EntryPoint(
        "strut_see",
        "void",
        (
            "const STRUT_(sim) *s",
            "double *t",
            "double *x",
            "double *z",
            "double *u",
            "int64_t *counts",
            "double *balance",
        ),
    ),
    EntryPoint("strut_lengthen", "void", ("STRUT_(sim) *s", "double *longer", "int64_t capacity")),
    EntryPoint(
        "strut_batch",
        "void",
        ("const strut_options *options", "const strut_many *b", "int64_t begin", "int64_t end"),
    ),
    EntryPoint(
        "strut_eval",
        "void",
        (
            "int which",
            "int64_t m",
            "const double *t",
            "const double *x",
            "const double *z",
            "const double *u",
            "const double *p",
            "int64_t p_stride",
            "const double *d",
            "double *out",
            "double *own",
        ),
    ),
)
"""Every function of a compiled system that Python calls, besides `strut_jacobian` of units that have it."""

JACOBIAN_ENTRY = EntryPoint(
    "strut_jacobian",
    "void",
    (
        "int which",
        "int j",
        "double t",
        *(f"const double *{name}" for name in ("x", "z", "u", "p", "d", "random")),
        *(f"double *{name}" for name in ("a", "b", "c", "own")),
    ),
)
"""Dense Jacobians, in units that were asked for them."""
