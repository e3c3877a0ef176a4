"""Looks up names: what a name means where it stands, in a node, an edge, an event or a function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from strut.network.model import Edge, Function, NetworkEvent, Node, Object, Variable


def search_path(thing: Object) -> Iterator[Object]:
    """The objects in which a name is looked up, in order: the thing, for an edge its input node, then the
    nodes around them, outwards."""
    seen: set[int] = set()
    start: list[Object] = [thing]
    if isinstance(thing, Edge) and thing.input is not None:
        start.append(thing.input)
    for each in start:
        seen.add(id(each))
        yield each
    outer: Object | None = thing.parent
    while outer is not None:
        if id(outer) not in seen:
            seen.add(id(outer))
            yield outer
        outer = outer.parent


def own_variable(thing: Object, name: str) -> Variable | None:
    """The variable of that name of a thing itself or of its interface, or None."""
    variable_here = thing.variables.get(name)
    if variable_here is None and isinstance(thing, Node) and name in thing.aliases:
        return aliased_variable(thing, name)
    return variable_here


def aliased_variable(node: Node, name: str, depth: int = 0) -> Variable | None:
    """The variable that a name of an interface stands for, through interfaces of children; None if none."""
    alias = node.aliases.get(name)
    child = node.children.get(alias.child) if alias else None
    if alias is None or child is None or depth > 100:
        return None
    target = child.variables.get(alias.variable)
    return (
        aliased_variable(child, alias.variable, depth + 1)
        if target is None and isinstance(child, Node)
        else target
    )


def node_named(name: str, thing: Object) -> Object | None:
    """The node or edge that the first part of a dotted name means, seen from a thing, or None."""
    if name in ("input", "output"):
        for each in search_path(thing):
            if isinstance(each, Edge):
                return each.input if name == "input" else each.output
    for each in search_path(thing):
        if isinstance(each, Node) and name in each.children:
            return each.children[name]
    return None


def step_into(path: str, thing: Object) -> Object | None:
    """The object that a path 'a.b' means, seen from a thing, or None."""
    first, *rest = path.split(".")
    inside = node_named(first, thing)
    for name in rest:
        inside = inside.children.get(name) if isinstance(inside, Node) else None
    return inside


def variable(name: str, thing: Object) -> Variable | None:
    """The variable that a name means in a thing, or None."""
    path, dot, last = name.rpartition(".")
    if dot:
        inside = step_into(path, thing)
        return None if inside is None else own_variable(inside, last)
    for each in search_path(thing):
        variable_here = own_variable(each, last)
        if variable_here is not None:
            return variable_here
    return None


def variables(name: str, things: Sequence[Object]) -> list[Variable | None]:
    """The variables that a name means in many things, None where it means none.

    `input.x` and `output.x` of edges are looked up once for each node.
    """
    path, _, last = name.rpartition(".")
    if not path:
        return [thing.variables.get(last) or variable(name, thing) for thing in things]
    if path not in ("input", "output"):
        return [variable(name, thing) for thing in things]
    of_ends: dict[Node | None, Variable | None] = {}
    result = []
    for thing in things:
        if not isinstance(thing, Edge):
            result.append(variable(name, thing))
            continue
        end = thing.input if path == "input" else thing.output
        if end not in of_ends:
            of_ends[end] = None if end is None else own_variable(end, last)
        result.append(of_ends[end])
    return result


def function(name: str, thing: Object) -> Function | None:
    """The function that a name means in a thing, or None."""
    path, dot, last = name.rpartition(".")
    if dot:
        inside = step_into(path, thing)
        return inside.functions.get(last) if isinstance(inside, Node) else None
    for each in search_path(thing):
        if isinstance(each, Node) and last in each.functions:
            return each.functions[last]
    return None


def state_machine(thing: Object | None) -> Node | None:
    """The nearest node, from a thing outwards, that has states (`initial-state`), or None."""
    each = thing.parent if isinstance(thing, NetworkEvent) else thing
    while each is not None:
        if isinstance(each, Node) and each.initial_state is not None:
            return each
        each = each.parent
    return None


def visible_names(thing: Object) -> list[str]:
    """The names of variables that can be seen from a thing, nearest first."""
    return list(
        dict.fromkeys(
            n
            for each in search_path(thing)
            for n in [*each.variables, *(each.aliases if isinstance(each, Node) else ())]
        )
    )
