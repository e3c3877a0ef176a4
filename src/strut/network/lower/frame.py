"""`EvaluationFrame`: where an expression stands."""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from strut.network.model import Object
from strut.network.text.formula import Call


@dataclass(frozen=True)
class EvaluationFrame:
    """Where an expression is evaluated.

    thing: the object in which names are looked up. values: arguments by name, which come first. initial:
    whether at the beginning of a run. depth: how many functions have been called on the way here.
    """

    thing: Object
    values: dict[str, ca.SX] = field(default_factory=dict)
    initial: bool = False
    depth: int = 0
    calls: dict[Call, ca.SX] = field(default_factory=dict, compare=False)
    """Calls of functions that were evaluated here."""
