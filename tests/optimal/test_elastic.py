"""Walkers designed together with the springs of their drives: cheaper than rigid ones, and the simulator agrees."""

import casadi as ca
import numpy as np
import pytest

from strut import actuator, optimal, walkers
from strut.gait import weight_of
from strut.system.quantity import time

ASKED = {"speed": 0.5, "step_length": 0.35, "torque": 100.0, "intervals": 16}


@pytest.fixture(scope="module")
def compass():
    return walkers.compass(slope=0.0)


@pytest.fixture(scope="module")
def found(compass):
    """On level ground, where motors must give what the impact takes; the same cost and constraints for all."""
    return {
        kind: optimal.design(
            actuator.driven(compass, kind),
            free=actuator.constants(compass, kind),
            cost="squared-torque-per-metre",
            accuracy=1e-8,
            **ASKED,
        )
        for kind in actuator.KINDS
    }


@pytest.mark.parametrize("kind", actuator.KINDS)
def test_it_is_verified(found, kind):
    design = found[kind]
    assert design.ok
    assert max(design.result.kkt.values()) < 1e-6
    assert design.result.defect < 1e-6
    assert abs(design.replay.late) < 1e-6
    assert design.replay.run.ledger.relative < 1e-9
    balance = design.replay.balance
    assert balance.work == pytest.approx(balance.lost + balance.dissipated, rel=1e-5)
    assert len(design.gait.multipliers) == (7 if kind == "series" else 5)  # with the clock of the plan


def test_springs_beat_a_rigid_drive(found):
    rigid, series, parallel = (found[kind].result.cost for kind in ("rigid", "series", "parallel"))
    assert parallel < 0.9 * rigid
    assert series < 0.5 * rigid
    assert found["parallel"].parameters["hip_spring"] == pytest.approx(8.439, rel=1e-3)
    assert found["series"].parameters["hip_series_spring"] == pytest.approx(92.98, rel=1e-3)


@pytest.mark.parametrize(("kind", "name"), [("series", "hip_series_spring"), ("parallel", "hip_spring")])
def test_no_spring_nearby_is_better(compass, found, kind, name):
    """The constant that was found is a minimum: with others that are held, the best torque costs more."""
    best = found[kind]
    for factor in (0.97, 1.03):
        held = best.parameters[name] * factor
        other = optimal.design(
            actuator.driven(compass, kind),
            free={name: (held, held)},
            cost="squared-torque-per-metre",
            guess=best,
            phases=("heel_strike",),
            accuracy=1e-7,
            **ASKED,
        )
        assert other.result.success
        assert other.result.cost > best.result.cost


def test_costs_per_metre_count_the_motor(found):
    """Squared torque of the motor, not of the joint; over distance, and not over weight."""
    for design in found.values():
        name = design.system.labels("u")[0]
        t = np.linspace(0, design.result.duration, 2001)
        torque = design.result.at(t)[name]
        assert design.result.cost == pytest.approx(np.trapezoid(torque**2, t) / design.step_length, rel=1e-4)
    series = found["series"]
    spring = np.abs(series.replay.run["hip_torque"]).max()
    assert spring > 4 * np.abs(series.result["hip_motor_torque"]).max()  # it rings


@pytest.mark.parametrize("cost", ["absolute-work", "squared-torque"])
def test_per_metre_is_the_same_without_the_weight(compass, cost):
    states = [q for g in "xzup" for q in getattr(compass, g)]
    numbers = np.concatenate(
        [np.full(q.size, 0.1) if not isinstance(q.value, np.ndarray) else q.value for q in states]
    )
    found = []
    for name in (cost, f"{cost}-per-metre"):
        made = optimal.cost_of_transport(compass, name, ("heel_strike",))
        symbols = ca.vertcat(*[q.sym for q in states], *[t.sym for t in made.totals])
        found.append(
            float(
                ca.Function("cost", [symbols, time], [made.expression])(
                    np.append(numbers, np.ones(len(made.totals))), 0.0
                )
            )
        )
    assert found[1] / found[0] == pytest.approx(weight_of(compass))
