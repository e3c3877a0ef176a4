"""Walkers on rigid ground, whose landings ask who touches: planned on the branch of a gait, replayed with every question open."""

import casadi as ca
import numpy as np
import pytest

from strut import gait, simulate, walkers
from strut.errors import ModelError
from strut.optimal import design
from strut.optimal.walk.frozen_branch import freeze_branch, freeze_event
from strut.optimal.walk.read_walk import clears_ground
from strut.system import Discrete, Event, Param, State, System


@pytest.fixture(scope="module")
def passive():
    return gait.find(walkers.compass_duindam())


def test_questions_are_answered_and_become_conditions():
    x, p = State("x", 1.0), Param("p", 2.0)
    side = Discrete("side", 0.0)
    bent = ca.if_else(x.sym > 0.5, p.sym * x.sym, -x.sym) + ca.fabs(x.sym - 3) + ca.fmax(x.sym, p.sym)
    system = System(
        "bent",
        x=(x,),
        p=(p,),
        z=(side,),
        flow={x: 1.0},
        events=(Event("turn", guard=x.sym - 1, reset={x: bent, side: 1}),),
    )
    event, conditions = freeze_event(system, system.events[0], (0.0, [1.0], [0.0], [], [2.0]))
    f = ca.Function("f", [x.sym, p.sym], [ca.SX(event.reset["x"]), ca.vertcat(*conditions)])
    value, margins = f(1.25, 2.0)
    assert float(value) == pytest.approx(2 * 1.25 + (3 - 1.25) + 2.0, abs=1e-14)
    assert np.allclose(sorted(np.array(margins).ravel()), sorted([1.25 - 0.5, 3 - 1.25, 2.0 - 1.25]))
    assert float(f(4.0, 2.0)[0]) == pytest.approx(
        2 * 4 + (3 - 4) + 2.0
    )  # the same branch where the other one is true
    assert (np.array(f(4.0, 2.0)[1]) < 0).any()  # and a condition says that it is


def test_a_smooth_reset_needs_no_branch():
    walker = walkers.simplest()
    assert freeze_branch(walker, gait.find(walker), ("heel_strike",)) is None


def test_the_passive_gait_is_found_again(passive):
    found = design(walkers.compass_duindam(), cost="squared-torque", speed=passive.speed)
    assert found.ok
    assert found.result.cost < 1e-10
    for name in ("leg", "hip", "leg_rate", "hip_rate"):
        assert found.result.x0[name] == pytest.approx(passive.x0[name], abs=1e-7)
    assert found.result.duration == pytest.approx(passive.period, abs=1e-7)
    assert abs(found.gait.multipliers[0]) == pytest.approx(abs(passive.multipliers[0]), abs=1e-6)


def test_a_driven_walk_with_a_free_mass(passive):
    found = design(
        walkers.compass_duindam(), {"hip_mass": (1.0, 20.0)}, "squared-torque", speed=0.6, friction=0.5
    )
    assert found.ok, found.table()
    assert found.speed == pytest.approx(0.6)
    assert found.replay.balance.relative < 1e-6
    assert [load.foot for load in found.replay.foot_loads] == ["foot_l"]
    assert 0 < found.replay.foot_loads[0].friction_needed < 0.5
    assert found.system.name == found.planned_system.name
    assert found.system.events != found.planned_system.events


def test_a_fast_plan_holds_its_foot_and_is_mirrored():
    """At 0.8 m/s the swing leg is thrown so hard that Duindam's rule would let the stance foot go: the plan does
    not, and after the exchange of legs the motor turns the other way, step after step."""
    fast = design(walkers.compass_duindam(), speed=0.8, slope=0.0)
    assert fast.ok, fast.wrong
    assert fast.replay.repeats
    run = simulate(fast.machine, t=3.5 * fast.step_time, rtol=1e-9, atol=1e-10)
    landings = [e.name for e in run.events if e.name.endswith("touchdown")]
    assert landings == ["foot_r_touchdown", "foot_l_touchdown", "foot_r_touchdown"]
    assert not [e.name for e in run.events if e.name.endswith("release")]


def test_knees_keep_the_foot_clear_of_the_ground():
    """The cheapest motion grazes the ground and lets its knee strike twice, if it may: then the simulator tells another story."""
    found = design(walkers.kneed(), cost="energy", torque=1.0, speed=0.5, clearance=0.02, budget=np.inf)
    assert found.ok, found.table()
    assert [m.until for m in found.result.phases] == ["passes", "knee_strike", "heel_strike"]
    run = found.replay.run
    passing = next(e.t for e in run.events if e.name == "passes")
    assert run.at(passing)["clearance"] >= 0.02 - 1e-6
    assert run.at(np.linspace(1e-3, run.t1 - 1e-3, 300))["clearance"].min() > 0
    assert max(found.result.path_violations.values()) < 1e-6


def test_stiff_legs_are_not_asked_to_clear(passive):
    assert not clears_ground(passive)
    assert clears_ground(gait.find(walkers.kneed()))
    with pytest.raises(
        ModelError,
        match="clearance is asked, but 'rimless_wheel' has no foot that lands in 'heel_strike' of which",
    ):
        design(walkers.rimless_wheel(), clearance=0.1, cost="none")
