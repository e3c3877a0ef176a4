"""Where a result comes from, and how to get it again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from strut.view.pages.report import Report, Rows

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

MAX_WRITTEN_VALUES = 600
"""Numbers that a run begins with, which are written out in the Python that repeats it; more are read from its
file."""


def add_provenance(
    report: Report,
    run: Trajectory | None,
    asked: str = "",
    python: str = "",
    more: Mapping[str, object] | None = None,
) -> None:
    """Say where a result comes from, and how to get it again: by the command `asked`, or in Python, the run's
    own unless given."""
    lists: dict[str, Mapping[str, object]] = {"result": more or {}}
    if run is not None:
        about = {key: value for key, value in run.provenance.items() if key != "options"}
        counted = {
            key: duration(value) if key in ("wall", "compile") else f"{value:,.6g}"
            for key, value in run.statistics.items()
        }
        lists |= {"run": about, "options": run.provenance.get("options", {}), "statistics": counted}
    if any(lists.values()):
        report.section("Where it comes from", folded=True)
        report.tables(
            [
                Rows((name, ""), [(key, str(value)) for key, value in rows.items()])
                for name, rows in lists.items()
            ]
        )
    if not (asked or python or run is not None):
        return
    if any(lists.values()):
        report.subheading("How to run it again")
    else:
        report.section("How to run it again", folded=True)
    if asked:
        report.text("On the command line:")
        report.code(asked)
    code = python or (rerun_code(run) if run is not None else "")
    varied = not python and run is not None and any(np.ptp(run[name]) > 0 for name in run.names.u)
    if not code:
        return
    needed = "" if "system =" in code or "system" not in code else ", with your system as “system”"
    report.text(f"In Python{needed}{', and the controller that set its inputs' if varied else ''}:")
    report.code(code)


def rerun_code(run: Trajectory, source: str = "") -> str:
    """Python that repeats a run, given its `system`, or the Python that makes it of `strut.walkers`."""
    names = run.names
    is_long = sum(map(len, (names.x, names.z, names.u, names.p))) > MAX_WRITTEN_VALUES
    span = repr(tuple(run.provenance.get("t", (run.t0, run.t1))))
    values: dict[str, str] = {"t": span}
    for argument, group in (("x0", "x"), ("z0", "z"), ("u", "u")):
        own = {name: float(run[name][0]) for name in getattr(names, group)}
        if own:
            values[argument] = (
                f"{{name: float(saved[name][0]) for name in saved.names.{group}}}" if is_long else repr(own)
            )
    if names.p:
        own = dict(zip(names.p, run.p.tolist(), strict=True))
        values["p"] = "dict(zip(saved.names.p, saved.p.tolist()))" if is_long else repr(own)
    options = {"seed": run.provenance.get("seed", 0)}
    options |= {
        key: value
        for key, value in run.provenance.get("options", {}).items()
        if value not in (None, math.inf) and key.isidentifier()
    }
    values |= {key: repr(value) for key, value in options.items() if value != {}}
    lines = [f"    {key}={text}," for key, text in values.items()]
    saved = ['saved = strut.Trajectory.load("run.h5")  # as run.save("run.h5") wrote it'] if is_long else []
    machine = (
        ["import strut", "from strut import walkers", "", f"system = {source}"]
        if source
        else ["import strut", ""]
    )
    return "\n".join([*machine, *saved, f"run = strut.simulate(system,  # {run.system_name!r}", *lines, ")"])


def duration(seconds: float) -> str:
    """Return a time as text, in ms where it is below a second."""
    if not math.isfinite(seconds):
        return "unknown"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:,.3g} s"


__all__ = ["add_provenance", "duration", "rerun_code"]
