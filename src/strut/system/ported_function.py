"""A function whose arguments and results say what they are: what is exported or called outside of a
`System`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca

from strut.errors import ShapeError
from strut.system.quantity import Quantity
from strut.system.system import component_labels


def operation_count(f: ca.Function) -> int:
    """Arithmetic operations and function calls; reading inputs and writing outputs is free."""
    free = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_ASSIGN}
    return sum(f.instruction_id(k) not in free for k in range(f.n_instructions()))


@dataclass(frozen=True)
class Entry:
    """One number of an argument: its name, its unit and what more there is to say."""

    name: str
    unit: str = ""
    note: str = ""


@dataclass(frozen=True)
class Port:
    """An argument or a result.

    entries: what each number is; none for a matrix, which `note` and `shape` describe.
    values: default values; what has them is a set of parameters.
    sizes: how many of the entries, in order, belong to one named quantity; each stands alone unless given.
    """

    name: str
    note: str
    entries: tuple[Entry, ...] = ()
    shape: tuple[int, int] | None = None
    values: tuple[float, ...] | None = None
    sizes: tuple[tuple[str, int], ...] = ()

    @property
    def rows_columns(self) -> tuple[int, int]:
        """How many rows and columns it has; a vector has one column."""
        return self.shape or (len(self.entries), 1)


def rate_unit(unit: str) -> str:
    """The unit of a rate: m/s of m, m/s^2 of m/s."""
    return f"{unit}^2" if unit.endswith("/s") else f"{unit}/s" if unit else "1/s"


def port(name: str, note: str, quantities: Iterable[Quantity], defaults: bool = False) -> Port:
    """The port of a vector of quantities; with `defaults`, their values are its default."""
    qs = tuple(quantities)
    return Port(
        name,
        note,
        tuple(Entry(label, q.unit, q.description) for q in qs for label in component_labels(q.name, q.size)),
        values=tuple(float(v) for q in qs for v in q.value) if defaults else None,
        sizes=tuple((q.name, q.size) for q in qs),
    )


@dataclass(frozen=True, eq=False)
class PortedFunction:
    """A CasADi `SX` function with a port for every argument and result, and a sentence on what it
    computes."""

    name: str
    note: str
    function: ca.Function
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def __post_init__(self) -> None:
        for ports, count, size in (
            (self.inputs, self.function.n_in(), self.function.size_in),
            (self.outputs, self.function.n_out(), self.function.size_out),
        ):
            if len(ports) != count:
                raise ShapeError(
                    f"function '{self.name}' has {count} arguments or results, but {len(ports)} labels"
                )
            for k, each in enumerate(ports):
                if each.name == "t" and each.rows_columns != (1, 1):
                    raise ShapeError(
                        f"'t' of function '{self.name}' has shape {each.rows_columns}: it is the time, one "
                        f"number"
                    )
                if tuple(size(k)) != each.rows_columns:
                    raise ShapeError(
                        f"'{each.name}' of function '{self.name}' has shape {size(k)}, but labels for "
                        f"{each.rows_columns}"
                    )

    @property
    def operations(self) -> int:
        """Arithmetic operations and function calls of one evaluation."""
        return operation_count(self.function)


def make_ported_function(
    name: str, note: str, inputs: Iterable[tuple[Port, ca.SX]], outputs: Iterable[tuple[Port, ca.SX]]
) -> PortedFunction:
    """A function from expressions, made dense."""
    arguments, results = list(inputs), list(outputs)
    function = ca.Function("f", [e for _, e in arguments], [ca.densify(e) for _, e in results])
    return PortedFunction(name, note, function, tuple(p for p, _ in arguments), tuple(p for p, _ in results))
