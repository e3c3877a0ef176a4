"""Runs the statements of a file: creates and opens objects, sets variables, applies templates, connects edges.

A block is run for all its objects at once, statement by statement; each object has its own context.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from strut.network import syntax as s
from strut.network.context import Context, Define, Expansion, Scope, plain
from strut.network.embedded import SPECIAL, Texts
from strut.network.errors import MOST, Mark, Mistake, NetworkError, Problem, Source, TooMuch
from strut.network.files import Files
from strut.network.formula import dots
from strut.network.model import (
    FLAGS,
    Action,
    Alias,
    Argument,
    Assignment,
    Edge,
    Event,
    Function,
    Item,
    Node,
    Object,
    Piece,
    Variable,
    apply,
    attach,
    detach,
    unapply,
)
from strut.network.numbers import calculate
from strut.network.parse import parse
from strut.network.select import Found, Select

MOST_OBJECTS = 1_000_000
"""A network has no more nodes and edges."""
DEEPEST_INCLUDE = 40
INTEGRATOR = {
    "method": "euler", "default-timestep": "0.001", "minimum-timestep": "1e-9", "real-time": "0", "prediction-order": "4", "correction-order": "3",
}  # fmt: skip
INDEXED = re.compile(r"^(.*?)(\[.*\])$", re.S)
NAMED = re.compile(r"^[^\W\d][\w\u0300-\u036f.']*$")


@dataclass(frozen=True, slots=True)
class Place:
    """An object that a block is about, and the context it has there."""

    thing: Object
    context: Context


class Builder:
    """A network while it is made."""

    def __init__(self, files: Files, name: str = "network", seed: int = 0) -> None:
        self.root, self.templates = Node(name, None), Node("templates", None)
        self.files = files
        self.texts = Texts(calculate)
        self.said: list[str] = []
        self.warnings: list[Problem] = []
        self.problems: list[Problem] = []
        self.select = Select(self.root, self.templates, self.texts, self.said.append)
        self.integrator = dict(INTEGRATOR)
        self.random = random.Random(seed)
        self.objects = 0
        self.reading: list[str] = []
        self.read: set[str] = set()
        self.scope = Scope()

    # ---- running ----

    def text(self, source: Source) -> None:
        """Run a whole text at the root."""
        self.run(parse(source), [Place(self.root, Context(self.scope))])
        if self.problems:
            raise NetworkError(self.problems)

    def run(self, statements: list[s.Statement], places: list[Place]) -> None:
        for statement in statements:
            try:
                HANDLERS[type(statement)](self, statement, places)
            except TooMuch as stop:
                self.problems.append(stop.at(statement.mark).problem)
                raise NetworkError(self.problems) from stop
            except Mistake as mistake:
                self.problems.append(mistake.at(statement.mark, *self._trail()).problem)
                if len(self.problems) >= MOST:
                    raise NetworkError(self.problems) from mistake
            except RecursionError as error:
                raise NetworkError([*self.problems, Problem("the model nests too deeply", statement.mark)]) from error

    def _trail(self) -> list[str]:
        return [f"included from {where}" for where in reversed(self.reading[1:])]

    def each(self, places: list[Place], mark: Mark, act: Callable[[int, Place], None]) -> None:
        """Do something for every object; a mistake says for which."""
        for k, place in enumerate(places):
            try:
                act(k, place)
            except Mistake as mistake:
                trail = place.context.trail()
                raise mistake.at(mark, *([f"for {trail}"] if trail else []))

    def count(self, more: int = 1) -> None:
        self.objects += more
        if self.objects > MOST_OBJECTS:
            raise TooMuch(f"the network has more than {MOST_OBJECTS} nodes and edges")

    # ---- blocks ----

    def block(self, statement: s.Block, places: list[Place]) -> None:
        if statement.kind == "templates":
            inside = [p for p in places if self.select.is_template(p.thing)]
            top = [Place(self.templates, p.context.inner()) for p in places[:1]]
            self.run(statement.body, inside if inside and inside[0].thing is not self.templates else top)
        elif statement.kind == "integrator":
            self._integrator(statement, places)
        else:
            self.run(statement.body, [Place(p.thing, p.context.inner()) for p in places])

    def _integrator(self, statement: s.Block, places: list[Place]) -> None:
        if len(places) != 1 or places[0].thing is not self.root:
            raise Mistake("the integrator belongs to the whole network: move it out of the block")
        for inner in statement.body:
            if isinstance(inner, s.Assign) and inner.names[0] is not None and inner.values and inner.values[0] is not None:
                name = self.texts.one(inner.names[0].text.text, places[0].context)
                if name not in self.integrator:
                    raise Mistake(f"the integrator has no '{name}': it has {', '.join(self.integrator)}", inner.mark)
                self.integrator[name] = self.texts.one(inner.values[0].text, places[0].context)
            else:
                self.run([inner], places)

    def node(self, statement: s.NodeStatement, places: list[Place]) -> None:
        opened: list[Place] = []
        kind = Node if statement.kind == "node" else Object

        def one(k: int, place: Place) -> None:
            if statement.selector is not None:
                found = self.select.below(statement.selector, place.thing, place.context)
                opened.extend(Place(f.thing, f.context.within(f.context.scope)) for f in found if isinstance(f.thing, kind))
                return
            if not isinstance(place.thing, Node):
                raise Mistake(f"a node cannot be in {place.thing!r}: only nodes hold nodes")
            names = [plain(place.thing.unique("object"))] if statement.name is None else self.texts.all(statement.name.text, place.context)
            for e in names:
                made = place.thing.children.get(e.text)
                if made is None:
                    made = self._new_node(e.text, place.thing, statement)
                if not isinstance(made, Node):
                    raise Mistake(f"'{e.text}' is an edge here: give the node another name")
                if statement.note:
                    made.note = statement.note
                opened.append(Place(made, place.context.push(e).within(place.context.scope)))

        self.each(places, statement.mark, one)
        self._apply_all(statement.templates, opened)
        self.run(statement.body, opened)

    def _new_node(self, name: str, parent: Node, statement: s.Statement) -> Node:
        if not name:
            raise Mistake("a node without a name: the text in quotes is empty")
        self.count(1 + len(parent.instances))
        made = Node(name, None, statement.mark)
        parent.add(made)
        return made

    def _apply_all(self, templates: list[s.Selectors], opened: list[Place]) -> None:
        for selectors in templates:
            for k, place in enumerate(opened):
                selector = selectors[k % len(selectors)]
                if selector is None:
                    continue
                found = self.select.template(selector, Found(place.thing, place.context))
                found = [f for f in found if isinstance(f.thing, Object)]
                if not found:
                    shown = " . ".join(stage.text for stage in selector.stages)
                    known = [t.name for t in self.templates.children.values()]
                    from strut.errors import did_you_mean

                    raise Mistake(f"there is no template '{shown}': {did_you_mean(shown, known)}", selector.mark)
                for f in found:
                    assert isinstance(f.thing, Object)
                    before = self._size(f.thing)
                    self.count(before)
                    apply(f.thing, place.thing)

    @staticmethod
    def _size(template: Object) -> int:
        return sum(1 for _ in template.walk()) if isinstance(template, Node) else 0

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
        self._apply_all(statement.templates, opened)
        if statement.states is not None:
            for k, place in enumerate(opened):
                text = statement.states[k % len(statement.states)]
                if text is not None:
                    place.context.scope.values["\0state"] = Define(",".join(self._names(text, place.context)))
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
            container = source.parent
            if container is None or target.parent is not container:
                if source is target and source.parent is None:
                    container = source
                else:
                    continue
            text = f"{base}_{i + 1}" if several else base
            if attributes.suffixes is not None and name:
                text = base + self.texts.one(attributes.suffixes[i % 2].text, found)
            edge = self._edge_between(container, text, base, source, target, statement)
            opened.append(Place(edge, found.within(found.scope)))
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

    # ---- variables and actions ----

    def assign(self, statement: s.Assign, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            name = statement.names[k % len(statement.names)]
            if name is None:
                return
            names = [plain(name.text.text)] if not SPECIAL.search(name.text.text) else self.texts.all(name.text.text, place.context)
            value = statement.values[k % len(statement.values)] if statement.given else None
            if statement.given and value is None:
                return
            for i, e in enumerate(names):
                context = place.context.push(e)
                text = None if value is None else self._value(value.text, context, i, len(names))
                self._set(statement, name, e, text, place.thing, context, k)

        self.each(places, statement.mark, one)

    def _value(self, text: str, context: Context, i: int, count: int) -> str:
        """The value of the i-th name: one for all, or one each."""
        if not SPECIAL.search(text):
            return text
        values = self.texts.all(text, context)
        if len(values) == 1:
            return values[0].text
        if len(values) == count:
            return values[i].text
        raise Mistake(f"{count} name(s) but {len(values)} values: give one value, or one for each name")

    def _names(self, text: s.Text, context: Context) -> list[str]:
        """A list of states: names separated by commas or generated."""
        return [n for e in self.texts.all(text.text, context) for n in re.split(r"[,\s]+", e.text) if n]

    def _set(self, st: s.Assign, name: s.NameText, e: Expansion, text: str | None, thing: Object, context: Context, k: int) -> None:
        plain_name, order, index = self._split_name(name, e.text, context)
        if st.operator in ("+=", "<="):
            self._act(st, thing, plain_name, order, index, text or "0", context, k)
        elif order:
            self._derive(st, thing, plain_name, order, index, text or "0", context, k)
        else:
            self._define(st, thing, plain_name, text, context)

    def _split_name(self, name: s.NameText, text: str, context: Context) -> tuple[str, int, str]:
        index = self.texts.one(name.index, context) if name.index else ""
        found = INDEXED.match(text)
        if found and not index:
            text, index = found[1], found[2]
        primes = len(text) - len(text.rstrip("'"))
        text, dotted = dots(text.rstrip("'"))
        if not NAMED.match(text):
            raise Mistake(f"'{text}' is no name of a variable: letters, digits and _ are, beginning with a letter", name.text.mark)
        return text, name.order + primes + dotted, index[1:-1].strip() if index else ""

    def _define(self, st: s.Assign, thing: Object, name: str, text: str | None, context: Context) -> None:
        alias = thing.aliases.get(name) if isinstance(thing, Node) else None
        if alias is not None and isinstance(thing, Node):
            child = thing.children.get(alias.child)
            if child is not None:
                self._define(st, child, alias.variable, text, context)
                return
        old = thing.variables.get(name)
        if text is not None and st.operator == "?=" and old is not None and old.text.strip():
            text = None
        if text is None and old is None:
            if not st.given and st.flags:
                raise Mistake(f"there is no variable '{name}' in {thing!r} to give flags to")
            text = "0"
        new = Variable(name, thing, st.mark, context, None, st.note or (old.note if old else ""), text=old.text if text is None and old else text or "")
        if old is not None:
            new.flags, new.constraint, new.serial = set(old.flags), old.constraint, old.serial
            if text is None:
                new.mark, new.context = old.mark, old.context
        self._flags(new, st.flags)
        if st.constraint is not None:
            new.constraint = self._constraint(st.constraint, name, context)
        thing.set_variable(new)

    @staticmethod
    def _flags(variable: Variable, flags: tuple) -> None:
        for sign, flag in flags:
            if flag not in FLAGS:
                raise Mistake(f"'{flag}' is no flag: {', '.join(FLAGS)} are")
            if sign == "-":
                variable.flags.discard(flag)
            else:
                variable.flags.add(flag)

    def _constraint(self, constraint: tuple[str, tuple[s.Text, ...]], name: str, context: Context) -> str:
        kind, texts = constraint
        values = [self.texts.one(t.text, context) for t in texts]
        if kind == "":
            return values[0]
        return f"{'clip' if kind == ',' else 'cycle'}({name}, {values[0]}, {values[1]})"

    def _states(self, st: s.Assign, context: Context, k: int) -> tuple[str, ...]:
        if st.states is None:
            header = context.scope.get("\0state")
            return tuple(header.text.split(",")) if header and header.text else ()
        text = st.states[k % len(st.states)]
        return () if text is None else tuple(self._names(text, context))

    def _act(self, st: s.Assign, thing: Object, name: str, order: int, index: str, text: str, context: Context, k: int) -> None:
        if not isinstance(thing, Edge):
            raise Mistake(f"'{name} {st.operator}' acts on the output of an edge, but {thing!r} is no edge: write it in an edge")
        if order > 1:
            raise Mistake(f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' instead of {name}{order * chr(39)}")
        if order == 1 and st.operator == "<=":
            raise Mistake(f"{name}' can be added to by an edge, not set: write {name}' +=")
        action = Action(name, thing, st.mark, context, None, st.note, text=text, rate=order == 1, adds=st.operator == "+=", index=index)
        action.states = self._states(st, context, k)
        thing.set_action(action)

    def _derive(self, st: s.Assign, thing: Object, name: str, order: int, index: str, text: str, context: Context, k: int) -> None:
        if isinstance(thing, Edge):
            if order > 1:
                raise Mistake(f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' +=")
            action = Action(name, thing, st.mark, context, None, st.note, text=text, rate=True, index=index)
            action.states = self._states(st, context, k)
            thing.set_action(action)
            return
        if not isinstance(thing, Node):
            raise Mistake(f"{thing!r} has no states: only nodes have")
        edge = thing.self_edge
        names = ["d" * i + name for i in range(order)]
        for i, each in enumerate(names):
            old = thing.variables.get(each)
            if old is None:
                size = thing.variables[names[0]].text if i and names[0] in thing.variables else "0"
                start = "0" if i == 0 or not _looks_like_matrix(size) else f"0 * ({size})"
                thing.set_variable(Variable(each, thing, st.mark, context, text=start, flags={"integrated"}))
            elif "integrated" not in old.flags and "discrete" not in old.flags:
                changed = Variable(each, thing, old.mark, old.context, old.origin, old.note, old.serial, old.text, old.flags | {"integrated"}, old.constraint)
                thing.set_variable(changed)
            variable = thing.variables[each]
            self._flags(variable, st.flags)
            if i + 1 < order and not any(a.rate and a.name == each for a in edge.actions.values()):
                edge.set_action(Action(each, edge, st.mark, context, text=names[i + 1], rate=True))
        if st.constraint is not None:
            thing.variables[names[0]].constraint = self._constraint(st.constraint, name, context)
        action = Action(names[-1], edge, st.mark, context, None, st.note, text=text, rate=True, index=index)
        action.states = self._states(st, context, k)
        edge.set_action(action)

    def set(self, statement: s.SetStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            selector = statement.selectors[k % len(statement.selectors)]
            if selector is None:
                return
            value = None if statement.values is None else statement.values[k % len(statement.values)]
            if isinstance(place.thing, Event):
                if value is None:
                    raise Mistake("an event sets values, not flags")
                text = self.texts.one(value.text, place.context)
                place.thing.sets.append(Assignment(selector, place.context, text, statement.mark))
                return
            found = [f for f in self.select.below(selector, place.thing, place.context) if isinstance(f.thing, (Variable, Alias))]
            if not found:
                raise Mistake("the selector finds no variable", selector.mark)
            for i, f in enumerate(found):
                text = None if value is None else self._value(value.text, f.context, i, len(found))
                st = s.Assign([], "=", flags=statement.flags, given=value is not None, mark=statement.mark, note=statement.note)
                assert isinstance(f.thing, Item)
                self._define(st, f.thing.owner, f.thing.name, text, f.context)

        self.each(places, statement.mark, one)

    # ---- functions ----

    def function(self, statement: s.FunctionStatement, places: list[Place]) -> None:
        def arguments(given: list[tuple[str, s.Text, s.Text | None]], context: Context) -> tuple[Argument, ...]:
            return tuple(
                Argument(e.text, None if default is None else self.texts.one(default.text, context), scope)
                for scope, name, default in given
                for e in self.texts.all(name.text, context)
            )

        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"a function cannot be in {place.thing!r}: nodes hold functions")
            names = self.texts.all(statement.name.text, place.context)
            for i, e in enumerate(names):
                context = place.context.push(e)
                name = dots(e.text)[0]
                if statement.operator == "?=" and name in place.thing.functions:
                    continue
                text = self._value(statement.value.text, context, i, len(names))
                explicit, implicit = arguments(statement.arguments, context), arguments(statement.implicit, context)
                place.thing.set_function(
                    Function(name, place.thing, statement.mark, context, None, statement.note, text=text, arguments=explicit, implicit=implicit)
                )

        self.each(places, statement.mark, one)

    def polynomial(self, statement: s.PolynomialStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"a polynomial cannot be in {place.thing!r}: nodes hold functions")
            for e in self.texts.all(statement.name.text, place.context):
                context = place.context.push(e)
                pieces = []
                for piece in statement.pieces:
                    begin, end, *coefficients = [self.texts.one(t.text, context) for t in piece]
                    pieces.append(Piece(begin, end, tuple(coefficients)))
                if not pieces:
                    raise Mistake(f"the polynomial '{e.text}' has no pieces: add 'piece from 0 to 1 = ...'")
                function = Function(e.text, place.thing, statement.mark, context, None, statement.note, arguments=(Argument("x"),))
                function.pieces = tuple(pieces)
                place.thing.set_function(function)

        self.each(places, statement.mark, one)

    # ---- interface, events, states ----

    def interface(self, statement: s.InterfaceStatement, places: list[Place]) -> None:
        self.run(statement.body, places)

    def expose(self, statement: s.Expose, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"{place.thing!r} has no interface: nodes have")
            names = self.texts.all(statement.name.text, place.context)
            for i, e in enumerate(names):
                context = place.context.push(e)
                variable = self._value(statement.variable.text, context, i, len(names))
                child = self._value(statement.child.text, context, i, len(names))
                if statement.operator == "?=" and e.text in place.thing.aliases:
                    continue
                place.thing.set_alias(Alias(e.text, place.thing, statement.mark, context, variable=variable, child=child))

        self.each(places, statement.mark, one)

    def event(self, statement: s.EventStatement, places: list[Place]) -> None:
        opened: list[Place] = []

        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an event cannot be in {place.thing!r}: nodes hold events")
            event = Event(f"event_{len(place.thing.events) + 1}", place.thing, statement.mark)
            event.states = None if statement.states is None else tuple(self._names(statement.states, place.context))
            event.target = None if statement.target is None else self.texts.one(statement.target.text, place.context)
            event.terminal = statement.terminal
            event.condition = self.texts.one(statement.condition.text, place.context)
            event.within = None if statement.within is None else self.texts.one(statement.within.text, place.context)
            event.context, event.note = place.context, statement.note
            opened.append(Place(event, place.context.inner()))

        self.each(places, statement.mark, one)
        self.run(statement.body, opened)
        for place in opened:
            assert isinstance(place.thing, Event)
            assert place.thing.parent is not None
            place.thing.parent.add_event(place.thing)

    def initial(self, statement: s.InitialStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            value = statement.values[k % len(statement.values)]
            if value is not None:
                if not isinstance(place.thing, Node):
                    raise Mistake(f"{place.thing!r} has no states: nodes have")
                place.thing.set_initial(self.texts.one(value.text, place.context))

        self.each(places, statement.mark, one)

    def io(self, statement: s.IoStatement, places: list[Place]) -> None:
        opened: list[Place] = []

        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an {statement.direction} cannot be in {place.thing!r}")
            for e in self.texts.all(statement.name.text, place.context):
                made = place.thing.children.get(e.text)
                made = made if isinstance(made, Node) else self._new_node(e.text, place.thing, statement)
                context = place.context.push(e).within(place.context.scope)
                settings = {
                    self.texts.one(key.text, context): self.texts.one(value.text, context)
                    for keys, values in statement.settings
                    for key, value in zip(keys, values, strict=False)
                    if key is not None and value is not None
                }
                made.table = {"direction": statement.direction, "type": self.texts.one(statement.kind.text, context), **settings}
                if made.table["type"] == "file" and statement.direction == "input":
                    path = self.files.find(settings.get("path", ""), statement.mark.source.name)
                    made.table["path"] = str(path)
                    for name in self.files.columns(path, made.table):
                        variable = Variable(name, made, statement.mark, context, text="0", flags={"in"})
                        made.set_variable(variable)
                else:
                    what = f"'{e.text}': {statement.direction} of type '{made.table['type']}' is not part of a simulation, and left out"
                    self.warnings.append(Problem(what, statement.mark))
                opened.append(Place(made, context))

        self.each(places, statement.mark, one)
        self.run(statement.body, opened)

    # ---- defines ----

    def defines(self, statement: s.DefinesStatement, places: list[Place]) -> None:
        self.run(statement.body, places)

    def define(self, statement: s.DefineStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            name = statement.names[k % len(statement.names)]
            if name is None:
                return
            names = self.texts.all(name.text, place.context)
            scope = place.context.scope
            for i, e in enumerate(names):
                if statement.operator in ("?=", "?$="):
                    known = scope.get(e.text)
                    if known is not None and known.text:
                        continue
                if isinstance(statement.values, s.Selector):
                    define: Define | None = self._selected(statement.values, place)
                else:
                    value = statement.values[k % len(statement.values)]
                    if value is None:
                        continue
                    define = self._defined(value.text, place.context if len(names) == 1 else place.context.push(e), i, len(names))
                if statement.operator in ("$=", "?$="):
                    found = os.environ.get(define.text)
                    define = None if found is None else Define(found)
                if define is not None:
                    scope.values[e.text] = define

        self.each(places, statement.mark, one)

    def _selected(self, selector: s.Selector, place: Place) -> Define:
        found = self.select.below(selector, place.thing, place.context)
        texts = []
        for f in found:
            top = f.context.level(0) if f.context.stack is not place.context.stack else None
            texts.append(top.text if top else f.thing.name)
        return _listed(texts)

    def _defined(self, text: str, context: Context, i: int, count: int) -> Define:
        if not SPECIAL.search(text):
            return Define(text)
        values = self.texts.all(text, context)
        if count > 1 and len(values) == count:
            return Define(values[i].text)
        if len(values) == 1 and "{" not in self.texts.whole(text, context):
            return Define(values[0].text)
        return _listed([v.text for v in values])

    # ---- other texts ----

    def include(self, statement: s.IncludeStatement, places: list[Place]) -> None:
        self._include(statement.path, statement.once, statement.mark, places)

    def parse(self, statement: s.ParseStatement, places: list[Place]) -> None:
        inner = [Place(p.thing, p.context.inner()) for p in places]
        self.run(statement.body, inner)
        self._include(statement.path, False, statement.mark, inner)

    def _include(self, path: s.Text, once: bool, mark: Mark, places: list[Place]) -> None:
        if not places:
            return
        source = self.files.source(self.texts.one(path.text, places[0].context), mark.source.name)
        if once and source.name in self.read:
            return
        self.read.add(source.name)
        if source.name in (place.split(":")[0] for place in self.reading) or len(self.reading) > DEEPEST_INCLUDE:
            raise TooMuch(f"'{source.name}' includes itself: {' -> '.join([*self.reading, source.name])}", mark)
        self.reading.append(source.name)
        try:
            try:
                statements = parse(source)
            except NetworkError as error:
                self.problems.extend(Problem(p.message, p.mark, (*p.trail, f"included from {mark}")) for p in error.problems)
                return
            self.run(statements, places)
        finally:
            self.reading.pop()

    def import_(self, statement: s.ImportStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"nothing can be imported into {place.thing!r}")
            source = self.files.source(self.texts.one(statement.path.text, place.context), statement.mark.source.name)
            if len(self.reading) > DEEPEST_INCLUDE or source.name in self.reading:
                raise TooMuch(f"'{source.name}' imports itself: {' -> '.join([*self.reading, source.name])}")
            other = Builder(self.files, source.name)
            other.reading = [*self.reading, source.name]
            other.scope = Scope(place.context.scope)
            other.objects = self.objects
            try:
                other.text(source)
            except NetworkError as error:
                raise NetworkError(
                    [*self.problems, *(Problem(p.message, p.mark, (*p.trail, f"imported from {statement.mark}")) for p in error.problems)]
                ) from error
            self.objects = other.objects
            for e in self.texts.all(statement.name.text, place.context):
                if not self.select.is_template(place.thing) and place.thing is not self.templates:
                    _adopt(other.root, place.thing, e.text, statement.mark)
                _adopt(other.templates, self.templates, e.text, statement.mark)

        self.each(places, statement.mark, one)

    def link(self, statement: s.LinkStatement, places: list[Place]) -> None:
        self.warnings.append(Problem("plug-ins are programs and not loaded: 'link-library' is left out", statement.mark))

    def debug(self, statement: s.DebugStatement, places: list[Place]) -> None:
        for place in places:
            if isinstance(statement.what, s.Selector):
                found = self.select.below(statement.what, place.thing, place.context)
                self.said.append(f"{statement.mark}: {', '.join(f.thing.name for f in found)}")
            elif statement.what is not None:
                self.said.append(f"{statement.mark}: {self.texts.one(statement.what.text, place.context)}")
            else:
                self.said.append(f"{statement.mark}: {place.context.trail()}")

    def delete(self, statement: s.DeleteStatement, places: list[Place]) -> None:
        for place in places:
            for selector in statement.selectors:
                for f in self.select.below(selector, place.thing, place.context):
                    _delete(f.thing)

    def apply(self, statement: s.ApplyStatement, places: list[Place]) -> None:
        for place in places:
            targets = [Found(place.thing, place.context)] if statement.to is None else self.select.below(statement.to, place.thing, place.context)
            for target in targets:
                assert isinstance(target.thing, Object)
                found = self.select.template(statement.templates, target)
                if not found:
                    raise Mistake("the selector finds no template", statement.templates.mark)
                for f in found:
                    assert isinstance(f.thing, Object)
                    (unapply if statement.undo else apply)(f.thing, target.thing)

    def layout(self, statement: s.LayoutStatement, places: list[Place]) -> None:
        self.run(statement.body, places)

    def position(self, statement: s.Position, places: list[Place]) -> None:
        for place in places:
            found = [Found(place.thing, place.context)]
            if statement.selector is not None:
                found = self.select.below(statement.selector, place.thing, place.context)
            for k, f in enumerate(f for f in found if isinstance(f.thing, Object)):
                x, y = statement.x[k % len(statement.x)], statement.y[k % len(statement.y)]
                if x is None or y is None:
                    continue
                at = [self.texts.calculate(self.texts.one(v.text, f.context)) for v in (x, y)]
                if statement.of is not None:
                    around = [o.thing for o in self.select.below(statement.of, place.thing, f.context) if isinstance(o.thing, Object)]
                    if around and around[0].place is not None:
                        at = [at[0] + around[0].place[0], at[1] + around[0].place[1]]
                assert isinstance(f.thing, Object)
                f.thing.place = (at[0], at[1])


def _looks_like_matrix(text: str) -> bool:
    return not re.fullmatch(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*", text)


def _listed(texts: list[str]) -> Define:
    """A define that holds a list: its text generates it."""
    hidden = [t.replace("\\", "\\\\").replace(",", "\\,") for t in texts]
    return Define("{" + ",".join(hidden) + "}" if texts else "", tuple(texts))


def _adopt(root: Node, into: Node, name: str, mark: Mark) -> None:
    """Let what a file made stand under a node of another network."""
    node = into.children.get(name)
    if not isinstance(node, Node):
        node = Node(name, None, mark)
        node.is_import = True
        into.add(node)
    for child in list(root.children.values()):
        if child.name not in node.children:
            node.add(child)
    for function in root.functions.values():
        function.owner = node
        node.set_function(function)


def _delete(thing: Object | Item) -> None:
    if isinstance(thing, Variable):
        thing.owner.variables.pop(thing.name, None)
    elif isinstance(thing, Function) and isinstance(thing.owner, Node):
        thing.owner.functions.pop(thing.name, None)
    elif isinstance(thing, Action) and isinstance(thing.owner, Edge):
        thing.owner.actions.pop(thing.key, None)
    elif isinstance(thing, Alias) and isinstance(thing.owner, Node):
        thing.owner.aliases.pop(thing.name, None)
    elif isinstance(thing, (Node, Edge)) and thing.parent is not None:
        thing.parent.children.pop(thing.name, None)
        ends = [thing] if isinstance(thing, Edge) else [*thing.inputs, *thing.outputs]
        for edge in ends:
            detach(edge)
            if edge.parent is not None:
                edge.parent.children.pop(edge.name, None)


HANDLERS: dict[type, Callable] = {
    s.Block: Builder.block,
    s.NodeStatement: Builder.node,
    s.EdgeStatement: Builder.edge,
    s.Assign: Builder.assign,
    s.SetStatement: Builder.set,
    s.FunctionStatement: Builder.function,
    s.PolynomialStatement: Builder.polynomial,
    s.InterfaceStatement: Builder.interface,
    s.Expose: Builder.expose,
    s.EventStatement: Builder.event,
    s.InitialStatement: Builder.initial,
    s.IoStatement: Builder.io,
    s.DefinesStatement: Builder.defines,
    s.DefineStatement: Builder.define,
    s.IncludeStatement: Builder.include,
    s.ParseStatement: Builder.parse,
    s.ImportStatement: Builder.import_,
    s.LinkStatement: Builder.link,
    s.DebugStatement: Builder.debug,
    s.DeleteStatement: Builder.delete,
    s.ApplyStatement: Builder.apply,
    s.LayoutStatement: Builder.layout,
    s.Position: Builder.position,
}
