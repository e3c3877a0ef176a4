"""Derivatives of rates that a residual implies."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.codegen import lower
from strut.errors import ShapeError, UnknownNameError
from strut.system import Implied, Param, State, System, add_prefix, join
from strut.system.ported_function import operation_count
from strut.walkers import coman_mechanism
from tests.mechanism.test_mechanism import chain


def both(system, seed=0):
    """The flow's Jacobians with and without what is implied, at a random state."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.6, 0.6, system.size("x"))
    u = rng.standard_normal(system.size("u"))
    p = np.concatenate([q.value for q in system.p])
    arguments = (0.3, x, np.zeros(0), u, p, np.zeros(0))
    found = []
    for variant in (system, system.replace(implied=None)):
        f = lower.lower(variant, jacobians=True).jacobians["flow_jacobian"][0]
        found.append((f, [np.array(r) for r in f(*arguments)]))
    return found


def test_implied_and_direct_derivatives_agree_and_the_first_is_shorter():
    mechanism = chain(9)
    system = strut.mechanism.system(mechanism)
    (short, one), (long, two) = both(system)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert operation_count(short) < operation_count(long)  # in space by far more, see below


def test_joined_systems_keep_what_still_holds():
    m = chain(1)
    m.joint(
        "q2",
        m.bodies["rod1"],
        m.body("rod2", 1.0, (0, 0, -0.5), 0.1),
        strut.joints.revolute("y"),
        at=(0, 0, -1),
    )
    arm = strut.mechanism.system(m)
    pair = join(
        "pair", add_prefix(arm, "left"), add_prefix(arm, "right"), connect={"left.q2_torque": "right.q1"}
    )
    assert len(pair.implied.states) == 4
    (_, one), (_, two) = both(pair)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)
    pulled = join("pulled", arm, couplings={"q1_rate": 1.0})
    assert pulled.implied is None


def test_linear_analysis_goes_the_same_way():
    system = strut.mechanism.system(chain(3))
    a = strut.linear.linearise(system).A
    b = strut.linear.linearise(system.replace(implied=None)).A
    np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


def test_a_humanoid_is_differentiated_in_a_fraction_of_the_operations():
    system = strut.mechanism.system(coman_mechanism())
    f = lower.lower(system, jacobians=True).jacobians["flow_jacobian"][0]
    assert operation_count(f) < 200_000  # 406,000 for the derivative by state and torque alone, directly


def test_mistakes_are_named():
    x, m = State("x", 0.0), Param("m", 2.0)
    a = ca.SX.sym("a")
    with pytest.raises(UnknownNameError, match="the implied rates of system 's' names 'y'"):
        System("s", x=[x], p=[m], flow={x: 1 / m.sym}, implied=Implied(("y",), a, m.sym * a - 1))
    with pytest.raises(ShapeError, match="need 1 symbols"):
        System(
            "s", x=[x], p=[m], flow={x: 1 / m.sym}, implied=Implied(("x",), ca.SX.sym("a", 2), m.sym * a - 1)
        )
