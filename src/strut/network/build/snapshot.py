"""Saves what a network is like, so that a change that fails can be taken back: the same objects, with what
they had."""

from __future__ import annotations

import copy
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from strut.network.model import Edge, Item, Node, Object

if TYPE_CHECKING:
    from strut.network.build.statement_runner import StatementRunner

MUTABLE = (dict, list, set)
"""Kinds of attributes that are restored in place: some are shared between objects, and stay so."""


class Snapshot:
    """The state of a network that is being built; `restore` brings back all that it had, and nothing else."""

    def __init__(self, runner: StatementRunner) -> None:
        self._attributes: list[tuple[Any, str, Any, Any]] = []
        self._runner = runner
        self._random = runner.random.getstate()
        for name in (
            "debug_output",
            "warnings",
            "problems",
            "integrator",
            "integrator_marks",
            "include_stack",
            "files_read",
            "objects",
        ):
            self._keep(runner, name)
        self._keep(runner.scope, "values")
        self._keep(runner.select, "from_set")
        for top in (runner.root, runner.templates):
            for thing in (top, *top.descendants()):
                self._keep_object(thing)

    def _keep(self, of: Any, name: str) -> None:
        """Save one attribute: the value itself, and a copy of its content."""
        value = getattr(of, name)
        if isinstance(value, dict):  # counters of names are in one, and count on where they are
            self._attributes.append(
                (
                    of,
                    name,
                    value,
                    {k: copy.copy(v) if hasattr(v, "__next__") else v for k, v in value.items()},
                )
            )
        else:
            self._attributes.append(
                (of, name, value, copy.copy(value) if isinstance(value, MUTABLE) else value)
            )

    def _keep_object(self, thing: Object) -> None:
        """Save all attributes of an object and of its items."""
        for name in vars(thing):
            self._keep(thing, name)
        items: list[Item] = list(thing.variables.values())
        if isinstance(thing, Edge):
            items += thing.actions.values()
        if isinstance(thing, Node):
            items += [*thing.functions.values(), *thing.aliases.values()]
            for inner in (*thing.events, *([thing.own_edge] if thing.own_edge is not None else ())):
                self._keep_object(inner)
        for item in items:
            for field in fields(item):
                self._keep(item, field.name)

    def restore(self) -> None:
        """Give every attribute its saved value and content."""
        self._runner.random.setstate(self._random)
        for of, name, value, content in self._attributes:
            setattr(of, name, value)
            if isinstance(value, MUTABLE):
                value.clear()
                if isinstance(value, list):
                    value.extend(content)
                else:
                    value.update(content)
