"""Quadratic programs in C: against another solver, in both forms, infeasible, and of several levels."""

import casadi as ca
import numpy as np
import pytest

from strut.codegen import QpStatus, solve_qp

MAX_KKT = 1e-8
"""The largest relative residual of a solution that the solver takes."""


def random_program(rng, n=11, goals=8, rows=12, equations=3):
    """A feasible program whose weights span eight magnitudes, as those of whole-body control do."""
    A, inside = rng.normal(size=(rows, n)), 5 * rng.normal(size=n)
    low, up = np.full(n + rows, -np.inf), np.full(n + rows, np.inf)
    low[:n], up[:n] = inside - 3 * abs(rng.normal(size=n)), inside + 3 * abs(rng.normal(size=n))
    value = A @ inside
    low[n : n + equations] = up[n : n + equations] = value[:equations]
    up[n + equations :] = value[equations:] + abs(rng.normal(size=rows - equations))
    return {
        "H": np.diag(10 ** rng.uniform(-6, -2, n)),
        "g": rng.normal(size=n),
        "T": rng.normal(size=(goals, n)),
        "target": 10 * rng.normal(size=goals),
        "w": 10 ** rng.uniform(-2, 6, goals),
        "A": A,
        "low": low,
        "up": up,
    }


def residuals(report):
    return report.stationarity, report.feasibility, report.complementarity


def test_slack_and_direct_forms_have_one_minimiser():
    rng = np.random.default_rng(0)
    for _ in range(100):
        program = random_program(rng)
        (direct, of_direct), (slack, of_slack) = (solve_qp(**program, slack=s) for s in (False, True))
        assert of_direct.status == of_slack.status == QpStatus.SOLVED
        assert max(residuals(of_direct) + residuals(of_slack)) < MAX_KKT
        assert abs(direct - slack).max() < 1e-8


def test_agrees_with_qpoases():
    """Another active-set solver, in CasADi; cost and solution, which is unique."""
    rng = np.random.default_rng(1)
    n, rows = 11, 12
    solver = ca.conic(
        "check",
        "qpoases",
        {"h": ca.Sparsity.dense(n, n), "a": ca.Sparsity.dense(rows, n)},
        {"printLevel": "none"},
    )
    for _ in range(20):
        q = random_program(rng)
        H = q["H"] + q["T"].T @ (q["w"][:, None] * q["T"])
        g = q["g"] - q["T"].T @ (q["w"] * q["target"])
        low, up = np.maximum(q["low"], -1e20), np.minimum(q["up"], 1e20)
        theirs = solver(h=H, g=g, a=q["A"], lba=low[n:], uba=up[n:], lbx=low[:n], ubx=up[:n])
        ours, report = solve_qp(**q)
        assert solver.stats()["success"]
        assert report.status == QpStatus.SOLVED
        assert ours == pytest.approx(np.array(theirs["x"]).reshape(-1), abs=1e-6)


def test_what_has_no_solution_is_relaxed_by_rank_and_says_so():
    impossible = {"H": np.eye(2), "g": [0, 0], "low": [-1, -1, 3], "up": [1, 1, 3], "A": [[1, 1]]}
    y, report = solve_qp(**impossible, ranks=[0, 0, 1])
    assert (report.status, report.relaxed) == (QpStatus.RELAXED, 1)
    assert y == pytest.approx([1, 1])  # bounds of rank 0 hold to the last bit
    assert y.max() <= 1
    assert report.relaxation == pytest.approx(1.0)
    assert solve_qp(**impossible)[1].status == QpStatus.FAILED
    # the higher rank gives way first: the sum holds, the bounds do not
    y, report = solve_qp(**impossible, ranks=[2, 2, 1])
    assert (report.status, report.relaxed) == (QpStatus.RELAXED, 2)
    assert y.sum() == pytest.approx(3.0)


def test_levels_are_met_in_order():
    goals = {"T": [[1, 1], [1, 0], [0, 1]], "target": [1, 5, 5], "w": [1, 1, 1e3], "levels": [1, 2, 3]}
    y, report = solve_qp(H=1e-3 * np.eye(2), g=[0, 0], low=[-9, -9], up=[2, 9], **goals)
    assert report.status == QpStatus.SOLVED
    assert y == pytest.approx([2, -1], abs=1e-7)  # the sum first, then the first one as far as it goes


def test_no_numbers_are_refused():
    _, report = solve_qp(H=np.eye(1), g=[np.nan], low=[-1], up=[1])
    assert report.status == QpStatus.BAD_DATA


def test_singular_hessians_and_repeated_rows():
    """A rank-deficient program: no curvature along one direction, and one equation twice."""
    y, report = solve_qp(
        H=np.diag([1.0, 0.0]), g=[0, 0], low=[-1, -1, 1, 1], up=[5, 5, 1, 1], A=[[1, 1], [1, 1]]
    )
    assert report.status < QpStatus.RELAXED
    assert y == pytest.approx([0, 1], abs=1e-6)
