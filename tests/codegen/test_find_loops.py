"""Loops in the generated C compute what the expressions say, whatever the sums look like."""

import casadi as ca
import numpy as np
import pytest

from strut import Param, State, System
from strut.codegen import translation_unit as unit
from strut.codegen.backends import compile_system, lower_system


def flow_of(system, x, p, backend):
    return compile_system(system, backend=backend).evaluate("flow", np.zeros(len(x)), x, [], [], p)


def check(rates, n, loops=True):
    x, p = State("x", np.linspace(0.1, 2, n)), Param("p", np.linspace(0.5, 1.5, n))
    system = System("sums", x=(x,), p=(p,), flow={x: ca.vertcat(*rates(x, p))})
    assert ("like terms" in unit.unit_text(lower_system(system))) == loops
    rng = np.random.default_rng(n)
    points, values = rng.uniform(0.2, 2, size=(4, n)), rng.uniform(0.5, 1.5, size=n)
    native, virtual = (flow_of(system, points, values, backend) for backend in ("native", "virtual"))
    assert native == pytest.approx(virtual, rel=1e-12)


def test_sums_of_products_quotients_and_powers():
    check(
        lambda x, p: [
            sum((p[j] * x[i] ** 1.5 / p[i] - 2.5 * ca.fabs(x[j]) for j in range(12)), 0) for i in range(12)
        ],
        12,
    )


def test_numbers_that_differ_from_term_to_term():
    check(
        lambda x, p: [
            sum((0.1 * (i + 3 * j) * ca.tanh(x[j] - x[i] * p[j]) for j in range(14)), 0) for i in range(14)
        ],
        14,
    )


def test_loops_that_wait_for_loops():
    def rates(x, p):
        means = [ca.tanh(sum((p[j] * ca.sin(x[j] + 0.1 * i) for j in range(12)), 0)) for i in range(12)]
        return [sum((means[j] * ca.exp(-x[i] * p[j]) for j in range(12)), x[i]) for i in range(12)]

    check(rates, 12)


def test_rows_of_different_lengths_and_signs():
    check(
        lambda x, p: [x[i] - sum((ca.cos(x[j] * x[i] + p[j]) for j in range(i + 1)), 0) for i in range(20)],
        20,
    )


def test_a_recursion_is_left_as_it_is():
    def rates(x, p):
        made = []
        for i in range(60):
            made.append(x[i] + sum((made[j] * p[j] for j in range(max(0, i - 3), i)), 0) * ca.sin(x[i]))
        return made

    check(rates, 60, loops=False)
