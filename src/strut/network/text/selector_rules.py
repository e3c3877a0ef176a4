"""Rules of the grammar for selectors."""

from __future__ import annotations

from lark import Token

from strut.network.text import statements as s
from strut.network.text.lexer import Word
from strut.network.text.rule_parts import Label, Part, Parts, SelectorList, first_of, list_entries, text_of


class SelectorRules:
    """Selectors: steps between bars and dots."""

    def mselector(self, parts: Parts) -> SelectorList:
        """Read one selector, or `[a, b]`, several."""
        if isinstance(parts[0], s.Selector):
            return SelectorList(parts)
        return SelectorList(list_entries(parts))

    def selector(self, parts: Parts) -> s.Selector:
        """Read `a | b . c`: a dot leads to the children of what was found, a bar filters it."""
        stages: list[s.SelectorStage] = []
        child = False
        for part in parts:
            if isinstance(part, Token) and part.type in ("BAR", "DOT"):
                child = part.type == "DOT"
                continue
            stage = (
                part
                if isinstance(part, s.SelectorStage)
                else s.SelectorStage("text", text_of(part).text, part.mark)
            )
            stage.child = child
            child = False
            stages.append(stage)
        return s.Selector(tuple(stages), stages[0].mark)

    selector_na = selector

    def label(self, parts: Parts) -> Label:
        """Read `<name>:`, the define that a step makes of what it matched."""
        return Label(text_of(parts[1]).text)

    def word(self, parts: Parts) -> Part:
        """Read the word of a step, such as `children`."""
        return parts[0]

    def pseudo(self, parts: Parts) -> s.SelectorStage:
        """Read a word with its arguments, such as `has-flag(in)`."""
        arguments = tuple(p for p in parts[1:] if isinstance(p, s.Selector)) if len(parts) > 1 else None
        return s.SelectorStage("word", str(parts[0]).lower(), parts[0].mark, arguments)

    def selector_argument(self, parts: Parts) -> s.Selector:
        """Read an argument of a word: a selector, a number or a flag."""
        part: s.Selector | Word = parts[0]
        if isinstance(part, s.Selector):
            return part
        return s.Selector((s.SelectorStage("text", str(part).lower(), part.mark),), part.mark)

    def special(self, parts: Parts) -> s.SelectorStage:
        """Read a step that is no plain name: a pattern `/.../`, a word, or a name with a label."""
        last: s.SelectorStage | Word = parts[-1]
        if isinstance(last, s.SelectorStage):
            stage = last
        elif last.type == "REGEX":
            stage = s.SelectorStage("regex", last[1:-1], last.mark)
        else:
            stage = s.SelectorStage("text", text_of(last).text, last.mark)
        stage.label = str(first_of(parts, Label) or "")
        return stage
