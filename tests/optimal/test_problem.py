"""What a problem can say, what is refused, and what a result tells."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Input, Param, State, System, optimal, simulate, walkers
from strut.codegen import cache as build
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from strut.optimal.nlp import ready_stages as stage
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import METHODS, Transcription
from strut.optimal.solver import infeasible
from strut.optimal.solver.guess import fill_unknowns, make_guess, shake_unknowns
from strut.optimal.solver.watch import MIN_ROUND
from tests.optimal import textbook


def phases():
    """Two phases with an event, a discrete state that depends on the motion, a split integral, path constraints and free parameters."""
    system = textbook.bouncer()
    fast = optimal.Integral("fast", system["velocity"], split="absolute")
    slow = optimal.Integral("slow", system["velocity"] ** 2)
    hits = optimal.Jumps("hits", system["velocity"] ** 2, event="bounce")
    one = optimal.Problem(system).phase("down", until="bounce").phase("up", until="apex").free("e", "brake")
    one = one.begin(height=1, velocity=0).require(
        "low", system["height"] - 0.01 * system["velocity"], high=3.0
    )
    return one.minimise(slow * fast + hits + system["height"] ** 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", ["phases", "inputs"])
def test_assembled_derivatives_are_exact(method, case):
    """Against automatic differentiation of the whole, which is possible where nothing is compiled."""
    problem = phases() if case == "phases" else textbook.brachistochrone()
    made = Transcribed(problem, Transcription(method, 3, steps=2, control="linear"), backend="virtual")
    f, n = made.assembled.functions, made.assembled
    rng = np.random.default_rng(2)
    v, numbers = (
        shake_unknowns(fill_unknowns(made, make_guess(problem, None)), made, 0.1, rng),
        made.numbers(),
    )
    x, p = ca.MX.sym("x", n.size), ca.MX.sym("p", n.parameters)
    value, rows = f["nlp"](x, p)
    weights = rng.standard_normal(n.rows)
    whole = 0.7 * value + ca.dot(weights, rows)
    check = ca.Function(
        "check", [x, p], [ca.gradient(value, x), ca.jacobian(rows, x), ca.triu(ca.hessian(whole, x)[0])]
    )
    gradient, jacobian, hessian = (np.array(ca.densify(m)) for m in check(v, numbers))
    assert np.allclose(np.array(f["grad_f"](v, numbers)[1]), gradient, atol=1e-9, rtol=1e-9)
    assert np.allclose(np.array(ca.densify(f["jac_g"](v, numbers)[1])), jacobian, atol=1e-9, rtol=1e-9)
    assert np.allclose(
        np.array(ca.densify(f["hess_lag"](v, numbers, 0.7, weights))), hessian, atol=1e-8, rtol=1e-9
    )


@pytest.mark.parametrize("method", METHODS)
def test_phases_are_joined_by_events(method):
    """A ball from 1 m that shall rise to half of it: e^2 = 1/2."""
    ball = textbook.bouncer()
    one = (
        optimal.Problem(ball)
        .phase("down", until="bounce")
        .phase("up", until="apex")
        .begin(height=1, velocity=0)
        .end(height=0.5)
        .free("e")
    )
    found = one.solve(method=method, intervals=4, steps=2, control="constant", backend="virtual")
    assert found.ok
    assert abs(found.parameters["e"] - np.sqrt(0.5)) < 1e-8
    assert np.allclose([m.duration for m in found.phases], [np.sqrt(2 / 9.81), np.sqrt(1 / 9.81)], atol=1e-8)
    assert found.phases[0].until == "bounce"


def test_a_discrete_state_set_by_an_event_is_carried():
    """Braked by the speed of the impact, h = v^2 / (2 (g + brake v^2)) = 0.25 with v^2 = 2 g: brake = 3 / 2."""
    one = (
        optimal.Problem(textbook.bouncer().using(e=1.0))
        .phase("down", until="bounce")
        .phase("up", until="apex")
    )
    found = (
        one.begin(height=1, velocity=0).end(height=0.25).free("brake").solve(intervals=4, backend="virtual")
    )
    assert found.ok
    assert abs(found.parameters["brake"] - 1.5) < 1e-7
    assert abs(found.phases[1].z[0] + np.sqrt(2 * 9.81)) < 1e-8


def test_infeasible_is_explained_by_name():
    one = optimal.Problem(textbook.sled()).phase(duration=1.0).begin(x=0, v=0).end(x=1, v=0)
    found = (
        one.require("slow down", "v", high=0.4)
        .minimise(optimal_effort(one))
        .solve(intervals=5, control="constant", backend="virtual")
    )
    assert not found.ok
    assert not found.success
    assert found.worst
    assert all(amount > 1e-3 for amount in found.worst.values())
    assert any("slow down" in name or "flow of" in name for name in found.worst)


def optimal_effort(problem):
    return optimal.Integral("effort", problem.system["force"] ** 2)


def test_meshes_are_refined_where_it_is_needed():
    """A van der Pol oscillator is slow, then fast: intervals are split where it is."""
    system = walkers.van_der_pol(mu=4.0)
    names = system.labels("x")
    one = optimal.Problem(system).phase(duration=8.0).begin({names[0]: 2.0, names[1]: 0.0})
    run = simulate(system, t=8.0, x0={names[0]: 2.0, names[1]: 0.0})
    found = one.solve(run, intervals=20, accuracy=1e-7, method="radau")
    assert found.ok, found.meshes
    counts, defects = zip(*found.meshes, strict=True)
    assert counts[-1] > counts[0]
    assert defects[-1] <= 1e-7 < defects[0]
    widths = np.diff(found.phases[0].t)
    assert widths.max() > 3 * widths.min()


def test_a_margin_keeps_a_requirement_between_the_points():
    """A body that should come as deep as it can over a hump, on a mesh too coarse to see the hump's top."""
    x, h, u = State("x"), State("h", 1.0), Input("u", bounds=(-20.0, 20.0))
    system = System("hump", x=(x, h), u=(u,), flow={x: 1.0, h: u})
    above = h.sym - ca.exp(-((x.sym - 0.47) ** 2) / 0.002)
    height, effort = optimal.Integral("height", h.sym), optimal.Integral("effort", u.sym**2)
    problem = optimal.Problem(system).phase(duration=1.0).begin(x=0.0).minimise(height + 1e-4 * effort)
    how = {"intervals": 4, "stages": 2, "control": "linear", "accuracy": 1e-4}
    bare = problem.require("above", above, low=0.0).solve({"h": 1.0}, **how | {"accuracy": None})
    kept = problem.require("above", above, low=0.0, margin=1e-2).solve({"h": 1.0}, **how)
    assert bare.success
    assert bare.path_violations["above"] > 1e-3
    assert kept.success
    assert kept.path_violations["above"] <= 1e-9
    assert not kept.exceeded_limits
    assert len(kept.meshes) > 1
    # What is only kept for safety may be exceeded between the points, and what must hold may not.
    depth = bare.path_violations["above"]
    for safety in (2 * depth, 0.5 * depth):
        safe = problem.require("above", above, low=0.0, safety=safety).solve(
            {"h": 1.0}, **how | {"accuracy": None}
        )
        assert ("above" in safe.exceeded_limits) == (safety < depth)
    with pytest.raises(ValueRangeError, match="margin -1"):
        problem.require("above", above, low=0.0, margin=-1.0)
    with pytest.raises(ValueRangeError, match="for the path only"):
        problem.require("above", above, low=0.0, margin=1.0, at="end")


@pytest.mark.parametrize("control", ["quadratic", "cubic"])
def test_inputs_keep_their_bounds_between_their_places(control):
    """Bang-bang, by polynomials: they would overshoot."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-1.0, 1.0))
    system = System("sled", x=(x, v), u=(u,), flow={x: v, v: u})
    there = optimal.Problem(system).phase(duration=(0.1, 10)).begin(x=0, v=0).end(x=1, v=0)
    found = there.minimise(strut.time).solve({"duration": 3.0, "u": (1, -1)}, control=control, intervals=7)
    assert found.ok
    assert 2 < found.duration < 2.2
    inputs = found.at(np.linspace(0, found.duration, 2000))["u"]
    assert 0.999 < np.abs(inputs).max() < 1 + 1e-7


def test_several_starts_give_the_best():
    """x^4 - 3 x^2 + x has two minima; from the wrong side only another start finds the better one."""
    x, idle = Param("x", 1.5, bounds=(-3, 3)), State("idle")
    system = System("wells", x=(idle,), p=(x,), flow={idle: 0})
    one = optimal.Problem(system).phase(duration=1.0).begin(idle=0).free("x").minimise(x**4 - 3 * x**2 + x)
    options = {"intervals": 1, "control": "constant", "backend": "virtual"}
    alone, several = one.solve(**options), one.solve(starts=20, spread=1.0, **options)
    assert abs(alone.parameters["x"] - 1.130901123) < 1e-6
    assert abs(several.parameters["x"] + 1.300839566) < 1e-6
    assert several.starts == 20


def test_warm_start_from_a_result():
    first = textbook.kirk().solve(intervals=10, control="quadratic")
    again = textbook.kirk().solve(first, intervals=20, control="quadratic")
    assert again.ok
    assert again.iterations <= 3


def test_nothing_is_compiled_twice(monkeypatch):
    textbook.kirk().solve(intervals=10, control="quadratic", backend="native")
    made = []
    monkeypatch.setattr(build, "_compile", lambda *a, **k: made.append(a))
    monkeypatch.setattr(stage, "_loaded", {})  # as in another process
    for backend in ("native", "auto"):
        first = textbook.kirk().solve(intervals=10, control="quadratic", backend=backend)
        textbook.kirk().solve(intervals=33, control="quadratic", accuracy=None, backend=backend)
        assert first.times["compile"] > 0  # loaded, not left to the virtual machine
    assert not made


def test_virtual_machine_agrees(monkeypatch):
    native = textbook.kirk().solve(intervals=10, control="quadratic", backend="native")
    virtual = textbook.kirk().solve(intervals=10, control="quadratic", backend="virtual")
    assert native.times["compile"] > 0 == virtual.times["compile"]
    assert abs(native.cost - virtual.cost) < 1e-12


def test_mistakes_are_told():
    ball = textbook.bouncer()
    one = optimal.Problem(ball)
    with pytest.raises(UnknownNameError, match="no event 'bonce': did you mean 'bounce'"):
        one.phase("down", until="bonce")
    with pytest.raises(ModelError, match="has no phase"):
        one.solve()
    with pytest.raises(UnknownNameError, match="'hight' is no state of 'bouncer': did you mean 'height'"):
        one.phase().begin(hight=1)
    with pytest.raises(UnknownNameError, match="has no parameter 'mass'"):
        one.free("mass")
    with pytest.raises(ValueRangeError, match="wants 2 to 1"):
        one.require("r", "height", low=2, high=1)
    with pytest.raises(ModelError, match="known at the end only"):
        _with_integral(one, ball)
    with pytest.raises(UnknownNameError, match="kept in a variable"):
        one.minimise(optimal.Integral("i", ball["height"]).sym + 0)
    with pytest.raises(ModelError, match="transcription 'radaw' is unknown"):
        one.phase(duration=1.0).solve(method="radaw")
    with pytest.raises(ModelError, match="too few for control='cubic'"):
        one.phase(duration=1.0).solve(method="hermite-simpson", control="cubic")
    with pytest.raises(UnknownNameError, match="the guess names 'speed'"):
        one.phase(duration=1.0).solve({"speed": 1})


def _with_integral(problem, ball):
    kept = optimal.Integral("i", ball["height"])
    return problem.require("r", kept, high=1)


def test_what_cannot_be_met_is_said():
    x, v, u = State("x"), State("v"), Input("u", bounds=(-1.0, 1.0))
    system = System("sled", x=(x, v), u=(u,), flow={x: v, v: u})
    effort = optimal.Integral("effort", u.sym**2)
    far = (
        optimal.Problem(system)
        .phase(duration=1.0)
        .begin(x=0, v=0)
        .end(x=5)
        .require("slow", v.sym, high=10.0)
        .minimise(effort)
    )
    failed = far.solve(accuracy=None)
    assert not failed.success
    assert failed.unmet.keys() <= {"x at the beginning", "v at the beginning", "x at the end"}
    assert sum(failed.unmet.values()) == pytest.approx(
        4.5, abs=1e-4
    )  # in a second 0.5 m can be gone; whoever gives way
    assert far.end(x=0.3).solve(accuracy=None).unmet == {}
    asked = (
        optimal.Problem(system)
        .phase(duration=1.0)
        .begin(x=0, v=0)
        .require("get there", x.sym, low=5.0, at="end")
        .minimise(effort)
    )
    assert "get there" in asked.solve(accuracy=None).unmet


def test_what_cannot_be_met_is_looked_for_within_a_time(monkeypatch):
    x, u = State("x"), Input("u", bounds=(-1.0, 1.0))
    cart = System("cart", x=(x,), u=(u,), flow={x: u})
    far = optimal.Problem(cart).phase(duration=1.0).begin(x=0).require("far", x.sym, low=5.0, at="end")
    failed = far.minimise(optimal.Integral("effort", u.sym**2)).solve(accuracy=None)
    quick, long = (replace(failed, times={**failed.times, "cpu": seconds}) for seconds in (0.001, 100.0))
    assert infeasible.relaxed_time(quick) == MIN_ROUND
    assert infeasible.relaxed_time(long) == infeasible.RELAXED_TIME
    half = replace(failed, times={**failed.times, "cpu": 1.0})
    assert infeasible.relaxed_time(half) == infeasible.RELAXED_TIME_FACTOR

    settings = []
    real = infeasible.solve

    def fail(problem, guess, *, options, iterations, **others):
        settings.append((options["max_cpu_time"], iterations))
        found = real(problem, guess, options=options, iterations=iterations, **others)
        spent = {**found.times, "cpu": 1.5}
        return replace(found, success=False, kkt={**found.kkt, "feasibility": 1.0}, times=spent)

    monkeypatch.setattr(infeasible, "solve", fail)
    assert infeasible.unmet_requirements(long) == {}
    assert settings == [
        (0.5 * infeasible.RELAXED_TIME, infeasible.RELAXED_ITERATIONS),
        (infeasible.RELAXED_TIME - 1.5, infeasible.RELAXED_ITERATIONS),
    ]
    monkeypatch.setattr(infeasible, "solve", real)
    unmet = infeasible.unmet_requirements(long)  # whoever gives way
    assert sum(unmet.values()) == pytest.approx(4.0, abs=1e-4)


def test_bounds_are_looked_at_between_the_nodes():
    """Bryson and Denham: a cart that may not come further than 1/9; its control effort is 4 / (9 * 1/9) = 4, by cubic arcs."""
    x, v, u = State("x"), State("v"), Input("u")
    cart = System("cart", x=(x, v), u=(u,), flow={x: v, v: u})
    problem = optimal.Problem(cart).phase(duration=1.0).begin(x=0, v=1).end(x=0, v=-1)
    problem = problem.within(x=(-1.0, 1 / 9)).minimise(optimal.Integral("effort", u.sym**2 / 2))
    coarse = problem.solve(intervals=7, method="shooting", control="linear", accuracy=None)
    over = coarse.path_violations["bounds of x"]
    t = np.linspace(0, 1, 20001)
    assert over == pytest.approx(coarse.at(t)["x"].max() - 1 / 9, rel=0.05)
    assert over > 1e-4
    assert "bounds of v" not in coarse.path_violations
    assert "bounds of x" in coarse.summary()["exceeded"]
