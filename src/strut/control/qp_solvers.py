"""Quadratic programs by other solvers than daqp, chosen by name: for the loop in Python, and to hold answers
against each other.

    controller.run(machine, t=1.0, solver="piqp")

'daqp' is compiled into controllers and into what is exported. What `qpsolvers` finds installed ('clarabel',
'osqp', 'piqp', 'proxqp', 'quadprog', ...) is there by its own name. A program
is scaled, relaxed and checked as `strut_qp.c` does it, whoever solves it (`named_qp_solver.py`): no flag of a
solver is believed.
"""

from __future__ import annotations

import functools
import importlib.util
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.errors import MissingExtraError, UnknownNameError, did_you_mean
from strut.extras import optional_module

COMPILED_SOLVER = "daqp"
"""The solver of compiled controllers."""
SOLVER_OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "clarabel": {"tol_gap_abs": 1e-13, "tol_gap_rel": 1e-13, "tol_feas": 1e-12},
    "osqp": {"eps_abs": 1e-10, "eps_rel": 1e-10, "max_iter": 100_000},
    "piqp": {"eps_abs": 1e-12, "eps_rel": 1e-12, "max_iter": 500},
    "proxqp": {"eps_abs": 1e-10, "eps_rel": 0.0, "eps_primal_inf": 1e-14, "max_iter": 10_000},
}
"""Options of solvers whose own tolerances are wider than the check of a solution asks. Others keep
their own."""
PROXQP_INFINITY = 1e20
"""Stands for infinity in bounds that ProxQP is given."""

Answer = tuple[np.ndarray, np.ndarray]
"""Unknowns, and multipliers of bounds and rows (positive at upper ones)."""


@dataclass(frozen=True, eq=False)
class ScaledProgram:
    """y'P y / 2 + q'y with low <= (y, A y) <= up: the program as a solver is given it."""

    P: np.ndarray
    q: np.ndarray
    A: np.ndarray
    low: np.ndarray
    up: np.ndarray


def qp_solver_names() -> list[str]:
    """The names of the solvers that are installed."""
    names = [COMPILED_SOLVER]
    if importlib.util.find_spec("qpsolvers"):
        package = optional_module("qpsolvers", "solvers of quadratic programs")
        names += [name for name in package.available_solvers if name not in names]
    return names


def check_solver_name(name: str) -> None:
    """Refuse the name of a solver that is not installed. Raises `MissingExtraError` where the package that
    finds solvers is missing, `UnknownNameError` else."""
    names = qp_solver_names()
    if name in names:
        return
    if name in SOLVER_OPTIONS and not importlib.util.find_spec("qpsolvers"):
        raise MissingExtraError("qpsolvers", f"solver '{name}'", "qp")
    raise UnknownNameError(
        f"there is no solver '{name}' of quadratic programs: {did_you_mean(name, names)}. Installed are "
        f"{', '.join(names)}; pip install 'strut[qp]' brings clarabel, osqp, piqp, proxqp and quadprog"
    )


def _solve_by_name(name: str, program: ScaledProgram) -> Answer | None:
    """Solve by a solver of qpsolvers; nothing where it finds no solution."""
    package = optional_module("qpsolvers", f"solver '{name}'")
    n = len(program.q)
    low, up = program.low[n:], program.up[n:]
    equal = low == up
    above, below = ~equal & np.isfinite(up), ~equal & np.isfinite(low)
    matrices = [program.P, np.vstack([program.A[above], -program.A[below]]), program.A[equal]]
    if name not in package.dense_solvers:
        matrices = [optional_module("scipy.sparse", f"solver '{name}'").csc_matrix(each) for each in matrices]
    P, G, A = matrices
    h, b = np.concatenate([up[above], -low[below]]), up[equal]
    problem = package.Problem(
        P,
        program.q,
        G if len(h) else None,
        h if len(h) else None,
        A if len(b) else None,
        b if len(b) else None,
        program.low[:n],
        program.up[:n],
    )
    try:
        with warnings.catch_warnings():  # what they warn of is checked
            warnings.simplefilter("ignore")
            solution = package.solve_problem(problem, solver=name, **SOLVER_OPTIONS.get(name, {}))
    except (package.exceptions.QPError, ValueError):  # what some say of a program without a solution
        return None
    if solution.x is None:
        return None
    lam = np.zeros(n + len(low))
    if solution.z_box is not None and np.size(solution.z_box):
        lam[:n] = solution.z_box
    rows = lam[n:]
    if len(b) and solution.y is not None:
        rows[equal] = solution.y
    if len(h) and solution.z is not None:
        z = np.asarray(solution.z)
        rows[above] += z[: above.sum()]
        rows[below] -= z[above.sum() :]
    return np.array(solution.x, float), lam


def _solve_by_proxqp(program: ScaledProgram) -> Answer | None:
    """Solve by ProxQP. By its own tolerance of infeasibility, which qpsolvers cannot set, it takes programs
    that have a solution for such that have none."""
    n = len(program.q)
    low, up = (np.clip(side, -PROXQP_INFINITY, PROXQP_INFINITY) for side in (program.low, program.up))
    equal = low[n:] == up[n:]
    proxqp = optional_module("proxsuite", "solver 'proxqp'").proxqp
    qp = proxqp.dense.QP(n, int(equal.sum()), int((~equal).sum()), True)
    for name, value in SOLVER_OPTIONS["proxqp"].items():
        setattr(qp.settings, name, value)
    A, rows = program.A, ~equal
    qp.init(
        program.P, program.q, A[equal], up[n:][equal], A[rows], low[n:][rows], up[n:][rows], low[:n], up[:n]
    )
    qp.solve()
    lam = np.zeros(len(low))
    lam[n:][equal], lam[n:][rows], lam[:n] = (
        qp.results.y,
        qp.results.z[: rows.sum()],
        qp.results.z[rows.sum() :],
    )
    return np.array(qp.results.x), lam


def solver_by_name(name: str) -> Callable[[ScaledProgram], Answer | None]:
    """Return what solves a program by the solver of this name; it gives nothing where that finds no solution.
    Raises as `check_solver_name`."""
    check_solver_name(name)
    if name == "proxqp":
        return _solve_by_proxqp
    return functools.partial(_solve_by_name, name)


__all__ = [
    "COMPILED_SOLVER",
    "Answer",
    "ScaledProgram",
    "check_solver_name",
    "qp_solver_names",
    "solver_by_name",
]
