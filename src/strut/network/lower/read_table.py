"""`ReadTable`: numbers everything that like edges read, so that each can be a row of indices.

Places of entries of quantities come first, then those of other expressions, then those of what is computed of
these beforehand. While places are given, the last two count from `FIRST_OTHER` and `FIRST_COMPUTED`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from strut.network.lower.meaning import Meaning
from strut.network.model import Node, Variable
from strut.system import Like, Quantity

FIRST_OTHER, FIRST_COMPUTED = 1 << 40, 1 << 41
"""The first places of other expressions, and of what is computed beforehand, until all are counted."""


class ReadTable:
    """Gives a place (an index) to everything that is read.

    entries, others, computations: what has a place, by kind. places: those of variables. computed, shapes:
    places and shapes of variables that are computed beforehand. sines: places of sine and cosine by that of
    their angle. functions: names of all functions of the network.
    """

    def __init__(self, meaning: Meaning) -> None:
        self.meaning = meaning
        self.entries: list[tuple[Quantity, int]] = []
        self.others: list[ca.SX] = []
        self.computations: list[Like] = []
        self.size = 0
        self.places: dict[Variable, Sequence[int]] = {}
        self.symbols: dict[int, int] = {}
        self.computed: dict[Variable, Sequence[int]] = {}
        self.shapes: dict[Variable, tuple[int, int]] = {}
        self.sines: dict[int, list[int]] = {}
        self.functions = {
            name
            for thing in (meaning.root, *meaning.root.descendants())
            if isinstance(thing, Node)
            for name in thing.functions
        }

    def parameters(self, variables: Sequence[Variable]) -> dict[Variable, Sequence[int]]:
        """The places of parameters that are single numbers, by variable (of others, too)."""
        for v in variables:
            if v not in self.places:
                self.places[v] = (len(self.entries),)
                self.entries.append((self.meaning.params[v], 0))
        return self.places

    def variable(self, variable: Variable, value: ca.SX) -> Sequence[int]:
        """The places of the elements of a variable. value: its expression, where it is no quantity."""
        places = self.places.get(variable)
        if places is None:
            m = self.meaning
            quantity = (
                m.params.get(variable)
                or m.states.get(variable)
                or m.discrete.get(variable)
                or m.inputs.get(variable)
            )
            if quantity is not None and variable.constraint is None:
                first = len(self.entries)
                self.entries.extend((quantity, k) for k in range(quantity.size))
                places = range(first, first + quantity.size)
            else:
                places = [self.expression(e) for e in ca.vertsplit(ca.densify(ca.vec(value)))]
            self.places[variable] = places
        return places

    def expression(self, value: ca.SX) -> int:
        """The place of a single expression."""
        key = value.element_hash()
        if key not in self.symbols:
            self.symbols[key] = FIRST_OTHER + len(self.others)
            self.others.append(value)
        return self.symbols[key]

    def in_order(self, places: Iterable[int]) -> list[int]:
        """Sort places by the order of the states, others behind, so that like edges read neighbours."""
        order = {state.name: k for k, state in enumerate(self.meaning.states.values())}

        def position(place: int) -> tuple[int, int]:
            quantity, k = self.entries[place] if place < len(self.entries) else (None, 0)
            return (order.get(quantity.name, len(order)) if quantity is not None else len(order), k)

        return sorted(places, key=position)

    def make(self, like: Like) -> np.ndarray:
        """Give places to what is computed beforehand, a row for each result."""
        self.computations.append(like)
        first = FIRST_COMPUTED + self.size
        self.size += like.size * like.length
        return np.arange(first, first + like.size * like.length).reshape(like.size, like.length)

    def compute(self, variables: Sequence[Variable], like: Like, shape: tuple[int, int]) -> None:
        """Let variables be computed beforehand, all by one expression."""
        self.computed.update(zip(variables, self.make(like).T.tolist(), strict=True))
        self.shapes.update(dict.fromkeys(variables, shape))

    def column(self) -> ca.SX:
        """The other expressions, as one column."""
        return ca.densify(ca.vertcat(*self.others, ca.SX(0, 1)))

    def final_places(self, reads: np.ndarray) -> np.ndarray:
        """Final places of some places, now that everything has been counted."""
        entries, others = len(self.entries), len(self.others)
        computed, other = reads >= FIRST_COMPUTED, (reads >= FIRST_OTHER) & (reads < FIRST_COMPUTED)
        return (
            reads
            - np.where(computed, FIRST_COMPUTED - entries - others, 0)
            - np.where(other, FIRST_OTHER - entries, 0)
        )

    def checkpoint(self) -> tuple[int, int, int, int]:
        """How much has a place by now, for `reset`."""
        return len(self.entries), len(self.others), len(self.computations), self.size

    def reset(self, checkpoint: tuple[int, int, int, int]) -> None:
        """Forget everything that was given a place since a checkpoint."""
        entries, others, computations, self.size = checkpoint
        del self.entries[entries:], self.others[others:], self.computations[computations:]

        def is_older(place: int) -> bool:
            return (
                place < entries
                or FIRST_OTHER <= place < FIRST_OTHER + others
                or FIRST_COMPUTED <= place < FIRST_COMPUTED + self.size
            )

        self.places = {v: places for v, places in self.places.items() if all(map(is_older, places))}
        self.computed = {v: places for v, places in self.computed.items() if all(map(is_older, places))}
        self.symbols = {h: place for h, place in self.symbols.items() if is_older(place)}
        self.sines = {a: b for a, b in self.sines.items() if is_older(a) and all(map(is_older, b))}
