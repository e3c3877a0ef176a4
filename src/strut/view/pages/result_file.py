"""Results in files: JSON that describes itself, with figures as the data they show, and the run beside it as
HDF5."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np

from strut.errors import StorageError, StrutError
from strut.files import DAMAGE, put
from strut.simulate.trajectory import Trajectory
from strut.view.figures.figure import Figure, Trace
from strut.view.motion.film import check_film, film
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

FORMAT = "strut result 1"
"""The first entry of a file, by which it is known again."""
MAX_FILM_SIZE = 500_000
"""Letters up to which a film is kept in a file."""
TRACES: dict[str, type[Trace]] = {kind.__name__: kind for kind in get_args(Trace)}
"""Kinds of marks of figures by name: all there are."""


def save(result: Result, path: Path) -> Path:
    """Write a result as JSON and its run beside it; return where the JSON is."""
    if path.suffix.lower() != ".json":
        raise StorageError(f"cannot tell what to write from '{path.name}': a result is saved as .json")
    document = {"format": FORMAT} | {f.name: getattr(result, f.name) for f in fields(result)}
    document["chapters"] = [replace(chapter, films=_kept_films(chapter)) for chapter in result.chapters]
    if result.run is not None:
        document["run"] = result.run.save(path.with_suffix(".h5")).name
    return put(path, json.dumps(_plain(document), indent=1, allow_nan=False) + "\n")


def load(path: Path) -> Result:
    """Read a result and the run beside it. Raises StorageError for a file that is missing, damaged or not one
    of ours."""
    if not path.is_file():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict) or document.pop("format", "") != FORMAT:
            raise StorageError(f"cannot read {path}: it is JSON, but not a '{FORMAT}'")
        document["chapters"] = [_chapter(c) for c in document["chapters"]]
        name = document["run"]
        if name is not None:
            beside = path.with_name(Path(name).name)  # never elsewhere, whatever the file says
            document["run"] = Trajectory.load(beside) if beside.is_file() else None
            if document["run"] is None:
                document["remarks"] = (
                    f"{document['remarks']}\nIts run, {beside.name}, is not beside the file: motion and "
                    f"plots over time are missing."
                ).strip()
        return Result(**document)
    except DAMAGE as error:
        if isinstance(error, StrutError):
            raise
        raise StorageError(f"cannot read {path}: it is damaged or not a result ({error})") from error


def _chapter(entries: Mapping[str, Any]) -> Chapter:
    parts = {
        "tables": [Rows(**rows) for rows in entries["tables"]],
        "figures": {n: _figure(f) for n, f in entries["figures"].items()},
    }
    films = entries.get("films", {})
    for each in films.values():
        check_film(each)
    return Chapter(**{**entries, **parts})


def _kept_films(chapter: Chapter) -> dict[str, Mapping[str, Any]]:
    """What a chapter's films show, by their titles, without those that would make the file large."""
    films = {
        title: each if isinstance(each, Mapping) else film(each) for title, each in chapter.films.items()
    }
    return {title: each for title, each in films.items() if each and len(json.dumps(each)) <= MAX_FILM_SIZE}


def _figure(entries: Mapping[str, Any]) -> Figure:
    marks = {name: _array(times) for name, times in entries["marks"].items()}
    spans = {
        name: None if entries[name] is None else tuple(entries[name]) for name in ("span", "height_span")
    }
    shaded = {name: _array(parts) for name, parts in entries.get("shaded", {}).items()}
    traces = tuple(_trace(t) for t in entries["traces"])
    return Figure(**{**entries, "traces": traces, "marks": marks, "shaded": shaded, **spans})


def _trace(entries: Mapping[str, Any]) -> Trace:
    kind = TRACES[entries["kind"]]
    types = get_type_hints(kind)
    values = {name: _as_type(value, types[name]) for name, value in entries.items() if name != "kind"}
    return kind(**values)


def _as_type(value: Any, hint: Any) -> Any:
    """Turn a value of JSON into what a field of this type holds: an array, a tuple, a mapping of such, or the
    value itself."""
    if hint is np.ndarray:
        return _array(value)
    if get_origin(hint) is tuple:
        return tuple(value)
    if get_origin(hint) is Mapping:
        key, item = get_args(hint)
        return {key(name): _as_type(entry, item) for name, entry in value.items()}
    return value


def _array(values: Any) -> np.ndarray:
    return np.array(values, dtype=float)  # null is a gap: nan


def _plain(value: Any) -> Any:
    """What JSON can say: every digit of a number, null for nan and infinity."""
    if is_dataclass(value) and not isinstance(value, type):
        kind = {"kind": type(value).__name__} if type(value) in TRACES.values() else {}
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
