"""Numbers in C: literals, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def literal(value: float) -> str:
    """A number as a C literal of the real type, with all its digits."""
    if math.isnan(value):
        return "STRUT_NAN"
    if math.isinf(value):
        return "STRUT_INF" if value > 0 else "-STRUT_INF"
    return f"R({float(value)!r})"


def entry(value: float) -> str:
    """A number of a table, which is one also where the real type is several: see `strut_vector.h`."""
    text = literal(value).replace("STRUT_INF", "R(INFINITY)").replace("STRUT_NAN", "R(NAN)")
    return text.replace("R(", "(strut_number)(")


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

    def index(self, values: Sequence[int] | np.ndarray, by: str) -> str:
        """How entry `by` of a list of whole numbers is written: constant, growing evenly, or from a table of
        what is beyond the least, which others that are only shifted share."""
        numbers = np.asarray(values, dtype=np.int64)
        first, least = int(numbers[0]), int(numbers.min())
        if least == int(numbers.max()):
            return str(first)
        steps = np.diff(numbers)
        step = int(steps[0])
        if (steps == step).all():
            return f"{first} + {f'{step} * ' if step != 1 else ''}{by}"
        beyond = numbers - least
        table = self._put(
            "unsigned short" if beyond.max() < 65536 else "int", ", ".join(map(str, beyond.tolist()))
        )
        return f"{f'{least} + ' if least else ''}{table}[{by}]"

    def number(self, values: Sequence[float], by: str) -> str:
        """How entry `by` of a list of numbers is written: a literal if all are equal, else from a table."""
        if len(set(map(repr, values))) == 1:
            return literal(values[0])
        return f"{self._put('strut_number', ', '.join(map(entry, values)))}[{by}]"

    def text(self) -> str:
        """All tables as C."""
        return "".join(self.texts)
