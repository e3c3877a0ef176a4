"""Statements that set variables, and let edges act on them."""

from __future__ import annotations

import re
from dataclasses import replace

from strut.network.build.context import Context, Expansion, plain_expansion
from strut.network.build.statement_runner import INDEXED_NAME, VARIABLE_NAME, Place, StatementRunner
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


class VariableStatements(StatementRunner):
    """Variables, equations and actions."""

    # ---- variables and actions ----

    def assign(self, statement: s.Assign, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
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
                text = None if value is None else self._value(value.text, context, i, len(names))
                self._set(statement, name, e, text, place.thing, context, k)

        self.each(places, statement.mark, one)

    def _value(self, text: str, context: Context, i: int, count: int) -> str:
        """The value of the i-th name: one for all, or one each."""
        if not SPECIAL.search(text):
            return text
        values = self.texts.expand_all(text, context)
        if len(values) == 1:
            return values[0].text
        if len(values) == count:
            return values[i].text
        raise Mistake(f"{count} name(s) but {len(values)} values: give one value, or one for each name")

    def _set(
        self,
        st: s.Assign,
        name: s.NameText,
        e: Expansion,
        text: str | None,
        thing: Object,
        context: Context,
        k: int,
    ) -> None:
        plain_name, order, index = self._split_name(name, e.text, context)
        if st.operator in ("+=", "<="):
            self._act(st, thing, plain_name, order, index, text or "0", context, k)
        elif order:
            self._derive(st, thing, plain_name, order, index, text or "0", context, k)
        else:
            self._define(st, thing, plain_name, text, context)

    def _split_name(self, name: s.NameText, text: str, context: Context) -> tuple[str, int, str]:
        index = self.texts.expand_one(name.index, context) if name.index else ""
        found = INDEXED_NAME.match(text)
        if found and not index:
            text, index = found[1], found[2]
        primes = len(text) - len(text.rstrip("'"))
        text, dotted = dots(text.rstrip("'"))
        if not VARIABLE_NAME.match(text):
            raise Mistake(
                f"'{text}' is no name of a variable: letters, digits and _ are, beginning with a letter",
                name.text.mark,
            )
        return text, check_order(name.order + primes + dotted), index[1:-1].strip() if index else ""

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
            if not st.has_values and st.flags:
                raise Mistake(f"there is no variable '{name}' in {thing!r} to give flags to")
            text = "0"
        new = Variable(
            name,
            thing,
            st.mark,
            context,
            None,
            st.note or (old.note if old else ""),
            text=old.text if text is None and old else text or "",
        )
        if old is not None:
            new.flags, new.constraint, new.serial = set(old.flags), old.constraint, old.serial
            new.is_rate = old.is_rate
            if text is None:
                new.mark, new.context = old.mark, old.context
        self._flags(new, st.flags)
        if st.constraint is not None:
            new.constraint = self._constraint(st.constraint, name, context)
        new.origin = matching_template_variable(thing, new)
        set_variable(thing, new)

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
        values = [self.texts.expand_one(t.text, context) for t in texts]
        if kind == "":
            return values[0]
        return f"{'clip' if kind == ',' else 'cycle'}({name}, {values[0]}, {values[1]})"

    def _states(self, st: s.Assign, context: Context, k: int) -> tuple[str, ...]:
        if st.states is None:
            header = context.scope.get("\0state")
            return tuple(header.text.split(",")) if header and header.text else ()
        text = st.states[k % len(st.states)]
        return () if text is None else tuple(self.names(text, context))

    def _act(
        self,
        st: s.Assign,
        thing: Object,
        name: str,
        order: int,
        index: str,
        text: str,
        context: Context,
        k: int,
    ) -> None:
        if not isinstance(thing, Edge):
            raise Mistake(
                f"'{name} {st.operator}' acts on the output of an edge, but {thing!r} is no edge: write it "
                f"in an edge"
            )
        if order > 1:
            raise Mistake(
                f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' instead of "
                f"{name}{order * chr(39)}"
            )
        if order == 1 and st.operator == "<=":
            raise Mistake(f"{name}' can be added to by an edge, not set: write {name}' +=")
        action = Action(
            name,
            thing,
            st.mark,
            context,
            None,
            st.note,
            text=text,
            rate=order == 1,
            adds=st.operator == "+=",
            index=index,
        )
        action.states = self._states(st, context, k)
        set_action(thing, action)

    def _derive(
        self,
        st: s.Assign,
        thing: Object,
        name: str,
        order: int,
        index: str,
        text: str,
        context: Context,
        k: int,
    ) -> None:
        if isinstance(thing, Edge):
            if order > 1:
                raise Mistake(f"an edge acts on first derivatives: write d{'d' * (order - 2)}{name}' +=")
            action = Action(name, thing, st.mark, context, None, st.note, text=text, rate=True, index=index)
            action.states = self._states(st, context, k)
            set_action(thing, action)
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
                new = Variable(each, thing, st.mark, context, text=start, flags={"integrated"}, is_rate=i > 0)
                set_variable(thing, new)
            elif not old.flags & {"integrated", "discrete"} or (i > 0 and not old.is_rate):
                flags = old.flags if "discrete" in old.flags else old.flags | {"integrated"}
                set_variable(thing, replace(old, flags=set(flags), is_rate=old.is_rate or i > 0))
            variable = thing.variables[each]
            self._flags(variable, st.flags)
            if i + 1 < order and not any(a.rate and a.name == each for a in edge.actions.values()):
                set_action(edge, Action(each, edge, st.mark, context, text=names[i + 1], rate=True))
        if st.constraint is not None:
            thing.variables[names[0]].constraint = self._constraint(st.constraint, name, context)
        action = Action(names[-1], edge, st.mark, context, None, st.note, text=text, rate=True, index=index)
        action.states = self._states(st, context, k)
        set_action(edge, action)

    def set(self, statement: s.SetStatement, places: list[Place]) -> None:
        def one(k: int, place: Place) -> None:
            selector = statement.selectors[k % len(statement.selectors)]
            if selector is None:
                return
            value = None if statement.values is None else statement.values[k % len(statement.values)]
            if isinstance(place.thing, NetworkEvent):
                if value is None:
                    raise Mistake("an event sets values, not flags")
                place.thing.sets.append(Assignment(selector, place.context, value.text, statement.mark))
                return
            found = [
                f
                for f in self.select.below(selector, place.thing, place.context)
                if isinstance(f.thing, (Variable, Alias))
            ]
            if not found:
                self.warnings.append(
                    NetworkProblem(
                        f"nothing is set: the selector finds no variable in {place.thing!r}", selector.mark
                    )
                )
            for i, f in enumerate(found):
                text = None if value is None else self._value(value.text, f.context, i, len(found))
                st = s.Assign(
                    [],
                    "=",
                    flags=statement.flags,
                    has_values=value is not None,
                    mark=statement.mark,
                    note=statement.note,
                )
                assert isinstance(f.thing, Item)
                self._define(st, f.thing.owner, f.thing.name, text, f.context)

        self.each(places, statement.mark, one)


def _looks_like_matrix(text: str) -> bool:
    return not re.fullmatch(r"\s*[-+]?[\d.]+(?:[eE][-+]?\d+)?\s*", text)
