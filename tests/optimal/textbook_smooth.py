"""Textbook problems with smooth inputs, or with inputs that come off their bounds continuously; each with its
exact value, and where that is from."""

import casadi as ca
import numpy as np
from scipy.optimize import brentq, fsolve

from strut import Input, State, System, optimal
from strut.system.quantity import time
from tests.optimal.known_problem import Known


def bryson_denham():
    """Bryson and Ho, section 3.11: a cart comes back within a second and may not come further than a limit."""
    limit = 1 / 12
    x, v, u = State("x", bounds=(-1.0, limit)), State("v"), Input("u")
    cart = System("cart", x=(x, v), u=(u,), flow={x: v, v: u})
    problem = optimal.Problem(cart).phase(duration=1.0).begin(x=0, v=1).end(x=0, v=-1)
    return Known(
        problem.minimise(optimal.Integral("effort", u**2 / 2)),
        4 / (9 * limit),
        1e-6,
        {"x": lambda s: 0.3 * s * (1 - s), "v": (1, -1)},
        {"intervals": 12, "control": "linear"},
    )


def hager():
    """Hager (1976): the growth that is cheapest to hold down; exact by hand."""
    x, u = State("x", 1.0), Input("u")
    system = System("hager", x=(x,), u=(u,), flow={x: x / 2 + u})
    cost = optimal.Integral("cost", x**2 + u**2 / 2)
    exact = (np.exp(3) - 1) / (np.exp(3) + 2)  # half of what Riccati's equation P' = P^2 - P - 2 begins with
    return Known(optimal.Problem(system).phase(duration=1.0).begin(x=1).minimise(cost), exact, 1e-7)


def hypersensitive():
    """Rao and Mease (2000): two layers and nothing between. On a long time the cost is that of leaving and
    arriving, each from the Hamilton-Jacobi equation: V' = x sqrt(x^4 + 1) - x^3, and with the other sign."""
    x, u = State("x", 1.5), Input("u")
    system = System("hypersensitive", x=(x,), u=(u,), flow={x: -(x**3) + u})
    cost = optimal.Integral("cost", (x**2 + u**2) / 2)
    problem = optimal.Problem(system).phase(duration=40.0).begin(x=1.5).end(x=1).minimise(cost)

    def layer(x, sign):
        return (x**2 * np.sqrt(x**4 + 1) + np.arcsinh(x**2)) / 4 + sign * x**4 / 4

    guess = {"x": lambda s: 1.5 * np.exp(-60 * s) + np.exp(-60 * (1 - s)), "u": 0.0}
    return Known(
        problem,
        layer(1.5, -1) + layer(1.0, 1),
        1e-6,
        guess,
        {"intervals": 60, "control": "quadratic", "accuracy": 1e-9},
    )


def linear_tangent():
    """Bryson and Ho, section 2.4: a rocket's steering to 5 height and 45 speed; Betts prints 0.5545709."""
    x, y, vx, vy, angle = State("x"), State("y"), State("vx"), State("vy"), Input("angle", bounds=(-1.6, 1.6))
    flow = {x: vx, y: vy, vx: 100 * ca.cos(angle.sym), vy: 100 * ca.sin(angle.sym)}
    system = System("rocket", x=(x, y, vx, vy), u=(angle,), flow=flow)
    problem = optimal.Problem(system).phase(duration=(0.1, 2.0)).begin(x=0, y=0, vx=0, vy=0)

    # The tangent of the angle falls linearly from q to -q; speed and height give q and the time.
    def least_time(q):
        return 45 * q / (100 * np.arcsinh(q))

    def height(q):
        return 100 * least_time(q) ** 2 / (4 * q**2) * (q * np.sqrt(1 + q**2) - np.arcsinh(q))

    exact = least_time(brentq(lambda q: height(q) - 5, 0.1, 10, xtol=1e-14))
    guess = {"duration": 0.6, "y": (0, 5), "vx": (0, 45), "x": (0, 12), "angle": (0.9, -0.9)}
    return Known(
        problem.end(y=5, vx=45, vy=0).minimise(time),
        exact,
        1e-7,
        guess,
        {"control": "quadratic"},
        printed="0.5545709",
    )


def zermelo():
    """Bryson and Ho, section 2.7: a ship in a current that grows with the distance from the shore, from
    (3.66, -1.86), steering from 105 to 240 degrees; they print 5.46."""
    x, y, angle = State("x"), State("y"), Input("angle", bounds=(0, 2 * np.pi))
    system = System("ship", x=(x, y), u=(angle,), flow={x: ca.cos(angle.sym) - y, y: ca.sin(angle.sym)})
    # The tangent of the angle grows by one in a unit of time.
    a, b = np.tan(np.deg2rad(105)), np.tan(np.deg2rad(240))
    far = np.sqrt(1 + b**2) - np.sqrt(1 + a**2)

    def grown(s):
        return (s * np.sqrt(1 + s**2) + np.arcsinh(s)) / 2

    along = np.arcsinh(b) - np.arcsinh(a) + np.sqrt(1 + b**2) * (b - a) - grown(b) + grown(a)
    problem = optimal.Problem(system).phase(duration=(1.0, 20.0)).begin(x=along, y=far).end(x=0, y=0)
    guess = {"duration": 6.0, "x": (along, 0), "y": (far, 0), "angle": (1.8, 4.2)}
    return Known(
        problem.minimise(time), b - a, 1e-6, guess, {"control": "quadratic", "intervals": 30}, printed="5.46"
    )


def hanging_chain():
    """Dolan, More and Munson (COPS): a chain of length 4 between heights 1 and 3 hangs as low as it can; a
    catenary, to which their meshes come from above (5.06891)."""
    y, u = State("y", 1.0), Input("u")
    system = System("chain", x=(y,), u=(u,), flow={y: u})
    arc = ca.sqrt(1 + u.sym**2)
    height, length = optimal.Integral("height", y * arc), optimal.Integral("length", arc)
    problem = optimal.Problem(system).phase(duration=1.0).begin(y=1).end(y=3)
    problem = problem.require("length", length, equal=4.0, at="end").minimise(height)
    c = brentq(lambda c: 2 * c * np.sinh(1 / (2 * c)) - np.sqrt(12), 0.05, 5, xtol=1e-15)
    lowest = (1 - 2 * c * np.arctanh(0.5)) / 2
    raised = 1 - c * np.cosh(lowest / c)

    def potential(t):  # of c cosh^2 + raised cosh
        s = (t - lowest) / c
        return c**2 / 2 * (s + np.sinh(2 * s) / 2) + raised * c * np.sinh(s)

    return Known(
        problem,
        potential(1) - potential(0),
        1e-6,
        {"y": lambda s: 1 + 2 * s - 3.2 * s * (1 - s), "u": (-4, 6)},
        {"control": "quadratic", "intervals": 20},
    )


def soap_film():
    """The surface of revolution of least area between two rings (Bolza; Bryson and Ho, section 2.5)."""
    y, u = State("y", 1.0), Input("u")
    system = System("film", x=(y,), u=(u,), flow={y: u})
    area = optimal.Integral("area", y * ca.sqrt(1 + u.sym**2))
    c = brentq(lambda c: c * np.cosh(1 / (2 * c)) - 1, 0.6, 1, xtol=1e-15)
    problem = optimal.Problem(system).phase(duration=1.0).begin(y=1).end(y=1).minimise(area)
    return Known(problem, c / 2 * (1 + c * np.sinh(1 / c)), 1e-8, {"y": 0.9}, {"control": "quadratic"})


def parallel_reactions():
    """Two reactions side by side in a tube (Logsdon and Biegler 1989 print 0.57353); by hand the yield is the
    costate at the beginning, which a quadrature gives."""
    a, b, u = State("a", 1.0), State("b", 0.0), Input("u", 1.0, bounds=(0, 5))
    system = System("tube", x=(a, b), u=(u,), flow={a: -(u + u**2 / 2) * a, b: u * a})

    def passed(p):
        return 2 * (np.log(1 - p) + 1 / (1 - p))

    full = -np.log(1 - 3.5 / 6) / 17.5  # at the end the input is on its bound for so long
    exact = brentq(lambda p: passed(p) - passed(1 / 6) - (1 - full), 0.2, 0.9, xtol=1e-15)
    problem = optimal.Problem(system).phase(duration=1.0).begin(a=1, b=0).minimise(-b)
    guess = {"a": (1, 0.3), "b": (0, 0.5), "u": (0.7, 5.0)}
    return Known(problem, -exact, 1e-6, guess, {"control": "quadratic", "intervals": 60}, printed="-0.5735")


def by_pontryagin(rates, running, best, x0, T, costate):
    """The least integral of `running` over T by an indirect method: rates and running cost of (x, u) in
    CasADi, and the input that minimises the Hamiltonian as a function of state and costate. Shooting until
    the costate ends at zero, over longer and longer times; nothing of it is ours."""
    n = len(x0)
    x, costates, u = ca.SX.sym("x", n), ca.SX.sym("costates", n), ca.SX.sym("u")
    slopes = -ca.gradient(running(x, u) + ca.dot(costates, rates(x, u)), x)
    both = ca.substitute(ca.vertcat(rates(x, u), slopes, running(x, u)), u, best(x, costates))
    ode = {"x": ca.vertcat(x, costates, ca.SX.sym("J")), "p": ca.SX.sym("T")}
    ode["ode"] = ode["p"] * both
    run = ca.integrator("run", "cvodes", ode, 0.0, 1.0, {"reltol": 1e-12, "abstol": 1e-13})

    def shoot(l0, T):
        return np.array(run(x0=[*x0, *l0, 0.0], p=T)["xf"]).ravel()

    for part in np.linspace(0.2, 1, 9):
        costate = fsolve(lambda l0, part=part: shoot(l0, part * T)[n : 2 * n], costate, xtol=1e-12)
    end = shoot(costate, T)
    assert np.abs(end[n : 2 * n]).max() < 1e-7, end
    return float(end[-1])


def batch_reactor():
    """The temperature of a batch reactor with two reactions in line (dynopt's guide, example 6). 0.610775 in
    print is less than the optimum, which is by shooting here."""
    a, b, T = State("a", 1.0), State("b", 0.0), Input("T", 360.0, bounds=(298, 398))

    def rates(x, T):
        first, second = 4000 * ca.exp(-2500 / T) * x[0] ** 2, 6.2e5 * ca.exp(-5000 / T) * x[1]
        return ca.vertcat(-first, first - second)

    def best(x, costates):  # dH/dT = 0: both rates grow with T, the second twice as steeply
        share = 1 - costates[1]
        ratio = x[0] ** 2 * (share + costates[0]) / (2 * ca.fmax(x[1], 1e-12) * share)
        return ca.fmin(ca.fmax(-2500 / ca.log(ca.fmin(ratio / 155, 0.999)), 298), 398)

    exact = by_pontryagin(rates, lambda x, T: -rates(x, T)[1], best, (1.0, 0.0), 1.0, (-0.5, 0.0))
    first, second = ca.vertsplit(rates(ca.vertcat(a.sym, b.sym), T.sym))
    system = System("batch", x=(a, b), u=(T,), flow={a: first, b: second})
    problem = optimal.Problem(system).phase(duration=1.0).begin(a=1, b=0).minimise(-b)
    guess = {"a": (1, 0.3), "b": (0, 0.6), "T": (360, 330)}
    return Known(problem, exact, 1e-6, guess, {"control": "quadratic", "intervals": 40})


def van_der_pol():
    """A van der Pol oscillator brought to rest with an input from -0.3 to 1; the value by shooting."""
    x, v, u = State("x", 0.0), State("v", 1.0), Input("u", bounds=(-0.3, 1.0))
    system = System("pol", x=(x, v), u=(u,), flow={x: (1 - v**2) * x - v + u, v: x})
    cost = optimal.Integral("cost", x**2 + v**2 + u**2)
    exact = by_pontryagin(
        lambda x, u: ca.vertcat((1 - x[1] ** 2) * x[0] - x[1] + u, x[0]),
        lambda x, u: x[0] ** 2 + x[1] ** 2 + u**2,
        lambda x, costates: ca.fmin(ca.fmax(-costates[0] / 2, -0.3), 1.0),
        (0.0, 1.0),
        5.0,
        (0.0, 1.0),
    )
    problem = optimal.Problem(system).phase(duration=5.0).begin(x=0, v=1).minimise(cost)
    return Known(problem, exact, 1e-5, {"u": 0.0}, {"control": "quadratic", "intervals": 160})


def rayleigh():
    """Rayleigh's oscillator, steered for 2.5 s (PROPT's examples, 'Rayleigh Unconstrained': 29.376079656)."""
    x, v, u = State("x", -5.0), State("v", -5.0), Input("u")
    rate = -x + (1.4 - 0.14 * v**2) * v + 4 * u
    system = System("rayleigh", x=(x, v), u=(u,), flow={x: v, v: rate})
    cost = optimal.Integral("cost", x**2 + u**2)
    problem = optimal.Problem(system).phase(duration=2.5).begin(x=-5, v=-5).minimise(cost)
    how = {"control": "cubic", "stages": 5, "intervals": 120}
    return Known(problem, 29.376079656, 1e-8, {"u": 0.0}, how)


def orbit_raising():
    """Bryson and Ho, section 2.5: the largest circle a weak rocket reaches in 3.32 units of time, 193 days to
    the orbit of Mars; they print 1.525. The value is by shooting on Pontryagin's equations."""
    r, w, v, angle = State("r", 1.0), State("w", 0.0), State("v", 1.0), Input("angle", bounds=(0, 2 * np.pi))
    push = 0.1405 / (1 - 0.0749 * time)

    def rates(x, sine, cosine, push):
        return (x[1], x[2] ** 2 / x[0] - 1 / x[0] ** 2 + push * sine, -x[1] * x[2] / x[0] + push * cosine)

    flow = dict(
        zip((r, w, v), rates((r.sym, w.sym, v.sym), ca.sin(angle.sym), ca.cos(angle.sym), push), strict=True)
    )
    system = System("orbit", x=(r, w, v), u=(angle,), flow=flow)
    x, costates, t = ca.SX.sym("x", 3), ca.SX.sym("costates", 3), ca.SX.sym("t")
    sine, cosine = ca.SX.sym("sine"), ca.SX.sym("cosine")
    rate = ca.vertcat(*rates(ca.vertsplit(x), sine, cosine, 0.1405 / (1 - 0.0749 * t)))
    both = ca.vertcat(rate, -ca.gradient(ca.dot(costates, rate), x), 1)
    size = ca.sqrt(costates[1] ** 2 + costates[2] ** 2)
    both = ca.substitute(both, ca.vertcat(sine, cosine), -costates[1:] / size)
    ode = {"x": ca.vertcat(x, costates, t), "ode": both}
    run = ca.integrator("run", "cvodes", ode, 0.0, 3.32, {"reltol": 1e-12, "abstol": 1e-13})

    def end(l0):
        return np.array(run(x0=[1, 0, 1, *l0, 0])["xf"]).ravel()

    def missed(l0):  # it is a circle, and the costate of the radius is transversal to it
        r, w, v, lr, _, lv, _ = end(l0)
        return [w, v - r**-0.5, lr + 1 - lv / (2 * r**1.5)]

    costate = fsolve(missed, (-2.0, -1.0, -2.5), xtol=1e-12)
    assert np.abs(missed(costate)).max() < 1e-9
    problem = optimal.Problem(system).phase(duration=3.32).begin(r=1, w=0, v=1).end(w=0)
    problem = problem.require("circle", v - 1 / ca.sqrt(r.sym), equal=0.0, at="end").minimise(-r)
    guess = {"r": (1, 1.5), "w": lambda s: 0.6 * s * (1 - s), "v": (1, 0.8), "angle": (0.5, 5.5)}
    return Known(
        problem,
        -end(costate)[0],
        1e-6,
        guess,
        {"control": "quadratic", "intervals": 60},
        printed="-1.525",
    )


SMOOTH = (
    bryson_denham,
    hager,
    hypersensitive,
    linear_tangent,
    zermelo,
    hanging_chain,
    soap_film,
    parallel_reactions,
    batch_reactor,
    van_der_pol,
    rayleigh,
    orbit_raising,
)
"""Functions that make them."""
