"""Expands texts: references `@1`, calculations `$(...)`, choices `$$(a,b,c)` and generators
`{...}`.

A text is first split into parts, once. To expand it in a context, references and calculations are put in as
text, then its braces are expanded; what follows `|` and `||` inside braces waits for the elements it maps and
reduces.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable

from strut.network.build.context import Context, Define, Expansion, plain_expansion
from strut.network.build.text_parts import (
    HIDDEN_CHARACTERS,
    MAX_TEXT_DEPTH,
    SPECIAL,
    Calculation,
    Choice,
    Filter,
    Part,
    Reference,
    closing_index,
    ellipsize,
    split_text,
    unhide,
)
from strut.network.lower.whole_numbers import whole
from strut.network.text.errors import LimitExceeded, MissingExpansion, Mistake

MAX_NAMES = 200_000
"""Number of names that one generator makes, at most."""
MAX_NAMES_OF_ALL = 20 * MAX_NAMES
"""Number of names that all generators of a model make together, at most."""
MAX_EXPANDED_TEXT = 10_000_000
"""Length of a text once it is expanded, at most [characters]."""
FILTER_MARK = "\ue000"
"""A character that no text has: between two of them stands the number of a filter that waits."""
RANGE_PATTERN = re.compile(r"^\s*([+-]?\d+)\s*:\s*([+-]?\d+|\+-\d+)\s*(?::\s*([+-]?\d+)\s*)?$")
"""`a:b`, `a:+n` or `a:step:b` in braces."""
REPEAT_PATTERN = re.compile(r"^\s*(\d+)\s*\*(.*)$", re.S)
"""`n*text` in braces: the same text n times."""


class TextExpander:
    """Expands texts.

    calculate: returns the number that the inside of `$(...)` stands for. depth: how many expansions are
        nested. names_made: how many names generators made so far.
    """

    def __init__(self, calculate: Callable[[str], float]) -> None:
        self.calculate = calculate
        self.depth = 0
        self.names_made = 0

    def expand_one(self, text: str, context: Context) -> str:
        """Return the one text that a text stands for. Raises `Mistake` if it generates several."""
        if not SPECIAL.search(text):
            return text
        expansions = self.expand_all(text, context)
        if len(expansions) == 1:
            return expansions[0].text
        raise Mistake(f"'{ellipsize(text)}' makes {len(expansions)} texts where one is needed")

    def expand_all(self, text: str, context: Context) -> list[Expansion]:
        """Return every text that a text generates. Raises `LimitExceeded` if they are too many, too long, or
        nested too deep."""
        if not SPECIAL.search(text):
            return [plain_expansion(text)]
        self.depth += 1
        try:
            if self.depth > MAX_TEXT_DEPTH:
                raise LimitExceeded(
                    f"'{ellipsize(text)}' is expanded inside itself more than {MAX_TEXT_DEPTH} times: a map "
                    f"refers to itself"
                )
            filters: list[Filter] = []
            flat = self._flatten(split_text(text), context, filters)
            return self._expand(flat, filters, context)
        finally:
            self.depth -= 1

    def fill_references(self, text: str, context: Context) -> str:
        """Return a text with its references and calculations put in, and its braces left as they are."""
        return unhide(self._flatten(split_text(text), context, []))

    # ---- references and calculations ----

    def _flatten(self, parts: tuple[Part, ...], context: Context, filters: list[Filter]) -> str:
        """Return one text of all parts, in which braces are not expanded yet; what follows bars in them is
        added to `filters`. The last part is read first: what a counter adds is seen by what stands to its
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
        """Return a part of a calculation as text: what is empty counts as 0."""
        text = unhide(self._flatten((part,), context, []))
        return text if isinstance(part, str) or text else "0"

    def _look_up(self, reference: Reference, context: Context) -> str:
        """Return the text that a reference stands for: a group of an expansion, or a define."""
        index = None if reference.index is None else unhide(self._flatten(reference.index, context, []))
        key = unhide(self._flatten(reference.key, context, []))
        return (
            self._group_text(reference, group=whole(key), index=index, context=context)
            if key.isdecimal()
            else self._define_text(key, index, context)
        )

    def _group_text(self, reference: Reference, group: int, index: str | None, context: Context) -> str:
        """Return a group of an expansion. index: "?" asks whether it is there and not empty, "~" for the
        number of groups, "!" for its index. Raises `MissingExpansion` if it is not there."""
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

    def _define_text(self, name: str, index: str | None, context: Context) -> str:
        """Return the text of a define, empty if there is none. index: "?" asks whether it is there and not
        empty, "~" for the number of elements, "!" for its index, "!text" for the number of an element, ","
        for all elements as one text, a number for an element (from 1, negative from the end); signs count."""
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
            return ",".join(HIDDEN_CHARACTERS[","].join(item.split(",")) for item in items)
        try:
            k = whole(self.calculate(index))
        except Mistake as mistake:
            raise Mistake(f"'{index}' is no index of the define '{name}': {mistake}") from mistake
        if k == 0:
            return define.text if define else ""
        k = k - 1 if k > 0 else len(items) + k
        return items[k] if 0 <= k < len(items) else ""

    def _count(self, name: str, index: str, define: Define | None, context: Context) -> str:
        """Return what a counter is, and add to it: `@c[+5]` adds 5; every further sign adds as much again:
        `@c[++]` adds 2, `@c[++5]` 10."""
        signs = len(index) - len(index.lstrip("+-"))
        digits = index.lstrip("+-")
        by = whole(digits or 1) * signs * (1 if index[0] == "+" else -1)
        before = self.calculate(define.text) if define and define.text else 0
        context.scope.values[name] = Define(format_number(before + by))
        return format_number(before)

    # ---- braces ----

    def _expand(self, flat: str, filters: list[Filter], context: Context) -> list[Expansion]:
        """Expand the braces of a text: return every combination of their elements. The groups of each are the
        elements that were chosen."""
        if "{" not in flat:
            return [plain_expansion(unhide(flat))]
        pieces, is_group = self._pieces(flat, filters, context)
        count = math.prod(len(piece) for piece in pieces)
        self.names_made += count
        if count > MAX_NAMES or self.names_made > MAX_NAMES_OF_ALL:
            raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{ellipsize(unhide(flat))}'")
        expansions = []
        for k, combination in enumerate(itertools.product(*pieces)):
            chosen = [piece for piece, group in zip(combination, is_group, strict=True) if group]
            texts = (unhide("".join(t for t, _ in combination)), *(unhide(t) for t, _ in chosen))
            expansions.append(Expansion(texts, (k, *(n for _, n in chosen))))
        return expansions

    def _pieces(
        self, flat: str, filters: list[Filter], context: Context
    ) -> tuple[list[list[tuple[str, int]]], list[bool]]:
        """Split a text at its outermost braces. Return, piece by piece, the texts it may be with their
        indices, and whether it stands in braces."""
        pieces: list[list[tuple[str, int]]] = []
        is_group: list[bool] = []
        i = 0
        while i < len(flat):
            opening = flat.find("{", i)
            if opening < 0:
                pieces.append([(flat[i:], 0)])
                is_group.append(False)
                break
            if opening > i:
                pieces.append([(flat[i:opening], 0)])
                is_group.append(False)
            end = closing_index(flat, opening, "{}")
            elements = self._expand_brace(flat[opening + 1 : end], filters, context)
            pieces.append([(e.text, k) for k, e in enumerate(elements)])
            is_group.append(True)
            i = end + 1
        return pieces, is_group

    def _expand_brace(self, inside: str, filters: list[Filter], context: Context) -> list[Expansion]:
        """Return the elements between two braces, mapped and reduced."""
        body, *chain = inside.split(FILTER_MARK, 1)
        elements: list[Expansion] = []
        for item in _list_items(body):
            elements.extend(self._expand_item(item, filters, context))
            if len(elements) > MAX_NAMES:
                raise LimitExceeded(
                    f"a generator makes more than {MAX_NAMES} names: '{{{ellipsize(inside)}}}'"
                )
        if chain and elements:  # what a reduction finds at @@: the whole list
            texts = tuple(unhide(e.text) for e in elements)
            around = context.push(Expansion(texts, (0,) * len(texts)))
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
        """Replace each element by what the text of a map makes of it."""
        inner = context.inner()  # what a map counts, it counts for itself
        return [new for e in elements for new in self.expand_all(rule.text, inner.push(_visible(e)))]

    def _reduce_elements(self, elements: list[Expansion], rule: Filter, context: Context) -> list[Expansion]:
        """Make one element of all: the text of a reduction makes one of two, again and again (a left
        fold)."""
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
        """Return the elements that one entry between commas stands for: a range, a repetition, or a text."""
        numbers = RANGE_PATTERN.match(item)
        if numbers:
            return [plain_expansion(str(n)) for n in _range(numbers[1], numbers[2], numbers[3])]
        repeat = REPEAT_PATTERN.match(item)
        if repeat:
            times = whole(repeat[1])
            if times > MAX_NAMES:
                raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{{{ellipsize(item)}}}'")
            return [plain_expansion(repeat[2]) for _ in range(times)]
        return self._expand(item, filters, context) if "{" in item else [plain_expansion(item)]


def _visible(e: Expansion) -> Expansion:
    """Return an expansion with hidden characters as what they stand for."""
    return Expansion(tuple(unhide(t) for t in e.texts), e.indices)


def _list_items(body: str) -> list[str]:
    """Return the entries between commas that stand in no inner braces, without blanks around them if there
    are several."""
    pieces, depth, start = [], 0, 0
    for i, c in enumerate(body):
        if c in "{}":
            depth += 1 if c == "{" else -1
        elif c == "," and depth == 0:
            pieces.append(body[start:i])
            start = i + 1
    return [piece.strip() for piece in (*pieces, body[start:])] if pieces else [body]


def _range(first: str, second: str, third: str | None) -> range:
    """Return the numbers of `a:b`, `a:+n` or `a:step:b`, both ends included."""
    start = whole(first)
    step, last = (1, second) if third is None else (whole(second), third)
    end = start + whole(last.removeprefix("+")) if last[0] in "+-" and third is None else whole(last)
    if step == 0:
        raise Mistake(f"'{{{first}:{second}:{third}}}' has a step of 0: it never ends")
    numbers = range(start, end + (1 if step > 0 else -1), step)
    if len(numbers) > MAX_NAMES:
        raise LimitExceeded(f"a generator makes more than {MAX_NAMES} names: '{{{first}:{last}}}'")
    return numbers


def format_number(value: float) -> str:
    """Return the shortest text of a number that reads back the same."""
    return (
        str(int(value))
        if value == value and abs(value) < 1e15 and value == int(value)
        else repr(float(value))
    )
