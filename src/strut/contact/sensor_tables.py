"""Sensors and watchers in model files: each table of [sensors] reads something of the machine, each of
[watchers] ends a run where the machine leaves what it may do.

    [sensors.head]                                  # a frame or a joint, or any name that tells it
    kind = "imu"                                    # or "anchor", "encoder", "foot-force", "zmp"
    frame = "head"                                  # and what else the sensor takes, see mechanism.sensors

    [watchers.hips]
    kind = "fall"                                   # or "range", "output", "collision"
    frame = "pelvis"
    height = 0.4                                    # [m]
    ends = true                                     # false: it is only recorded

A watcher of collisions has capsules = [{ body = "shank_l", radius = 0.04, end = [0, 0, -0.3] }, ...].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from strut.mechanism import sense, sensors, watch, watchers
from strut.mechanism.io.modelfile import place_errors
from strut.mechanism.io.toml import TomlTable
from strut.mechanism.mechanism import Mechanism
from strut.system import System

SENSORS: Mapping[str, type] = {
    "anchor": sensors.Anchor,
    "imu": sensors.Imu,
    "encoder": sensors.Encoder,
    "foot-force": sensors.FootForce,
    "zmp": sensors.ZeroMomentPoint,
}
"""Sensors by the names that files give them."""
WATCHERS: Mapping[str, type] = {
    "fall": watchers.FallBelow,
    "range": watchers.JointRange,
    "output": watchers.OutputLimit,
    "collision": watchers.SelfCollision,
}
"""Watchers by the names that files give them."""


def with_sensors(system: System, robot: Mechanism, top: TomlTable) -> System:
    """The system with the sensors and watchers that the tables of a file describe."""
    for _, table in top.tables("sensors"):
        with place_errors(table):
            system = sense(system, robot, [_instrument(table, SENSORS)])
    for _, table in top.tables("watchers"):
        with place_errors(table):
            system = watch(system, robot, [_instrument(table, WATCHERS)])
    return system


def _instrument(table: TomlTable, kinds: Mapping[str, type]) -> Any:
    """A sensor or watcher; the keys of its table are the fields of its class."""
    kind = kinds[table.choice("kind", list(kinds))]
    return _read_fields(table, kind)


def _read_fields(table: TomlTable, kind: type) -> Any:
    """An object of a class whose fields a table has as keys."""
    values: dict[str, Any] = {}
    for field in fields(kind):
        read = _READERS[str(field.type)]
        if field.name in table.data:
            values[field.name] = read(table, field.name)
        elif field.default is MISSING and field.default_factory is MISSING:
            table.take(field.name)  # raises that it is missing
        else:
            table.known.append(field.name)
    table.refuse_unknown_keys()
    return kind(**values)


def _number(table: TomlTable, key: str) -> float:
    """A number that is no expression."""
    value = table.number(key)
    if not isinstance(value, float):
        raise table.error(f"{key} is an expression of parameters: a number is needed here", key)
    return value


def _limits(table: TomlTable, key: str) -> dict[str, tuple[float, float]]:
    """Ranges by joint, { knee = [0, 2] }."""
    inner = table.table(key)
    assert inner is not None
    ranges: dict[str, tuple[float, float]] = {}
    for joint in inner.data:
        ends = inner.numbers(joint)
        if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(e, float) for e in ends):
            raise inner.error(
                f"the range of '{joint}' is {inner.data[joint]!r}: its lower and upper end are needed, two "
                f"numbers",
                joint,
            )
        ranges[joint] = (ends[0], ends[1])
    return ranges


def _hulls(table: TomlTable, key: str) -> list[watchers.Hull]:
    """Capsules about bodies."""
    return [_read_fields(each, watchers.Hull) for each in table.list_of_tables(key)]


_READERS: Mapping[str, Callable[[TomlTable, str], Any]] = {
    "str": TomlTable.word,
    "bool": TomlTable.flag,
    "float": _number,
    "Sequence[str]": TomlTable.words,
    "Sequence[float]": TomlTable.vector,
    "Sequence[float] | None": TomlTable.vector,
    "Sequence[Hull]": _hulls,
    "Sequence[tuple[str, str]]": lambda table, key: [tuple(pair) for pair in table.take(key)],
    "Mapping[str, tuple[float, float]]": _limits,
}
"""How a field is read, by what its annotation says."""

__all__ = ["with_sensors"]
