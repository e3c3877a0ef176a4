"""Rules of the grammar for texts and files, and for changes of what was made: defines, inclusions, templates
applied and removed, drawing positions."""

from __future__ import annotations

from strut.network.text import statements as s
from strut.network.text.rule_parts import (
    Parts,
    ValueList,
    body_of,
    head_of,
    is_value,
    list_entries,
    text_of,
    word_kinds,
)


class TextRules:
    """Defines, other files, and statements about objects that are there."""

    # ---- defines and files ----

    def define_names(self, parts: Parts) -> ValueList:
        """Read `[a, b]`, names of defines."""
        return ValueList(None if p is None else text_of(p) for p in list_entries(parts))

    def define(self, parts: Parts) -> s.DefineStatement:
        """Read `a = 1` or `a = | nodes` among defines."""
        names: s.Values = list(parts[0]) if isinstance(parts[0], ValueList) else [text_of(parts[0])]
        value = parts[2]
        return s.DefineStatement(
            names, str(parts[1]), value if isinstance(value, s.Selector) else list(value), **head_of(parts[0])
        )

    def defines(self, parts: Parts) -> s.DefinesStatement:
        """Read `defines { ... }`."""
        return s.DefinesStatement(body_of(parts), **head_of(parts[0]))

    def include(self, parts: Parts) -> s.IncludeStatement:
        """Read `include "file"` or `require "file"`."""
        return s.IncludeStatement(text_of(parts[1]), parts[0].type == "REQUIRE", **head_of(parts[0]))

    def link(self, parts: Parts) -> s.LinkStatement:
        """Read `link-library "file"`."""
        return s.LinkStatement(text_of(parts[1]), **head_of(parts[0]))

    def parse(self, parts: Parts) -> s.ParseStatement:
        """Read `parse "file" { ... }`."""
        return s.ParseStatement(text_of(parts[1]), body_of(parts), **head_of(parts[0]))

    def import_(self, parts: Parts) -> s.ImportStatement:
        """Read `import "file" as name`."""
        return s.ImportStatement(text_of(parts[1]), text_of(parts[3]), **head_of(parts[0]))

    # ---- what is there ----

    def debug(self, parts: Parts) -> s.DebugStatement:
        """Read `debug-print`, of a selector, a text or the context."""
        what = parts[1]
        return s.DebugStatement(
            what if isinstance(what, s.Selector) else text_of(what) if is_value(what) else None,
            **head_of(parts[0]),
        )

    def delete(self, parts: Parts) -> s.DeleteStatement:
        """Read `delete selector` or `delete { ... }`."""
        return s.DeleteStatement([p for p in parts if isinstance(p, s.Selector)], **head_of(parts[0]))

    def apply(self, parts: Parts) -> s.ApplyStatement:
        """Read `apply templates to objects`."""
        return _apply_statement(parts, undo=False)

    def unapply(self, parts: Parts) -> s.ApplyStatement:
        """Read `unapply templates from objects`."""
        return _apply_statement(parts, undo=True)

    def position(self, parts: Parts) -> s.Position:
        """Read `objects at x, y of other`; a colon instead of the comma means polar coordinates."""
        kinds = word_kinds(parts)
        at = kinds.index("AT")
        of = parts[kinds.index("OF") + 1] if "OF" in kinds else None
        return s.Position(
            selector=parts[0] if isinstance(parts[0], s.Selector) else None,
            x=list(parts[at + 1]),
            y=list(parts[at + 3]),
            of=of,
            polar=kinds[at + 2] == "COLON",
            **head_of(parts[0]),
        )

    def layout(self, parts: Parts) -> s.LayoutStatement:
        """Read `layout { ... }`."""
        return s.LayoutStatement(body_of(parts), **head_of(parts[0]))


def _apply_statement(parts: Parts, undo: bool) -> s.ApplyStatement:
    """Return the statement of `apply` or `unapply`."""
    selectors = [p for p in parts if isinstance(p, s.Selector)]
    to = selectors[1] if len(selectors) > 1 else None
    return s.ApplyStatement(selectors[0], to, undo, **head_of(parts[0]))
