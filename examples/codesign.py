"""Co-design against design and then control: the same walkers, the same bounds, the same cost on level
ground.

First the machine is designed for what machines are usually designed for, to walk down a slope by itself as
wanted, and then the best torque on level ground is found for it. Then machine and torque are found at once.
Run it with `python examples/codesign.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from strut import optimal, walkers
from strut.optimal import Design
from strut.system import System

COST = "squared-torque"


@dataclass(frozen=True, eq=False)
class Case:
    """A walker, what is free in it, what is asked of its walk, and the slope [rad] its machine is designed on
    where that comes first."""

    walker: System
    free: Mapping[str, tuple[float, float]]
    asked: Mapping[str, Any]
    slope: float


@dataclass(frozen=True, eq=False)
class Compared:
    """machine: designed on the slope. then: the best torque for it on level ground. both: machine and torque
    at once."""

    machine: Design
    then: Design
    both: Design


def cases() -> dict[str, Case]:
    return {
        "compass": Case(walkers.compass(), {"hip_spring": (0.0, 100.0)}, {"speed": 0.5}, 0.01),
        "round feet": Case(
            walkers.round_foot(),
            {"hip_spring": (0.0, 2.0), "radius": (0.05, 0.4)},
            {"step_length": (0.3, 1.0)},
            0.01,
        ),
    }


def compare_case(case: Case) -> Compared:
    machine = optimal.design(case.walker, free=case.free, cost=COST, slope=case.slope, **case.asked)
    fixed = {name: (value, value) for name, value in machine.parameters.items()}  # the machine stays as it is
    then = optimal.design(case.walker, free=fixed, cost=COST, slope=0.0, guess=machine, **case.asked)
    both = optimal.design(case.walker, free=case.free, cost=COST, slope=0.0, guess=then, **case.asked)
    return Compared(machine, then, both)


def main() -> dict[str, Compared]:
    comparisons = {}
    for name, case in cases().items():
        comparisons[name] = c = compare_case(case)
        print(f"{name}: squared torque over weight and distance, on level ground")
        for label, design in (("design, then control", c.then), ("both at once", c.both)):
            machine = ", ".join(f"{n} {v:.4g}" for n, v in design.parameters.items())
            print(
                f"  {label:22s} {design.result.cost:10.4g}   {machine}   "
                f"{'verified' if design.ok else 'not verified'}"
            )
        print(f"  both at once costs {c.both.result.cost / c.then.result.cost:.0%} of the other")
    return comparisons


if __name__ == "__main__":
    main()
