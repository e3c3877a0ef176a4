"""`Findings`: what `strut gait` found, as data, tables and files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut.cli.answer import warn
from strut.files import put
from strut.gait import Basin, BifurcationMap, GaitAtValue, gaits_at
from strut.gait.branch import Branch
from strut.gait.gait import Gait
from strut.view.figures.swept_axis import SweptAxis


@dataclass(frozen=True)
class Findings:
    """What a search for gaits found.

    branches: of a sweep, one for each gait. doubled: the branches of twice as many steps that begin on each
        of these. swept: the gaits of each branch at the values that were asked. basins: one for each gait.
        All empty where they were not asked for. maps: how it walks over the parameter of a sweep, of each
        gait; None where that is not known. axis: how the parameter of a sweep is shown.
    """

    gaits: list[Gait]
    branches: list[Branch]
    doubled: list[list[Branch]]
    swept: list[list[GaitAtValue]]
    basins: list[Basin]
    maps: list[BifurcationMap | None]
    axis: SweptAxis

    def data(self) -> dict[str, Any]:
        """Return what `strut gait --json` gives as its result."""
        document: dict[str, Any] = {"gaits": [g.data() for g in self.gaits]}
        if self.branches:
            document["branches"] = [
                branch_data(b, at) | {"doubled": [doubled_data(d, at) for d in m]}
                for b, m, at in zip(self.branches, self.doubled, self.swept, strict=True)
            ]
        if self.basins:
            document["basins"] = [
                {
                    "names": list(b.names),
                    "first": b.first,
                    "second": b.second,
                    "outcomes": b.outcomes,
                    "label": b.label.tolist(),
                }
                for b in self.basins
            ]
        return document


def branch_data(branch: Branch, swept: Sequence[GaitAtValue]) -> dict[str, Any]:
    """Return a branch as `--json` prints it: its gaits at the values that were asked, each a place in every
    list, with null where there is none."""
    points = [each.point for each in swept]
    return {
        "parameter": branch.name,
        "values": [each.value for each in swept],
        "period": [p and p.period for p in points],
        "states": {n: [p and float(p.y[k]) for p in points] for k, n in enumerate(branch.names)},
        "multipliers": [p and [[float(m.real), float(m.imag)] for m in p.multipliers] for p in points],
        "stable": [p and p.stable for p in points],
        "missing": [{"value": each.value, "why": each.why} for each in swept if each.point is None],
        "bifurcations": [{"kind": b.kind, "at": b.at} for b in branch.bifurcations],
        "ended": branch.ended,
        "steps": branch.steps,
    }


def doubled_data(branch: Branch, swept: Sequence[GaitAtValue]) -> dict[str, Any]:
    """Return a branch of more steps, which begins at a doubling, at those values that it comes to."""
    values = dict.fromkeys(each.value for each in swept)
    return branch_data(branch, [each for each in gaits_at(branch, list(values)) if each.point is not None])


def write_files(directory: Path, findings: Findings, asked: str, source: str) -> None:
    """Write of every gait a page with its sweep and its basin, the data of all that, and the figures; and
    tables of numbers.

    asked: the command that was given. source: Python that makes the system.
    """
    from strut.report import gait_result

    for k, g in enumerate(findings.gaits):
        result = gait_result(
            g,
            asked,
            branches=[findings.branches[k], *findings.doubled[k]] if findings.branches else [],
            swept=findings.swept[k] if findings.swept else (),
            step_map=findings.maps[k] if findings.maps else None,
            cells=findings.basins[k] if findings.basins else None,
            title=f"{g.system.name}: gait {k + 1}",
            source=source,
            unit=findings.axis.unit,
        )
        for why in result.folder(directory, f"gait-{k + 1}").missing:
            warn(why)
    for k, b in enumerate(findings.branches):
        put(directory / f"sweep-{k + 1}.csv", branch_csv(b, findings.swept[k]))
    for k, steps in enumerate(findings.maps):
        if steps is not None:
            put(directory / f"map-{k + 1}.csv", map_csv(steps))
    for k, cells in enumerate(findings.basins):
        put(directory / f"basin-{k + 1}.csv", basin_csv(cells))


def map_csv(steps: BifurcationMap) -> str:
    """Return steps that were walked as a table: parameter, time of the step, and the states after it."""
    columns = steps.columns()
    rows = [",".join(f"{v:.17g}" for v in row) for row in np.column_stack(list(columns.values()))]
    return "\n".join([",".join(columns), *rows]) + "\n"


def branch_csv(branch: Branch, swept: Sequence[GaitAtValue]) -> str:
    """Return the gaits at the values that were asked as a table: parameter, period, whether it is stable, and
    the states of every gait; nan where there is none."""
    nothing = [np.nan] * (2 + len(branch.names))
    rows = [
        [each.value, *((p.period, float(p.stable), *p.y) if (p := each.point) else nothing)] for each in swept
    ]
    lines = [",".join(f"{v:.17g}" for v in row) for row in rows]
    return "\n".join([",".join([branch.name, "period", "stable", *branch.names]), *lines]) + "\n"


def basin_csv(cells: Basin) -> str:
    """Return a basin as a table: the two states a run begins with, and what became of it."""
    a, b = (grid.ravel() for grid in np.meshgrid(cells.first, cells.second, indexing="ij"))
    lines = [f"{x:.9g},{y:.9g},{w}" for x, y, w in zip(a, b, cells.label.ravel(), strict=True)]
    return "\n".join([f"{cells.names[0]},{cells.names[1]},outcome", *lines]) + "\n"
