"""Turns what lark reads into statements: one method per rule of the grammar."""

from __future__ import annotations

from lark import Transformer

from strut.network.text import statements as s
from strut.network.text.lexer import Word
from strut.network.text.object_rules import ObjectRules
from strut.network.text.rule_parts import Parts, body_of, head_of
from strut.network.text.selector_rules import SelectorRules
from strut.network.text.text_rules import TextRules
from strut.network.text.variable_rules import VariableRules


class Statements(VariableRules, ObjectRules, TextRules, SelectorRules, Transformer[Word, list[s.Statement]]):
    """Makes statements while lark reads: lark calls the method with the name of a rule when the rule is
    complete."""

    def start(self, parts: Parts) -> list[s.Statement]:
        """Return all statements of a text."""
        return body_of(parts)

    def block(self, parts: Parts) -> s.StatementBlock:
        """Read `{ ... }`, a block with defines of its own."""
        return s.StatementBlock("scope", body_of(parts), **head_of(parts[0]))

    def templates(self, parts: Parts) -> s.StatementBlock:
        """Read `templates { ... }`."""
        return s.StatementBlock("templates", body_of(parts), **head_of(parts[0]))

    def integrator(self, parts: Parts) -> s.StatementBlock:
        """Read `integrator { ... }`."""
        return s.StatementBlock("integrator", body_of(parts), **head_of(parts[0]))

    interface_block = define_block = layout_block = block
