"""Applies templates: what is put into an object its instances get too, unless they have their own."""

from __future__ import annotations

from strut.network.model import (
    Action,
    Alias,
    Edge,
    Function,
    Item,
    NetworkEvent,
    Node,
    Object,
    Variable,
    attach,
    detach,
)
from strut.network.text.errors import Mistake

# ---- put something into an object and its instances ----


def set_variable(thing: Object, variable: Variable) -> None:
    """Put a variable into an object, and into every instance that has none of its own."""
    thing.variables[variable.name] = variable
    for instance in list(thing.instances):
        inherit_variable(instance, variable)


def set_action(edge: Edge, action: Action) -> None:
    """Put an action on an edge and its instances."""
    edge.actions[action.key] = action
    for instance in list(edge.instances):
        inherit_action(instance, action)


def add_child(node: Node, child: Node | Edge) -> None:
    """Put a node or an edge into a node and its instances. Raises `Mistake` if its name is taken there."""
    if child.name in node.children:
        raise Mistake(f"'{child.name}' stands twice in {node!r}")
    node.children[child.name] = child
    child.parent = node
    for instance in list(node.instances):
        inherit_child(instance, child)


def set_function(node: Node, function: Function) -> None:
    """Put a function into a node and its instances."""
    node.functions[function.name] = function
    for instance in list(node.instances):
        inherit_function(instance, function)


def set_alias(node: Node, alias: Alias) -> None:
    """Put an interface name into a node and its instances."""
    node.aliases[alias.name] = alias
    for instance in list(node.instances):
        inherit_alias(instance, alias)


def add_event(node: Node, event: NetworkEvent) -> None:
    """Put an event into a node and its instances."""
    node.events.append(event)
    for instance in list(node.instances):
        inherit_event(instance, event)


def set_initial(node: Node, state: str) -> None:
    """Set the discrete state in which a node and its instances begin."""
    node.initial_state = state
    for instance in list(node.instances):
        if isinstance(instance, Node):
            set_initial(instance, state)


# ---- apply templates ----


def apply(template: Object, to: Object) -> None:
    """Apply a template to an object: it gets all that the template has, and follows it from now on. Raises
    `Mistake` if they are of different kinds, or if one would contain itself."""
    if template.kind != to.kind:
        raise Mistake(f"{template!r} is a template of {template.kind}s: it cannot be applied to {to!r}")
    if template is to or to in template.ancestry():
        raise Mistake(f"{template!r} cannot be applied to {to!r}: one would contain itself")
    if template not in to.templates:
        to.templates.append(template)
    follow(template, to)


def follow(template: Object, to: Object) -> None:
    """Make an object an instance of a template: it inherits what the template has now, and gets later."""
    template.instances[to] = None
    if template not in to.follows:
        to.follows.append(template)
    for variable in template.variables.values():
        inherit_variable(to, variable)
    if isinstance(template, Edge) and isinstance(to, Edge):
        for action in template.actions.values():
            inherit_action(to, action)
    if isinstance(template, Node) and isinstance(to, Node):
        if template.own_edge is not None:
            follow(template.own_edge, to.self_edge)
        for function in template.functions.values():
            inherit_function(to, function)
        for child in sorted(template.children.values(), key=lambda c: isinstance(c, Edge)):
            inherit_child(to, child)
        for alias in template.aliases.values():
            inherit_alias(to, alias)
        if template.initial_state is not None:
            set_initial(to, template.initial_state)
        for event in template.events:
            inherit_event(to, event)


def keeps_own(to: Object, mine: Item | None, theirs: Item) -> bool:
    """Does `to` keep `mine` and ignore `theirs`? It does if `mine` is its own, or from a template that was
    applied after that of `theirs`."""
    if mine is None:
        return False
    if mine.origin is None:
        return True
    first, second = theirs.owner, mine.origin.owner
    return (
        first is not second
        and first in to.follows
        and second in to.follows
        and to.follows.index(first) < to.follows.index(second)
    )


def matching_template_variable(thing: Object, variable: Variable) -> Variable | None:
    """Return the variable of a template that `thing` follows again, because its own was set to what a
    template says; if several templates have one, the last template's. None if no template says the same."""
    theirs = [v for t in thing.follows if (v := t.variables.get(variable.name)) is not None]
    mine = (variable.text, variable.flags, variable.constraint)
    return theirs[-1] if any((v.text, v.flags, v.constraint) == mine for v in theirs) else None


def inherit_alias(to: Object, theirs: Alias) -> None:
    """Give an object the alias of its template, unless its own outranks it."""
    if isinstance(to, Node) and not keeps_own(to, to.aliases.get(theirs.name), theirs):
        set_alias(
            to,
            Alias(
                theirs.name, to, mark=theirs.mark, origin=theirs, variable=theirs.variable, child=theirs.child
            ),
        )


def inherit_variable(to: Object, theirs: Variable) -> None:
    """Give an object the variable of its template; if its own outranks it, that gets the flags only."""
    mine = to.variables.get(theirs.name)
    if mine is not None and keeps_own(to, mine, theirs):
        mine.flags |= theirs.flags
        mine.is_rate = mine.is_rate or theirs.is_rate
        return
    copy = Variable(
        theirs.name,
        to,
        mark=theirs.mark,
        context=theirs.context,
        origin=theirs,
        note=theirs.note,
        text=theirs.text,
        flags=set(theirs.flags),
    )
    copy.constraint, copy.is_rate = theirs.constraint, theirs.is_rate
    if mine is not None:
        copy.is_rate = copy.is_rate or mine.is_rate
        copy.flags |= mine.flags
        copy.serial = mine.serial
        copy.constraint = theirs.constraint or mine.constraint
    set_variable(to, copy)


def inherit_action(to: Object, theirs: Action) -> None:
    """Give an edge the action of its template, unless its own outranks it."""
    assert isinstance(to, Edge)
    if keeps_own(to, to.actions.get(theirs.key), theirs):
        return
    copy = Action(
        theirs.name, to, mark=theirs.mark, context=theirs.context, origin=theirs, note=theirs.note,
        text=theirs.text, rate=theirs.rate, adds=theirs.adds, index=theirs.index, states=theirs.states,
    )  # fmt: skip
    set_action(to, copy)


def inherit_function(to: Object, theirs: Function) -> None:
    """Give a node the function of its template, unless its own outranks it."""
    if not isinstance(to, Node):
        return
    if keeps_own(to, to.functions.get(theirs.name), theirs):
        return
    copy = Function(
        theirs.name, to, mark=theirs.mark, context=theirs.context, origin=theirs, note=theirs.note,
        text=theirs.text, arguments=theirs.arguments, implicit=theirs.implicit, pieces=theirs.pieces,
    )  # fmt: skip
    set_function(to, copy)


def inherit_child(to: Object, theirs: Node | Edge) -> None:
    """Give a node the child of its template: a new one, or the one it has, which follows it from now on."""
    if not isinstance(to, Node):
        return
    mine = to.children.get(theirs.name)
    if mine is None:
        mine = type(theirs)(theirs.name, None, theirs.mark)
        mine.made_from = theirs
        mine.place, mine.note = theirs.place, theirs.note
        if isinstance(mine, Node) and isinstance(theirs, Node):
            mine.table = theirs.table
        add_child(to, mine)
    if mine.kind != theirs.kind:
        raise Mistake(f"{mine!r} is a {mine.kind}, but its template has a {theirs.kind} of that name")
    for template in theirs.templates:
        if template not in mine.templates:
            mine.templates.append(template)
    if isinstance(mine, Edge) and isinstance(theirs, Edge) and mine.input is None:
        reattach(mine, theirs, to)
    follow(theirs, mine)


def reattach(mine: Edge, theirs: Edge, to: Node) -> None:
    """Attach a copied edge to the nodes that have the names of the ends it was copied with."""
    ends = [_matching_end(end, theirs, to) for end in (theirs.input, theirs.output)]
    if ends[0] is not None and ends[1] is not None:
        attach(mine, ends[0], ends[1])


def _matching_end(end: Node | None, theirs: Edge, to: Node) -> Node | None:
    """Return the node inside `to` that matches an end of the edge `theirs`, by the names on the way; None if
    there is none."""
    names: list[str] = []
    while end is not None and end is not theirs.parent:
        names.append(end.name)
        end = end.parent
    if end is None:
        return None
    match: Node | Edge | None = to
    for name in reversed(names):
        match = match.children.get(name) if isinstance(match, Node) else None
    return match if isinstance(match, Node) else None


def inherit_event(to: Object, theirs: NetworkEvent) -> None:
    """Give a node the event of its template, once."""
    if not isinstance(to, Node) or any(theirs in e.templates for e in to.events):
        return
    copy = NetworkEvent(theirs.name, to, theirs.mark)
    copy.states, copy.target, copy.terminal = theirs.states, theirs.target, theirs.terminal
    copy.condition, copy.within, copy.sets, copy.context = (
        theirs.condition,
        theirs.within,
        theirs.sets,
        theirs.context,
    )
    copy.templates.append(theirs)
    follow(theirs, copy)
    add_event(to, copy)


def delete(thing: Object | Item) -> None:
    """Take something out of a network. Instances lose the variables of a template too, unless they have their
    own; edges from and to a node that is no more stay, and join nothing."""
    if isinstance(thing, Variable):
        if thing.owner.variables.get(thing.name) is thing:
            del thing.owner.variables[thing.name]
        for instance in list(thing.owner.instances):
            copy = instance.variables.get(thing.name)
            if copy is not None and copy.origin is thing:
                delete(copy)
    elif isinstance(thing, Function) and isinstance(thing.owner, Node):
        thing.owner.functions.pop(thing.name, None)
    elif isinstance(thing, Action) and isinstance(thing.owner, Edge):
        thing.owner.actions.pop(thing.key, None)
    elif isinstance(thing, Alias) and isinstance(thing.owner, Node):
        thing.owner.aliases.pop(thing.name, None)
    elif isinstance(thing, (Node, Edge)) and thing.parent is not None:
        thing.parent.children.pop(thing.name, None)
        for edge in [thing] if isinstance(thing, Edge) else [*thing.inputs, *thing.outputs]:
            detach(edge)
            edge.input = edge.output = None


def unapply(template: Object, of: Object) -> None:
    """Remove what an object has from a template only; what other templates have instead takes its place."""
    if template in of.templates:
        of.templates.remove(template)
    if template in of.follows:
        of.follows.remove(template)
    template.instances.pop(of, None)

    def is_from_template(item: Item) -> bool:
        return item.origin is not None and item.origin.owner is template

    of.variables = {n: v for n, v in of.variables.items() if not is_from_template(v)}
    if isinstance(of, Edge):
        of.actions = {k: a for k, a in of.actions.items() if not is_from_template(a)}
    if isinstance(of, Node) and isinstance(template, Node):
        if of.own_edge is not None and template.own_edge is not None:
            unapply(template.own_edge, of.own_edge)
        of.functions = {n: f for n, f in of.functions.items() if not is_from_template(f)}
        of.aliases = {n: a for n, a in of.aliases.items() if not is_from_template(a)}
        of.events = [e for e in of.events if not any(t.parent is template for t in e.templates)]
        for name, child in list(of.children.items()):
            if child.made_from is not None and child.made_from.parent is template:
                if isinstance(child, Edge):
                    detach(child)
                del of.children[name]
    for other in list(of.follows):
        follow(other, of)
