"""From a design to a machine that keeps walking: a compass designed at 0.8 m/s, which falls over rough
ground, and the same one held along its steps.

    python examples/held_gait.py [DIRECTORY]
"""

from __future__ import annotations

import sys
from pathlib import Path

from strut import control, gait, optimal, report, walkers
from strut.control import HeldGait


def main(directory: str | Path | None = None) -> HeldGait:
    """Design, hold, and walk over ground of a centimetre up and down, every step at a random height."""
    design = optimal.design(walkers.compass(), speed=0.8)
    held = control.lqr(design)
    before, after = (abs(each.multipliers[0]) for each in (held.before, held.gait))
    print(f"largest multiplier {before:.3f} before, {after:.3f} after, {held.method}")
    for word, each in (("before", held.before), ("after", held.gait)):
        print(f"{word}: {gait.walk_over(each, 0.01, steps=100, walks=5)}")
    if directory is not None:
        print(report.held_result(held).folder(directory).directory / "index.html")
    return held


if __name__ == "__main__":
    main(*sys.argv[1:2])
