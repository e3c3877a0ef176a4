"""Statements that define texts."""

from __future__ import annotations

import os

from strut.network.build.context import Context, Define
from strut.network.build.statement_runner import Place, StatementRunner
from strut.network.build.text_parts import SPECIAL, Filter, hide, split
from strut.network.text import statements as s


class DefineStatements(StatementRunner):
    """Defines, by value, by selector and from the environment."""

    # ---- defines ----

    def defines(self, statement: s.DefinesStatement, places: list[Place]) -> None:
        self.run(statement.body, places)

    def define(self, statement: s.DefineStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            name = statement.names[k % len(statement.names)]
            if name is None:
                return
            names = self.texts.expand_all(name.text, place.context)
            scope = place.context.scope
            for i, e in enumerate(names):
                if statement.operator in ("?=", "?$="):
                    known = scope.get(e.text)
                    if known is not None and known.text:
                        continue
                if isinstance(statement.values, s.Selector):
                    define = self._define_from_selector(statement.values, place)
                else:
                    value = statement.values[k % len(statement.values)]
                    if value is None:
                        continue
                    define = self._define_from_text(
                        value.text, place.context if len(names) == 1 else place.context.push(e), i, len(names)
                    )
                if statement.operator in ("$=", "?$="):
                    found = os.environ.get(define.text)
                    if found is None:
                        continue
                    define = Define(found)
                scope.values[e.text] = define

        self.each(places, statement.mark, one)

    def _define_from_selector(self, selector: s.Selector, place: Place) -> Define:
        found = self.select.below(selector, place.thing, place.context)
        texts = []
        for f in found:
            top = f.context.level(0) if f.context.stack is not place.context.stack else None
            texts.append(top.text if top else f.thing.name)
        return _list_define(texts)

    def _define_from_text(self, text: str, context: Context, i: int, count: int) -> Define:
        if not SPECIAL.search(text):
            return Define(text)
        values = self.texts.expand_all(text, context)
        if count > 1 and len(values) == count:
            return Define(values[i].text)
        if len(values) == 1 and "{" not in self.texts.fill_references(text, context):
            return Define(values[0].text)
        return _list_define([v.text for v in values], any(isinstance(part, Filter) for part in split(text)))


def _list_define(texts: list[str], made: bool = False) -> Define:
    """A define that holds a list: its text generates it. Commas separate further elements only in those that
    a map or reduction made."""
    return Define("{" + ",".join(t if made else hide(t) for t in texts) + "}" if texts else "", tuple(texts))
