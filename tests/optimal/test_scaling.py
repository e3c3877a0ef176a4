"""The same problem in other units has the same optimum and the same verdict."""

from dataclasses import replace
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

from strut import Event, Input, Param, State, System, optimal
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scaled import Scales
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.solver import mesh_solve
from strut.optimal.solver.guess import fill_unknowns, make_guess
from strut.optimal.solver.kkt import residuals
from strut.optimal.solver.scaling import UNKNOWN_RANGE, nominal_scales
from strut.system.quantity import time

SAME_COST = 1e-6
"""Costs of one problem in different units agree to this, relative: IPOPT's tolerance is 1e-9, and what is
within 1e-2 of one stays as it is."""


def cart(x_unit, v_unit, u_unit, t_unit):
    """One length from rest to rest in one time, with the least squared force: 12 exactly."""
    x, v, u = State("x"), State("v"), Input("u")
    flow = {x: v * (x_unit / v_unit / t_unit), v: u * (v_unit / u_unit / t_unit)}
    problem = optimal.Problem(System("cart", x=(x, v), u=(u,), flow=flow)).phase(duration=t_unit)
    problem = problem.begin(x=0, v=0).end(x=x_unit, v=0).minimise(optimal.Integral("effort", u**2))
    return problem, {}, u_unit**2 * t_unit


def pendulum(x_unit, v_unit, u_unit, t_unit):
    """Raised to 2.5 rad by a bounded torque, as soon and with as little effort as possible; damped by a
    parameter that is free, and costs."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-3 * u_unit, 3 * u_unit))
    damping = Param("damping", 0.1 / t_unit, bounds=(0, 1 / t_unit))
    rate = (-ca.sin(x / x_unit) + u / u_unit) * (v_unit / t_unit) - damping * v
    system = System(
        "pendulum", x=(x, v), u=(u,), p=(damping,), flow={x: v * (x_unit / v_unit / t_unit), v: rate}
    )
    effort = optimal.Integral("effort", (u / u_unit) ** 2)
    problem = optimal.Problem(system).phase(duration=(0.5 * t_unit, 20 * t_unit)).free("damping")
    problem = problem.begin(x=0, v=0).end(x=2.5 * x_unit, v=0)
    problem = problem.minimise(time + effort + t_unit * (damping * t_unit - 0.3) ** 2)
    return problem, {"duration": 3 * t_unit, "x": (0, 2.5 * x_unit), "v": 0.5 * v_unit}, t_unit


def rocket(x_unit, v_unit, u_unit, t_unit):
    """Goddard's, as in `textbook`; the mass in the unit of length, for want of another."""
    h = State("h", x_unit, bounds=(x_unit, 2 * x_unit))
    v = State("v", 0.0, bounds=(0, v_unit))
    m = State("m", x_unit, bounds=(0.6 * x_unit, x_unit))
    thrust = Input("thrust", 1.75 * u_unit, bounds=(0, 3.5 * u_unit))
    high, fast, heavy, push = h / x_unit, v / v_unit, m / x_unit, thrust / u_unit
    drag = 310 * fast**2 * ca.exp(-500 * (high - 1))
    flow = {
        h: fast * (x_unit / t_unit),
        v: ((push - drag) / heavy - 1 / high**2) * (v_unit / t_unit),
        m: -2 * push * (x_unit / t_unit),
    }
    system = System("rocket", x=(h, v, m), u=(thrust,), flow=flow)
    problem = optimal.Problem(system).phase(duration=(0.01 * t_unit, t_unit)).begin(h=x_unit, v=0, m=x_unit)
    guess = {
        "duration": 0.2 * t_unit,
        "h": (x_unit, 1.01 * x_unit),
        "v": lambda s: 0.4 * v_unit * s * (1 - s),
        "m": (x_unit, 0.6 * x_unit),
        "thrust": 1.75 * u_unit,
    }
    return problem.end(m=0.6 * x_unit).minimise(-h), guess, x_unit


@pytest.mark.parametrize("make", [cart, pendulum, rocket])
def test_units_change_neither_cost_nor_verdict(make):
    how = {"backend": "virtual", "control": "constant" if make is rocket else "quadratic"}
    how |= {"intervals": 30 if make is rocket else 12, "accuracy": 1e-6}
    random = np.random.default_rng(7)
    problem, guess, unit = make(1.0, 1.0, 1.0, 1.0)
    plain = problem.solve(guess, **how)
    assert plain.ok
    assert plain.scales == {}  # what is near to one stays as it is
    if make is cart:
        assert plain.cost == pytest.approx(12.0, rel=1e-9)
    for _ in range(5):
        units = 10.0 ** random.integers(-6, 7, 4)
        problem, guess, unit = make(*units)
        solution = problem.solve(guess, **how)
        assert solution.ok, (units, solution.status, solution.kkt, solution.defect)
        assert solution.cost / unit == pytest.approx(plain.cost, rel=SAME_COST), units


def test_a_hopper_is_as_well_in_newtons_as_in_kilonewtons():
    """80 kg on a leg of 20 kN/m, pushed by a force in its leg from landing to taking off faster."""

    def hop(unit, length):
        y, v, push = (
            State("y", 1.0 * length),
            State("v", -1.0 * length),
            Input("push", bounds=(-3e3 / unit, 3e3 / unit)),
        )
        mass, k = Param("mass", 80.0), Param("k", 20e3 / unit / length)
        force = (k * (length - y) + push) * unit
        off = Event("off", y - length, direction="up")
        flow = {y: v, v: (force / mass - 9.81) * length}
        system = System("hopper", x=(y, v), u=(push,), p=(mass, k), flow=flow, events=(off,))
        problem = optimal.Problem(system).phase("stance", until="off", duration=(0.05, 0.6))
        problem = problem.begin(y=length, v=-1.0 * length).end(v=(1.5 * length, 3.0 * length))
        guess = {
            "duration": 0.2,
            "y": lambda s: length * (1 - 0.3 * s * (1 - s)),
            "v": (-length, 1.5 * length),
        }
        effort = optimal.Integral("effort", push**2)
        return problem.minimise(effort).solve(guess, control="quadratic", backend="virtual")

    newtons, kilonewtons, small = hop(1.0, 1.0), hop(1e3, 1.0), hop(1.0, 1e-5)
    assert newtons.cost > 1e3
    for solution, unit in ((newtons, 1.0), (kilonewtons, 1e3), (small, 1.0)):
        assert solution.ok, (solution.kkt, solution.status)
        assert solution.cost * unit**2 == pytest.approx(newtons.cost, rel=SAME_COST)
    assert small.scales["y"] == pytest.approx(1e-5, rel=0.5)


def test_scales_come_from_the_guess_the_flow_and_bounds():
    problem, guess, _ = cart(1e-6, 1e4, 1e5, 10.0)
    mesh = Transcribed(problem, Transcription(intervals=10), backend="virtual")
    scales = nominal_scales(mesh, fill_unknowns(mesh, make_guess(problem, guess)))
    span = mesh.spans[0]
    x_scale, v_scale = scales.unknowns[span.x[0]]
    u_scale = scales.unknowns[span.w[0, 0, 0]]
    assert x_scale == pytest.approx(1e-6)  # where it goes
    assert 1e3 < v_scale < 1e5  # it brings it there in time
    assert 1e4 < u_scale < 1e6
    assert scales.unknowns[span.duration] == 1  # 10 is near enough
    assert UNKNOWN_RANGE[0] < 10 < UNKNOWN_RANGE[1]


def test_what_is_violated_is_told_in_its_own_unit():
    """A force of 1e-7 of its unit cannot do what 12 can: the end is missed, in metres of 1e-6."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-1.0, 1.0))
    system = System("cart", x=(x, v), u=(u,), flow={x: v, v: u * 1e-6})
    problem = optimal.Problem(system).phase(duration=1.0).begin(x=0, v=0).end(x=1e-6, v=0)
    solution = problem.minimise(optimal.Integral("effort", u**2)).solve(backend="virtual")
    assert not solution.ok
    assert solution.worst
    assert max(solution.worst.values()) < 1e-5


def test_a_solution_is_kept_where_other_units_lead_nowhere(monkeypatch):
    """A search that begins in units that turn out to be far off is done again in better ones; where that
    fails, what there was is kept. Begun with multipliers, it goes on with those that were found."""
    problem, guess, _ = cart(1e6, 1e6, 1e6, 1.0)
    mesh = Transcribed(problem, Transcription(intervals=4), None, "virtual")
    begin = fill_unknowns(mesh, make_guess(problem, guess))
    ones = Scales(np.ones(len(begin)), np.ones(mesh.assembled.rows), 1.0)
    settings = {"tol": 1e-9, "max_iter": 100}
    starts, solve_once = [], mesh_solve._solve_scaled

    def fail_again(mesh, begin, settings, multipliers, scales):
        starts.append(multipliers)
        solution = solve_once(mesh, begin, settings, multipliers, scales)
        return replace(solution, success=len(starts) % 2 == 1, status=f"attempt {len(starts)}")

    monkeypatch.setattr(mesh_solve, "_solve_scaled", fail_again)
    cold = mesh_solve.solve_mesh(mesh, begin, settings, None, ones)
    assert (cold.success, cold.status) == (True, "attempt 1")
    assert cold.scales["x"] == pytest.approx(1e6)  # and it is judged in the better ones
    assert cold.cost == pytest.approx(12e12, rel=1e-6)
    assert starts == [None, None]
    zero = np.zeros(len(begin)), np.zeros(mesh.assembled.rows)
    mesh_solve.solve_mesh(mesh, begin, settings, zero, ones)
    assert np.abs(starts[3][1]).max() > 1.0


def test_scales_of_totals_are_kept_where_the_cost_has_none():
    """A requirement on an integral of 1e12, and a cost near one."""
    x, u = State("x"), Input("u")
    system = System("way", x=(x,), u=(u,), flow={x: u})
    large = optimal.Integral("large", 1e12 * u**2)
    problem = optimal.Problem(system).phase(duration=1.0).begin(x=0).end(x=1e4)
    problem = problem.require("enough", large, high=1e21, at="end").minimise((1e-4 * x - 2) ** 2)
    solution = problem.solve(control="constant", intervals=2, accuracy=None, backend="virtual")
    assert solution.scales.get("the cost", 1.0) == 1.0
    assert solution.scales["large"] > 1e15


def test_what_decides_does_not_depend_on_the_unit_of_the_cost():
    """A force of at most 5 N, where 6 N would be best."""
    sides = []
    for unit in (1.0, 1e-9):
        x, v, u = State("x"), State("v"), Input("u", bounds=(-5.0, 5.0))
        system = System("cart", x=(x, v), u=(u,), flow={x: v, v: u})
        problem = optimal.Problem(system).phase(duration=1.0).begin(x=0, v=0).end(x=1, v=0)
        effort = optimal.Integral("effort", u**2)
        solution = problem.minimise(unit * effort).solve(backend="virtual")
        (group,) = [each for each in solution.multipliers if each.name == "bounds of u"]
        sides.append(group.active_sides(solution.cost, solution.cost_scale))
    assert sides[0] == sides[1] == ["low", "high"]


@pytest.mark.parametrize(
    ("beyond", "feasibility", "complementarity"), [(2e-9, 2e-9, 0.0), (-2e-9, 0.0, 2e-7)]
)
def test_a_value_beyond_its_bound_is_a_violation_and_no_slack(beyond, feasibility, complementarity):
    """Of -1e4 v, v at most 1, the multiplier is 1e4: a value beyond the bound, within what the solver relaxes
    it by, breaks feasibility by that, however dear the bound is; one before it leaves a slack that is dear.
    Multipliers are taken relative to a hundredth of their mean, as IPOPT does."""
    dear = {"grad_f": lambda v, p: (None, np.array([-1e4])), "jac_g": lambda v, p: (None, ca.DM(0, 1))}
    mesh = SimpleNamespace(
        assembled=SimpleNamespace(functions=dear),
        numbers=lambda: None,
        unknowns=SimpleNamespace(low=[-np.inf], high=[1.0]),
        rows=SimpleNamespace(low=[-np.inf], high=[np.inf]),
    )
    point, multipliers = (np.array([1 + beyond]), np.empty(0)), (np.array([1e4]), np.empty(0))
    kkt = residuals(mesh, point, multipliers, Scales(np.ones(1), np.ones(0), 1.0))
    assert kkt["stationarity"] == 0
    assert kkt["feasibility"] == pytest.approx(feasibility, rel=1e-6)
    assert kkt["complementarity"] == pytest.approx(complementarity, rel=1e-6)
