"""Where an expression stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from strut.network.model import Object
from strut.network.text.formula import Call


@dataclass(frozen=True)
class EvaluationFrame:
    """Where an expression stands: in which object, with which arguments, and whether at the beginning of a
    run."""

    thing: Object
    values: dict[str, ca.SX] = field(default_factory=dict)
    initial: bool = False
    depth: int = 0
    calls: dict[Call, ca.SX] = field(default_factory=dict, compare=False)
    """Calls of functions that were evaluated here."""
