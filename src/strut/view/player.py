"""The animation player: one HTML file that plays a run in space, offline. three.js, which draws it, is inside."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strut.files import written
from strut.view.film import encoded, film_controls, inlined, script
from strut.view.staged import needed

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a browser lets the page do: run what is in it, and load nothing."""

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #5b6470; --line: #dfe3e8; --tint: #f3f5f8; --accent: #0072B2;
  --sky: #eef2f6; --earth: #ffffff; --ground: #e4e8ec; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171b; --ink: #e8eaed; --soft: #a0a8b3; --line: #2d333b; --tint: #1c2127; --accent: #56B4E9;
    --sky: #1a1f25; --earth: #59626c; --ground: #2a3038; } }
* { box-sizing: border-box; }
html, body { margin: 0; height: 100%; }
body { display: flex; flex-direction: column; background: var(--paper); color: var(--ink); overflow: hidden;
  font: 15px/1.4 system-ui, -apple-system, "Segoe UI", sans-serif; }
header { padding: .6rem 1rem; display: flex; gap: .2rem 1rem; align-items: baseline; flex-wrap: wrap; }
h1 { font-size: 1.1rem; margin: 0; overflow-wrap: anywhere; }
.note { color: var(--soft); font-size: .88rem; margin: 0; }
canvas { flex: 1; min-height: 0; width: 100%; display: block; background: var(--sky); touch-action: none; }
.controls { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; padding: .45rem 1rem; }
.controls + .controls { padding-top: 0; font-size: .92rem; }
.controls button { font: inherit; min-width: 5rem; padding: .35rem .9rem; border: 0; border-radius: 6px; background: var(--accent);
  color: var(--paper); cursor: pointer; }
.controls select { font: inherit; padding: .25rem; background: var(--tint); color: var(--ink); border: 1px solid var(--line);
  border-radius: 6px; }
.controls #frame { flex: 1 1 6rem; min-width: 0; accent-color: var(--accent); }
.controls output { min-width: 4.2rem; text-align: right; font-variant-numeric: tabular-nums; }
.controls label { display: inline-flex; gap: .35rem; align-items: center; white-space: nowrap; }
"""

VIEWS = ("side", "corner", "front", "above")


def document(trajectory: Trajectory, title: str | None = None, autoplay: bool = True) -> str:
    """The text of the player of a run."""
    stage = needed(trajectory)
    film = encoded(stage)
    name = html.escape(title or trajectory.system_name)
    first = "side" if stage.planar else "corner"
    views = "".join(f"<option{' selected' if v == first else ''}>{v}</option>" for v in VIEWS)
    more = f"""<label class="space">camera <select id="camera"><option value="follow">follows</option>
<option value="stay">stays</option></select></label><label class="space">from <select id="view">{views}</select></label>
"""
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in film["notes"])
    data = inlined("film", film)
    if autoplay:
        data = data.replace('id="film"', 'id="film" data-autoplay="yes"', 1)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{name}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{name}</h1><p class="note">{stage.t[0]:g} to {stage.t[-1]:.6g} s. Space plays, arrow keys step<span class="space">;
drag turns, the wheel comes closer, the right button shifts</span>.</p>{notes}</header>
{film_controls(film, more)}{data}
<script>{script("three.js")}</script>
<script>{script("film.js")}{script("flat.js")}{script("space.js")}{script("start.js")}</script>
</body>
</html>
"""


def player(trajectory: Trajectory, path: str | Path, title: str | None = None, autoplay: bool = True) -> Path:
    """Write the player of a run, and return where it is."""
    text = document(trajectory, title, autoplay)

    def write(scratch: Path) -> None:
        scratch.write_text(text, encoding="utf-8")

    return written(Path(path), write)


@dataclass(frozen=True)
class Shown:
    """A player for a notebook, in a frame of its own."""

    text: str
    height: int = 480

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.text)}" style="width:100%;height:{self.height}px;border:0" '
            'sandbox="allow-scripts" title="the machine in motion"></iframe>'
        )
