"""Selectors: from some objects, step by step, to others, each with the expansions that led to it."""

from __future__ import annotations

from collections.abc import Callable

from strut.network.build.context import Context, Define, DefineScope, Expansion, Stack, plain_expansion
from strut.network.build.expansion import TextExpander, format_number
from strut.network.build.pattern import StepBudget, pattern
from strut.network.build.selected import Selected, Thing, child_order, children_named, children_of
from strut.network.build.selector_words import SelectorWords
from strut.network.model import Action, Alias, Edge, Function, Node, Object, Variable
from strut.network.text.errors import LimitExceeded, MissingExpansion, Mistake, NetworkProblem
from strut.network.text.statements import Selector, SelectorStage

MAX_SELECTED = 5_000_000
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


class SelectorRunner(SelectorWords):
    """Runs selectors in a network."""

    def __init__(
        self,
        root: Node,
        templates: Node,
        texts: TextExpander,
        say: Callable[[str], None],
        warn: Callable[[NetworkProblem], None] = lambda _: None,
    ) -> None:
        super().__init__(root, templates, texts, say)
        self.warn = warn
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
                raise LimitExceeded("selectors nest deeper than 60 levels", selector.mark)
            found = start
            for k, stage in enumerate(selector.stages):
                below = stage.child or (k == 0 and implicit)
                try:
                    found = self._stage(stage, found, origin, below)
                except Mistake as mistake:
                    mistake.at(stage.mark)
                    raise
                if len(found) > MAX_SELECTED:
                    raise LimitExceeded(f"a selector finds more than {MAX_SELECTED} things", stage.mark)
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
                _number_groups(self._regex(stage, found))
                if stage.kind == "regex"
                else self._word(stage, found, origin)
            )
        return [self._add_label(stage.label, f) for f in result] if stage.label else result

    @staticmethod
    def _add_label(label: str, f: Selected) -> Selected:
        top = f.context.level(0)
        texts = top.texts if top else (f.thing.name,)
        scope = DefineScope(
            f.context.scope, {label: Define(texts[0], texts[1:], top.indices[0] if top else 0)}
        )
        return Selected(f.thing, Context(scope, f.context.stack))

    # ---- names ----

    def _text(self, stage: SelectorStage, found: list[Selected], below: bool) -> list[Selected]:
        result: list[Selected] = []
        plain_name = None if any(c in stage.text for c in "@${}\\") else plain_expansion(stage.text)
        for f in found:
            names = [plain_name] if plain_name else self._names(stage, f.context)
            if below:
                matches = [(child, e) for e in names for child in children_named(f.thing, e.text)]
                if len(matches) > 1:
                    matches.sort(key=lambda m: child_order(m[0]))
            else:
                matches = [(f.thing, e) for e in names if e.text == f.thing.name]
            result.extend(Selected(child, f.context.push(e)) for child, e in matches)
        return result

    def _names(self, stage: SelectorStage, context: Context) -> list[Expansion]:
        """The names a text stands for; none, and a warning, where it refers to what was not expanded."""
        try:
            return self.texts.expand_all(stage.text, context)
        except MissingExpansion as missing:
            self.warn(NetworkProblem(f"{missing}; nothing is selected", stage.mark))
            return []

    def _regex(self, stage: SelectorStage, found: list[Selected]) -> list[Selected]:
        result: list[Selected] = []
        for f in found:
            text = (
                self.texts.fill_references(stage.text.replace("\\", "\\\\"), f.context)
                if "@" in stage.text or "$(" in stage.text
                else stage.text
            )
            groups = pattern(text).groups(f.thing.name, self.budget)
            if groups is not None:
                result.append(
                    Selected(f.thing, f.context.push(Expansion(groups, (len(result),) * len(groups))))
                )
        return result

    # ---- words, those with selectors in brackets ----

    def _word(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        word = stage.text
        if word in KINDS:
            return [f for f in found if isinstance(f.thing, KINDS[word])]
        handler = getattr(self, "_" + word.replace("-", "_"), None)
        if handler is None:
            raise Mistake(f"'{word}' is no selector")
        return handler(stage, found, origin)

    def _count(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        if not stage.arguments:
            return [
                Selected(f.thing, f.context.push(plain_expansion(str(len(found)), k)))
                for k, f in enumerate(found)
            ]
        result = []
        for f in found:
            for argument in stage.arguments:
                only = argument.stages[0]
                if len(argument.stages) == 1 and only.kind == "text" and any(c in only.text for c in "@${}"):
                    n = len(self.texts.expand_all(only.text, f.context))
                else:
                    n = len(self.at(argument, f, origin))
                result.append(Selected(f.thing, f.context.push(plain_expansion(format_number(n)))))
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
                if len(result) > MAX_SELECTED:
                    raise LimitExceeded(f"a selector finds more than {MAX_SELECTED} things")
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
                ours, theirs, shared = _split_stacks(first.context.stack, f.context.stack)
                context = Context(first.context.scope, shared)
                both = context
                for e in (*reversed(theirs), *reversed(ours)):
                    both = both.push(e)
                text = self.texts.expand_one(stage.arguments[1].stages[0].text, both)
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


def _number_groups(found: list[Selected]) -> list[Selected]:
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


def _split_stacks(a: Stack, b: Stack) -> tuple[list[Expansion], list[Expansion], Stack]:
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
