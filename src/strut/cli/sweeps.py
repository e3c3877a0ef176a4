"""NAME=A:B:N: what `--sweep` and `--robust` say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from strut.errors import UnknownNameError, ValueRangeError, did_you_mean
from strut.units import number


@dataclass(frozen=True)
class SweptValues:
    """A name, and the values that it takes one after the other, in its SI unit.

    evenly: whether the values are evenly spaced between two ends, as of NAME=A:B:N. unit: in which the first
    one was written, 'deg'; empty for the SI unit.
    """

    name: str
    values: tuple[float, ...]
    evenly: bool = True
    unit: str = ""


def read_sweep(text: str, units: Mapping[str, str], flag: str = "--sweep") -> SweptValues:
    """Read NAME=A:B:N, N values from A to B, or NAME=A,B,C, these values.

    units: of what can be swept, by name [SI]. flag: the option that said so.
    Raises UnknownNameError for another name, and ValueRangeError for what is no sweep.
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    parts = [part.strip() for part in rest.split(":")]
    example = f"write {flag} NAME=A:B:N, for example {flag} slope=2deg:5deg:7, or NAME=A,B,C"
    if not equals or not rest or len(parts) > 3:
        raise ValueRangeError(f"'{text}' is no sweep: {example}")
    if name not in units:
        raise UnknownNameError(f"{flag} {text}: there is no '{name}': {did_you_mean(name, list(units))}")
    unit = units[name]
    asked_unit = unit_word(rest.split(",")[0].split(":")[0])
    if len(parts) == 1:
        values = tuple(number(part, unit) for part in rest.split(",") if part.strip())
        if len(values) < 2:
            raise ValueRangeError(f"'{text}' is one value and no sweep: {example}")
        return SweptValues(name, values, evenly=False, unit=asked_unit)
    if len(parts) == 2:
        raise ValueRangeError(f"'{text}' does not say how many values there are: {flag} {text}:7 for seven")
    if not parts[2].isdigit() or int(parts[2]) < 2:
        raise ValueRangeError(f"'{text}': '{parts[2]}' is no number of values, 2 or more: {example}")
    ends = number(parts[0], unit), number(parts[1], unit)
    return SweptValues(name, tuple(np.linspace(*ends, int(parts[2])).tolist()), unit=asked_unit)


def unit_word(text: str) -> str:
    """Return the unit behind a number, 'deg' of '3deg'; empty where there is none."""
    return re.sub(r"^[-+]?[\d.]+(e[-+]?\d+)?", "", text.strip(), flags=re.IGNORECASE).strip()


__all__ = ["SweptValues", "read_sweep", "unit_word"]
