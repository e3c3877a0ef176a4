"""When does a guard begin to hold inside a step? The counterpart of strut_events.h, on any readable guard."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

MACHINE_EPSILON = float(np.finfo(float).eps)
"""Relative distance of neighbouring numbers."""
NO_CROSSING = 2.0
"""A fraction beyond the step: the guard does not begin to hold."""
LOST_CROSSING = 3.0
"""The guard turns too fast to be followed over such a step."""


class GuardReading(NamedTuple):
    """A guard at the fraction `a` of a step: its value, its rate [1/step], and whether it holds."""

    a: float
    g: float
    r: float
    holds: bool


Read = Callable[[float], GuardReading]
"""Reads a guard at a fraction of a step."""


def plain(left: GuardReading, right: GuardReading, turning: bool) -> bool:
    """Can the guard not cross zero between two readings, or only as its ends show? So if it is too far from
    zero to reach it; or if it runs one way (unless `turning` is allowed) and its rates explain its change
    (the trapezoidal rule)."""
    change, reach = right.g - left.g, max(abs(left.r), abs(right.r))
    if left.g * right.g > 0 and min(abs(left.g), abs(right.g)) > 2 * max(reach, abs(change)):
        return True
    if not turning and reach > 3 * abs(change):
        return False
    return abs(change - (left.r + right.r) / 2) <= reach / 6


def cubic(left: GuardReading, middle: GuardReading, right: GuardReading) -> bool:
    """Is the guard over two pieces the cubic that its ends and rates make of it, and do its values move as
    far as its rates say (those of a fast oscillation do not)? Rates are per piece."""
    reach, change = max(abs(left.r), abs(right.r)), abs(right.g - left.g)
    guess = (left.g + right.g) / 2 + (left.r - right.r) / 4
    moved = max(abs(middle.g - left.g), abs(right.g - middle.g))
    return moved >= 0.3 * reach and abs(middle.g - guess) <= 0.05 * max(2 * reach, change)


def extremum(read: Read, left: GuardReading, right: GuardReading, sign: float, fuzz: float) -> float:
    """The rate changes sign: follow it to the extremum and return the first fraction at which the guard has
    the wanted sign; -1 if it never has."""
    for tries in range(12):
        a = (
            (left.a + right.a) / 2
            if tries % 3 == 2
            else left.a + (right.a - left.a) * left.r / (left.r - right.r)
        )
        if not left.a < a < right.a:
            break
        middle = read(a)
        if sign * middle.g > fuzz:
            return a
        left, right = (middle, right) if (middle.r > 0) == (left.r > 0) else (left, middle)
        if right.a - left.a < 64 * MACHINE_EPSILON:
            break
    return -1.0


def root(read: Read, a: float, b: float) -> float:
    """Newton's method, bisecting where that leaves the bracket or is slow."""
    if not read(a).g < 0:
        return a
    m, step = b, b - a
    before = step
    for _ in range(100):
        here = read(m)
        following = m - here.g / here.r if here.r else np.inf
        a, b = (m, b) if here.g < 0 else (a, m)
        if not a < following < b or 2 * abs(here.g) > abs(before * here.r):
            following = (a + b) / 2
        before, step, m = step, following - m, following
        if abs(step) <= 4 * MACHINE_EPSILON * m:
            break
    return m


def between(read: Read, left: GuardReading, right: GuardReading, fuzz: float) -> float:
    """The fraction between two readings at which the guard begins to hold."""
    a, b = left.a, right.a
    if not left.holds and not right.holds:  # up and down again?
        if not left.r > 0 > right.r:
            return NO_CROSSING
        b = extremum(read, left, right, 1.0, fuzz)
        if b < 0:
            return NO_CROSSING
    elif not right.holds:
        return NO_CROSSING
    elif left.holds or left.g >= 0:  # down and up again?
        leaves = left.r < 0 < right.r
        if left.holds and not leaves:
            return NO_CROSSING
        a = extremum(read, left, right, -1.0, fuzz if left.holds else 0.0) if leaves else -1.0
        if a < 0:
            return NO_CROSSING if left.holds else left.a
    return root(read, a, b)


def first_crossing(
    read: Read, begin: GuardReading, end: GuardReading, fuzz: float, may_shrink: bool
) -> float:
    """The fraction of a step at which the guard first begins to hold. Where two ends do not tell the whole
    story, the guard is looked at in 4, 16, 64 pieces, until it is simple in each; LOST_CROSSING if it is not
    even then, and the step may be shortened."""
    if plain(begin, end, turning=False):
        return between(read, begin, end, fuzz)
    for pieces in (4, 16, 64):
        at = [begin, *(read(k / pieces) for k in range(1, pieces)), end]
        scaled = [reading._replace(r=reading.r / pieces) for reading in at]
        simple = all(plain(a, b, turning=True) for a, b in pairwise(scaled)) and all(
            cubic(*scaled[k : k + 3]) for k in range(0, pieces, 2)
        )
        if not simple and pieces < 64:
            continue
        if not simple and may_shrink:
            return LOST_CROSSING
        crossings = (between(read, a, b, fuzz) for a, b in pairwise(at))
        return min((fraction for fraction in crossings if fraction <= 1), default=NO_CROSSING)
    return NO_CROSSING
