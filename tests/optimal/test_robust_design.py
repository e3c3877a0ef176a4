"""Robust design: replicas of a motion in one problem, with the machine shared."""

import math
from dataclasses import replace

import numpy as np
import pytest

from strut import Input, Param, State, System, contact, optimal, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.mechanism import Mechanism, joints
from strut.optimal import Scenario
from strut.optimal.solver import replicas
from strut.optimal.solver.replicas import solve_replicas
from strut.optimal.walk import robust_design as robust_design_file
from strut.optimal.walk.robust_design import JOINT_SETTINGS, joint_settings

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


def test_it_comes_back_from_a_file(robust, tmp_path):
    for back in (optimal.load(robust.save(tmp_path / "robust.h5")), robust.load(tmp_path / "robust.h5")):
        assert isinstance(back, optimal.RobustDesign)
        assert back.ok  # every walk is replayed anew
        assert back.scenarios == robust.scenarios
        assert back.parameters == robust.parameters
        assert back.columns() == robust.columns()
        assert back.limit_sentences == robust.limit_sentences
    own = optimal.load(tmp_path / "robust.h5", walkers.compass(slope=0.0))
    assert own.data() == robust.data()


def test_ctrl_c_keeps_the_walks_so_far(robust, monkeypatch, tmp_path):
    def search(progress=None):
        return optimal.robust_design(
            walkers.compass(slope=0.0),
            {"hip_spring": (0.0, 300.0)},
            scenarios=robust.scenarios,
            speed=0.5,
            progress=progress,
        )

    def stop_at(name):
        def progress(stage):
            if stage.name == name:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        search(stop_at("a machine for one scenario"))
    before = search(stop_at("all scenarios together"))
    assert (before.status, before.success, before.ok) == ("interrupted", False, False)
    assert (before.parameters, before.designs) == ({}, ())
    assert [each.parameters for each in before.alone] == [each.parameters for each in robust.alone]
    assert math.isnan(before.expected_cost)
    assert before.least_cost == robust.least_cost
    assert before.wrong == (
        "interrupted: of 2 machines for one scenario 2 were found, and of the walks of one machine in all of "
        "them 0",
    )
    assert before.columns()["verdict"] == ["interrupted", "interrupted"]
    assert "no expected cost: not every walk was found" in before.table()
    assert optimal.load(before.save(tmp_path / "before.h5")).status == "interrupted"

    real, calls = robust_design_file.design, []

    def design(*arguments, **options):
        calls.append(1)
        if len(calls) == 4:  # two machines for one scenario, and the second walk of one for both
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(robust_design_file, "design", design)
    half = search()
    assert half.is_interrupted
    assert half.parameters == pytest.approx(robust.parameters)
    assert len(half.designs) == 1
    assert half.designs[0].ok
    rows = half.data()["scenarios"]
    assert rows[0]["ok"]
    assert rows[1] == {"changes": robust.scenarios[1].changes, "weight": 1.0, "alone": rows[1]["alone"]}


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


def mean_slope(robust, name):
    """The slope of the expected cost by a parameter of the machine: envelope theorem, scenario by scenario."""
    return np.mean([each.result.cost_slopes[name] for each in robust.designs])


def pushed_walker():
    """A compass of one's own whose hip the wind may push."""
    turn = (0.0, -1.0, 0.0)
    m = Mechanism("pushed", planar=True)
    heel, foot = m.body("heel"), m.body("foot")
    m.joint("foot_x", m.world, heel, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", heel, foot, joints.prismatic("z"), actuated=False)
    stance = m.body("stance_leg", 5.0, (0, 0, 0.5))
    m.joint("stance", foot, stance, joints.revolute(turn), initial=0.2187, rate=-1.0924, actuated=False)
    hip = m.body("hip", 10.0)
    m.joint("hip_level", stance, hip, joints.gear("stance", -1.0, of=joints.revolute(turn)), at=(0, 0, 1.0))
    swing = m.body("swing_leg", 5.0, (0, 0, -0.5))
    m.joint("swing", hip, swing, joints.revolute(turn), initial=-0.3234, rate=-0.3774, actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -1.0))
    m.push("hip")
    spring = Param("hip_spring", 0.0, "N m/rad", bounds=(0, 1e3))
    drive = contact.Between("hip", {"swing": 1, "stance": -1}, spring, Param("hip_damping", 0.0, "N m s/rad"))
    swap = {"stance": "swing", "swing": "stance"}
    legs = contact.Legs(
        ("foot_x", "foot_z"), "stance_foot", "swing_foot", swap, "hip", 0.75, [drive], margin=0.02
    )
    return contact.stepping(m, legs, contact.plane(Param("slope", 0.0, "rad")))


def test_a_machine_for_pushes_against_and_with_it():
    robust = optimal.robust_design(
        pushed_walker(),
        {"hip_spring": (0, 300)},
        scenarios=[{"hip_push_x": -4.0}, {"hip_push_x": 4.0}],
        speed=0.5,
    )
    assert robust.ok, robust.wrong
    against, with_it = robust.designs
    assert against.replay.balance.relative < 1e-6  # what the push gives is in the books
    assert against.result.cost > 10 * with_it.result.cost  # it has to be paid for
    steepest = max(abs(each.result.cost_slopes["hip_spring"]) for each in robust.designs)
    assert abs(mean_slope(robust, "hip_spring")) < 1e-4 * steepest
    assert all("speed is exactly 0.5 m/s (asked)" in sentence for sentence in robust.limit_sentences)


@pytest.fixture(scope="module")
def bounded():
    """Legs that may come out too light or too heavy, and a spring that is softer than would be best."""
    return optimal.robust_design(
        walkers.compass(slope=0.0),
        {"hip_spring": (0, 20)},
        scenarios=[{"leg_mass": 4.5}, {"leg_mass": 5.5}],
        speed=0.5,
        tolerance=1e-10,
    )


def test_a_machine_for_parameters_that_are_not_as_they_were_meant(bounded):
    assert bounded.ok, bounded.wrong
    assert bounded.parameters["hip_spring"] == pytest.approx(20.0, abs=1e-6)
    (limit,) = bounded.parameter_limits
    assert (limit.name, limit.side, limit.source) == ("bounds of hip_spring", "high", "asked")
    assert limit.slope == pytest.approx(mean_slope(bounded, "hip_spring"), rel=1e-3)
    assert limit.slope < 0
    assert bounded.limit_sentences[0].startswith(
        "bounds of hip_spring is at most 20 N m/rad (asked): a newton"
    )
    assert bounded.data()["parameter_limits"][0]["value"] == limit.value


def test_machines_of_one_world_that_are_not_ok_are_told(bounded):
    failed = replace(bounded.alone[0], result=replace(bounded.alone[0].result, success=False))
    doubted = replace(bounded, alone=(failed, bounded.alone[1]))
    assert bounded.doubts == ()
    (doubt,) = doubted.doubts
    assert doubt.startswith("the machine for leg_mass 4.5 alone, which is compared with: ")
    assert doubted.data()["doubts"] == [doubt]
    assert doubted.ok  # the machine itself is as good as it was
    assert "below which no single one gets if these are the best" in doubted.table()


def test_replicas_are_judged_by_the_conditions_of_an_optimum(monkeypatch):
    monkeypatch.setattr(replicas, "MAX_KKT_RESIDUAL", 1e-300)
    together = solve_replicas([solved(spring_cart(), k=(0, 50)) for _ in range(2)], (1.0, 1.0), {"tol": 1e-9})
    assert not together.success
    assert together.status.startswith("the conditions of an optimum hold to ")
    assert set(together.kkt) == {"stationarity", "feasibility", "complementarity"}


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_replicas_are_solved_in_units_that_suit_them(unit):
    """The cart of above, its way in another unit of length: the spring is the same."""
    x, v = State("x"), State("v")
    k, f = Param("k", 1.0, "N/m", bounds=(0.0, 50.0)), Input("f", 0.0, "N")
    flow = {x: v, v: f * unit - k * (x - unit * WAY / 2)}
    system = System("spring_cart", x=(x, v), u=(f,), p=(k,), flow=flow)
    effort = optimal.Integral("effort", f**2)
    problem = optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=unit * WAY, v=0)
    alone = problem.free(k=(0, 50)).minimise(effort).solve(control="cubic", intervals=10)
    together = solve_replicas([alone, alone], (1.0, 1.0), {"tol": 1e-9})
    assert together.success, together.status
    assert together.parameters["k"] == pytest.approx((math.pi / TIME) ** 2, rel=1e-4)


def test_what_is_asked_holds_for_all_replicas_together():
    asked = {"tolerance": 1e-8, "iterations": 7, "budget": 3.0, "options": {"mu_init": 0.5}, "speed": 0.5}
    assert joint_settings(asked) == {"tol": 1e-8, "max_iter": 7, "max_wall_time": 3.0, "mu_init": 0.5}
    assert joint_settings({"budget": math.inf}) == JOINT_SETTINGS


def test_a_price_on_torque_is_not_for_costs_that_are_compared():
    walker, priced = walkers.compass(slope=0.0), {"speed": 0.5, "price_torque": True}
    worlds = [Scenario({"slope": 0.0}), Scenario({"slope": 0.01})]
    for call in (
        lambda: optimal.robust_design(walker, "hip_spring", "energy", scenarios=worlds, **priced),
        lambda: optimal.walks_in(walker, worlds, "energy", **priced),
        lambda: optimal.trade_off(walker, "slope", [0.0, 0.01], cost="energy", **priced),
    ):
        with pytest.raises(
            ModelError, match="price_torque=True cannot be asked of .* squared torque by hand"
        ):
            call()
