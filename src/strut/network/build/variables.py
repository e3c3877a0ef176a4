"""Runs statements that set variables, give their rates, and let edges act on them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from strut.network.build.context import Context, plain_expansion
from strut.network.build.statement_runner import (
    EDGE_STATES,
    INDEXED_NAME,
    VARIABLE_NAME,
    Place,
    StatementRunner,
)
from strut.network.build.templates import matching_template_variable, set_action, set_variable
from strut.network.build.text_parts import SPECIAL
from strut.network.lower.whole_numbers import check_order
from strut.network.model import (
    FLAGS,
    Action,
    Alias,
    Assignment,
    Edge,
    Item,
    NetworkEvent,
    Node,
    Object,
    Variable,
)
from strut.network.text import statements as s
from strut.network.text.errors import Mistake, NetworkProblem
from strut.network.text.formula import dots


@dataclass(frozen=True, slots=True)
class _Equation:
    """One variable of an assignment in one object, and the text it is given.

    statement: the assignment. thing: the object it stands in. name, order, index: the variable, its primes,
        and what stands in brackets behind it. text: its value, None if only flags are given. context: what
        its texts are expanded in. k: the number of the object in its block.
    """

    statement: s.Assign
    thing: Object
    name: str
    order: int
    index: str
    text: str | None
    context: Context
    k: int


class VariableStatements(StatementRunner):
    """Runs statements about variables, equations and actions."""

    # ---- variables and actions ----

    def assign(self, statement: s.Assign, places: list[Place]) -> None:
        """Set variables, rates or actions in every object of a block."""

        def assign_in(k: int, place: Place) -> None:
            name = statement.names[k % len(statement.names)]
            if name is None:
                return
            names = (
                [plain_expansion(name.text.text)]
                if not SPECIAL.search(name.text.text)
                else self.texts.expand_all(name.text.text, place.context)
            )
            value = statement.values[k % len(statement.values)] if statement.has_values else None
            if statement.has_values and value is None:
                return
            for i, e in enumerate(names):
                context = place.context.push(e)
                text = (
                    None
                    if value is None
                    else self._value_for_name(value.text, context, i=i, count=len(names))
                )
                plain_name, order, index = self._split_name(name, e.text, context)
                self._set_equation(
                    _Equation(
                        statement=statement,
                        thing=place.thing,
                        name=plain_name,
                        order=order,
                        index=index,
                        text=text,
                        context=context,
                        k=k,
                    )
                )

        self.for_each_place(places, statement.mark, assign_in)

    def _value_for_name(self, text: str, context: Context, *, i: int, count: int) -> str:
        """Return the value of the i-th of `count` names: a text stands for one value for all, or for one
        each. Raises `Mistake` if it stands for another number of values."""
        if not SPECIAL.search(text):
            return text
        values = self.texts.expand_all(text, context)
        if len(values) == 1:
            return values[0].text
        if len(values) == count:
            return values[i].text
        raise Mistake(f"{count} name(s) but {len(values)} values: give one value, or one for each name")

    def _set_equation(self, equation: _Equation) -> None:
        """Set a variable, the rate of a state, or an action of an edge."""
        if equation.statement.operator in ("+=", "<="):
            self._set_edge_action(equation)
        elif equation.order:
            self._set_rate(equation)
        else:
            self._set_variable(
                equation.statement,
                equation.thing,
                equation.name,
                text=equation.text,
                context=equation.context,
            )

    def _split_name(self, name: s.NameText, text: str, context: Context) -> tuple[str, int, str]:
        """Split an expanded name into the name itself, the number of its primes and dots, and its index."""
        index = self.texts.expand_one(name.index, context) if name.index else ""
        indexed = INDEXED_NAME.match(text)
        if indexed and not index:
            text, index = indexed[1], indexed[2]
        primes = len(text) - len(text.rstrip("'"))
        text, dotted = dots(text.rstrip("'"))
        if not VARIABLE_NAME.match(text):
            raise Mistake(
                f"'{text}' is no name of a variable: letters, digits and _ are, beginning with a letter",
                name.text.mark,
            )
        return text, check_order(name.order + primes + dotted), index[1:-1].strip() if index else ""

    def _set_variable(
        self, st: s.Assign, thing: Object, name: str, *, text: str | None, context: Context
    ) -> None:
        """Set a variable of an object; a name of its interface sets that of its child. Without a text, the
        variable keeps its own, and only its flags and constraint change."""
        alias = thing.aliases.get(name) if isinstance(thing, Node) else None
        if alias is not None and isinstance(thing, Node):
            child = thing.children.get(alias.child)
            if child is not None:
                self._set_variable(st, child, alias.variable, text=text, context=context)
                return
        # '?=' leaves a variable that has a text as it is
        old = thing.variables.get(name)
        if text is not None and st.operator == "?=" and old is not None and old.text.strip():
            text = None
        if text is None and old is None:
            if not st.has_values and st.flags:
                raise Mistake(f"there is no variable '{name}' in {thing!r} to give flags to")
            text = "0"
        new = Variable(
            name,
            thing,
            mark=st.mark,
            context=context,
            note=st.note or (old.note if old else ""),
            text=old.text if text is None and old else text or "",
        )
        # what an assignment does not say stays as it was
        if old is not None:
            new.flags, new.constraint, new.serial = set(old.flags), old.constraint, old.serial
            new.is_rate = old.is_rate
            if text is None:
                new.mark, new.context = old.mark, old.context
        self._set_flags(new, st.flags)
        if st.constraint is not None:
            new.constraint = self._constraint(st.constraint, name, context)
        new.origin = matching_template_variable(thing, new)
        set_variable(thing, new)

    @staticmethod
    def _set_flags(variable: Variable, flags: tuple[s.Flag, ...]) -> None:
        """Set and clear flags of a variable. Raises `Mistake` if there is no such flag."""
        for sign, flag in flags:
            if flag not in FLAGS:
                raise Mistake(f"'{flag}' is no flag: {', '.join(FLAGS)} are")
            if sign == "-":
                variable.flags.discard(flag)
            else:
                variable.flags.add(flag)

    def _constraint(self, constraint: tuple[str, tuple[s.Text, ...]], name: str, context: Context) -> str:
        """Return the expression of a constraint: as written, or clipped or cycled between two values."""
        separator, texts = constraint
        values = [self.texts.expand_one(t.text, context) for t in texts]
        if separator == "":
            return values[0]
        return f"{'clip' if separator == ',' else 'cycle'}({name}, {values[0]}, {values[1]})"

    def _states(self, st: s.Assign, context: Context, k: int) -> tuple[str, ...]:
        """Return the discrete states in which an action holds: its own, or those of its edge."""
        if st.states is None:
            edge_states = context.scope.get(EDGE_STATES)
            return tuple(edge_states.text.split(",")) if edge_states and edge_states.text else ()
        text = st.states[k % len(st.states)]
        return () if text is None else tuple(self.state_names(text, context))

    def _set_edge_action(self, equation: _Equation) -> None:
        """Let an edge add to a variable of its output, or set it."""
        st, name, order = equation.statement, equation.name, equation.order
        edge = equation.thing
        if not isinstance(edge, Edge):
            raise Mistake(
                f"'{name} {st.operator}' acts on the output of an edge, but {edge!r} is no edge: write it "
                f"in an edge"
            )
        if order > 1:
            raise Mistake(
                f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' instead of "
                f"{name}{order * chr(39)}"
            )
        if order == 1 and st.operator == "<=":
            raise Mistake(f"{name}' can be added to by an edge, not set: write {name}' +=")
        self._put_action(equation, edge, name, rate=order == 1, adds=st.operator == "+=")

    def _put_action(
        self, equation: _Equation, edge: Edge, name: str, *, rate: bool, adds: bool = True
    ) -> None:
        """Put the action that an equation means on an edge.

        name: the variable of its output node. rate: it acts on the rate of that. adds: it adds to what other
            edges do; if not, it sets the variable.
        """
        st = equation.statement
        action = Action(
            name,
            edge,
            mark=st.mark,
            context=equation.context,
            note=st.note,
            text=equation.text or "0",
            rate=rate,
            adds=adds,
            index=equation.index,
        )
        action.states = self._states(st, equation.context, equation.k)
        set_action(edge, action)

    def _set_rate(self, equation: _Equation) -> None:
        """Give the rate of a state. Of a derivative of higher order the lower ones are states too: x'' = -x
        makes x, and dx, which is the rate of x."""
        st, thing, name, order = equation.statement, equation.thing, equation.name, equation.order
        if isinstance(thing, Edge):
            if order > 1:
                raise Mistake(f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' +=")
            self._put_action(equation, thing, name, rate=True)
            return
        if not isinstance(thing, Node):
            raise Mistake(f"{thing!r} has no states: only nodes have")
        names = ["d" * i + name for i in range(order)]
        for i in range(order):
            self._put_state(equation, thing, names, i)
        if st.constraint is not None:
            constraint = self._constraint(st.constraint, name, equation.context)
            thing.variables[names[0]].constraint = constraint
        self._put_action(equation, thing.self_edge, names[-1], rate=True)

    def _put_state(self, equation: _Equation, node: Node, names: list[str], i: int) -> None:
        """Make the i-th of these names a state of a node, and the next its rate: each is the derivative of
        the one before."""
        st, context, name = equation.statement, equation.context, names[i]
        edge = node.self_edge
        old = node.variables.get(name)
        if old is None:
            # a derivative begins with zeros, as many as the state itself has entries
            size = node.variables[names[0]].text if i and names[0] in node.variables else "0"
            start = "0" if i == 0 or not _looks_like_matrix(size) else f"0 * ({size})"
            new = Variable(
                name, node, mark=st.mark, context=context, text=start, flags={"integrated"}, is_rate=i > 0
            )
            set_variable(node, new)
        elif not old.flags & {"integrated", "discrete"} or (i > 0 and not old.is_rate):
            flags = old.flags if "discrete" in old.flags else old.flags | {"integrated"}
            set_variable(node, replace(old, flags=set(flags), is_rate=old.is_rate or i > 0))
        self._set_flags(node.variables[name], st.flags)
        is_last = i + 1 == len(names)
        if not is_last and not any(a.rate and a.name == name for a in edge.actions.values()):
            set_action(edge, Action(name, edge, mark=st.mark, context=context, text=names[i + 1], rate=True))

    def set(self, statement: s.SetStatement, places: list[Place]) -> None:
        """Set variables that a selector finds; in an event, note what it sets when it happens."""

        def set_in(k: int, place: Place) -> None:
            selector = statement.selectors[k % len(statement.selectors)]
            if selector is None:
                return
            value = None if statement.values is None else statement.values[k % len(statement.values)]
            if isinstance(place.thing, NetworkEvent):
                if value is None:
                    raise Mistake("an event sets values, not flags")
                place.thing.sets.append(
                    Assignment(selector, place.context, text=value.text, mark=statement.mark)
                )
                return
            variables = [
                each
                for each in self.select.below(selector, place.thing, place.context)
                if isinstance(each.thing, (Variable, Alias))
            ]
            if not variables:
                self.warnings.append(
                    NetworkProblem(
                        f"nothing is set: the selector finds no variable in {place.thing!r}", selector.mark
                    )
                )
            for i, each in enumerate(variables):
                text = (
                    None
                    if value is None
                    else self._value_for_name(value.text, each.context, i=i, count=len(variables))
                )
                st = s.Assign(
                    [],
                    "=",
                    flags=statement.flags,
                    has_values=value is not None,
                    mark=statement.mark,
                    note=statement.note,
                )
                assert isinstance(each.thing, Item)
                self._set_variable(st, each.thing.owner, each.thing.name, text=text, context=each.context)

        self.for_each_place(places, statement.mark, set_in)


def _looks_like_matrix(text: str) -> bool:
    """Is a text anything but a single number?"""
    return not re.fullmatch(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*", text)
