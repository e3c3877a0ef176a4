"""Stiff systems: implicit methods against SciPy's, which gets plain NumPy functions, and our compiled flow
and exact Jacobian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from bench.peers import scipy
from bench.timing import Contender, Effort, Section, measure
from strut import State, System, simulate, walkers
from strut.codegen.backends import compile_system, lower_system
from strut.system.values import start

TOLERANCE = 1e-7
"""rtol; atol is a hundredth of it."""
Rate = Callable[[float, np.ndarray], np.ndarray]
METHODS = {"radau": "Radau", "bdf": "BDF"}


def hires() -> tuple[System, Rate, float]:
    """High irradiance response, eight reactions (Hairer, Wanner, II, section IV.10)."""

    def rate(t: float, y: Any) -> Any:
        a, b, c, d, e, f, g, h = y
        return [
            -1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
            1.71 * a - 8.75 * b,
            -10.03 * c + 0.43 * d + 0.035 * e,
            8.32 * b + 1.71 * c - 1.12 * d,
            -1.745 * e + 0.43 * f + 0.43 * g,
            -280 * f * h + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
            280 * f * h - 1.81 * g,
            -280 * f * h + 1.81 * g,
        ]

    x = [State(f"y{i + 1}", value) for i, value in enumerate((1.0, 0, 0, 0, 0, 0, 0, 0.0057))]
    system = System("hires", x=x, flow=dict(zip(x, rate(0.0, x), strict=True)))
    return system, lambda t, y: np.array(rate(t, y)), 321.8122


def van_der_pol() -> tuple[System, Rate, float]:
    """mu = 1000, one relaxation and a half."""
    system = walkers.van_der_pol(mu=1000, position=2.0)
    return system, lambda t, y: np.array([y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]]), 1200.0


def brusselator(cells: int = 50) -> tuple[System, Rate, float]:
    """Reaction and diffusion on a line, 2 states a cell (Hairer, Wanner, II, section IV.10)."""
    place = np.arange(1, cells + 1) / (cells + 1)
    u, v = State("u", 1 + np.sin(2 * np.pi * place)), State("v", np.full(cells, 3.0))
    spread = (cells + 1) ** 2 / 50

    def rates(u: Any, v: Any, beside: Any) -> tuple[Any, Any]:
        square = u * u * v
        return 1 + square - 4 * u + spread * beside(u, 1.0), 3 * u - square + spread * beside(v, 3.0)

    def symbolic(a: Any, edge: float) -> Any:
        return ca.vertcat(edge, a[: cells - 1]) - 2 * a + ca.vertcat(a[1:], edge)

    def numeric(a: np.ndarray, edge: float) -> np.ndarray:
        return np.concatenate([[edge], a[:-1]]) - 2 * a + np.concatenate([a[1:], [edge]])

    du, dv = rates(u.sym, v.sym, symbolic)
    system = System("brusselator", x=[u, v], flow={u: du, v: dv})
    return system, lambda t, y: np.concatenate(rates(y[:cells], y[cells:], numeric)), 10.0


def compiled_functions(system: System) -> tuple[Rate, Rate]:
    """Our own compiled flow, and the exact Jacobian as CasADi evaluates it, as SciPy wants them."""
    values = start(system)
    flow, exact = (
        compile_system(system).caller("flow", values.p),
        lower_system(system, stiff=True).state_jacobian,
    )

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        flow.t[0], flow.x[:] = t, x
        return flow().copy()

    def jacobian(t: float, x: np.ndarray) -> np.ndarray:
        return exact(t, x, values.z, values.u, values.p, ()).full()

    return rate, jacobian


def section(title: str, problem: tuple[System, Rate, float], method: str, effort: Effort) -> Section:
    system, numpy_rate, end = problem
    begin, steps = start(system).x, {}

    def ours() -> Any:
        run = simulate(system, end, method=method, rtol=TOLERANCE, atol=TOLERANCE / 100, ledger=False)
        steps["strut"] = len(run.raw.t)
        return run.raw.x_end

    def theirs(name: str, rate: Rate, jacobian: Rate | None) -> Any:
        options = {} if jacobian is None else {"jac": jacobian}
        solution = scipy.solve_ivp(
            rate, (0.0, end), begin, method=METHODS[method], rtol=TOLERANCE, atol=TOLERANCE / 100, **options
        )
        steps[name] = len(solution.t) - 1
        return solution.y[:, -1]

    exact = simulate(system, end, method="radau", rtol=1e-11, atol=1e-14, ledger=False).raw.x_end
    rate, jacobian = compiled_functions(system)
    calls: dict[str, Callable[[], Any]] = {
        "SciPy, NumPy rate": lambda: theirs("SciPy, NumPy rate", numpy_rate, None),
        "SciPy, our compiled rate and exact Jacobian": lambda: theirs(
            "SciPy, our compiled rate and exact Jacobian", rate, jacobian
        ),
    }
    contenders = [Contender(f"strut {method}", "", ours, _error(ours(), exact), f"{steps['strut']} steps")]
    for name, call in calls.items():
        if scipy is None:
            contenders.append(Contender(name))
        else:
            contenders.append(Contender(name, "", call, _error(call(), exact), f"{steps[name]} steps"))
    return Section(
        f"{title}, {method}, rtol {TOLERANCE:.0e}", "the state at the end", measure(contenders, effort)
    )


def _error(end: Any, exact: np.ndarray) -> float:
    return float(np.max(np.abs(np.asarray(end) - exact)))


def run(effort: Effort) -> list[Section]:
    problems = {
        "HIRES": hires(),
        "Van der Pol, mu = 1000": van_der_pol(),
        "Brusselator, 100 states": brusselator(),
        "Brusselator, 400 states": brusselator(200),
    }
    return [
        section(title, problem, method, effort) for title, problem in problems.items() for method in METHODS
    ]
