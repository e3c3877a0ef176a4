"""The compass gait: passive, driven, designed; and what the simulator says to it."""

import copy
import math
import pickle

import casadi as ca
import numpy as np
import pytest

from strut import gait, optimal, simulate, walkers
from strut.errors import UnknownNameError
from strut.optimal.nlp.scheme import METHODS

SLOPE = math.radians(3)


@pytest.fixture(scope="module")
def compass():
    return walkers.compass(slope=SLOPE)


@pytest.fixture(scope="module")
def passive(compass):
    return gait.find(compass)


@pytest.fixture(scope="module")
def sprung(compass, passive):
    """A spring in the hip instead of a motor, at a speed that the compass does not have by itself."""
    return optimal.design(
        compass, free={"hip_spring": (0, 100)}, cost="squared-torque", speed=0.8, guess=passive
    )


@pytest.fixture(scope="module")
def level(compass, passive):
    """On level ground motors must give what the impact takes."""
    return optimal.design(compass, cost="squared-torque", slope=0.0, speed=0.5, guess=passive, intervals=16)


def test_gaits_and_designs_survive_a_pickle(passive, sprung):
    for back in (pickle.loads(pickle.dumps(passive)), copy.deepcopy(passive)):
        assert back.x0 == passive.x0
        assert back.trajectory.raw.x_end.tolist() == passive.trajectory.raw.x_end.tolist()
        assert back.derivative("slope") == passive.derivative("slope")
    for back in (pickle.loads(pickle.dumps(sprung)), copy.deepcopy(sprung)):
        assert back.parameters == sprung.parameters
        assert back.result.cost == sprung.result.cost
        assert back.wrong == sprung.wrong
        assert back.gait.multipliers.tolist() == sprung.gait.multipliers.tolist()
        assert ca.is_equal(back.cost.expression, sprung.cost.expression, 100)


@pytest.mark.parametrize("method", METHODS)
def test_passive_gait_is_the_one_without_cost(compass, passive, method):
    effort = optimal.Integral("effort", compass["hip_torque"] ** 2)
    one = (
        optimal.Problem(compass)
        .phase("step", until="heel_strike", duration=(0.65, 2))
        .periodic()
        .minimise(effort)
    )
    guess = {
        "stance": (0.25, -0.3),
        "swing": (-0.35, 0.22),
        "stance_rate": -1.0,
        "swing_rate": lambda s: 3 * math.sin(3 * s),
        "duration": 0.8,
    }
    found = one.solve(guess, method=method, steps=2, control="constant", accuracy=1e-9)
    assert found.ok, (found.status, found.worst)
    assert found.cost < 1e-10
    assert max(abs(found.x0[n] - passive.x0[n]) for n in passive.x0) < 1e-7
    assert abs(found.duration - passive.period) < 1e-7


def test_a_design_is_solved_accurate_and_replayed(sprung):
    assert sprung.ok
    assert max(sprung.result.kkt.values()) < 1e-6
    assert sprung.result.defect < 1e-6
    assert abs(sprung.speed - 0.8) < 1e-7
    assert abs(sprung.replay.late) < 1e-6
    assert sprung.replay.balance.relative < 1e-6
    assert sprung.result.cost < 1e-9  # the spring does it alone
    assert sprung.parameters["hip_spring"] == pytest.approx(7.8604, abs=1e-3)


def test_its_gait_is_that_of_the_sprung_walker(sprung):
    """The spring alone makes the gait, so that a search without any optimisation must find the same one."""
    alone = gait.find(sprung.system, sprung.result.x0)
    assert sprung.gait.stable
    assert alone.speed == pytest.approx(0.8, abs=1e-5)
    known = np.sort(np.abs(alone.multipliers))[-3:]
    assert np.allclose(np.sort(np.abs(sprung.gait.multipliers))[-3:], known, atol=1e-4)


def test_on_level_ground_motors_give_what_the_impact_takes(level):
    assert level.ok, level.table()
    balance = level.replay.balance
    assert abs(balance.fallen) < 1e-5
    assert balance.work > 0.1
    assert balance.relative < 1e-5
    assert abs(balance.lost - level.energy_lost) < 1e-5
    assert level.result.totals["squared_torque"] == pytest.approx(
        level.result.accurate_totals["squared_torque"], rel=1e-6
    )


def test_the_machine_walks_by_itself(level):
    """With its plan built in the walker is a system without inputs, and one step ends where it began."""
    machine = level.machine
    assert not machine.u
    run = simulate(machine, t=level.result.duration * (1 + 1e-6), x0=level.result.x0)
    assert run.events.counts()["heel_strike"] == 1
    assert run.ledger.relative < 1e-8
    end = dict(zip(run.names.x, run.raw.x_end, strict=False))
    assert all(abs(end[n] - v) < 1e-4 for n, v in level.result.x0.items())
    t = np.linspace(0, 0.99 * level.result.duration, 50)
    assert np.allclose(run.at(t)["hip_torque_planned"], level.result.at(t)["hip_torque"], atol=1e-6)


def test_freeing_a_parameter_never_costs(compass, passive, level):
    """Design and control at once are at least as good as control alone, on the same cost."""
    both = optimal.design(
        compass,
        free={"hip_spring": (0, 100)},
        cost="squared-torque",
        slope=0.0,
        speed=0.5,
        guess=level,
        intervals=16,
    )
    assert both.ok
    assert both.result.cost < level.result.cost


@pytest.mark.parametrize("cost", ["paper", "energy", "absolute-work", "positive-work"])
def test_costs_mean_what_they_say(compass, passive, cost):
    found = optimal.design(
        compass, cost=cost, step_length=(0.4, 0.8), torque=20, guess=passive, accuracy=1e-6, budget=math.inf
    )
    assert found.result.ok, found.result.status
    carried, b = found.weight * found.step_length, found.replay.balance
    work, lost = b.work, b.lost
    expected = {
        "paper": math.sin(SLOPE) + (math.sqrt(2 * lost) + work) / carried,
        "energy": math.sin(SLOPE) + (lost + work) / carried,
        "absolute-work": 0.0,
        "positive-work": 0.0,
    }[cost]
    assert found.result.cost == pytest.approx(expected, abs=2e-5)
    if cost == "energy":  # fallen + work = lost: twice what is lost, over weight and distance
        assert found.result.cost == pytest.approx(2 * lost / carried, abs=2e-5)
        assert work < 0


def test_friction_and_normal_force_are_kept(compass, passive):
    free = optimal.design(
        compass,
        cost="energy",
        step_length=(0.4, 0.8),
        torque=20,
        guess=passive,
        accuracy=1e-5,
        budget=math.inf,
    )
    held = optimal.design(
        compass, cost="energy", step_length=(0.4, 0.8), torque=20, guess=passive, accuracy=1e-5, friction=0.2
    )
    assert held.result.ok
    slack = max(
        held.result.path_violations[f"stance does not slip {way}"] for way in ("forwards", "backwards")
    )
    assert 0 < slack < 1.0  # [N] of about 100: between the points of the mesh
    assert held.replay.foot_loads[0].friction_needed < 0.2 * 1.02
    assert free.replay.foot_loads[0].friction_needed > 0.21
    assert held.result.cost > free.result.cost


def test_impossible_speeds_are_explained(compass, passive):
    found = optimal.design(
        compass, cost="energy", speed=9.0, torque=1.0, guess=passive, iterations=60, accuracy=None
    )
    assert not found.ok
    assert found.result.worst


def test_mistakes(compass):
    with pytest.raises(UnknownNameError, match="no cost 'enrgy': did you mean 'energy'"):
        optimal.design(compass, cost="enrgy")
    with pytest.raises(UnknownNameError, match="has no parameter 'spring'"):
        optimal.design(compass, free=["spring"])


def test_forces_reach_up_to_the_event_that_ends_the_motion(passive):
    """The friction a foot needs is largest just before the other lands: a run that stops a nanosecond before says the same."""
    walker = walkers.compass(slope=0.0)
    found = optimal.design(walker, cost="squared-torque", speed=0.5, guess=passive, intervals=16)
    run = found.replay.run
    strike = run.events.times("heel_strike")[-1]
    short = simulate(found.machine, t=strike - 1e-9, x0=found.result.x0, rtol=1e-11, atol=1e-12)
    needed = np.abs(short["stance_friction"] / short["stance_normal"])
    assert needed[-1] == pytest.approx(needed.max())  # at the very end
    assert found.replay.foot_loads[0].friction_needed == pytest.approx(needed.max(), rel=1e-6)
    assert found.replay.foot_loads[0].least_normal == pytest.approx(short["stance_normal"].min(), rel=1e-3)


def test_several_costs_begin_from_a_gait_of_the_walker_without_their_weights(compass, passive):
    both = optimal.design(
        compass,
        free={"hip_spring": (0, 100)},
        cost={"squared-torque": 1, "energy": 1},
        speed=0.8,
        guess=passive,
    )
    assert both.ok
