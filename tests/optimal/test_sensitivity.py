"""Sensitivities of an optimum: closed forms, and the same problems solved again a little further on."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from strut import Input, Param, State, System, optimal, walkers
from strut.errors import ModelError, StrutError, UnknownNameError
from strut.optimal.solver import kkt_step
from strut.optimal.solver import solve as solve_file
from strut.optimal.walk.parameter_slope import no_slopes_reason
from strut.report import design_result

MASS, WAY, TIME = 2.0, 1.5, 0.8


def cart():
    """A mass [kg] that a force pushes, and a second parameter that only a cost knows."""
    x, v = State("x", 0.0, "m"), State("v", 0.0, "m/s")
    m, s = Param("m", MASS, "kg"), Param("s", 1.0, "kg", bounds=(0.0, 10.0))
    f = Input("f", 0.0, "N")
    return System("cart", x=(x, v), u=(f,), p=(m, s), flow={"x": v, "v": f.sym / m.sym})


@pytest.fixture(scope="module")
def moved():
    """From rest to rest: the least integral of f^2 is 12 m^2 d^2 / T^3."""
    system = cart()
    effort = optimal.Integral("effort", system["f"] ** 2)
    price = effort + (system["s"] - system["m"]) ** 2
    problem = (
        optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0).free("s").minimise(price)
    )
    return problem.solve(control="linear", intervals=4)


def test_cost_and_motion_by_a_parameter_have_closed_forms(moved):
    assert moved.cost == pytest.approx(12 * MASS**2 * WAY**2 / TIME**3, rel=1e-9)
    by_mass = moved.sensitivity("m")
    assert by_mass.cost == pytest.approx(24 * MASS * WAY**2 / TIME**3, rel=1e-8)
    assert moved.cost_slopes == {"m": pytest.approx(by_mass.cost, rel=1e-12)}
    assert by_mass.parameters["s"] == pytest.approx(1.0, rel=1e-8)  # s follows m
    assert np.allclose(by_mass.motion["f"], moved["f"] / MASS, atol=1e-7)  # the force is in proportion
    assert np.allclose(by_mass.motion["x"], 0, atol=1e-9)
    assert by_mass.duration == pytest.approx(0, abs=1e-12)


def test_cost_and_motion_by_what_was_asked(moved):
    by_way = moved.sensitivity("x at the end")
    assert by_way.side == "equal"
    assert by_way.cost == pytest.approx(24 * MASS**2 * WAY / TIME**3, rel=1e-8)
    assert np.allclose(by_way.motion["x"], moved["x"] / WAY, atol=1e-8)
    by_time = moved.sensitivity("duration of motion")
    assert by_time.cost == pytest.approx(-36 * MASS**2 * WAY**2 / TIME**4, rel=1e-8)
    assert by_time.duration == pytest.approx(1.0)
    assert np.allclose(by_time.motion["f"], -2 * moved["f"] / TIME, atol=1e-6)


def test_the_bound_of_a_free_parameter():
    system = cart()
    effort = optimal.Integral("effort", system["f"] ** 2)
    price = effort + (system["s"] - system["m"]) ** 2
    narrow = optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0)
    found = narrow.free(s=(0, 1.5)).minimise(price).solve(control="linear", intervals=4)
    by_bound = found.sensitivity("bounds of s")
    assert (by_bound.side, by_bound.cost) == ("high", pytest.approx(2 * (1.5 - MASS), rel=1e-6))
    assert by_bound.parameters["s"] == pytest.approx(1.0, rel=1e-6)
    held = found.sensitivity("m")  # at its bound, s does not follow any more
    assert held.parameters["s"] == pytest.approx(0.0, abs=1e-6)
    assert held.cost == pytest.approx(24 * MASS * WAY**2 / TIME**3 + 2 * (MASS - 1.5), rel=1e-7)


@pytest.mark.parametrize("method", ["gauss", "shooting", "hermite-simpson"])
def test_every_transcription_has_them(method):
    system = cart()
    problem = optimal.Problem(system).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0)
    effort = optimal.Integral("effort", system["f"] ** 2)
    found = problem.minimise(effort).solve(method=method, control="linear", intervals=4)
    assert found.cost_slopes["m"] == pytest.approx(24 * MASS * WAY**2 / TIME**3, rel=1e-6)
    by_mass = found.sensitivity("m")
    assert np.allclose(by_mass.motion["f"], found["f"] / MASS, atol=1e-5)


@pytest.fixture(scope="module")
def walk():
    return optimal.design(walkers.compass(slope=0.0), free={"hip_spring": (0, 100)}, speed=0.5)


def solved_again(walk, **changes):
    """The same design with other numbers: of the walker, or asked."""
    asked = {"speed": 0.5} | {n: v for n, v in changes.items() if n == "speed"}
    walker = walkers.compass(slope=0.0).using({n: v for n, v in changes.items() if n != "speed"})
    return optimal.design(walker, free={"hip_spring": (0, 100)}, guess=walk, **asked).result


@pytest.mark.parametrize(("name", "value", "step"), [("hip_mass", 10.0, 0.02), ("speed", 0.5, 2e-4)])
def test_a_walk_solved_again_agrees(walk, name, value, step):
    """Central differences of cost, spring, duration and initial state."""
    low, high = (solved_again(walk, **{name: value + sign * step}) for sign in (-1, 1))
    exact = walk.result.sensitivity(name)
    assert exact.cost == pytest.approx((high.cost - low.cost) / (2 * step), rel=1e-4)
    for ours, theirs in (
        (exact.parameters["hip_spring"], (high.parameters["hip_spring"] - low.parameters["hip_spring"])),
        (exact.duration, high.duration - low.duration),
        (exact.x0["swing_rate"], high.x0["swing_rate"] - low.x0["swing_rate"]),
    ):
        assert ours == pytest.approx(theirs / (2 * step), rel=2e-4)


def test_a_design_says_what_its_parameters_cost(walk):
    slopes = walk.sensitivities
    effects = [each.effect for each in slopes]
    assert effects == sorted(effects, reverse=True)
    hip = next(each for each in slopes if each.name == "hip_mass")
    assert hip.slope == walk.result.cost_slopes["hip_mass"] < 0
    assert hip.sentence == f"a kilogram more of hip_mass would save {-hip.slope:.3g}, at this rate"
    assert "hip_spring" not in [each.name for each in slopes]  # it was free
    assert hip.data()["slope"] == hip.slope


def test_a_neighbour_is_predicted(walk, monkeypatch):
    """From a design at another speed the solver begins near its end, and ends where it did."""
    predicted = solved_again(walk, speed=0.52)
    monkeypatch.setattr(solve_file, "predict_optimum", lambda *_: None)
    plain = solved_again(walk, speed=0.52)
    assert predicted.cost == pytest.approx(plain.cost, rel=1e-9)
    assert predicted.iterations < plain.iterations / 2


def test_what_cannot_be_asked(walk, moved):
    with pytest.raises(ModelError, match="parameter 'hip_spring' is free: the search chose it"):
        walk.result.sensitivity("hip_spring")
    with pytest.raises(
        UnknownNameError, match="'hip_mas' is no parameter and no limit.*did you mean 'hip_mass'"
    ):
        walk.result.sensitivity("hip_mas")
    with pytest.raises(ModelError, match="'bounds of s' presses nowhere: moving it changes nothing"):
        moved.sensitivity("bounds of s")
    with pytest.raises(ModelError, match="side 'top' of 'speed' is none: allowed are low, high, equal"):
        walk.result.sensitivity("speed", side="top")
    failed = optimal.Problem(cart()).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0)
    failed = failed.within(f=(-1e-3, 1e-3)).solve(iterations=5, accuracy=None)
    with pytest.raises(ModelError, match="has no multipliers.*solve the problem first"):
        failed.sensitivity("m")


def test_what_is_as_good_is_not_determined():
    """Without a cost any motion is as good as any other."""
    anything = optimal.Problem(cart()).phase(duration=TIME).begin(x=0, v=0).end(x=WAY, v=0)
    found = anything.solve(control="linear", intervals=4)
    assert math.isfinite(found.cost)
    with pytest.raises(ModelError, match="how the optimum of 'cart' moves is not determined"):
        found.sensitivity("m")


@pytest.mark.parametrize(("length", "force"), [(1.0, 1.0), (1e6, 1e-6), (1e-9, 1.0), (1.0, 1e-7)])
def test_units_do_not_change_how_the_motion_moves(length, force):
    """A mass m, one length in one second: u = m (6 - 12 t), so du/dm = 6 - 12 t, and the way stays."""
    x, v, u, m = State("x"), State("v"), Input("u"), Param("m", 2.0)
    system = System("cart", x=(x, v), u=(u,), p=(m,), flow={x: v, v: u * (length / force) / m})
    problem = optimal.Problem(system).phase(duration=1.0).begin(x=0, v=0).end(x=length, v=0)
    solution = problem.minimise(optimal.Integral("effort", u**2)).solve(control="linear", intervals=4)
    by_mass = solution.sensitivity("m")
    assert by_mass.cost == pytest.approx(48 * force**2, rel=1e-6)
    assert by_mass.motion["u"] / force == pytest.approx(6 - 12 * solution.t, abs=1e-6)
    assert np.abs(by_mass.motion["x"]).max() < 1e-9 * length


def test_why_nothing_is_said_of_parameters(walk):
    assert no_slopes_reason(replace(walk.result, success=False)).startswith(
        "what parameters cost is known of an"
    )
    assert "made stable: ask without stability" in no_slopes_reason(replace(walk.result, optimum=None))
    idle = replace(walk.result, parameters=dict.fromkeys(walk.result.problem.system.labels("p"), 1.0))
    assert no_slopes_reason(idle) == "every parameter is free: none is left whose cost could be said"
    assert re.fullmatch(
        r"none of the \d+ parameters that stay changes the cost", no_slopes_reason(walk.result)
    )
    assert walk.no_sensitivities == ""
    stable = replace(walk, result=replace(walk.result, optimum=None))
    assert stable.sensitivity_data() == {
        "sensitivities": [],
        "no_sensitivities": no_slopes_reason(stable.result),
    }
    assert stable.no_sensitivities in design_result(stable, sensitivity=True).remarks


def test_a_part_of_casadi_that_is_missing_is_named(moved, monkeypatch):
    """A damaged installation is no mistake of who calls."""
    monkeypatch.setattr(kkt_step, "LINEAR_SOLVER", "no_such_solver")
    with pytest.raises(StrutError, match=r"CasADi lacks its plugin libcasadi_linsol_no_such_solver\.\w+: in"):
        replace(moved).sensitivity("m")
