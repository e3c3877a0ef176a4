"""RABBIT's step without strut: the equations of motion by Lagrange, written down for this robot alone, and
one step of least squared torque as a user would transcribe it in CasADi's Opti, or say it to rockit.

Coordinates are the angles of torso, stance thigh and shank, swing thigh and shank with the vertical, the
stance foot being a hinge on the ground. The landing is an impact in seven coordinates, with the old foot let
go, after which both legs exchange their names. Friction and the force of the ground are far from their limits
in this step, and are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

SPEED = 0.6
"""Of the walk [m/s]."""
STEP = 0.38
"""Length of the step that a search begins with [m]."""
KNEE_LIMITS = (0.02, 2.0)
"""[rad]"""
GRAVITY = 9.81
"""[m/s^2]"""
THIGH, SHANK = 0.4, 0.4
"""Lengths [m]."""
LINKS = ((12.0, -0.24, 1.33), (6.8, 0.11, 0.47), (3.2, 0.24, 0.20), (6.8, 0.11, 0.47), (3.2, 0.24, 0.20))
"""Of torso, stance thigh and shank, swing thigh and shank: mass [kg], distance of the centre of mass from hip
or knee, downwards [m], inertia about it [kg m^2]."""
WEIGHT = GRAVITY * sum(link[0] for link in LINKS)
"""[N]"""
MOTORS = np.array([[-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [-1, 0, 0, 1, 0], [0, 0, 0, -1, 1]], float)
"""Angles of the motors, stance hip and knee, swing hip and knee, by those of the links."""
EXCHANGE = [0, 3, 4, 1, 2]
"""Links with the legs exchanged."""


def down(angle: Any) -> Any:
    """The direction of a link that hangs down from its upper end."""
    return ca.vertcat(-ca.sin(angle), -ca.cos(angle))


def places(hip: Any, angles: Any) -> tuple[list[Any], Any, Any]:
    """Centres of mass, and both feet, of the robot with its hip at a place."""
    tops = [hip, hip, hip + THIGH * down(angles[1]), hip, hip + THIGH * down(angles[3])]
    centres = [top + link[1] * down(angles[k]) for k, (top, link) in enumerate(zip(tops, LINKS, strict=True))]
    return centres, tops[2] + SHANK * down(angles[2]), tops[4] + SHANK * down(angles[4])


def lagrange() -> tuple[ca.Function, ca.Function, ca.Function]:
    """Mass matrix and generalised forces of gravity and motion, on the stance foot; the place of the swing
    foot; and angles and rates after a landing."""
    q, v = ca.SX.sym("q", 5), ca.SX.sym("v", 5)
    hip = -THIGH * down(q[1]) - SHANK * down(q[2])
    centres, _, swing = places(hip, q)
    kinetic, potential = ca.SX(0), ca.SX(0)
    for k, (centre, (mass, _, inertia)) in enumerate(zip(centres, LINKS, strict=True)):
        kinetic += mass / 2 * ca.sumsqr(ca.jtimes(centre, q, v)) + inertia / 2 * v[k] ** 2
        potential += mass * GRAVITY * centre[1]
    mass_matrix, momentum = ca.hessian(kinetic, v)
    forces = ca.gradient(kinetic - potential, q) - ca.jtimes(momentum, q, v)
    dynamics = ca.Function("dynamics", [q, v], [mass_matrix, forces])
    # The landing, with the hip free: only the new foot is pushed.
    free, rates, before = ca.SX.sym("hip", 2), ca.SX.sym("r", 7), ca.vertcat(ca.jtimes(hip, q, v), v)
    whole = ca.vertcat(free, q)
    centres, _, swing_free = places(free, q)
    kinetic = ca.SX(0)
    for k, (centre, (mass, _, inertia)) in enumerate(zip(centres, LINKS, strict=True)):
        kinetic += mass / 2 * ca.sumsqr(ca.jtimes(centre, whole, rates)) + inertia / 2 * rates[2 + k] ** 2
    matrix, foot = ca.hessian(kinetic, rates)[0], ca.jacobian(swing_free, whole)
    saddle = ca.vertcat(ca.horzcat(matrix, foot.T), ca.horzcat(foot, ca.SX(2, 2)))
    after = ca.solve(saddle, ca.vertcat(matrix @ before, ca.SX(2, 1)))[2:7]
    landing = ca.Function("landing", [q, v], [q[EXCHANGE], after[EXCHANGE]])
    return dynamics, ca.Function("swing", [q], [swing]), landing


def first_stride(shake: float, samples: np.ndarray) -> np.ndarray:
    """Angles [rad] of an even step, by hand: legs from one side to the other, knees a little bent. shake: by
    which it is changed [rad]."""
    s = samples[None, :]
    lean, bend = 0.2 + shake, 0.35 * np.sin(np.pi * samples)[None, :]
    forth, back = lean * (2 * s - 1), -lean * (2 * s - 1)
    return np.vstack([0.05 + 0 * s, forth - 0.05, forth + 0.1, back - 0.05 - bend, back + 0.1 + bend])


def opti_rabbit(intervals: int = 20, degree: int = 3) -> Callable[[float], float]:
    """Radau collocation by inverse dynamics: angles, rates, accelerations and torques are unknowns."""
    dynamics, swing, landing = lagrange()
    tau = np.append(0, ca.collocation_points(degree, "radau"))
    C, _, B = ca.collocation_coeff(tau[1:])
    opti = ca.Opti()
    count = intervals * degree
    T = opti.variable()
    X = opti.variable(10, intervals + 1)
    P, A, U = opti.variable(10, count), opti.variable(5, count), opti.variable(4, count)
    h, cost = T / intervals, 0
    for k in range(intervals):
        at = range(k * degree, (k + 1) * degree)
        inside = P[:, at[0] : at[-1] + 1]
        slopes = ca.horzcat(X[:, k], inside) @ C
        opti.subject_to(slopes == h * ca.vertcat(inside[5:, :], A[:, at[0] : at[-1] + 1]))
        opti.subject_to(X[:, k + 1] == inside[:, -1])
        for i, j in enumerate(at):
            matrix, forces = dynamics(P[:5, j], P[5:, j])
            opti.subject_to(matrix @ A[:, j] == forces + ca.DM(MOTORS).T @ U[:, j])
            opti.subject_to(opti.bounded(KNEE_LIMITS[0], P[2, j] - P[1, j], KNEE_LIMITS[1]))
            opti.subject_to(opti.bounded(KNEE_LIMITS[0], P[4, j] - P[3, j], KNEE_LIMITS[1]))
            if j < count - 1:
                opti.subject_to(swing(P[:5, j])[1] >= 0)
            cost += h * B[i] * ca.sumsqr(U[:, j])
    foot = swing(X[:5, -1])
    q, v = landing(X[:5, -1], X[5:, -1])
    opti.subject_to(foot[1] == 0)
    opti.subject_to(foot[0] == SPEED * T)
    opti.subject_to(X[:, 0] == ca.vertcat(q, v))
    opti.subject_to(opti.bounded(0.2, T, 2.0))
    opti.minimize(cost / (WEIGHT * foot[0]))
    opti.solver(
        "ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-9, "max_iter": 1000}
    )
    times = np.array([k + t for k in range(intervals) for t in tau[1:]]) / intervals

    def solve(shake: float) -> float:
        period = STEP / SPEED
        for unknowns, s in ((X, np.linspace(0, 1, intervals + 1)), (P, times)):
            q, step = first_stride(shake, s), 1e-6
            rates = (first_stride(shake, s + step) - first_stride(shake, s - step)) / (2 * step * period)
            opti.set_initial(unknowns, np.vstack([q, rates]))
        opti.set_initial(A, 0)
        opti.set_initial(U, 0)
        opti.set_initial(T, period)
        return float(opti.solve().value(opti.f))

    return solve


def rockit_rabbit(rockit: Any, intervals: int) -> Callable[[float], float]:
    """Multiple shooting by the fourth-order Runge-Kutta method, as rockit is told it."""
    dynamics, swing, landing = lagrange()
    ocp = rockit.Ocp(t0=0, T=rockit.FreeTime(STEP / SPEED))
    q, v, u = ocp.state(5), ocp.state(5), ocp.control(4, order=1)
    matrix, forces = dynamics(q, v)
    ocp.set_der(q, v)
    ocp.set_der(v, ca.solve(matrix, forces + ca.DM(MOTORS).T @ u))
    end = swing(ocp.at_tf(q))
    ocp.add_objective(ocp.integral(ca.sumsqr(u)) / (WEIGHT * end[0]))
    for upper, lower in ((1, 2), (3, 4)):
        ocp.subject_to((q[lower] - q[upper] >= KNEE_LIMITS[0]) <= KNEE_LIMITS[1])
    ocp.subject_to(swing(q)[1] >= 0, include_first=False, include_last=False)
    ocp.subject_to(end[1] == 0)
    ocp.subject_to(end[0] == SPEED * ocp.T)
    angles, rates = landing(ocp.at_tf(q), ocp.at_tf(v))
    ocp.subject_to(ocp.at_t0(q) == angles)
    ocp.subject_to(ocp.at_t0(v) == rates)
    ocp.subject_to((ocp.T >= 0.2) <= 2)
    ocp.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}})
    ocp.method(rockit.MultipleShooting(N=intervals, M=1, intg="rk"))
    times, step = np.linspace(0, 1, intervals + 1), 1e-6

    def solve(shake: float) -> float:
        move = first_stride(shake, times + step) - first_stride(shake, times - step)
        ocp.set_initial(q, first_stride(shake, times))
        ocp.set_initial(v, move / (2 * step * STEP / SPEED))
        return float(ocp.solve().value(ocp.objective))

    return solve


__all__ = ["lagrange", "opti_rabbit", "rockit_rabbit"]
