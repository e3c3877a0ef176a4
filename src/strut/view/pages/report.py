"""`Report`: a page of HTML that stands alone, put together from facts, tables, figures and films. It asks
nothing of any network."""

from __future__ import annotations

import itertools
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from strut.files import put
from strut.html import safe, table
from strut.view.figures.figure import Figure
from strut.view.figures.page_figures import PageFigures
from strut.view.figures.thinning import keep_extremes, thin_figures
from strut.view.pages.sheet import inline_json, inline_packed, part, sheet

VERDICT_CLASSES: dict[bool | None, str] = {True: "ok", False: "stopped", None: "ended"}
"""Classes in report.css of a verdict's word, by whether it went well."""
LONG_TABLE_ROWS = 20
"""Rows of a table beyond which it scrolls by itself."""
MIN_SECTIONS = 3
"""Sections from which on a page has contents."""
MAX_FIGURES_SIZE = 250_000
"""Letters of the figures of a page beyond which their curves are thinned."""
MAX_PAGE_SIZE = 490_000
"""Letters of a page that its figures leave to it: films, tables and scripts come first, and curves have what
remains, at least `MIN_FIGURES_SIZE`."""
SHEET_SIZE = 70_000
"""Letters of scripts and sheets of style, about."""
MIN_FIGURES_SIZE = 60_000
"""Letters that the figures of a page may have, however large the rest of it is."""
THINNED_PARTS = (1e-4, 3e-4, 1e-3)
"""How far thinned curves may depart from what they were, as a part of a figure's height, which is a few
hundred pixels: the first that makes a page small enough is taken."""
THINNING_GAIN = 0.9
"""Part of its letters that a page keeps in a step of thinning, beyond which the next ones are not tried."""
KEPT_INTERVALS = (1000, 500, 250, 120)
"""Intervals of a curve of which the least and the greatest value are kept, where thinning makes a page not
small enough, as with noise: the first that does is taken, and the last one in any case."""
PLOT_SCRIPTS = ("time.js", "unpack.js", "plot_marks.js", "plots.js", "figures.js")
"""Scripts that draw the figures of a page, in their order."""


@dataclass(frozen=True, eq=False)
class Rows:
    """A table of texts or numbers; `title` stands above it. Numbers are written to nine digits and stand to
    the right."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    title: str = ""

    @property
    def texts(self) -> list[list[str]]:
        """The cells as they are written."""
        return [
            [f"{cell:.9g}" if isinstance(cell, float) else str(cell) for cell in row] for row in self.rows
        ]

    @property
    def numbers(self) -> tuple[int, ...]:
        """Columns that hold nothing but numbers."""
        return tuple(
            k
            for k in range(len(self.head))
            if self.rows and all(isinstance(row[k], (int, float)) for row in self.rows)
        )


@dataclass(frozen=True)
class LiveSource:
    """The script that keeps a page up to date: its name, in the page's folder, and how often it is looked at
    [s]."""

    source: str
    seconds: float = 2.0


class Report:
    """A page, written from top to bottom; each method adds to it. Text is text: nothing in it is taken for
    HTML.

    title: the heading. good, verdict: how it went, in a word and a sentence; `well` colours the word, None
        for what is
    neither good nor bad. remarks: text below. asked: the command that made the page, which every figure has
    by a button, above its Python.
    """

    def __init__(
        self,
        title: str,
        good: str = "",
        verdict: str = "",
        well: bool | None = True,
        remarks: str = "",
        *,
        asked: str = "",
    ) -> None:
        self.title, self._asked = title, asked
        self._parts = [f"<h1>{safe(title)}</h1>\n"]
        self._figures: list[Figure] = []
        self._data: dict[str, Any] = {}
        self._scripts: list[str] = []
        self._sections: dict[str, str] = {}  # headings by the names of their anchors
        self._contents_place = -1  # before which part the contents stand
        if good or verdict:
            word = f'<span class="{VERDICT_CLASSES[well]}">{safe(good)}</span>' if good else ""
            self._parts.append(f'<p class="verdict">{word}{safe(verdict)}</p>\n')
        if remarks:
            self._parts.append(f'<p class="remarks">{safe(remarks)}</p>\n')

    def section(self, heading: str, *, folded: bool = False) -> None:
        """What follows stands under this heading, to which the contents lead. folded: it is shown when one
        asks for it."""
        stem = "part-" + re.sub(r"[^a-z0-9]+", "-", heading.lower()).strip("-")
        numbered = itertools.chain([stem], (f"{stem}-{k}" for k in itertools.count(2)))
        name = next(each for each in numbered if each not in self._sections)
        if self._sections:
            self._parts.append("</details></section>\n")
        else:
            self._contents_place = len(self._parts)
        self._sections[name] = heading
        self._parts.append(
            f'<section id="{name}"><details{"" if folded else " open"}>'
            f"<summary><h2>{safe(heading)}</h2></summary>\n"
        )

    def subheading(self, text: str) -> None:
        """Add a heading inside of a section."""
        self._parts.append(f"<h3>{safe(text)}</h3>\n")

    def facts(self, facts: Mapping[str, object], *, headline: bool = False) -> None:
        """Names and short values, as tiles. headline: what one wants to know first, in large letters."""
        tiles = "".join(
            f"<div><dt>{safe(name)}</dt><dd>{safe(value)}</dd></div>" for name, value in facts.items()
        )
        self._parts.append(f'<dl class="facts{" headline" if headline else ""}">{tiles}</dl>\n')

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(f"<p>{safe(text)}</p>\n")

    def note(self, text: str) -> None:
        """A remark in small print."""
        self._parts.append(f'<p class="note">{safe(text)}</p>\n')

    def code(self, text: str) -> None:
        """Add lines of a program, as they are."""
        self._parts.append(f"<pre><code>{safe(text)}</code></pre>\n")

    def table(
        self,
        head: Sequence[str],
        rows: Iterable[Sequence[object]],
        numbers: tuple[int, ...] = (),
        long: bool = False,
    ) -> None:
        """Rows of texts; the columns `numbers` stand to the right. long: scrolls by itself, and says so."""
        self._parts.append(_table(head, list(rows), numbers, long))

    def tables(self, tables: Iterable[Rows]) -> None:
        """Several beside each other, where there is room."""
        markup = [
            (f"<h3>{safe(t.title)}</h3>\n" if t.title else "")
            + _table(t.head, t.texts, t.numbers, len(t.rows) > LONG_TABLE_ROWS)
            for t in tables
            if t.rows
        ]
        self._parts.append(f'<div class="side">{"".join(f"<div>{one}</div>" for one in markup)}</div>\n')

    def figures(self, *figures: Figure, beside: bool = False) -> None:
        """Plots, below each other or where there is room beside each other."""
        places = "".join(
            f'<div class="figure {_size_class(figure)}" data-kind="{_size_class(figure)}"></div>\n'
            for figure in figures
        )
        self._figures += figures
        self._parts.append(f'<div class="pair">{places}</div>\n' if beside else places)

    @property
    def all_figures(self) -> tuple[Figure, ...]:
        """All figures of the page, in their order; the code of each says how it is made, by which command
        and in Python."""
        return tuple(replace(each, code=self._code_of(each, k)) for k, each in enumerate(self._figures))

    def _code_of(self, figure: Figure, place: int) -> str:
        python = figure.code or f"report.all_figures[{place}]  # report: the strut.view.Report of this page"
        return f"# on the command line\n{self._asked}\n\n# in Python\n{python}" if self._asked else python

    def embed(self, markup: str, data: Mapping[str, Any] | None = None, scripts: Sequence[str] = ()) -> None:
        """A part with a life of its own, such as a film: HTML of this package, never of a user; JSON by the
        id under which the scripts find it; and the scripts, by the names of their files."""
        self._parts.append(markup)
        self._data |= data or {}
        self._scripts += [name for name in scripts if name not in self._scripts]

    def picture(self, svg: str, alt: str) -> None:
        """Add a drawing, the text of an SVG file: fitted to the page, and in its own size after a click. It
        is shown as a picture, in which no script runs. alt: what it shows, in words."""
        name = f"drawing-{sum(key.startswith('drawing-') for key in self._data) + 1}"
        self.embed(
            f'<div class="box"><button type="button" class="drawing" data-drawing="{name}" '
            'aria-pressed="false" title="a click shows it in its own size">'
            f'<img alt="{safe(alt)}"></button></div>\n',
            {name: svg},
            ("drawing.js",),
        )

    def live_news(self, number: int) -> str:
        """Return a script that brings a live page up to date with what stands here. number: of the news; a
        page that has it already does nothing."""
        writer = PageFigures()
        figures = writer.write(self.all_figures)
        about = json.dumps({"number": number, "main": self._main(), "data": self._data}, allow_nan=False)
        return f'strutLive({{"figures":{figures},"columns":{writer.columns},{about[1:]});\n'

    def _main(self) -> str:
        """All parts, with the contents before the first section, and the last section closed."""
        if not self._sections:
            return "".join(self._parts)
        before, after = self._parts[: self._contents_place], self._parts[self._contents_place :]
        return "".join([*before, self._contents(), *after, "</details></section>"])

    def _contents(self) -> str:
        if len(self._sections) < MIN_SECTIONS:
            return ""
        links = "".join(f'<a href="#{name}">{safe(title)}</a>\n' for name, title in self._sections.items())
        button = '<button type="button" id="open-all">Open all</button>'
        return f'<nav class="contents" aria-label="contents">{links}{button}</nav>\n'

    def document(self, live: LiveSource | None = None) -> str:
        """The text of the page. live: the script that keeps it up to date."""
        main = self._main()
        data = "".join(inline_packed(n, json.dumps(v, allow_nan=False)) for n, v in self._data.items())
        scripts = ["outline.js"]
        remark = ""
        if self._figures:
            left = MAX_PAGE_SIZE - len(data) - len(main) - SHEET_SIZE
            packed, remark = _pack_figures(
                self.all_figures, max(MIN_FIGURES_SIZE, min(MAX_FIGURES_SIZE, left))
            )
            data += packed
            scripts += PLOT_SCRIPTS
        scripts += [name for name in self._scripts if name not in scripts]
        nonce = "" if live is None else secrets.token_urlsafe(16)
        if live is not None:
            data += inline_json("live", {**asdict(live), "nonce": nonce})
            scripts.append("live.js")
        body = f"""<main>
{main}{remark}
</main>
{data}"""
        rules = "".join(dict.fromkeys(_size_rule(figure) for figure in self._figures))
        together = "".join(part(name) for name in scripts)
        return sheet(self.title, "report.css", body, [together], rules=rules, nonce=nonce)

    def save(self, path: str | Path, live: LiveSource | None = None) -> Path:
        """Write the page, whole or not at all, and return where it is. live: see `document`."""
        return put(Path(path), self.document(live))


def _pack_figures(figures: Sequence[Figure], size: int = MAX_FIGURES_SIZE) -> tuple[str, str]:
    """Return figures as elements of a page, and a remark where their curves were thinned: as little as
    makes them smaller than `size` letters."""
    elements, words = _figure_elements(figures), ""
    for departure in THINNED_PARTS:
        if len(elements) <= size:
            break
        before = len(elements)
        elements = _figure_elements(thin_figures(figures, departure))
        words = f"they stay within {departure:g} of each figure's height"
        if len(elements) > THINNING_GAIN * before:
            break  # noise: hardly any point can go, and less of it takes as long
    for intervals in KEPT_INTERVALS:
        if len(elements) <= size:
            break
        elements = _figure_elements(thin_figures(keep_extremes(figures, intervals), THINNED_PARTS[-1]))
        words = f"they keep the least and the greatest value of each of {intervals:,} intervals"
    if not words:
        return elements, ""
    words = (
        f"Curves of this page have fewer points than the run, to keep it small: {words}. All points are in "
        "the run's file."
    )
    return elements, f'<p class="note">{safe(words)}</p>'


def _figure_elements(figures: Iterable[Figure]) -> str:
    """Figures as elements of a page."""
    writer = PageFigures()
    texts = {"figures": writer.write(figures), "columns": writer.columns}
    return "".join(inline_packed(name, text) for name, text in texts.items())


def _size_class(figure: Figure) -> str:
    """The class of a figure's place; its style stands in the page's sheet, as the page's policy allows no
    style of single elements."""
    return f"{'square' if figure.equal else 'wide'}-{int(figure.height)}"


def _size_rule(figure: Figure) -> str:
    """The rule of that class. Figures whose axes are alike are hardly wider than high."""
    most = f"; max-width: {int(1.2 * figure.height)}px" if figure.equal else ""
    return f".{_size_class(figure)} {{ min-height: {int(figure.height)}px{most}; }}\n"


def _table(
    head: Sequence[str], rows: Sequence[Sequence[object]], numbers: tuple[int, ...], long: bool
) -> str:
    """A table; of a long one a box to scroll in, with its number of rows above, so that it does not look
    complete."""
    if not long:
        return table(head, rows, numbers)
    return f'<p class="note">{len(rows):,} rows, more than the box shows: scroll within it.</p>\n' + table(
        head, rows, numbers, "box long"
    )
