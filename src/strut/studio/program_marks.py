"""What is wrong with a program that describes a machine, found by reading it: nothing of it is run, and of
what it imports only strut's own rooms are looked at."""

from __future__ import annotations

import ast
import importlib
import inspect
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from strut.errors import did_you_mean

PACKAGE = "strut"
"""The package whose names are known here."""


@dataclass(frozen=True)
class TextMark:
    """A mistake in a text. line, column: counted from 1; 0 where the whole is meant."""

    line: int
    column: int
    message: str


def find_program_marks(name: str, text: str) -> list[TextMark]:
    """Return mistakes of a program: of its syntax; else names that strut does not have, and keywords that its
    functions do not take. name: of its file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, name)
            compile(text, name, "exec", dont_inherit=True)
    except SyntaxError as error:
        return [TextMark(error.lineno or 0, error.offset or 0, str(error.msg))]
    except ValueError as error:  # a null character
        return [TextMark(0, 0, str(error))]
    modules: dict[str, Any] = {}
    marks = [*_import_marks(tree, modules), *_attribute_marks(tree, modules), *_keyword_marks(tree, modules)]
    return sorted(marks, key=lambda mark: (mark.line, mark.column))


def _import_marks(tree: ast.AST, modules: dict[str, Any]) -> Iterator[TextMark]:
    """Names that strut does not have, where they are imported. modules: what names stand for, filled here."""
    package = importlib.import_module(PACKAGE)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == PACKAGE:
                    modules[alias.asname or PACKAGE] = package
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            source = _public_module(package, node.module)
            if source is None:
                continue
            for alias in node.names:
                if alias.name != "*" and not hasattr(source, alias.name):
                    yield _unknown(node, source, alias.name)
                elif alias.name != "*":
                    modules[alias.asname or alias.name] = getattr(source, alias.name)


def _public_module(package: ModuleType, path: str) -> ModuleType | None:
    """The package, or one of its rooms; nothing for modules of others, which are not looked at."""
    first, _, room = path.partition(".")
    if first != package.__name__:
        return None
    if not room:
        return package
    value = getattr(package, room, None) if room in package.__all__ else None
    return value if isinstance(value, ModuleType) else None


def _attribute_marks(tree: ast.AST, modules: dict[str, Any]) -> Iterator[TextMark]:
    """Attributes that rooms do not have: walkers.compas."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            owner = _value_of(node.value, modules)
            if isinstance(owner, ModuleType) and not hasattr(owner, node.attr):
                yield _unknown(node, owner, node.attr)


def _keyword_marks(tree: ast.AST, modules: dict[str, Any]) -> Iterator[TextMark]:
    """Keywords that functions and classes of strut do not take."""
    for node in ast.walk(tree):
        function = _value_of(node.func, modules) if isinstance(node, ast.Call) else None
        if function is None or isinstance(function, ModuleType) or not callable(function):
            continue
        assert isinstance(node, ast.Call)
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            continue
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                words = did_you_mean(keyword.arg, list(parameters))
                message = f"{ast.unparse(node.func)} has no argument '{keyword.arg}': {words}"
                yield TextMark(keyword.lineno, keyword.col_offset + 1, message)


def _value_of(node: ast.AST, modules: dict[str, Any]) -> Any:
    """What a dotted name stands for, where it is one of strut's; else None."""
    if isinstance(node, ast.Name):
        return modules.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = _value_of(node.value, modules)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None


def _unknown(node: ast.stmt | ast.expr, owner: ModuleType, name: str) -> TextMark:
    names = [each for each in getattr(owner, "__all__", dir(owner)) if not each.startswith("_")]
    message = f"{owner.__name__} has no '{name}': {did_you_mean(name, names)}"
    return TextMark(node.lineno, node.col_offset + 1, message)


__all__ = ["TextMark", "find_program_marks"]
