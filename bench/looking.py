"""Looking: what it takes to write ten seconds of walking as a page, a player, and a folder with every
figure."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench.timing import Contender, Effort, Section, measure
from strut import simulate, view, walkers


def run(effort: Effort) -> list[Section]:
    walk = simulate(walkers.compass(), t=10.0)
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch)
        rows = measure(
            [
                Contender("strut", "page", lambda: view.page(walk, here / "walk.html")),
                Contender("strut", "player", lambda: walk.animate(here / "player.html")),
                Contender(
                    "strut",
                    "folder: page, data, figures as SVG and PNG",
                    lambda: view.folder(walk, here / "walk"),
                ),
            ],
            effort,
        )
    return [Section("compass, 10 s of walking, written", "-", rows, "needed: below 5 s")]
