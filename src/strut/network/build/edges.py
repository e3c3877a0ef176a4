"""Runs statements that connect nodes by edges."""

from __future__ import annotations

from strut.errors import did_you_mean
from strut.network.build.context import Context, Define, Expansion
from strut.network.build.selected import Selected
from strut.network.build.statement_runner import EDGE_STATES, MAX_OBJECTS, Place, StatementRunner
from strut.network.build.templates import add_child
from strut.network.model import (
    Edge,
    Node,
    attach,
)
from strut.network.text import statements as s
from strut.network.text.errors import LimitExceeded, Mistake, NetworkProblem

Pair = tuple[Node, Node, Context]
"""Two nodes that an edge joins, and the context in which the second was found."""


class EdgeStatements(StatementRunner):
    """Runs statements that make edges, or open those that are there."""

    def edge(self, statement: s.EdgeStatement, places: list[Place]) -> None:
        """Make or open edges in every object of a block, apply templates, and run the body for them."""
        opened: list[Place] = []
        pairs_before = 0  # how many pairs of nodes there were so far: lists behind 'to' go on with it

        def open_edges(k: int, place: Place) -> None:
            nonlocal pairs_before
            if statement.selector is not None:
                for each in self.select.below(statement.selector, place.thing, place.context):
                    thing = each.thing.self_edge if isinstance(each.thing, Node) else each.thing
                    if isinstance(thing, Edge):
                        opened.append(Place(thing, each.context.within(each.context.scope)))
                return
            if not isinstance(place.thing, Node):
                raise Mistake(f"an edge cannot be in {place.thing!r}: only nodes hold edges")
            names = (
                [None]
                if statement.name is None
                else self.texts.expand_all(statement.name.text, place.context)
            )
            for i, name in enumerate(names):
                context = place.context if name is None else place.context.push(name)
                if statement.connect is None:
                    opened.append(
                        Place(
                            self._open_edge(name, place.thing, statement), context.within(place.context.scope)
                        )
                    )
                else:
                    pairs = self._pairs(
                        statement, i=i, pairs_before=pairs_before, parent=place.thing, context=context
                    )
                    pairs_before += len(pairs)
                    opened.extend(self._connect_pairs(statement, pairs, place.thing, name))

        self.for_each_place(places, statement.mark, open_edges)
        self.apply_templates(statement.templates, opened)
        # actions in the body find the states of the edge in its scope
        if statement.states is not None:
            for k, place in enumerate(opened):
                text = statement.states[k % len(statement.states)]
                if text is not None:
                    states = ",".join(self.state_names(text, place.context))
                    place.context.scope.values[EDGE_STATES] = Define(states)
        self.run(statement.body, opened)

    def _open_edge(self, name: Expansion | None, parent: Node, statement: s.EdgeStatement) -> Edge:
        """Return the edge of that name in a node; make it, without ends, if there is none."""
        text = name.text if name else parent.unique("edge")
        edge = parent.children.get(text)
        if edge is None:
            self.count_objects(1 + len(parent.instances))
            edge = Edge(text, None, statement.mark)
            add_child(parent, edge)
        if not isinstance(edge, Edge):
            raise Mistake(f"'{text}' is a node here: give the edge another name")
        if statement.note:
            edge.note = statement.note
        return edge

    def _connect_pairs(
        self, statement: s.EdgeStatement, pairs: list[Pair], parent: Node, name: Expansion | None
    ) -> list[Place]:
        """Make an edge for each pair of nodes that are in the same node; warn if none are."""
        several = len(pairs) > 1
        base = name.text if name else "edge"
        opened: list[Place] = []
        for source, target, context in pairs:
            if target.parent is source.parent:
                text = f"{base}_{len(opened) + 1}" if several else base
                opened.append(
                    Place(
                        self._edge_between(source, target, parent=parent, name=text, statement=statement),
                        context.within(context.scope),
                    )
                )
        if pairs and not opened:
            source, target, _ = pairs[0]
            message = f"{source!r} and {target!r} are not in the same node: no edge joins them"
            self.select.warn(NetworkProblem(message, statement.mark))
        return opened

    def _edge_between(
        self, source: Node, target: Node, *, parent: Node, name: str, statement: s.EdgeStatement
    ) -> Edge:
        """Make a new edge between two nodes; where its name is taken, it gets a number."""
        self.count_objects(1 + len(parent.instances))
        edge = Edge(parent.unique(name), None, statement.mark)
        edge.note = statement.note
        attach(edge, source, target)
        add_child(parent, edge)
        return edge

    def _pairs(
        self, statement: s.EdgeStatement, *, i: int, pairs_before: int, parent: Node, context: Context
    ) -> list[Pair]:
        """Return the pairs of nodes that a statement joins, for its i-th name and after `pairs_before` other
        pairs: those selected, less or more what its attributes say."""
        pairs = self._selected_pairs(
            statement, i=i, pairs_before=pairs_before, parent=parent, context=context
        )
        attributes = statement.attributes
        if attributes.no_self:
            pairs = [p for p in pairs if p[0] is not p[1]]
        if attributes.probability is not None:
            chance = self.texts.calculate(self.texts.expand_one(attributes.probability.text, context))
            pairs = [p for p in pairs if self.random.random() < chance]
        if attributes.bidirectional:
            if statement.connect is not None and statement.connect.kind == "all":
                order = {id(n): i for i, n in enumerate(dict.fromkeys(a for a, _, _ in pairs))}
                pairs = [p for p in pairs if order[id(p[0])] <= order[id(p[1])]]
            pairs = [q for p in pairs for q in (p, (p[1], p[0], p[2]))]
        return pairs

    def _selected_pairs(
        self, statement: s.EdgeStatement, *, i: int, pairs_before: int, parent: Node, context: Context
    ) -> list[Pair]:
        """Return the pairs of nodes that the selectors of a statement find."""
        assert statement.connect is not None
        kind, selectors = statement.connect.kind, statement.connect.selectors
        first = selectors[0][i % len(selectors[0])]
        if first is None:
            return []
        sources = self._nodes(first, parent, context)
        if kind == "on":
            return [(node, node, around) for node, around in sources]
        pairs: list[Pair] = []
        # 'from-set' in the second selector means all that the first found
        before, self.select.from_set = self.select.from_set, [Selected(*source) for source in sources]
        try:
            for k, (source, context_of_source) in enumerate(sources):
                second = first if kind == "all" else selectors[1][(pairs_before + k) % len(selectors[1])]
                if second is not None:
                    targets = self._nodes(second, parent, context_of_source)
                    pairs.extend((source, target, around) for target, around in targets)
                if len(pairs) > MAX_OBJECTS:
                    raise LimitExceeded(f"one statement makes more than {MAX_OBJECTS} edges")
        finally:
            self.select.from_set = before
        return pairs

    def _nodes(self, selector: s.Selector, parent: Node, context: Context) -> list[tuple[Node, Context]]:
        """Return the nodes at an end of edges, with their contexts. A name that is written out and not there
        is a warning; a calculated one may well lead nowhere, as at the end of a chain (`to "n$(@1 + 1)"`),
        and so may words and patterns."""
        nodes = [
            (each.thing, each.context)
            for each in self.select.below(selector, parent, context)
            if isinstance(each.thing, Node)
        ]
        if all(
            stage.kind == "text" and "@" not in stage.text and "$(" not in stage.text
            for stage in selector.stages
        ):
            self._warn_of_missing_nodes(selector, parent, context, nodes)
        return nodes

    def _warn_of_missing_nodes(
        self, selector: s.Selector, parent: Node, context: Context, nodes: list[tuple[Node, Context]]
    ) -> None:
        """Warn of every node that a selector names and that is not among those it found."""
        names = {node.name for node, _ in nodes}
        for e in self.texts.expand_all(selector.stages[-1].text, context):
            if e.text not in names and (len(selector.stages) == 1 or not nodes):
                name = " . ".join([stage.text for stage in selector.stages[:-1]] + [e.text])
                near = did_you_mean(name, [c.name for c in parent.children.values() if isinstance(c, Node)])
                warning = NetworkProblem(
                    f"there is no node '{name}' in {parent!r}, and so no edge: {near}", selector.mark
                )
                if warning not in self.warnings:
                    self.warnings.append(warning)
