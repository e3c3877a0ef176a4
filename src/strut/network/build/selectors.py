"""Runs selectors: they lead from some objects, step by step, to others, each with the expansions on the
way."""

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
"""Number of things that a selector finds, at most."""
MAX_SELECTOR_DEPTH = 60
"""Levels of selectors inside selectors, at most."""
KINDS: dict[str, tuple[type, ...]] = {
    "nodes": (Node,),
    "edges": (Edge,),
    "objects": (Object,),
    "variables": (Variable, Alias),
    "actions": (Action,),
    "functions": (Function,),
}
"""Words that select things of some classes."""

UPWARD = ("self", "parent", "root", "templates-root", "from-set")
"""Words that lead to the same things from every child: they are run once for all children of a thing."""
WordHandler = Callable[[SelectorStage, list[Selected], Thing], list[Selected]]
"""What runs a word: it takes the step, what the steps before found, and where the selector began."""


class SelectorRunner(SelectorWords):
    """Runs selectors in a network; `warn` takes what is noticed, `budget` is what patterns may still cost."""

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
        """Return what a selector finds among the children of a thing."""
        return self._run(selector, [Selected(thing, context)], thing, below=True)

    def at(self, selector: Selector, start: Selected, origin: Thing) -> list[Selected]:
        """Return what an argument of a word finds, beginning at a thing itself; `self` stays where the whole
        selector began."""
        return self._run(selector, [start], origin, below=False)

    def _run(
        self, selector: Selector, start: list[Selected], origin: Thing, *, below: bool
    ) -> list[Selected]:
        """Run the steps of a selector one after the other. below: the first leads to the children of the
        start. Raises `LimitExceeded` if it nests too deep, or finds too much."""
        self.depth += 1
        try:
            if self.depth > MAX_SELECTOR_DEPTH:
                raise LimitExceeded(f"selectors nest deeper than {MAX_SELECTOR_DEPTH} levels", selector.mark)
            selection = start
            for k, stage in enumerate(selector.stages):
                children = stage.child or (k == 0 and below)
                try:
                    selection = self._stage(stage, selection, origin, below=children)
                except Mistake as mistake:
                    mistake.at(stage.mark)
                    raise
                if len(selection) > MAX_SELECTED:
                    raise LimitExceeded(f"a selector finds more than {MAX_SELECTED} things", stage.mark)
            return selection
        finally:
            self.depth -= 1

    def _stage(
        self, stage: SelectorStage, selection: list[Selected], origin: Thing, *, below: bool
    ) -> list[Selected]:
        """Run one step on what the steps before found, or on the children of that (`below`)."""
        if stage.kind == "text":
            result = self._text(stage, selection, below)
        else:
            if below:
                start = selection
                selection = [
                    Selected(child, each.context) for each in start for child in children_of(each.thing)
                ]
                if stage.kind == "word" and stage.text in UPWARD:
                    selection = selection[:1] or (start if stage.text != "parent" else [])
            result = (
                _number_groups(self._regex(stage, selection))
                if stage.kind == "regex"
                else self._word(stage, selection, origin)
            )
        return [self._add_label(stage.label, each) for each in result] if stage.label else result

    @staticmethod
    def _add_label(label: str, each: Selected) -> Selected:
        """Define what was matched last, under a label, in the scope of a thing that was found."""
        top = each.context.level(0)
        texts = top.texts if top else (each.thing.name,)
        scope = DefineScope(
            each.context.scope, {label: Define(texts[0], texts[1:], top.indices[0] if top else 0)}
        )
        return Selected(each.thing, Context(scope, each.context.stack))

    # ---- names ----

    def _text(self, stage: SelectorStage, selection: list[Selected], below: bool) -> list[Selected]:
        """Return the things, or their children, that have the name a text stands for."""
        result: list[Selected] = []
        plain_name = None if any(c in stage.text for c in "@${}\\") else plain_expansion(stage.text)
        for each in selection:
            names = [plain_name] if plain_name else self._names(stage, each.context)
            if below:
                matches = [(child, e) for e in names for child in children_named(each.thing, e.text)]
                if len(matches) > 1:
                    matches.sort(key=lambda m: child_order(m[0]))
            else:
                matches = [(each.thing, e) for e in names if e.text == each.thing.name]
            result.extend(Selected(child, each.context.push(e)) for child, e in matches)
        return result

    def _names(self, stage: SelectorStage, context: Context) -> list[Expansion]:
        """Return the names a text stands for; none, and a warning, where it refers to what was not
        expanded."""
        try:
            return self.texts.expand_all(stage.text, context)
        except MissingExpansion as missing:
            self.warn(NetworkProblem(f"{missing}; nothing is selected", stage.mark))
            return []

    def _regex(self, stage: SelectorStage, selection: list[Selected]) -> list[Selected]:
        """Return the things whose names a pattern matches, with its groups."""
        result: list[Selected] = []
        for each in selection:
            text = (
                self.texts.fill_references(stage.text.replace("\\", "\\\\"), each.context)
                if "@" in stage.text or "$(" in stage.text
                else stage.text
            )
            groups = pattern(text).groups(each.thing.name, self.budget)
            if groups is not None:
                result.append(
                    Selected(each.thing, each.context.push(Expansion(groups, (len(result),) * len(groups))))
                )
        return result

    # ---- words, those with selectors in brackets ----

    def _word(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Run the method for a word. Raises `Mistake` if there is none."""
        word = stage.text
        if word in KINDS:
            return [each for each in selection if isinstance(each.thing, KINDS[word])]
        handler: WordHandler | None = getattr(self, "_" + word.replace("-", "_"), None)
        if handler is None:
            raise Mistake(f"'{word}' is no selector")
        return handler(stage, selection, origin)

    def _count(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same; how many things there are, or how many an argument finds, is pushed on their contexts."""
        if not stage.arguments:
            return [
                Selected(each.thing, each.context.push(plain_expansion(str(len(selection)), k)))
                for k, each in enumerate(selection)
            ]
        result = []
        for each in selection:
            for argument in stage.arguments:
                only = argument.stages[0]
                if len(argument.stages) == 1 and only.kind == "text" and any(c in only.text for c in "@${}"):
                    n = len(self.texts.expand_all(only.text, each.context))
                else:
                    n = len(self.at(argument, each, origin))
                result.append(Selected(each.thing, each.context.push(plain_expansion(format_number(n)))))
        return result

    def _if(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Those from which one of the arguments finds something, with the context it was found in."""
        result = []
        for each in selection:
            for argument in stage.arguments or ():
                inner = self.at(argument, each, origin)
                if inner:
                    result.append(Selected(each.thing, inner[0].context))
                    break
        return result

    def _not(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Those from which one of the arguments finds nothing."""
        return [
            each
            for each in selection
            if any(not self.at(argument, each, origin) for argument in stage.arguments or ())
        ]

    def _has_template(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Objects that follow one of the templates in parentheses, directly or not."""
        result = []
        for each in selection:
            if isinstance(each.thing, Object):
                ancestry = {id(t) for t in each.thing.ancestry()}
                templates = [w for a in stage.arguments or () for w in self.find_templates(a, each)]
                if any(id(w.thing) in ancestry for w in templates):
                    result.append(each)
        return result

    def find_templates(self, selector: Selector, each: Selected) -> list[Selected]:
        """Return the templates that a selector means: those beside a template first, then from the root of
        templates."""
        if isinstance(each.thing, Object) and self.is_template(each.thing):
            around = each.thing.parent
            while around is not None and around is not self.templates:
                inner = self._run(selector, [Selected(around, each.context)], around, below=True)
                if inner:
                    return inner
                around = around.parent
        return self._run(selector, [Selected(self.templates, each.context)], self.templates, below=True)

    def _recurse(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Each thing, and what an argument finds from it, again and again (depth first)."""
        if not stage.arguments:
            raise Mistake("recurse needs a selector: recurse(children | nodes)")
        result: list[Selected] = []
        for each, argument in ((each, argument) for each in selection for argument in stage.arguments):
            seen: set[int] = set()
            waiting = [each]
            while waiting:
                current = waiting.pop()
                if id(current.thing) in seen:
                    continue
                seen.add(id(current.thing))
                result.append(current)
                waiting.extend(
                    Selected(g.thing, current.context) for g in reversed(self.at(argument, current, origin))
                )
                if len(result) > MAX_SELECTED:
                    raise LimitExceeded(f"a selector finds more than {MAX_SELECTED} things")
        return result

    def _reduce(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """One of all: a selector makes one of two, again and again (a left fold). The text of a second
        argument sees the expansions of the first, and behind them those of the second; it takes the place of
        all that the first had for itself."""
        if not selection or not stage.arguments:
            return selection
        result = selection[0]
        for each in selection[1:]:
            first, pair = result, self._run(stage.arguments[0], [result, each], origin, below=False)
            if not pair:
                return []
            result = pair[0]
            # the text sees both stacks above what they share, and replaces what the first had for itself
            if len(stage.arguments) > 1:
                ours, theirs, shared = _split_stacks(first.context.stack, each.context.stack)
                context = Context(first.context.scope, shared)
                both = context
                for e in (*reversed(theirs), *reversed(ours)):
                    both = both.push(e)
                text = self.texts.expand_one(stage.arguments[1].stages[0].text, both)
                for e in reversed(ours):
                    context = context.push(Expansion((text,) * len(e.texts), e.indices))
                result = Selected(result.thing, context)
        return [result]

    def _xor(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """What an odd number of the arguments finds."""
        result: dict[int, Selected] = {}
        for argument in stage.arguments or ():
            for each in [x for g in selection for x in self.at(argument, g, origin)]:
                if id(each.thing) in result:
                    del result[id(each.thing)]
                else:
                    result[id(each.thing)] = each
        return list(result.values())


def _number_groups(selection: list[Selected]) -> list[Selected]:
    """Give every group of what a pattern matched its index, which counts the different texts that the group
    had."""
    seen: list[dict[str, int]] = []
    result: list[Selected] = []
    for each in selection:
        assert each.context.stack is not None
        match, outer = each.context.stack
        seen.extend({} for _ in range(len(match.texts) - 1 - len(seen)))
        indices = (
            group.setdefault(text, len(group)) for group, text in zip(seen, match.texts[1:], strict=False)
        )
        with_indices = Expansion(match.texts, (match.indices[0], *indices))
        result.append(Selected(each.thing, Context(each.context.scope, (with_indices, outer))))
    return result


def _split_stacks(a: Stack, b: Stack) -> tuple[list[Expansion], list[Expansion], Stack]:
    """Return what each of two stacks has for itself, innermost first, and what they share."""
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
