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
    def name(self) -> str: ...

    @property
    def p(self) -> tuple[Param, ...]: ...

    @property
    def flow(self) -> Mapping[Any, Expression]: ...

    @property
    def events(self) -> tuple[Event, ...]: ...

    @property
    def samples(self) -> tuple[Sample, ...]: ...

    @property
    def outputs(self) -> Mapping[str, Expression]: ...

    @property
    def output_units(self) -> Mapping[str, str]: ...

    @property
    def ledger(self) -> Ledger: ...

    @property
    def symmetry(self) -> Mapping[Any, Expression]: ...

    @property
    def implied(self) -> Implied | None: ...

    @property
    def scene(self) -> Scene: ...

    @property
    def walk(self) -> Walk | None: ...

    @property
    def scales(self) -> tuple[str, ...]: ...
