"""The result of a selector: things of a network, each with the context it was found in; and the children of
things."""

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
    """Yield child objects and functions of a thing, then its variables, interface names and actions."""
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
    """Yield the children of that name; those of an event are also the children of its node."""
    if isinstance(thing, Node):
        if name in thing.children:
            yield thing.children[name]
        if name in thing.functions:
            yield thing.functions[name]
    if isinstance(thing, Object) and name in thing.variables:
        yield thing.variables[name]
    if isinstance(thing, Node) and name in thing.aliases:
        yield thing.aliases[name]
    if isinstance(thing, Edge):
        yield from (a for a in thing.actions.values() if a.name == name)
    if isinstance(thing, NetworkEvent) and thing.parent is not None and name not in thing.variables:
        yield from children_named(thing.parent, name)


def child_order(thing: Thing) -> tuple[int, int]:
    """Return a key that sorts the children of a thing: objects, functions, variables, the rest, each as they
    were made."""
    groups = (Object, Function, Variable)
    group = next((k for k, kind in enumerate(groups) if isinstance(thing, kind)), len(groups))
    return (group, thing.serial)
