"""Results for people (tables) and for machines (JSON)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rich.markup import escape

from strut.cli.answer import current_digits, number_text
from strut.cli.console import out
from strut.cli.tables import table
from strut.errors import UnknownNameError
from strut.simulate.trajectory import Trajectory
from strut.system import Event, System
from strut.view import ledger_table
from strut.view.units import quantity, shown_unit, title_with_unit

MAX_EXPRESSION_CHARACTERS = 40
"""Longest expression that is printed [characters]."""

MAX_PRINTED_STEPS = 8
"""Steps of a walk that are printed at most; the page and --json have more."""


def run_data(trajectory: Trajectory, printed: list[str], grid: np.ndarray | None) -> dict[str, Any]:
    """Return everything that `strut run --json` prints."""
    names, raw = trajectory.names, trajectory.raw
    final = dict(zip(names.x, raw.x_end[: len(names.x)], strict=True)) | dict(
        zip(names.z, raw.z_end, strict=True)
    )
    data: dict[str, Any] = {
        "system": trajectory.system_name,
        "status": trajectory.status,
        "ok": trajectory.ok,
        "failed": trajectory.ended_in_failure,
        "meaning": trajectory.ending_meaning,
        "t": [trajectory.t0, trajectory.t1],
        "final": final,
        "time_at_limits": trajectory.time_at_limits,
        "parameters": dict(zip(names.p, trajectory.p, strict=True)),
        "events": [
            {"name": n, "t": t} for n, t in zip(trajectory.events.names, trajectory.events.t, strict=True)
        ],
        "statistics": dict(trajectory.statistics),
        "provenance": dict(trajectory.provenance),
    }
    if names.stored:
        data["ledger"] = trajectory.ledger.summary()
        steps = trajectory.steps()
        if steps.events:
            data["steps"] = {
                "begin": steps.begin,
                "end": steps.end,
                "whole": steps.whole,
                **steps.changes,
                "residual": steps.residual,
            }
    if printed:
        data["columns"] = printed_columns(trajectory, printed, grid)
    return data


def components(trajectory: Trajectory, name: str) -> list[str]:
    """Return the labels to print for a name: itself, or every component of a vector."""
    if name in trajectory.names.p:
        raise UnknownNameError(f"'{name}' is a parameter and does not change: print a state or an output")
    trajectory[name]
    labels = trajectory.keys()
    return [label for label in labels if label == name or label.startswith(f"{name}[")]


def printed_columns(
    trajectory: Trajectory, names: list[str], grid: np.ndarray | None
) -> dict[str, np.ndarray]:
    """Return columns t and these names, at all points or on the grid as far as the run went."""
    if grid is None:
        return {"t": trajectory.t, **{name: trajectory[name] for name in names}}
    moments = trajectory.at(grid[grid <= trajectory.t1 * (1 + 1e-12)])
    return {"t": moments.t, **{name: moments[name] for name in names}}


def run_text(trajectory: Trajectory) -> None:
    """Print a run as tables: how it ended, final state, events, energy, and energy per step."""
    names, raw = trajectory.names, trajectory.raw
    s, end = trajectory.statistics, quantity(trajectory, number_text(trajectory.t1), "s")
    out.print(
        f"[bold]{trajectory.system_name}[/bold] from {trajectory.t0:g} to {end}: "
        f"[bold]{trajectory.status}[/bold]"
        f" ({int(s['steps'])} steps, {len(trajectory.events)} events, {s['wall'] * 1e3:.3g} ms)"
    )
    if trajectory.ending_meaning:
        colour = "red" if trajectory.ended_in_failure else "default"
        out.print(
            f"[{colour}]{'failed: ' if trajectory.ended_in_failure else ''}"
            f"{escape(trajectory.ending_meaning)}[/]",
            soft_wrap=True,
        )
    elif not trajectory.ok:
        out.print(escape(trajectory.message), soft_wrap=True)
    limits = [f"{name} {share:.1%} of the time" for name, share in trajectory.time_at_limits.items()]
    if limits:
        out.print(f"[yellow]at a limit:[/yellow] {escape(', '.join(limits))}", soft_wrap=True)
    out.print()
    rows = [
        [n, float(v), shown_unit(trajectory, names.units.get(n.split("[")[0], ""))]
        for n, v in [
            *zip(names.x, raw.x_end[: len(names.x)], strict=True),
            *zip(names.z, raw.z_end, strict=True),
        ]
        if n not in names.internal
    ]
    table("at the end", ["state", "value", "unit"], rows)
    log = trajectory.events
    counts = {n: c for n, c in log.counts().items() if n not in names.internal}
    if counts:
        table(
            "events",
            [
                "event",
                "times",
                title_with_unit(trajectory, "first", "s"),
                title_with_unit(trajectory, "last", "s"),
            ],
            [[n, c, float(log.times(n)[0]), float(log.times(n)[-1])] for n, c in counts.items()],
        )
    if names.stored:
        table(
            "energy",
            ["where", title_with_unit(trajectory, "change", "J")],
            [[n, v] for n, v in trajectory.ledger.rounded_summary().items()],
        )
        if any(name in log.counts() for name in trajectory.names.step_events):
            steps_text(trajectory)


def steps_text(trajectory: Trajectory) -> None:
    """Print the energy account step by step: the first and the last ones of many."""
    steps = ledger_table(trajectory, most_columns=4, most_rows=MAX_PRINTED_STEPS, digits=current_digits())
    table(title_with_unit(trajectory, "energy per step", "J"), steps.head, steps.rows)


def system_text(system: System) -> None:
    """Print a system as tables: its quantities, events and outputs."""
    out.print(f"[bold]{system.name}[/bold]: {system.description}\n")
    for group, word in (("p", "parameters"), ("x", "states"), ("z", "discrete states"), ("u", "inputs")):
        quantities = getattr(system, group)
        if quantities:
            rows = []
            for q in quantities:
                value = (
                    ", ".join(number_text(v) for v in q.value)
                    if isinstance(q.value, np.ndarray)
                    else _short(q.value, "computed")
                )
                low, high = q.bounds
                bounds = "" if not (math.isfinite(low) or math.isfinite(high)) else f"{low:g} to {high:g}"
                rows.append([q.name, value, q.unit, bounds, q.description])
            table(word, ["name", "value", "unit", "allowed", ""], rows)
    if system.events or system.samples:
        rows = [[e.name, _happens(e)] for e in system.events]
        table(
            "events",
            ["name", ""],
            rows
            + [[s.name, s.description or f"every {_short(s.every, 'so many')} s"] for s in system.samples],
        )
    if system.outputs:
        table(
            "outputs",
            ["name", "unit", "is"],
            [[n, system.output_units.get(n, ""), _short(e, "")] for n, e in system.outputs.items()],
        )


def _short(expression: Any, otherwise: str) -> str:
    """An expression that a person can read, or something else."""
    text = str(expression)
    return text if len(text) <= MAX_EXPRESSION_CHARACTERS and "@" not in text else otherwise


def _happens(event: Event) -> str:
    guard = _short(event.guard, "")
    moment = event.description or (f"when {guard} crosses 0 ({event.direction})" if guard else "")
    return ", ".join(part for part in (moment, "ends the run" if event.terminal else "") if part)


def system_data(system: System) -> dict[str, Any]:
    """Return what `strut list NAME --json` prints of a system."""
    groups = {}
    for group in ("x", "z", "u", "p"):
        groups[group] = [
            {
                "name": q.name,
                "value": q.value if isinstance(q.value, np.ndarray) else str(q.value),
                "unit": q.unit,
                "bounds": list(q.bounds),
                "description": q.description,
            }
            for q in getattr(system, group)
        ]
    return {
        "name": system.name,
        "description": system.description,
        **groups,
        "outputs": list(system.outputs),
        "output_units": dict(system.output_units),
        "events": [e.name for e in system.events],
        "samples": [s.name for s in system.samples],
    }
