"""Words of selectors that need no selector in brackets: they filter what was found, or lead on from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from strut.network.build.context import Expansion, plain_expansion
from strut.network.build.expansion import TextExpander
from strut.network.build.selected import Selected, Thing, children_of
from strut.network.lower.whole_numbers import whole
from strut.network.model import Edge, Node, Object, Variable
from strut.network.text.errors import Mistake
from strut.network.text.statements import SelectorStage


class SelectorWords:
    """A method for each word, `_` before its name, which returns what the word makes of a selection.

    root, templates: the nodes that hold everything else. texts: expands arguments. say: takes a line of what
        `debug` prints. from_set: what `from-set` means, while the ends of edges are selected.

    Every such method takes the step of the selector, what the steps before found, and `origin`, the thing
    where the whole selector began.
    """

    def __init__(self, root: Node, templates: Node, texts: TextExpander, say: Callable[[str], None]) -> None:
        self.root, self.templates, self.texts, self.say = root, templates, texts, say
        self.from_set: list[Selected] = []

    def _root(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The root of the network."""
        return [Selected(self.root, each.context) for each in selection[:1]]

    def _templates_root(
        self, stage: SelectorStage, selection: list[Selected], origin: Thing
    ) -> list[Selected]:
        """The root of templates."""
        return [Selected(self.templates, each.context) for each in selection[:1]]

    def _self(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Where the selector began."""
        return [Selected(origin, each.context) for each in selection]

    def _children(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """All children."""
        return [Selected(child, each.context) for each in selection for child in children_of(each.thing)]

    def _parent(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """What each thing stands in."""
        return [
            Selected(parent, each.context) for each in selection if (parent := each.thing.owner) is not None
        ]

    def _first(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The first thing."""
        return selection[:1]

    def _last(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The last thing."""
        return selection[-1:]

    def _reverse(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same in reverse order."""
        return selection[::-1]

    def _unique(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Each thing once, where it was found first."""
        first: dict[int, Selected] = {}
        for each in selection:
            first.setdefault(id(each.thing), each)
        return list(first.values())

    def _sort(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Sorted by the index of the innermost expansion."""

        def key(each: Selected) -> int:
            top = each.context.level(0)
            return top.indices[0] if top else 0

        return sorted(selection, key=key)

    def _debug(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same; its names are printed."""
        names = [
            repr(each.thing) if isinstance(each.thing, Object) else each.thing.name for each in selection
        ]
        self.say(f"{stage.mark}: {', '.join(names) or 'nothing'}")
        return selection

    def _imports(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Nodes that hold an imported file."""
        return [each for each in selection if isinstance(each.thing, Node) and each.thing.is_import]

    def _templates(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Things that stand below the root of templates."""
        return [each for each in selection if self.is_template(each.thing)]

    def is_template(self, thing: Thing) -> bool:
        """Does a thing stand below the root of templates?"""
        each = thing if isinstance(thing, Object) else thing.owner
        while each.parent is not None:
            each = each.parent
        return each is self.templates

    def _applied_templates(
        self, stage: SelectorStage, selection: list[Selected], origin: Thing
    ) -> list[Selected]:
        """Templates that were applied to each object."""
        return [
            Selected(t, each.context)
            for each in selection
            if isinstance(each.thing, Object)
            for t in each.thing.templates
        ]

    def _numbers(self, stage: SelectorStage, each: Selected | None, count: int) -> list[int | None]:
        """Return the numbers in the parentheses of a word, at most `count`, and None for those that are
        missing. 'odd' and 'even' stand for three."""
        values: list[int | None] = []
        for argument in (stage.arguments or ())[:count]:
            text = argument.stages[0].text
            if text in ("odd", "even"):
                return [1 if text == "odd" else 2, None, 2]
            values.append(
                whole(self.texts.calculate(self.texts.expand_one(text, each.context) if each else text))
            )
        return values + [None] * (3 - len(values))

    def _subset(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Every step-th thing from a number on (from 1), at most so many: subset(begin, most, step)."""
        begin, most, step = self._numbers(stage, selection[0] if selection else None, 3)
        begin, step = 1 if begin is None else begin, 1 if step is None else step
        if step == 0:
            raise Mistake("subset with a step of 0 selects nothing")
        chosen = [
            each for i, each in enumerate(selection, 1) if (i - begin) % step == 0 and (i - begin) / step >= 0
        ]
        return chosen if most is None or most < 0 else chosen[:most]

    def _siblings(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Things of the same kind beside each, counted from it: siblings(begin, most, step)."""
        result: list[Selected] = []
        for each in selection:
            parent = each.thing.owner
            if parent is None:
                continue
            same = [
                c
                for c in children_of(parent)
                if isinstance(c, type(each.thing)) and c.__class__ is each.thing.__class__
            ]
            here = next(i for i, c in enumerate(same) if c is each.thing)
            begin, most, step = self._numbers(stage, each, 3)
            begin, step = 1 if begin is None else begin, 1 if step is None else step
            if step == 0:
                raise Mistake("siblings with a step of 0 selects nothing")
            chosen = [
                c
                for i, c in enumerate(same)
                if (i - here - begin) % step == 0 and (i - here - begin) / step >= 0
            ]
            result.extend(
                Selected(c, each.context) for c in (chosen if most is None or most < 0 else chosen[:most])
            )
        return result

    def _input(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The node where each edge begins."""
        return [
            Selected(each.thing.input, each.context)
            for each in selection
            if isinstance(each.thing, Edge) and each.thing.input is not None
        ]

    def _output(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The node where each edge ends."""
        return [
            Selected(each.thing.output, each.context)
            for each in selection
            if isinstance(each.thing, Edge) and each.thing.output is not None
        ]

    def _inputs(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Edges that end at each node."""
        return [
            Selected(e, each.context)
            for each in selection
            if isinstance(each.thing, Node)
            for e in each.thing.inputs
        ]

    def _outputs(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Edges that begin at each node."""
        return [
            Selected(e, each.context)
            for each in selection
            if isinstance(each.thing, Node)
            for e in each.thing.outputs
        ]

    @staticmethod
    def _push_text(pairs: Iterable[tuple[Selected, str]]) -> list[Selected]:
        """Return things with one more expansion, the text; as it is no list, its index is 0."""
        return [Selected(each.thing, each.context.push(plain_expansion(text))) for each, text in pairs]

    def _name(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same; the name of each is pushed on its context."""
        return self._push_text((each, each.thing.name) for each in selection)

    def _input_name(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same edges; the name of the node where each begins is pushed."""
        return self._push_text(
            (each, each.thing.input.name)
            for each in selection
            if isinstance(each.thing, Edge) and each.thing.input is not None
        )

    def _output_name(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same edges; the name of the node where each ends is pushed."""
        return self._push_text(
            (each, each.thing.output.name)
            for each in selection
            if isinstance(each.thing, Edge) and each.thing.output is not None
        )

    def _type(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """The same; the kind of each is pushed on its context. Its index counts kinds, and the group behind
        it says how many things are of it."""
        kinds = [self.type_name(each.thing) for each in selection]
        order = list(dict.fromkeys(kinds))
        return [
            Selected(
                each.thing,
                each.context.push(Expansion((kind, str(kinds.count(kind))), (order.index(kind), 0))),
            )
            for each, kind in zip(selection, kinds, strict=True)
        ]

    def type_name(self, thing: Thing) -> str:
        """Return the word that selectors have for the kind of a thing."""
        if thing is self.root:
            return "root"
        return (
            thing.kind
            if isinstance(thing, Object)
            else type(thing).__name__.lower().replace("alias", "variable")
        )

    def _strings(self, stage: SelectorStage, each: Selected) -> bool:
        """Are the texts of a string test all true? One is, if it is neither empty nor 0."""
        texts = [
            self.texts.expand_one(argument.stages[0].text, each.context).strip()
            for argument in stage.arguments or ()
        ]
        return all(text not in ("", "0") for text in texts)

    def _ifstr(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Those for which the texts in parentheses are true."""
        return [each for each in selection if self._strings(stage, each)]

    def _notstr(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Those for which they are not all true."""
        return [each for each in selection if not self._strings(stage, each)]

    def _has_flag(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """Variables that have all these flags."""
        flags = {a.stages[0].text.lower() for a in stage.arguments or ()}
        return [each for each in selection if isinstance(each.thing, Variable) and flags <= each.thing.flags]

    def _append_context(
        self, stage: SelectorStage, selection: list[Selected], origin: Thing
    ) -> list[Selected]:
        """The same; the texts in parentheses are pushed on their contexts."""
        result = []
        for each in selection:
            context = each.context
            for argument in stage.arguments or ():
                texts = tuple(e.text for e in self.texts.expand_all(argument.stages[0].text, context))
                if texts:  # one expansion: its groups are the texts that follow the first
                    context = context.push(Expansion(texts, (0,) * len(texts)))
            result.append(Selected(each.thing, context))
        return result

    def _from_set(self, stage: SelectorStage, selection: list[Selected], origin: Thing) -> list[Selected]:
        """What the first selector of an edge found."""
        return list(self.from_set)
