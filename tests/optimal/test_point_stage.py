"""Points of a mesh are differentiated through inverse dynamics: the same numbers as through forward dynamics, of less code."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from strut import Mechanism, contact, joints, mechanism, optimal, walkers
from strut.optimal.nlp.lift import needed_unknowns, replace_nodes
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scheme import Transcription
from strut.optimal.nlp.stage_backend import count_instructions
from strut.studies.saurel_walks import CASES
from strut.studies.saurel_walks import problem as saurel_problem
from strut.system import add_prefix, join, start, time
from tests.contact.machines import rod
from tests.optimal.floating import on_rigid_ground, telescopic

ROUNDING = 1e-9
"""Relative difference that rounding may make between two ways to the same derivative: systems are conditioned like 1e4."""


def states(system, seed):
    """A random state near the first one, with every combination of flags that the seed happens to choose."""
    random, begin = np.random.default_rng(seed), start(system)
    z = np.array(begin.z)
    for k, name in enumerate(system.labels("z")):
        if name.endswith(("_on", "_locked")):
            z[k] = random.integers(2)
        if name.endswith("_slip"):
            z[k] = random.integers(-1, 2)
    x = begin.x + 0.3 * random.standard_normal(len(begin.x))
    return 0.0, x, z, random.standard_normal(len(begin.u)), begin.p


MACHINES = {
    "stepping": walkers.compass,
    "stepping with locks": walkers.kneed,
    "stepping in space": CASES["M_E"].make,
    "rigid": lambda: on_rigid_ground(telescopic()),
    "rigid with friction": lambda: contact.rigid(rod(), ["left"], friction=0.6),
    "two, joined": lambda: join(
        "two", add_prefix(walkers.kneed(), "left"), add_prefix(walkers.compass(), "right")
    ),
}


@pytest.mark.parametrize("make", MACHINES.values(), ids=MACHINES)
def test_forward_dynamics_solves_the_residual_whatever_stands_locks_and_slides(make):
    system = make()
    implied = system.implied
    rates = ca.vertcat(*[system.flow[name] for name in implied.states], implied.further)
    groups = [time, *system.vectors()]
    f = ca.Function("rates", groups, [rates])
    g = ca.Function("residual", [*groups, implied.unknown], [implied.residual])
    for seed in range(6):
        at = states(system, seed)
        unknown = f(*at)
        assert float(ca.norm_inf(g(*at, unknown))) < ROUNDING * (1 + float(ca.norm_inf(unknown)))


def test_rows_that_repeat_each_other_imply_nothing():
    assert on_rigid_ground(telescopic()).implied is not None
    m = telescopic(heels=True)
    soles = ("foot_l", "heel_l", "foot_r", "heel_r")
    # two points hold a foot in a plane with three rows: one of them alone keeps it from sliding
    assert on_rigid_ground(m, feet=soles).implied is not None
    for side in "lr":
        m.frame(f"arch_{side}", m.bodies[f"shank_{side}"], (-0.05, 0, -0.8))
    # a third point says nothing new
    assert on_rigid_ground(m, feet=(*soles, "arch_l", "arch_r")).implied is None


def derivatives(problem, **how):
    """Jacobian and Hessian, dense, at a random place, and how many instructions they are made of."""
    mesh = Transcribed(problem, Transcription(intervals=2, **how), backend="virtual")
    random = np.random.default_rng(1)
    v = np.clip(0.1 + 0.3 * random.standard_normal(len(mesh.unknowns.names)), -0.5, 0.6)
    lam = random.standard_normal(len(mesh.rows.names) - 1)
    f = mesh.assembled.functions
    jacobian = f["jac_g"](v, mesh.numbers())[1]
    hessian = f["hess_lag"](v, mesh.numbers(), 0.7, lam)
    stage = next(b.stage for b in mesh.blocks if b.stage.name == "point_0")
    written = {}
    for each in (stage.value, stage.jacobian, stage.hessian):
        count_instructions(each, written)
    return np.array(ca.DM(jacobian)), np.array(ca.DM(hessian)), sum(written.values())


@pytest.mark.parametrize(("name", "share"), [("M_A", 0.7), ("M_B", 0.5), ("M_E", 0.35)])
def test_both_ways_give_the_same_derivatives_and_the_one_through_the_residual_is_shorter(name, share):
    system = CASES[name].make()
    plain = system.replace(implied=None)
    short, long = (derivatives(saurel_problem(s), stages=4, control="cubic") for s in (system, plain))
    for a, b in zip(short[:2], long[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING * np.abs(b).max())
    assert short[2] < share * long[2]


def standing(system):
    """A machine on one foot for a time, which neither slips nor lets go; the slope is free."""
    normal, friction = system["foot_l_normal"], system["foot_l_friction"]
    effort = optimal.Integral("effort", sum(system[n] ** 2 for n in system.labels("u")))
    p = optimal.Problem(system).phase("stand", duration=(0.1, 1.0), z={"foot_l_on": 1.0, "foot_r_on": 0.0})
    p = p.require("cone", 0.6 * normal - friction, low=0.0).free("slope")
    return p.require("no release", system.event("foot_l_release").guard, high=0.0).minimise(effort.sym)


def test_on_rigid_ground_forces_and_rules_of_release_go_through_the_residual_too():
    system = on_rigid_ground(telescopic())
    short, long = (derivatives(standing(s)) for s in (system, system.replace(implied=None)))
    for a, b in zip(short[:2], long[:2], strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=ROUNDING * np.abs(b).max())
    assert short[2] < 0.7 * long[2]


def test_a_walker_is_optimised_to_the_same_cost():
    asked = {"speed": 0.5, "cost": "squared-torque", "slope": 0.0, "backend": "virtual"}
    walker = walkers.compass()
    implicit, explicit = (optimal.design(w, **asked) for w in (walker, walker.replace(implied=None)))
    assert implicit.ok
    assert implicit.result.cost == pytest.approx(explicit.result.cost, rel=1e-8)
    assert implicit.step_length == pytest.approx(explicit.step_length, rel=1e-6)


def test_finer_meshes_use_the_same_stage_functions():
    stages = {}
    problem = saurel_problem(CASES["M_A"].make())
    meshes = [Transcribed(problem, Transcription(intervals=n), None, "virtual", stages) for n in (2, 5)]
    names = [{b.stage.name: b.stage for b in mesh.blocks} for mesh in meshes]
    assert names[0].keys() == names[1].keys()
    assert all(names[0][n].value is names[1][n].value for n in names[0])


def test_nodes_are_replaced_wherever_they_stand_also_where_their_sign_was_drawn_in():
    x, a = ca.SX.sym("x", 2), ca.SX.sym("a", 2)
    first, second = ca.sin(x[0]) * x[1], -(ca.cos(x[0]) + x[1])
    results = ca.vertcat(first**2 + x[0], 3 - second, second * first)
    lifted = replace_nodes([x], ca.vertcat(first, second), a, [results])[0]
    expected = ca.vertcat(a[0] ** 2 + x[0], 3 - a[1], a[1] * a[0])
    f = ca.Function("f", [x, a], [lifted, expected])
    one, two = f([0.3, 0.7], [1.1, -0.4])
    np.testing.assert_allclose(np.array(one), np.array(two), rtol=1e-15)
    assert not ca.depends_on(lifted[1:], x)


def test_only_what_a_result_reads_is_solved_for():
    w, y = ca.SX.sym("w", 3), ca.SX.sym("y")
    residual = ca.vertcat(2 * w[0] - y, w[1] - w[0] ** 2, w[2] - w[1])
    assert needed_unknowns(residual, w, w[0] + y) == ([0], [0])
    assert needed_unknowns(residual, w, w[1]) == ([0, 1], [0, 1])
    assert needed_unknowns(residual, w, y) == ([], [])


def test_a_unit_mass_whose_acceleration_is_its_force_is_differentiated():
    """Its equation a - tau = 0 has the force written out: with the acceleration in its place nothing would be left."""
    cart = Mechanism("cart", planar=True)
    wagon = cart.body("wagon", mass=1.0)
    cart.joint("slide", cart.world, wagon, joints.prismatic("x"), spring=2.0, damping=0.3)
    system = mechanism.system(cart)
    costs = []
    for each in (system, replace(system, implied=None)):
        push = each.vector("u")
        problem = optimal.Problem(each).phase(duration=1.0).begin(slide=0.0, slide_rate=0.0).end(slide=1.0)
        solution = problem.minimise(optimal.Integral("effort", push**2)).solve()
        assert solution.ok, solution.wrong
        costs.append(solution.cost)
    assert costs[0] == pytest.approx(costs[1], rel=ROUNDING)
