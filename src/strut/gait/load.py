"""`load`: a gait or a branch of gaits from a file."""

from __future__ import annotations

from pathlib import Path

from strut.checks import checked
from strut.gait.branch import Branch
from strut.gait.gait import Gait
from strut.simulate import load_result
from strut.system import System


@checked
def load(path: str | Path, system: System | None = None) -> Gait | Branch:
    """Read a `Gait` or a `Branch` that its method `save` wrote; system: the model you have, see
    `Gait.load`."""
    result: Gait | Branch = load_result(Path(path), (Gait, Branch), system)
    return result


__all__ = ["load"]
