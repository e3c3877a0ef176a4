"""Riccati equations against SciPy and closed forms."""

import numpy as np
import pytest

from strut.control.riccati import (
    LinearStretch,
    check_controllable,
    discrete_riccati,
    exponential,
    periodic_riccati,
    step_matrices,
)
from strut.errors import ModelError

linalg = pytest.importorskip("scipy.linalg")


def constant_stretches(A, B, count, length):
    one = LinearStretch(A=(A, A), B=(B, B), weight=(np.eye(len(A)),) * 2, price=(1.0, 1.0), length=length)
    return [one] * count


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_the_exponential_is_scipys(size):
    matrix = size * np.random.default_rng(1).normal(size=(5, 5))
    assert exponential(matrix) == pytest.approx(linalg.expm(matrix), rel=1e-9)


@pytest.mark.parametrize("growth", [0.5, 1.1, 1e5])
def test_doubling_finds_scipys_solution(growth):
    """Also for a step that magnifies 1e5 times, and one that wipes a state out."""
    random = np.random.default_rng(2)
    A, B = np.diag([growth, 0.3, 0.0]) + np.triu(random.normal(size=(3, 3)), 1), random.normal(size=(3, 2))
    Q, R = np.diag([1.0, 2.0, 0.5]), np.diag([1.0, 3.0])
    X = discrete_riccati(A, B, Q, R)
    assert pytest.approx(linalg.solve_discrete_are(A, B, Q, R), rel=1e-7) == X


def test_doubling_solves_the_scalar_equation():
    """x = a^2 x / (1 + x) + 1 with a = 2: x = 2 + sqrt 5."""
    X = discrete_riccati(np.array([[2.0]]), np.eye(1), np.eye(1), np.eye(1))
    assert X.item() == pytest.approx(2 + np.sqrt(5), rel=1e-12)


def test_along_a_constant_motion_it_is_the_algebraic_equation():
    A, B = np.array([[0.0, 1.0], [9.0, -0.2]]), np.array([[0.0], [2.0]])
    P = periodic_riccati([(constant_stretches(A, B, 10, 0.05), np.eye(2))])
    expected = linalg.solve_continuous_are(A, B, np.eye(2), np.eye(1))
    assert len(P[0]) == 11
    assert P[0][0] == pytest.approx(expected, rel=1e-9)
    assert P[0][7] == pytest.approx(expected, rel=1e-9)


def test_through_a_jump_it_is_the_discrete_equation_of_the_sampled_system():
    """No flow but a drift by inputs, then a jump: the solution after the stretch obeys P = J'PJ at its end."""
    J = np.array([[1.5, 0.2], [0.0, 0.5]])
    A, B = np.array([[0.0, 1.0], [-4.0, 0.0]]), np.array([[0.0], [1.0]])
    P = periodic_riccati([(constant_stretches(A, B, 8, 0.1), J)])[0]
    assert P[-1] == pytest.approx(J.T @ P[0] @ J, rel=1e-9)
    # the regulated step is stable
    step, flow = np.eye(2), []
    for k in range(8):
        gain = B.T @ (P[k] + P[k + 1]) / 2
        flow.append(linalg.expm((A - B @ gain) * 0.1))
        step = flow[-1] @ step
    assert np.abs(np.linalg.eigvals(J @ step)).max() < 1


def test_a_mode_that_grows_and_is_not_reached_is_named():
    A, B = np.diag([1.2, 0.5]), np.array([[0.0], [1.0]])
    with pytest.raises(ModelError, match=r"multiplier 1\.2, mostly sway, grows and is not moved by hip"):
        check_controllable(A, B @ B.T, ["sway", "swing"], "hip", "toy")
    with pytest.raises(ModelError, match="no stabilising solution"):
        discrete_riccati(A, B, np.eye(2), np.eye(1))
    _, gramian = step_matrices([(constant_stretches(np.zeros((2, 2)), B, 3, 0.1), np.eye(2))])
    assert gramian == pytest.approx(np.diag([0.0, 0.3]))
