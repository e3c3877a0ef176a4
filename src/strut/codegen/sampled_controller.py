"""`SampledController`: what loops and exported C need of a controller that acts at every sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from strut.codegen.qp_unit import QpFunctions
from strut.system import Param, Quantity


class SampledController(Protocol):
    """A controller as its own functions see it, such as `control.QpController`."""

    @property
    def name(self) -> str:
        """Its name, from which those of files and functions are made."""
        ...

    @property
    def every(self) -> float:
        """Its period [s]."""
        ...

    @property
    def patience(self) -> int:
        """Samples without a solution for which commands are held."""
        ...

    @property
    def sensors(self) -> Sequence[Quantity]:
        """What it reads."""
        ...

    @property
    def p(self) -> Sequence[Param]:
        """Its parameters."""
        ...

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """Names of commands, memory, unknowns and outputs."""
        ...

    @property
    def functions(self) -> QpFunctions:
        """Its plain functions."""
        ...


__all__ = ["SampledController"]
