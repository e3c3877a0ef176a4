"""`pareto_result`: a page of designs or individuals by several merits, and of those that no other beats in
all of them; from a table, or from a file of a job or a sweep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ShapeError, StorageError, UnknownNameError, did_you_mean
from strut.evolve import Individual, load_evolution, load_individuals
from strut.evolve.fronts import is_on_front
from strut.evolve.store import JobStore
from strut.optimal.walk.costs import COST_PART
from strut.report.front import MAX_SHOWN_OTHERS
from strut.report.job_pictures import JobPictures
from strut.report.walks import SHOWN_WALKS, spread_indices, with_squares
from strut.view.figures.figure import NEUTRAL, Figure, Line, Points, distinct_colors
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result
from strut.view.pages.table_file import read_table

MIN_MERITS = 2
"""Number of merits from which on there is something to weigh."""


@checked
@dataclass(frozen=True, eq=False)
class MeritTable:
    """Numbers of many candidates, a row for each, and where they came from.

    columns: by name, as many numbers each. title: what they are. less, more: merits that the source says
    itself, of which less or more is better. job: the job's file that they were evaluated in, if they were,
    and the names of its parameters. films: by row, title and film of candidates that have one. remark: who
    is not among them, in a sentence.
    """

    columns: Mapping[str, np.ndarray]
    title: str = ""
    less: Sequence[str] = ()
    more: Sequence[str] = ()
    job: Path | None = None
    parameters: Sequence[str] = ()
    films: Mapping[int, tuple[str, Any]] = field(default_factory=dict)
    remark: str = ""


@checked
def load_merits(path: str | Path) -> MeritTable:
    """Read candidates from a job's file (.db), the result of a sweep or of several machines (.json) or a
    table (.csv). Raises StorageError for other files."""
    place = Path(path).expanduser()
    if not place.is_file():
        raise StorageError(f"cannot read {place}: there is no such file")
    readers = {".db": _of_job, ".json": _of_result, ".csv": _of_table}
    if place.suffix.lower() not in readers:
        raise StorageError(
            f"cannot take merits from '{place.name}': give a job (.db), the result of a sweep (.json) or a "
            f"table (.csv)"
        )
    return readers[place.suffix.lower()](place)


def _of_job(path: Path) -> MeritTable:
    """The individuals of a job; where it sought a front, those that met the goals before it."""
    individuals, evolution = load_individuals(path), load_evolution(path)
    store = JobStore(path, read_only=True)
    try:
        parameters = [each["name"] for each in store.spec["problem"]["parameters"]]
    finally:
        store.close()
    fine = individuals["stage"] > 0  # others failed, and have no measures
    at_front = individuals["stage"] == evolution.stages if evolution.front is not None else fine
    short = int((fine & ~at_front).sum())
    columns = {
        name: column[at_front]
        for name, column in individuals.items()
        if name != "status" and not (name == "value" and evolution.front is not None)  # a front has none
    }
    goals = list(evolution.front.goals) if evolution.front is not None else []
    words = {"minimise": "less", "maximise": "more"}
    sides: dict[str, list[str]] = {"less": [], "more": []}
    for goal in goals:
        word, _, name = goal.partition(" ")
        if word in words and name in columns:
            sides[words[word]].append(name)
    return MeritTable(
        columns,
        f"Search: {path.stem}",
        sides["less"],
        sides["more"],
        job=path,
        parameters=parameters,
        remark=f" {short} others did not meet the goals before the front." if short else "",
    )


def _of_result(path: Path) -> MeritTable:
    result = Result.load(path)
    points = result.data.get("points")
    if isinstance(points, list):
        fine = [point for point in points if point.get("ok", True)]
        name = str(result.data.get("name", "value"))
        rows = [{name: p["value"]} | {k: v for k, v in p.items() if k != "value"} for p in fine]
        names = [n for n in (rows[0] if rows else ()) if _is_number(rows[0][n])]
        columns = {n: np.array([_number(row.get(n)) for row in rows]) for n in names}
        films = {title: each for chapter in result.chapters for title, each in chapter.films.items()}
        by_row = {
            k: (title, each)
            for title, each in films.items()
            for k, row in enumerate(rows)
            if title.startswith(f"{name} {row[name]:.5g},")
        }
        costs = [n for n in columns if n.startswith(COST_PART)]
        return MeritTable(columns, result.title, less=costs if len(costs) == MIN_MERITS else (), films=by_row)
    lists = {n: v for n, v in result.data.items() if isinstance(v, list) and v and _is_number(v[0])}
    if not lists or len({len(v) for v in lists.values()}) != 1:
        raise StorageError(f"{path.name} is the result of one thing: there is nothing to weigh against it")
    return MeritTable(
        {n: np.array([_number(v) for v in column]) for n, column in lists.items()}, result.title
    )


def _of_table(path: Path) -> MeritTable:
    head, rows = read_table(path)
    columns: dict[str, np.ndarray] = {}
    for k, name in enumerate(head):
        try:
            columns[name] = np.array([float(row[k]) for row in rows])
        except ValueError:  # words
            continue
    return MeritTable(columns, path.stem)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: Any) -> float:
    return float(value) if _is_number(value) else np.nan


@checked
def pareto_result(
    table: MeritTable | Mapping[str, Any],
    less: Sequence[str] = (),
    more: Sequence[str] = (),
    *,
    asked: str = "",
    title: str = "",
) -> Result:
    """Return a page of candidates by several merits, with those that no other beats in all of them (Pareto).

    table: of `load_merits`, or numbers by name, a row for each candidate. less, more: the names of merits of
    which less is better, or more; those that the table says itself unless given. asked: the command that was
    given. title: the heading. Raises UnknownNameError for a name that the table has not, ModelError for fewer
    than two merits.
    """
    merits = table if isinstance(table, MeritTable) else MeritTable(_columns(table))
    below, above = (less, more) if less or more else (merits.less, merits.more)
    names = [*below, *above]
    for name in names:
        if name not in merits.columns:
            raise UnknownNameError(f"there is no '{name}': {did_you_mean(name, list(merits.columns))}")
    if len(names) < MIN_MERITS or len(set(names)) < len(names):
        what = f"{', '.join(names)} alone is given" if names else "none is given"
        raise ModelError(
            f"weighing needs two or more different merits, and {what}: name what should be less and what "
            f"more, --less NAME and --more NAME; known are {', '.join(merits.columns)}. A job says its own "
            f"once an individual is at its front"
        )
    values = np.column_stack([merits.columns[n] * (1 if n in below else -1) for n in names])
    fine = np.isfinite(values).all(axis=1)
    unbeaten = np.flatnonzero(fine)[is_on_front(values[fine])]
    unbeaten = unbeaten[np.argsort(values[unbeaten, 0], kind="stable")]
    if not len(unbeaten):
        raise ModelError(f"no candidate has all of {', '.join(names)} as numbers")
    films = _films(merits, unbeaten, names)
    figures = _figures(merits, names, fine, unbeaten, {k: t for k, (t, _) in films.items()})
    columns = [*names, *(n for n in merits.columns if n not in names)]
    rows = [tuple(float(merits.columns[n][k]) for n in columns) for k in unbeaten]
    better = ", ".join([*(f"less {n}" for n in below), *(f"more {n}" for n in above)])
    left_out = len(fine) - int(fine.sum())
    remark = f" {left_out} others have no number for one of these." if left_out else ""
    remark += merits.remark
    return Result(
        title=title or f"{merits.title or 'Candidates'}: what cannot be bettered",
        good="Pareto front",
        verdict=f": {len(unbeaten)} of {int(fine.sum())} candidates are beaten by no other in all of "
        f"{better}.{remark}",
        well=None,
        asked=asked,
        headline={"unbeaten": str(len(unbeaten)), "candidates": str(int(fine.sum()))}
        | {
            f"best {n}": f"{merits.columns[n][unbeaten[_best(values[unbeaten], i)]]:.5g}"
            for i, n in enumerate(names)
        },
        chapters=[
            Chapter(
                "Front",
                "To be better in one, another must get worse. All others are grey.",
                figures=figures,
                beside=len(figures) > 1,
                films=dict(films.values()),
                one_film=True,
            ),
            Chapter("Unbeaten", "", [Rows(columns, rows)]),
        ],
        data={
            "less": list(below),
            "more": list(above),
            "unbeaten": {n: [r[k] for r in rows] for k, n in enumerate(columns)},
        },
    )


def _columns(table: Mapping[str, Any]) -> dict[str, np.ndarray]:
    columns = {str(name): np.asarray(values, dtype=float) for name, values in table.items()}
    if len({column.shape for column in columns.values()}) > 1 or any(c.ndim != 1 for c in columns.values()):
        raise ShapeError("merits need as many numbers of each name, a row for each candidate")
    return columns


def _best(values: np.ndarray, column: int) -> int:
    return int(np.argmin(values[:, column]))


def _figures(
    merits: MeritTable,
    names: Sequence[str],
    fine: np.ndarray,
    unbeaten: np.ndarray,
    titles: Mapping[int, str],
) -> dict[str, Figure]:
    """A figure of every pair of merits, with squares at those whose films there are."""
    others = np.setdiff1d(np.flatnonzero(fine), unbeaten)
    others = others[spread_indices(len(others), MAX_SHOWN_OTHERS)]
    color = distinct_colors(1)[0]
    figures: dict[str, Figure] = {}
    for a, b in combinations(names, 2):
        x, y = merits.columns[a], merits.columns[b]
        traces: list[Line | Points] = (
            [Points("others", x[others], y[others], NEUTRAL, size=3)] if len(others) else []
        )
        if len(names) == MIN_MERITS:
            traces.append(Line("front", x[unbeaten], y[unbeaten], color, width=1.0))
        traces.append(Points("unbeaten", x[unbeaten], y[unbeaten], color, "diamond", 8))
        numbers = list(titles)
        figure = Figure(tuple(traces), a, b, height=360)
        figures[f"front_{len(figures) + 1}"] = with_squares(
            figure, x[numbers], y[numbers], list(titles.values())
        )
    return figures


def _films(merits: MeritTable, unbeaten: np.ndarray, names: Sequence[str]) -> dict[int, tuple[str, Any]]:
    """Films of unbeaten candidates by their rows: those that the table has, or of a job some that are run
    once more."""
    films = {int(k): merits.films[int(k)] for k in unbeaten if int(k) in merits.films}
    if films or merits.job is None:
        return films
    rows = [int(unbeaten[k]) for k in spread_indices(len(unbeaten), SHOWN_WALKS)]
    try:
        runs = JobPictures().run(merits.job, [_individual(merits, k) for k in rows])
    except ModelError:  # a function, a program, or a machine that has nothing to show
        return {}
    texts = [", ".join(f"{n} {merits.columns[n][k]:.5g}" for n in names) for k in rows]
    return {
        k: (f"{n}: {text}", run) for n, (k, text, run) in enumerate(zip(rows, texts, runs, strict=True), 1)
    }


def _individual(merits: MeritTable, row: int) -> Individual:
    """A row of a job's table, as what can be run again."""
    at = {name: float(column[row]) for name, column in merits.columns.items()}
    return Individual(
        run=int(at["run"]),
        generation=int(at["generation"]),
        place=int(at["place"]),
        parameters={name: at[name] for name in merits.parameters if np.isfinite(at[name])},
        measures={},
        stage=int(at["stage"]),
        value=at.get("value", float("nan")),  # a front has none
    )


__all__ = ["MeritTable", "load_merits", "pareto_result"]
