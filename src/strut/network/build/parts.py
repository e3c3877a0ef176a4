"""Statements about what else nodes have: functions, interfaces, events, states, tables."""

from __future__ import annotations

from strut.network.build.context import Context, plain
from strut.network.build.statement_runner import Place
from strut.network.build.templates import add_event, set_alias, set_function, set_initial, set_variable
from strut.network.build.variables import VariableStatements
from strut.network.model import (
    Alias,
    Argument,
    Function,
    NetworkEvent,
    Node,
    PolynomialPiece,
    Variable,
)
from strut.network.text import statements as s
from strut.network.text.errors import Mistake, NetworkProblem
from strut.network.text.formula import dots


class PartStatements(VariableStatements):
    """Functions, interfaces, events and tables."""

    # ---- functions ----

    def function(self, statement: s.FunctionStatement, places: list[Place]) -> None:
        def arguments(
            given: list[tuple[str, s.Text, s.Text | None]], context: Context
        ) -> tuple[Argument, ...]:
            return tuple(
                Argument(
                    _undotted(e.text),
                    None if default is None else self.texts.one(default.text, context),
                    scope,
                )
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
                explicit, implicit = (
                    arguments(statement.arguments, context),
                    arguments(statement.implicit, context),
                )
                set_function(
                    place.thing,
                    Function(
                        name,
                        place.thing,
                        statement.mark,
                        context,
                        None,
                        statement.note,
                        text=text,
                        arguments=explicit,
                        implicit=implicit,
                    ),
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
                    pieces.append(PolynomialPiece(begin, end, tuple(coefficients)))
                if not pieces:
                    raise Mistake(f"the polynomial '{e.text}' has no pieces: add 'piece from 0 to 1 = ...'")
                function = Function(
                    e.text,
                    place.thing,
                    statement.mark,
                    context,
                    None,
                    statement.note,
                    arguments=(Argument("x"),),
                )
                function.pieces = tuple(pieces)
                set_function(place.thing, function)

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
                child = self._value(statement.child.text, context.push(plain(variable)), i, len(names))
                if statement.operator == "?=" and e.text in place.thing.aliases:
                    continue
                set_alias(
                    place.thing,
                    Alias(e.text, place.thing, statement.mark, context, variable=variable, child=child),
                )

        self.each(places, statement.mark, one)

    def event(self, statement: s.EventStatement, places: list[Place]) -> None:
        opened: list[Place] = []

        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an event cannot be in {place.thing!r}: nodes hold events")
            event = NetworkEvent(f"event_{len(place.thing.events) + 1}", place.thing, statement.mark)
            event.states = (
                None if statement.states is None else tuple(self.names(statement.states, place.context))
            )
            event.target = (
                None if statement.target is None else self.texts.one(statement.target.text, place.context)
            )
            event.terminal = statement.terminal
            event.condition = self.texts.one(statement.condition.text, place.context)
            event.within = (
                None if statement.within is None else self.texts.one(statement.within.text, place.context)
            )
            event.context, event.note = place.context, statement.note
            opened.append(Place(event, place.context.inner()))

        self.each(places, statement.mark, one)
        self.run(statement.body, opened)
        for place in opened:
            assert isinstance(place.thing, NetworkEvent)
            assert place.thing.parent is not None
            add_event(place.thing.parent, place.thing)

    def initial(self, statement: s.InitialStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            value = statement.values[k % len(statement.values)]
            if value is not None:
                if not isinstance(place.thing, Node):
                    raise Mistake(f"{place.thing!r} has no states: nodes have")
                set_initial(place.thing, self.texts.one(value.text, place.context))

        self.each(places, statement.mark, one)

    def io(self, statement: s.IoStatement, places: list[Place]) -> None:
        opened: list[Place] = []

        def one(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an {statement.direction} cannot be in {place.thing!r}")
            for e in self.texts.all(statement.name.text, place.context):
                made = place.thing.children.get(e.text)
                made = made if isinstance(made, Node) else self.new_node(e.text, place.thing, statement)
                context = place.context.push(e).within(place.context.scope)
                settings = {
                    self.texts.one(key.text, context): ", ".join(
                        self.texts.one(value.text, context) for value in values if value is not None
                    )
                    for keys, values in statement.settings
                    for key in keys
                    if key is not None and any(value is not None for value in values)
                }
                made.table = {
                    "direction": statement.direction,
                    "type": self.texts.one(statement.kind.text, context),
                    **settings,
                }
                if made.table["type"] == "file" and statement.direction == "input":
                    path = self.files.find(settings.get("path", ""), statement.mark.source.name)
                    made.table["path"] = str(path)
                    for name in self.files.columns(path, made.table):
                        variable = Variable(name, made, statement.mark, context, text="0", flags={"in"})
                        set_variable(made, variable)
                elif not made.walk_fact:
                    what = (
                        f"'{e.text}': {statement.direction} of type '{made.table['type']}' is not part of "
                        f"a simulation, and left out"
                    )
                    self.warnings.append(NetworkProblem(what, statement.mark))
                opened.append(Place(made, context))

        self.each(places, statement.mark, one)
        self.run(statement.body, opened)


def _undotted(name: str) -> str:
    """The name of an argument: ẋ is x'."""
    plain, order = dots(name)
    return plain + "'" * order
