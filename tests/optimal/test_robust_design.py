"""Robust design: replicas of a motion in one problem, with the machine shared."""

import math

import numpy as np
import pytest

from strut import Input, Param, State, System, optimal, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.optimal import Scenario
from strut.optimal.solver.replicas import solve_replicas

TIME, WAY = 1.0, 1.0


def spring_cart():
    """A cart of 1 kg on a spring, k [N/m], that a force moves; the rest length of the spring is a load."""
    x, v = State("x", 0.0, "m"), State("v", 0.0, "m/s")
    k, load = Param("k", 1.0, "N/m", bounds=(0.0, 50.0)), Param("load", 0.0, "N")
    f = Input("f", 0.0, "N")
    flow = {"x": v, "v": f.sym - k.sym * (x.sym - WAY / 2) - load.sym}
    return System("spring_cart", x=(x, v), u=(f,), p=(k, load), flow=flow)


def solved(system, **free):
    """From rest to rest with the least integral of f^2."""
    effort = optimal.Integral("effort", system["f"] ** 2)
    problem = optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0)
    problem = problem.free(**free) if free else problem
    return problem.minimise(effort).solve(control="cubic", intervals=10)


def test_replicas_that_are_alike_choose_what_one_does():
    """From rest to rest through the middle of its spring, a cart of 1 kg swings by itself in T where
    k = (pi / T)^2: no force is needed."""
    system = spring_cart()
    together = solve_replicas([solved(system, k=(0, 50)) for _ in range(2)], (1.0, 3.0), {"tol": 1e-9})
    assert together.success
    assert together.parameters["k"] == pytest.approx((math.pi / TIME) ** 2, rel=1e-4)
    assert together.cost == pytest.approx(0.0, abs=1e-7)


def test_the_joint_optimum_is_that_of_the_mean_cost():
    """Parameters that each replica alone would choose otherwise: the mean cost is stationary at what is
    found, by exact slopes of every replica with the parameter held."""
    system = spring_cart()
    far = solved(system.using(load=0.0), k=(0, 50))
    effort = optimal.Integral("effort", system["f"] ** 2)
    problem = optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=WAY / 2, v=0)
    near = problem.free(k=(0, 50)).minimise(effort).solve(control="cubic", intervals=10)
    assert abs(far.parameters["k"] - near.parameters["k"]) > 1  # they want other springs
    together = solve_replicas([far, near], (3.0, 1.0), {"tol": 1e-9})
    k = together.parameters["k"]
    held_far = solved(system.using(k=k))
    held_near = optimal.Problem(system.using(k=k)).phase(duration=TIME).begin(x=0, v=0).end(x=WAY / 2, v=0)
    held_near = held_near.minimise(effort).solve(control="cubic", intervals=10)
    assert together.cost == pytest.approx(0.75 * held_far.cost + 0.25 * held_near.cost, rel=1e-6)
    slope = 0.75 * held_far.cost_slopes["k"] + 0.25 * held_near.cost_slopes["k"]
    assert slope == pytest.approx(0.0, abs=1e-5 * abs(held_far.cost_slopes["k"]) + 1e-7)


@pytest.fixture(scope="module")
def robust():
    slopes = np.radians([-1.0, 1.0])
    return optimal.robust_design(
        walkers.compass(slope=0.0),
        {"hip_spring": (0.0, 300.0)},
        scenarios=[{"slope": slope} for slope in slopes],
        speed=0.5,
    )


def test_one_machine_for_two_slopes(robust):
    assert robust.ok, robust.wrong
    assert robust.wrong == ()
    assert {each.parameters["hip_spring"] for each in robust.alone} != {robust.parameters["hip_spring"]}
    for each in robust.designs:
        assert each.parameters == {}  # the machine stays as it is
        assert each.system["hip_spring"] is not None
        assert each.speed == pytest.approx(0.5, abs=1e-7)
    assert robust.least_cost < robust.expected_cost
    for own in robust.alone:  # no other spring of these is better on the whole
        walks = optimal.walks_in(
            walkers.compass(slope=0.0).using(own.parameters), robust.scenarios, speed=0.5, guess=own
        )
        assert np.mean([walk.result.cost for walk in walks]) > robust.expected_cost
    assert [row["changes"] for row in robust.data()["scenarios"]] == [s.changes for s in robust.scenarios]
    assert "expected cost" in robust.table()


def test_scenarios_that_cannot_be(robust):
    walker, asked = walkers.compass(slope=0.0), {"speed": 0.5}
    with pytest.raises(ModelError, match="it has 1 scenarios and 1 free parameters, at least 2 and 1"):
        optimal.robust_design(walker, "hip_spring", scenarios=[{"slope": 0.0}], **asked)
    with pytest.raises(ModelError, match="'hip_spring' is free and changed by a scenario"):
        optimal.robust_design(
            walker, "hip_spring", scenarios=[{"hip_spring": 1.0}, {"hip_spring": 2.0}], **asked
        )
    with pytest.raises(UnknownNameError, match="a scenario changes 'slop'.*did you mean 'slope'"):
        optimal.robust_design(walker, "hip_spring", scenarios=[{"slop": 0.0}, {"slop": 0.1}], **asked)
    with pytest.raises(ValueRangeError, match="a scenario has the weight 0: it must be positive"):
        Scenario({"slope": 0.0}, weight=0.0)
    with pytest.raises(ValueRangeError, match="'slope' of a scenario is 'steep': a number is needed"):
        Scenario({"slope": "steep"})
    with pytest.raises(ModelError, match="stability cannot be asked of a robust design: .*optimal.stabilise"):
        optimal.robust_design(walker, "hip_spring", scenarios=[{"slope": 0.0}, {"slope": 0.1}], stability=0.9)
    assert Scenario().label == "as it is"
    assert math.isfinite(robust.expected_cost)
