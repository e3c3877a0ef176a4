"""Finds expressions that cannot be read among the statements of a text, before anything is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lark import Tree

from strut.network.build.text_parts import SPECIAL
from strut.network.text import statements as s
from strut.network.text.errors import Mark, NetworkProblem
from strut.network.text.formula import FormulaError, read_formula


def formula_problems(parts: Iterable[Any]) -> list[NetworkProblem]:
    """Return the problems of expressions in statements, also in those within others.

    parts: statements, or what the parser holds of them where it stopped. Texts that are still to be expanded
        may become anything, and are left out.
    """
    problems = []
    for text in _formulas(parts):
        if text.text.strip() and not SPECIAL.search(text.text):
            try:
                read_formula(text.text)
            except FormulaError as error:
                mark = text.mark
                on_one_line = (
                    mark.source.line(mark.line)[mark.column : mark.column + len(text.text)] == text.text
                )
                column = mark.column + 1 + error.place if on_one_line else mark.column
                problems.append(NetworkProblem(error.problem.message, Mark(mark.source, mark.line, column)))
    return problems


def _formulas(parts: Iterable[Any]) -> Iterator[s.Text]:
    """Walk statements, and yield every text in them that is an expression."""
    for part in parts:
        if isinstance(part, s.StatementBlock) and part.kind == "integrator":
            continue
        if isinstance(part, s.Assign):
            yield from (value for value in part.values if value is not None)
        elif isinstance(part, s.FunctionStatement):
            yield part.value
        elif isinstance(part, s.EventStatement):
            yield part.condition
        if isinstance(part, s.Statement):
            yield from _formulas(getattr(part, "body", ()))
        elif isinstance(part, (list, tuple)):
            yield from _formulas(part)
        elif isinstance(part, Tree):
            yield from _formulas(part.children)
