"""Gaits that are held over a parameter as a `Result`: multipliers before and after, what a push takes, and
which one is survived."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from strut.checks import checked
from strut.control import HeldGait
from strut.gait import Survived, push
from strut.view.figures.figure import NEUTRAL, PALETTE, Figure, Line, Points
from strut.view.figures.swept_axis import swept_axis
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

BEFORE, AFTER = "largest multiplier before", "largest multiplier after"
"""Heads of the columns of multipliers [1]."""
PUSH = "push survived, of all rates"
"""Head of the column of the largest push in both directions that is survived, as a part of all rates [1]."""
EFFORT = " for a push of 1 %"
"""What stands behind an input at the head of the column of the most that a push takes of it, beyond the
plan."""
EFFORT_WORDS = "beyond the plan after a push of 1 %, at most"
"""With which names of costs end that say the same."""
PUSH_RESOLUTION = 0.01
"""[1] How exactly the largest push is wanted, as a part of the rates."""
MAX_PUSH = 1.0
"""[1] The largest push that is tried."""


def held_cells(value: float, held: HeldGait | None, why: str = "") -> dict[str, Any]:
    """Return what is told of one value: before, after, effort and push; of one without a gait, or that could
    not be held, `why`."""
    if held is None:
        return {
            "value": float(value),
            "held": "no",
            BEFORE: math.nan,
            AFTER: math.nan,
            PUSH: math.nan,
            "note": why,
        }
    before, after = (float(abs(each.multipliers[0])) for each in (held.before, held.gait))
    efforts = {
        f"{cost.name.split()[0]}{EFFORT} [{cost.unit}]": float(cost.after)
        for cost in held.costs
        if cost.name.endswith(EFFORT_WORDS)
    }
    survived = _survived_push(held) if held.stable else None
    least = None if survived is None else survived.less_than
    return {
        "value": float(value),
        "held": "yes" if held.stable else "no",
        BEFORE: before,
        AFTER: after,
        **efforts,
        PUSH: 0.0 if not held.stable else math.nan if survived is None else survived.largest,
        "note": "" if least is None else f"survives pushes of less than {least:.2g}, the smallest tried",
    }


def _survived_push(held: HeldGait) -> Survived | None:
    """The largest change of all rates, faster or slower, that the closed loop survives both ways, as a part
    of them; None where it has no rates."""
    gait = held.gait
    own = {name for name in held.before.x0 if name in gait.x0}
    rates = {q.name: float(gait.x0[q.name]) for q in gait.system.x if q.name in own and q.unit.endswith("/s")}
    if not any(rates.values()):
        return None
    ways = [{name: sign * value for name, value in rates.items()} for sign in (1.0, -1.0)]
    pushes = [push(gait, way, most=MAX_PUSH, exact=PUSH_RESOLUTION, trials_beyond=0) for way in ways]
    return min(pushes, key=lambda each: each.largest)


def shown_rows(
    rows: Sequence[Mapping[str, Any]], name: str, own_unit: str, unit: str = ""
) -> tuple[list[str], list[list[Any]]]:
    """Return heads and cells of a table: what was varied in the unit in which it was asked."""
    heads = list(dict.fromkeys(head for row in rows for head in row if head != "note"))
    if any(row["note"] for row in rows):
        heads.append("note")
    cells = [["" if _is_nan(row.get(head, "")) else row.get(head, "") for head in heads] for row in rows]
    return swept_axis(name, own_unit, unit).table(heads, cells, heads.index("value"))


def _is_nan(cell: Any) -> bool:
    return isinstance(cell, float) and math.isnan(cell)


@checked
def held_sweep_result(
    machine: str,
    name: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    own_unit: str = "",
    unit: str = "",
    asked: str = "",
) -> Result:
    """Turn gaits held over a parameter into a `Result`.

    machine: its name. name, own_unit: what was varied, and its SI unit. rows: of `held_cells`. unit: in which
    it is shown; its own unless given. asked: the command that was given.
    """
    heads, cells = shown_rows(rows, name, own_unit, unit)
    at = np.array([row[0] for row in cells], dtype=float)
    good = sum(row["held"] == "yes" for row in rows)
    efforts = [head for head in heads if EFFORT in head]
    figures = {f"multipliers_over_{name}": _multiplier_figure(rows, at, heads[0])}
    for head in (*efforts, PUSH):
        y = np.array([row.get(head, math.nan) for row in rows], dtype=float)
        if np.isfinite(y).any():
            figures[f"over_{name}_{head.split()[0]}"] = _curve_figure(head, at, y, heads[0])
    return Result(
        title=f"{machine}: gaits that are held, over {name}",
        good="Held" if good == len(rows) else "In part",
        verdict=f": {good} of {len(rows)} gaits are stable with their controllers.",
        well=good == len(rows),
        asked=asked,
        headline={"gaits": str(len(rows)), "held": str(good)},
        chapters=[
            Chapter(
                f"Over {name}",
                "",
                [],
                figures,
                "A disturbance is multiplied by the largest multiplier at every step: below 1 it dies out. A "
                "push changes all rates at once by the same part, faster or slower; the smaller of both is "
                "drawn. Efforts are the most of an input beyond the plan.",
                beside=True,
            ),
            Chapter("All of them", "", [Rows(heads, [tuple(row) for row in cells])]),
        ],
        data={
            "held_sweep": {
                "name": name,
                "unit": own_unit,
                "rows": [
                    {head: None if _is_nan(cell) else cell for head, cell in row.items()} for row in rows
                ],
            }
        },
    )


def _multiplier_figure(rows: Sequence[Mapping[str, Any]], at: np.ndarray, across: str) -> Figure:
    """The largest multiplier before and after, and the limit of stability."""
    traces: list[Line | Points] = [Line("limit of stability", at, np.ones(len(at)), NEUTRAL, "dash", 1.2)]
    for word, head, color in (("before", BEFORE, PALETTE[0]), ("after", AFTER, PALETTE[1])):
        y = np.array([row[head] for row in rows], dtype=float)
        traces += [Line(word, at, y, color), Points(word, at, y, color, size=6)]
    return Figure(tuple(traces), across, "largest multiplier [1]", height=320)


def _curve_figure(head: str, at: np.ndarray, y: np.ndarray, across: str) -> Figure:
    traces = (Line(head, at, y, PALETTE[1]), Points(head, at, y, PALETTE[1], size=6))
    title = f"{head} [1]" if head == PUSH else head
    return Figure(traces, across, title, legend=False, height=320)


__all__ = ["held_cells", "held_sweep_result", "shown_rows"]
