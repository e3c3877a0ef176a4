"""Docstrings as the site shows them: lines such as `x, z: states` become a list, where the names are
arguments or fields."""

from __future__ import annotations

import re
from typing import Any

import griffe

FIELD = re.compile(r"([A-Za-z_]\w*(?:, [A-Za-z_]\w*)*): (.+)")


class Lists(griffe.Extension):
    """Rewrite the docstrings of functions and classes."""

    def on_function(self, *, func: griffe.Function, **kwargs: Any) -> None:
        self.rewrite(func, {parameter.name.lstrip("*") for parameter in func.parameters})

    def on_class(self, *, cls: griffe.Class, **kwargs: Any) -> None:
        self.rewrite(cls, set(cls.members))

    def rewrite(self, described: griffe.Function | griffe.Class, names: set[str]) -> None:
        if described.docstring is not None:
            described.docstring.value = with_lists(described.docstring.value, names)


def with_lists(text: str, names: set[str]) -> str:
    """The text with a Markdown list where it tells of `names`: an entry for each place where a line,
    or a sentence in the list, begins with some of them and a colon. A line that is indented, or follows one
    that ends within a sentence, goes on with its entry."""
    lines: list[str] = []
    listing = False
    for line in text.splitlines():
        field = FIELD.fullmatch(line)
        if field and set(field[1].split(", ")) <= names:
            if not listing and lines and lines[-1]:
                lines.append("")
            lines += entries(line, names)
            listing = True
        elif listing and line and (line.startswith(" ") or not lines[-1].endswith(".")):
            first, *more = entries(line.strip(), names)
            lines += [first if first.startswith("- ") else f"  {first}", *more]
        else:
            if listing and line:
                lines.append("")
            listing = False
            lines.append(line)
    return "\n".join(lines)


def entries(line: str, names: set[str]) -> list[str]:
    """A line of a list, divided where a sentence in it begins with a name and a colon."""
    parts = re.split(r"(?<=\.) (?=[A-Za-z_]\w*: )", line)
    fields = [FIELD.fullmatch(part) for part in parts]
    return [
        f"- **{f[1]}**: {f[2]}" if f and set(f[1].split(", ")) <= names else part
        for f, part in zip(fields, parts, strict=True)
    ]
