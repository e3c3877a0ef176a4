"""`strut list`: the machines that come with strut, or all about one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.cli.console import as_json, notes, table
from strut.cli.options import Json, Root


def list_models(
    model: Annotated[
        str, typer.Argument(help="Show one machine: its parameters, states, events and outputs.")
    ] = "",
    root: Root = [],
    json: Json = False,
) -> None:
    """List the machines that come with strut, or describe one of them.

    [bold]Examples[/bold]

      strut list

      strut list rimless-wheel
    """
    if model or json:
        _describe(model, root, json)
        return
    table("machines", ["name", ""], [[*row] for row in SYSTEM_DESCRIPTIONS.items()])
    table("mechanisms", ["name", ""], [[*row] for row in MECHANISM_DESCRIPTIONS.items()])
    notes.print("strut list NAME shows the parameters, states, events and outputs of one", markup=False)


def _describe(model: str, root: list[Path], json: bool) -> None:
    """Print all about one machine, or about every system as JSON: what only a machine that is built tells."""
    from strut.cli.model import Reading, find_model  # takes as long as everything else here, ten times over
    from strut.cli.show import system_data, system_text
    from strut.walkers import CATALOGUE

    if not model:
        as_json([system_data(make()) | {"name": name} for name, make in CATALOGUE.items()])
        return
    system = find_model(model, Reading(roots=tuple(root)))
    as_json(system_data(system)) if json else system_text(system)
