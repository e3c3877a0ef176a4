"""Commands for networks: `strut check`, `strut graph` and `strut repl`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from strut.cli.look import open_in_browser
from strut.cli.model import find_network, lowered
from strut.cli.repl import Session, converse
from strut.cli.show import as_json, notes, out
from strut.errors import StrutError
from strut.files import put


def check(
    files: Annotated[list[Path], typer.Argument(help="Networks, FILE.cdn.")],
) -> None:
    """Read networks and say what is wrong with them: every mistake with its place, and what led there.

    [bold]Examples[/bold]

      strut check oscillators.cdn
    """
    wrong = False
    for path in files:
        try:
            found = find_network(str(path))
            system = lowered(found)
        except StrutError as error:
            wrong = True
            notes.print(f"[red]{escape(str(path))}[/red]", soft_wrap=True)
            notes.print(escape(str(error)), soft_wrap=True, highlight=False)
            continue
        counts = f"{len(found.nodes)} nodes, {len(found.edges)} edges, {system.size('x')} states, {len(system.events)} events"
        out.print(f"{escape(str(path))}: {counts}", soft_wrap=True, highlight=False)
    if wrong:
        raise typer.Exit(1)


def graph(
    file: Annotated[Path, typer.Argument(help="A network, FILE.cdn.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Where to write; FILE.svg unless given.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a line.")] = False,
) -> None:
    """Draw a network as SVG: nodes where its layout puts them, the others near what they are connected to, and edges as arrows.

    [bold]Examples[/bold]

      strut graph oscillators.cdn

      strut graph oscillators.cdn -o ring.svg --open
    """
    found = find_network(str(file))
    path = output or file.with_suffix(".svg")
    put(path, found.graph())
    if show and not open_in_browser(path):
        notes.print("no display or browser was found here: open this file where there is one")
    if json:
        as_json({"file": str(path), "nodes": len(found.nodes), "edges": len(found.edges)})
    else:
        out.print(f"{escape(str(path))}: {len(found.nodes)} nodes, {len(found.edges)} edges", soft_wrap=True, highlight=False)


def repl(file: Annotated[Path, typer.Argument(help="A network, FILE.cdn.")]) -> None:
    """Talk with a network: look at it, set values, calculate, let it run step by step, plot. Lines come from the terminal or a pipe.

    [bold]Examples[/bold]

      strut repl oscillators.cdn

      echo "run 10; x" | tr ";" "\\n" | strut repl oscillators.cdn
    """
    converse(Session(find_network(str(file))), lambda text: print(text, flush=True))
