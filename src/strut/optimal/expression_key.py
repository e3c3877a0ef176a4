"""Expressions of a system as text for people, and as a key that says whether two are the same."""

from __future__ import annotations

import hashlib

import casadi as ca

from strut.optimal.totals import Integral, Jumps, MotionTotal
from strut.system import System, known_symbol, time

MAX_TEXT = 120
"""Characters of an expression that a table shows; longer ones are cut."""


def expression_text(expression: ca.SX) -> str:
    """Return an expression as people read it, cut where it is long."""
    text = str(ca.cse(expression))
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 4] + " ..."


def expression_key(system: System, expression: ca.SX) -> str:
    """Return a hash of an expression of a system: the same in every process, and where the same is meant."""
    parts = [expression]
    totals = totals_of(expression)
    for total in totals:
        if isinstance(total, Integral):
            parts.append(ca.SX(total.rate))
        elif isinstance(total, Jumps):
            parts += [total.of(event.name) for event in system.events]
    words = [f"{t.name} {t.split} {t.phase}" if isinstance(t, Integral) else t.name for t in totals]
    content = ca.Function(
        "expression", [time, *system.vectors(), *[t.sym for t in totals]], parts
    ).serialize()
    return hashlib.sha256("\n".join([content, *words]).encode()).hexdigest()[:16]


def totals_of(expression: ca.SX) -> tuple[MotionTotal, ...]:
    """Return the integrals, sums over events and initial values that an expression is made of, as far as they
    still exist."""
    owners = [known_symbol(symbol) for symbol in ca.symvar(expression)]
    return tuple(owner for owner in owners if isinstance(owner, MotionTotal))


__all__ = ["expression_key", "expression_text", "totals_of"]
