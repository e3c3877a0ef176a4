"""`Result`: what a room found, as plain data: facts, tables, figures and a run. A page, a folder and a file
are made of it here, so that gaits, designs and whatever comes later only hand over what they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.errors import MissingExtraError
from strut.html import card
from strut.simulate.live_result import add_live_page, pages_written
from strut.view.figures.figure import Figure
from strut.view.figures.save import save_on_paper
from strut.view.pages.folder import FIGURE_SUFFIXES, Written, ensure_directory
from strut.view.pages.motion import films_beside, motion
from strut.view.pages.page import details
from strut.view.pages.provenance import add_provenance
from strut.view.pages.report import Report, Rows

if TYPE_CHECKING:
    from strut.simulate.trajectory import Trajectory

STORAGE: dict[str, Callable[..., Any]] = {}
"""What writes and reads results, by name: save and load. `strut.view` enters them when it is imported, so
that a result needs to know no file format."""
NARROW_TABLE_CHARACTERS = 56
"""Characters in a row of a table that still fits into half of a page."""

RESULT_COMMENT = "# result: strut.view.Result.load of the .json beside this page"
"""Says of the Python of a figure where it begins."""


@dataclass(frozen=True, eq=False)
class Chapter:
    """A part of a result under its heading: text, tables, figures, and a remark in small print.

    figures: by name; the name is that of the figure's file. beside: beside each other, where there is room.
    films: runs, or what `film` made of them, by what is written above each: moving pictures beside each
        other. Files keep what is shown of them, not the runs.
    one_film: only one of them is seen at a time: the one whose point was clicked (`Points.walks`).
    folded: shown when one asks for it.
    """

    heading: str
    text: str = ""
    tables: Sequence[Rows] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    note: str = ""
    beside: bool = False
    films: Mapping[str, Trajectory | Mapping[str, Any]] = field(default_factory=dict)
    one_film: bool = False
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Result:
    """What was found, to be shown.

    title: the heading. good, verdict: how it went, in a word and a sentence; `well` colours the word, None
        for what is neither good nor bad yet.
        remarks: text below.
    asked: the command that was given. headline: what one wants to know first, names and short values. facts:
    the others. chapters: in their order. run: the
    motion, if there is one; its plots, energy, parameters and events follow by themselves. provenance: what
    is needed to find it again, besides what
    the run says. again: Python that does so. data: the result for machines, kept in the file.
    """

    title: str
    good: str = ""
    verdict: str = ""
    well: bool | None = True
    remarks: str = ""
    asked: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)
    chapters: Sequence[Chapter] = ()
    run: Trajectory | None = None
    provenance: Mapping[str, object] = field(default_factory=dict)
    again: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    headline: Mapping[str, str] = field(default_factory=dict)

    def report(self) -> Report:
        """Return the result as a page, to be added to."""
        report = Report(self.title, self.good, self.verdict, self.well, self.remarks, asked=self.asked)
        if self.asked:
            report.note(f"Asked: {self.asked}")
        if self.headline:
            report.facts(self.headline, headline=True)
        if self.facts:
            report.facts(self.facts)
        if self.run is not None:
            motion(self.run, report)
        for number, chapter in enumerate(self.chapters):
            _chapter(chapter, report, number)
        if self.run is not None:
            details(self.run, report, folded=bool(self.chapters))
        add_provenance(report, self.run, self.asked, self.again, self.provenance)
        return report

    def page(self, path: str | Path) -> Path:
        """One HTML file that opens anywhere and asks nothing of a network; of a result with a run, beside it
        a live one, to which a switch leads."""
        written = self.report().save(path)
        return written if self.run is None else add_live_page(self.run, written)

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """All of them, by the names of their files."""
        for chapter in self.chapters:
            yield from chapter.figures.items()

    def save(self, path: str | Path) -> Path:
        """Write everything as JSON, and the run beside it as .h5; `strut view` shows it, `Result.load` reads
        it."""
        written: Path = STORAGE["save"](self, Path(path))
        return written

    @staticmethod
    def load(path: str | Path) -> Result:
        """What `save` wrote."""
        result: Result = STORAGE["load"](Path(path))
        return result

    def folder(self, directory: str | Path, name: str = "") -> Written:
        """Write everything into a directory, made if needed: the file and its run first, then the page
        and its live one, and every figure as SVG and PNG. Where matplotlib is missing, `missing` says what to
        install. name: what files begin with, if there are several results."""
        place = ensure_directory(Path(directory))
        files = [self.save(place / f"{name or 'result'}.json")]
        if self.run is not None:
            files.append(files[0].with_suffix(".h5"))
        missing: list[str] = []
        try:
            files += pages_written(self.page(place / f"{name or 'index'}.html"))
        except MissingExtraError as error:
            missing.append(str(error))
        try:
            for word, figure in self.figures():
                stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{name}-{word}" if name else word)
                files += save_on_paper([figure], [place / f"{stem}{kind}" for kind in FIGURE_SUFFIXES])
        except MissingExtraError as error:
            missing.append(str(error))
        return Written(place, tuple(file.name for file in files), tuple(missing))

    def _repr_html_(self) -> str:
        """In a notebook."""
        tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
            "facts": (("", ""), list(self.facts.items()))
        }
        for chapter in self.chapters:
            tables |= {rows.title or chapter.heading: (rows.head, rows.texts) for rows in chapter.tables}
        return card(self.title, f"{self.good}{self.verdict}", tables)

    def __repr__(self) -> str:
        return f"<Result {self.title}: {self.good}{self.verdict}>"


def _chapter(chapter: Chapter, report: Report, number: int) -> None:
    """Add a chapter to a page. number: its place in the result."""
    report.section(chapter.heading, folded=chapter.folded)
    if chapter.text:
        report.text(chapter.text)
    figures = [
        replace(figure, code=figure.code or f"result.chapters[{number}].figures[{name!r}]  {RESULT_COMMENT}")
        for name, figure in chapter.figures.items()
    ]
    one_film = bool(chapter.films) and chapter.one_film
    filled = _tables_fill_a_place(chapter, len(chapter.figures) + one_film)
    if chapter.tables and not filled:
        report.tables(chapter.tables)
    # the film of what is clicked stands in the place that figures in two columns leave empty
    in_columns = chapter.beside or len(chapter.figures) == 1
    paired = filled or (one_film and in_columns and len(chapter.figures) % 2 == 1)
    if paired:
        report.embed('<div class="pair">')
    if filled:
        report.tables(chapter.tables)
    if chapter.figures:
        report.figures(*figures, beside=chapter.beside and not paired)
    if chapter.films:
        films_beside(chapter.films, report, one_at_a_time=chapter.one_film)
    if paired:
        report.embed("</div>\n")
    if chapter.films and chapter.one_film:
        report.note("Click a square in a figure to see its walk, or choose it from the list.")
    if chapter.note:
        report.note(chapter.note)


def _tables_fill_a_place(chapter: Chapter, others: int) -> bool:
    """Whether the tables of a chapter stand beside its figures: they are narrow, and in two columns an odd
    number of `others`, figures and films, would leave a place empty."""
    figures = list(chapter.figures.values())
    in_columns = chapter.beside or (len(figures) == 1 and figures[0].equal)
    narrow = all(
        max(sum(map(len, row)) for row in (list(map(str, table.head)), *table.texts))
        <= NARROW_TABLE_CHARACTERS
        for table in chapter.tables
        if table.rows
    )
    side_by_side = bool(chapter.films) and not chapter.one_film  # these have columns of their own
    return bool(chapter.tables) and in_columns and others % 2 == 1 and narrow and not side_by_side
