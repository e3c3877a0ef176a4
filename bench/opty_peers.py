"""The cart-pole of `bench.ocp` as opty is told it: symbolic equations, midpoint rule."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.peers import optional

opty = optional("opty")
sympy = optional("sympy")


def cart_pole(rates: Callable[..., Any], intervals: int) -> Callable[[float], float]:
    assert opty is not None
    assert sympy is not None
    t, nodes, h = sympy.Symbol("t"), intervals + 1, 2.0 / intervals
    x = [sympy.Function(name)(t) for name in ("place", "angle", "speed", "rate")]
    u = sympy.Function("force")(t)
    eom = sympy.Matrix([xi.diff(t) - e for xi, e in zip(x, rates(x, u, sympy), strict=True)])
    begin = [xi.func(0) for xi in x]
    end = [xi.func(2.0) - value for xi, value in zip(x, (1, math.pi, 0, 0), strict=True)]
    cost, slope = opty.create_objective_function(
        sympy.Integral(u**2, t), tuple(x), (u,), (), nodes, h, integration_method="midpoint", time_symbol=t
    )
    problem = opty.Problem(
        cost,
        slope,
        eom,
        tuple(x),
        nodes,
        h,
        instance_constraints=(*begin, *end),
        bounds={u: (-20, 20), x[0]: (-2, 2)},
        time_symbol=t,
        integration_method="midpoint",
    )
    problem.add_option("print_level", 0)
    problem.add_option("sb", "yes")
    problem.add_option("tol", 1e-9)

    def solve(shake: float) -> float:
        line = np.linspace(0, 1, nodes)
        zero = np.zeros(nodes)
        guess = np.concatenate([line, math.pi * (1 + shake) * line, zero, zero, zero])
        return float(cost(problem.solve(guess)[0]))

    return solve


__all__ = ["cart_pole"]
