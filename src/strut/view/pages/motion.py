"""Moving pictures of a page: one run, or several beside each other."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from strut.html import safe
from strut.view.motion import svg
from strut.view.motion.film import FILMS, PLAYER, film, film_controls
from strut.view.pages.report import Report
from strut.view.units import quantity

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory


def motion(run: Trajectory, report: Report) -> None:
    """Add a section with a run as a moving picture, and of one that walks the strip over its last step."""
    picture = film(run)
    if picture:
        report.section("In motion")
        report.embed(film_controls(picture), {"film": picture}, PLAYER)
        seen = (
            "from the side, x to the right and z up"
            if picture["planar"]
            else "from its right, ahead and above"
        )
        report.note(f"Seen {seen}, or in space from anywhere. Films: animate(), or strut view FILE --film.")
        for note in picture["notes"]:
            report.note(note)
        if sum(run.events.counts().get(name, 0) for name in run.names.step_events) > 1:
            drawn = svg.strip(run)
            report.subheading("One step")
            report.embed(svg.inline(drawn))
            report.note(
                f"From {drawn.begin:.4g} to {quantity(run, f'{drawn.end:.4g}', 's')}; first and last pose "
                "heavy, the path of the centre of mass in violet."
            )
    elif run.names.points and run.model is None:
        report.section("In motion")
        report.note(
            "A run loaded from a file needs its system to be shown in motion: Trajectory.load(file, "
            "system=...)."
        )


def films_beside(
    runs: Mapping[str, Trajectory | Mapping[str, Any]],
    report: Report,
    *,
    one_at_a_time: bool = False,
    heading: str = "",
) -> None:
    """Add several runs as moving pictures beside each other, with one time: Play of one or of all plays all.

    runs: by title, runs or what `film` made of them. one_at_a_time: the first alone, and another when its
    point is clicked in a figure (`Points.walks`) or its title is chosen. heading: of the section that they
    begin, where any of the runs can be shown.
    """
    parts: list[str] = []
    data = {}
    films = {title: run if isinstance(run, Mapping) else film(run) for title, run in runs.items()}
    for title, picture in films.items():
        if picture is None:
            continue
        content = json.dumps(picture, sort_keys=True)
        name = f"film-{hashlib.sha256((title + content).encode()).hexdigest()[:12]}"
        controls = film_controls(picture, prefix=f"{name}-")
        hidden = " hidden" if one_at_a_time and parts else ""
        walk = f' data-walk="{safe(title)}"' if one_at_a_time else ""
        parts.append(f'<div data-film="{name}"{walk}{hidden}><h3>{safe(title)}</h3>\n{controls}</div>\n')
        data[name] = picture
    if not parts:
        return
    if heading:
        report.section(heading)
    choice = ""
    if one_at_a_time and len(parts) > 1:
        options = "".join(f"<option>{safe(title)}</option>" for title, each in films.items() if each)
        choice = f'<label class="walks">walk <select>{options}</select></label>\n'
    elif len(parts) > 1:
        choice = '<div class="controls together"><button type="button">Play all</button></div>\n'
    report.embed(f'<div class="pair">{choice}{"".join(parts)}</div>\n', data, FILMS)


__all__ = ["films_beside", "motion"]
