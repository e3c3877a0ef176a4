"""`Archive`: a result with its model as data alone, for files: records of classes, numbers and expressions.

Reading one runs no code that a file names: a record becomes an object of a class that the reader knows, its
fields are set, and a `System` is checked as if it were made anew. Pickles, for pools of processes, are
another matter (`pickling.py`).
"""

from __future__ import annotations

import dataclasses
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.system.quantity import Quantity
from strut.system.quantity import time as clock
from strut.system.system import System
from strut.system.tape import ExpressionTape, play_tape, record_tape

NOT_STORED = {"System": ("cache",)}
"""Fields, by class, that can be made again."""
CLOCK = "@time"
"""Stands for the symbol of time among the owners of symbols; no quantity can be called that."""


@checked
@dataclass(frozen=True, eq=False)
class Archive:
    """Objects as data.

    records: an object each, its class and its fields; a field refers to earlier records, to arrays and to
        expressions by number. root: what the last record, or a plain value, is told by.
    symbols: of the expressions, the label and whose it is: the name of a quantity of the model and the
        component, CLOCK, or nothing.
    """

    records: list[dict[str, Any]]
    arrays: list[np.ndarray]
    symbols: list[tuple[str, str, int]]
    tape: ExpressionTape
    root: Any


@checked
def room_classes(*rooms: str) -> dict[str, type]:
    """Return the dataclasses of these packages of strut, by name: of all their modules, where the package is
    loaded."""
    for package in [sys.modules[f"strut.{room}"] for room in rooms if f"strut.{room}" in sys.modules]:
        for name in package.__all__:
            getattr(package, name)  # imports its module, which may be waiting for that
    prefixes = tuple(f"strut.{room}." for room in rooms)
    return {
        name: kind
        for module_name, module in list(sys.modules.items())
        if f"{module_name}.".startswith(prefixes)
        for name, kind in vars(module).items()
        if isinstance(kind, type) and kind.__module__ == module_name and dataclasses.is_dataclass(kind)
    }


class _Writer:
    """Collects the records, arrays and expressions of an object."""

    def __init__(self, classes: Mapping[str, type]) -> None:
        self.classes = classes
        self.records: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray] = []
        self.expressions: list[ca.SX] = []
        self.systems: list[System] = []
        self.number_of: dict[int, dict[str, int]] = {}
        self.kept_alive: list[Any] = []  # so that no id is used twice

    def value(self, thing: Any, where: str) -> Any:
        """Return what stands for a value in a record. where: the place of the value, for messages."""
        if isinstance(thing, np.generic):
            thing = thing.item()
        if thing is None or isinstance(thing, (bool, int, str)):
            return thing
        if isinstance(thing, float):
            return thing if math.isfinite(thing) else {"float": repr(thing)}
        if isinstance(thing, complex):
            return {"complex": [repr(thing.real), repr(thing.imag)]}
        if isinstance(thing, Path):
            return {"path": str(thing)}
        if isinstance(thing, (tuple, list)):
            word = "tuple" if isinstance(thing, tuple) else "list"
            return {word: [self.value(each, f"{where}[{k}]") for k, each in enumerate(thing)]}
        if id(thing) not in self.number_of:
            self.number_of[id(thing)] = self._reference(thing, where)
            self.kept_alive.append(thing)
        return self.number_of[id(thing)]

    def _reference(self, thing: Any, where: str) -> dict[str, Any]:
        """Store what is shared between records, and return how it is referred to."""
        if isinstance(thing, ca.SX):
            self.expressions.append(thing)
            return {"expression": len(self.expressions) - 1}
        if isinstance(thing, np.ndarray) and thing.dtype.kind in "fiub":
            self.arrays.append(thing)
            return {"array": len(self.arrays) - 1}
        if isinstance(thing, np.ndarray) and thing.dtype.kind == "c":
            self.arrays.append(np.stack([thing.real, thing.imag]))
            return {"complex array": len(self.arrays) - 1}
        if isinstance(thing, Mapping):
            items = thing.items()
            return {
                "dict": [[self.value(k, where), self.value(v, f"{where}['{k}']")] for k, v in items],
            }
        kind = type(thing)
        if self.classes.get(kind.__name__) is not kind:
            raise ModelError(
                f"{where} is a {kind.__name__}, {str(thing)[:60]!r}, which no file can hold: a result is "
                f"saved when all of it is data (numbers, names, expressions), not functions or objects of "
                f"your own"
            )
        left_out = NOT_STORED.get(kind.__name__, ())
        fields = {
            f.name: self.value(getattr(thing, f.name), f"{where}.{f.name}")
            for f in dataclasses.fields(thing)
            if f.name not in left_out
        }
        record: dict[str, Any] = {"class": kind.__name__, "fields": fields}
        if isinstance(thing, System):
            record["family"] = next(
                (k for k, s in enumerate(self.systems) if s.cache is thing.cache), len(self.systems)
            )
            self.systems.append(thing)
        self.records.append(record)
        return {"record": len(self.records) - 1}


@checked
def to_archive(thing: Any, model: System, classes: Mapping[str, type]) -> Archive:
    """Return an object as data. model: the system whose quantities name symbols. classes: of the objects in
    it, by name, besides those of systems. Raises ModelError for what is not data."""
    writer = _Writer(classes)
    system = writer.value(model, "its system")
    root = {"system": system, "result": writer.value(thing, "the result")}
    owners: dict[int, tuple[str, int]] = {}
    for q in model.quantities():
        for k, symbol in enumerate(ca.vertsplit(q.sym)):
            owners.setdefault(symbol.element_hash(), (q.name, k))
    owners[clock.element_hash()] = (CLOCK, 0)
    symbols = ca.symvar(ca.veccat(*writer.expressions)) if writer.expressions else []
    return Archive(
        records=writer.records,
        arrays=writer.arrays,
        symbols=[(s.name(), *owners.get(s.element_hash(), ("", 0))) for s in symbols],
        tape=record_tape(symbols, writer.expressions),
        root=root,
    )


class _Reader:
    """Makes objects of records."""

    def __init__(self, archive: Archive, classes: Mapping[str, type], symbols: Sequence[ca.SX]) -> None:
        self.classes, self.arrays = classes, archive.arrays
        self.expressions = play_tape(archive.tape, symbols)
        self.objects: list[Any] = []
        self.families: dict[int, System] = {}
        for record in archive.records:
            self.objects.append(self._object(record))

    def value(self, stored: Any) -> Any:
        """Return the value that an entry of a record stands for. Raises ValueError for one that stands for
        none."""
        if stored is None or isinstance(stored, (bool, int, float, str)):
            return stored
        if not isinstance(stored, dict) or len(stored) != 1:
            raise ValueError(f"a field is {str(stored)[:60]}")
        (word, content), *_ = stored.items()
        if word == "float":
            return float(content)
        if word == "complex":
            return complex(float(content[0]), float(content[1]))
        if word == "path":
            return Path(content)
        if word in ("tuple", "list"):
            return (tuple if word == "tuple" else list)(self.value(each) for each in content)
        if word == "dict":
            return {self.value(k): self.value(v) for k, v in content}
        if word == "complex array":
            real, imaginary = self._item(self.arrays, content)
            return real + 1j * imaginary
        lists: dict[str, Sequence[Any]] = {
            "expression": self.expressions,
            "array": self.arrays,
            "record": self.objects,
        }
        if word not in lists:
            raise ValueError(f"a field is of the kind '{word}', which this version does not know")
        return self._item(lists[word], content)

    @staticmethod
    def _item(items: Sequence[Any], k: Any) -> Any:
        if not isinstance(k, int) or not 0 <= k < len(items):
            raise ValueError(f"a field refers to number {k} of {len(items)}")
        return items[k]

    def _object(self, record: dict[str, Any]) -> Any:
        """Return the object of one record."""
        name = str(record["class"])
        kind = self.classes.get(name)
        if kind is None:
            raise ValueError(f"it holds a '{name}', which this version does not know")
        fields_by_name = {f.name: f for f in dataclasses.fields(kind)}
        state = {label: self.value(stored) for label, stored in record["fields"].items()}
        if strangers := set(state) - set(fields_by_name):
            raise ValueError(
                f"'{name}' has the field '{min(strangers)}', which this version does not know: read it with "
                f"the version of strut that wrote it"
            )
        if kind is System:
            system = System(**state)
            family = self.families.setdefault(int(record["family"]), system)
            object.__setattr__(system, "cache", family.cache)  # variants share what is worked out of them
            return system
        for label, f in fields_by_name.items():
            if label not in state:
                state[label] = _default(f, name)
        thing: Any = object.__new__(kind)
        if isinstance(thing, Quantity):
            thing.__setstate__(state)
        else:
            thing.__dict__.update(state)
        return thing


def _default(f: dataclasses.Field[Any], name: str) -> Any:
    """Return what a field is that a file does not have."""
    if f.default is not dataclasses.MISSING:
        return f.default
    if f.default_factory is not dataclasses.MISSING:
        return f.default_factory()
    raise ValueError(f"'{name}' lacks the field '{f.name}'")


@checked
def from_archive(archive: Archive, classes: Mapping[str, type], model: System | None) -> tuple[System, Any]:
    """Return the system and the object of an archive. model: one whose symbols are used, so that its
    expressions fit the object's. Raises ValueError or the like for an archive that is damaged, ModelError for
    a system that is none."""
    own = {} if model is None else {q.name: ca.vertsplit(q.sym) for q in model.quantities()}
    symbols = []
    for label, owner, k in archive.symbols:
        if owner == CLOCK:
            symbols.append(clock)
        elif owner in own and k < len(own[owner]):
            symbols.append(own[owner][k])
        else:
            symbols.append(ca.SX.sym(str(label)))
    reader = _Reader(archive, classes, symbols)
    return reader.value(archive.root["system"]), reader.value(archive.root["result"])


__all__ = ["Archive", "from_archive", "room_classes", "to_archive"]
