"""`strut show`: what a model is made of, and its equations."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

import strut
from strut.cli.answer import number_text, present
from strut.cli.console import out
from strut.cli.model import Reading, find_model, with_settings
from strut.cli.options import Ignore, Model, Root, Settings, Stops
from strut.cli.tables import table
from strut.system import Quantity, System, start

GROUP_WORDS = {"x": "state", "z": "discrete state", "u": "input", "p": "parameter"}
"""What the table calls the quantities of each vector."""
MAX_EXPRESSION_WIDTH = 32
"""[characters] Longer expressions of starting values are not printed in tables: what they come to is."""


def show(
    model: Model,
    *,
    equations: Annotated[
        bool, typer.Option("--equations", help="Print its equations as LaTeX: of small systems.")
    ] = False,
    sympy: Annotated[
        bool, typer.Option("--sympy", help="Print its equations as SymPy, Eq(left, right) each.")
    ] = False,
    settings: Settings = [],
    stops: Stops = False,
    ignore: Ignore = [],
    root: Root = [],
) -> None:
    """Show what a model is made of: states, inputs, parameters, events, its account of energy; or its
    equations, to read and to calculate with.

    [bold]Examples[/bold]

      strut show compass

      strut show compass --equations

      strut show motor.toml --sympy
    """
    system = with_settings(find_model(model, Reading(stops, tuple(ignore), tuple(root))), settings)
    if equations or sympy:
        written = strut.equations(system)
        lines = [str(row) for row in written.sympy]
        present(
            {"name": system.name, "latex": written.latex, "sympy": lines},
            lambda: print("\n".join(lines) if sympy else written.latex),
        )
    else:
        present(lambda: _data(system), lambda: _print_tables(system))


def _data(system: System) -> dict[str, object]:
    """What a system is made of, for machines."""
    quantities = {
        group: [
            {"name": q.name, "value": _value(q.value), "unit": q.unit, "start": _start(system, group, q)}
            for q in getattr(system, group)
        ]
        for group in GROUP_WORDS
    }
    ledger = {group: list(getattr(system.ledger, group)) for group in ("stored", "supplied", "dissipated")}
    return {
        "name": system.name,
        "description": system.description,
        **quantities,
        "outputs": list(system.outputs),
        "events": [event.name for event in system.events],
        "ledger": ledger,
    }


def _value(value: object) -> Any:
    """A value in numbers; an expression as its text."""
    numbers = getattr(value, "tolist", None)
    if numbers is None:
        return str(value)
    values = numbers()
    return values[0] if len(values) == 1 else values


def _start(system: System, group: str, q: Quantity) -> Any:
    """The numbers that a quantity begins with, where its value is an expression, too."""
    return _value(getattr(start(system), group)[system.slices(group)[q.name]])


def _value_text(system: System, group: str, q: Quantity) -> str:
    """A value for people: a short expression as it is, and what any expression comes to."""
    plain = _value(q.value)
    numbers = _start(system, group, q) if isinstance(plain, str) else plain
    every = numbers if isinstance(numbers, list) else [numbers]
    text = ", ".join(number_text(each) for each in every)
    is_short = isinstance(plain, str) and len(plain) <= MAX_EXPRESSION_WIDTH
    return f"{plain} = {text}" if is_short else text


def _print_tables(system: System) -> None:
    """Print quantities, then events, outputs and the account of energy by name."""
    out.print(f"[bold]{escape(system.name)}[/bold] {escape(system.description)}", soft_wrap=True)
    rows = [
        [word, q.name, _value_text(system, group, q), q.unit, q.description]
        for group, word in GROUP_WORDS.items()
        for q in getattr(system, group)
    ]
    table("", ["", "name", "value", "unit", ""], rows)
    ledger = system.ledger
    for word, names in (
        ("events", [event.name for event in system.events]),
        ("outputs", list(system.outputs)),
        ("stored", list(ledger.stored)),
        ("supplied", list(ledger.supplied)),
        ("dissipated", list(ledger.dissipated)),
    ):
        if names:
            out.print(f"{word}: {escape(', '.join(names))}", soft_wrap=True, highlight=False)


__all__ = ["show"]
