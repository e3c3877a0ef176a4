"""Polishing: exact derivatives through runs, and optima that are known."""

import casadi as ca
import numpy as np
import pytest

from strut import evolve, walkers
from strut.errors import ModelError, UnknownNameError
from strut.evolve.evaluations.run_gradients import RunGradients
from strut.system import Discrete, Event, Input, Param, Random, State, System

DIFFERENCE_TOLERANCE = 2e-5
"""Of central differences with a step of 1e-5, relative to the largest derivative; runs are accurate to 1e-9."""


def oscillator():
    """A damped spring that begins at `start` and bounces off a wall at -0.4 with half of its speed."""
    stiffness, damping, begin = Param("stiffness", 4.0), Param("damping", 0.3), Param("begin", 1.0)
    x, v = State("x", begin.sym), State("v", 0.5)
    bounce = Event("bounce", -0.4 - x.sym, {v: -0.5 * v.sym})
    return System(
        "wall",
        x=(x, v),
        p=(stiffness, damping, begin),
        flow={x: v.sym, v: -stiffness.sym * x.sym - damping.sym * v.sym},
        events=(bounce,),
        outputs={"energy": 0.5 * (v.sym**2 + stiffness.sym * x.sym**2)},
    )


def check_by_differences(evaluation, names, row):
    """Compare derivatives with central differences."""
    gradients = RunGradients(evaluation, names, np.array(row))
    exact = gradients.run(np.array(row)).by_searched
    step = 1e-5 * np.maximum(np.abs(row), 1.0)
    for k in range(len(names)):
        sides = []
        for sign in (1, -1):
            moved = np.array(row, dtype=float)
            moved[k] += sign * step[k]
            sides.append(gradients.run(moved).measures)
        difference = (sides[0] - sides[1]) / (2 * step[k])
        scale = max(np.abs(exact[:, k]).max(), 1e-6)
        np.testing.assert_allclose(exact[:, k] / scale, difference / scale, atol=DIFFERENCE_TOLERANCE)
    return gradients, exact


def test_derivatives_of_all_kinds_of_measures_are_exact_through_a_bounce():
    measures = {
        "end": "x + 2 * v",
        "mean": "mean(x * x)",
        "late": "mean_after(energy, 0.5)",
        "top": "largest(x)",
        "fast": "largest_after(abs(v), 0.2)",
        "low": "least(v)",
        "energy": "energy",
    }
    evaluation = evolve.of_system(oscillator(), 3.0, measures, rtol=1e-10, atol=1e-12)
    gradients, _ = check_by_differences(
        evaluation, ("stiffness", "damping", "begin", "v"), [4.0, 0.3, 1.0, 0.5]
    )
    assert gradients.ending == "done"
    values = gradients.run(np.array([4.0, 0.3, 1.0, 0.5])).measures
    batch = evaluation.evaluate(
        ("stiffness", "damping", "begin", "v"), np.array([[4.0, 0.3, 1.0, 0.5]]), np.zeros(1, dtype=np.uint64)
    )
    np.testing.assert_allclose(values, batch.measures[0], atol=1e-7)


def test_derivatives_by_initial_states_and_of_the_time_of_an_event():
    """A ball thrown up with v from height h lands after t = (v + sqrt(v^2 + 2 g h)) / g."""
    g = Param("g", 9.81)
    h, v = State("h", 1.0), State("v", 2.0)
    land = Event("land", -h.sym, terminal=True)
    ball = System("ball", x=(h, v), p=(g,), flow={h: v.sym, v: -g.sym}, events=(land,))
    evaluation = evolve.of_system(ball, 10.0, {"t": "end.time", "speed": "v", "top": "largest(h)"})
    gradients = RunGradients(evaluation, ("h", "v", "g"), np.array([1.0, 2.0, 9.81]))
    assert gradients.ending == "land"
    run = gradients.run(np.array([1.0, 2.0, 9.81]))
    height, speed, gravity = ca.SX.sym("h"), ca.SX.sym("v"), ca.SX.sym("g")
    root = ca.sqrt(speed**2 + 2 * gravity * height)
    closed = ca.vertcat((speed + root) / gravity, -root, height + speed**2 / (2 * gravity))
    at = ca.vertcat(height, speed, gravity)
    expected = ca.Function("f", [at], [closed, ca.jacobian(closed, at)])([1.0, 2.0, 9.81])
    np.testing.assert_allclose(run.measures, np.array(expected[0])[:, 0], rtol=1e-8)
    np.testing.assert_allclose(run.by_searched, np.array(expected[1]), atol=1e-7)


def test_derivatives_of_a_runner_are_exact_over_several_steps():
    """The springy runner makes two steps: touchdown and take-off shear the derivatives."""
    evaluation = evolve.of_system(
        walkers.slip(), 0.9, {"x": "x", "push": "largest(force)", "mean": "mean(vx)"}, rtol=1e-10, atol=1e-12
    )
    gradients, exact = check_by_differences(evaluation, ("attack", "stiffness", "y"), [1.19, 2e4, 1.0])
    assert gradients._counts["count.touchdown"] >= 2
    assert np.abs(exact).max() > 0


def valley(x, y):
    return 100 * (y - x**2) ** 2 + (1 - x) ** 2


def valley_gradient(x, y):
    return {"x": -400 * x * (y - x**2) - 2 * (1 - x), "y": 200 * (y - x**2)}


def test_a_swarm_and_then_gradients_find_rosenbrocks_optimum_to_rounding():
    evaluation = evolve.of_function(valley, gradient=valley_gradient)
    problem = evolve.SearchProblem({"x": (-2.0, 2.0), "y": (-1.0, 3.0)}, evaluation, "value")
    best = evolve.search(problem, evolve.Swarm(15), 8, seed=1).best
    polished = evolve.polish(problem, best)
    assert polished.before == best.value > 1e-3
    assert polished.converged
    assert polished.value < 1e-14
    assert polished.parameters["x"] == pytest.approx(1.0, abs=1e-6)
    assert polished.gain == polished.before - polished.value
    assert polished.slope < 1e-6


def test_polishing_stays_within_bounds():
    evaluation = evolve.of_function(valley, gradient=valley_gradient)
    problem = evolve.SearchProblem({"x": (-2.0, 0.5), "y": (-1.0, 3.0)}, evaluation, "value")
    polished = evolve.polish(problem, {"x": -1.0, "y": 1.0})
    assert polished.parameters == pytest.approx({"x": 0.5, "y": 0.25}, abs=1e-6)


def swing_up():
    """A pendulum whose torque is two sine waves; how near it comes to standing upright after 3 s, and at what
    price."""
    first, second, rate = Param("first", 1.0), Param("second", 0.0), Param("rate", 3.0)
    angle, speed = State("angle", 0.0), State("speed", 0.0)
    from strut.system import time

    torque = first.sym * ca.sin(rate.sym * time) + second.sym * ca.sin(2 * rate.sym * time)
    return System(
        "swing",
        x=(angle, speed),
        p=(first, second, rate),
        flow={angle: speed.sym, speed: -9.81 * ca.sin(angle.sym) + torque},
        outputs={"torque": torque},
    )


SWING = {
    "miss": "(1 + cos(angle)) + 0.05 * speed * speed",
    "price": "integral(torque * torque)",
}


def test_a_pendulums_swing_up_is_polished_to_an_optimum():
    evaluation = evolve.of_system(swing_up(), 3.0, SWING, rtol=1e-9, atol=1e-11)
    bounds = {"first": (-8.0, 8.0), "second": (-8.0, 8.0), "rate": (1.0, 6.0)}
    problem = evolve.SearchProblem(bounds, evaluation, "miss + 1e-4 * price")
    best = evolve.search(problem, evolve.Swarm(30), 12, seed=2).best
    polished = evolve.polish(problem, best)
    assert polished.converged
    assert polished.value < best.value
    assert polished.slope < 1e-4 * max(polished.before, 1e-3)
    # an optimum of first order, also for the search: nobody near it is better
    generator = np.random.default_rng(1)
    x = np.array([list(polished.parameters.values())]) + 1e-3 * generator.standard_normal((50, 3))
    near = problem.keys(x, problem.evaluate(x, np.zeros((50, 1), dtype=np.uint64)).measures)
    assert near[:, 1].min() > polished.value - 1e-9


def test_only_the_goal_that_an_individual_is_at_is_polished():
    """In stages: the condition of the first goal stays kept."""
    evaluation = evolve.of_system(
        walkers.slip(), 0.9, {"steps": "count.touchdown", "far": "x", "push": "largest(force)"}, rtol=1e-9
    )
    problem = evolve.SearchProblem(
        {"attack": (1.1, 1.3), "stiffness": (1.5e4, 3e4)},
        evaluation,
        [evolve.maximise("steps", "steps >= 2"), evolve.minimise("push - 1000 * far")],
    )
    polished = evolve.polish(problem, {"attack": 1.19, "stiffness": 2e4}, iterations=15)
    assert polished.measures["steps"] >= 2
    assert polished.value < polished.before


def test_an_optimum_at_an_earlier_goal_is_not_called_converged():
    """The optimum of the last goal, 0, breaks the condition of the first: slope and convergence are those of
    what is returned, not of what was refused."""
    evaluation = evolve.of_function(
        lambda x: {"near": x, "cost": x**4}, ("near", "cost"), gradient=lambda x: {"near": {"x": 1.0}, "cost": {"x": 4 * x**3}}
    )  # fmt: skip
    problem = evolve.SearchProblem(
        {"x": (-1.0, 1.0)}, evaluation, [evolve.maximise("near", "near > 0.4"), evolve.minimise("cost")]
    )
    polished = evolve.polish(problem, {"x": 0.5})
    x = polished.parameters["x"]
    assert 0.4 < x <= 0.5
    assert polished.slope == pytest.approx(2 * 4 * x**3)  # by x as part of its range, which is 2
    assert not polished.converged
    assert "its optimum is at an earlier goal" in polished.message


def drawn():
    x, held, noise = State("x", 0.0), Discrete("held", 0.0), Random("noise")
    kick = Event("kick", x.sym - 0.5, {held: noise.sym})
    return System("drawn", x=(x,), z=(held,), flow={x: ca.SX(1)}, events=(kick,), randoms=(noise,))


def pushed():
    force, x = Input("force", 1.0), State("x", 0.0)
    return System("pushed", x=(x,), u=(force,), flow={x: force.sym})


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: evolve.polish(
                evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(lambda x: x), "value"), {"x": 0.5}
            ),
            ModelError,
            "has no derivatives: polishing needs runs of a system, or a function with its gradient",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem(
                    {"attack": (1.0, 1.3)},
                    evolve.of_system(walkers.slip(), 2.0, {"steps": "count.touchdown"}),
                    evolve.maximise("steps"),
                ),
                {"attack": 1.2},
            ),
            ModelError,
            "'maximise steps' reads 'steps', which counts events",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem({"x": (0.0, 0.4)}, evolve.of_system(drawn(), 1.0, {"m": "x"}), "m"),
                {"x": 0.1},
            ),
            ModelError,
            "draws random numbers \\('noise'\\)",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem({"force": (0.0, 1.0)}, evolve.of_system(pushed(), 1.0, {"m": "x"}), "m"),
                {"force": 0.5},
            ),
            ModelError,
            "'force' is neither a parameter nor a state",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem(
                    {"x": (0.0, 1.0)},
                    evolve.of_function(lambda x: x, gradient=lambda x: {"y": 1.0}),
                    "value",
                ),
                {"x": 0.5},
            ),
            ModelError,
            "give for each measure \\(value\\) its derivatives by x",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem({"x": (0.0, 1.0)}, evolve.of_function(lambda x: x), "value"), {"z": 0.5}
            ),
            UnknownNameError,
            "'z' is no parameter of the search",
        ),
        (
            lambda: evolve.polish(
                evolve.SearchProblem(
                    {"x": (0.0, 1.0)},
                    evolve.of_function(lambda x: {"a": x, "b": -x}, ("a", "b")),
                    evolve.front(evolve.minimise("a"), evolve.minimise("b")),
                ),
                {"x": 0.5},
            ),
            ModelError,
            "the goal is a front",
        ),
    ],
)
def test_what_cannot_be_polished_says_why(make, error, message):
    with pytest.raises(error, match=message):
        make()
