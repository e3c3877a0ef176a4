"""Statements of the language as they stand in a file, before anything is expanded."""

from __future__ import annotations

from dataclasses import dataclass, field

from strut.network.text.errors import Mark


@dataclass(slots=True)
class Text:
    """A value or name: its text without quotes, still to be expanded."""

    text: str
    mark: Mark


@dataclass(slots=True)
class NameText:
    """A name, how many primes stand behind it, its index in brackets, and the annotation before it."""

    text: Text
    order: int = 0
    index: str = ""
    note: str = ""


@dataclass(slots=True)
class SelectorStage:
    """One step of a selector.

    kind: "text" (a name), "regex" (a pattern between slashes) or "word". arguments: selectors in the
        parentheses of a word. label: the define that holds what was matched. child: it is looked for among
        the children of what was found, not in what was found itself.
    """

    kind: str
    text: str
    mark: Mark
    arguments: tuple[Selector, ...] | None = None
    label: str = ""
    child: bool = False


@dataclass(slots=True)
class Selector:
    """Steps, each applied to what the one before found."""

    stages: tuple[SelectorStage, ...]
    mark: Mark

    @property
    def text(self) -> str:
        """The selector in short, for messages."""
        words = (
            (" . " if stage.child else " | ") + stage.text + ("(...)" if stage.arguments else "")
            for stage in self.stages
        )
        return "".join(words)[3:]


Selectors = list[Selector | None]
"""Selectors that objects take in turn; None leaves one object out."""
Values = list[Text | None]
"""Texts that objects take in turn; None leaves one object out."""
Flag = tuple[str, str]
"""A sign, "+" or "-", and the name of a flag."""


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """An argument of a function: where an implicit one is looked for ("" if anywhere), its name, its
    default."""

    scope: str
    name: Text
    default: Text | None


@dataclass(frozen=True, slots=True)
class EdgeEnds:
    """Which nodes an edge joins: "from" (one selector for each end), "all" or "on" (one for both)."""

    kind: str
    selectors: list[Selectors]


@dataclass(frozen=True, slots=True)
class EdgeAttribute:
    """One word of `Attributes`, and the values in its parentheses."""

    kind: str
    values: list[Text]


@dataclass(frozen=True, slots=True)
class Setting:
    """`name = values` among the settings of a table."""

    name: Text
    values: Values


@dataclass(slots=True, kw_only=True)
class Statement:
    """A statement of the language: where it begins, and the annotation before it."""

    mark: Mark
    note: str = ""


@dataclass(slots=True)
class Assign(Statement):
    """`x = 1`, `x' += -x`, `x | in`: variables are set, rates given, or flags changed.

    names, values: taken in turn by the objects of the block; None leaves one object out.
    operator: "=", "?=" (only if it is new), "+=" or "<=" (an edge adds to a variable of its output, or sets
        it).
    flags: what to set and clear. constraint: the separator ("", "," or ":") and the texts of a constraint.
    states: the discrete states in which an action holds. has_values: false if only flags are changed.
    """

    names: list[NameText | None]
    operator: str = "="
    values: Values = field(default_factory=list)
    flags: tuple[Flag, ...] = ()
    constraint: tuple[str, tuple[Text, ...]] | None = None
    states: Values | None = None
    has_values: bool = True


@dataclass(slots=True)
class FunctionStatement(Statement):
    """`f(x)(y) = x * y`: a function of a node, with arguments and those it takes from where it is called."""

    name: Text
    order: int
    arguments: list[ArgumentText]
    implicit: list[ArgumentText]
    operator: str
    value: Text


@dataclass(slots=True)
class PolynomialStatement(Statement):
    """`polynomial f() { piece from 0 to 1 = c0, c1 }`: each piece is its beginning, end and coefficients."""

    name: Text
    pieces: list[list[Text]]


@dataclass(slots=True)
class SetStatement(Statement):
    """`set selector = values | flags`: variables that a selector finds are set; in an event, once it
    happens."""

    selectors: Selectors
    values: Values | None
    flags: tuple[Flag, ...]


@dataclass(slots=True)
class Attributes:
    """`<bidirectional, no-self, probability(p)>` before an edge: which pairs of nodes it joins."""

    bidirectional: bool = False
    no_self: bool = False
    probability: Text | None = None
    note: str = ""


@dataclass(slots=True)
class NodeStatement(Statement):
    """`node "name" : templates { ... }`: nodes are made by name, or opened by name or selector.

    kind: "node", or "object" where a selector may find edges too.
    """

    name: Text | None
    selector: Selector | None
    templates: list[Selectors]
    body: list[Statement]
    kind: str = "node"


@dataclass(slots=True)
class EdgeStatement(Statement):
    """`edge "name" from a to b : templates { ... }`: edges are made between nodes, or opened.

    states: the discrete states in which the actions of the edge hold, unless they say it themselves.
    """

    name: Text | None
    selector: Selector | None
    connect: EdgeEnds | None
    attributes: Attributes
    states: Values | None
    templates: list[Selectors]
    body: list[Statement]


@dataclass(slots=True)
class StatementBlock(Statement):
    """Braces alone, or those of 'templates' and 'integrator'."""

    kind: str
    body: list[Statement]


@dataclass(slots=True)
class Expose(Statement):
    """`name = variable in child`: a variable of a child gets a name in the interface of its node."""

    name: Text
    operator: str
    variable: Text
    child: Text


@dataclass(slots=True)
class InterfaceStatement(Statement):
    """`interface { ... }`: names of an interface."""

    body: list[Statement]


@dataclass(slots=True)
class IoStatement(Statement):
    """`input "name" type "file" { settings { ... } }`: a node with a table of numbers over time.

    direction: "input", "output" or "io". kind: the text behind `type`.
    """

    direction: str
    name: Text
    kind: Text
    settings: list[Setting]
    body: list[Statement]


@dataclass(slots=True)
class EventStatement(Statement):
    """`event a to b when condition within tolerance { ... }`: the discrete state changes, or the run ends.

    states: names of the states it leaves, None for any. target: the state it enters, None for the same.
    terminal: it ends the run.
    """

    states: Text | None
    target: Text | None
    terminal: bool
    condition: Text
    within: Text | None
    body: list[Statement]


@dataclass(slots=True)
class InitialStatement(Statement):
    """`initial-state "name"`: the discrete state in which a node begins."""

    values: Values


@dataclass(slots=True)
class DefineStatement(Statement):
    """`a = text` among defines: from values, from what a selector finds, or from the environment (`$=`)."""

    names: Values
    operator: str
    values: Values | Selector


@dataclass(slots=True)
class DefinesStatement(Statement):
    """`defines { ... }`: texts with names."""

    body: list[Statement]


@dataclass(slots=True)
class IncludeStatement(Statement):
    """`include "file"`, or `require "file"`, which reads a file once."""

    path: Text
    once: bool


@dataclass(slots=True)
class LinkStatement(Statement):
    """`link-library "file"`: a plug-in, which is not loaded."""

    path: Text


@dataclass(slots=True)
class ParseStatement(Statement):
    """`parse "file" { defines }`: a file is read with defines of its own."""

    path: Text
    body: list[Statement]


@dataclass(slots=True)
class ImportStatement(Statement):
    """`import "file" as name`: a file becomes a network below a node of that name."""

    path: Text
    name: Text


@dataclass(slots=True)
class DebugStatement(Statement):
    """`debug-print what`: what a selector finds is printed, a text, or (None) the context's expansions."""

    what: Selector | Text | None


@dataclass(slots=True)
class DeleteStatement(Statement):
    """`delete selectors`: things are taken out of the network."""

    selectors: list[Selector]


@dataclass(slots=True)
class ApplyStatement(Statement):
    """`apply templates to objects`, or with `undo`, `unapply templates from objects`."""

    templates: Selector
    to: Selector | None
    undo: bool


@dataclass(slots=True)
class Position(Statement):
    """`objects at x, y of other`: where objects are drawn; `polar` if x is a radius and y an angle [rad]."""

    selector: Selector | None
    x: Values
    y: Values
    of: Selector | None
    polar: bool = False


@dataclass(slots=True)
class LayoutStatement(Statement):
    """`layout { ... }`: positions of objects in a drawing."""

    body: list[Statement]
