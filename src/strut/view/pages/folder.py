"""`folder`: all of a run in a directory: the page, the data, and every plot for paper."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.checks import checked
from strut.errors import MissingExtraError, StorageError
from strut.simulate.live_result import pages_written
from strut.view.figures import contact_plots, plots
from strut.view.figures import energy_plots as joules
from strut.view.figures.figure import Figure
from strut.view.figures.save import save_on_paper
from strut.view.pages.page import page

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

FIGURE_SUFFIXES = (".svg", ".png")
"""Suffixes of the files that every figure of a folder is written as."""


@dataclass(frozen=True)
class Written:
    """What was written, and what could not be, and why."""

    directory: Path
    files: tuple[str, ...]
    missing: tuple[str, ...] = ()


@checked
def folder(
    trajectory: Trajectory,
    directory: str | Path,
    times: Any = None,
    asked: str = "",
    source: str = "",
    *,
    drawing: str = "",
) -> Written:
    """Write a run into a directory, made if needed: run.h5 (everything), run.csv (a table, at `times` if
    given), index.html with its live page, and the plots as SVG and PNG. The data comes first; where
    matplotlib is missing it is all there is, and `missing` says what to install. asked, source, drawing: for
    the page, see `page`."""
    place = ensure_directory(Path(directory))
    files = [trajectory.save(place / "run.h5"), trajectory.save(place / "run.csv", times)]
    missing: list[str] = []
    try:
        files += pages_written(
            page(trajectory, place / "index.html", asked=asked, source=source, drawing=drawing)
        )
    except MissingExtraError as error:
        missing.append(str(error))
    try:
        for name, figure in figures(trajectory).items():
            files += save_on_paper(
                [figure] if isinstance(figure, Figure) else figure,
                [place / f"{name}{kind}" for kind in FIGURE_SUFFIXES],
            )
    except MissingExtraError as error:
        missing.append(str(error))
    return Written(place, tuple(file.name for file in files), tuple(missing))


def ensure_directory(directory: Path) -> Path:
    """Make a directory, with those above it, and return it; raise `StorageError` where that fails."""
    place = directory.expanduser()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"cannot make the directory {place}: {error.strerror}; choose another") from error
    return place


def figures(run: Trajectory) -> dict[str, Figure | plots.Panels]:
    """Every plot of a run that there is something to see in, by the name of its file."""
    by_name: dict[str, Figure | plots.Panels] = {
        "states": plots.states(run),
        "held": plots.held_signals(run),
        "outputs": plots.outputs(run),
    }
    by_name |= {f"phase_{_word(a)}": plots.phase_portrait(run, a, b) for a, b in plots.state_pairs(run)[:4]}
    landed = [name for name in run.names.step_events if name in run.events.counts()]
    by_name["section"] = plots.sections(run, most=2)
    if run.names.stored and run.has_ledger:
        by_name |= {"energy": joules.energy(run), "energy_layers": joules.energy_areas(run)}
        if all(joules.flows(run)):
            by_name["energy_flow"] = joules.energy_flow(run)
        if landed:
            by_name["energy_per_step"] = joules.energy_per_step(run)
    feet = contact_plots.contacts(run)
    if feet:
        by_name["forces"] = contact_plots.contact_forces(run)
    by_name |= {
        f"cone_{_word(foot)}": contact_plots.friction_cone(run, foot)
        for foot, (_, friction) in list(feet.items())[:4]
        if friction
    }
    return {name: figure for name, figure in by_name.items() if isinstance(figure, Figure) or len(figure)}


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name)
