"""`python -m bench.design_cell WALKER COST SPEED SLOPE`: one cell of the matrix of designs, printed as JSON.

It is a program of its own so that one that hangs, dies or eats the memory takes no other with it.
"""

from __future__ import annotations

import json
import math
import sys
import time as clock
from typing import Any

from strut import optimal, walkers


def measure_cell(walker: str, cost: str, speed: float, slope: float) -> dict[str, Any]:
    """Return what a design with these wishes says of itself, and how long it took [s]. speed: [m/s]. slope:
    downhill [deg]. Nothing is free but the torque and the step."""
    began, spent = clock.perf_counter(), clock.process_time()
    row: dict[str, Any]
    try:
        design = optimal.design(
            walkers.CATALOGUE[walker](), cost=cost, speed=speed, slope=math.radians(slope)
        )
    except Exception as error:  # whatever it is, it is the answer of this cell
        row = {"ok": False, "reason": f"{type(error).__name__}: {error}"}
    else:
        row = {
            "ok": design.ok,
            "cost_value": design.result.cost,
            "reason": "; ".join(design.wrong),
            "has_gait": design.gait is not None,
            "data": design.data(),
        }
    return row | {"seconds": clock.perf_counter() - began, "processor": clock.process_time() - spent}


if __name__ == "__main__":
    name, price, pace, hill = sys.argv[1:]
    print(json.dumps(measure_cell(name, price, float(pace), float(hill)), default=str))
