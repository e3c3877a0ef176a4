"""`animation`: a run as a moving picture, in the format its path names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.errors import StorageError
from strut.view.player import Shown, document, player

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory


def animation(trajectory: Trajectory, path: str | Path | None = None, title: str | None = None, **options: Any) -> Any:
    """A run as a moving picture; returns where it is.

    .html: a player that opens anywhere, offline: play, pause, scrub, speed, a camera to turn. `autoplay=False` waits for the button.
    .gif, .mp4: a film; `fps`, `width` and `height` [pixels], `speed` (0.5: half as fast as it was), `ghosts`.
    name%d.png, or name%04d.png: a file per frame; returns them all.
    Without a path, a player that a notebook shows.
    """
    if path is None:
        return Shown(document(trajectory, title, **options))
    place = Path(path)
    kind = place.suffix.lower()
    if kind in (".html", ".htm"):
        return player(trajectory, place, title, **options)
    if kind in (".gif", ".mp4", ".png"):
        from strut.view import raster

        return {".gif": raster.gif, ".mp4": raster.mp4, ".png": raster.frames}[kind](trajectory, place, title=title, **options)
    raise StorageError(f"cannot tell what to film from '{place.name}': use .html, .gif, .mp4, or frames as name%d.png")
