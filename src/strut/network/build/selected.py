"""What selectors find: things of a network, each with the context it was found in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from strut.network.build.context import Context
from strut.network.model import Edge, Function, Item, NetworkEvent, Node, Object, Variable

Thing = Object | Item
"""What a selector finds: an object, a variable, a function, an action or an interface name."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A thing, and the context it was found in."""

    thing: Thing
    context: Context


def children_of(thing: Thing) -> Iterable[Thing]:
    """Child objects, then variables, interface names and functions, then actions."""
    if isinstance(thing, Object):
        if isinstance(thing, Node):
            yield from thing.children.values()
            yield from thing.functions.values()
        yield from thing.variables.values()
        if isinstance(thing, Node):
            yield from thing.aliases.values()
        if isinstance(thing, Edge):
            yield from thing.actions.values()


def children_named(thing: Thing, name: str) -> Iterable[Thing]:
    """The children of that name."""
    if isinstance(thing, Node):
        for table in (thing.children, thing.functions):
            if name in table:
                yield table[name]  # type: ignore[index]
    if isinstance(thing, Object) and name in thing.variables:
        yield thing.variables[name]
    if isinstance(thing, Node) and name in thing.aliases:
        yield thing.aliases[name]
    if isinstance(thing, Edge):
        yield from (a for a in thing.actions.values() if a.name == name)
    if isinstance(thing, NetworkEvent) and thing.parent is not None and name not in thing.variables:
        yield from children_named(thing.parent, name)


def child_order(thing: Thing) -> tuple[int, int]:
    """Sorts the children of a thing: objects, functions, variables, the rest, each as they were made."""
    group = (
        0
        if isinstance(thing, Object)
        else 1
        if isinstance(thing, Function)
        else 2
        if isinstance(thing, Variable)
        else 3
    )
    return (group, thing.serial)
