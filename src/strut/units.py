"""Numbers as people write them."""

from __future__ import annotations

import math
import re

from strut.checks import checked, finite
from strut.errors import ValueRangeError

FACTORS = {
    "rad": {"deg": math.pi / 180, "rad": 1.0},
    "m": {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3},
    "kg": {"g": 1e-3, "kg": 1.0},
    "s": {"us": 1e-6, "ms": 1e-3, "s": 1.0},
    "N": {"mN": 1e-3, "N": 1.0, "kN": 1e3},
    "Hz": {"Hz": 1.0, "kHz": 1e3},
    "J": {"J": 1.0, "kJ": 1e3},
    "W": {"W": 1.0, "kW": 1e3},
    "V": {"mV": 1e-3, "V": 1.0},
    "": {"": 1.0, "%": 1e-2},
}
"""By SI unit, what people write instead at the edges (command line, files); inside strut everything is SI and
radians."""

NOT_SI = {
    "degree": "rad",
    "degrees": "rad",
    "°": "rad",
    "rpm": "rad/s",
    "min": "s",
    "h": "s",
    "in": "m",
    "ft": "m",
    "lb": "kg",
}
"""Units that are not read, and the SI unit to use instead."""

LIMIT_FLAG = "1 at limit"
"""The unit of outputs that are 1 while a limit decides over something, such as that of a motor's driver, and
0 otherwise: runs say for how long (`Trajectory.time_at_limits`)."""

_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")
_FIRST = re.compile(r"[A-Za-z%]*")


@checked
def deg(angle: float) -> float:
    """Return degrees as radians."""
    return math.radians(finite("an angle", angle, "degrees"))


@checked
def to_si(unit: str) -> tuple[float, str]:
    """Return the factor that makes SI of a unit, and the SI unit: 'cm' gives 0.01 and 'm', 'kN/m' gives 1000
    and 'N/m'."""
    words = re.findall(r"[^\W\d_]+|[%°]", unit)
    for k, word in enumerate(words):
        base = next(
            (si for si, scaled in FACTORS.items() if word in scaled and scaled[word] != 1.0), NOT_SI.get(word)
        )
        if base is None:
            continue
        if k or word in NOT_SI or not unit.startswith(word):
            raise ValueRangeError(
                f"the unit '{unit}' is not SI: give the value in {unit.replace(word, base)}"
            )
        return FACTORS[base][word], base + unit[len(word) :]
    return 1.0, unit


@checked
def number(text: str, unit: str = "") -> float:
    """A number with an optional suffix that fits `unit`: '3deg' for rad, '20kN' or '20kN/m' for N/m, '1e-3'
    for any."""
    match = _NUMBER.fullmatch(text)
    if not match:
        raise ValueRangeError(f"'{text}' is not a number: write 0.05, 1e-3 or 3deg")
    suffix = match[2]
    base = _FIRST.match(unit)[0]  # type: ignore[index]  # the pattern may be empty, so it always matches
    scaled = FACTORS.get(base, {base: 1.0})
    for name, factor in scaled.items():
        if suffix in ("", name, name + unit[len(base) :]):
            return float(match[1]) * (factor if suffix else 1.0)
    kind = f"in {unit}" if unit else "without a unit"
    fitting = ", ".join(n + unit[len(base) :] for n in scaled if n)
    raise ValueRangeError(
        f"'{text}' does not fit a quantity {kind}: write a plain number, or one of {fitting}"
    )
