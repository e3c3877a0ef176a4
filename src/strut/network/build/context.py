"""The context in which a text is expanded: a stack of expansions (what generators made and patterns matched)
and scopes of defines."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Expansion:
    """A generated or matched text and its groups: group 0 is the whole, each with its index in the list it
    came from."""

    texts: tuple[str, ...]
    indices: tuple[int, ...]

    @property
    def text(self) -> str:
        """The whole text, group 0."""
        return self.texts[0]


def plain_expansion(text: str, index: int = 0) -> Expansion:
    """Return an expansion without groups."""
    return Expansion((text,), (index,))


@dataclass(slots=True)
class Define:
    """The value of a define: its whole text, its elements where it is a list, and its index where it is a
    label of a selector."""

    text: str
    elements: tuple[str, ...] = ()
    index: int = 0

    def items(self) -> tuple[str, ...]:
        """Return the elements; a text that is no list is its only one."""
        return self.elements or ((self.text,) if self.text else ())


@dataclass(slots=True)
class DefineScope:
    """Defines of a block; what it does not have, the blocks around it may."""

    parent: DefineScope | None = None
    values: dict[str, Define] = field(default_factory=dict)

    def get(self, name: str) -> Define | None:
        """Return the define of that name here or in the nearest block around, or None."""
        scope: DefineScope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.parent
        return None


Stack = tuple[Expansion, "Stack"] | None
"""Innermost expansion first."""


@dataclass(frozen=True, slots=True)
class Context:
    """A stack of expansions and a scope."""

    scope: DefineScope
    stack: Stack = None

    def push(self, expansion: Expansion) -> Context:
        """Return the same scope with one more expansion on the stack."""
        return Context(self.scope, (expansion, self.stack))

    def inner(self) -> Context:
        """Return the same expansions in a new scope below their own."""
        return Context(DefineScope(self.scope), self.stack)

    def within(self, scope: DefineScope) -> Context:
        """Return the same expansions in a new scope below another one."""
        return Context(DefineScope(scope), self.stack)

    def level(self, depth: int) -> Expansion | None:
        """Return the expansion `depth` levels out, or None; 0 is the innermost."""
        stack = self.stack
        for _ in range(depth):
            if stack is None:
                return None
            stack = stack[1]
        return stack[0] if stack is not None else None

    def trail(self, most: int = 6) -> str:
        """Return the innermost `most` expansions in words, for error messages."""
        words: list[str] = []
        stack = self.stack
        while stack is not None and len(words) < most:
            words.append(stack[0].text)
            stack = stack[1]
        return " in ".join(f"'{w}'" for w in words if w)
