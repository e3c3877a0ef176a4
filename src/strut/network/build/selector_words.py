"""Words of selectors that need no selector in brackets: they filter what was found, or lead on from it."""

from __future__ import annotations

from collections.abc import Callable

from strut.network.build.context import Expansion, plain_expansion
from strut.network.build.expansion import TextExpander
from strut.network.build.selected import Selected, Thing, children_of
from strut.network.lower.whole_numbers import whole
from strut.network.model import Edge, Node, Object, Variable
from strut.network.text.errors import Mistake
from strut.network.text.statements import SelectorStage


class SelectorWords:
    """A method for each word, `_` before its name: what it makes of the things found so far; `origin` is
    where the whole selector began."""

    def __init__(self, root: Node, templates: Node, texts: TextExpander, say: Callable[[str], None]) -> None:
        self.root, self.templates, self.texts, self.say = root, templates, texts, say
        self.from_set: list[Selected] = []

    def _root(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(self.root, f.context) for f in found[:1]]

    def _templates_root(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(self.templates, f.context) for f in found[:1]]

    def _self(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(origin, f.context) for f in found]

    def _children(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(child, f.context) for f in found for child in children_of(f.thing)]

    def _parent(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [Selected(parent, f.context) for f in found if (parent := f.thing.owner) is not None]

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
        shown = [repr(f.thing) if isinstance(f.thing, Object) else f.thing.name for f in found]
        self.say(f"{stage.mark}: {', '.join(shown) or 'nothing'}")
        return found

    def _imports(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if isinstance(f.thing, Node) and f.thing.is_import]

    def _templates(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if self.is_template(f.thing)]

    def is_template(self, thing: Thing) -> bool:
        """Does a thing stand below the root of templates?"""
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
            values.append(whole(self.texts.calculate(self.texts.expand_one(text, f.context) if f else text)))
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
            parent = f.thing.owner
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

    def _push_text(self, found: list[Selected], text: Callable[[Selected], str]) -> list[Selected]:
        """With one more expansion; as it is no list, its index is 0."""
        return [Selected(f.thing, f.context.push(plain_expansion(text(f)))) for f in found]

    def _name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return self._push_text(found, lambda f: f.thing.name)

    def _input_name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        edges = [f for f in found if isinstance(f.thing, Edge) and f.thing.input is not None]
        return self._push_text(edges, lambda f: f.thing.input.name)  # type: ignore[union-attr]

    def _output_name(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        edges = [f for f in found if isinstance(f.thing, Edge) and f.thing.output is not None]
        return self._push_text(edges, lambda f: f.thing.output.name)  # type: ignore[union-attr]

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
        """The word that selectors have for the kind of a thing."""
        if thing is self.root:
            return "root"
        return (
            thing.kind
            if isinstance(thing, Object)
            else type(thing).__name__.lower().replace("alias", "variable")
        )

    def _strings(self, stage: SelectorStage, f: Selected) -> bool:
        """Are the texts of a string test all true? One is, if it is neither empty nor 0."""
        texts = [
            self.texts.expand_one(argument.stages[0].text, f.context).strip()
            for argument in stage.arguments or ()
        ]
        return all(text not in ("", "0") for text in texts)

    def _ifstr(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if self._strings(stage, f)]

    def _notstr(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return [f for f in found if not self._strings(stage, f)]

    def _has_flag(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        flags = {a.stages[0].text.lower() for a in stage.arguments or ()}
        return [f for f in found if isinstance(f.thing, Variable) and flags <= f.thing.flags]

    def _append_context(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        result = []
        for f in found:
            context = f.context
            for argument in stage.arguments or ():
                texts = tuple(e.text for e in self.texts.expand_all(argument.stages[0].text, context))
                if texts:  # one expansion: its groups are the texts that follow the first
                    context = context.push(Expansion(texts, (0,) * len(texts)))
            result.append(Selected(f.thing, context))
        return result

    def _from_set(self, stage: SelectorStage, found: list[Selected], origin: Thing) -> list[Selected]:
        return list(self.from_set)
