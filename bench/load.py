"""A second process meets a compiled system: `python -m bench.load NAME` prints how long it takes to describe
it and to have it compiled [s].

Imports are not counted. Anything that would start a compiler ends the process instead, except in the `first`
that fills the
cache: `python -m bench.load NAME first`.
"""

from __future__ import annotations

import subprocess
import sys
import time as clock
from collections.abc import Callable
from typing import Any, NoReturn

from bench.oscillators import oscillators
from strut import System, compile_system, walkers

SYSTEMS: dict[str, Callable[[], System]] = {
    "pendulum": walkers.pendulum,
    "slip": walkers.slip,
    "50 oscillators": oscillators,
}


def _refuse(*arguments: Any, **options: Any) -> NoReturn:
    raise SystemExit(f"a cached system was compiled again: {arguments}")


if __name__ == "__main__":
    if sys.argv[2:] != ["first"]:
        subprocess.run = subprocess.Popen = _refuse  # type: ignore[assignment,misc]
    began = clock.perf_counter()
    system = SYSTEMS[sys.argv[1]]()
    described = clock.perf_counter()
    compile_system(system)
    print(described - began, clock.perf_counter() - described)
