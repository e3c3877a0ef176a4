"""Selectors: from some objects, step by step, to others, each with the expansions that led to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from strut.network.build.context import Context, Define, DefineScope, Expansion, Stack, plain
from strut.network.build.expansion import Texts, written
from strut.network.build.pattern import StepBudget, pattern
from strut.network.lower.whole_numbers import whole
from strut.network.model import Action, Alias, Edge, Function, Item, NetworkEvent, Node, Object, Variable
from strut.network.text.errors import Missing, Mistake, NetworkProblem, TooMuch
from strut.network.text.statements import Selector, SelectorStage

Thing = Object | Item
"""What a selector finds: an object, a variable, a function, an action or an interface name."""

MOST = 5_000_000
"""A selector finds no more."""
KINDS: dict[str, tuple[type, ...]] = {
    "nodes": (Node,),
    "edges": (Edge,),
    "objects": (Object,),
    "variables": (Variable, Alias),
    "actions": (Action,),
    "functions": (Function,),
}

UPWARD = ("self", "parent", "root", "templates-root", "from-set")
"""Words that lead to the same things from every child: from the children of a thing they are taken once."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A thing, and the context it was found in."""

    thing: Thing
    context: Context


def name_of(thing: Thing) -> str:
    return thing.name


def parent_of(thing: Thing) -> Object | None:
    return thing.owner


def children_of(thing: Thing) -> Iterable[Thing]:
    """Child objects, then variables, interface names and functions, then actions."""
    if isinstance(thing, Object):
        if isinstance(thing, Node):
            yield from thing.children.values()
            yield from thing.functions.values()
        yield from thing.variables.values()
        if isinstance(thing, Node):
            yield from thing.aliases.values()
        if isinstance(thing, Edge):
            yield from thing.actions.values()


def _named(thing: Thing, name: str) -> Iterable[Thing]:
    """The children of that name."""
    if isinstance(thing, Node):
        for table in (thing.children, thing.functions):
            if name in table:
                yield table[name]  # type: ignore[index]
    if isinstance(thing, Object) and name in thing.variables:
        yield thing.variables[name]
    if isinstance(thing, Node) and name in thing.aliases:
        yield thing.aliases[name]
    if isinstance(thing, Edge):
        yield from (a for a in thing.actions.values() if a.name == name)
    if isinstance(thing, NetworkEvent) and thing.parent is not None and name not in thing.variables:
        yield from _named(thing.parent, name)


def _order(thing: Thing) -> tuple[int, int]:
    group = (
        0
        if isinstance(thing, Object)
        else 1
        if isinstance(thing, Function)
        else 2
        if isinstance(thing, Variable)
        else 3
    )
    return (group, thing.serial)


class Select:
    """Runs selectors in a network."""

    def __init__(
        self,
        root: Node,
        templates: Node,
        texts: Texts,
        say: Callable[[str], None],
        warn: Callable[[NetworkProblem], None] = lambda _: None,
    ) -> None:
        self.root, self.templates, self.texts, self.say, self.warn = root, templates, texts, say, warn
        self.from_set: list[Selected] = []
        self.depth = 0
        self.budget = StepBudget()

    def below(self, selector: Selector, thing: Thing, context: Context) -> list[Selected]:
        """What a selector finds among the children of a thing."""
        return self._run(selector, [Selected(thing, context)], thing, True)

    def at(self, selector: Selector, found: Selected, origin: Thing) -> list[Selected]:
        """What an argument of a word finds, beginning at a thing itself; `self` stays where the whole
        selector began."""
        return self._run(selector, [found], origin, False)

    def _run(
        self, selector: Selector, start: list[Selected], origin: Thing, implicit: bool
    ) -> list[Selected]:
        self.depth += 1
        try:
            if self.depth > 60:
                raise TooMuch("selectors nest deeper than 60 levels", selector.mark)
            found = start
            for k, stage in enumerate(selector.stages):
                below = stage.child or (k == 0 and implicit)
                try:
                    found = self._stage(stage, found, origin, below)
                except Mistake as mistake:
                    mistake.at(stage.mark)
                    raise
                if len(found) > MOST:
                    raise TooMuch(f"a selector finds more than {MOST} things", stage.mark)
            return found
        finally:
            self.depth -= 1

    def _stage(
        self, stage: SelectorStage, found: list[Selected], origin: Thing, below: bool
    ) -> list[Selected]:
        if stage.kind == "text":
            result = self._text(stage, found, below)
        else:
            if below:
                start, found = (
                    found,
                    [Selected(child, f.context) for f in found for child in children_of(f.thing)],
                )
                if stage.kind == "word" and stage.text in UPWARD:
                    found = found[:1] or (start if stage.text != "parent" else [])
            result = (
                _numbered(self._regex(stage, found))
                if stage.kind == "regex"
                else self._word(stage, found, origin)
            )
        return [self._labelled(stage.label, f) for f in result] if stage.label else result

    @staticmethod
    def _labelled(label: str, f: Selected) -> Selected:
        top = f.context.level(0)
        texts = top.texts if top else (f.thing.name,)
        scope = DefineScope(
            f.context.scope, {label: Define(texts[0], texts[1:], top.indices[0] if top else 0)}
        )
        return Selected(f.thing, Context(scope, f.context.stack))

    # ---- names ----

    def _text(self, stage: SelectorStage, found: list[Selected], below: bool) -> list[Selected]:
        result: list[Selected] = []
        plain_name = None if any(c in stage.text for c in "@${}\\") else plain(stage.text)
        for f in found:
            names = [plain_name] if plain_name else self._names(stage, f.context)
            if below:
                matches = [(child, e) for e in names for child in _named(f.thing, e.text)]
                if len(matches) > 1:
                    matches.sort(key=lambda m: _order(m[0]))
            else:
                matches = [(f.thing, e) for e in names if e.text == f.thing.name]
            result.extend(Selected(child, f.context.push(e)) for child, e in matches)
        return result

    def _names(self, stage: SelectorStage, context: Context) -> list[Expansion]:
        """The names a text stands for; none, and a warning, where it refers to what was not expanded."""
        try:
            return self.texts.all(stage.text, context)
        except Missing as missing:
            self.warn(NetworkProblem(f"{missing}; nothing is selected", stage.mark))
            return []

    def _regex(self, stage: SelectorStage, found: list[Selected]) -> list[Selected]:
        result: list[Selected] = []
        for f in found:
            text = (
                self.texts.whole(stage.text.replace("\\", "\\\\"), f.context)
                if "@" in stage.text or "$(" in stage.text
                else stage.text
            )
            groups = pattern(text).groups(f.thing.name, self.budget)
            if groups is not None:
                result.append(
                    Selected(f.thing, f.context.push(Expansion(groups, (len(result),) * len(groups))))
                )
        return result

    # ---- words ----

    def _word(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        word = stage.text
        if word in KINDS:
            return [f for f in found if isinstance(f.thing, KINDS[word])]
        handler = getattr(self, "_" + word.replace("-", "_"), None)
        if handler is None:
            raise Mistake(f"'{word}' is no selector")
        return handler(stage, found, origin)

    def _root(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(self.root, f.context) for f in found[:1]]

    def _templates_root(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(self.templates, f.context) for f in found[:1]]

    def _self(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(origin, f.context) for f in found]

    def _children(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(child, f.context) for f in found for child in children_of(f.thing)]

    def _parent(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(parent, f.context) for f in found if (parent := parent_of(f.thing)) is not None]

    def _first(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return found[:1]

    def _last(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return found[-1:]

    def _reverse(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return found[::-1]

    def _unique(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        seen: set[int] = set()
        return [f for f in found if not (id(f.thing) in seen or seen.add(id(f.thing)))]  # type: ignore[func-returns-value]

    def _sort(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        def key(f: Selected) -> int:
            top = f.context.level(0)
            return top.indices[0] if top else 0

        return sorted(found, key=key)

    def _debug(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        self.say(
            f"{stage.mark}: "
            f"{', '.join(repr(f.thing) if isinstance(f.thing, Object) else f.thing.name for f in found) or 'nothing'}"
        )
        return found

    def _imports(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if isinstance(f.thing, Node) and f.thing.is_import]

    def _templates(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if self.is_template(f.thing)]

    def is_template(self, thing: Thing) -> bool:
        each = thing if isinstance(thing, Object) else thing.owner
        while each.parent is not None:
            each = each.parent
        return each is self.templates

    def _applied_templates(
        self, stage: SelectorStage, found: list[Selected], origin: Thing
    ) -> list[Selected]:
        return [
            Selected(t, f.context) for f in found if isinstance(f.thing, Object) for t in f.thing.templates
        ]

    def _numbers(self, stage: SelectorStage, f: Selected | None, count: int) -> list[int | None]:
        values: list[int | None] = []
        for argument in (stage.arguments or ())[:count]:
            text = argument.stages[0].text
            if text in ("odd", "even"):
                return [1 if text == "odd" else 2, None, 2]
            values.append(whole(self.texts.calculate(self.texts.one(text, f.context) if f else text)))
        return values + [None] * (3 - len(values))

    def _subset(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        begin, most, step = self._numbers(stage, found[0] if found else None, 3)
        begin, step = 1 if begin is None else begin, 1 if step is None else step
        if step == 0:
            raise Mistake("subset with a step of 0 selects nothing")
        chosen = [f for i, f in enumerate(found, 1) if (i - begin) % step == 0 and (i - begin) / step >= 0]
        return chosen if most is None or most < 0 else chosen[:most]

    def _siblings(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result: list[Selected] = []
        for f in found:
            parent = parent_of(f.thing)
            if parent is None:
                continue
            same = [
                c
                for c in children_of(parent)
                if isinstance(c, type(f.thing)) and c.__class__ is f.thing.__class__
            ]
            here = next(i for i, c in enumerate(same) if c is f.thing)
            begin, most, step = self._numbers(stage, f, 3)
            begin, step = 1 if begin is None else begin, 1 if step is None else step
            if step == 0:
                raise Mistake("siblings with a step of 0 selects nothing")
            chosen = [
                c
                for i, c in enumerate(same)
                if (i - here - begin) % step == 0 and (i - here - begin) / step >= 0
            ]
            result.extend(
                Selected(c, f.context) for c in (chosen if most is None or most < 0 else chosen[:most])
            )
        return result

    def _input(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [
            Selected(f.thing.input, f.context)
            for f in found
            if isinstance(f.thing, Edge) and f.thing.input is not None
        ]

    def _output(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [
            Selected(f.thing.output, f.context)
            for f in found
            if isinstance(f.thing, Edge) and f.thing.output is not None
        ]

    def _inputs(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(e, f.context) for f in found if isinstance(f.thing, Node) for e in f.thing.inputs]

    def _outputs(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(e, f.context) for f in found if isinstance(f.thing, Node) for e in f.thing.outputs]

    def _pushed(self, found: list[Selected], text: Callable[[Selected], str]) -> list[Selected]:
        """With one more expansion; as it is no list, its index is 0."""
        return [Selected(f.thing, f.context.push(plain(text(f)))) for f in found]

    def _name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return self._pushed(found, lambda f: f.thing.name)

    def _input_name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        edges = [f for f in found if isinstance(f.thing, Edge) and f.thing.input is not None]
        return self._pushed(edges, lambda f: f.thing.input.name)  # type: ignore[union-attr]

    def _output_name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        edges = [f for f in found if isinstance(f.thing, Edge) and f.thing.output is not None]
        return self._pushed(edges, lambda f: f.thing.output.name)  # type: ignore[union-attr]

    def _type(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        """With the kind of each thing: its index counts kinds, and the group behind it says how many things
        are of it."""
        kinds = [self.type_name(f.thing) for f in found]
        order = list(dict.fromkeys(kinds))
        return [
            Selected(
                f.thing, f.context.push(Expansion((kind, str(kinds.count(kind))), (order.index(kind), 0)))
            )
            for f, kind in zip(found, kinds, strict=True)
        ]

    def type_name(self, thing: Thing) -> str:
        if thing is self.root:
            return "root"
        return (
            thing.kind
            if isinstance(thing, Object)
            else type(thing).__name__.lower().replace("alias", "variable")
        )

    def _count(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        if not stage.arguments:
            return [Selected(f.thing, f.context.push(plain(str(len(found)), k))) for k, f in enumerate(found)]
        result = []
        for f in found:
            for argument in stage.arguments:
                only = argument.stages[0]
                if len(argument.stages) == 1 and only.kind == "text" and any(c in only.text for c in "@${}"):
                    n = len(self.texts.all(only.text, f.context))
                else:
                    n = len(self.at(argument, f, origin))
                result.append(Selected(f.thing, f.context.push(plain(written(n)))))
        return result

    def _if(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result = []
        for f in found:
            for argument in stage.arguments or ():
                inner = self.at(argument, f, origin)
                if inner:
                    result.append(Selected(f.thing, inner[0].context))
                    break
        return result

    def _not(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [
            f for f in found if any(not self.at(argument, f, origin) for argument in stage.arguments or ())
        ]

    def _strings(self, stage: SelectorStage, f: Selected) -> bool:
        """Are the texts of a string test all true? One is, if it is neither empty nor 0."""
        texts = [
            self.texts.one(argument.stages[0].text, f.context).strip() for argument in stage.arguments or ()
        ]
        return all(text not in ("", "0") for text in texts)

    def _ifstr(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if self._strings(stage, f)]

    def _notstr(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if not self._strings(stage, f)]

    def _has_flag(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        flags = {a.stages[0].text.lower() for a in stage.arguments or ()}
        return [f for f in found if isinstance(f.thing, Variable) and flags <= f.thing.flags]

    def _has_template(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result = []
        for f in found:
            if isinstance(f.thing, Object):
                ancestry = {id(t) for t in f.thing.ancestry()}
                wanted = [w for a in stage.arguments or () for w in self.template(a, f)]
                if any(id(w.thing) in ancestry for w in wanted):
                    result.append(f)
        return result

    def template(self, selector: Selector, f: Selected) -> list[Selected]:
        """Templates a selector means: those beside a template first, then from the root of templates."""
        if isinstance(f.thing, Object) and self.is_template(f.thing):
            around = f.thing.parent
            while around is not None and around is not self.templates:
                inner = self._run(selector, [Selected(around, f.context)], around, True)
                if inner:
                    return inner
                around = around.parent
        return self._run(selector, [Selected(self.templates, f.context)], self.templates, True)

    def _recurse(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        if not stage.arguments:
            raise Mistake("recurse needs a selector: recurse(children | nodes)")
        result: list[Selected] = []
        for f, argument in ((f, argument) for f in found for argument in stage.arguments):
            seen: set[int] = set()
            waiting = [f]
            while waiting:
                each = waiting.pop()
                if id(each.thing) in seen:
                    continue
                seen.add(id(each.thing))
                result.append(each)
                waiting.extend(
                    Selected(g.thing, each.context) for g in reversed(self.at(argument, each, origin))
                )
                if len(result) > MOST:
                    raise TooMuch(f"a selector finds more than {MOST} things")
        return result

    def _reduce(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        """Two become one, again and again. The text of a second argument sees the expansions of the first,
        and behind them those of the second; it takes the place of all that the first had for itself."""
        if not found or not stage.arguments:
            return found
        result = found[0]
        for f in found[1:]:
            first, pair = result, self._run(stage.arguments[0], [result, f], origin, False)
            if not pair:
                return []
            result = pair[0]
            if len(stage.arguments) > 1:
                ours, theirs, shared = _apart(first.context.stack, f.context.stack)
                context = Context(first.context.scope, shared)
                both = context
                for e in (*reversed(theirs), *reversed(ours)):
                    both = both.push(e)
                text = self.texts.one(stage.arguments[1].stages[0].text, both)
                for e in reversed(ours):
                    context = context.push(Expansion((text,) * len(e.texts), e.indices))
                result = Selected(result.thing, context)
        return [result]

    def _xor(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result: dict[int, Selected] = {}
        for argument in stage.arguments or ():
            for f in [x for g in found for x in self.at(argument, g, origin)]:
                if id(f.thing) in result:
                    del result[id(f.thing)]
                else:
                    result[id(f.thing)] = f
        return list(result.values())

    def _append_context(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result = []
        for f in found:
            context = f.context
            for argument in stage.arguments or ():
                texts = tuple(e.text for e in self.texts.all(argument.stages[0].text, context))
                if texts:  # one expansion: its groups are the texts that follow the first
                    context = context.push(Expansion(texts, (0,) * len(texts)))
            result.append(Selected(f.thing, context))
        return result

    def _from_set(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return list(self.from_set)


def _numbered(found: list[Selected]) -> list[Selected]:
    """What a pattern matched, with the index of every group: it counts the different texts that the group
    had."""
    seen: list[dict[str, int]] = []
    result: list[Selected] = []
    for f in found:
        assert f.context.stack is not None
        match, outer = f.context.stack
        seen.extend({} for _ in range(len(match.texts) - 1 - len(seen)))
        indices = (
            group.setdefault(text, len(group)) for group, text in zip(seen, match.texts[1:], strict=False)
        )
        numbered = Expansion(match.texts, (match.indices[0], *indices))
        result.append(Selected(f.thing, Context(f.context.scope, (numbered, outer))))
    return result


def _apart(a: Stack, b: Stack) -> tuple[list[Expansion], list[Expansion], Stack]:
    """What each of two stacks has for itself, innermost first, and what they share."""
    cells: set[int] = set()
    each = a
    while each is not None:
        cells.add(id(each))
        each = each[1]
    theirs: list[Expansion] = []
    while b is not None and id(b) not in cells:
        theirs.append(b[0])
        b = b[1]
    ours: list[Expansion] = []
    while a is not None and a is not b:
        ours.append(a[0])
        a = a[1]
    return ours, theirs, b
