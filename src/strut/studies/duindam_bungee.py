"""Duindam's bungee jump: a rope that is one spring is barely safe, the same rope in ten pieces with their
weight is not."""

from __future__ import annotations

import operator
from functools import partial

import numpy as np

from strut.ports import BondGraph, system
from strut.simulate import simulate
from strut.studies.study import Row, Study
from strut.system import Param, System

BRIDGE = 60.0
"""Height of the bridge above the ground [m]."""
DURATION = 8.0
"""Of the jump, until well after its lowest point [s]."""
SEGMENTS = 10
"""Pieces of the rope."""


def bungee(segments: int) -> BondGraph:
    """The jump as a bond graph. One segment: the person alone on a spring and a damper. More: each a piece of
    the rope, with its mass below it, spring and damper n times as stiff; the person hangs on the last. The
    rope's own length is taken as zero."""
    g = BondGraph("bungee")
    person, rope = Param("person", 91.0, "kg"), Param("rope", 9.0, "kg")
    k, d = Param("k", 30.0, "N/m"), Param("d", 1.0, "N s/m")
    gravity = Param("g", 9.81, "m/s^2", description="gravity")
    g.flow_source("bridge", 0.0, domain="translation")
    above = "bridge"
    for i in range(segments):
        last = i == segments - 1
        mass = person if segments == 1 else (rope / segments + person if last else rope / segments)
        g.one(f"fall_{i}")
        g.inertia(f"mass_{i}", mass, domain="translation")
        weight = mass * gravity
        g.compliance(
            f"height_{i}", energy=partial(operator.mul, weight), domain="translation", initial=BRIDGE
        )
        g.bond(f"fall_{i}", f"mass_{i}", f"height_{i}")
        # the piece of rope above it is stretched by the difference of two velocities
        g.zero(f"force_{i}")
        g.one(f"stretch_{i}")
        g.compliance(f"spring_{i}", stiffness=segments * k, domain="translation")
        g.resistor(f"damper_{i}", segments * d, domain="translation")
        g.bond(above, f"force_{i}")
        g.bond(f"force_{i}", f"stretch_{i}", f"fall_{i}")
        g.bond(f"stretch_{i}", f"spring_{i}", f"damper_{i}")
        above = f"fall_{i}"
    return g


def lowest_height(jump: System, segments: int) -> float:
    """The lowest height that the person reaches [m]."""
    run = simulate(jump, DURATION)
    times = np.linspace(0.0, DURATION, 2001)
    name = f"height_{segments - 1}.q"
    near = times[int(np.argmin(run.at(times)[name]))]
    close = np.linspace(near - DURATION / 2000, near + DURATION / 2000, 201)
    return float(run.at(close)[name].min())


def rows() -> list[Row]:
    """The lowest point of both jumps."""
    lumped, pieces = (lowest_height(system(bungee(n)), n) for n in (1, SEGMENTS))
    return [
        Row("lowest height, rope as one spring [m]", "barely safe", f"{lumped:.2f}"),
        Row(f"lowest height, rope in {SEGMENTS} pieces [m]", "crashes", f"{pieces:.2f}"),
    ]


STUDY = Study(
    "duindam-bungee",
    "A bungee jump, lumped and distributed, as bond graphs",
    "Duindam, Port-based modeling and control for efficient bipedal walking robots (2006), example 1.1",
    rows,
)
