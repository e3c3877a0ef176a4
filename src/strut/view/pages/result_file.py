"""Results in files: JSON that describes itself, with figures as the data they show, and the run beside it as
HDF5."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import StorageError, StrutError
from strut.files import DAMAGE, put
from strut.simulate.trajectory import Trajectory
from strut.view.figures.figure import Areas, Cells, Figure, Flow, Line, Points
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

FORMAT = "strut result 1"
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (Line, Points, Areas, Cells, Flow)}


def save(result: Result, path: Path) -> Path:
    """The file, and the run beside it."""
    if path.suffix.lower() != ".json":
        raise StorageError(f"cannot tell what to write from '{path.name}': a result is saved as .json")
    document = {"format": FORMAT} | {f.name: getattr(result, f.name) for f in fields(result)}
    if result.run is not None:
        document["run"] = result.run.save(path.with_suffix(".h5")).name
    return put(path, json.dumps(_plain(document), indent=1, allow_nan=False) + "\n")


def load(path: Path) -> Result:
    """Read a result and the run beside it. Raises StorageError for a file that is missing, damaged or not one
    of ours."""
    if not path.is_file():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(known, dict) or known.pop("format", "") != FORMAT:
            raise StorageError(f"cannot read {path}: it is JSON, but not a '{FORMAT}'")
        known["chapters"] = [_chapter(c) for c in known["chapters"]]
        name = known["run"]
        if name is not None:
            beside = path.with_name(Path(name).name)  # never elsewhere, whatever the file says
            known["run"] = Trajectory.load(beside) if beside.is_file() else None
            if known["run"] is None:
                known["remarks"] = (
                    f"{known['remarks']}\nIts run, {beside.name}, is not beside the file: motion and plots "
                    f"over time are missing."
                ).strip()
        return Result(**known)
    except DAMAGE as error:
        if isinstance(error, StrutError):
            raise
        raise StorageError(f"cannot read {path}: it is damaged or not a result ({error})") from error


def _chapter(known: Mapping[str, Any]) -> Chapter:
    parts = {
        "tables": [Rows(**rows) for rows in known["tables"]],
        "figures": {n: _figure(f) for n, f in known["figures"].items()},
    }
    return Chapter(**{**known, **parts})


def _figure(known: Mapping[str, Any]) -> Figure:
    marks = {name: _array(times) for name, times in known["marks"].items()}
    spans = {name: None if known[name] is None else tuple(known[name]) for name in ("span", "height_span")}
    return Figure(**{**known, "traces": tuple(_trace(t) for t in known["traces"]), "marks": marks, **spans})


def _trace(known: Mapping[str, Any]) -> Any:
    kind = KINDS[known["kind"]]
    given = {name: value for name, value in known.items() if name != "kind"}
    for name in ("x", "y", "values"):
        if name in given:
            given[name] = _array(given[name])
    if kind is Areas:
        given["layers"] = {name: _array(values) for name, values in given["layers"].items()}
    if kind is Cells:
        given["names"] = {int(key): str(word) for key, word in given["names"].items()}
    return kind(
        **{name: tuple(value) if name in ("labels", "colors") else value for name, value in given.items()}
    )


def _array(values: Any) -> np.ndarray:
    return np.array(values, dtype=float)  # null is a gap: nan


def _plain(value: Any) -> Any:
    """What JSON can say: every digit of a number, null for nan and infinity."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": type(value).__name__} if type(value) in KINDS.values() else {}
        return kind | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
