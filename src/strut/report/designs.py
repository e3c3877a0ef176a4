"""Designs of several machines as a `Result`: which costs least, and what each was found to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strut.checks import checked
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

if TYPE_CHECKING:
    from strut.optimal import DesignsByName


@checked
def designs_result(choice: DesignsByName, asked: str = "", title: str = "", *, note: str = "") -> Result:
    """Turn what `optimal.design_each` found into a `Result`: a table of the machines, and why some have no
    design that is trusted.

    asked: the command that was given. title: the heading. note: how the machines differ.
    """
    columns = choice.columns()
    rows = [tuple(row) for row in zip(*columns.values(), strict=True)]
    remarks = [
        *[(name, why) for name, each in choice.designs.items() for why in each.wrong],
        *[(name, each.sentence) for name, d in choice.designs.items() for each in d.active_limits],
        *choice.failures.items(),
    ]
    tables = [Rows(tuple(columns), rows)]
    tables += [Rows(("machine", "what is to be said of it"), remarks)] if remarks else []
    best, good = choice.best_or_none, sum(each.ok for each in choice.designs.values())
    first = next(iter(choice.designs.values()), None)
    meaning = "" if first is None else f"Cost: {first.cost.meaning}."
    facts = {"machines": str(len(rows)), "trusted": str(good), "costs least": best or "none"}
    if best is not None:
        facts |= {name: f"{value:.6g}" for name, value in choice.designs[best].parameters.items()}
        facts["cost"] = f"{choice.designs[best].result.cost:.6g}"
    return Result(
        title=title or "Designs of several machines",
        good="Found" if choice.ok else "In part" if good else "Not found",
        verdict=f": {good} of {len(rows)} designs are trusted, each replayed in the simulator.",
        well=choice.ok,
        remarks="Interrupted: machines that are not named were not tried." if choice.interrupted else "",
        asked=asked,
        facts=facts,
        chapters=[Chapter("All of them", meaning, tables, note=note)],
        data={"best": best, **{name: list(values) for name, values in columns.items()}},
    )


__all__ = ["designs_result"]
