"""Finds edges with equal texts and makes one sum of them: one expression, and tables of what each reads.

In the generated C such a sum is one loop, however many edges there are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

from strut.network.lower import algebra, like_reader
from strut.network.lower.is_plain import is_expression, is_total
from strut.network.lower.like_reader import LikeColumn, LikeReader, NotVectorisable
from strut.network.lower.meaning import Meaning
from strut.network.lower.read_table import ReadTable
from strut.network.model import Action, Object, Variable
from strut.network.text.errors import Mistake
from strut.system import Sums, Terms


def rate_sums(meaning: Meaning) -> Sums | None:
    """The rates of states on which many edges act with equal texts, as `Sums`; None if there are none.

    Rates that are not in it must be evaluated one by one.
    """
    targets = {
        action: v for v, actions in meaning.actions.items() if v in meaning.states for action in actions
    }
    shapes = {v: meaning.shape(v) for v in dict.fromkeys(targets.values())}
    groups: dict[tuple[str, tuple[int, int]], list[Action]] = {}
    for action, v in targets.items():
        if action.rate and not action.index and not action.states:
            groups.setdefault((action.text, shapes[v]), []).append(action)
    collector = _TermCollector(meaning)
    looped_actions: set[Action] = set()
    for (text, shape), actions in groups.items():
        if collector.add(
            [a.owner for a in actions],
            [targets[a] for a in actions],
            read=partial(LikeReader.text, text=text),
            shape=shape,
        ):
            looped_actions.update(actions)
    return collector.sums(
        lambda v: meaning.edge_actions.sum_of_rates(
            [a for a in meaning.actions[v] if a not in looped_actions], v
        )
    )


def output_sums(meaning: Meaning, variables: Sequence[Variable]) -> Sums | None:
    """Those of some variables that have equal texts, or to which edges with equal texts add, as `Sums`; None
    if there are none."""
    groups: dict[tuple[str, ...], list[Variable]] = {}
    for v in variables:
        if is_expression(meaning, v):
            groups.setdefault((v.text,), []).append(v)
        elif is_total(meaning, v):
            groups.setdefault(("", *sorted({a.text for a in meaning.actions[v]})), []).append(v)
    collector = _TermCollector(meaning)
    for variables_alike in groups.values():
        collector.add(
            [v.owner for v in variables_alike],
            variables_alike,
            read=partial(LikeReader.variables, owners=variables_alike),
            shape=None,
        )
    return collector.sums(lambda v: ca.SX(*collector.shapes[v]))


class _TermCollector:
    """Collects terms with equal texts for one `Sums`.

    table: what they read. terms: targets, the reader, and the expression of each group. shapes: of targets.
    """

    def __init__(self, meaning: Meaning) -> None:
        self.meaning, self.table = meaning, ReadTable(meaning)
        self.terms: list[tuple[Sequence[Variable], LikeReader, ca.SX]] = []
        self.shapes: dict[Variable, tuple[int, int]] = {}

    def add(
        self,
        things: Sequence[Object],
        targets: Sequence[Variable],
        *,
        read: Callable[[LikeReader], LikeColumn],
        shape: tuple[int, int] | None,
    ) -> bool:
        """Add one term for each of many things, if their texts can be read as one expression.

        things: where each text stands. targets: the variable that each adds to. read: reads the text. shape:
        that of the targets; None: that of the text. Returns whether it could be done.
        """
        if len(things) < like_reader.MIN_EDGES_FOR_LOOP:
            return False
        before = self.table.checkpoint()
        reader = LikeReader(self.meaning, things, self.table)
        try:
            value = read(reader).value
            value = value if shape is None else algebra.fit_shape(value, shape, "what edges do")
        except (NotVectorisable, Mistake, RuntimeError, NotImplementedError):
            # The last two are CasADi's. Read one by one, edges with mistakes are reported where they stand.
            self.table.reset(before)
            return False
        self.shapes.update(dict.fromkeys(targets, value.shape))
        self.terms.append((targets, reader, algebra.flat(value)))
        return True

    def sums(self, own: Callable[[Variable], ca.SX]) -> Sums | None:
        """All terms as `Sums`; None if there are none. own: gives what a target is without them."""
        if not self.terms:
            return None
        table, names = self.table, self.meaning.names
        owned = {v: algebra.flat(own(v)) for v in self.shapes}
        starts = dict(zip(owned, np.cumsum([0, *(e.numel() for e in owned.values())]).tolist(), strict=False))
        likes = [reader.like(value) for _, reader, value in self.terms]
        terms = []
        for like, (targets, _, _) in zip(likes, self.terms, strict=True):
            rows = np.array([starts[v] for v in targets], dtype=np.int64)
            terms.append(Terms(like.slots, like.results, table.final_places(like.reads), rows))
        computations = [replace(like, reads=table.final_places(like.reads)) for like in table.computations]
        return Sums(
            {names[v]: e for v, e in owned.items()}, table.entries, table.column(), computations, terms
        )
