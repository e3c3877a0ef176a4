"""`strut reproduce`: published numbers beside ours."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from strut.cli.console import as_json, out, table
from strut.errors import UnknownNameError, did_you_mean


def reproduce(
    name: Annotated[str, typer.Argument(help="Of a study; --list shows them.")] = "",
    every: Annotated[bool, typer.Option("--list", help="Which studies there are.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of tables.")] = False,
) -> None:
    """Compute a published result anew, and print what was published beside what strut finds.

    [bold]Examples[/bold]

      strut reproduce --list

      strut reproduce garcia-simplest
    """
    from strut.studies import STUDIES  # many modules, which only this command needs

    if every or not name:
        rows = [[s.name, s.title, s.source] for s in STUDIES.values()]
        as_json([{"name": n, "title": t, "source": w} for n, t, w in rows]) if json else table(
            "studies", ["name", "title", "source"], rows
        )
        return
    if name not in STUDIES:
        raise UnknownNameError(f"there is no study '{name}': {did_you_mean(name, list(STUDIES))}")
    study = STUDIES[name]
    results = study.rows()
    if json:
        as_json(
            {
                "name": name,
                "title": study.title,
                "source": study.source,
                "rows": [asdict(row) for row in results],
            }
        )
        return
    out.print(f"[bold]{study.title}[/bold]\n{study.source}\n")
    table(
        "",
        ["quantity", "published", "ours", "remark"],
        [[r.quantity, r.published, r.ours, r.remark] for r in results],
    )
