"""The animation player: one HTML file that plays a run in space, offline. three.js, which draws it, is
inside."""

from __future__ import annotations

import html
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from strut.files import put
from strut.view.motion.film import encode_film, film_controls
from strut.view.motion.flat import VIEW_ANGLES
from strut.view.motion.frames import require_frames
from strut.view.pages.sheet import inline_json, part, sheet

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

VIEWS = tuple(VIEW_ANGLES)
"""Directions that a viewer can choose."""


def document(trajectory: Trajectory, title: str | None = None, autoplay: bool = True) -> str:
    """The text of the player of a run."""
    stage = require_frames(trajectory)
    film = encode_film(stage, trajectory.dimensionless)
    name = title or trajectory.system_name
    first = "side" if stage.planar else "corner"
    views = "".join(f"<option{' selected' if v == first else ''}>{v}</option>" for v in VIEWS)
    more = (
        '<label class="space">camera <select id="camera"><option value="follow">follows</option>\n'
        '<option value="stay">stays</option></select></label>'
        f'<label class="space">from <select id="view">{views}</select></label>\n'
    )
    notes = "".join(f'<p class="note">{html.escape(note)}</p>' for note in film["notes"])
    plays = ' data-autoplay="yes"' if autoplay else ""
    data = inline_json("film", film, f'data-focus="yes"{plays}')
    span = f"{stage.t[0]:g} to {stage.t[-1]:.6g}{film['units']['time']}"
    body = f"""<header><h1>{html.escape(name)}</h1><p class="note">{span}. Space plays, arrow keys step<span
class="space">; drag turns, the wheel comes closer, the right button shifts</span>.</p>{notes}</header>
{film_controls(film, more, turns=False)}{data}"""
    scripts = part("three.js"), "".join(map(part, ("time.js", "film.js", "flat.js", "space.js", "start.js")))
    return sheet(name, "player.css", body, scripts)


def player(trajectory: Trajectory, path: str | Path, title: str | None = None, autoplay: bool = True) -> Path:
    """Write the player of a run, and return where it is."""
    return put(Path(path), document(trajectory, title, autoplay))


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
