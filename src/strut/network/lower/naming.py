"""`SystemNames`: gives variables and events of a network unique names in its system.

Names in a system are identifiers between dots. What is one already keeps its name, whatever stands before it
in the file; what is not (`n-1`, a dot in a name) becomes one, with a number behind it where that is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from strut.network.model import Object, Variable

RESERVED = ("t", "time")
"""Names that a system has for itself."""


@lru_cache(maxsize=10_000)
def identifier(text: str) -> str:
    """Turn a text into an identifier: what cannot be in one becomes `_`."""
    plain = re.sub(r"\W", "_", text)
    return plain if plain.isidentifier() else f"_{plain}"


class SystemNames:
    """The names of a system, each given once. taken: those given so far."""

    def __init__(self) -> None:
        self.taken: set[str] = set(RESERVED)

    def new(self, *parts: str) -> str:
        """Give a name made of parts between dots, with a number behind it where it is taken."""
        base = name = ".".join(identifier(part) for part in parts)
        count = 2
        while name in self.taken:
            name, count = (f"{base}_" if count == 2 and base in RESERVED else f"{base}_{count}"), count + 1
        self.taken.add(name)
        return name

    def collisions(self, names: dict[Variable, str]) -> list[tuple[Variable, str]]:
        """The variables that could not have their own name because another variable has it, each with that
        name."""
        full_names = ((v, ".".join(identifier(part) for part in (*v.owner.names, v.name))) for v in names)
        return [(v, name) for v, name in full_names if name not in RESERVED and name != names[v]]

    def variables(self, things: Iterable[Object]) -> dict[Variable, str]:
        """Give names to all variables of things, in their order."""
        parts = {v: (*thing.names, v.name) for thing in things for v in thing.variables.values()}
        exact = {v: all(identifier(part) == part for part in ours) for v, ours in parts.items()}
        first = {v: self.new(*ours) for v, ours in parts.items() if exact[v]}
        return {v: first[v] if exact[v] else self.new(*ours) for v, ours in parts.items()}
