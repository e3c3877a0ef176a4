"""Multipliers over a stride: of a driven oscillator, whose are known in closed form, and of a worn machine."""

import casadi as ca
import numpy as np
import pytest

from strut.studies.exoskeleton_stability import stride_stability
from strut.system import Param, State, System, time

PERIOD = 0.8
"""[s] Of the drive."""


def oscillator(damping, stiffness=30.0):
    """A mass on a spring that is driven with the period, and a place that only grows."""
    x, v, place = State("swing"), State("rate"), State("x")
    c = Param("damping", damping)
    push = 5 * ca.cos(2 * np.pi * time / PERIOD)
    flow = {"swing": v.sym, "rate": push - stiffness * x.sym - c.sym * v.sym, "x": 1.0 + v.sym}
    return System("oscillator", x=[x, v, place], p=[c], flow=flow)


def test_multipliers_of_a_driven_oscillator():
    """exp(-c T / 2) below critical damping, whatever the drive; above it the slower of two."""
    soft = stride_stability(oscillator(2.0), period=PERIOD, step=1e-3)
    assert soft.strides == 1
    assert soft.largest == pytest.approx(np.exp(-2.0 * PERIOD / 2), rel=1e-5)
    assert soft.per_stride == soft.largest
    rate = -10.0 + np.sqrt(100.0 - 30.0)
    stiff = stride_stability(oscillator(20.0), period=PERIOD, step=1e-3)
    assert stiff.largest == pytest.approx(np.exp(rate * PERIOD), rel=1e-4)


def test_an_unstable_gait_is_found_by_chords():
    """Newton's method comes to a gait that a walk leaves: a negative damper has multipliers above 1."""
    answer = stride_stability(oscillator(-0.1), period=PERIOD, step=1e-3, settling=3)
    assert answer.strides == 1
    assert answer.largest == pytest.approx(np.exp(0.1 * PERIOD / 2), rel=1e-5)
