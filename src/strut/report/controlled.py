"""A run under a sampled controller as a `Result`: what was commanded, how far tasks were missed, and how
every quadratic program was solved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from strut.checks import checked
from strut.control import ControlledRun
from strut.view.figures.figure import Figure, Line, distinct_colors
from strut.view.figures.plots import plot_samples
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

ERROR_SUFFIX = "_error"
"""With which the names of outputs end that say how far a task is missed."""
RESIDUALS = ("stationarity", "feasibility", "complementarity")
"""Conditions of Karush, Kuhn and Tucker, as the samples have them."""
MIN_RESIDUAL = 1e-18
"""[1] Residuals below this are drawn as this."""


@checked
def controlled_result(run: ControlledRun, asked: str = "", *, title: str = "", source: str = "") -> Result:
    """Turn a run of a `QpController`, such as `control.whole_body` gives, into a `Result`: the machine's
    motion, its commands, the errors of its tasks, and what became of every sample.

    asked: the command that was given. title: the heading, if not the names of machine and controller. source:
    Python that makes the run.
    """
    controller, machine = run.controller, run.trajectory.system_name
    good = "Controlled" if run.ok else "Not as asked"
    verdict = f": {len(run.samples)} programs, all solved." if run.ok else f": {run.faults}."
    errors = [label for label in controller.labels["outputs"] if ERROR_SUFFIX in label]
    commands = {
        f"commands-{k}" if k else "commands": panel
        for k, panel in enumerate(run.plot() if controller.command else ())
    }
    chapters = [
        Chapter("Commands", "", [_ranges(run, list(controller.command), "Commands")], commands),
        *(
            [
                Chapter(
                    "Tasks",
                    "How far each task is from what it asks for.",
                    [_ranges(run, errors, "Errors")],
                    {"task-errors": plot_samples(run.t, {name: (run[name], "") for name in errors})[0]},
                )
            ]
            if errors
            else []
        ),
        Chapter(
            "Quadratic programs",
            "",
            [
                Rows(("sample", "samples"), [(name, str(count)) for name, count in run.counts.items()]),
                Rows(
                    ("given up", "samples"),
                    [(name, str(count)) for name, count in run.missed_rows.items()],
                    "Rows that were missed most",
                ),
            ],
            {"residuals": residual_figure(run)},
            "Every solution is held against the conditions of Karush, Kuhn and Tucker of its program.",
        ),
    ]
    return Result(
        title=title or f"{machine} under {controller.name}",
        good=good,
        verdict=verdict,
        well=run.ok,
        asked=asked,
        facts={
            "samples": str(len(run.samples)),
            "period": f"{controller.every:g} s",
            "unsolved or relaxed": str(run.unsolved_samples),
            "largest KKT residual": f"{run.kkt:.2g}",
        },
        chapters=chapters,
        run=run.trajectory,
        provenance={"controller": controller.name, "solver": run.solver},
        again=source,
        data={"controlled": {"counts": dict(run.counts), "missed_rows": run.missed_rows, "kkt": run.kkt}},
    )


def _ranges(run: ControlledRun, names: Sequence[str], title: str) -> Rows:
    """Least, mean and largest value of some columns."""
    units = run.units
    rows = []
    for name in names:
        column = run[name]
        values = column[np.isfinite(column)]
        texts = (
            [f"{v:.5g}" for v in (values.min(), values.mean(), values.max())] if len(values) else ["-"] * 3
        )
        rows.append((name, *texts, units.get(name, "")))
    return Rows(("", "least", "mean", "largest", "unit"), rows, title)


def residual_figure(run: ControlledRun) -> Figure:
    """The residuals of every program over time, as powers of ten."""
    lines = tuple(
        Line(name, run.t, np.log10(np.maximum(run[name], MIN_RESIDUAL)), color)
        for name, color in zip(RESIDUALS, distinct_colors(len(RESIDUALS)), strict=True)
    )
    return Figure(lines, "t [s]", "relative residual, power of ten [1]", over_time=True)


__all__ = ["controlled_result", "residual_figure"]
