"""Servos in model files: each table of [servos] makes drives follow a reference.

    [servos.knees]                                  # a drive's own name, or any name with `of`
    of = ["knee_l", "knee_r"]                       # drives, named as their joints
    kp = 200                                        # per rad, of what the drive takes: volts, N m
    kd = 10                                         # and what else `control.servo` takes: ki, limit, side,
    every = 0.001                                   # follow_rate, resolution [rad], delay [s]
    reference = { kind = "minimum-jerk", begin = 0, end = "deg(90)", duration = 5 }

A reference is an angle to hold [rad], or a table whose keys are the arguments of what it is called after:
"minimum-jerk", "sine", "spline" (times, values, periodic), or "table": a column of a CSV file beside the
model file, file = "squat.csv", column = "knee_l" (the drive's own name without it), periodic = true. Numbers
of moves and sines may be expressions of the file's parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.confine import resolve_inside
from strut.errors import UnknownNameError, did_you_mean
from strut.mechanism.io.modelfile import place_errors
from strut.mechanism.io.toml import TomlTable
from strut.system import System

if TYPE_CHECKING:
    from strut.control import ReferenceSignal

WORD_ARGUMENTS = ("side",)
"""Arguments of `control.servo` that are words."""
FLAG_ARGUMENTS = ("follow_rate",)
"""Arguments of `control.servo` that are true or false."""
NOT_IN_FILES = ("angles",)
"""Arguments of `control.servo` that a file cannot say: expressions of states."""


def with_servos(system: System, top: TomlTable) -> System:
    """The system with the servos that the tables of a file describe."""
    for name, table in top.tables("servos"):
        with place_errors(table):
            of = table.words("of") or [name]
            references = {drive: _reference(table, drive) for drive in of}
            system = _servo(system, references, table)
    return system


def _servo(system: System, references: Mapping[str, Any], table: TomlTable) -> System:
    """The system with one table's servos."""
    from strut.control import servo  # not where a file has none

    options: dict[str, Any] = {}
    for key, parameter in inspect.signature(servo).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY or key in NOT_IN_FILES:
            continue
        if key in table.data:
            reader = table.flag if key in FLAG_ARGUMENTS else _constant(table)
            options[key] = table.word(key) if key in WORD_ARGUMENTS else reader(key)
        elif parameter.default is inspect.Parameter.empty:
            table.take(key)  # raises that it is missing
        else:
            table.known.append(key)
    table.refuse_unknown_keys()
    return servo(system, references, **options)


def _constant(table: TomlTable) -> Callable[[str], float]:
    """A reader of numbers that are no expressions."""

    def read(key: str) -> float:
        value = table.number(key)
        if not isinstance(value, float):
            raise table.error(
                f"{key} is an expression of parameters: gains are parameters of their own, give a number", key
            )
        return value

    return read


def _reference(table: TomlTable, drive: str) -> Any:
    """What a drive follows: an angle [rad], which may be an expression, or a signal over time."""
    if not isinstance(table.take("reference"), dict):
        return table.number("reference")
    inner = table.table("reference")
    assert inner is not None
    with place_errors(inner):
        signal = _REFERENCES[inner.choice("kind", list(_REFERENCES))](inner, drive)
        inner.refuse_unknown_keys()
    return signal


def _of_arguments(name: str) -> Callable[[TomlTable, str], ReferenceSignal]:
    """A reader of references whose keys are the arguments of a function of `control`."""

    def read(table: TomlTable, _drive: str) -> ReferenceSignal:
        from strut import control

        make = getattr(control, name)
        arguments: dict[str, Any] = {}
        for key, parameter in inspect.signature(make).parameters.items():
            if key in table.data or parameter.default is inspect.Parameter.empty:
                arguments[key] = (
                    table.flag(key)
                    if parameter.default is False
                    else _numbers(table, key)
                    if key in SEQUENCES
                    else table.number(key)
                )
            else:
                table.known.append(key)
        signal: ReferenceSignal = make(**arguments)
        return signal

    return read


SEQUENCES = ("times", "values")
"""Arguments of references that are lists of numbers."""


def _numbers(table: TomlTable, key: str) -> list[float]:
    """A list of numbers that are no expressions."""
    values = table.numbers(key)
    if not isinstance(values, list) or not all(isinstance(value, float) for value in values):
        raise table.error(f"{key} is {table.data[key]!r}: a list of numbers is needed, [0, 0.5, 1]", key)
    return values


def _column(table: TomlTable, drive: str) -> ReferenceSignal:
    """A column of a CSV file that lies in the model's folder."""
    from strut import control

    name = table.word("file")
    if table.folder is None:
        raise table.error(
            f"'{name}' lies beside the model file, and this model was read from a text: read it from its "
            f"file, contact.load",
            "file",
            name,
        )
    path = resolve_inside(Path(table.folder, name), table.folder, (), f"a reference names '{name}'")
    signals = control.table(path, table.flag("periodic"))
    column = table.word("column", drive)
    if column not in signals:
        hint = did_you_mean(column, list(signals))
        raise UnknownNameError(f"{name} has no column '{column}': {hint}; column = NAME says which")
    return signals[column]


_REFERENCES: Mapping[str, Callable[[TomlTable, str], Any]] = {
    "minimum-jerk": _of_arguments("minimum_jerk"),
    "sine": _of_arguments("sine"),
    "spline": _of_arguments("spline"),
    "table": _column,
}
"""How references are read, by the names that files give them."""

__all__ = ["with_servos"]
