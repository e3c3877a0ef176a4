"""Rates that are sums of many like terms: one expression, and tables of what each term reads.

A flow given so is a mapping from names to expressions like any other, but these are made only when someone
asks for them. The
generator of C does not: of 250,000 terms it writes one loop, and nothing is ever done with the terms one by
    one.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError, ShapeError, UnknownNameError
from strut.system.quantity import Quantity, sx


@dataclass(frozen=True, eq=False)
class Like:
    """`results`, a column of expressions of the symbols `slots`, computed many times: the k-th time, slot j
    is entry reads[j, k] of what there is to read."""

    slots: ca.SX
    results: ca.SX
    reads: np.ndarray

    @property
    def count(self) -> int:
        """How many times the results are computed."""
        return int(self.reads.shape[1])

    @property
    def length(self) -> int:
        """How many of each result there are in the end."""
        return self.count

    @property
    def size(self) -> int:
        """How many results there are each time."""
        return int(self.results.numel())

    def function(self) -> ca.Function:
        """The results as a CasADi function of the slots."""
        return ca.Function("like", [self.slots], [ca.densify(self.results)])

    def values(self, column: ca.SX) -> ca.SX:
        """The expressions, a row for each result; `column` is what there is to read."""
        if not len(self.reads):
            return ca.repmat(ca.densify(self.results), 1, self.count)
        arguments = ca.reshape(column[self.reads.ravel(order="F").tolist()], *self.reads.shape)
        values: ca.SX = self.function()(arguments)
        return ca.densify(values)


@dataclass(frozen=True, eq=False)
class Totals(Like):
    """`totals` sums of each result: those of the k-th time are added to sums rows[k]."""

    rows: np.ndarray
    totals: int

    @property
    def length(self) -> int:
        """How many sums of each result there are."""
        return self.totals

    def values(self, column: ca.SX) -> ca.SX:
        """The sums as expressions, a row for each result; `column` is what there is to read."""
        pattern = ca.Sparsity.triplet(self.count, self.totals, list(range(self.count)), self.rows.tolist())
        return ca.densify(ca.mtimes(super().values(column), ca.SX(ca.DM(pattern, 1))))


@dataclass(frozen=True, eq=False)
class Terms(Like):
    """Like terms: the results of the k-th are added to what is wanted from component rows[k] on."""

    rows: np.ndarray


def sizes(expressions: Mapping[str, Any]) -> dict[str, int]:
    """How many elements each expression has; none is made for that."""
    return {
        name: e.numel()
        for name, e in (expressions.own if isinstance(expressions, Sums) else expressions).items()
    }


class Sums(Mapping[str, ca.SX]):
    """Expressions by name, rates of states or outputs: own ones, to which sums of like terms are added.

    entries, others: what terms may read, components of quantities and then other expressions. made: what is
    computed of these beforehand; the results of each follow in what there is to read, all first ones, then
    all second ones. terms: what is added.
    own: what they are added to, columns that may be zero.
    """

    def __init__(
        self,
        own: Mapping[str, ca.SX],
        entries: Sequence[tuple[Quantity, int]],
        others: ca.SX,
        made: Sequence[Like] = (),
        terms: Sequence[Terms] = (),
    ) -> None:
        self.own, self.entries, self.others, self.made, self.terms = (
            dict(own),
            entries,
            others,
            tuple(made),
            tuple(terms),
        )

    def __getitem__(self, name: str) -> ca.SX:
        if name not in self.own:
            raise KeyError(name)
        return self.expressions[name]

    def __contains__(self, name: object) -> bool:
        return name in self.own

    def __iter__(self) -> Iterator[str]:
        return iter(self.own)

    def __len__(self) -> int:
        return len(self.own)

    @property
    def ends(self) -> list[int]:
        """Where each begins, and where the last one ends."""
        return [int(k) for k in np.cumsum([0, *(rate.numel() for rate in self.own.values())])]

    @cached_property
    def expressions(self) -> dict[str, ca.SX]:
        """Every one written out."""
        column = ca.vertcat(*[q.sym if q.size == 1 else q.sym[k] for q, k in self.entries], self.others)
        for like in self.made:
            column = ca.vertcat(column, ca.vec(like.values(column).T))
        total = ca.densify(ca.vertcat(*self.own.values()))
        for terms in self.terms:
            for k, values in enumerate(ca.vertsplit(terms.values(column))):
                rows = (terms.rows + k).tolist()
                pattern = ca.Sparsity.triplet(total.numel(), terms.count, rows, list(range(terms.count)))
                total = ca.mac(ca.SX(ca.DM(pattern, 1)), ca.densify(values.T), total)
        return dict(zip(self.own, ca.vertsplit(total, self.ends), strict=True))

    def single(self) -> ca.SX:
        """Rates that are one expression, or one term that is something it reads; not a number where they are
        more."""
        column = ca.densify(ca.vertcat(*self.own.values()))
        rows = [t.rows + k for t in self.terms for k in range(t.size)]
        counts = np.bincount(np.concatenate([np.empty(0, dtype=np.int64), *rows]), minlength=column.numel())
        column[np.flatnonzero(counts).tolist()] = np.nan
        own = ca.densify(ca.vertcat(*self.own.values()))
        for t in self.terms:
            if t.size == 1 and t.results.is_symbolic() and len(t.reads) == 1:
                for read, row in zip(t.reads[0].tolist(), t.rows.tolist(), strict=True):
                    if counts[row] == 1 and own[row].is_zero() and read < len(self.entries):
                        q, k = self.entries[read]
                        column[row] = q.sym[k]
        return column

    def only(self, names: Container[str]) -> Sums:
        """Those with these names."""
        is_chosen = np.repeat([name in names for name in self.own], [e.numel() for e in self.own.values()])
        place = np.cumsum(is_chosen) - 1
        terms = []
        for t in self.terms:
            chosen = is_chosen[t.rows]
            if chosen.any():
                terms.append(Terms(t.slots, t.results, t.reads[:, chosen], place[t.rows[chosen]]))
        return Sums(
            {n: e for n, e in self.own.items() if n in names}, self.entries, self.others, self.made, terms
        )

    def within(self, own: Mapping[str, ca.SX], others: ca.SX | None = None) -> Sums:
        """The same terms among those of `own`, which has these and perhaps more; perhaps with other
        expressions to read."""
        whole = Sums(own, self.entries, self.others if others is None else others, self.made)
        starts = dict(zip(own, whole.ends, strict=False))
        moved = np.concatenate(
            [np.arange(rate.numel()) + starts[name] for name, rate in self.own.items()]
            or [np.empty(0, dtype=int)]
        )
        whole.terms = tuple(Terms(t.slots, t.results, t.reads, moved[t.rows]) for t in self.terms)
        return whole

    def check(self, where: str, known: Mapping[str, Quantity]) -> None:
        """Terms read only what there is, and add to what exists. known: the quantities of the system, by
        name."""
        for q, k in self.entries:
            own_quantity = known.get(q.name)
            if own_quantity is not q and (
                own_quantity is None
                or own_quantity.size != q.size
                or not ca.is_equal(own_quantity.sym, q.sym)
            ):
                raise UnknownNameError(
                    f"{where} uses '{q.name}', which the system does not have: add that quantity (the same "
                    f"object) to x, z, u, p or delays"
                )
            if not 0 <= k < q.size:
                raise ShapeError(f"{where} reads component {k} of '{q.name}', which has {q.size}")
        there, height = len(self.entries) + self.others.numel(), self.ends[-1]
        for like in (*self.made, *self.terms):
            if not like.slots.is_valid_input() or like.slots.shape != (len(like.reads), 1):
                raise ShapeError(
                    f"{where}: like terms need a column of symbols as slots, and a row of places for each"
                )
            slots = {slot.element_hash() for slot in ca.vertsplit(like.slots)} if len(like.reads) else set()
            for symbol in ca.symvar(sx(like.results)):
                if symbol.element_hash() not in slots:
                    raise ModelError(
                        f"{where}: like terms use '{symbol.name()}', which is none of their slots"
                    )
            if like.reads.size and not (like.reads.min() >= 0 and like.reads.max() < there):
                raise ShapeError(f"{where}: like terms read entry {like.reads.max()} of {there}")
            if isinstance(like, Terms | Totals):
                last, most = (
                    (like.totals - 1, like.totals)
                    if isinstance(like, Totals)
                    else (height - like.size, height)
                )
                if like.rows.shape != (like.count,):
                    raise ShapeError(
                        f"{where}: {like.count} like terms have {like.rows.size} rows: one is needed for each"
                    )
                if like.count and not (like.rows.min() >= 0 and like.rows.max() <= last):
                    raise ShapeError(
                        f"{where}: like terms are added to row {like.rows.max() + most - last - 1} of {most}"
                    )
            if not isinstance(like, Terms):
                there += like.size * like.length
