"""Statements that connect nodes by edges."""

from __future__ import annotations

from strut.network.build.context import Context, Define, Expansion
from strut.network.build.statement_runner import MOST_OBJECTS, Making, Place
from strut.network.model import (
    Edge,
    Node,
    attach,
)
from strut.network.text import statements as s
from strut.network.text.errors import Mistake, Problem, TooMuch


class EdgeStatements(Making):
    """Edges: found, made, and opened."""

    # ---- edges ----

    def edge(self, statement: s.EdgeStatement, places: list[Place]) -> None:
        opened: list[Place] = []

        def one(k: int, place: Place) -> None:
            if statement.selector is not None:
                for f in self.select.below(statement.selector, place.thing, place.context):
                    thing = f.thing.self_edge if isinstance(f.thing, Node) else f.thing
                    if isinstance(thing, Edge):
                        opened.append(Place(thing, f.context.within(f.context.scope)))
                return
            if not isinstance(place.thing, Node):
                raise Mistake(f"an edge cannot be in {place.thing!r}: only nodes hold edges")
            names = [None] if statement.name is None else self.texts.all(statement.name.text, place.context)
            for name in names:
                context = place.context if name is None else place.context.push(name)
                if statement.connect is None:
                    opened.append(Place(self._open_edge(name, place.thing, statement), context.within(place.context.scope)))
                else:
                    opened.extend(self._connected(statement, k, place.thing, name, context))

        self.each(places, statement.mark, one)
        self.apply_all(statement.templates, opened)
        if statement.states is not None:
            for k, place in enumerate(opened):
                text = statement.states[k % len(statement.states)]
                if text is not None:
                    place.context.scope.values["\0state"] = Define(",".join(self.names(text, place.context)))
        self.run(statement.body, opened)

    def _open_edge(self, name: Expansion | None, parent: Node, statement: s.EdgeStatement) -> Edge:
        text = name.text if name else parent.unique("edge")
        found = parent.children.get(text)
        if found is None:
            self.count(1 + len(parent.instances))
            found = Edge(text, None, statement.mark)
            parent.add(found)
        if not isinstance(found, Edge):
            raise Mistake(f"'{text}' is a node here: give the edge another name")
        if statement.note:
            found.note = statement.note
        return found

    def _connected(self, statement: s.EdgeStatement, k: int, parent: Node, name: Expansion | None, context: Context) -> list[Place]:
        pairs = self._pairs(statement, k, parent, context)
        attributes = statement.attributes
        if attributes.no_self:
            pairs = [p for p in pairs if p[0] is not p[1]]
        if attributes.probability is not None:
            chance = self.texts.calculate(self.texts.one(attributes.probability.text, context))
            pairs = [p for p in pairs if self.random.random() < chance]
        if attributes.bidirectional:
            if statement.connect is not None and statement.connect[0] == "all":
                order = {id(n): i for i, n in enumerate(dict.fromkeys(a for a, _, _ in pairs))}
                pairs = [p for p in pairs if order[id(p[0])] <= order[id(p[1])]]
            pairs = [q for p in pairs for q in ((p, (p[1], p[0], p[2])) if p[0] is not p[1] else (p,))]
        several = len(pairs) > 1
        base = name.text if name else "edge"
        opened = []
        for i, (source, target, found) in enumerate(pairs):
            if target.parent is not source.parent:
                continue
            text = f"{base}_{i + 1}" if several else base
            if attributes.suffixes is not None and name:
                text = base + self.texts.one(attributes.suffixes[i % 2].text, found)
            edge = self._edge_between(parent, text, base, source, target, statement)
            opened.append(Place(edge, found.within(found.scope)))
        if pairs and not opened:
            source, target, _ = pairs[0]
            message = f"{source!r} and {target!r} are not in the same node: no edge joins them"
            self.select.warn(Problem(message, statement.mark))
        return opened

    def _edge_between(self, container: Node, text: str, base: str, source: Node, target: Node, statement: s.EdgeStatement) -> Edge:
        known = container.children.get(text)
        if statement.name is not None and isinstance(known, Edge):
            if known.input is None:
                attach(known, source, target)
            if known.input is source and known.output is target:
                return known
        self.count(1 + len(container.instances))
        edge = Edge(text if known is None else container.unique(base), None, statement.mark)
        edge.note = statement.note
        attach(edge, source, target)
        container.add(edge)
        return edge

    def _pairs(self, statement: s.EdgeStatement, k: int, parent: Node, context: Context) -> list[tuple[Node, Node, Context]]:
        assert statement.connect is not None
        kind, selectors = statement.connect
        first = selectors[0][k % len(selectors[0])]
        if first is None:
            return []
        sources = [f for f in self.select.below(first, parent, context) if isinstance(f.thing, Node)]
        if kind == "on":
            return [(f.thing, f.thing, f.context) for f in sources if isinstance(f.thing, Node)]
        pairs: list[tuple[Node, Node, Context]] = []
        before, self.select.from_set = self.select.from_set, list(sources)
        try:
            for i, f in enumerate(sources):
                second = first if kind == "all" else selectors[1][i % len(selectors[1])]
                if second is None:
                    continue
                for g in self.select.below(second, parent, f.context):
                    if isinstance(g.thing, Node) and isinstance(f.thing, Node):
                        pairs.append((f.thing, g.thing, g.context))
                if len(pairs) > MOST_OBJECTS:
                    raise TooMuch(f"one statement makes more than {MOST_OBJECTS} edges")
        finally:
            self.select.from_set = before
        return pairs
