"""`load`: a design, a solution or a trade-off from a file."""

from __future__ import annotations

from pathlib import Path

from strut.checks import checked
from strut.optimal.solver.result import Solution
from strut.optimal.walk.design import Design
from strut.optimal.walk.trade_off import TradeOff
from strut.simulate import load_result
from strut.system import System


@checked
def load(path: str | Path, system: System | None = None) -> Design | Solution | TradeOff:
    """Read a `Design`, a `Solution` or a `TradeOff` that its method `save` wrote; system: the model you have,
    see `Design.load`."""
    result: Design | Solution | TradeOff = load_result(Path(path), (Design, Solution, TradeOff), system)
    return result


__all__ = ["load"]
