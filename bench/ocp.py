"""Optimal control against its peers, in one run: a cart-pole swung up, RABBIT's step, and Goddard's rocket.

Each peer solves the same problem, with the same bounds and the same guess, in the way its users write it.
Counted are the lines that a user writes beside the equations of motion, the time to the first answer (all of
it from nothing but the import; strut compiles, with an empty cache), the time of a further solve, and the
error of the cost against the optimum of the continuous problem. Of RABBIT the lines of strut are those of its
whole description, and its time includes the replay in the simulator; the others' begin with equations of
motion that somebody has derived for this robot.

opty is in the table where it is installed: it needs cyipopt, which has no wheels and is built against an
IPOPT with its headers. It has no impacts, so RABBIT's step is not asked of it.
"""

from __future__ import annotations

import inspect
import math
import os
import tempfile
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from examples import rabbit

from bench import opty_peers, rabbit_step
from bench.peers import optional
from bench.timing import Effort, Row, Section
from strut import Input, State, System, optimal

rockit = optional("rockit")
opty = optional("opty")
INTERVALS = 50
"""Intervals of every mesh."""
SHAKE = 1e-3
"""Part by which the guess is changed before it is solved again, so that nothing is remembered."""

CART_POLE = 58.80767
"""Least squared force of the swing-up [N^2 s]: what strut and Opti come to on ever finer meshes, to 1e-5."""
RABBIT = 0.3209474
"""Least squared torque of RABBIT's step at 0.6 m/s [N m s]: what strut and Opti come to, to 1e-6 of it."""
GODDARD = 1.0128369
"""Greatest height of the rocket, in radii of the Earth: what both come to, to 1e-7. COPS prints 1.01283."""


def cart_pole_rates(x: Any, u: Any, lib: Any = ca) -> list[Any]:
    """Kelly (2017), An introduction to trajectory optimization: cart of 1 kg, pole of 0.3 kg and 0.5 m. lib:
    whose sine and cosine."""
    sin, cos = lib.sin, lib.cos
    q, w, force = x[1], x[3], u
    m1, m2, length, g = 1.0, 0.3, 0.5, 9.81
    spread = m1 + m2 * (1 - cos(q) ** 2)
    pushed = length * m2 * sin(q) * w**2 + force + m2 * g * cos(q) * sin(q)
    turned = length * m2 * cos(q) * sin(q) * w**2 + force * cos(q) + (m1 + m2) * g * sin(q)
    return [x[2], x[3], pushed / spread, -turned / (length * spread)]


def goddard_rates(x: Any, u: Any) -> list[Any]:
    """Dolan, More and Munson (COPS), in radii of the Earth."""
    h, v, m = x[0], x[1], x[2]
    drag = 310 * v**2 * ca.exp(-500 * (h - 1))
    return [v, (u - drag) / m - 1 / h**2, -2 * u]


def strut_cart_pole() -> Callable[[float], float]:
    x = [State(name) for name in ("place", "angle", "speed", "rate")]
    force = Input("force", bounds=(-20, 20))
    rates = cart_pole_rates([q.sym for q in x], force.sym)
    cart = System("cart_pole", x=tuple(x), u=(force,), flow=dict(zip(x, rates, strict=True)))
    swing = optimal.Problem(cart).phase(duration=2.0).within(place=(-2, 2))
    swing = swing.begin(place=0, angle=0, speed=0, rate=0).end(place=1, angle=math.pi, speed=0, rate=0)
    swing = swing.minimise(optimal.Integral("effort", force**2))
    guess = {"place": (0, 1), "angle": (0, math.pi)}

    def solve(shake: float) -> float:
        begin = guess | {"angle": (0, math.pi * (1 + shake))}
        return float(swing.solve(begin, intervals=INTERVALS, control="linear", accuracy=None).cost)

    return solve


def opti_cart_pole() -> Callable[[float], float]:
    opti, h = ca.Opti(), 2.0 / INTERVALS
    X, U = opti.variable(4, INTERVALS + 1), opti.variable(1, INTERVALS + 1)
    x, u = ca.SX.sym("x", 4), ca.SX.sym("u")
    f = ca.Function("f", [x, u], [ca.vertcat(*cart_pole_rates(ca.vertsplit(x), u))])
    cost = 0
    for k in range(INTERVALS):  # Hermite-Simpson, with the force in the middle the mean of both sides
        a, b, ua, ub = X[:, k], X[:, k + 1], U[:, k], U[:, k + 1]
        fa, fb, um = f(a, ua), f(b, ub), (ua + ub) / 2
        fm = f((a + b) / 2 + h / 8 * (fa - fb), um)
        opti.subject_to(b == a + h / 6 * (fa + 4 * fm + fb))
        cost += h / 6 * (ua**2 + 4 * um**2 + ub**2)
    opti.minimize(cost)
    opti.subject_to(X[:, 0] == 0)
    opti.subject_to(X[:, -1] == ca.DM([1, math.pi, 0, 0]))
    opti.subject_to(opti.bounded(-20, U, 20))
    opti.subject_to(opti.bounded(-2, X[0, :], 2))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-9})
    line = np.linspace(0, 1, INTERVALS + 1)

    def solve(shake: float) -> float:
        opti.set_initial(X, np.outer([1, math.pi * (1 + shake), 0, 0], line))
        opti.set_initial(U, 0)
        return float(opti.solve().value(cost))

    return solve


def rockit_cart_pole() -> Callable[[float], float]:
    assert rockit is not None
    ocp = rockit.Ocp(t0=0, T=2.0)
    x, u = ocp.state(4), ocp.control(order=1)
    ocp.set_der(x, ca.vertcat(*cart_pole_rates(ca.vertsplit(x), u)))
    ocp.add_objective(ocp.integral(u**2))
    ocp.subject_to(ocp.at_t0(x) == 0)
    ocp.subject_to(ocp.at_tf(x) == ca.DM([1, math.pi, 0, 0]))
    ocp.subject_to((u >= -20) <= 20)
    ocp.subject_to((x[0] >= -2) <= 2)
    ocp.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}})
    ocp.method(rockit.MultipleShooting(N=INTERVALS, M=1, intg="rk"))

    def solve(shake: float) -> float:
        ocp.set_initial(x, ca.vertcat(1, math.pi * (1 + shake), 0, 0) * ocp.t / 2)
        return float(ocp.solve().value(ocp.objective))

    return solve


def strut_goddard() -> Callable[[float], float]:
    h, v, m = State("h", 1.0, bounds=(1, 2)), State("v", 0.0, bounds=(0, 1)), State("m", 1.0, bounds=(0.6, 1))
    thrust = Input("thrust", 1.75, bounds=(0, 3.5))
    rates = goddard_rates([q.sym for q in (h, v, m)], thrust.sym)
    rocket = System("rocket", x=(h, v, m), u=(thrust,), flow=dict(zip((h, v, m), rates, strict=True)))
    climb = optimal.Problem(rocket).phase(duration=(0.01, 1.0)).begin(h=1, v=0, m=1).end(m=0.6)
    climb = climb.minimise(-h)
    guess = {"h": (1, 1.01), "v": lambda s: 0.4 * s * (1 - s), "m": (1, 0.6), "thrust": 1.75}

    def solve(shake: float) -> float:
        begin = guess | {"duration": 0.2 * (1 + shake)}
        return -float(climb.solve(begin, intervals=INTERVALS, control="constant", accuracy=None).cost)

    return solve


def opti_goddard() -> Callable[[float], float]:
    opti = ca.Opti()
    X, U, T = opti.variable(3, INTERVALS + 1), opti.variable(1, INTERVALS), opti.variable()
    x, u = ca.SX.sym("x", 3), ca.SX.sym("u")
    f = ca.Function("f", [x, u], [ca.vertcat(*goddard_rates(ca.vertsplit(x), u))])
    h = T / INTERVALS
    for k in range(INTERVALS):  # Runge-Kutta's fourth order, multiple shooting
        a = X[:, k]
        k1 = f(a, U[:, k])
        k2 = f(a + h / 2 * k1, U[:, k])
        k3 = f(a + h / 2 * k2, U[:, k])
        k4 = f(a + h * k3, U[:, k])
        opti.subject_to(X[:, k + 1] == a + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
    opti.minimize(-X[0, -1])
    opti.subject_to(X[:, 0] == ca.DM([1, 0, 1]))
    opti.subject_to(X[2, -1] == 0.6)
    opti.subject_to(opti.bounded(0, U, 3.5))
    opti.subject_to(opti.bounded(0.01, T, 1))
    opti.subject_to(opti.bounded(1, X[0, :], 2))
    opti.subject_to(opti.bounded(0, X[1, :], 1))
    opti.subject_to(opti.bounded(0.6, X[2, :], 1))
    opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "tol": 1e-9})
    line = np.linspace(0, 1, INTERVALS + 1)

    def solve(shake: float) -> float:
        opti.set_initial(X, np.array([1 + 0.01 * line, 0.4 * line * (1 - line), 1 - 0.4 * line]))
        opti.set_initial(U, 1.75)
        opti.set_initial(T, 0.2 * (1 + shake))
        return float(opti.solve().value(X[0, -1]))

    return solve


def rockit_goddard() -> Callable[[float], float]:
    assert rockit is not None
    ocp = rockit.Ocp(t0=0, T=rockit.FreeTime(0.2))
    x, u = ocp.state(3), ocp.control()
    ocp.set_der(x, ca.vertcat(*goddard_rates(ca.vertsplit(x), u)))
    ocp.add_objective(-ocp.at_tf(x[0]))
    ocp.subject_to(ocp.at_t0(x) == ca.DM([1, 0, 1]))
    ocp.subject_to(ocp.at_tf(x[2]) == 0.6)
    ocp.subject_to((u >= 0) <= 3.5)
    ocp.subject_to((ocp.T >= 0.01) <= 1)
    ocp.subject_to((x[0] >= 1) <= 2)
    ocp.subject_to((x[1] >= 0) <= 1)
    ocp.subject_to((x[2] >= 0.6) <= 1)
    ocp.solver("ipopt", {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-9}})
    ocp.method(rockit.MultipleShooting(N=INTERVALS, M=1, intg="rk"))
    part = ocp.t / 0.2

    def solve(shake: float) -> float:
        ocp.set_initial(x, ca.vertcat(1 + 0.01 * part, 0.4 * part * (1 - part), 1 - 0.4 * part))
        ocp.set_initial(u, 1.75)
        ocp.set_initial(ocp.T, 0.2 * (1 + shake))
        return -float(ocp.solve().value(ocp.objective))

    return solve


def strut_rabbit() -> Callable[[float], float]:
    walker = rabbit.walker()

    def solve(_: float) -> float:  # it begins from its own stride, and remembers nothing of the last one
        return float(optimal.design(walker, cost="squared-torque", speed=rabbit_step.SPEED).result.cost)

    return solve


def lines_of(make: Callable[..., Any], *more: Callable[..., Any]) -> int:
    """Return how many lines a user writes: those of the functions, without their heads and empty ones."""
    return sum(
        1 for each in (make, *more) for line in inspect.getsource(each).splitlines()[1:] if line.strip()
    )


@contextmanager
def empty_cache() -> Iterator[None]:
    """Let strut find nothing that was compiled before."""
    before = os.environ.get("STRUT_CACHE")
    with tempfile.TemporaryDirectory() as place:
        os.environ["STRUT_CACHE"] = place
        try:
            yield
        finally:
            os.environ.pop("STRUT_CACHE")
            if before is not None:
                os.environ["STRUT_CACHE"] = before


@dataclass(frozen=True)
class Peer:
    """Who solves a problem. make: returns what solves it. lines: that a user writes. mesh: its intervals."""

    name: str
    make: Callable[[], Callable[[float], float]]
    lines: int
    mesh: str = f"{INTERVALS} intervals"


def peer_row(peer: Peer, exact: float, effort: Effort) -> Row:
    """Return what a peer needs for its first answer, and for further ones."""
    with empty_cache():
        began = clock.perf_counter()
        solve = peer.make()
        value = solve(0.0)
        first = clock.perf_counter() - began
    times = []
    for k in range(max(3, effort.rounds)):
        began = clock.perf_counter()
        solve(SHAKE * (k + 1))
        times.append(clock.perf_counter() - began)
    note = f"{peer.lines} lines, first answer after {first:.2f} s"
    return Row(
        peer.name,
        peer.mesh,
        abs(value - exact),
        tuple(times),
        note,
        extra={"first": first, "lines": peer.lines, "value": value},
    )


def row_of(peer: Peer, exact: float, effort: Effort) -> Row:
    """Return the row of a peer; where a peer other than strut fails here, one that says how."""
    if peer.name == "strut":
        return peer_row(peer, exact, effort)
    try:
        return peer_row(peer, exact, effort)
    except Exception as error:  # whatever another package raises: the others are still measured
        reason = (str(error).strip().splitlines() or [""])[-1]
        return Row(peer.name, peer.mesh, note=f"failed: {type(error).__name__}: {reason}")


def peers_of(problem: str) -> list[Peer]:
    """Return who solves a problem, of those that are installed."""
    opti = "CasADi Opti, by hand"
    if problem == "rabbit":
        derived = lines_of(rabbit_step.lagrange, rabbit_step.places)
        peers = [
            Peer("strut", strut_rabbit, lines_of(strut_rabbit, rabbit.walker, rabbit.robot), "adaptive"),
            Peer(
                opti,
                rabbit_step.opti_rabbit,
                lines_of(rabbit_step.opti_rabbit, rabbit_step.first_stride) + derived,
                "20 intervals, 3 points",
            ),
        ]
        if rockit is not None:
            lines = lines_of(rabbit_step.rockit_rabbit, rabbit_step.first_stride) + derived
            peers.append(Peer("rockit", lambda: rabbit_step.rockit_rabbit(rockit, INTERVALS), lines))
        return peers
    makers = {
        "cart_pole": (strut_cart_pole, opti_cart_pole, rockit_cart_pole),
        "goddard": (strut_goddard, opti_goddard, rockit_goddard),
    }[problem]
    peers = [Peer("strut", makers[0], lines_of(makers[0])), Peer(opti, makers[1], lines_of(makers[1]))]
    if rockit is not None:
        peers.append(Peer("rockit", makers[2], lines_of(makers[2])))
    if opty is not None and problem == "cart_pole":
        make = opty_peers.cart_pole
        peers.append(Peer("opty", lambda: make(cart_pole_rates, INTERVALS), lines_of(make)))
    return peers


def run(effort: Effort) -> list[Section]:
    sections = []
    for problem, title, exact in (
        ("cart_pole", "cart-pole swing-up (Kelly 2017)", CART_POLE),
        ("rabbit", "RABBIT's step at 0.6 m/s (Chevallereau et al. 2003)", RABBIT),
        ("goddard", "Goddard's rocket (COPS)", GODDARD),
    ):
        rows = [row_of(peer, exact, effort) for peer in peers_of(problem)]
        rows += [Row("rockit", note="not installed")] if rockit is None else []
        if problem == "rabbit":
            rows.append(Row("opty", note="has no impacts"))
        elif problem == "goddard":
            rows.append(Row("opty", note="not asked"))
        elif opty is None:
            rows.append(Row("opty", note="not installed: it needs cyipopt, built against IPOPT"))
        sections.append(Section(title, "cost against the optimum", tuple(rows), "time of a further solve"))
    return sections
