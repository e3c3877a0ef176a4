"""What is compiled of a walker serves for every choice of costs, bounds and free parameters."""

from contextlib import nullcontext

import casadi as ca
import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.codegen import cache, lower_system
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.walk.costs import add_weight_parameters

BOTH = {"energy": 1.0, "squared-torque": 0.1}


@pytest.fixture(scope="module")
def designs():
    walker = walkers.compass()
    torque = optimal.design(walker, speed=0.5, slope=0.0)
    both = optimal.design(walker, "hip_mass", BOTH, speed=0.5, slope=0.0, step_length=(0.2, 0.6))
    return torque, both


def digest(system):
    return lower_system(system).digest


def test_machines_and_passive_gaits_share_their_code(designs):
    torque, both = designs
    assert torque.ok
    assert both.ok
    assert digest(torque.machine) == digest(both.machine)
    assert digest(torque.passive.system) == digest(both.passive.system)


def test_weights_of_costs_are_parameters_of_the_problem_and_not_of_the_machine(designs):
    names = [{q.name for q in system.p} for system in (designs[1].result.problem.system, designs[1].machine)]
    assert [{n for n in group if n.startswith("weight_")} for group in names] == [
        {"weight_energy", "weight_squared_torque"},
        set(),
    ]


def test_a_gait_without_the_weights_of_costs_can_be_begun_from(designs):
    like = gait.find(walkers.compass())
    again = optimal.design(
        walkers.compass(), "hip_mass", BOTH, like=like, speed=0.5, slope=0.0, step_length=(0.2, 0.6)
    )
    assert again.ok
    assert again.result.cost == pytest.approx(designs[1].result.cost, rel=1e-8)


ROUNDING = 1e-10
"""Derivatives by all parameters and by the free ones are other operations: they agree relative to the largest."""


@pytest.fixture
def compilations(monkeypatch):
    """The names of what is compiled."""
    made = []

    def note(name):
        made.append(name)
        return nullcontext()

    monkeypatch.setattr(cache, "_announce_if_slow", note)  # asked whenever something is compiled
    return made


def test_other_free_parameters_costs_and_bounds_compile_nothing(compilations):
    walker = walkers.compass()
    like = gait.find(walker)

    def solve(*free, cost="squared-torque", **limits):
        ready = add_weight_parameters(walker, cost)
        problem = optimal.step_problem(ready, ["heel_strike"], speed=0.45, **limits).free(*free)
        asked = optimal.cost_of_transport(ready, cost, ("heel_strike",))  # its integrals live as long as it
        problem = problem.minimise(asked.expression)
        first = problem.solve(like, intervals=10, accuracy=None, iterations=2, backend="native")
        assert first.times["compile"] > 0  # loaded, at least
        assert np.isfinite(first.defect)  # intervals are integrated again, by a program of its own
        return first.cost

    stiff = solve("hip_spring", step_length=(0.3, 0.5))
    compilations.clear()
    assert solve("b", "hip_mass", step_length=(0.3, 0.5)) != pytest.approx(stiff, rel=1e-3)
    solve("slope", step_length=(0.2, 0.6), torque=40.0)
    for cost in ("energy", "absolute-work", BOTH):
        solve("hip_spring", cost=cost, duration=(0.3, 2.0))
    assert compilations == []


def derivatives(problem, backend, **how):
    mesh = Transcribed(problem, Transcription(**{"intervals": 3, **how}), backend=backend)
    random = np.random.default_rng(2)
    v = 0.3 + 0.2 * random.standard_normal(len(mesh.unknowns.names))
    weights, f = random.standard_normal(len(mesh.rows.names) - 1), mesh.assembled.functions
    return (
        f["nlp"](v, mesh.numbers())[1],
        f["grad_f"](v, mesh.numbers())[1],
        f["jac_g"](v, mesh.numbers())[1],
        f["hess_lag"](v, mesh.numbers(), 0.7, weights),
    )


def step(*free):
    walker = walkers.compass()
    effort = optimal.Integral("effort", walker["hip_torque"] ** 2)
    problem = optimal.Problem(walker).phase("step", until="heel_strike").free(*free).minimise(effort.sym)
    return problem.require("slow", walker["swing_rate"] * walker["b"], high=9.0)


def swing(*free):
    pendulum = walkers.pendulum()
    effort = optimal.Integral("effort", pendulum["torque"] ** 2 * pendulum["length"])
    problem = optimal.Problem(pendulum).phase("swing", duration=(0.1, 1.0)).free(*free).minimise(effort.sym)
    return problem.require("slow", pendulum["rate"] * pendulum["length"], high=9.0)


@pytest.mark.parametrize(
    ("problem", "how"),
    [
        (step(), {}),
        (step("hip_mass"), {}),
        (step("b", "slope", "a"), {}),  # not in the order of the system
        (swing("length"), {}),  # short: the integral is part of the same stage
        (swing("mass", "length"), {"method": "shooting", "steps": 2}),
    ],
)
def test_what_is_selected_of_the_general_form_is_the_own_form(problem, how):
    for own, selected in zip(
        derivatives(problem, "virtual", **how), derivatives(problem, "native", **how), strict=True
    ):
        assert own.sparsity() == selected.sparsity()
        size = float(ca.norm_inf(ca.vec(own)))
        np.testing.assert_allclose(np.array(selected), np.array(own), rtol=0, atol=ROUNDING * size)
