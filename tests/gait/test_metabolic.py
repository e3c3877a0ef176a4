"""Metabolic estimates against numbers of the papers' curves."""

import casadi as ca
import numpy as np
import pytest

from strut import gait
from strut.errors import ValueRangeError
from strut.gait.metabolic import cost_at_speed, force_at_speed, walking_cost


def value(f, *numbers):
    return float(f(*[ca.SX(number) for number in numbers]))


def test_work_costs_by_two_efficiencies():
    assert value(gait.work_metabolic_power, 25.0) == pytest.approx(100.0)
    assert value(gait.work_metabolic_power, -120.0) == pytest.approx(100.0)


def test_curves_of_a_muscle():
    """By hand: phi(0.2) = (0.054 + 0.1012 + 0.0984) / (1 - 0.226 + 0.512 - 0.01312); Hill's curve at 0.2 is
    0.8 / 1.8. No more than about half of the energy becomes work, as in muscle without recovery."""
    assert value(cost_at_speed, 0.2) == pytest.approx(0.2536 / 1.27288, rel=1e-12)
    assert value(cost_at_speed, -0.1) == pytest.approx(
        (0.054 - 0.0506 + 0.0246) / (1 + 0.113 + 0.128 + 0.00164)
    )
    assert value(cost_at_speed, 0.0) == pytest.approx(0.054)
    assert value(force_at_speed, 0.2) == pytest.approx(0.8 / 1.8)
    assert value(force_at_speed, 0.0) == 1.0
    assert value(force_at_speed, -1e-9) == pytest.approx(1.0, abs=1e-6)
    assert 1.0 < value(force_at_speed, -0.3) < 1.8
    speeds = np.linspace(0.01, 0.9, 90)
    shares = [u * value(force_at_speed, u) / value(cost_at_speed, u) for u in speeds]
    assert 0.4 < max(shares) < 0.55


def test_power_of_a_joint():
    def power(torque, rate):
        return float(gait.muscle_metabolic_power(ca.SX(torque), ca.SX(rate), 20.0))

    assert power(30.0, 0.0) == pytest.approx(30 * 20 * 0.054)
    assert power(-30.0, -4.0) == power(30.0, 4.0) > power(30.0, -4.0) > 0  # to be stretched costs less
    assert power(30.0, 40.0) == power(30.0, 18.0)  # cut at 0.9
    assert power(0.0, 3.0) == 0
    with pytest.raises(ValueRangeError, match="max_rate"):
        gait.muscle_metabolic_power(ca.SX(1), ca.SX(1), 0.0)


def test_walking_costs_a_person_what_the_guidelines_say():
    """At 80 m/min 11.5 ml of oxygen per kilogram and minute, 3.5 of them at rest; a litre frees 5 kcal."""
    net, gross = walking_cost(80 / 60)
    assert gross * 80 == pytest.approx(11.5 * 5 * 4.18)
    assert (gross - net) * 80 == pytest.approx(3.5 * 5 * 4.18)
