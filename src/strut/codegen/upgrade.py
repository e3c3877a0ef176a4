"""`Upgrade`: a library that was compiled quickly is compiled with care, in the background, once its runs have
taken so long that this would have paid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from strut.codegen.background import build_in_background, is_built
from strut.codegen.cache import build, compile_seconds

CARE_FACTOR = 2.4
"""How many times as long as quickly a library is compiled with care, measured."""
QUICK_EXCESS = 1 / 3
"""The part of the time of quickly compiled runs that careful ones would save, measured: they take 1.5 times
as long."""

Unit = tuple[str, Callable[[], dict[str, str]], str, tuple[str, ...], str]
"""What `build` takes: key, sources, main file, compiler, name."""


class Upgrade:
    """The better library of one that was compiled quickly: when it is begun, and when it is there."""

    def __init__(self, quick: Path, unit: Unit) -> None:
        self.unit, self.price = unit, CARE_FACTOR * compile_seconds(quick)
        self.spent = 0.0

    def spend(self, seconds: float) -> None:
        """Count the time of runs [s]. The better library is begun where it would have paid by now."""
        self.spent += seconds
        if self.spent * QUICK_EXCESS > self.price:
            build_in_background(*self.unit)

    def path(self) -> Path | None:
        """The better library, as soon as there is one."""
        return build(*self.unit) if is_built(self.unit[0]) else None


__all__ = ["Upgrade"]
