"""Names and numbers with their units, and without where a machine is dimensionless (`System.scales`)."""

from __future__ import annotations

from typing import Any

PURE_UNITS = ("", "rad")
"""Units that a dimensionless machine keeps: an angle is a number anyway."""


def shown_unit(of: Any, unit: str) -> str:
    """A unit, or nothing for a run, gait or system that is `dimensionless`."""
    return "" if of.dimensionless and unit not in PURE_UNITS else unit


def title_with_unit(of: Any, name: str, unit: str) -> str:
    """A title: "time [s]", or "time" where there is no unit."""
    unit_text = shown_unit(of, unit)
    return f"{name} [{unit_text}]" if unit_text else name


def quantity(of: Any, number: str, unit: str) -> str:
    """A number as text with its unit: "0.73 s", or "0.73"."""
    return f"{number} {shown_unit(of, unit)}".strip()


__all__ = ["quantity", "shown_unit", "title_with_unit"]
