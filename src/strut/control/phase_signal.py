"""Signals along a phase: constant, in two steps, or a periodic monotone cubic through points (Kieboom, table
4.1).

All three are one thing when they run, a `phase table`: knots around the cycle, and between each two of them a
cubic. So machines that differ in the kinds of their signals may be the same code with other numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from strut.errors import ModelError, did_you_mean
from strut.system import Param

KINDS = ("const", "step", "ppoly")
"""Kinds of signals."""
MIN_SHARE = 1e-3
"""[1] Least share of the cycle that is asked for between knots, of the sum of all shares: knots that fall
together would leave no cubic between them."""
CUBIC_COEFFICIENTS = 4
"""Coefficients of a cubic."""


def table_size(knots: int) -> int:
    """How many numbers a phase table has: where its first knot is, how far the others are behind it, and of
    every piece one over its length and its coefficients."""
    return knots + knots * (1 + CUBIC_COEFFICIENTS)


@dataclass(frozen=True, eq=False)
class PhaseSignal:
    """A signal along a phase. parameters: what it is given by. table: expressions of them, as
    `table_value` reads them."""

    kind: str
    parameters: tuple[Param, ...]
    table: ca.SX = field(repr=False)

    def value(self, phase: ca.SX) -> ca.SX:
        """The signal at a phase from 0 to below 1."""
        if self.kind == "ppoly":
            return table_value(self.table, phase)
        knots = self.table.numel() // (2 + CUBIC_COEFFICIENTS)
        first, second, value = self.table[0], self.table[1] + self.table[0], self.table[2 * knots :]
        if self.kind == "const":
            return value[0]
        return ca.if_else(ca.logic_and(phase >= first, phase < second), value[0], value[1])


def phase_signal(
    name: str,
    kind: str,
    *,
    unit: str,
    bounds: tuple[float, float],
    value: float,
    knots: int = 4,
    steps: tuple[Param, Param] | None = None,
) -> PhaseSignal:
    """Return a signal of some kind with its parameters.

    'const': NAME. 'step': NAME_1 from the first to the second of `steps`, around the end of the cycle where
    the second comes before, and NAME_2 elsewhere. 'ppoly': values NAME_1 ... NAME_n at knots whose distances
    are shares of the cycle, NAME_share_0 ... NAME_share_n over their sum (differential encoding): knot i is
    at the sum of the shares 0 to i - 1. bounds, value: of every value, in `unit`.
    """
    if kind not in KINDS:
        raise ModelError(f"the signal '{name}' is of the kind '{kind}': {did_you_mean(kind, KINDS)}")
    if kind == "const":
        own = Param(name, value, unit, bounds=bounds)
        return PhaseSignal(kind, (own,), _constant_pieces([ca.SX(0)] * knots, [own.sym] * knots))
    if kind == "step":
        if steps is None:
            raise ModelError(f"the signal '{name}' is in steps: say between which phases, steps=(on, off)")
        inside, outside = (Param(f"{name}_{k}", value, unit, bounds=bounds) for k in (1, 2))
        on, off = (each.sym for each in steps)
        first, second = ca.fmin(on, off), ca.fmax(on, off)
        between = ca.if_else(on <= off, inside.sym, outside.sym)
        beyond = ca.if_else(on <= off, outside.sym, inside.sym)
        places = [first, *[second] * (knots - 1)]
        pieces = _constant_pieces(places, [between, *[beyond] * (knots - 1)])
        return PhaseSignal(kind, (inside, outside), pieces)
    if knots < 2:
        raise ModelError(f"the signal '{name}' goes through {knots} points: two at least are needed")
    shares = [
        Param(f"{name}_share_{k}", 0.5, bounds=(MIN_SHARE, 1.0), description="of the cycle, over their sum")
        for k in range(knots + 1)
    ]
    values = [Param(f"{name}_{k + 1}", value, unit, bounds=bounds) for k in range(knots)]
    total = sum((each.sym for each in shares), ca.SX(0))
    places, at = [], ca.SX(0)
    for share in shares[:-1]:
        at = at + share.sym / total
        places.append(at)
    return PhaseSignal(kind, (*shares, *values), _cubic_pieces(places, [each.sym for each in values]))


def _constant_pieces(places: list[ca.SX], values: list[ca.SX]) -> ca.SX:
    """The table of a signal that keeps a value from each knot to the next."""
    count = len(places)
    behind = [place - places[0] for place in places[1:]]
    rows = [ca.SX(1)] * count + values + [ca.SX(0)] * (3 * count)
    return ca.vertcat(places[0], *behind, *rows)


def _cubic_pieces(places: list[ca.SX], values: list[ca.SX]) -> ca.SX:
    """The table of the periodic monotone cubic through points: Fritsch and Carlson's condition is kept by
    slopes that are the weighted harmonic mean of those on both sides, and zero at extremes."""
    count = len(places)
    lengths = [
        places[k + 1] - places[k] if k + 1 < count else places[0] + 1 - places[k] for k in range(count)
    ]
    rises = [values[(k + 1) % count] - values[k] for k in range(count)]
    secants = [rise / length for rise, length in zip(rises, lengths, strict=True)]
    slopes = []
    for k in range(count):
        left, right, before, after = secants[k - 1], secants[k], lengths[k - 1], lengths[k]
        near, far = 2 * after + before, after + 2 * before
        mean = left * right * (near + far) / (near * right + far * left)
        slopes.append(ca.if_else(left * right > 0, mean, 0))
    begin = [slope * length for slope, length in zip(slopes, lengths, strict=True)]
    end = [slopes[(k + 1) % count] * lengths[k] for k in range(count)]
    rows = [
        *[1 / length for length in lengths],
        *values,
        *begin,
        *[3 * rise - 2 * a - b for rise, a, b in zip(rises, begin, end, strict=True)],
        *[a + b - 2 * rise for rise, a, b in zip(rises, begin, end, strict=True)],
    ]
    return ca.vertcat(places[0], *[place - places[0] for place in places[1:]], *rows)


def table_value(table: ca.SX, phase: ca.SX) -> ca.SX:
    """The value of a phase table at a phase from 0 to below 1.

    Lengths of pieces are taken out, so that coefficients are no larger than the values are, and knots near
    each other do no harm in single precision.
    """
    knots = table.numel() // (2 + CUBIC_COEFFICIENTS)
    offsets, numbers = table[1:knots], table[knots:]
    since = phase - table[0]
    since = since + (since < 0)  # from the first knot on, around the end of the cycle
    reached = [ca.SX(1), *[since >= offsets[k] for k in range(knots - 1)], ca.SX(0)]
    inside = [reached[k] - reached[k + 1] for k in range(knots)]  # 1 in one piece, 0 in the others

    def value_of_piece(values: ca.SX) -> ca.SX:
        return sum((inside[k] * values[k] for k in range(knots)), ca.SX(0))

    begin = sum((inside[k + 1] * offsets[k] for k in range(knots - 1)), ca.SX(0))
    parts = [value_of_piece(numbers[k * knots : (k + 1) * knots]) for k in range(1 + CUBIC_COEFFICIENTS)]
    part = (since - begin) * parts[0]
    return parts[1] + part * (parts[2] + part * (parts[3] + part * parts[4]))


__all__ = ["KINDS", "PhaseSignal", "phase_signal", "table_size", "table_value"]
