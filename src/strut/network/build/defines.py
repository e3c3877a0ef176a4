"""Runs statements that define texts."""

from __future__ import annotations

import os

from strut.network.build.context import Context, Define
from strut.network.build.statement_runner import Place, StatementRunner
from strut.network.build.text_parts import SPECIAL, Filter, hide, split_text
from strut.network.text import statements as s


class DefineStatements(StatementRunner):
    """Runs defines: by value, by selector and from the environment."""

    def defines(self, statement: s.DefinesStatement, places: list[Place]) -> None:
        """Run the defines of a block."""
        self.run(statement.body, places)

    def define(self, statement: s.DefineStatement, places: list[Place]) -> None:
        """Define texts in the scope of every object of a block."""

        def define_in(k: int, place: Place) -> None:
            name = statement.names[k % len(statement.names)]
            if name is None:
                return
            names = self.texts.expand_all(name.text, place.context)
            scope = place.context.scope
            for i, e in enumerate(names):
                if statement.operator in ("?=", "?$="):
                    earlier = scope.get(e.text)
                    if earlier is not None and earlier.text:
                        continue
                if isinstance(statement.values, s.Selector):
                    define = self._define_from_selector(statement.values, place)
                else:
                    value = statement.values[k % len(statement.values)]
                    if value is None:
                        continue
                    define = self._define_from_text(
                        value.text,
                        place.context if len(names) == 1 else place.context.push(e),
                        i=i,
                        count=len(names),
                    )
                if statement.operator in ("$=", "?$="):
                    value_there = os.environ.get(define.text)
                    if value_there is None:
                        continue
                    define = Define(value_there)
                scope.values[e.text] = define

        self.for_each_place(places, statement.mark, define_in)

    def _define_from_selector(self, selector: s.Selector, place: Place) -> Define:
        """Return a define that lists what a selector finds: what it matched last, or the names of things."""
        texts = []
        for each in self.select.below(selector, place.thing, place.context):
            top = each.context.level(0) if each.context.stack is not place.context.stack else None
            texts.append(top.text if top else each.thing.name)
        return _list_define(texts)

    def _define_from_text(self, text: str, context: Context, *, i: int, count: int) -> Define:
        """Return the define of the i-th of `count` names: one of as many values, a text, or a list."""
        if not SPECIAL.search(text):
            return Define(text)
        values = self.texts.expand_all(text, context)
        if count > 1 and len(values) == count:
            return Define(values[i].text)
        if len(values) == 1 and "{" not in self.texts.fill_references(text, context):
            return Define(values[0].text)
        return _list_define(
            [v.text for v in values], any(isinstance(part, Filter) for part in split_text(text))
        )


def _list_define(texts: list[str], from_filter: bool = False) -> Define:
    """Return a define that holds a list: its text generates it. Commas separate further elements only in
    texts that a map or reduction made (`from_filter`)."""
    return Define(
        "{" + ",".join(t if from_filter else hide(t) for t in texts) + "}" if texts else "", tuple(texts)
    )
