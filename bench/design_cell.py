"""`python -m bench.design_cell WALKER COST SPEED SLOPE`: one cell of the matrix of designs, printed as JSON.

It is a program of its own so that one that hangs, dies or eats the memory takes no other with it.
"""

from __future__ import annotations

import json
import math
import resource
import sys
import time as clock
from collections.abc import Mapping
from typing import Any

import numpy as np

from strut import optimal, walkers
from strut.system import System

EARTH = 9.81
"""Gravity of walkers that have no units [m/s^2]."""
AT_GUIDE = 1e-6
"""A default bound that a step touches to this part of it should be listed as active."""


def make_walker(name: str) -> System:
    """Return a ready-made walker, in units: one without (gravity, legs and mass are 1) as it is on earth,
    with legs of 1 m. Else 0.8 m/s would be asked of gravity of 1 m/s^2, a Froude number of 0.64, at which
    people run."""
    walker = walkers.CATALOGUE[name]()
    return walker.using(g=EARTH) if walker.dimensionless else walker


def measure_cell(walker: str, cost: str, speed: float, slope: float) -> dict[str, Any]:
    """Return what a design with these wishes says of itself, and how long it took [s]. speed: [m/s]. slope:
    downhill [deg]. Nothing is free but the torque and the step."""
    began = clock.perf_counter()
    row: dict[str, Any]
    try:
        design = optimal.design(make_walker(walker), cost=cost, speed=speed, slope=math.radians(slope))
    except Exception as error:  # whatever it is, it is the answer of this cell
        row = {"ok": False, "reason": f"{type(error).__name__}: {error}"}
    else:
        row = {
            "ok": design.ok,
            "cost_value": design.parts().get(cost, design.result.cost),
            "reason": "; ".join(design.wrong),
            "has_gait": design.gait is not None,
            "unlisted": unlisted_guides(design),
            "defaults": [each.sentence for each in design.active_limits if each.source == "default"],
            "data": design.data(),
        }
    return row | {"seconds": clock.perf_counter() - began, "processor": processor_time()}


def unlisted_guides(design: optimal.Design) -> list[str]:
    """Return the default bounds of a step that the answer touches and does not list as active."""
    listed = {each.field for each in design.active_limits}
    largest = {
        name: float(np.abs(np.concatenate([m.w[..., k].ravel() for m in design.result.phases])).max())
        for k, name in enumerate(design.planned_system.labels("u"))
    }
    measured = {"step_length": design.step_length, "duration": design.result.duration}
    touched = []
    for name, value in design.limits.defaults.items():
        pairs = [(measured[name], bound) for bound in np.ravel(value)] if name in measured else []
        if name == "torque" and isinstance(value, Mapping):
            pairs = [(largest[label], bound) for label, bound in value.items()]
        near = any(abs(got - bound) <= AT_GUIDE * abs(bound) for got, bound in pairs)
        touched += [name] if near and name not in listed else []
    return touched


def processor_time() -> float:
    """Return the processor time of this program and of the compilers that it waited for [s]."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


if __name__ == "__main__":
    name, price, pace, hill = sys.argv[1:]
    print(json.dumps(measure_cell(name, price, float(pace), float(hill)), default=str))
