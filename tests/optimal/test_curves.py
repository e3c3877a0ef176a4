"""Between its nodes a plan is the polynomial of collocation; from there, finer meshes begin where it is."""

import casadi as ca
import numpy as np
import pytest

from strut import optimal
from strut.optimal.nlp.mesh_rows import event_decides
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription, inner_places, tableau
from strut.optimal.solver.curves import CollocationCurve, HermiteCurve
from strut.optimal.solver.guess import fill_unknowns
from strut.system import Event, Input, Param, State, System
from tests.optimal import textbook


@pytest.mark.parametrize("method", ["radau", "gauss"])
@pytest.mark.parametrize("stages", [3, 6, 12])
def test_polynomials_are_exact(method, stages):
    """Of the degree of the method, over intervals of unequal width, also at the places themselves."""
    places = inner_places(tableau(method, stages))
    polynomial = np.polynomial.Polynomial(np.random.default_rng(stages).standard_normal(len(places) + 2))
    nodes = np.array([0.0, 0.3, 1.0])
    all_places = np.concatenate([[0.0], places, [1.0]])
    s = nodes[:-1, None] + np.diff(nodes)[:, None] * all_places
    curve = CollocationCurve(nodes, all_places, polynomial(s)[:, :, None])
    at = np.concatenate([np.linspace(0, 1, 57), s.reshape(-1)])
    assert np.abs(curve(at)[:, 0] - polynomial(at)).max() < 1e-12


@pytest.mark.parametrize(("method", "stages"), [("radau", 6), ("gauss", 6), ("radau", 2)])
def test_a_plan_with_many_points_is_known_between_nodes(method, stages):
    """A pendulum without gravity on a spring: x = cos t, by two intervals of more than a radian each."""
    x, v = State("x", 1.0), State("v")
    system = System("oscillator", x=(x, v), flow={x: v, v: -x.sym})
    problem = optimal.Problem(system).phase(duration=2.5).begin(x=1.0, v=0.0).minimise(ca.SX(0))
    plan = problem.solve(method=method, stages=stages, intervals=2, control="constant", accuracy=None)
    motion = plan.phases[0]
    t = np.linspace(0, 2.5, 101)
    error = np.abs(motion.states(t)[:, 0] - np.cos(t)).max()
    if stages == 2:  # no polynomial of its own: a cubic one through the nodes
        assert isinstance(motion.state_curve, HermiteCurve)
        return
    cubic = HermiteCurve(motion.t, motion.x, *motion.slopes)
    assert error < 1e-5 < 1e-3 < np.abs(cubic(t)[:, 0] - np.cos(t)).max()


def test_a_finer_mesh_begins_on_the_plan():
    """Where an interval is not split, all rows of the flow hold as before; nothing is smoothed over."""
    problem = textbook.goddard()
    plan = problem.solve(textbook.GODDARD_GUESS, stages=5, intervals=6, control="constant", accuracy=None)
    assert plan.success
    fractions = [np.array([1, 1, 1, 1, 1, 0.5, 0.5]) / 6]
    mesh = Transcribed(problem, Transcription(stages=5, intervals=6, control="constant"), fractions)
    v = fill_unknowns(mesh, plan.guess())
    g = np.array(mesh.assembled.functions["nlp"](v, mesh.numbers())[1]).reshape(-1)
    rows = [i for i, name in enumerate(mesh.rows.names[1:]) if name.startswith("flow of")]
    untouched = [i for i in rows if int(mesh.rows.names[1 + i].split()[-1]) < 5]
    assert len(untouched) == 5 * 5 * mesh.nx
    assert np.abs(g[untouched]).max() < 1e-9
    # a polynomial of collocation is one of its halves, too, but for what the flow is elsewhere than at points
    assert np.abs(g[rows]).max() < 1e-4


def test_requirements_that_are_called_alike_keep_their_own_multipliers():
    """Two bounds of one name at the end: one holds the sled back, the other does not matter."""
    problem = optimal.Problem(textbook.sled()).phase(duration=1.0).begin(x=0.0, v=0.0)
    problem = problem.require("end", "x", high=0.1, at="end").require("end", "v", high=5.0, at="end")
    problem = problem.minimise(-problem.system["x"] - 0.1 * problem.system["v"])
    plan = problem.solve(control="constant", intervals=4, accuracy=None)
    mesh = Transcribed(problem, plan.how)
    rows = plan.optimum.multipliers(mesh)[1]
    own_rows = plan.optimum.exact_multipliers(mesh)[1]
    index = [i for i, name in enumerate(mesh.rows.names[1:]) if name.startswith("end (")]
    assert len(index) == 2
    assert sorted(np.abs(own_rows[index]))[1] > 0.1 > 1e-3 > sorted(np.abs(own_rows[index]))[0]
    assert np.allclose(rows[index], own_rows[index], rtol=0, atol=1e-12)


def falling_ball():
    """A ball, thrown up to a height, that lands on a slope; its events are both of its height."""
    x, h, vx, vh = State("x"), State("h", 0.5), State("vx", 1.0), State("vh", 1.0)
    slope, push = Param("slope", 0.1), Input("push")
    ground = h.sym - slope.sym * x.sym
    return System(
        "ball",
        x=(x, h, vx, vh),
        u=(push,),
        p=(slope,),
        flow={x: vx, h: vh, vx: push.sym, vh: -9.81},
        events=(
            Event("leaves", ground - 0.6, direction="up"),
            Event("lands", 3 * ground, direction="down", reset={vh: -0.5 * vh.sym}),
        ),
    )


def test_an_event_decides_what_is_a_multiple_of_its_guard():
    system = falling_ball()
    ground = system["h"] - system["slope"] * system["x"]
    problem = optimal.Problem(system).phase("rise", until="leaves").phase("fall", until="lands").phase("on")
    assert event_decides(problem, 1, ground, at_end=True)
    assert event_decides(problem, 1, -2 * ground, at_end=True)
    assert event_decides(problem, 1, ground - 0.6, at_end=False)  # what ended the phase before
    assert event_decides(problem, 2, ground, at_end=False)  # a landing does not move the ball
    assert not event_decides(problem, 2, system["vh"], at_end=False)
    assert not event_decides(problem, 1, system["h"], at_end=True)
    assert not event_decides(problem, 1, ground + 0.1, at_end=True)
    assert not event_decides(problem, 0, ground - 0.6, at_end=False)  # nothing comes before it
    assert not event_decides(problem, 2, ground, at_end=True)  # no event ends it


def test_a_margin_holds_at_ends_that_no_event_decides():
    """The sled goes as far as it may: its end is where the requirement is needed."""
    problem = optimal.Problem(textbook.sled()).phase(duration=2.0).begin(x=0.0, v=0.0)
    problem = problem.require("wall", "x", high=1.0, margin=1e-3).minimise(-problem.system["x"])
    plan = problem.solve(control="linear", intervals=5)
    assert plan.ok
    assert plan.phases[0].x[-1, 0] == pytest.approx(1.0, abs=1e-6)
    assert plan.path_violations.get("wall", 0.0) <= 1e-9
