"""Equations to read: they evaluate to ours, and say what the textbooks say."""

import importlib

import casadi as ca
import numpy as np
import pytest

import strut
from strut import joints, mechanism, network, ports, walkers
from strut.cli.app import main
from strut.errors import ModelError
from strut.export.reading.letters import letters
from strut.studies.duindam_bungee import bungee
from strut.system import Implied

sp = pytest.importorskip("sympy")
EXACT = 1e-12
"""[1] Of the same operations done in Python and in CasADi, in another order."""


def cart_pole(gravity=None):
    m = strut.Mechanism("cartpole", planar=True)
    M, mass, length = strut.Param("M", 1.0, "kg"), strut.Param("m", 0.2, "kg"), strut.Param("l", 0.5, "m")
    cart, pole = m.body("cart", mass=M), m.body("pole", mass=mass, com=(0, 0, length))
    m.joint("x", m.world, cart, joints.prismatic("x"))
    m.joint("theta", cart, pole, joints.revolute("y"), actuated=False)
    return mechanism.system(m)


SYSTEMS = {
    "pendulum": walkers.pendulum,
    "cart-pole": cart_pole,
    "compass": walkers.compass,
    "bungee": lambda: ports.system(bungee(1)),
    "bungee in pieces": lambda: ports.system(bungee(3)),
    "network": lambda: network.loads(
        'node "a" { mu = 2 x = 0.3  x\' = "v"  v = 0.1  v\' = "mu * (1 - x^2) * v - x" }'
    ).system(),
}


def point(system):
    """A state and values of everything, by component, and as vectors."""
    random = np.random.default_rng(3)
    vectors = [random.uniform(0.3, 1.2, system.size(group)) for group in "xzup"]
    names = {
        label: v
        for group, values in zip("xzup", vectors, strict=True)
        for label, v in zip(system.labels(group), values, strict=True)
    }
    return vectors, {**names, "t": 0.7}


@pytest.mark.parametrize("name", SYSTEMS)
def test_they_evaluate_to_ours(name):
    system = SYSTEMS[name]()
    written = strut.equations(system)
    vectors, values = point(system)
    flow = ca.vertcat(*[ca.vec(system.flow[q.name]) for q in system.x])
    ours = np.array(system.function("flow", [flow])(values["t"], *vectors)).reshape(-1)
    symbols = [(written.symbols[label], v) for label, v in values.items()]
    for label, rate in zip(system.labels("x"), ours, strict=True):
        theirs = float(sp.lambdify([s for s, _ in symbols], written.rates[label])(*[v for _, v in symbols]))
        assert theirs == pytest.approx(rate, rel=EXACT, abs=EXACT)
    # the rows, arranged and simplified, hold for our rates
    rates = [
        (written.symbols[f"{label}_dot"], rate)
        for label, rate in zip(system.labels("x"), ours, strict=True)
        if f"{label}_dot" in written.symbols
    ]
    everything = [*symbols, *rates]
    assert len(written.rows) >= 1
    for row in written.rows:
        terms = [*row.terms, -row.right]
        numbers = [
            float(sp.lambdify([s for s, _ in everything], t)(*[v for _, v in everything])) for t in terms
        ]
        assert abs(sum(numbers)) <= 10 * EXACT * max(1.0, *map(abs, numbers))


def same(row, textbook):
    """Is a row the textbook's equation, left less right?"""
    return sp.simplify(sp.expand(row.left - row.right - textbook)) == 0


def test_the_pendulum_reads_like_the_textbook():
    written = strut.equations(walkers.pendulum())
    assert written.latex == (
        "\\begin{aligned}\n"
        "\\ddot{\\theta} &= \\frac{- d \\dot{\\theta} - g l m \\sin{\\left(\\theta \\right)} + \\tau}{l^{2} m}\n"
        "\\end{aligned}"
    )
    assert written._repr_latex_().startswith("$$\n\\begin{aligned}")


def test_the_cart_pole_reads_like_the_textbook():
    """(M + m) x'' + m l cos(theta) theta'' - m l sin(theta) theta'^2 = F, m l cos(theta) x'' + m l^2 theta'' = m g l
    sin(theta), theta from upright."""
    written = strut.equations(cart_pole())
    s = {name: written.symbols[name] for name in ("M", "m", "l", "g", "theta", "theta_rate", "x_force")}
    x2, th2 = written.symbols["x_rate_dot"], written.symbols["theta_rate_dot"]
    ml, c, sn = s["m"] * s["l"], sp.cos(s["theta"]), sp.sin(s["theta"])
    first, second = written.rows
    assert same(first, (s["M"] + s["m"]) * x2 + ml * c * th2 - ml * sn * s["theta_rate"] ** 2 - s["x_force"])
    assert same(second, ml * c * x2 + ml * s["l"] * th2 - ml * s["g"] * sn)
    assert first.latex(written.names) == (
        r"\ddot{x} \left(M + m\right) + l m \ddot{\theta} \cos{\left(\theta \right)} - l m \dot{\theta}^{2} "
        r"\sin{\left(\theta \right)} &= F_{x}"
    )
    assert first.right == s["x_force"]


def test_the_compass_reads_like_the_textbook():
    """Goswami's compass: M(q) q'' + N(q, q') q' + g(q) = torques, with cosines of the angle between the legs."""
    written = strut.equations(walkers.compass())
    y = written.symbols
    a, b, m, mh, g = y["a"], y["b"], y["leg_mass"], y["hip_mass"], y["g"]
    st, sw, dst, dsw = y["stance"], y["swing"], y["stance_rate"], y["swing_rate"]
    l = a + b  # noqa: E741 the length of a leg, as in the books
    hip = y["hip_torque"] - y["hip_spring"] * (sw - st) - y["hip_damping"] * (dsw - dst)
    stance = (
        (mh * l**2 + m * l**2 + m * a**2) * y["stance_rate_dot"]
        - m * l * b * sp.cos(st - sw) * y["swing_rate_dot"]
        - m * l * b * sp.sin(st - sw) * dsw**2
        - (mh * l + m * a + m * l) * g * sp.sin(st)
        + hip
    )
    swing = (
        m * b**2 * y["swing_rate_dot"]
        - m * l * b * sp.cos(st - sw) * y["stance_rate_dot"]
        + m * l * b * sp.sin(st - sw) * dst**2
        + m * b * g * sp.sin(sw)
        - hip
    )
    assert same(written.rows[0], stance)
    assert same(written.rows[1], swing)
    assert len(written.rows) == 2
    assert r"\cos{\left(\theta_{\mathrm{stance}} - \theta_{\mathrm{swing}} \right)}" in written.latex
    assert "take_off" in written.unwritten  # said, and not silently left out
    assert "events too long to write" in written.latex


def test_the_bungee_reads_like_the_textbook():
    """m v' = - m g - k (x - 60) - d v, the rope's stretch counted downwards."""
    written = strut.equations(ports.system(bungee(1)))
    y = written.symbols
    p, q = y["mass_0.p"], y["spring_0.q"]
    rate = -y["person"] * y["g"] + y["k"] * q - y["d"] * p / y["person"]
    assert same(written.rows[0], y["mass_0.p_dot"] - rate)
    assert r"\dot{p}_{\mathrm{mass},\,0} &= " in written.latex


def test_forces_of_constraints_stand_in_the_equations():
    """A block on a belt that runs at a steady speed: the belt's force is what the push lacks."""
    x, v = strut.State("x", 0.0, "m"), strut.State("v", 1.0, "m/s")
    m, push = strut.Param("m", 2.0, "kg"), strut.Input("push", 0.0, "N")
    unknown = ca.SX.sym("unknown", 2)
    residual = ca.vertcat(m * unknown[0] - unknown[1] - push, unknown[0])
    implied = Implied(("v",), unknown, residual, -push.sym)
    block = strut.System("block", x=(x, v), flow={x: v, v: 0}, u=(push,), p=(m,), implied=implied)
    written = strut.equations(block)
    motion, held = written.rows
    assert motion.latex(written.names) == r"m \ddot{x} &= \lambda_{1} + F_{\mathrm{push}}"
    assert held.latex(written.names) == r"\ddot{x} &= 0"


def test_numbers_are_written_without_their_rounding():
    x = strut.State("x", 0.0, "m")
    s = strut.System("decay", x=(x,), flow={x: -(0.1 + 0.2) * x})
    written = strut.equations(s)
    assert written.rows[0].latex(written.names) == r"\dot{x} &= - 0.3 x"
    assert float(written.rates["x"].subs(written.symbols["x"], 1)) == -(0.1 + 0.2)
    u = strut.Input("u")
    driven = strut.equations(strut.System("driven", x=(x,), flow={x: u / 1e-3 - 0.25 * x}, u=(u,)))
    assert driven.rows[0].latex(driven.names) == r"\dot{x} &= 1000 u - \frac{x}{4}"


def test_names_are_what_people_write():
    quantities = [
        strut.Param("leg_length", 1.0, "m"),
        strut.Param("mu", 0.5),
        strut.Param("m1", 1.0, "kg"),
        strut.Param("hip_mass", 1.0, "kg"),
        strut.Input("knee_torque", 0.0, "N m"),
        strut.State("rotor.p", 0.0, "N m s"),
        strut.State("angle", 0.0, "rad"),
    ]
    assert list(letters(quantities).values()) == [
        r"l_{\mathrm{leg}}",
        r"\mu",
        "m_{1}",
        r"m_{\mathrm{hip}}",
        r"\tau_{\mathrm{knee}}",
        r"p_{\mathrm{rotor}}",
        r"\theta",
    ]
    # two that would look alike keep their names
    assert len(set(letters([strut.State("a.p"), strut.State("a_p")]).values())) == 2


def test_what_is_too_long_is_refused(monkeypatch):
    module = importlib.import_module("strut.export.reading.equations")
    monkeypatch.setattr(module, "MAX_OPERATIONS", 5)
    with pytest.raises(
        ModelError, match=r"the flow of 'pendulum' has \d+ operations: equations are written up to 5"
    ):
        strut.equations(walkers.pendulum())


def test_the_command_line_shows_models_and_equations(capsys):
    for words, expected in (
        (["show", "pendulum"], "parameter  damping"),
        (["show", "pendulum", "--equations"], "\\begin{aligned}"),
        (["show", "pendulum", "--sympy"], "Eq(rate_dot, "),
        (["show", "pendulum", "--json"], '"stored"'),
        (["show", "pendulum", "--equations", "--json"], '"latex"'),
    ):
        with pytest.raises(SystemExit) as leaving:
            main(words)
        assert leaving.value.code == 0
        assert expected in capsys.readouterr().out
