"""Pieces of HTML. Everything that comes from a model or a user passes `safe`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence


def safe(text: object) -> str:
    """Escape a text, so that nothing in it is taken for HTML."""
    return html.escape(str(text))


def table(
    head: Sequence[str], rows: Iterable[Sequence[object]], numbers: tuple[int, ...] = (), kind: str = "box"
) -> str:
    """A table of plain texts; the columns `numbers` stand to the right."""

    def line(cells: Sequence[object], tag: str) -> str:
        kinds = [' class="number"' if k in numbers else "" for k in range(len(cells))]
        return (
            "<tr>"
            + "".join(f"<{tag}{kind}>{safe(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
            + "</tr>\n"
        )

    top = f"<thead>{line(head, 'th')}</thead>\n" if any(head) else ""
    body = "".join(line(row, "td") for row in rows)
    return f'<div class="{kind}"><table>\n{top}<tbody>{body}</tbody></table></div>\n'


def card(
    title: str, about: str, tables: Mapping[str, tuple[Sequence[str], Sequence[Sequence[object]]]]
) -> str:
    """How an object shows itself in a notebook: a title, a sentence, and tables that unfold; empty ones are
    left out."""
    unfolding = "".join(
        f"<details><summary>{safe(name)} ({len(rows)})</summary>{table(head, rows)}</details>\n"
        for name, (head, rows) in tables.items()
        if len(rows)
    )
    return f"<div><strong>{safe(title)}</strong>{': ' if about else ''}{safe(about)}\n{unfolding}</div>"
