"""What a network is made of: nodes and edges with variables, actions, functions and events.

Everything here is text and structure; nothing has a value yet. Instances follow their templates: what a
template gains later its instances gain too, unless they said it themselves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from strut.network.build.context import Context
from strut.network.text.errors import Mark, Mistake

FLAGS = ("integrated", "discrete", "once", "in", "out")
_serial = itertools.count()


@dataclass(eq=False, slots=True)
class Item:
    """Something with a name that belongs to an object. `origin` is the item of the template it was taken
    from."""

    name: str
    owner: Object
    mark: Mark | None = None
    context: Context | None = None
    origin: Item | None = None
    note: str = ""
    serial: int = field(default_factory=_serial.__next__)


@dataclass(eq=False, slots=True)
class Variable(Item):
    """A named expression; with the flag 'integrated' or 'discrete' a state, of which it is the initial value.

    is_rate: an equation of higher order (x'') made it the rate of another variable."""

    text: str = "0"
    flags: set[str] = field(default_factory=set)
    constraint: str | None = None
    is_rate: bool = False

    @property
    def path(self) -> str:
        return f"{self.owner.path}.{self.name}" if self.owner.path else self.name


@dataclass(eq=False, slots=True)
class Action(Item):
    """What an edge does to a variable of its output node (`name`): add to its rate, add to it, or set it."""

    text: str = "0"
    rate: bool = False
    adds: bool = True
    index: str = ""
    states: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, bool, str, tuple[str, ...]]:
        return (self.name, self.rate, self.index, self.states)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function, perhaps with a default; `scope` is 'input' or 'output' of those looked up at
    the caller."""

    name: str
    default: str | None = None
    scope: str = ""


@dataclass(frozen=True, slots=True)
class PolynomialPiece:
    """A polynomial from `begin` to `end`, highest power first, in x - begin."""

    begin: str
    end: str
    coefficients: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Function(Item):
    """A function: arguments, those that are looked up at the caller, and an expression; or polynomials, piece
    by piece."""

    text: str = "0"
    arguments: tuple[Argument, ...] = ()
    implicit: tuple[Argument, ...] = ()
    pieces: tuple[PolynomialPiece, ...] = ()

    @property
    def path(self) -> str:
        return f"{self.owner.path}.{self.name}" if self.owner.path else self.name


@dataclass(eq=False, slots=True)
class Alias(Item):
    """An interface: `name` stands for a variable of a child."""

    variable: str = ""
    child: str = ""


class Object:
    """A node, an edge or an event: a name, variables, and the templates applied to it."""

    kind = "object"

    def __init__(self, name: str, parent: Node | None, mark: Mark | None = None) -> None:
        self.name, self.parent, self.mark = name, parent, mark
        self.serial = next(_serial)
        self.variables: dict[str, Variable] = {}
        self.templates: list[Object] = []
        self.instances: dict[Object, None] = {}
        self.follows: list[Object] = []
        self.made_from: Object | None = None
        self.note = ""
        self.place: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} {self.path or 'network'}>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all around it, the network not counted, and its own."""
        names: list[str] = []
        each: Object | None = self
        while each is not None and each.parent is not None:
            names.append(each.name)
            each = each.parent
        return tuple(reversed(names))

    @property
    def path(self) -> str:
        return ".".join(self.names)

    @property
    def owner(self) -> Node | None:
        return self.parent

    def set_variable(self, variable: Variable) -> None:
        """Put a variable here, and into every instance that did not say its own."""
        self.variables[variable.name] = variable
        for instance in list(self.instances):
            inherit_variable(instance, variable)

    def ancestry(self) -> Iterator[Object]:
        """Every template applied, directly or not."""
        seen: set[int] = set()
        waiting = list(self.templates)
        while waiting:
            t = waiting.pop()
            if id(t) not in seen:
                seen.add(id(t))
                yield t
                waiting.extend(t.templates)


class Edge(Object):
    """From an input node to an output node, with actions on the output's variables."""

    kind = "edge"

    def __init__(self, name: str, parent: Node | None, mark: Mark | None = None) -> None:
        super().__init__(name, parent, mark)
        self.input: Node | None = None
        self.output: Node | None = None
        self.actions: dict[tuple[str, bool, str, tuple[str, ...]], Action] = {}

    def set_action(self, action: Action) -> None:
        self.actions[action.key] = action
        for instance in list(self.instances):
            inherit_action(instance, action)


@dataclass(frozen=True, slots=True)
class Assignment:
    """What an event sets: the variables a selector finds, looked for where the event is, and a text that
    gives each its value."""

    selector: Any
    context: Context
    text: str
    mark: Mark | None


class NetworkEvent(Object):
    """When `condition` begins to hold in one of the states `states`: set variables, and change the state."""

    kind = "event"

    def __init__(self, name: str, parent: Node | None, mark: Mark | None = None) -> None:
        super().__init__(name, parent, mark)
        self.states: tuple[str, ...] | None = None
        self.target: str | None = None
        self.terminal = False
        self.condition = "0"
        self.within: str | None = None
        self.sets: list[Assignment] = []
        self.context: Context | None = None


class Node(Object):
    """A node: variables, children (nodes and edges), functions, events, and an edge from itself to itself."""

    kind = "node"

    def __init__(self, name: str, parent: Node | None, mark: Mark | None = None) -> None:
        super().__init__(name, parent, mark)
        self.children: dict[str, Node | Edge] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, Alias] = {}
        self.events: list[NetworkEvent] = []
        self.initial_state: str | None = None
        self.inputs: list[Edge] = []
        self.outputs: list[Edge] = []
        self.table: dict[str, str] | None = None
        self.is_import = False
        self._self_edge: Edge | None = None
        self._counters: dict[str, itertools.count[int]] = {}

    @property
    def self_edge(self) -> Edge:
        if self._self_edge is None:
            self._self_edge = Edge("self", self)
            self._self_edge.input = self._self_edge.output = self
        return self._self_edge

    @property
    def own_edge(self) -> Edge | None:
        """The self edge if anything is on it."""
        return self._self_edge

    def add(self, child: Node | Edge) -> None:
        if child.name in self.children:
            raise Mistake(f"'{child.name}' stands twice in {self!r}")
        self.children[child.name] = child
        child.parent = self
        for instance in list(self.instances):
            inherit_child(instance, child)

    def unique(self, base: str) -> str:
        """A name not yet used here: base, base_1, base_2, ..."""
        if base not in self.children:
            return base
        count = self._counters.setdefault(base, itertools.count(1))
        return f"{base}_{next(k for k in count if f'{base}_{k}' not in self.children)}"

    def set_function(self, function: Function) -> None:
        self.functions[function.name] = function
        for instance in list(self.instances):
            inherit_function(instance, function)

    def set_alias(self, alias: Alias) -> None:
        self.aliases[alias.name] = alias
        for instance in list(self.instances):
            inherit_alias(instance, alias)

    def add_event(self, event: NetworkEvent) -> None:
        self.events.append(event)
        for instance in list(self.instances):
            inherit_event(instance, event)

    def set_initial(self, state: str) -> None:
        self.initial_state = state
        for instance in list(self.instances):
            if isinstance(instance, Node):
                instance.set_initial(state)

    def walk(self) -> Iterator[Node | Edge]:
        """Everything below, depth first."""
        waiting: list[Node | Edge] = list(reversed(self.children.values()))
        while waiting:
            each = waiting.pop()
            yield each
            if isinstance(each, Node):
                waiting.extend(reversed(each.children.values()))


def attach(edge: Edge, source: Node, target: Node) -> None:
    """Let an edge go from one node to another."""
    edge.input, edge.output = source, target
    source.outputs.append(edge)
    target.inputs.append(edge)


def detach(edge: Edge) -> None:
    if edge.input is not None and edge in edge.input.outputs:
        edge.input.outputs.remove(edge)
    if edge.output is not None and edge in edge.output.inputs:
        edge.output.inputs.remove(edge)


# ---- templates ----


def apply(template: Object, to: Object) -> None:
    """Let `to` have all that a template has, and follow it from now on."""
    if template.kind != to.kind:
        raise Mistake(f"{template!r} is a template of {template.kind}s: it cannot be applied to {to!r}")
    if template is to or to in template.ancestry():
        raise Mistake(f"{template!r} cannot be applied to {to!r}: one would contain itself")
    if template not in to.templates:
        to.templates.append(template)
    follow(template, to)


def follow(template: Object, to: Object) -> None:
    """Take what a template has, now and later."""
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
            to.set_initial(template.initial_state)
        for event in template.events:
            inherit_event(to, event)


def outranked(to: Object, mine: Item | None, theirs: Item) -> bool:
    """Is what `to` has its own, or from a template applied after the one that offers another?"""
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


def same_in_template(thing: Object, variable: Variable) -> Variable | None:
    """The variable of a template that `thing` follows again, because it was set to what a template says: the
    last template's."""
    theirs = [v for t in thing.follows if (v := t.variables.get(variable.name)) is not None]
    mine = (variable.text, variable.flags, variable.constraint)
    return theirs[-1] if any((v.text, v.flags, v.constraint) == mine for v in theirs) else None


def inherit_alias(to: Object, theirs: Alias) -> None:
    if isinstance(to, Node) and not outranked(to, to.aliases.get(theirs.name), theirs):
        to.set_alias(
            Alias(theirs.name, to, theirs.mark, origin=theirs, variable=theirs.variable, child=theirs.child)
        )


def inherit_variable(to: Object, theirs: Variable) -> None:
    mine = to.variables.get(theirs.name)
    if mine is not None and outranked(to, mine, theirs):
        mine.flags |= theirs.flags
        mine.is_rate = mine.is_rate or theirs.is_rate
        return
    copy = Variable(
        theirs.name,
        to,
        theirs.mark,
        theirs.context,
        theirs,
        theirs.note,
        text=theirs.text,
        flags=set(theirs.flags),
    )
    copy.constraint, copy.is_rate = theirs.constraint, theirs.is_rate
    if mine is not None:
        copy.is_rate = copy.is_rate or mine.is_rate
        copy.flags |= mine.flags
        copy.serial = mine.serial
        copy.constraint = theirs.constraint or mine.constraint
    to.set_variable(copy)


def inherit_action(to: Object, theirs: Action) -> None:
    assert isinstance(to, Edge)
    if outranked(to, to.actions.get(theirs.key), theirs):
        return
    copy = Action(
        theirs.name, to, theirs.mark, theirs.context, theirs, theirs.note,
        text=theirs.text, rate=theirs.rate, adds=theirs.adds, index=theirs.index, states=theirs.states,
    )  # fmt: skip
    to.set_action(copy)


def inherit_function(to: Object, theirs: Function) -> None:
    if not isinstance(to, Node):
        return
    if outranked(to, to.functions.get(theirs.name), theirs):
        return
    copy = Function(
        theirs.name, to, theirs.mark, theirs.context, theirs, theirs.note,
        text=theirs.text, arguments=theirs.arguments, implicit=theirs.implicit, pieces=theirs.pieces,
    )  # fmt: skip
    to.set_function(copy)


def inherit_child(to: Object, theirs: Node | Edge) -> None:
    if not isinstance(to, Node):
        return
    mine = to.children.get(theirs.name)
    if mine is None:
        mine = type(theirs)(theirs.name, None, theirs.mark)
        mine.made_from = theirs
        mine.place, mine.note = theirs.place, theirs.note
        if isinstance(mine, Node) and isinstance(theirs, Node):
            mine.table = theirs.table
        to.add(mine)
    if mine.kind != theirs.kind:
        raise Mistake(f"{mine!r} is a {mine.kind}, but its template has a {theirs.kind} of that name")
    for template in theirs.templates:
        if template not in mine.templates:
            mine.templates.append(template)
    if isinstance(mine, Edge) and isinstance(theirs, Edge) and mine.input is None:
        reattach(mine, theirs, to)
    follow(theirs, mine)


def reattach(mine: Edge, theirs: Edge, to: Node) -> None:
    """The ends of a copied edge are the nodes of the same names beside it."""
    ends = [_beside(end, theirs, to) for end in (theirs.input, theirs.output)]
    if ends[0] is not None and ends[1] is not None:
        attach(mine, ends[0], ends[1])


def _beside(end: Node | None, theirs: Edge, to: Node) -> Node | None:
    """The node that is to a copied edge what `end` is to the one it is copied from."""
    names: list[str] = []
    while end is not None and end is not theirs.parent:
        names.append(end.name)
        end = end.parent
    if end is None:
        return None
    found: Node | Edge | None = to
    for name in reversed(names):
        found = found.children.get(name) if isinstance(found, Node) else None
    return found if isinstance(found, Node) else None


def inherit_event(to: Object, theirs: NetworkEvent) -> None:
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
    to.add_event(copy)


def delete(thing: Object | Item) -> None:
    """Take something out of a network. Instances lose the variables of a template too, unless they said their
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
    """Remove what came from a template only; what other templates give instead takes its place."""
    if template in of.templates:
        of.templates.remove(template)
    if template in of.follows:
        of.follows.remove(template)
    template.instances.pop(of, None)

    def foreign(item: Item) -> bool:
        return item.origin is not None and item.origin.owner is template

    of.variables = {n: v for n, v in of.variables.items() if not foreign(v)}
    if isinstance(of, Edge):
        of.actions = {k: a for k, a in of.actions.items() if not foreign(a)}
    if isinstance(of, Node) and isinstance(template, Node):
        if of.own_edge is not None and template.own_edge is not None:
            unapply(template.own_edge, of.own_edge)
        of.functions = {n: f for n, f in of.functions.items() if not foreign(f)}
        of.aliases = {n: a for n, a in of.aliases.items() if not foreign(a)}
        of.events = [e for e in of.events if not any(t.parent is template for t in e.templates)]
        for name, child in list(of.children.items()):
            if child.made_from is not None and child.made_from.parent is template:
                if isinstance(child, Edge):
                    detach(child)
                del of.children[name]
    for other in list(of.follows):
        follow(other, of)
