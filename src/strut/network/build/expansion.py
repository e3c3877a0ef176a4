"""Texts with something in them: references `@1`, calculations `$(...)`, choices `$$(a,b,c)` and generators
`{...}`.

A text is first split into parts, once. To expand it in a context, references and calculations are put in as
text, then its braces are expanded; what follows `|` and `||` inside braces waits for the elements it maps and
reduces.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable

from strut.network.build.context import Context, Define, Expansion, plain_expansion
from strut.network.build.text_parts import (
    LITERAL,
    MAX_TEXT_DEPTH,
    SPECIAL,
    Calculation,
    Choice,
    Filter,
    Part,
    Reference,
    closing_index,
    ellipsize,
    split,
    unhide,
)
from strut.network.lower.whole_numbers import whole
from strut.network.text.errors import LimitExceeded, MissingExpansion, Mistake

MAX_NAMES = 200_000
"""One generator makes no more names."""
MAX_EXPANDED_TEXT = 10_000_000
"""No text grows longer [characters]."""
FILTER_MARK = "\ue000"
RANGE_PATTERN = re.compile(r"^\s*([+-]?\d+)\s*:\s*([+-]?\d+|\+-\d+)\s*(?::\s*([+-]?\d+)\s*)?$")
REPEAT_PATTERN = re.compile(r"^\s*(\d+)\s*\*(.*)$", re.S)


class TextExpander:
    """Expands texts; `calculate` is what `$(...)` means."""

    def __init__(self, calculate: Callable[[str], float]) -> None:
        self.calculate = calculate
        self.depth = 0
        self.names_made = 0

    def expand_one(self, text: str, context: Context) -> str:
        """The text a value stands for; a generator with several results is a mistake."""
        if not SPECIAL.search(text):
            return text
        found = self.expand_all(text, context)
        if len(found) == 1:
            return found[0].text
        raise Mistake(f"'{ellipsize(text)}' makes {len(found)} texts where one is needed")

    def expand_all(self, text: str, context: Context) -> list[Expansion]:
        """Every text that a text generates."""
        if not SPECIAL.search(text):
            return [plain_expansion(text)]
        self.depth += 1
        try:
            if self.depth > MAX_TEXT_DEPTH:
                raise LimitExceeded(
                    f"'{ellipsize(text)}' is expanded inside itself more than {MAX_TEXT_DEPTH} times: a map refers to "
                    f"itself"
                )
            filters: list[Filter] = []
            flat = self._flatten(split(text), context, filters)
            found = self._expand(flat, filters, context)
        finally:
            self.depth -= 1
        return found

    def fill_references(self, text: str, context: Context) -> str:
        """References and calculations put in, braces left as they are."""
        return unhide(self._flatten(split(text), context, []))

    # ---- references and calculations ----

    def _flatten(self, parts: tuple[Part, ...], context: Context, filters: list[Filter]) -> str:
        """One text of all parts. The last is read first: what a counter adds is seen by what stands to its
        left."""
        out: list[str] = []
        for part in reversed(parts):
            if isinstance(part, str):
                out.append(part)
            elif isinstance(part, Reference):
                out.append(self._look_up(part, context))
            elif isinstance(part, Calculation):
                summands = [self._summand(p, context) for p in reversed(part.parts)]
                out.append(format_number(self.calculate("".join(reversed(summands)))))
            elif isinstance(part, Choice):
                condition, yes, no = part.branches
                chosen = yes if whole(self.calculate(unhide(self._flatten(condition, context, [])))) else no
                out.append(self._flatten(chosen, context, []).strip())
            elif isinstance(part, Filter):
                out.append(f"{FILTER_MARK}{len(filters)}{FILTER_MARK}")
                filters.append(part)
            else:
                out.append(",".join(e.text for e in self.expand_all(part.text, context)))
        flat = "".join(reversed(out))
        if len(flat) > MAX_EXPANDED_TEXT:
            raise LimitExceeded(f"a text grows beyond {MAX_EXPANDED_TEXT} characters: '{ellipsize(flat)}'")
        return flat

    def _summand(self, part: Part, context: Context) -> str:
        """A part of a calculation: what is empty counts as 0."""
        text = unhide(self._flatten((part,), context, []))
        return text if isinstance(part, str) or text else "0"

    def _look_up(self, reference: Reference, context: Context) -> str:
        index = None if reference.index is None else unhide(self._flatten(reference.index, context, []))
        key = unhide(self._flatten(reference.key, context, []))
        return (
            self._group(reference, whole(key), index, context)
            if key.isdecimal()
            else self._define(key, index, context)
        )

    def _group(self, reference: Reference, group: int, index: str | None, context: Context) -> str:
        expansion = context.level(reference.depth)
        exists = expansion is not None and group < len(expansion.texts)
        if index == "?":
            return str(int(exists and expansion is not None and expansion.texts[group] != ""))
        if index == "~":
            return str(len(expansion.texts) if expansion else 0)
        if index == "!":
            return str(expansion.indices[group] if exists and expansion else 0)
        if expansion is None or not exists:
            around = context.trail()
            raise MissingExpansion(
                f"expansion '{reference.source_text}' does not exist: "
                + (f"here are {around}" if around else "nothing was expanded here")
            )
        return expansion.texts[group]

    def _define(self, name: str, index: str | None, context: Context) -> str:
        define = context.scope.get(name)
        if index is None:
            return define.text if define else ""
        if index == "?":
            return str(int(define is not None and define.text != ""))
        if index[:1] in ("+", "-") and not (index[0] == "-" and index[1:].isdecimal()):
            return self._count(name, index, define, context)
        items = define.items() if define else ()
        if index == "~":
            return str(len(items))
        if index == "!":
            return str(define.index if define else 0)
        if index.startswith("!"):
            return str(items.index(index[1:]) if index[1:] in items else -1)
        if index == ",":
            return ",".join(LITERAL[","].join(item.split(",")) for item in items)
        try:
            k = whole(self.calculate(index))
        except Mistake as mistake:
            raise Mistake(f"'{index}' is no index of the define '{name}': {mistake}") from mistake
        if k == 0:
            return define.text if define else ""
        k = k - 1 if k > 0 else len(items) + k
        return items[k] if 0 <= k < len(items) else ""

    def _count(self, name: str, index: str, define: Define | None, context: Context) -> str:
        """`@c[+5]` is what c was, and adds 5; every further sign adds as much again: `@c[++]` adds 2,
        `@c[++5]` 10."""
        signs = len(index) - len(index.lstrip("+-"))
        digits = index.lstrip("+-")
        by = whole(digits or 1) * signs * (1 if index[0] == "+" else -1)
        before = self.calculate(define.text) if define and define.text else 0
        context.scope.values[name] = Define(format_number(before + by))
        return format_number(before)

    # ---- braces ----

    def _expand(self, flat: str, filters: list[Filter], context: Context) -> list[Expansion]:
        if "{" not in flat:
            return [plain_expansion(unhide(flat))]
        pieces: list[list[tuple[str, int]]] = []
        groups: list[bool] = []
        i = 0
        while i < len(flat):
            opening = flat.find("{", i)
            if opening < 0:
                pieces.append([(flat[i:], 0)])
                groups.append(False)
                break
            if opening > i:
                pieces.append([(flat[i:opening], 0)])
                groups.append(False)
            end = closing_index(flat, opening, "{}")
            elements = self._expand_brace(flat[opening + 1 : end], filters, context)
            pieces.append([(e.text, k) for k, e in enumerate(elements)])
            groups.append(True)
            i = end + 1
        count = 1
        for piece in pieces:
            count *= len(piece)
        self.names_made += count
        if count > MAX_NAMES or self.names_made > 20 * MAX_NAMES:
            raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{ellipsize(unhide(flat))}'")
        found = []
        for k, combination in enumerate(itertools.product(*pieces)):
            chosen = [piece for piece, group in zip(combination, groups, strict=True) if group]
            texts = (unhide("".join(t for t, _ in combination)), *(unhide(t) for t, _ in chosen))
            found.append(Expansion(texts, (k, *(n for _, n in chosen))))
        return found

    def _expand_brace(self, inside: str, filters: list[Filter], context: Context) -> list[Expansion]:
        """The elements between two braces, mapped and reduced."""
        body, *chain = inside.split(FILTER_MARK, 1)
        elements: list[Expansion] = []
        for item in _list_items(body):
            elements.extend(self._expand_item(item, filters, context))
            if len(elements) > MAX_NAMES:
                raise LimitExceeded(
                    f"a generator makes more than {MAX_NAMES} names: '{{{ellipsize(inside)}}}'"
                )
        if chain and elements:
            listed = tuple(unhide(e.text) for e in elements)
            around = context.push(
                Expansion(listed, (0,) * len(listed))
            )  # what a reduction finds at @@: the whole list
        for number in re.findall(
            f"{FILTER_MARK}([0-9]+){FILTER_MARK}", FILTER_MARK + chain[0] if chain else ""
        ):
            rule = filters[int(number)]
            if rule.reduces:
                elements = self._reduce_elements(elements, rule, around) if elements else []
            else:
                elements = self._map_elements(elements, rule, context)
        return elements

    def _map_elements(self, elements: list[Expansion], rule: Filter, context: Context) -> list[Expansion]:
        inner = context.inner()  # what a map counts, it counts for itself
        return [new for e in elements for new in self.expand_all(rule.text, inner.push(_visible(e)))]

    def _reduce_elements(self, elements: list[Expansion], rule: Filter, context: Context) -> list[Expansion]:
        result = unhide(elements[0].text)
        inner = context.inner()
        for e in elements[1:]:
            result = self.expand_one(rule.text, inner.push(Expansion((result, unhide(e.text)), (0, 0))))
            if len(result) > MAX_EXPANDED_TEXT:
                raise LimitExceeded(
                    f"a reduction grows beyond {MAX_EXPANDED_TEXT} characters: '{ellipsize(result)}'"
                )
        return [plain_expansion(result)]

    def _expand_item(self, item: str, filters: list[Filter], context: Context) -> list[Expansion]:
        found = RANGE_PATTERN.match(item)
        if found:
            return [plain_expansion(str(n)) for n in _range(found[1], found[2], found[3])]
        found = REPEAT_PATTERN.match(item)
        if found:
            if whole(found[1]) > MAX_NAMES:
                raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{{{ellipsize(item)}}}'")
            return [plain_expansion(found[2]) for _ in range(whole(found[1]))]
        return self._expand(item, filters, context) if "{" in item else [plain_expansion(item)]


def _visible(e: Expansion) -> Expansion:
    return Expansion(tuple(unhide(t) for t in e.texts), e.indices)


def _list_items(body: str) -> list[str]:
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(body):
        if c in "{}":
            depth += 1 if c == "{" else -1
        elif c == "," and depth == 0:
            pieces.append(body[start:i])
            start = i + 1
    return [piece.strip() for piece in (*pieces, body[start:])] if pieces else [body]


def _range(first: str, second: str, third: str | None) -> range:
    """`a:b`, `a:+n`, `a:step:b`, both ends included."""
    start = whole(first)
    step, last = (1, second) if third is None else (whole(second), third)
    end = start + whole(last.removeprefix("+")) if last[0] in "+-" and third is None else whole(last)
    if step == 0:
        raise Mistake(f"'{{{first}:{second}:{third}}}' has a step of 0: it never ends")
    count = range(start, end + (1 if step > 0 else -1), step)
    if len(count) > MAX_NAMES:
        raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{{{first}:{last}}}'")
    return count


def format_number(value: float) -> str:
    """The shortest text of a number that reads back the same."""
    return (
        str(int(value))
        if value == value and abs(value) < 1e15 and value == int(value)
        else repr(float(value))
    )
