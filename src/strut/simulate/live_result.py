"""`LiveResult`: a result whose machine can run on a page in a browser; and the switch to that page."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from strut.checks import checked

WRITERS: dict[str, Callable[..., Any]] = {}
"""The function that writes live pages, under 'live', and the one that writes them beside other pages, under
'beside': `strut.live` enters them when it is imported, so that runs need not know that room."""


def _writer(name: str) -> Callable[..., Any]:
    if name not in WRITERS:
        importlib.import_module("strut.live")
    return WRITERS[name]


def live_place(page: Path) -> Path:
    """Return where the live page of a page is, beside it."""
    return page.with_name(f"{page.stem}-live.html")


def pages_written(page: Path) -> list[Path]:
    """Return a page and the live one beside it, where there is one."""
    return [place for place in (page, live_place(page)) if place.is_file()]


def add_live_page(run: Any, page: Path) -> Path:
    """Write the live page of a run's machine beside a page of that run, which gets a switch that leads there,
    or says why there is none; return the page."""
    _writer("beside")(run, page)
    return page


class LiveResult:
    """A result whose machine can run on a page: a run, a gait, a design."""

    @checked
    def live(self, path: str | Path, **options: Any) -> Path:
        """Write one page, .html, on which the machine runs in a browser, offline: sliders, pushes, its gait
        and maps. It begins with the parameters and the state of this result. See `strut.live.live_page`."""
        where: Path = _writer("live")(self, path, **options)
        return where


__all__ = ["LiveResult", "add_live_page", "live_place", "pages_written"]
