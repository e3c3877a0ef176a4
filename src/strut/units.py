"""Numbers as people write them."""

from __future__ import annotations

import math
import re

from strut.errors import ValueRangeError

FACTORS = {
    "": 1.0,
    "deg": math.pi / 180,
    "rad": 1.0,
    "mm": 1e-3,
    "cm": 1e-2,
    "m": 1.0,
    "km": 1e3,
    "g": 1e-3,
    "kg": 1.0,
    "ms": 1e-3,
    "s": 1.0,
    "N": 1.0,
    "kN": 1e3,
    "Hz": 1.0,
    "J": 1.0,
    "W": 1.0,
    "%": 1e-2,
}
"""Suffixes understood at the edges (command line, files); inside strut everything is SI and radians."""

_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([A-Za-z%]*)\s*")


def deg(angle: float) -> float:
    """Degrees as radians."""
    return math.radians(angle)


def number(text: str) -> float:
    """A number with an optional suffix: '3deg', '20kN', '1e-3'."""
    match = _NUMBER.fullmatch(text)
    if not match or match[2] not in FACTORS:
        suffixes = ", ".join(s for s in FACTORS if s)
        raise ValueRangeError(f"'{text}' is not a number: write 0.05, 1e-3 or 3deg (suffixes: {suffixes})")
    return float(match[1]) * FACTORS[match[2]]
