"""Systems that take turns, each with states of its own."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from examples import polar_hopper
from strut import Event, Input, Param, Sample, State, Switch, System, gait, optimal, walkers
from strut.errors import ModelError, UnknownNameError
from strut.system import activate

SAME_MOTION = 1e-9
"""[m, m/s] One motion in two kinds of coordinates, each integrated to 1e-10."""


def run_of(system, time=3.0, **begin):
    return strut.simulate(system, time, x0=begin, tolerance=1e-12)


def test_a_hopper_in_polar_coordinates_is_one_in_cartesian_coordinates():
    """Two phases of another system each, against `walkers.slip`, whose states are the same all along."""
    begin = {"x": 0.0, "y": 1.0, "vx": 5.0, "vy": 0.0}
    polar, cartesian = run_of(polar_hopper.hopper(), **begin), run_of(walkers.slip(), **begin)
    ours = [(e.name, e.t) for e in polar.events if e.name != "apex"]
    theirs = [(e.name, e.t) for e in cartesian.events if e.name != "finished"]
    count = min(len(ours), len(theirs))
    assert count >= 6
    for (name, t), (other, there) in zip(ours[:count], theirs[:count], strict=True):
        assert name == other
        assert t == pytest.approx(there, abs=SAME_MOTION)
    landings = [t for name, t in ours[:count] if name == "takeoff"]
    after = landings[-1] + 0.02  # in the air: both have the same states
    for name in begin:
        assert polar.at(after)[name] == pytest.approx(cartesian.at(after)[name], abs=1e-7)
    assert abs(polar.energy.residual).max() < 1e-6  # J, of 1785 J
