"""`animation`: a run as a moving picture, in the format its path names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.checks import checked
from strut.errors import StorageError, UnknownNameError, did_you_mean
from strut.view.motion.player import Shown, document, player

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

PLAYER_OPTIONS = ("autoplay",)
"""Options of a player."""

FILM_OPTIONS = ("fps", "width", "height", "speed", "ghosts", "look", "view", "progress")
"""Options of a film."""


@checked
def animation(
    trajectory: Trajectory, path: str | Path | None = None, title: str | None = None, **options: Any
) -> Any:
    """A run as a moving picture; returns where it is.

    .html: a player that opens anywhere, offline: play, pause, scrub, speed, a camera to turn.
    `autoplay=False` waits for the button. .gif, .mp4: a film; `fps`, `width` and `height` [pixels], `speed`
    (0.5: half as fast as it was), `ghosts`, `view` ('side', 'corner', 'front' or 'above'; planar machines are
    filmed from the side, others from the corner unless given), `progress` (called with the part of the
    frames that are drawn, from 0 to 1). The camera follows what walks away.
    name%d.png, or name%04d.png: a file per frame; returns them all.
    Without a path, a player that a notebook shows.
    """
    if path is None:
        _check_options(
            options, PLAYER_OPTIONS, "a player (.html), which fills its window and has its own controls,"
        )
        return Shown(document(trajectory, title, **options))
    place = Path(path)
    kind = place.suffix.lower()
    if kind in (".html", ".htm"):
        _check_options(
            options, PLAYER_OPTIONS, "a player (.html), which fills its window and has its own controls,"
        )
        return player(trajectory, place, title, **options)
    if kind in (".gif", ".mp4", ".png"):
        from strut.view.motion import raster

        _check_options(options, FILM_OPTIONS, f"a film ({kind})")
        return {".gif": raster.gif, ".mp4": raster.mp4, ".png": raster.frames}[kind](
            trajectory, place, title=title, **options
        )
    raise StorageError(
        f"cannot tell what to film from '{place.name}': use .html, .gif, .mp4, or frames as name%d.png"
    )


def _check_options(options: dict[str, Any], known: tuple[str, ...], what: str) -> None:
    """Are these options of this kind of moving picture? If not, of which?"""
    for name in options:
        if name in known:
            continue
        other = (
            f"; .gif, .mp4 and frames as name%d.png have {', '.join(FILM_OPTIONS)}"
            if name in FILM_OPTIONS
            else ""
        )
        raise UnknownNameError(f"{what} has no option '{name}': {did_you_mean(name, list(known))}{other}")
