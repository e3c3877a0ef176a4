"""Sizes and heights of every kind of page, in Chromium at 1100 px: `python -m bench.pages` prints the table
of docs/pages.md. Needs playwright and a browser; most pages are those of tests/report/test_page_kinds.py."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.report import test_page_kinds as kinds
from tests.view.browser import LOOKS, Visit, browser

COMMANDS = {
    "run: compass, 10 s": "run compass --set slope=3deg -t 10",
    "run: COMAN, 2 s": "run coman -t 2",
    "run: network of 17 joints, 3 s": "run examples/network/17_joints.cdn -t 3",
    "gait: compass, branch and basin": "gait compass --set slope=3deg --sweep slope=3deg:5deg:40 --basin",
}
"""Pages of commands, by what the table calls them."""


def pages(folder: Path) -> list[tuple[str, Path]]:
    """Make all pages, and return their names and files."""
    made: list[tuple[str, Path]] = []
    for name, words in COMMANDS.items():
        place = folder / f"{len(made)}{'' if words.startswith('gait') else '.html'}"
        command = [sys.executable, "-m", "strut", *words.split(), "-o", str(place)]
        subprocess.run(command, check=True, capture_output=True)
        made.append((name, place / "gait-1.html" if place.is_dir() else place))
    source: Any = kinds.made.__wrapped__  # type: ignore[attr-defined] # the fixture of the tests
    parts = source()
    makers: dict[str, Callable[[Any, Path], tuple[Path, list[str]]]] = kinds.KINDS
    for kind, make in makers.items():
        made.append((kind.replace("_", " "), make(parts, folder / f"{kind}.html")[0]))
        print(kind, file=sys.stderr, flush=True)
    return made


def main() -> None:
    """Print the table, in Markdown."""
    print("| page | size | height as opened | all parts open |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch, browser() as chromium:
        for name, path in pages(Path(scratch)):
            visit = Visit(chromium, path, **LOOKS["light"])
            height = "document.documentElement.scrollHeight"
            opened = visit.run(height)
            visit.open_all()
            size = f"{path.stat().st_size / 1000:,.0f} kB"
            print(f"| {name} | {size} | {opened:,} px | {visit.run(height):,} px |", flush=True)
            visit.context.close()


if __name__ == "__main__":
    main()
