"""Drives in model files: each table of [drives] puts a motor or a spring to joints.

    [drives.knees]                                  # a drive's own name, or any name with `of`
    of = ["knee_l", "knee_r"]                       # drives, named as their joints
    kind = "dc"                                     # or "series", "parallel"; "dc" without it
    motor = "rbe1211-csd17"                         # of the catalogue; or its numbers:
    gear_ratio = 80                                 # any number of `actuator.DcMotor`, in the motor's place
    spring = 415                                    # [N m/rad], and what else `actuator.dc_motors` takes

Springs take what `actuator.series` and `actuator.parallel` take: stiffness, damping, inertia, rest. Tables
are put to use in the order in which they stand.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from strut.actuator import DcMotor, dc_motors, motor_named, parallel, series
from strut.actuator.motor import NUMBERS
from strut.mechanism.io.modelfile import place_errors
from strut.mechanism.io.toml import TomlTable
from strut.system import System

WORDS = ("current",)
"""Arguments of `dc_motors` that are words."""
FLAGS = ("printed_damping", "smooth", "armature")
"""Arguments of `dc_motors` that are true or false."""
DEFAULT_KIND = "dc"
"""The kind of a drive whose table does not say it."""


def with_drives(system: System, top: TomlTable) -> System:
    """The system with the drives that the tables of a file describe."""
    for name, table in top.tables("drives"):
        with place_errors(table):
            of = table.words("of") or [name]
            kind = table.choice("kind", list(_MAKERS)) if "kind" in table.data else DEFAULT_KIND
            table.known += [] if "kind" in table.known else ["kind"]
            system = _MAKERS[kind](system, of, table)
            table.refuse_unknown_keys()
    return system


def _dc(system: System, of: list[str], table: TomlTable) -> System:
    """Motors driven by voltage."""
    options: dict[str, Any] = {}
    for key in _arguments(dc_motors):
        if key in table.data:
            read = table.word if key in WORDS else table.flag if key in FLAGS else table.number
            options[key] = read(key)
        else:
            table.known.append(key)
    return dc_motors(system, _motor(table), of, **options)


def _motor(table: TomlTable) -> DcMotor:
    """A motor of the catalogue with numbers of the file in their places, or one of the file's own."""
    numbers = {key: table.number(key) for key in NUMBERS if key in table.data}
    for key, value in numbers.items():
        if not isinstance(value, float):
            raise table.error(
                f"{key} is an expression of parameters: a motor's numbers are parameters of their own, give "
                f"a number",
                key,
            )
    table.known += [key for key in NUMBERS if key not in numbers]
    if "motor" in table.data:
        return replace(motor_named(table.word("motor")), **numbers)
    table.known += ["motor"]
    missing = [key for key in ("resistance", "torque_constant", "rotor_inertia") if key not in numbers]
    if missing:
        raise table.error(
            f"a motor needs {', '.join(missing)}: give {'it' if len(missing) == 1 else 'them'}, or motor, "
            f"the name of one in the catalogue"
        )
    return DcMotor(**numbers)


def _spring(make: Callable[..., System]) -> Callable[[System, list[str], TomlTable], System]:
    """A maker of springs, whose arguments are numbers."""

    def put(system: System, of: list[str], table: TomlTable) -> System:
        numbers = {key: table.number(key) for key in _arguments(make) if key in table.data}
        table.known += [key for key in _arguments(make) if key not in numbers]
        return make(system, of, **numbers)

    return put


def _arguments(make: Callable[..., System]) -> list[str]:
    """The names of a maker's keywords."""
    keywords = inspect.signature(make).parameters.values()
    return [p.name for p in keywords if p.kind is inspect.Parameter.KEYWORD_ONLY]


_MAKERS: Mapping[str, Callable[[System, list[str], TomlTable], System]] = {
    DEFAULT_KIND: _dc,
    "series": _spring(series),
    "parallel": _spring(parallel),
}

__all__ = ["with_drives"]
