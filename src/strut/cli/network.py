"""Commands for networks: `strut check`, `strut monitor`, `strut graph` and `strut repl`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape

from strut import network, ports
from strut.cli.console import as_json, notes, out
from strut.cli.finite import check_finite
from strut.cli.look import open_in_browser
from strut.cli.model import find_graph, find_network, lower_network, parse_times
from strut.cli.options import Root
from strut.cli.repl import Session, converse
from strut.errors import StrutError, UnknownNameError, ValueRangeError
from strut.files import put
from strut.network.lower import scope
from strut.network.model import Item


def check(
    files: Annotated[list[Path], typer.Argument(help="Networks, FILE.cdn.")],
    root: Root = [],
) -> None:
    """Read networks and say what is wrong with them: every mistake with its place, and what led there.

    [bold]Examples[/bold]

      strut check oscillators.cdn
    """
    wrong = False
    for path in files:
        try:
            net = find_network(str(path), root)
            system = lower_network(net)
        except StrutError as error:
            wrong = True
            notes.print(f"[red]{escape(str(path))}[/red]", soft_wrap=True)
            notes.print(escape(str(error)), soft_wrap=True, highlight=False)
            continue
        counts = (
            f"{len(net.nodes)} nodes, {len(net.edges)} edges, {system.size('x')} states, "
            f"{len(system.events)} events"
        )
        out.print(f"{escape(str(path))}: {counts}", soft_wrap=True, highlight=False)
    if wrong:
        raise typer.Exit(1)


ALL_VARIABLES = "recurse(children) . variables"
"""The selector of every variable of a network."""


def monitor(
    file: Annotated[Path, typer.Argument(help="A network, FILE.cdn.")],
    t: Annotated[
        str,
        typer.Option(
            "-t", "--time", metavar="BEGIN:STEP:END", help="When; END alone takes the file's own step."
        ),
    ] = "10",
    watch: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--monitor",
            metavar="SELECTOR",
            help="What to print: p1.y, or any selector; again for more. Else everything.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("-s", "--seed", help="Of random numbers.")] = 0,
    root: Root = [],
) -> None:
    """Run a network in whole steps, as the original's monitor does, and print a row for each. Events are
    taken at the ends of steps, or as soon after as the model says with `within`; `strut run` takes them at
    their moments, and is faster.

    [bold]Examples[/bold]

      strut monitor slip.cdn -t 10 -m slip.x -m slip.y

      strut monitor oscillators.cdn -t 0:0.01:8 -m '"h{1:5}".x'
    """
    times = parse_times(t)
    net = find_network(str(file), root)
    variables = [item for selector in watch or [ALL_VARIABLES] for item in _variables(net, selector)]
    called = net.system_names()
    rows = net.run_steps(
        (times.begin, times.end), times.step, outputs=[called[v] for v in variables], seed=seed
    )
    columns = {"t": rows.t}
    for variable in dict.fromkeys(variables):
        name = variable.path if variable.path not in columns else called[variable]
        value = (
            rows[called[variable]]
            if called[variable] in rows.values
            else _constant(net, variable, len(rows.t))
        )
        columns |= (
            {name: value} if value.ndim == 1 else {f"{name}[{k}]": value[:, k] for k in range(value.shape[1])}
        )
    print("\t".join(columns))
    for row in zip(*columns.values(), strict=True):
        print("\t".join(f"{v:.12g}" for v in row))
    check_finite(rows.t, {**rows.values, **columns})


def _constant(net: network.Network, variable: network.Variable, count: int) -> np.ndarray:
    """A parameter, again in every row."""
    value = np.tile(net.value(variable.name, of=variable.owner.path).ravel(order="F"), (count, 1))
    return value[:, 0] if value.shape[1] == 1 else value


def _variables(net: network.Network, selector: str) -> list[network.Variable]:
    """The variables a selector finds."""
    things = [
        scope.own_variable(i.owner, i.name)
        if isinstance(i, Item) and isinstance(i.owner, network.Node)
        else i
        for i in net.find(selector)
    ]
    variables = [v for v in things if isinstance(v, network.Variable)]
    if not variables:
        raise UnknownNameError(f"'{selector}' finds no variable in {net.name}")
    return variables


def graph(
    file: Annotated[Path, typer.Argument(help="A network, FILE.cdn, or a bond graph, FILE.toml.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; FILE.svg unless given."),
    ] = None,
    root: Root = [],
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON for machines instead of a line.")] = False,
) -> None:
    """Draw a network as SVG: nodes where its layout puts them, the others near what they are connected to,
    and edges as arrows. Or a bond graph, with half arrows and causal strokes.

    [bold]Examples[/bold]

      strut graph oscillators.cdn

      strut graph oscillators.cdn -o ring.svg --open

      strut graph motor.toml
    """
    path = output or file.with_suffix(".svg")
    if path.suffix.lower() != ".svg":
        raise ValueRangeError(
            f"'{path}' is no SVG file, and nothing else is drawn: write -o {path.with_suffix('.svg')}"
        )
    bond_graph = find_graph(str(file))
    if bond_graph is not None:
        put(path, ports.svg(bond_graph))
        nodes, edges = len(bond_graph.elements), len(bond_graph.bonds)
    else:
        net = find_network(str(file), root)
        put(path, net.graph())
        nodes, edges = len(net.nodes), len(net.edges)
    if show and not open_in_browser(path):
        notes.print("no display or browser was found here: open this file where there is one")
    if json:
        as_json({"file": str(path), "nodes": nodes, "edges": edges})
    else:
        out.print(
            f"{escape(str(path))}: {nodes} nodes, {edges} edges",
            soft_wrap=True,
            highlight=False,
        )


def repl(file: Annotated[Path, typer.Argument(help="A network, FILE.cdn.")], root: Root = []) -> None:
    """Talk with a network: look at it, set values, calculate, let it run step by step, plot. Lines come from
    the terminal or a pipe.

    [bold]Examples[/bold]

      strut repl oscillators.cdn

      echo "run 10; x" | tr ";" "\\n" | strut repl oscillators.cdn
    """
    converse(Session(find_network(str(file), root)), lambda text: print(text, flush=True))
