"""The fields of a system that the checks at its construction read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from strut.system.event import Event, Sample
from strut.system.implied import Implied
from strut.system.ledger import Ledger
from strut.system.quantity import Expression, Param
from strut.system.scene import Scene
from strut.system.walk import Walk


class SystemFields(Protocol):
    """What is read of a `System` under construction, besides its vectors by name. Making a system runs the
    checks, so they cannot name its class."""

    @property
    def name(self) -> str:
        """The name of the system, for messages."""
        ...

    @property
    def p(self) -> tuple[Param, ...]:
        """Its parameters."""
        ...

    @property
    def flow(self) -> Mapping[Any, Expression]:
        """The rate of every state."""
        ...

    @property
    def events(self) -> tuple[Event, ...]:
        """Jumps by guard."""
        ...

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Jumps by clock."""
        ...

    @property
    def outputs(self) -> Mapping[str, Expression]:
        """Named observables."""
        ...

    @property
    def output_units(self) -> Mapping[str, str]:
        """Units of those that have one."""
        ...

    @property
    def ledger(self) -> Ledger:
        """Stored energies and powers."""
        ...

    @property
    def symmetry(self) -> Mapping[Any, Expression]:
        """States with left and right exchanged."""
        ...

    @property
    def implied(self) -> Implied | None:
        """A residual that some rates solve."""
        ...

    @property
    def scene(self) -> Scene:
        """How it looks."""
        ...

    @property
    def walk(self) -> Walk | None:
        """What makes it a walker."""
        ...

    @property
    def scales(self) -> tuple[str, ...]:
        """Parameters that measure everything else."""
        ...
