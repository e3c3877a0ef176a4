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
    """A name with primes and an index behind it."""

    text: Text
    order: int = 0
    index: str = ""
    note: str = ""


@dataclass(slots=True)
class SelectorStage:
    """One step of a selector: a text, a pattern between slashes, or a word with arguments."""

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
Values = list[Text | None]


@dataclass(slots=True, kw_only=True)
class Statement:
    mark: Mark
    note: str = ""


@dataclass(slots=True)
class Assign(Statement):
    names: list[NameText | None]
    operator: str = "="
    values: Values = field(default_factory=list)
    flags: tuple[str, ...] = ()
    constraint: tuple[str, tuple[Text, ...]] | None = None
    states: Values | None = None
    has_values: bool = True


@dataclass(slots=True)
class FunctionStatement(Statement):
    name: Text
    order: int
    arguments: list[tuple[str, Text, Text | None]]
    implicit: list[tuple[str, Text, Text | None]]
    operator: str
    value: Text


@dataclass(slots=True)
class PolynomialStatement(Statement):
    name: Text
    pieces: list[list[Text]]


@dataclass(slots=True)
class SetStatement(Statement):
    selectors: Selectors
    values: Values | None
    flags: tuple[str, ...]


@dataclass(slots=True)
class Attributes:
    bidirectional: bool = False
    no_self: bool = False
    probability: Text | None = None
    note: str = ""


@dataclass(slots=True)
class NodeStatement(Statement):
    name: Text | None
    selector: Selector | None
    templates: list[Selectors]
    body: list[Statement]
    kind: str = "node"


@dataclass(slots=True)
class EdgeStatement(Statement):
    name: Text | None
    selector: Selector | None
    connect: tuple[str, list[Selectors]] | None
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
    name: Text
    operator: str
    variable: Text
    child: Text


@dataclass(slots=True)
class InterfaceStatement(Statement):
    body: list[Statement]


@dataclass(slots=True)
class IoStatement(Statement):
    direction: str
    name: Text
    kind: Text
    settings: list[tuple[Values, Values]]
    body: list[Statement]


@dataclass(slots=True)
class EventStatement(Statement):
    states: Text | None
    target: Text | None
    terminal: bool
    condition: Text
    within: Text | None
    body: list[Statement]


@dataclass(slots=True)
class InitialStatement(Statement):
    values: Values


@dataclass(slots=True)
class DefineStatement(Statement):
    names: Values
    operator: str
    values: Values | Selector


@dataclass(slots=True)
class DefinesStatement(Statement):
    body: list[Statement]


@dataclass(slots=True)
class IncludeStatement(Statement):
    path: Text
    once: bool


@dataclass(slots=True)
class LinkStatement(Statement):
    path: Text


@dataclass(slots=True)
class ParseStatement(Statement):
    path: Text
    body: list[Statement]


@dataclass(slots=True)
class ImportStatement(Statement):
    path: Text
    name: Text


@dataclass(slots=True)
class DebugStatement(Statement):
    what: Selector | Text | None


@dataclass(slots=True)
class DeleteStatement(Statement):
    selectors: list[Selector]


@dataclass(slots=True)
class ApplyStatement(Statement):
    templates: Selector
    to: Selector | None
    undo: bool


@dataclass(slots=True)
class Position(Statement):
    selector: Selector | None
    x: Values
    y: Values
    of: Selector | None
    polar: bool = False


@dataclass(slots=True)
class LayoutStatement(Statement):
    body: list[Statement]
