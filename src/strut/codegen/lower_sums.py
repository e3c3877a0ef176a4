"""Sums of like terms, lowered: where each of them finds what it reads, in flat vectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from strut.codegen.c_loops import MIN_OPERATIONS, MIN_TERMS
from strut.system import Like, Sums, Terms, Totals, known_symbol, operation_count, time

if TYPE_CHECKING:
    import hashlib

    from strut.system import System

SOURCES = ("t", "x", "z", "u", "p", "d", "number", "w")
"""Where something to read lies: in an argument of the function, among numbers, or in the memory `w` that
loops share."""
T, P, NUMBER, W = (SOURCES.index(name) for name in ("t", "p", "number", "w"))
ARGUMENTS = SOURCES[:6]
"""Of a function that is loops."""


@dataclass(frozen=True, eq=False)
class LoopedFunction:
    """A function as loops: the flow, or the outputs.

    source, index: for everything there is to read, which of `SOURCES` it is in and where; `index` of a number
        counts `numbers`.
    before: of the function's arguments, what is put first into `w` in straight lines, and of parameters
        alone, what follows them there.
    computed, terms: `made` and `terms` of `Sums`, own expressions among the terms. size: of `w`.
    """

    source: np.ndarray
    index: np.ndarray
    numbers: np.ndarray
    before: ca.Function
    fixed: ca.Function
    computed: tuple[Like, ...]
    terms: tuple[Terms, ...]
    size: int

    def operations(self) -> int:
        """Arithmetic operations and function calls, what depends on parameters alone included."""
        alike = [like.count * operation_count(like.function()) for like in (*self.computed, *self.terms)]
        return operation_count(self.before) + sum(alike) + sum(t.count * t.size for t in self.terms)

    def digest(self, into: hashlib._Hash) -> None:
        """Add the content to a hash."""
        for f in (self.before, self.fixed, *(like.function() for like in (*self.computed, *self.terms))):
            into.update(f.serialize().encode())
        arrays = [self.source, self.index, self.numbers]
        for like in (*self.computed, *self.terms):
            arrays += [like.reads, like.rows] if isinstance(like, Terms | Totals) else [like.reads]
            into.update(repr((type(like).__name__, like.length)).encode())
        for array in arrays:
            into.update(repr((array.dtype.str, array.shape)).encode())
            into.update(np.ascontiguousarray(array).tobytes())


def lower_sums(system: System, sums: Sums, vectors: Mapping[str, ca.SX]) -> LoopedFunction | None:
    """The loops of sums; None if they are not worth it."""
    alike = [like for like in (*sums.made, *sums.terms) if like.count >= MIN_TERMS]
    work = sum(
        like.count * max(1, like.function().n_instructions() - len(like.reads) - like.size) for like in alike
    )
    others = ca.vertsplit(sums.others) if sums.others.numel() else []
    own = [
        (row, e)
        for row, e in enumerate(ca.vertsplit(ca.densify(ca.vertcat(*sums.own.values()))))
        if not e.is_zero()
    ]
    read = [*others, *(e for _, e in own)]
    source, index = _entries(system, sums)
    numbers: list[float] = []
    rest: list[int] = []
    for k, e in enumerate(read):
        at = _entry(system, e)
        if at is None and e.is_constant():
            at = (NUMBER, len(numbers))
            numbers.append(float(e))
        if at is None:
            rest.append(k)
        source.append(W if at is None else at[0])
        index.append(0 if at is None else at[1])
    first = len(sums.entries)
    moving = ca.vertcat(*[vectors[n] for n in ARGUMENTS if n != "p"])
    depends = ca.which_depends(ca.vertcat(*[read[k] for k in rest]), moving, 1, True) if rest else []
    straight = [k for k, moves in zip(rest, depends, strict=True) if moves]
    still = [k for k, moves in zip(rest, depends, strict=True) if not moves]
    for n, k in enumerate(straight):
        index[first + k] = n
    for n, k in enumerate(still):
        source[first + k], index[first + k] = P, -1 - n
    before = _function("before", vectors, ARGUMENTS, [read[k] for k in straight])
    if work < max(MIN_OPERATIONS, before.n_instructions()):
        return None
    # own expressions are terms too, read behind the others
    computed, size, there = [], len(straight), len(source)
    places = np.arange(len(source) + sum(like.size * like.length for like in sums.made))
    shift = first + len(others)
    places[shift:] += len(own)
    for like in sums.made:
        computed.append(replace(like, reads=places[like.reads]))
        source.extend([W] * (like.size * like.length))
        index.extend(range(size, size + like.size * like.length))
        size += like.size * like.length
    terms = [Terms(t.slots, t.results, places[t.reads], t.rows) for t in sums.terms]
    if own:
        slot = ca.SX.sym("own")
        terms.insert(
            0,
            Terms(slot, slot, np.arange(there - len(own), there)[None, :], np.array([row for row, _ in own])),
        )
    return LoopedFunction(
        np.array(source, dtype=np.int8),
        np.array(index, dtype=np.int64),
        np.array(numbers, dtype=float),
        before,
        _function("fixed", vectors, ("p",), [read[k] for k in still]),
        tuple(computed),
        tuple(terms),
        size,
    )


def _entries(system: System, sums: Sums) -> tuple[list[int], list[int]]:
    """Where the quantities that terms read lie."""
    at: dict[str, tuple[int, int]] = {}
    for group, source in (("x", "x"), ("z", "z"), ("u", "u"), ("p", "p"), ("delays", "d")):
        start, kind = 0, SOURCES.index(source)
        for q in getattr(system, group):
            at[q.name] = (kind, start)
            start += q.size
    places = [at[q.name] for q, _ in sums.entries]
    return [s for s, _ in places], [i + k for (_, i), (_, k) in zip(places, sums.entries, strict=True)]


def _entry(system: System, e: ca.SX) -> tuple[int, int] | None:
    """Where an expression lies that is a symbol."""
    if not e.is_symbolic():
        return None
    if e.element_hash() == time.element_hash():
        return T, 0
    owner = known_symbol(e)
    for group in ("x", "z", "u", "p"):
        where = system.slices(group).get(owner.name) if owner is not None else None
        if owner is not None and where is not None:
            k = [s.element_hash() for s in ca.vertsplit(owner.sym)].index(e.element_hash())
            return SOURCES.index(group), where.start + k
    return None


def _function(
    name: str, vectors: Mapping[str, ca.SX], arguments: tuple[str, ...], parts: list[ca.SX]
) -> ca.Function:
    return ca.Function(
        name,
        [vectors[n] for n in arguments],
        [ca.densify(ca.vertcat(*parts, ca.SX(0, 1)))],
        list(arguments),
        ["out_w"],
    )
