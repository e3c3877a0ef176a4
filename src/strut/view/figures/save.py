"""`save`: a figure as a file, of the kind that its name says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from strut.checks import checked
from strut.errors import StorageError
from strut.files import put
from strut.view.figures.figure import Figure

PAPER_SUFFIXES = (".png", ".svg", ".pdf")
"""Suffixes of files that matplotlib writes."""


@checked
def save(figure: Figure | Iterable[Figure], path: str | Path) -> Path:
    """Write a figure, or several below each other, and return where they are: .png, .svg or .pdf (the extra
    `paper`), .html (the extra `view`). The file appears whole or not at all."""
    path = Path(path)
    figures = [figure] if isinstance(figure, Figure) else list(figure)
    kind = path.suffix.lower()
    if kind in PAPER_SUFFIXES:
        return save_on_paper(figures, [path])[0]
    if kind == ".html":
        from strut.view.pages.report import Report

        report = Report(path.stem)
        report.figures(*figures)
        return report.save(path)
    raise StorageError(
        f"cannot tell what to write from '{path.name}': use .png, .svg or .pdf for paper, or .html"
    )


def save_on_paper(figures: Sequence[Figure], paths: Sequence[Path]) -> list[Path]:
    """One drawing in several files: .png, .svg, .pdf."""
    from strut.view.figures.matplotlib_backend import write

    contents = write(figures, [path.suffix.lower()[1:] for path in paths])
    return [put(path, content) for path, content in zip(paths, contents, strict=True)]
