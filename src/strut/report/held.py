"""A gait that is held as a `Result`: multipliers, what is survived and how disturbances die out, before and
after."""

from __future__ import annotations

import numpy as np

from strut.checks import checked
from strut.control import Compared, HeldGait
from strut.gait import Gait
from strut.report.gait import gait_run
from strut.view.figures.figure import PALETTE, Figure, Line
from strut.view.figures.gait_plots import multipliers
from strut.view.pages.headline import headline as page_headline
from strut.view.pages.report import Rows
from strut.view.pages.result import Chapter, Result

SHOWN_STEPS = 12
"""Steps after a push that the figure of recovery shows."""
SHOWN_PUSH = 0.01
"""[1] The push of that figure: all rates change by this part of themselves."""
SMALLEST_DISTANCE = 1e-9
"""Distances from the gait, relative to the first, below which a figure shows nothing more."""


@checked
def held_result(held: HeldGait, asked: str = "", *, title: str = "", source: str = "") -> Result:
    """Turn what `control` returned into a `Result`: before and after, beside each other.

    asked: the command that was given. title: the heading, if not the system's name. source: Python that makes
    what was held.
    """
    before, after = (float(abs(g.multipliers[0])) for g in (held.before, held.gait))
    word = "Held" if held.stable else "Not held"
    verdict = f" by {held.method}: the largest multiplier was {before:.5g}, and is {after:.5g}."
    facts = {row.name: f"{' → '.join(row.texts(_text))} {row.unit}".strip() for row in _main(held)}
    run = gait_run(held.gait)
    walked = {**page_headline(run), "stable": f"{'yes' if held.stable else 'no'}, {after:.5g}"}
    head = ("", "before", "after", "unit")
    rows = [(c.name, *c.texts(_text), c.unit) for c in held.comparison]
    of_rows = "What is survived, with all that is smaller" if held.survival else "Stability"
    costs = [(c.name, *c.texts(_text), c.unit) for c in held.costs]
    chapters = [
        Chapter(
            "Before and after",
            "",
            [
                Rows(head, rows, of_rows),
                Rows(head, costs, "What it costs"),
            ],
            note=" ".join(
                [f"{fault}." for fault in held.effort_faults]
                + [f"What its design was asked and the loop does not keep: {each}." for each in held.unkept]
                + [f"{c.name} is not known: {c.note}." for c in held.comparison if c.unknown]
            ),
        ),
        Chapter(
            "Stability",
            "",
            [],
            {
                "multipliers": multipliers(
                    {"before": held.before.multipliers, "after": held.gait.multipliers}
                ),
                "recovery": recovery_figure(held),
            },
            "A disturbance is multiplied by the multipliers at every step. Beside: how far from the gait "
            f"the machine is after each step, once all rates were changed by {100 * SHOWN_PUSH:g} %.",
            beside=True,
        ),
        Chapter(
            "Settings",
            "",
            [Rows(("", "value", "unit"), [(n, _text(v), unit) for n, v, unit in held.setting_rows()])],
        ),
    ]
    return Result(
        title=title or f"{held.system.name}: a gait that is held",
        good=word,
        verdict=verdict,
        well=held.stable,
        asked=asked,
        headline=walked,
        facts=facts,
        chapters=chapters,
        run=run,
        provenance={"section": held.gait.section, "method": held.method},
        again=source,
        data={"held": held.data()},
    )


def _main(held: HeldGait) -> list[Compared]:
    """The comparisons that stand above all others: multiplier, step down and pushes."""
    return [row for row in held.comparison if "error" not in row.name]


def _text(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "not known"


@checked
def recovery_figure(held: HeldGait) -> Figure:
    """How far from its gait a machine is after every step that follows a push, before and after, relative to
    where the push put it; a machine that falls has that in its name."""
    lines = []
    for word, gait, color in (("before", held.before, PALETTE[0]), ("after", held.gait, PALETTE[1])):
        distances = distances_after_push(gait)
        steps = np.arange(len(distances), dtype=float)
        falls = (
            f", falls in step {len(steps)}" if len(steps) <= SHOWN_STEPS else ""
        )  # at once: no line at all
        lines.append(Line(word + falls, steps, np.log10(np.maximum(distances, SMALLEST_DISTANCE)), color))
    return Figure(tuple(lines), "steps [1]", "distance from the gait, relative, power of ten [1]", height=420)


def distances_after_push(gait: Gait) -> np.ndarray:
    """Distances from a gait after each step that follows a push, relative to the first; up to where it falls.
    States are measured by their size in the gait."""
    units = {label: q.unit for q in gait.system.x for label in q.labels}
    rate = np.array([units[name].endswith("/s") for name in gait.names])
    size = np.maximum(np.abs(gait.y0), 0.1)
    y, step, distances = gait.y0 * (1 + SHOWN_PUSH * rate), gait.map(), []
    for _ in range(SHOWN_STEPS + 1):
        distances.append(float(np.linalg.norm((y - gait.y0) / size)))
        after = step(y)
        if not after.ok:
            break
        y = after.y
    return np.array(distances) / max(distances[0], 1e-300)


__all__ = ["held_result", "recovery_figure"]
