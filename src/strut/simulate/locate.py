"""When does a guard begin to hold inside a step? The counterpart of strut_events.h, on any readable guard."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

EPS = float(np.finfo(float).eps)
NEVER = 2.0
"""A fraction beyond the step: the guard does not begin to hold."""


class Reading(NamedTuple):
    """A guard at the fraction `a` of a step: its value, its rate [1/step], and whether it holds."""

    a: float
    g: float
    r: float
    holds: bool


Read = Callable[[float], Reading]


def plain(left: Reading, right: Reading) -> bool:
    """Can the guard have no turns between two readings but the one its rates show? Yes if it is too far from zero to
    reach it, or if its rates explain its change (the trapezoidal rule)."""
    change, reach = right.g - left.g, max(abs(left.r), abs(right.r))
    if left.g * right.g > 0 and min(abs(left.g), abs(right.g)) > 2 * max(reach, abs(change)):
        return True
    return abs(change - (left.r + right.r) / 2) <= reach / 4


def extremum(read: Read, left: Reading, right: Reading, sign: float, fuzz: float) -> float:
    """The rate changes sign: follow it to the extremum and return the first fraction at which the guard has the wanted
    sign; -1 if it never has."""
    for tries in range(12):
        a = (left.a + right.a) / 2 if tries % 3 == 2 else left.a + (right.a - left.a) * left.r / (left.r - right.r)
        if not left.a < a < right.a:
            break
        middle = read(a)
        if sign * middle.g > fuzz:
            return a
        left, right = (middle, right) if (middle.r > 0) == (left.r > 0) else (left, middle)
        if right.a - left.a < 64 * EPS:
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
        if abs(step) <= 4 * EPS * m:
            break
    return m


def between(read: Read, left: Reading, right: Reading, fuzz: float) -> float:
    """The fraction between two readings at which the guard begins to hold."""
    a, b = left.a, right.a
    if not left.holds and not right.holds:  # up and down again?
        if not left.r > 0 > right.r:
            return NEVER
        b = extremum(read, left, right, 1.0, fuzz)
        if b < 0:
            return NEVER
    elif not right.holds:
        return NEVER
    elif left.holds or left.g >= 0:  # down and up again?
        leaves = left.r < 0 < right.r
        if left.holds and not leaves:
            return NEVER
        a = extremum(read, left, right, -1.0, fuzz if left.holds else 0.0) if leaves else -1.0
        if a < 0:
            return NEVER if left.holds else left.a
    return root(read, a, b)


def crossing(read: Read, begin: Reading, end: Reading, fuzz: float) -> float:
    """The fraction of a step at which the guard first begins to hold. A guard that turns faster than the state is
    looked at in ever smaller pieces, 64 at most."""
    if plain(begin, end):
        return between(read, begin, end, fuzz)
    for pieces in (4, 16, 64):
        left, enough = begin, True
        for k in range(1, pieces + 1):
            right = read(k / pieces) if k < pieces else end
            enough = enough and plain(left, right)
            if enough or pieces == 64:
                found = between(read, left, right, fuzz)
                if found <= 1:
                    return found
            left = right
        if enough:
            break
    return NEVER
