"""`LiveResult`: a result whose machine can run on a page in a browser."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strut.checks import checked

WRITERS: dict[str, Callable[..., Path]] = {}
"""The function that writes live pages, under 'live': `strut.live` enters it when it is imported, so that runs
need not know that room."""


class LiveResult:
    """A result whose machine can run on a page: a run, a gait, a design."""

    @checked
    def live(self, path: str | Path, **options: Any) -> Path:
        """Write one page, .html, on which the machine runs in a browser, offline: sliders, pushes, its gait
        and maps. It begins with the parameters and the state of this result. See `strut.live.live_page`."""
        if "live" not in WRITERS:
            importlib.import_module("strut.live")
        return WRITERS["live"](self, path, **options)


__all__ = ["LiveResult"]
