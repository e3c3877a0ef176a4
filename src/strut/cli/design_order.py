"""What `strut design` was asked to do, as data for the functions that do it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from strut.system import System


@dataclass(frozen=True, eq=False)
class Order:
    """What the command was asked to do.

    system: the walker. arguments: of `optimal.design`, None where nothing was asked. output: the folder for
        files. export: the folder for the machine as C.
    command: as it would be typed again. source: Python that makes the walker.
    goal_call: Python that reads the file of what is asked, if there is one. sensitivity: whether to say what
        parameters cost. transition: 'start' or 'stop' with its number of steps; None for the gait itself.
    anyway: whether to search for what the machine can hardly do, too.
    """

    system: System
    arguments: dict[str, Any]
    output: Path | None
    export: Path | None
    command: str
    source: str
    goal_call: str = ""
    sensitivity: bool = False
    transition: tuple[str, int] | None = None
    anyway: bool = False


__all__ = ["Order"]
