"""`SweptAxis`: what was varied, in the unit in which it was asked, on axes, in tables and titles of films.
Results stay in SI."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from strut.units import number
from strut.view.figures.figure import Figure, Flow, Trace
from strut.view.units import title_with_unit


@dataclass(frozen=True)
class SweptAxis:
    """What was varied, as it is shown.

    name: of the parameter, input, state or goal. title: of its axis and its column. unit: in which it was
        asked; empty where that is its own. size: how much of the SI unit one of it is, 0.01745 of deg.
    """

    name: str
    title: str
    unit: str = ""
    size: float = 1.0

    def in_unit(self, values: Any) -> np.ndarray:
        """Return values in SI as they are shown."""
        return np.asarray(values, dtype=float) / self.size

    def label(self, value: float) -> str:
        """Return the name and one value in SI as a text: "slope 3.5 deg"."""
        return f"{self.name} {self.text(value)}"

    def text(self, value: float) -> str:
        """Return one value in SI as a text, with its unit where one was asked: "3.5 deg"."""
        return f"{value / self.size:.5g} {self.unit}".rstrip()

    def sentence(self, text: str) -> str:
        """Return a sentence whose "slope = 0.061087" is in SI with "slope = 3.5 deg" instead."""
        if not self.unit:
            return text
        value = rf"(?<![\w.]){re.escape(self.name)} = ([-+]?[\d.]+(?:e[-+]?\d+)?)(?<!\.)"
        return re.sub(value, lambda found: f"{self.name} = {self.text(float(found[1]))}", text)

    def table(
        self, head: Sequence[str], rows: Sequence[Sequence[Any]], column: int = 0
    ) -> tuple[list[str], list[list[Any]]]:
        """Return a table whose values are shown; column: which of it has them, in SI."""
        heads = [self.title if k == column else title for k, title in enumerate(head)]
        return heads, [[c / self.size if k == column else c for k, c in enumerate(row)] for row in rows]

    def figure(self, figure: Figure) -> Figure:
        """Return a figure over what was varied, in SI, as it is shown."""
        return replace(figure, traces=tuple(self._trace(trace) for trace in figure.traces), x=self.title)

    def _trace(self, trace: Trace) -> Trace:
        return trace if isinstance(trace, Flow) else replace(trace, x=self.in_unit(trace.x))


def swept_axis(name: str, own_unit: str, unit: str = "", *, of: Any = None) -> SweptAxis:
    """Return how to show what was varied.

    own_unit: its SI unit. unit: in which it was asked, "deg"; empty for its own. of: the run, gait or system
    that may be `dimensionless`, and then has no units. Raises ValueRangeError where one is no unit of the
    other.
    """
    if unit:
        return SweptAxis(name, f"{name} [{unit}]", unit, number(f"1{unit}", own_unit))
    if of is not None:
        return SweptAxis(name, title_with_unit(of, name, own_unit))
    return SweptAxis(name, f"{name} [{own_unit}]" if own_unit else name)


__all__ = ["SweptAxis", "swept_axis"]
