"""Textbook problems whose inputs jump: bang-bang, or with arcs on which the input is singular. Switches are
free: an event for each, at a time that is a parameter."""

import math

import casadi as ca
import numpy as np

from strut import Event, Input, Param, State, System, optimal
from strut.system.quantity import time
from tests.optimal.known_problem import Known

MIN_ARC = 0.05
"""The shortest arc [s]: none of these problems has one so short, and an arc that is gone does not come back."""
BANG = {"control": "constant", "intervals": 1, "stages": 9}
"""On an arc the input is one number, and the motion a polynomial of degree 9."""


def switched(name, x, u, flow, arcs, end=(0.01, 100.0)):
    """A problem of as many arcs as are given, by their durations for the guess: between two the input may
    jump, when is free. The last ends with the motion: end [s], a number or bounds."""
    times = [Param(f"t{k}", float(t), bounds=(1e-3, 1e3)) for k, t in enumerate(np.cumsum(arcs[:-1]), 1)]
    events = tuple(Event(f"switch{k}", time - t) for k, t in enumerate(times, 1))
    system = System(name, x=x, u=u, p=tuple(times), flow=flow, events=events)
    problem = optimal.Problem(system)
    for k in range(1, len(arcs)):
        problem = problem.phase(f"arc{k}", until=f"switch{k}", duration=(MIN_ARC, 100.0))
    problem = problem.phase("last", duration=(MIN_ARC, 100.0)).free(*(t.name for t in times))
    low, high = (end, end) if np.isscalar(end) else end
    return problem.require("whole time", time, low, high, at="end"), {"duration": tuple(arcs)}


def rocket_car():
    """Rutquist and Edvall (PROPT): 300 m from rest to rest, speeding up with 1 and braking with 2 m/s^2, in
    30 s exactly."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-2, 1))
    problem, guess = switched("car", (x, v), (u,), {x: v, v: u}, (10.0, 10.0))
    problem = problem.begin(x=0, v=0).end(x=300, v=0).minimise(time)
    return Known(problem, 30.0, 1e-6, guess | {"x": (0, 300), "v": 10.0}, BANG)


def moon_lander():
    """Meditch (1964), in the units of Rao's examples: falling from 10 with 2, thrust up to 3 against 1.5; free
    fall, then all of it. Exact by hand; 8.2462 in print."""
    h, v, u = State("h", 10.0), State("v", -2.0), Input("u", 1.5, bounds=(0, 3))
    problem, guess = switched("lander", (h, v), (u,), {h: v, v: u - 1.5}, (1.0, 3.0))
    fuel = optimal.Integral("fuel", u)
    fall = (math.sqrt(612) - 12) / 9
    problem = problem.begin(h=10, v=-2).end(h=0, v=0).minimise(fuel)
    guess |= {"h": (10, 0), "v": (-2, 0)}
    return Known(problem, 2 * (2 + 1.5 * fall), 1e-6, guess, BANG, printed="8.2462")


def harmonic_oscillator():
    """Pontryagin et al., chapter 1: a pendulum brought to rest by a bounded force in least time. Backwards from
    rest: pushed for a third, then the other way for half of a half turn."""
    x, v, u = State("x"), State("v"), Input("u", bounds=(-1, 1))

    def before(state, push, t):  # circles about (push, 0)
        a, b = state[0] - push, state[1]
        return push + a * math.cos(t) - b * math.sin(t), a * math.sin(t) + b * math.cos(t)

    begin = before(before((0.0, 0.0), 1, math.pi / 3), -1, math.pi / 2)
    problem, guess = switched("pendulum", (x, v), (u,), {x: v, v: -x + u}, (1.0, 1.0))
    problem = problem.begin(x=begin[0], v=begin[1]).end(x=0, v=0).minimise(time)
    guess |= {"x": lambda s: begin[0] * (1 - s) + 3 * s * (1 - s), "v": (begin[1], -begin[1]), "u": (-1, 1)}
    return Known(problem, math.pi / 3 + math.pi / 2, 1e-6, guess, BANG)


def dubins_car():
    """Dubins (1957): the shortest way of a car that turns within 1: left, straight, left, by circles and
    their common tangent."""
    x, y, heading, turn = State("x"), State("y"), State("heading"), Input("turn", bounds=(-1, 1))
    flow = {x: ca.cos(heading.sym), y: ca.sin(heading.sym), heading: turn}
    problem, guess = switched("car", (x, y, heading), (turn,), flow, (0.7, 4.0, 2.0))
    # Circles of radius 1 about (0, 1) and about (4, 3): the end is left of its own, heading back.
    straight, along = math.hypot(4, 2), math.atan2(2, 4)
    exact = straight + math.pi  # it turns by half a turn in all
    problem = problem.begin(x=0, y=0, heading=0).end(x=4, y=4, heading=math.pi).minimise(time)
    guess |= {"x": (0, 4), "y": (0, 4), "heading": lambda s: along * min(1, 3 * s), "turn": 0.5}
    return Known(problem, exact, 1e-6, guess, BANG)


def catalyst_mixing():
    """Jackson (1968), by Dolan, More and Munson (COPS): two catalysts along a tube; one, a singular mixture,
    and the other. COPS prints 0.0480556."""
    a, b, u = State("a", 1.0), State("b", 0.0), Input("u", 0.5, bounds=(0, 1))
    flow = {a: u * (10 * b - a), b: u * (a - 10 * b) - (1 - u) * b}
    problem, guess = switched("tube", (a, b), (u,), flow, (0.15, 0.55, 0.3), end=1.0)
    problem = problem.begin(a=1, b=0).minimise(a + b - 1)
    guess |= {"a": (1, 0.9), "b": (0, 0.05), "u": 0.5}
    return Known(problem, -0.0480556, 2e-7, guess, {"control": "linear", "intervals": 10})


def robot_arm():
    """Luus (2000), section 12.4.2: two links moved by two motors in least time; 2.98 in print."""
    w, v, angle, turn = State("w"), State("v"), State("angle", 0.5), State("turn")
    u1, u2 = Input("u1", bounds=(-1, 1)), Input("u2", bounds=(-1, 1))
    sine, cosine = ca.sin(angle.sym), ca.cos(angle.sym)
    mass = 31 / 36 + 9 / 4 * sine**2
    push = 4 / 3 * (u1 - u2) - 3 / 2 * cosine * u2
    pull = 7 / 3 * u2 - 3 / 2 * cosine * (u1 - u2)
    flow = {
        w: (sine * (9 / 4 * cosine * w**2 + 2 * v**2) + push) / mass,
        v: (pull - sine * (7 / 2 * w**2 + 9 / 4 * cosine * v**2)) / mass,
        angle: v - w,
        turn: w,
    }
    problem, guess = switched("arm", (w, v, angle, turn), (u1, u2), flow, (0.6, 0.6, 0.6, 0.6, 0.6))
    problem = problem.begin(w=0, v=0, angle=0.5, turn=0).end(w=0, v=0, angle=0.5, turn=0.522).minimise(time)
    guess |= {"turn": (0, 0.522), "u1": (1, -1), "u2": (1, -1)}
    return Known(problem, 2.98, 5e-3, guess, BANG)


def free_flying_robot():
    """Sakawa (1999), Betts: a robot on jets comes to rest with the least fuel in 12 s; 7.9101 in print, of a
    local optimum: from other guesses there is one of 7.69."""
    x, y, angle = State("x", -10.0), State("y", -10.0), State("angle", math.pi / 2)
    vx, vy, w = State("vx"), State("vy"), State("w")
    left, right = Input("left", bounds=(-1, 1)), Input("right", bounds=(-1, 1))
    thrust = left + right
    flow = {
        x: vx,
        y: vy,
        angle: w,
        vx: thrust * ca.cos(angle.sym),
        vy: thrust * ca.sin(angle.sym),
        w: 0.2 * left - 0.2 * right,
    }
    states, inputs = (x, y, angle, vx, vy, w), (left, right)
    fuel = [optimal.Integral(f"fuel_{u.name}", u, split="absolute") for u in inputs]

    def fly(problem):
        problem = problem.begin(x=-10, y=-10, angle=math.pi / 2, vx=0, vy=0, w=0)
        return problem.end(x=0, y=0, angle=0, vx=0, vy=0, w=0).minimise(fuel[0].sym + fuel[1].sym)

    # On an even mesh first (7.914): it shows nine arcs, of which each jet fires in some.
    whole = fly(optimal.Problem(System("robot", x=states, u=inputs, flow=flow)).phase(duration=12.0))
    rough = whole.solve(control="constant", intervals=120, accuracy=None, backend="virtual")
    arcs = (0.62, 0.44, 1.49, 2.29, 2.32, 2.29, 1.49, 0.44, 0.62)
    problem, guess = switched("robot", states, inputs, flow, arcs, end=12.0)
    names = [q.name for q in (*states, *inputs)]
    guess |= {n: lambda s, n=n: float(rough.at(12.0 * s)[n]) for n in names}
    return Known(fly(problem), 7.9101, 5e-5, guess, BANG)


SWITCHED = (
    rocket_car,
    moon_lander,
    harmonic_oscillator,
    dubins_car,
    catalyst_mixing,
    robot_arm,
    free_flying_robot,
)
"""Functions that make them."""
