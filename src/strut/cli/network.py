"""Commands for networks: `strut check`, `strut monitor`, `strut graph` and `strut repl`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from strut import network, ports
from strut.cli.answer import complain, current_answer, present, print_columns, send
from strut.cli.completion import complete_file
from strut.cli.console import out
from strut.cli.finite import check_finite
from strut.cli.look import open_page
from strut.cli.model import Reading, find_graph, find_model, find_network, lower_network, parse_times
from strut.cli.options import Open, Print, Root, Seed, Times
from strut.cli.progress import paused_progress, tell_progress
from strut.cli.repl import Session, converse
from strut.errors import ModelError, StrutError, UnknownNameError, ValueRangeError
from strut.files import put
from strut.network.lower import scope
from strut.network.model import Item


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Networks (.cdn), model files and bond graphs (.toml), robots (.urdf, .xml).",
            autocompletion=complete_file(".cdn", ".toml", ".urdf", ".xml"),
        ),
    ],
    root: Root = [],
) -> None:
    """Read models and say what is wrong with them: of networks every mistake with its place, and what led
    there; of others the first.

    [bold]Examples[/bold]

      strut check oscillators.cdn

      strut check biped.toml --watch

      strut check examples/network/*.cdn
    """
    rows: list[dict[str, Any]] = []
    for k, path in enumerate(files):
        tell_progress(f"reading {path}", k / len(files))
        try:
            counts = count_parts(path, root)
        except StrutError as error:
            rows.append({"file": str(path), "ok": False, "error": str(error)})
            complain(f"{path}\n{error}")
            continue
        rows.append({"file": str(path), "ok": True, **counts})

    def print_rows() -> None:
        for row in rows:
            if row["ok"]:
                counted = ", ".join(f"{n} {word}" for word, n in row.items() if word not in ("file", "ok"))
                out.print(f"{row['file']}: {counted}", soft_wrap=True, markup=False)

    present({"models": rows}, print_rows)
    if not all(row["ok"] for row in rows):
        raise typer.Exit(1)


def count_parts(path: Path, roots: list[Path]) -> dict[str, int]:
    """Read a model, and return how many parts of each kind it has. Raises StrutError where it is none, and
    for a program, which reading would run."""
    if path.suffix == ".py":
        raise ModelError(f"'{path.name}' is a program, which only running checks: strut show {path}:NAME")
    net = find_network(str(path), roots) if path.suffix == ".cdn" else None
    system = find_model(str(path), Reading(roots=tuple(roots))) if net is None else lower_network(net)
    parts = {} if net is None else {"nodes": len(net.nodes), "edges": len(net.edges)}
    return {**parts, "states": system.size("x"), "events": len(system.events)}


ALL_VARIABLES = "recurse(children) . variables"
"""The selector of every variable of a network."""


def monitor(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.cdn", help="A network.", autocompletion=complete_file(".cdn"))
    ],
    t: Times = "10",
    printed: Print = [],
    seed: Seed = 0,
    root: Root = [],
) -> None:
    """Run a network in whole steps, as the original's monitor does, and print a row for each. Events are
    taken at the ends of steps, or as soon after as the model says with `within`; `strut run` takes them at
    their moments, and is faster. Without STEP the file's own is taken.

    --print takes any selector, p1.y or '"h{1:5}".x'; everything is printed unless it is given.

    [bold]Examples[/bold]

      strut monitor slip.cdn -t 10 --print slip.x --print slip.y

      strut monitor oscillators.cdn -t 0:0.01:8 --print '"h{1:5}".x'
    """
    times = parse_times(t)
    net = find_network(str(file), root)
    variables = [item for selector in printed or [ALL_VARIABLES] for item in _variables(net, selector)]
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
    present({"columns": columns}, lambda: print_columns(columns))
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
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A network, FILE.cdn, or a bond graph, FILE.toml.",
            autocompletion=complete_file(".cdn", ".toml"),
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Where to write; FILE.svg unless given."),
    ] = None,
    root: Root = [],
    show: Open = False,
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
    opened = show and open_page(path)
    present(
        {"file": str(path), "nodes": nodes, "edges": edges, "opened": opened},
        lambda: out.print(f"{path}: {nodes} nodes, {edges} edges", soft_wrap=True, markup=False),
    )


def repl(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.cdn", help="A network.", autocompletion=complete_file(".cdn"))
    ],
    root: Root = [],
) -> None:
    """Talk with a network: look at it, set values, calculate, let it run step by step, plot. Lines come from
    the terminal or a pipe.

    [bold]Examples[/bold]

      strut repl oscillators.cdn

      echo "run 10; x" | tr ";" "\\n" | strut repl oscillators.cdn
    """
    answer = current_answer()
    answer.one_line = True

    def say(text: str) -> None:
        answer.result, answer.sent = {"text": text}, False
        send(answer, ok=True) if answer.json else print(text, flush=True)

    session = Session(find_network(str(file), root))
    with paused_progress():
        converse(session, say)
