"""Quadratic programs in C: against another solver, in both forms, infeasible, and of several levels."""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import linprog

from strut.codegen import QpStatus, solve_qp

HUMANOID_PROGRAMS = Path(__file__).parent / "data" / "humanoid_programs.json"
"""Programs of van de Rijt's humanoid with their own weights: two in flight, whose joints shall brake harder than
motors can, one of these with a light chest, whose points of least misses are too few for the solver to minimise the
cost among them; and one with a foot in the air and weights from 1e-6 to 1e6."""
BRAKING = slice(0, 7)
"""Its accelerations, whose bounds are of rank 1; all else is of rank 0."""
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
    # where the lower rank must give way too, it does so as little as it can: rank 2 is missed for it
    y, report = solve_qp(H=np.eye(1), g=[0], low=[-1, 3, 0], up=[1, 3, 0], A=[[1], [1]], ranks=[0, 1, 2])
    assert (report.status, report.relaxed) == (QpStatus.RELAXED, 1)
    assert y == pytest.approx([1], abs=1e-7)


def test_a_relaxed_program_serves_its_cost_within_the_least_misses():
    """The sum of two is 3 with each at most 1 (rank 1): both are missed by a half, and a third unknown that
    nothing binds goes where the cost wants it, whatever the weights."""
    for weight in (1e-6, 1.0, 1e6):
        y, report = solve_qp(
            H=weight * np.eye(3),
            g=[0, 0, -7 * weight],
            low=[-1, -1, -9, 3],
            up=[1, 1, 9, 3],
            A=[[1, 1, 0]],
            ranks=[1, 1, 1, 0],
        )
        assert (report.status, report.relaxed) == (QpStatus.RELAXED, 1)
        assert y == pytest.approx([1.5, 1.5, 7.0], abs=1e-6)
        assert report.relaxation == pytest.approx(0.5, abs=1e-6)


def humanoid_program(name):
    """A captured program, and the ranks of its rows."""
    program = json.loads(HUMANOID_PROGRAMS.read_text())[name]
    ranks = [0] * len(program["low"])
    ranks[BRAKING] = [1] * 7
    return {key: np.diag(value) if key == "H" else np.array(value) for key, value in program.items()}, ranks


def is_feasible(q, without=slice(0, 0)):
    """Whether HiGHS finds a point within rows and bounds, but those left out."""
    low, up = np.where(q["low"] < -1e19, -np.inf, q["low"]), np.where(q["up"] > 1e19, np.inf, q["up"])
    low[without], up[without] = -np.inf, np.inf
    rows = np.vstack([np.eye(len(q["g"])), q["A"]])
    sides = np.vstack([rows[np.isfinite(up)], -rows[np.isfinite(low)]])
    most = np.concatenate([up[np.isfinite(up)], -low[np.isfinite(low)]])
    found = linprog(0 * q["g"], sides, most, bounds=(None, None), method="highs")
    assert found.status in (0, 2)
    return found.status == 0


def least_squared_miss(q):
    """The least sum of squared misses of the braking bounds, by qpOASES."""
    n, rows, free = len(q["g"]), len(q["A"]), 7
    low, up = np.maximum(q["low"], -1e20), np.minimum(q["up"], 1e20)
    inf = np.full(free, 1e20)
    solver = ca.conic(
        "least",
        "qpoases",
        {"h": ca.Sparsity.dense(n + free, n + free), "a": ca.Sparsity.dense(rows + free, n + free)},
        {"printLevel": "none"},
    )
    matrix = np.block([[q["A"], np.zeros((rows, free))], [np.eye(free, n), -np.eye(free)]])
    answer = solver(
        h=np.diag([1e-8] * n + [1.0] * free),
        a=matrix,
        lba=np.concatenate([low[n:], low[BRAKING]]),
        uba=np.concatenate([up[n:], up[BRAKING]]),
        lbx=np.concatenate([-inf, low[free:n], -inf]),
        ubx=np.concatenate([inf, up[free:n], inf]),
    )
    assert solver.stats()["success"]
    return float(np.sum(np.array(answer["x"])[n:] ** 2))


@pytest.mark.parametrize("name", ["braking_knee", "braking_legs", "single_point"])
@pytest.mark.parametrize("slack", [False, True])
def test_bounds_that_motors_cannot_keep_are_missed_least_with_the_programs_own_weights(name, slack):
    """Joints that shall brake with 1000 rad/s^2 in the air, with motors of 220 N m: no point keeps all bounds."""
    q, ranks = humanoid_program(name)
    assert not is_feasible(q)
    assert is_feasible(q, without=BRAKING)
    y, report = solve_qp(**q, ranks=ranks, slack=slack)
    assert (report.status, report.relaxed) == (QpStatus.RELAXED, 1)
    assert max(residuals(report)) < MAX_KKT
    values = np.concatenate([y, q["A"] @ y])
    miss = np.maximum(np.maximum(q["low"] - values, values - q["up"]), 0)
    assert report.relaxation == pytest.approx(miss[BRAKING].max(), rel=1e-12)
    assert miss[7:11].max() == 0  # feet in the air: no force to the last bit
    assert miss[11:].max() < 1e-9 * abs(q["up"][abs(q["up"]) < 1e19]).max()
    assert np.sum(miss[BRAKING] ** 2) == pytest.approx(least_squared_miss(q), rel=1e-6)


def test_forces_that_are_fixed_at_zero_hide_nothing():
    """A foot in the air has bounds of zero beside a weight of 1e-6: in rows its columns are the largest by far."""
    q, ranks = humanoid_program("far_weights")
    assert is_feasible(q)
    y, report = solve_qp(**q, ranks=ranks)
    assert report.status == QpStatus.SOLVED
    assert max(residuals(report)) < MAX_KKT
    assert np.all(y[7:9] == 0)


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
