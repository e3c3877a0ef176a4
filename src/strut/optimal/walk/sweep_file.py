"""Points of a sweep in one SQLite file: written as they are found, so that a sweep that was killed goes on
where it was."""

from __future__ import annotations

import io
import json
import math
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from strut.errors import StorageError
from strut.files import DAMAGE
from strut.gait.gait import UNIT_MULTIPLIER_SLACK
from strut.optimal.nlp.scheme import lagrange
from strut.optimal.solver.curves import PhaseCurve, PiecewiseCurve, state_curve
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.result import Solution
from strut.optimal.walk.active_limits import ActiveLimit

FORMAT = "strut sweep 2"
"""Says what a file is, and of which version."""
COLUMNS = "value, ok, status, numbers, plan, limits"
"""Of a point, in the order of `_point`. Files of before there were limits get an empty column of them."""
LOCK_TIMEOUT = 60.0
"""How long a writer waits for another [s]."""


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """A design of a sweep. value: of what is varied. numbers: what was found, by name. plan: the motion, to
    begin others from. active_limits: those that decide it, with what moving them would change."""

    value: float
    ok: bool
    status: str
    numbers: dict[str, float]
    plan: Guess | None = field(repr=False, default=None)
    active_limits: tuple[ActiveLimit, ...] = field(repr=False, default=())

    @property
    def stable(self) -> bool | None:
        """Whether disturbances of its gait die out; None where it is no gait."""
        largest = self.numbers.get("largest multiplier", math.nan)
        return None if math.isnan(largest) else largest < 1 - UNIT_MULTIPLIER_SLACK


class SweepFile:
    """A file of points. asked: what is swept, and how; a file that holds another sweep is refused."""

    def __init__(self, path: Path, asked: dict[str, Any]) -> None:
        self.path, text = path, json.dumps(asked, sort_keys=True)
        with self._open() as base:
            base.execute("create table if not exists about (name text primary key, value text)")
            base.execute(
                "create table if not exists points (value real primary key, ok integer, status text, numbers "
                "text, plan blob, limits text)"
            )
            if "limits" not in {row[1] for row in base.execute("pragma table_info(points)")}:
                base.execute("alter table points add column limits text")
            about = dict(base.execute("select name, value from about"))
            if about and (about.get("format") != FORMAT or about.get("asked") != text):
                differs = (
                    _difference(_json_object(about.get("asked", "{}")), asked)
                    if about.get("format") == FORMAT
                    else "format"
                )
                raise StorageError(
                    f"{path} holds another sweep (its {differs} differs): give another file, or remove this "
                    f"one"
                )
            base.executemany(
                "insert or ignore into about values (?, ?)", [("format", FORMAT), ("asked", text)]
            )
        self._drop_damaged()

    def _drop_damaged(self) -> None:
        """Remove points that cannot be read, with a warning: they are found again, and block nothing."""
        with self._open() as base:
            for number, *row in base.execute(f"select rowid, {COLUMNS} from points").fetchall():
                try:
                    _point(row)
                except DAMAGE as error:
                    base.execute("delete from points where rowid = ?", (number,))
                    what = f"the point at {row[0]} in {self.path} is damaged ({error})"
                    warnings.warn(f"{what}: it is left out, and found again", stacklevel=4)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            base = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT)
            try:
                with base:
                    yield base
            finally:
                base.close()
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:  # also of a damaged message
            raise StorageError(f"cannot use {self.path} for a sweep: {error}") from error

    def put(self, point: SweepPoint, plan: bytes | None) -> None:
        """Write a point, at once and for good."""
        limits = json.dumps([asdict(each) for each in point.active_limits])
        row = (point.value, int(point.ok), point.status, json.dumps(point.numbers), plan, limits)
        with self._open() as base:
            base.execute(f"insert or replace into points ({COLUMNS}) values (?, ?, ?, ?, ?, ?)", row)

    def points(self) -> dict[float, SweepPoint]:
        """Return the points that are there, by value."""
        with self._open() as base:
            rows = base.execute(f"select {COLUMNS} from points order by value").fetchall()
        try:
            return {row[0]: _point(row) for row in rows}
        except DAMAGE as error:
            what = f"cannot read {self.path}: a point is damaged ({error})"
            raise StorageError(f"{what}; begin the sweep again, and it is left out") from error

    def count(self) -> int:
        """Return how many points there are."""
        with self._open() as base:
            return int(base.execute("select count(*) from points").fetchone()[0])


def _json_object(text: Any) -> dict[str, Any]:
    """Return what a text of JSON says, as far as it can be read."""
    try:
        document = json.loads(text)
    except DAMAGE:
        return {}
    return document if isinstance(document, dict) else {}


def _point(row: Sequence[Any]) -> SweepPoint:
    """Return a row of the file as a point; one that is damaged raises what `DAMAGE` lists."""
    value, ok, status, numbers, plan, limits = row
    by_name = json.loads(numbers)
    if not isinstance(by_name, dict) or not all(isinstance(each, (int, float)) for each in by_name.values()):
        raise ValueError("its numbers are none")
    if not math.isfinite(value) or not isinstance(status, str):
        raise ValueError("its value or its status is none")
    active = tuple(ActiveLimit(**each) for each in json.loads(limits)) if limits else ()
    motion = unpack_motion(plan) if plan else None
    return SweepPoint(float(value), bool(ok), status, by_name, motion, active)


def _difference(known: dict[str, Any], asked: dict[str, Any]) -> str:
    return ", ".join(name for name in asked if known.get(name) != asked[name]) or "content"


def pack_motion(result: Solution) -> bytes:
    """Return the motion of a result, as bytes that hold numbers and nothing else."""
    arrays: dict[str, Any] = {
        "names": np.array(list(result.parameters)),
        "values": np.array(list(result.parameters.values())),
    }
    for k, m in enumerate(result.phases):
        arrays |= {f"t{k}": m.t, f"x{k}": m.x, f"w{k}": m.w, f"a{k}": m.slopes[0], f"b{k}": m.slopes[1]}
        arrays |= {f"c{k}": m.places, f"i{k}": m.inner}
    target = io.BytesIO()
    np.savez_compressed(target, **arrays)
    return target.getvalue()


def unpack_motion(data: bytes) -> Guess:
    """Return the motion that bytes hold, to begin a search from."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        arrays = dict(file)
    stretches, k = [], 0
    while f"t{k}" in arrays:
        t, x, w = (arrays[f"{name}{k}"] for name in "txw")
        slopes, places = (arrays[f"a{k}"], arrays[f"b{k}"]), arrays.get(f"c{k}", np.empty(0))
        inner = arrays.get(f"i{k}", np.empty((0, 0, 0)))
        begin, span = float(t[0]), float(t[-1] - t[0])
        states = state_curve(t, x, slopes, places=places, inner=inner)
        inputs = PiecewiseCurve(t, w, lagrange(w.shape[1] - 1))
        stretches.append(Stretch(span, PhaseCurve(states, begin, span), PhaseCurve(inputs, begin, span)))
        k += 1
    return Guess(
        tuple(stretches), dict(zip(arrays["names"].tolist(), arrays["values"].tolist(), strict=True))
    )


__all__ = ["SweepFile", "SweepPoint", "pack_motion", "unpack_motion"]
