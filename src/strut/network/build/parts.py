"""Runs statements about what nodes have besides variables: functions, interfaces, events, states, tables."""

from __future__ import annotations

from strut.network.build.context import Context, plain_expansion
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
    """Runs statements about functions, interfaces, events and tables."""

    # ---- functions ----

    def function(self, statement: s.FunctionStatement, places: list[Place]) -> None:
        """Put a function into every node of a block."""

        def add_function(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"a function cannot be in {place.thing!r}: nodes hold functions")
            names = self.texts.expand_all(statement.name.text, place.context)
            for i, e in enumerate(names):
                context = place.context.push(e)
                name = dots(e.text)[0]
                if statement.operator == "?=" and name in place.thing.functions:
                    continue
                text = self._value_for_name(statement.value.text, context, i=i, count=len(names))
                set_function(
                    place.thing,
                    Function(
                        name,
                        place.thing,
                        mark=statement.mark,
                        context=context,
                        note=statement.note,
                        text=text,
                        arguments=self._arguments(statement.arguments, context),
                        implicit=self._arguments(statement.implicit, context),
                    ),
                )

        self.for_each_place(places, statement.mark, add_function)

    def _arguments(self, argument_texts: list[s.ArgumentText], context: Context) -> tuple[Argument, ...]:
        """Expand the arguments of a function: one text may generate several."""
        return tuple(
            Argument(
                _argument_name(e.text),
                None if a.default is None else self.texts.expand_one(a.default.text, context),
                a.scope,
            )
            for a in argument_texts
            for e in self.texts.expand_all(a.name.text, context)
        )

    def polynomial(self, statement: s.PolynomialStatement, places: list[Place]) -> None:
        """Put a piecewise polynomial, which is a function of x, into every node of a block."""

        def add_polynomial(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"a polynomial cannot be in {place.thing!r}: nodes hold functions")
            for e in self.texts.expand_all(statement.name.text, place.context):
                context = place.context.push(e)
                pieces = []
                for piece in statement.pieces:
                    begin, end, *coefficients = [self.texts.expand_one(t.text, context) for t in piece]
                    pieces.append(PolynomialPiece(begin, end, tuple(coefficients)))
                if not pieces:
                    raise Mistake(f"the polynomial '{e.text}' has no pieces: add 'piece from 0 to 1 = ...'")
                function = Function(
                    e.text,
                    place.thing,
                    mark=statement.mark,
                    context=context,
                    note=statement.note,
                    arguments=(Argument("x"),),
                    pieces=tuple(pieces),
                )
                set_function(place.thing, function)

        self.for_each_place(places, statement.mark, add_polynomial)

    # ---- interface, events, states ----

    def interface(self, statement: s.InterfaceStatement, places: list[Place]) -> None:
        """Run the names in an interface."""
        self.run(statement.body, places)

    def expose(self, statement: s.Expose, places: list[Place]) -> None:
        """Put a name into the interface of every node of a block."""

        def add_alias(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"{place.thing!r} has no interface: nodes have")
            names = self.texts.expand_all(statement.name.text, place.context)
            for i, e in enumerate(names):
                context = place.context.push(e)
                variable = self._value_for_name(statement.variable.text, context, i=i, count=len(names))
                child = self._value_for_name(
                    statement.child.text, context.push(plain_expansion(variable)), i=i, count=len(names)
                )
                if statement.operator == "?=" and e.text in place.thing.aliases:
                    continue
                set_alias(
                    place.thing,
                    Alias(
                        e.text,
                        place.thing,
                        mark=statement.mark,
                        context=context,
                        variable=variable,
                        child=child,
                    ),
                )

        self.for_each_place(places, statement.mark, add_alias)

    def event(self, statement: s.EventStatement, places: list[Place]) -> None:
        """Put an event into every node of a block, and run its body, which says what it sets."""
        opened: list[Place] = []

        def open_event(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an event cannot be in {place.thing!r}: nodes hold events")
            event = NetworkEvent(f"event_{len(place.thing.events) + 1}", place.thing, statement.mark)
            event.states = (
                None if statement.states is None else tuple(self.state_names(statement.states, place.context))
            )
            event.target = (
                None
                if statement.target is None
                else self.texts.expand_one(statement.target.text, place.context)
            )
            event.terminal = statement.terminal
            event.condition = self.texts.expand_one(statement.condition.text, place.context)
            event.within = (
                None
                if statement.within is None
                else self.texts.expand_one(statement.within.text, place.context)
            )
            event.context, event.note = place.context, statement.note
            opened.append(Place(event, place.context.inner()))

        self.for_each_place(places, statement.mark, open_event)
        self.run(statement.body, opened)
        # only now, that it is complete: instances copy it
        for place in opened:
            assert isinstance(place.thing, NetworkEvent)
            assert place.thing.parent is not None
            add_event(place.thing.parent, place.thing)

    def initial(self, statement: s.InitialStatement, places: list[Place]) -> None:
        """Say in which discrete state each node of a block begins."""

        def set_state(k: int, place: Place) -> None:
            value = statement.values[k % len(statement.values)]
            if value is not None:
                if not isinstance(place.thing, Node):
                    raise Mistake(f"{place.thing!r} has no states: nodes have")
                set_initial(place.thing, self.texts.expand_one(value.text, place.context))

        self.for_each_place(places, statement.mark, set_state)

    def io(self, statement: s.IoStatement, places: list[Place]) -> None:
        """Make a node for a table in every node of a block, with a variable for each column of a file that is
        read; warn of all other kinds, which have no part in a simulation."""
        opened: list[Place] = []

        def open_table(k: int, place: Place) -> None:
            if not isinstance(place.thing, Node):
                raise Mistake(f"an {statement.direction} cannot be in {place.thing!r}")
            for e in self.texts.expand_all(statement.name.text, place.context):
                child = place.thing.children.get(e.text)
                node = child if isinstance(child, Node) else self.new_node(e.text, place.thing, statement)
                context = place.context.push(e).within(place.context.scope)
                settings = {
                    self.texts.expand_one(setting.name.text, context): ", ".join(
                        self.texts.expand_one(value.text, context)
                        for value in setting.values
                        if value is not None
                    )
                    for setting in statement.settings
                    if any(value is not None for value in setting.values)
                }
                node.table = {
                    "direction": statement.direction,
                    "type": self.texts.expand_one(statement.kind.text, context),
                    **settings,
                }
                if node.table["type"] == "file" and statement.direction == "input":
                    path = self.files.find(settings.get("path", ""), statement.mark.source.name)
                    node.table["path"] = str(path)
                    for name in self.files.columns(path, node.table):
                        variable = Variable(
                            name, node, mark=statement.mark, context=context, text="0", flags={"in"}
                        )
                        set_variable(node, variable)
                elif not node.walk_fact:
                    what = (
                        f"'{e.text}': {statement.direction} of type '{node.table['type']}' is not part of "
                        f"a simulation, and left out"
                    )
                    self.warnings.append(NetworkProblem(what, statement.mark))
                opened.append(Place(node, context))

        self.for_each_place(places, statement.mark, open_table)
        self.run(statement.body, opened)


def _argument_name(name: str) -> str:
    """Return the name of an argument with primes for dots: ẋ is x'."""
    plain, order = dots(name)
    return plain + "'" * order
