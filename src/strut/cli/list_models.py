"""`strut list`: the machines that come with strut, or all about one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.cli.answer import current_answer, note, present
from strut.cli.completion import complete_model
from strut.cli.options import Root
from strut.cli.tables import table


def list_models(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Describe this one alone: its parameters, states, events and outputs.",
            autocompletion=complete_model,
        ),
    ] = "",
    root: Root = [],
) -> None:
    """List the machines that come with strut, or describe one of them.

    [bold]Examples[/bold]

      strut list

      strut list rimless-wheel
    """
    if model or current_answer().json:
        _describe(model, root)
        return
    table("machines", ["name", ""], [[*row] for row in SYSTEM_DESCRIPTIONS.items()])
    table("mechanisms", ["name", ""], [[*row] for row in MECHANISM_DESCRIPTIONS.items()])
    note("strut list NAME shows the parameters, states, events and outputs of one")


def _describe(model: str, root: list[Path]) -> None:
    """Print all about one machine, or about every system as JSON: what only a machine that is built tells."""
    from strut.cli.model import Reading, find_model  # takes as long as everything else here, ten times over
    from strut.cli.show import system_data, system_text
    from strut.walkers import CATALOGUE

    if not model:
        machines = [system_data(make()) | {"name": name} for name, make in CATALOGUE.items()]
        present({"machines": machines, "mechanisms": dict(MECHANISM_DESCRIPTIONS)}, lambda: None)
        return
    system = find_model(model, Reading(roots=tuple(root)))
    present(lambda: system_data(system), lambda: system_text(system))
