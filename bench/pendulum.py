"""The pendulum for 10 s, called from Python, at an error of 1e-9: the project wants 50 times solve_ivp's
DOP853.

Every method runs at the loosest tolerance that reaches the error, so that none is paid for accuracy nobody
asked for. strut runs as it comes, with dense output and the energy account; the others return their steps or
only the end.
"""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from bench.peers import scipy, sundae
from bench.timing import Effort, Section, Solve, loosest, measure
from strut import simulate, walkers

T, START, G = 10.0, (1.0, 0.0), 9.81  # [s], [rad] and [rad/s], [m/s^2]
EXACT = (-0.46325276873178731307, 2.63654951354962933908)
"""Angle [rad] and rate [rad/s] at 10 s: 2 asin(k sn(K - w t)) and -2 k w cn(K - w t), with k = sin(1/2), w =
sqrt(g/l) and K the complete elliptic integral, by mpmath with 30 digits."""
TARGET = 1e-9


def error_of(end: Any) -> float:
    return float(np.max(np.abs(np.asarray(end, dtype=float).reshape(-1)[:2] - EXACT)))


def rate(t: float, x: Any) -> tuple[float, float]:
    """For SciPy: floats and math.sin, several times as fast as arrays for so small a system."""
    return x[1], -G * math.sin(x[0])


def _strut(method: str, **options: Any) -> Solve:
    system = walkers.pendulum()
    return lambda tolerance: (
        simulate(system, T, method=method, rtol=tolerance, atol=tolerance, **options).raw.x_end
    )


def _strut_read() -> Solve:
    """The same, and then a column by name, which is when strut puts its points in order."""
    system = walkers.pendulum()

    def solve(tolerance: float) -> Any:
        trajectory = simulate(system, T, rtol=tolerance, atol=tolerance)
        return trajectory["angle"][-1], trajectory["rate"][-1]

    return solve


def _scipy(method: str, **options: Any) -> Solve | None:
    if scipy is None:
        return None
    solve_ivp = scipy.solve_ivp
    return lambda tolerance: solve_ivp(
        rate, (0.0, T), START, method=method, rtol=tolerance, atol=tolerance, **options
    ).y[:, -1]


def _cvodes() -> Solve:
    """CasADi's interface to CVODES, with the Adams method, here faster than its default (BDF). The rate runs
    on CasADi's virtual machine."""
    x = ca.SX.sym("x", 2)
    dae = {"x": x, "ode": ca.vertcat(x[1], -G * ca.sin(x[0]))}
    functions: dict[float, ca.Function] = {}

    def solve(tolerance: float) -> Any:
        if tolerance not in functions:
            options: dict[str, Any] = {
                "reltol": tolerance,
                "abstol": tolerance,
                "linear_multistep_method": "adams",
                "max_num_steps": 1_000_000,
            }
            functions[tolerance] = ca.integrator("pendulum", "cvodes", dae, 0.0, T, options)
        return functions[tolerance](x0=START)["xf"]

    return solve


def _sundae() -> Solve | None:
    """scikit-sundae's interface to CVODE, with a rate in Python."""
    if sundae is None:
        return None
    functions: dict[float, Any] = {}
    cvode = sundae.CVODE

    def fill(t: float, x: Any, dx: Any) -> None:
        dx[0], dx[1] = x[1], -G * math.sin(x[0])

    def solve(tolerance: float) -> Any:
        if tolerance not in functions:
            functions[tolerance] = cvode(
                fill, method="Adams", rtol=tolerance, atol=tolerance, max_num_steps=1_000_000
            )
        return functions[tolerance].solve([0.0, T], list(START)).y[-1]

    return solve


def run(effort: Effort) -> list[Section]:
    contenders = {
        "strut dop853": _strut("dop853"),
        "strut dop853, no ledger": _strut("dop853", ledger=False),
        "strut dop853, angle and rate by name": _strut_read(),
        "strut dopri5": _strut("dopri5"),
        "SciPy DOP853": _scipy("DOP853"),
        "SciPy DOP853, dense output": _scipy("DOP853", dense_output=True),
        "SciPy RK45": _scipy("RK45"),
        "SciPy LSODA": _scipy("LSODA"),
        "CasADi cvodes, Adams": _cvodes(),
        "scikit-sundae CVODE, Adams": _sundae(),
    }
    rows = measure([loosest(name, solve, error_of, TARGET) for name, solve in contenders.items()], effort)
    return [
        Section(
            f"pendulum, 10 s, to an error of {TARGET:.0e}",
            "angle [rad] and rate [rad/s] at 10 s",
            rows,
            "target: SciPy DOP853 at 50 or more",
        )
    ]
