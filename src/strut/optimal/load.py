"""`load`: what this room finds, from a file."""

from __future__ import annotations

from pathlib import Path

from strut.checks import checked
from strut.optimal.solver.result import Solution
from strut.optimal.walk.design import Design
from strut.optimal.walk.design_each import DesignsByName
from strut.optimal.walk.robust_result import RobustDesign
from strut.optimal.walk.trade_off import TradeOff
from strut.simulate import load_result
from strut.system import System

Saved = Design | Solution | TradeOff | RobustDesign | DesignsByName
"""What can be loaded."""


@checked
def load(path: str | Path, system: System | None = None) -> Saved:
    """Read a `Design`, a `Solution`, a `TradeOff`, a `RobustDesign` or a `DesignsByName` that its method
    `save` wrote; system: the model you have, see `Design.load`; of several machines, the first."""
    kinds = (Design, Solution, TradeOff, RobustDesign, DesignsByName)
    result: Saved = load_result(Path(path), kinds, system)
    return result


__all__ = ["load"]
