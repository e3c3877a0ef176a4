"""Inputs are found to what the cost allows: meshes are split around switches, and what inputs still cost is
estimated."""

import json
import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

pytest.importorskip("scipy")
from scipy.integrate import solve_ivp

from strut import Input, State, System, optimal
from strut.errors import ValueRangeError
from strut.optimal.solver.cost_error import InputPrice, control_errors
from strut.optimal.solver.guess import make_guess
from strut.optimal.solver.refine import inputs_were_split
from strut.optimal.solver.result import KEPT
from strut.optimal.solver.solve import SolveTask
from strut.optimal.solver.starts import Starts
from strut.optimal.solver.watch import SearchWatch
from strut.system.quantity import time
from tests.optimal import textbook_smooth
from tests.optimal.known_problem import Known

BANG_BANG_ERROR = 1e-5
"""What switches on a mesh may cost, relative to the cost in closed form: the default of `solve`."""


def rocket_car():
    """300 m from rest to rest, speeding up with 1 and braking with 2 m/s^2: 30 s."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-2, 1))
    problem = optimal.Problem(System("car", x=(x, v), u=(u,), flow={x: v, v: u})).phase(duration=(1, 100))
    guess = {"duration": 40.0, "x": (0, 300), "v": 10.0}
    return Known(problem.begin(x=0, v=0).end(x=300, v=0).minimise(time), 30.0, 0.0, guess)


def moon_lander():
    """Meditch's; see `textbook_switched`."""
    h, v, u = State("h", 10.0), State("v", -2.0), Input("u", 1.5, bounds=(0, 3))
    problem = optimal.Problem(System("lander", x=(h, v), u=(u,), flow={h: v, v: u - 1.5}))
    problem = problem.phase(duration=(0.1, 20)).begin(h=10, v=-2).end(h=0, v=0)
    exact = 2 * (2 + 1.5 * (math.sqrt(612) - 12) / 9)
    guess = {"duration": 4.0, "h": (10, 0), "v": (-2, 0)}
    return Known(problem.minimise(optimal.Integral("fuel", u)), exact, 0.0, guess)


def tumour():
    """Ledzewicz and Schaettler (2007), by Betts: a tumour of 8600 cells is made small by a dose that may be
    given at 75 a day. All of it at once, then nothing until vessels and tumour are in balance, is exact; Betts
    prints 7571.67."""
    growth, birth, death, effect, loss, most, dose = 0.084, 5.85, 0.00873, 0.15, 0.02, 75.0, 15.0
    whole = ((birth - loss) / death) ** 1.5
    p, q, y = State("p", whole / 2), State("q", whole / 4), State("y", 0.0, bounds=(0, dose))
    u = Input("u", bounds=(0, most))

    def rates(p, q, u, log):
        return -growth * p * log(p / q), q * (birth - (loss + death * p ** (2 / 3) + effect * u))

    p_rate, q_rate = rates(p.sym, q.sym, u.sym, ca.log)
    problem = optimal.Problem(System("tumour", x=(p, q, y), u=(u,), flow={p: p_rate, q: q_rate, y: u}))
    problem = problem.phase(duration=(0.1, 5.0)).begin(p=whole / 2, q=whole / 4, y=0).minimise(p)
    guess = {"duration": 1.0, "y": (0, dose), "u": 10.0}

    def run(u, x, span, events=None):
        options = {"rtol": 1e-12, "atol": 1e-9, "method": "DOP853"}
        return solve_ivp(lambda t, x: rates(x[0], x[1], u, np.log), span, x, events=events, **options).y[
            :, -1
        ]

    def balance(t, x):
        return x[0] - x[1]

    balance.terminal = True
    treated = run(most, (whole / 2, whole / 4), (0, dose / most))
    return Known(problem, float(run(0.0, treated, (0, 5), balance)[0]), 0.0, guess, printed="7571.67")


def free_flying_robot():
    """Sakawa's, by Betts, who prints 7.9101. The value is that of nine arcs with free switches, as
    `textbook_switched` has them, at a tolerance of 1e-11."""
    x, y, angle = State("x", -10.0), State("y", -10.0), State("angle", math.pi / 2)
    vx, vy, w = State("vx"), State("vy"), State("w")
    left, right = Input("left", bounds=(-1, 1)), Input("right", bounds=(-1, 1))
    ahead = left + right
    flow = {x: vx, y: vy, angle: w, vx: ahead * ca.cos(angle.sym), vy: ahead * ca.sin(angle.sym)}
    flow |= {w: 0.2 * left - 0.2 * right}
    system = System("robot", x=(x, y, angle, vx, vy, w), u=(left, right), flow=flow)
    fuel = [optimal.Integral(f"fuel_{u.name}", u, split="absolute") for u in (left, right)]
    problem = optimal.Problem(system).phase(duration=12.0)
    problem = problem.begin(x=-10, y=-10, angle=math.pi / 2, vx=0, vy=0, w=0)
    problem = problem.end(x=0, y=0, angle=0, vx=0, vy=0, w=0).minimise(fuel[0].sym + fuel[1].sym)
    return Known(problem, 7.91014705, 0.0, {}, {"intervals": 40, "control": "constant"})


@pytest.mark.parametrize("make", [rocket_car, moon_lander, tumour, free_flying_robot])
def test_switches_are_found_without_being_told(make):
    textbook = make()
    if textbook.printed:
        assert abs(textbook.cost - float(textbook.printed)) <= textbook.half_digit
    how = {"control": "constant", **textbook.how}
    solution = textbook.problem.solve(textbook.guess, backend="virtual", **how)
    assert solution.ok, solution.wrong
    assert -1e-6 < (solution.cost - textbook.cost) / abs(textbook.cost) < BANG_BANG_ERROR
    assert len(solution.meshes) > 1  # equal intervals were not enough
    even = textbook.problem.solve(textbook.guess, backend="virtual", accuracy=None, **how)
    assert even.relative_cost_error > BANG_BANG_ERROR
    widths = np.diff(solution.phases[0].t)
    assert widths.min() < 0.3 * widths.max()  # split where it switches, and not elsewhere


@pytest.mark.parametrize("name", ["van_der_pol", "rayleigh", "batch_reactor", "parallel_reactions"])
def test_smooth_inputs_are_found_by_default_settings(name):
    """Twenty intervals of lines, as `solve` begins: van der Pol's was 0.24 % off and ok."""
    textbook = getattr(textbook_smooth, name)()
    solution = textbook.problem.solve(textbook.guess, backend="virtual")
    assert solution.ok, solution.wrong
    assert abs(solution.cost - textbook.cost) < 1e-5 * abs(textbook.cost)
    assert solution.relative_cost_error <= 1e-5


@pytest.mark.parametrize("name", ["hager", "zermelo", "soap_film", "rayleigh", "van_der_pol"])
def test_the_error_of_inputs_that_are_staircases_is_estimated(name):
    textbook = getattr(textbook_smooth, name)()
    even = textbook.problem.solve(
        textbook.guess, backend="virtual", control="constant", intervals=20, accuracy=None
    )
    assert even.ok  # nothing was asked of it
    error = even.cost - textbook.cost
    assert error < even.cost_error < 2 * error


def test_inputs_that_cost_too_much_are_told():
    textbook = textbook_smooth.van_der_pol()
    coarse = textbook.problem.solve(textbook.guess, backend="virtual", control="constant", cost_accuracy=1e-9)
    assert not coarse.ok
    (sentence,) = coarse.wrong
    assert sentence.startswith("better inputs would save about ")
    assert "of the cost, more than 1e-09: give more intervals, another control=..." in sentence
    facts = json.loads(json.dumps(coarse.summary()))
    assert facts["wrong"] == [sentence]
    assert facts["cost_error"] == pytest.approx(coarse.cost_error)
    assert coarse.cost > textbook.cost
    assert "better inputs" in repr(coarse)


def test_an_accuracy_must_be_positive():
    with pytest.raises(ValueRangeError, match="cost_accuracy is -1: what inputs may cost too much"):
        rocket_car().problem.solve(cost_accuracy=-1.0)


def test_one_input_goes_where_it_is_cheapest():
    """The best change of an input whose rate costs 2 where it is positive and 1 where it is negative."""
    line = InputPrice(0.0, 1.0, np.array([1.0]), np.array([3.0]), np.array([2.0]), np.array([1.0]))
    # 2 (3 + d) + d^2 / 2 is least at d = -2, where it is 4 instead of 6.
    assert line.gain(-10.0, 10.0) == pytest.approx(2.0)
    assert line.gain(-1.0, 1.0) == pytest.approx(1.5)
    steep = InputPrice(0.0, 0.0, np.array([1.0]), np.array([3.0]), np.array([2.0]), np.array([1.0]))
    assert steep.gain(-10.0, 10.0) == pytest.approx(6.0)  # to the corner, where nothing is left


def test_an_input_that_is_zero_may_still_be_wrong():
    """x' = u, and t - 2/3 of x is gained: a constant input gains nothing, and is zero; the best one is
    p(t) = (1 - t^2) / 2 - 2 (1 - t) / 3, which gains half the integral of p^2, 1/540."""
    x, u = State("x"), Input("u")
    system = System("idle", x=(x,), u=(u,), flow={x: u})
    price = optimal.Integral("price", u**2 / 2 - 30 * (time - 2 / 3) * x)
    coarse = (
        optimal.Problem(system)
        .phase(duration=1.0)
        .begin(x=0)
        .minimise(price)
        .solve(control="constant", intervals=1, accuracy=None)
    )
    assert np.abs(coarse["u"]).max() < 1e-7
    assert 0.5 * 900 / 540 < coarse.cost_error < 2 * 900 / 540


def test_a_motion_that_was_kept_says_nothing_of_its_inputs():
    """It costs what it did before: that the cost did not change is no sign that inputs are good."""
    textbook = textbook_smooth.van_der_pol()
    coarse = textbook.problem.solve(
        textbook.guess, backend="virtual", control="constant", intervals=10, accuracy=None
    )
    coarse = replace(coarse, cost_accuracy=1e-9, input_errors=control_errors(coarse).phases)
    even = [np.full(20, 1 / 20)]
    assert inputs_were_split(coarse, even)
    assert not inputs_were_split(coarse, [np.concatenate([np.full(10, 0.05), np.full(5, 0.1)])])
    assert not inputs_were_split(replace(coarse, cost_accuracy=None), even)
    task = SolveTask(
        problem=textbook.problem,
        how=coarse.how,
        settings={"tol": 1e-9, "max_iter": 500},
        accuracy=1e-3,
        cost_accuracy=1e-9,
        backend="virtual",
        watch=SearchWatch(),
    )
    counted = []

    def keep(_, mesh, guess, ceiling=np.inf):
        counted.append(mesh)
        return replace(
            coarse, status=KEPT if len(counted) > 1 else "solved", cost_accuracy=None, input_errors=()
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SolveTask, "_solve_from", keep)
        kept = task.search(make_guess(textbook.problem, textbook.guess), Starts(1, 0.0, 0))
    assert len(counted) > 1
    assert kept.cost_error == pytest.approx(coarse.cost_error)
    assert not kept.ok


def test_an_accuracy_of_inputs_on_a_mesh_that_stays_is_refused():
    with pytest.raises(
        ValueRangeError, match="cost_accuracy is 0.001 and accuracy None, which keeps the mesh"
    ):
        rocket_car().problem.solve(accuracy=None, cost_accuracy=1e-3)
