"""Problems of textbooks, whose solutions are known."""

import casadi as ca
import numpy as np

from strut import Event, Input, Param, State, System, optimal


def kirk():
    """Kirk, Optimal Control Theory, example 5.1-1 (a): least squared input from rest to x = (5, 2) in 2 s."""
    x1, x2, u = State("x1"), State("x2"), Input("u")
    system = System("kirk", x=(x1, x2), u=(u,), flow={x1: x2, x2: -x2 + u})
    effort = optimal.Integral("effort", u**2 / 2)
    return optimal.Problem(system).phase(duration=2.0).begin(x1=0, x2=0).end(x1=5, x2=2).minimise(effort)


def kirk_least():
    """Its exact cost: half of x' W^-1 x, with W the Gramian of what can be reached."""
    times, weights = np.polynomial.legendre.leggauss(40)
    reach = [np.array([1 - np.exp(-t), np.exp(-t)]) for t in times + 1]
    W = sum(w * np.outer(r, r) for w, r in zip(weights, reach, strict=True))
    x = np.array([5.0, 2.0])
    return float(x @ np.linalg.solve(W, x) / 2)


def brachistochrone():
    """Bryson and Ho: a bead on a wire, one foot sideways in least time, g = 32.174 ft/s^2."""
    x, y, v, angle = State("x"), State("y"), State("v"), Input("angle", bounds=(0, np.pi / 2))
    g = Param("g", 32.174)
    system = System(
        "bead",
        x=(x, y, v),
        u=(angle,),
        p=(g,),
        flow={x: v * ca.cos(angle), y: v * ca.sin(angle), v: g * ca.sin(angle)},
    )
    return optimal.Problem(system).phase(duration=(0.01, 2.0)).begin(x=0, y=0, v=0).end(x=1).minimise(_time())


def _time():
    from strut.system.quantity import time

    return time


def goddard():
    """Goddard's rocket in the units of Dolan, More and Munson (COPS), after Bryson: how high? Its best thrust has a singular arc."""
    h, v, m = State("h", 1.0, bounds=(1, 2)), State("v", 0.0, bounds=(0, 1)), State("m", 1.0, bounds=(0.6, 1))
    thrust = Input("thrust", 1.75, bounds=(0, 3.5))
    drag = 310 * v**2 * ca.exp(-500 * (h - 1))
    system = System(
        "rocket", x=(h, v, m), u=(thrust,), flow={h: v, v: (thrust - drag) / m - 1 / h**2, m: -2 * thrust}
    )
    return optimal.Problem(system).phase(duration=(0.01, 1.0)).begin(h=1, v=0, m=1).end(m=0.6).minimise(-h)


GODDARD_GUESS = {
    "duration": 0.2,
    "h": (1.0, 1.01),
    "v": lambda s: 0.4 * s * (1 - s),
    "m": (1.0, 0.6),
    "thrust": 1.75,
}


def hs071():
    """Hock and Schittkowski's problem 71, in parameters alone."""
    x = [Param(f"x{k}", value, bounds=(1, 5)) for k, value in enumerate((1.0, 5.0, 5.0, 1.0), 1)]
    idle = State("idle")
    a, b, c, d = x
    system = System("hs071", x=(idle,), p=tuple(x), flow={idle: 0})
    one = optimal.Problem(system).phase(duration=1.0).begin(idle=0).free("x1", "x2", "x3", "x4")
    one = one.require("product", a * b * c * d, low=25, at="end").require(
        "squares", a**2 + b**2 + c**2 + d**2, equal=40, at="end"
    )
    return one.minimise(a * d * (a + b + c) + c)


def sled(most=1.0):
    """A double integrator with a bounded force."""
    x, v, force = State("x"), State("v"), Input("force", bounds=(-most, most))
    return System("sled", x=(x, v), u=(force,), flow={x: v, v: force})


def bouncer():
    """A ball that remembers how fast it hit the floor, and is braked afterwards in proportion to that."""
    from strut import Discrete

    height, velocity, hit = State("height", 1.0), State("velocity", 0.0), Discrete("hit", 0.0)
    e, brake = Param("e", 0.8, bounds=(0, 1)), Param("brake", 0.0, bounds=(0, 10))
    bounce = Event("bounce", height, direction="down", reset={velocity: -e * velocity, hit: velocity})
    return System(
        "bouncer",
        x=(height, velocity),
        z=(hit,),
        p=(e, brake),
        flow={height: velocity, velocity: -9.81 - brake * hit**2},
        events=(bounce, Event("apex", velocity, direction="down")),
    )
