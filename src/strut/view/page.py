"""`page`: a run as one HTML file that opens anywhere, without a network."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.errors import MissingExtraError, StrutError
from strut.view import plots
from strut.view.assets import DRAW, STYLE
from strut.view.curves import MOST_POINTS
from strut.view.film import PLAYER, film, film_controls

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from strut.simulate.trajectory import Occurrence, Trajectory

LISTED_EVENTS = 50
"""In the table: the first ones; all are in the trajectory."""

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a browser lets the page do: run what is in it, and load nothing."""


def page(trajectory: Trajectory, path: str | Path, title: str | None = None, remarks: str = "") -> Path:
    """Write a run as one HTML file, and return where it is.

    What ran and how it ended, a moving picture if the system has a scene or points (outputs NAME_x and NAME_z), states, energy, outputs,
    parameters, events and how to run it again. Plotly is inside, about 5 MB; the page asks nothing of any network.
    title: the heading, the system's name unless given. remarks: text to stand below it.
    """
    from strut.files import written

    text = document(trajectory, title, remarks)

    def write(scratch: Path) -> None:
        scratch.write_text(text, encoding="utf-8")

    return written(Path(path), write)


def document(trajectory: Trajectory, title: str | None = None, remarks: str = "") -> str:
    """The text of the page."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise MissingExtraError("plotly", "an HTML page", "view") from error
    drawn, picture = Drawn(), film(trajectory)
    sections = [
        _heading(trajectory, title, remarks),
        _moving(trajectory, picture),
        _states(trajectory, drawn),
        _energy(trajectory, drawn),
        _outputs(trajectory, drawn),
        _parameters(trajectory),
        _events(trajectory),
        _provenance(trajectory),
    ]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{_safe(title or trajectory.system_name)}</title>
<style>{STYLE}</style>
<script>{get_plotlyjs()}</script>
</head>
<body>
<main>
{"".join(sections)}
</main>
{_data("figures", f"[{','.join(figure.to_json() for figure in drawn.figures)}]")}
{_data("film", json.dumps(picture, allow_nan=False)) if picture else ""}
<script>{DRAW}{PLAYER}</script>
</body>
</html>
"""


class Drawn:
    """The figures of a page, in the order of their places in it."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def __call__(self, figures: Iterable[Figure]) -> str:
        """Keep figures, and return their places."""
        new = list(figures)
        self.figures += new
        return "".join(f'<div class="figure" style="height:{int(figure.layout.height)}px"></div>\n' for figure in new)


# ---- sections ----


def _heading(run: Trajectory, title: str | None, remarks: str) -> str:
    if run.status == "done":
        verdict = f'<span class="ok">Done</span>: ran from {run.t0:g} to {run.t1:g} s, as asked.'
    elif run.ok:
        verdict = f'<span class="ok">Ended</span> at {run.t1:.6g} s by the event “{_safe(run.status)}”.'
    else:
        verdict = f'<span class="stopped">Stopped</span> at {run.t1:.6g} s: {_safe(run.status)}.'
    count = run.statistics
    facts = {
        "system": run.system_name,
        "status": run.status,
        "time": f"{run.t0:g} to {run.t1:.6g} s",
        "steps": f"{count.get('steps', len(run.raw.t)):,.0f}",
        "events": f"{len(run.events):,}",
        "wall time": _duration(count.get("wall", math.nan)),
    }
    tiles = "".join(f"<div><dt>{_safe(name)}</dt><dd>{_safe(value)}</dd></div>" for name, value in facts.items())
    said = f'<p class="remarks">{_safe(remarks)}</p>' if remarks else ""
    return f'<h1>{_safe(title or run.system_name)}</h1>\n<p class="verdict">{verdict}</p>\n{said}<dl class="facts">{tiles}</dl>\n'


def _moving(run: Trajectory, picture: dict[str, Any] | None) -> str:
    if not picture:
        told = "A run loaded from a file needs its system to be shown in motion: Trajectory.load(file, system=...)."
        return _section("In motion", _note(told)) if plots.planar_points(run.names.outputs) and run.model is None else ""
    seen = "from the side, x to the right and z up" if picture["planar"] else "from its right, ahead and above"
    return _section("In motion", film_controls(picture) + _note(f"Seen {seen}. To turn it, and for films: animate().") + _notes(picture))


def _notes(picture: dict[str, Any]) -> str:
    return "".join(_note(note) for note in picture["notes"])


def _states(run: Trajectory, drawn: Drawn) -> str:
    content = drawn(plots.states(run)) + drawn(plots.held(run))
    counts = run.events.counts()
    if len(run.events) > plots.MOST_EVENTS:
        content += _note(f"{len(run.events):,} events: too many to mark.")
    elif counts:
        content += _note("Thin vertical lines mark events: " + ", ".join(f"{name} ({n})" for name, n in counts.items()) + ".")
    if len(run.t) > MOST_POINTS:
        content += _note(f"Long curves are thinned: of {len(run.t):,} points they keep the least and the greatest in every interval.")
    if portraits := plots.phase_portraits(run):
        content += f'<h3>Phase portrait</h3>\n<div class="pair">{drawn(portraits)}</div>\n'
    return _section("States", content)


def _energy(run: Trajectory, drawn: Drawn) -> str:
    if not run.names.stored:
        return ""
    try:
        account = run.ledger
    except StrutError as error:
        return _section("Energy", _note(str(error)))
    rows = [(name, f"{value:+.6g}" if name != "residual" else f"{value:.3g}") for name, value in account.summary().items()]
    content = drawn([plots.energy(run), plots.residual(run)])
    content += _note(
        f"Largest residual {account.residual:.3g} J, {account.relative:.2g} of the energy that moved. "
        "It is what stored, supplied, dissipated and lost energy leave unexplained."
    )
    return _section("Energy", content + "<h3>Over the whole run</h3>\n" + _table(("", "change of stored energy [J]"), rows, numbers=(1,)))


def _outputs(run: Trajectory, drawn: Drawn) -> str:
    return _section("Outputs", drawn(plots.outputs(run))) if run.names.outputs else ""


def _parameters(run: Trajectory) -> str:
    if not run.names.p:
        return ""
    rows = [(name, f"{value:.10g}", plots.unit_of(run, name)) for name, value in zip(run.names.p, run.p, strict=True)]
    return _section("Parameters", _table(("name", "value", "unit"), rows, numbers=(1,)))


def _events(run: Trajectory) -> str:
    if not len(run.events):
        return ""
    first = [run.events[k] for k in range(min(len(run.events), LISTED_EVENTS))]
    rows = [(f"{k}", f"{event.t:.9g}", event.name, _change(event)) for k, event in enumerate(first, start=1)]
    more = len(run.events) - len(first)
    return _section(
        "Events",
        _table(("", "time [s]", "event", "change"), rows, numbers=(0, 1), kind="box long")
        + (_note(f"and {more:,} more, not listed") if more else ""),
    )


def _change(event: Occurrence, most: int = 4) -> str:
    """What an event changed, in words."""
    changed = [f"{name} {before:.4g} → {event.after[name]:.4g}" for name, before in event.before.items() if before != event.after[name]]
    return ", ".join(changed[:most]) + (", …" if len(changed) > most else "")


def _provenance(run: Trajectory) -> str:
    about = {key: value for key, value in run.provenance.items() if key != "options"}
    counted = {key: _duration(value) if key in ("wall", "compile") else f"{value:,.6g}" for key, value in run.statistics.items()}
    lists = {"run": about, "options": run.provenance.get("options", {}), "statistics": counted}
    tables = "".join(_table((name, ""), list(rows.items())) for name, rows in lists.items() if rows)
    varied = any(np.ptp(run[name]) > 0 for name in run.names.u)
    advice = "With the same system" + (" and the controller that set its inputs" if varied else "") + ":"
    return _section(
        "Where it comes from",
        f'<div class="side">{tables}</div>\n<h3>How to run it again</h3>\n<p>{advice}</p>\n<pre><code>{_safe(again(run))}</code></pre>\n',
    )


def again(run: Trajectory) -> str:
    """Python that repeats a run, given its `system`."""
    begin = {group: {name: float(run[name][0]) for name in getattr(run.names, group)} for group in ("x", "z", "u")}
    given = {
        "t": tuple(run.provenance.get("t", (run.t0, run.t1))),
        "x0": begin["x"],
        "z0": begin["z"],
        "u": begin["u"],
        "p": dict(zip(run.names.p, run.p.tolist(), strict=True)),
        "seed": run.provenance.get("seed", 0),
    }
    given |= {
        key: value for key, value in run.provenance.get("options", {}).items() if value not in (None, math.inf) and key.isidentifier()
    }
    lines = [f"    {key}={value!r}," for key, value in given.items() if value != {}]
    return "\n".join(["import strut", "", f"run = strut.simulate(system,  # {run.system_name!r}", *lines, ")"])


# ---- HTML: everything that comes from a model or a user passes one of these ----


def _safe(text: object) -> str:
    return html.escape(str(text))


def _section(heading: str, content: str) -> str:
    return f"<section>\n<h2>{_safe(heading)}</h2>\n{content}</section>\n"


def _note(text: str) -> str:
    return f'<p class="note">{_safe(text)}</p>\n'


def _table(head: Sequence[str], rows: Iterable[Sequence[object]], numbers: tuple[int, ...] = (), kind: str = "box") -> str:
    """A table of plain texts; the columns `numbers` stand to the right."""

    def line(cells: Sequence[object], tag: str) -> str:
        kinds = [' class="number"' if k in numbers else "" for k in range(len(cells))]
        return "<tr>" + "".join(f"<{tag}{kind}>{_safe(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)) + "</tr>\n"

    top = f"<thead>{line(head, 'th')}</thead>\n" if any(head) else ""
    return f'<div class="{kind}"><table>\n{top}<tbody>{"".join(line(row, "td") for row in rows)}</tbody></table></div>\n'


def _data(name: str, text: str) -> str:
    """JSON as a part of the page: within a script element only '<' could end it."""
    return f'<script type="application/json" id="{name}">{text.replace("<", chr(92) + "u003c")}</script>'


def _duration(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "unknown"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:,.3g} s"
