"""Numbers in C: literals, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise


def literal(value: float) -> str:
    if math.isnan(value):
        return "STRUT_NAN"
    if math.isinf(value):
        return "STRUT_INF" if value > 0 else "-STRUT_INF"
    return f"R({float(value)!r})"


class Tables:
    """Tables of indices and numbers, named after the function that reads them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.texts: list[str] = []
        self.known: dict[str, str] = {}

    def _put(self, kind: str, values: str) -> str:
        if kind + values not in self.known:
            self.known[kind + values] = f"STRUT_({self.name}_table{len(self.texts)})"
            self.texts.append(f"STRUT_TABLE {kind} {self.known[kind + values]}[] = {{{values}}};\n")
        return self.known[kind + values]

    def index(self, values: Sequence[int], by: str) -> str:
        """How entry `by` of a list of whole numbers is written: constant, growing evenly, or from a table."""
        if len(set(values)) == 1:
            return str(values[0])
        step = values[1] - values[0]
        if all(b - a == step for a, b in pairwise(values)):
            return f"{values[0]} + {f'{step} * ' if step != 1 else ''}{by}"
        return f"{self._put('unsigned short' if max(values) < 65536 else 'int', ', '.join(map(str, values)))}[{by}]"

    def number(self, values: Sequence[float], by: str) -> str:
        if len(set(map(repr, values))) == 1:
            return literal(values[0])
        return f"{self._put('strut_real', ', '.join(map(literal, values)))}[{by}]"

    def text(self) -> str:
        return "".join(self.texts)
