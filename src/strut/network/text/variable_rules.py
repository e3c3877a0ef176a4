"""Rules of the grammar for values and names, and for statements about variables and functions."""

from __future__ import annotations

from dataclasses import replace

from lark import Token

from strut.network.text import statements as s
from strut.network.text.rule_parts import (
    ConstraintTexts,
    Flags,
    ImplicitArguments,
    IndexText,
    Part,
    Parts,
    Primes,
    StateNames,
    ValueList,
    first_of,
    head_of,
    list_entries,
    text_of,
    value_texts,
)


class VariableRules:
    """Values, names, assignments, functions and polynomials."""

    # ---- values and names ----

    def single(self, parts: Parts) -> ValueList:
        """Read one value."""
        return ValueList([text_of(parts[0])])

    def values(self, parts: Parts) -> ValueList:
        """Read `[a, b]`, a value for each name or object in turn."""
        return ValueList(None if p is None else text_of(p) for p in list_entries(parts))

    def soft(self, parts: Parts) -> Part:
        """Read a word of selectors that may be a name too."""
        return parts[0]

    def primes(self, parts: Parts) -> Primes:
        """Count primes: `x''` has two."""
        return Primes(len(parts))

    def index(self, parts: Parts) -> IndexText:
        """Read an index in brackets, as text."""
        return IndexText(
            "".join(p[1:-1] if isinstance(p, Token) and p.type == "STRING" else str(p) for p in parts)
        )

    def name(self, parts: Parts) -> s.NameText:
        """Read a name with its primes and index."""
        return s.NameText(
            text=text_of(parts[0]),
            order=int(first_of(parts, Primes) or 0),
            index=str(first_of(parts, IndexText) or ""),
            note=parts[0].note,
        )

    def names(self, parts: Parts) -> list[s.NameText | None]:
        """Read `[a, b]`, a name for each object in turn."""
        return list_entries(parts)

    # ---- variables ----

    def assignment(self, parts: Parts) -> Part:
        """Read `=`, `?=`, `+=` or `<=`."""
        return parts[0]

    def assign(self, parts: Parts) -> s.Assign:
        """Read `names = values | flags (constraint) state names`."""
        return s.Assign(
            names=parts[0] if isinstance(parts[0], list) else [parts[0]],
            operator=str(parts[1]),
            values=list(parts[2]),
            flags=tuple(first_of(parts, Flags) or ()),
            constraint=first_of(parts, ConstraintTexts),
            states=first_of(parts, StateNames),
            **head_of(parts[0]),
        )

    def flag_assignment(self, parts: Parts) -> s.Assign:
        """Read `names | flags`, which leaves the values as they are."""
        names = parts[0] if isinstance(parts[0], list) else [parts[0]]
        return s.Assign(names, flags=tuple(parts[1]), has_values=False, **head_of(parts[0]))

    def flags(self, parts: Parts) -> Flags:
        """Read `| +in, -out`."""
        return Flags(p for p in parts if not isinstance(p, Token))

    def flag(self, parts: Parts) -> s.Flag:
        """Read one flag and its sign."""
        sign = "-" if parts[0].type == "MINUS" else "+"
        return (sign, str(parts[-1]).lower())

    def constraint(self, parts: Parts) -> ConstraintTexts:
        """Read `(text)`, `(least, most)` or `(begin : end)` behind a value."""
        separator = next((str(p) for p in parts if isinstance(p, Token) and p.type in ("COMMA", "COLON")), "")
        return ConstraintTexts((separator, tuple(value_texts(parts))))

    def state(self, parts: Parts) -> StateNames:
        """Read `state "names"`: the discrete states in which something holds."""
        return StateNames(parts[1])

    def set(self, parts: Parts) -> s.SetStatement:
        """Read `set selector = values | flags`."""
        values = first_of(parts, ValueList)
        return s.SetStatement(
            list(parts[1]),
            None if values is None else list(values),
            tuple(first_of(parts, Flags) or ()),
            **head_of(parts[0]),
        )

    # ---- functions ----

    def argument(self, parts: Parts) -> s.ArgumentText:
        """Read an argument of a function, perhaps with its default: `x = 1`."""
        name, primes = text_of(parts[0]), int(first_of(parts, Primes) or 0)
        default = text_of(parts[-1]) if isinstance(parts[-2] if len(parts) > 1 else None, Token) else None
        return s.ArgumentText("", replace(name, text=name.text + "'" * primes) if primes else name, default)

    def caller(self, parts: Parts) -> s.ArgumentText:
        """Read an implicit argument, perhaps with where it is looked for: `input.x = 1`."""
        default = text_of(parts[-1]) if len(parts) > 2 and parts[-2].type == "EQUALS" else None
        dotted = len(parts) > 2 and parts[1].type == "DOT"
        return s.ArgumentText(
            str(parts[0]).lower() if dotted else "", text_of(parts[2 if dotted else 0]), default
        )

    def implicit(self, parts: Parts) -> ImplicitArguments:
        """Read the second parentheses of a function."""
        return ImplicitArguments(p for p in parts if isinstance(p, s.ArgumentText))

    def function(self, parts: Parts) -> s.FunctionStatement:
        """Read `f(x)(implicit) = value`."""
        return s.FunctionStatement(
            name=text_of(parts[0]),
            order=int(first_of(parts, Primes) or 0),
            arguments=[p for p in parts if isinstance(p, s.ArgumentText)],
            implicit=list(first_of(parts, ImplicitArguments) or ()),
            operator=str(parts[-2]),
            value=text_of(parts[-1]),
            **head_of(parts[0]),
        )

    def piece(self, parts: Parts) -> list[s.Text]:
        """Read `piece from a to b = c0, c1`: beginning, end and coefficients."""
        return value_texts(parts)

    def polynomial(self, parts: Parts) -> s.PolynomialStatement:
        """Read `polynomial name() { ... }`."""
        return s.PolynomialStatement(
            text_of(parts[1]), [p for p in parts if isinstance(p, list)], **head_of(parts[0])
        )
