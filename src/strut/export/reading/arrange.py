"""Equations arranged as in textbooks: products of sines become sines of sums, accelerations first, torques to
the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from strut.export.reading.to_sympy import sympy_module
from strut.extras import optional_module

WRITTEN_DIGITS = 12
"""Significant digits of a number in LaTeX: the rest is rounding of what it was computed from. SymPy keeps
all."""
MAX_SIMPLIFIED = 250
"""Operations of a rate that SymPy still simplifies; beyond, that takes minutes."""


@dataclass(frozen=True, eq=False)
class EquationRow:
    """One equation: the terms on its left, in order, and its right side."""

    terms: tuple[Any, ...]
    right: Any

    @property
    def left(self) -> Any:
        """The left side, as one expression."""
        return sum(self.terms[1:], start=self.terms[0])

    def latex(self, names: Mapping[Any, str]) -> str:
        """The row as LaTeX, & before the sign of equality."""
        sp = sympy_module()

        def write(term: Any) -> str:
            return write_latex(sp, term, names)

        text = write(self.terms[0])
        for term in self.terms[1:]:
            minus = term.could_extract_minus_sign()
            text += f" {'-' if minus else '+'} {write(-term if minus else term)}"
        return f"{text} &= {write(self.right)}"


def write_latex(sp: Any, expression: Any, names: Mapping[Any, str]) -> str:
    """An expression as LaTeX, its numbers in `WRITTEN_DIGITS`, whole ones without a point: 1.1 and 1000, not
    1.1000000000000001 and 1000.0."""
    numbers = {}
    for number in expression.atoms(sp.Float):
        text = f"{float(number):.{WRITTEN_DIGITS}g}"
        numbers[number] = sp.Integer(text) if text.lstrip("-").isdigit() else sp.Float(text)
    return str(sp.latex(expression.xreplace(numbers), symbol_names=dict(names)))


def arrange_motion(
    sp: Any, residual: Any, accelerations: Sequence[Any], pushes: Sequence[Any]
) -> EquationRow:
    """An equation of motion that is zero, arranged: accelerations with their inertias, then velocities and
    gravity, then, on the right, torques and forces."""
    whole = canonical(sp, residual)
    first = next((a for a in accelerations if whole.has(a)), None)
    if first is not None and sp.expand(whole).coeff(first).could_extract_minus_sign():
        whole = sp.expand(-whole)
    right = sp.Add(*[-term for term in sp.Add.make_args(whole) if any(term.has(u) for u in pushes)])
    left = whole + right
    terms = []
    for acceleration in accelerations:
        inertia = left.coeff(acceleration)
        if inertia != 0:
            terms.append(collect_terms(sp, inertia) * acceleration)
            left = sp.expand(left - inertia * acceleration)
    rest = collect_terms(sp, left)
    terms += [term for term in sp.Add.make_args(rest) if term != 0]
    return EquationRow(tuple(terms) or (sp.Integer(0),), collect_terms(sp, right))


def arrange_rate(sp: Any, symbol: Any, rate: Any) -> EquationRow:
    """A rate: the shortest of what it is written as, expanded, and simplified."""
    forms = [rate]
    # of cases SymPy looks at every combination, which takes minutes
    if rate.count_ops() <= MAX_SIMPLIFIED and not rate.has(sp.Piecewise, sp.Min, sp.Max):
        forms += [sp.simplify(rate), sp.expand(rate)]
    return EquationRow((symbol,), min(forms, key=lambda form: form.count_ops()))


def canonical(sp: Any, expression: Any) -> Any:
    """An expression with products of sines and cosines as sines and cosines of sums: the form in which equal
    terms cancel and machines read like their textbooks."""
    expanded = sp.expand(expression)
    if expanded.has(sp.sin, sp.cos):
        product_to_sum = optional_module("sympy.simplify.fu", "equations to read").TR8
        # term by term: of a whole sum SymPy looks at every pair, which takes minutes
        expanded = sp.expand(sp.Add(*[product_to_sum(term) for term in sp.Add.make_args(expanded)]))
    return expanded


def collect_terms(sp: Any, expression: Any) -> Any:
    """A sum with what its terms share taken out: by sines and cosines, then by factors."""
    expanded = sp.expand(expression)
    waves = sorted(expanded.atoms(sp.sin, sp.cos), key=str)
    if not waves:
        return sp.factor_terms(expanded)
    groups = sp.collect(expanded, waves, evaluate=False)
    return sp.Add(*[wave * sp.factor_terms(sp.factor(part)) for wave, part in groups.items()])
