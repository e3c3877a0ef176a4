"""Systems with known answers."""

import casadi as ca
import numpy as np

from strut import Discrete, Event, Input, Ledger, Param, Sample, State, System


def oscillator(**values):
    """x'' = -k x: cos and sin."""
    x, v = State("x", 1.0), State("v", 0.0)
    k = Param("k", 1.0)
    return System(
        "oscillator",
        x=[x, v],
        p=[k],
        flow={x: v, v: -k * x},
        outputs={"sum": x + v},
        ledger=Ledger(stored={"kinetic": v**2 / 2, "spring": k * x**2 / 2}),
    ).using(values)


def driven(**values):
    """Nonlinear and explicit in time, with a state that is no position: x' = v, v' = -sin x + a cos t - c v, y' = x^2 - y."""
    from strut import time

    x, v, y = State("x", 0.5), State("v", 0.0), State("y", 0.0)
    a, c = Param("a", 0.7), Param("c", 0.1)
    return System(
        "driven", x=[x, v, y], p=[a, c], flow={x: v, v: -ca.sin(x) + a * ca.cos(time) - c * v, y: x**2 - y}
    ).using(values)


def pleiades():
    """Seven stars in the plane, masses 1 to 7 (Hairer, Norsett, Wanner, section II.10)."""
    x = [State(f"x{i}", v) for i, v in enumerate((3, 3, -1, -3, 2, -2, 2), 1)]
    y = [State(f"y{i}", v) for i, v in enumerate((3, -3, 2, 0, 0, -4, 4), 1)]
    vx = [State(f"vx{i}", v) for i, v in enumerate((0, 0, 0, 0, 0, 1.75, -1.5), 1)]
    vy = [State(f"vy{i}", v) for i, v in enumerate((0, 0, 0, -1.25, 1, 0, 0), 1)]
    flow = {}
    for i in range(7):
        flow[x[i]], flow[y[i]] = vx[i], vy[i]
        ax, ay = ca.SX(0), ca.SX(0)
        for j in range(7):
            if i != j:
                cube = ((x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2) ** 1.5
                ax += (j + 1) * (x[j] - x[i]) / cube
                ay += (j + 1) * (y[j] - y[i]) / cube
        flow[vx[i]], flow[vy[i]] = ax, ay
    return System("pleiades", x=[*x, *y, *vx, *vy], flow=flow)


PLEIADES_X1 = 0.3706139143970502  # x1 at t = 3


def robertson():
    """Three reactions with rates nine orders of magnitude apart (Hairer, Wanner, section IV.10)."""
    a, b, c = State("a", 1.0), State("b", 0.0), State("c", 0.0)
    slow, fast, between = 0.04 * a, 3e7 * b**2, 1e4 * b * c
    return System("robertson", x=[a, b, c], flow={a: between - slow, b: slow - between - fast, c: fast})


ROBERTSON_A = 0.208334014970122e-7  # a at t = 1e11


def counter(rate=1.0):
    """A clock that counts how often its sine rises through zero, without any reset of the sine."""
    from strut import time

    phase = State("phase", -0.5)
    count, falls = Discrete("count", 0), Discrete("falls", 0)
    return System(
        "counter",
        x=[phase],
        z=[count, falls],
        flow={phase: rate},
        events=[
            Event("rise", ca.sin(phase), reset={count: count + 1}),
            Event("fall", ca.sin(phase), direction="down", reset={falls: falls + 1}),
            Event("bell", ca.sin(time - 1e-3)),
        ],
    )


def servo(**values):
    """A mass pushed by a sampled controller, written as expressions: u = -kp x - kd v held for `period`."""
    x, v = State("x", 1.0, "m"), State("v", 0.0, "m/s")
    command = Discrete("command", 0.0, "N")
    push = Input("push", 0.0, "N")
    kp, kd, period = Param("kp", 4.0), Param("kd", 2.0), Param("period", 0.05, "s", bounds=(1e-6, 10))
    return System(
        "servo",
        x=[x, v],
        z=[command],
        u=[push],
        p=[kp, kd, period],
        flow={x: v, v: command + push},
        samples=[Sample("control", every=period, set={command: -kp * x - kd * v})],
        outputs={"force": command + push},
    ).using(values)


def servo_closed_form(kp=4.0, kd=2.0, period=0.05, n=40):
    """The same, exactly, from the discrete map of a double integrator under a held force."""
    s = np.array([1.0, 0.0])
    a = np.array([[1, period], [0, 1]])
    b = np.array([period**2 / 2, period])
    for _ in range(n):
        s = a @ s + b * (-kp * s[0] - kd * s[1])
    return s


def hires():
    """High irradiance response: eight reactions of plants to light (Schaefer 1975; Hairer, Wanner, section IV.10)."""
    y = [State(f"y{i + 1}", value) for i, value in enumerate((1.0, 0, 0, 0, 0, 0, 0, 0.0057))]
    a, b, c, d, e, f, g, h = y
    flow = {
        a: -1.71 * a + 0.43 * b + 8.32 * c + 0.0007,
        b: 1.71 * a - 8.75 * b,
        c: -10.03 * c + 0.43 * d + 0.035 * e,
        d: 8.32 * b + 1.71 * c - 1.12 * d,
        e: -1.745 * e + 0.43 * f + 0.43 * g,
        f: -280 * f * h + 0.69 * d + 1.71 * e - 0.43 * f + 0.69 * g,
        g: 280 * f * h - 1.81 * g,
        h: -280 * f * h + 1.81 * g,
    }
    return System("hires", x=y, flow=flow)


HIRES_END = 321.8122
HIRES_Y1 = (
    0.7371312573325668e-3  # at the end, from the test set for initial value problems (Mazzia and Magherini)
)
