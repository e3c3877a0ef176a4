"""`Node`, `Edge` and what they hold: variables, actions, functions and events.

Everything here is text and structure; nothing has a value yet. `strut.network.build.templates` puts what a
template gains into its instances too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from strut.network.build.context import Context
from strut.network.text.errors import Mark

FLAGS = ("integrated", "discrete", "once", "in", "out")
"""Words that say what a variable is."""
WALK_FACTS = ("walk", "foot")
"""Types of outputs that say what the walk of a network is."""
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
        """The name with the nodes around it: 'leg.knee.q'."""
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
        """What an action acts on, and when: a later one with the same key takes its place."""
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
        """The name with the nodes around it: 'Spatial.cross'."""
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
        """The names of the nodes around it, from outside, the network not counted; and its own."""
        names: list[str] = []
        each: Object | None = self
        while each is not None and each.parent is not None:
            names.append(each.name)
            each = each.parent
        return tuple(reversed(names))

    @property
    def path(self) -> str:
        """The name with the nodes around it: 'leg.knee'; empty for the network itself."""
        return ".".join(self.names)

    @property
    def owner(self) -> Node | None:
        """The node in which it is; None for the network itself."""
        return self.parent

    def ancestry(self) -> Iterator[Object]:
        """All templates that were applied to it, directly or by other templates."""
        seen: set[int] = set()
        waiting = list(self.templates)
        while waiting:
            t = waiting.pop()
            if id(t) not in seen:
                seen.add(id(t))
                yield t
                waiting.extend(t.templates)


class Edge(Object):
    """A connection from an input node to an output node, with actions on the output's variables."""

    kind = "edge"

    def __init__(self, name: str, parent: Node | None, mark: Mark | None = None) -> None:
        super().__init__(name, parent, mark)
        self.input: Node | None = None
        self.output: Node | None = None
        self.actions: dict[tuple[str, bool, str, tuple[str, ...]], Action] = {}


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
    def walk_fact(self) -> str:
        """'walk' or 'foot' where the node is an output of that type, which says what the walk of the network
        is; else empty."""
        table = self.table or {}
        is_fact = table.get("direction") == "output" and table.get("type") in WALK_FACTS
        return table["type"] if is_fact else ""

    @property
    def self_edge(self) -> Edge:
        """The edge from the node to itself that holds its equations; made when first asked for."""
        if self._self_edge is None:
            self._self_edge = Edge("self", self)
            self._self_edge.input = self._self_edge.output = self
        return self._self_edge

    @property
    def own_edge(self) -> Edge | None:
        """The edge from the node to itself, or None where it has no equations."""
        return self._self_edge

    def unique(self, base: str) -> str:
        """A name that no child has yet: base, base_1, base_2, ..."""
        if base not in self.children:
            return base
        count = self._counters.setdefault(base, itertools.count(1))
        return f"{base}_{next(k for k in count if f'{base}_{k}' not in self.children)}"

    def descendants(self) -> Iterator[Node | Edge]:
        """All nodes and edges below, depth first, in the order of the file."""
        waiting: list[Node | Edge] = list(reversed(self.children.values()))
        while waiting:
            each = waiting.pop()
            yield each
            if isinstance(each, Node):
                waiting.extend(reversed(each.children.values()))


def attach(edge: Edge, source: Node, target: Node) -> None:
    """Connect an edge from one node to another."""
    edge.input, edge.output = source, target
    source.outputs.append(edge)
    target.inputs.append(edge)


def detach(edge: Edge) -> None:
    """Take an edge away from the nodes that it connected."""
    if edge.input is not None and edge in edge.input.outputs:
        edge.input.outputs.remove(edge)
    if edge.output is not None and edge in edge.output.inputs:
        edge.output.inputs.remove(edge)
