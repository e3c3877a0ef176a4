"""The examples of bond graphs: each against a second derivation, and its account of energy to 1e-9."""

import importlib.util
import time
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut import contact, joints, ports
from strut.studies import STUDIES
from strut.studies.duindam_bungee import bungee
from tests.examples.gallery import check_printed

ROOT = Path(__file__).parents[2]
BALANCE = 1e-9
"""[1] Of the energy that moved."""


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("bond_graphs", ROOT / "examples" / "bond_graphs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_books_close_and_the_gallery_says_what_is_printed(example, tmp_path, capsys):
    runs = example.main(tmp_path / "hoist.svg")
    assert set(runs) == {"hoist", "held_cart", "snakeboard", "hydraulic_leg", "landing_ball"}
    for name, run in runs.items():
        assert run.ok, name
        assert run.ledger.residual < BALANCE * run.ledger.turnover, name
    check_printed("bond_graphs.py", capsys.readouterr().out)
    assert "<animate" in (tmp_path / "hoist.svg").read_text()


def test_the_hoist_lifts_as_fast_as_the_book_says(example):
    """Steady: the current carries the load, and the rest of the voltage is speed."""
    s = ports.system(example.hoist())
    assert ports.causality(example.hoist()).dependent == (("load", ""),)
    current = 5 * 9.81 * 0.02 / 0.1
    speed = (24 - 0.5 * current) / 0.1
    run = strut.simulate(s, 5.0)
    end = run.at(5.0)
    assert end["rotor.flow"] == pytest.approx(speed, rel=1e-8)
    assert end["copper.flow"] == pytest.approx(current, rel=1e-8)
    # nearly steady: what the supply gives is lift and heat
    assert end["supply.effort"] * end["supply.flow"] == pytest.approx(
        5 * 9.81 * 0.02 * speed + 0.5 * current**2, rel=1e-7
    )


def test_the_hoist_as_text_is_the_same(example):
    text = ports.system(ports.load(ROOT / "examples" / "hoist.toml"))
    ours, theirs = (
        strut.simulate(text, 1.0).at(1.0),
        strut.simulate(ports.system(example.hoist()), 1.0).at(1.0),
    )
    assert ours["height.q"] == pytest.approx(theirs["height.q"], rel=1e-12)


def test_the_held_cart_is_a_damped_oscillator(example):
    run = strut.simulate(example.held_cart().system(), 1.0)
    roots = np.roots([2.0, 12.4, 50.0])
    # q(0) = 0.3, v(0) = 0
    c = np.linalg.solve([[1, 1], roots], [0.3, 0])
    assert run.at(1.0)["kp.q"] == pytest.approx((c @ np.exp(roots)).real, rel=1e-8)


def snakeboard_by_multipliers(x, u, m=6.0, r=0.2, torso=0.03, wheels=0.005):
    """q'' of the snakeboard in all five coordinates, with forces of constraint: another derivation."""
    q, v = x[:5], x[5:]
    th, ph = q[2], q[4]
    J = m * r**2
    M = np.array(
        [[m, 0, 0, 0, 0], [0, m, 0, 0, 0], [0, 0, J, torso, 0], [0, 0, torso, torso, 0], [0, 0, 0, 0, wheels]]
    )

    def A(th, ph):
        return np.array(
            [
                [np.sin(th - ph), -np.cos(th - ph), r * np.cos(ph), 0, 0],
                [np.sin(th + ph), -np.cos(th + ph), -r * np.cos(ph), 0, 0],
            ]
        )

    h = 1e-6
    Adot = (A(th + h * v[2], ph + h * v[4]) - A(th - h * v[2], ph - h * v[4])) / (2 * h)
    rows = A(th, ph)
    K = np.block([[M, rows.T], [rows, np.zeros((2, 2))]])
    right = np.concatenate([[0, 0, 0, u[0], u[1]], -Adot @ v])
    return np.concatenate([v, np.linalg.solve(K, right)[:5]])


def test_the_reduced_snakeboard_is_the_one_with_forces_of_constraint(example):
    from scipy.integrate import solve_ivp

    s = ports.system(example.snakeboard())
    torques = {"torso_torque": 0.4, "wheel_torque": 0.01}
    run = strut.simulate(s.using(torques), 0.8)
    whole = solve_ivp(
        lambda t, x: snakeboard_by_multipliers(x, (0.4, 0.01)), (0, 0.8), np.zeros(10), rtol=1e-10, atol=1e-12
    )
    end = run.at(0.8)
    ours = [end[n] for n in ("x.q", "y.q", "heading.q", "torso_angle.q", "steer.q")]
    assert np.array(ours).reshape(-1) == pytest.approx(whole.y[:5, -1], rel=1e-6, abs=1e-9)
    assert abs(ours[0]) > 1e-3


def test_the_wheels_exchange_no_power_with_the_ride(example):
    s = ports.system(example.snakeboard())
    steering = s.flow["wheels.p"]
    assert not ca.depends_on(steering, ca.vertcat(s["ride.p"], s["torso.p"]))


def test_the_landing_ball_is_compliant_contact(example):
    """The same law of Hunt and Crossley, in the room of contact."""
    ball = strut.Mechanism("ball", planar=True)
    body = ball.body("ball", mass=1.0, inertia=0.01)
    ball.joint("fall", ball.world, body, joints.prismatic("z"), initial=0.3, actuated=False)
    ball.frame("point", body)
    theirs = strut.simulate(contact.compliant(ball, ["point"], law=contact.hunt_crossley(2e4, 0.2)), 0.5)
    ours = strut.simulate(ports.system(example.landing_ball()), 0.5)
    assert ours.at(0.5)["fall"] == pytest.approx(theirs.at(0.5)["fall"], rel=1e-6)


def test_the_leg_is_lifted_by_oil_under_pressure(example):
    run = strut.simulate(ports.system(example.hydraulic_leg()), 0.4)
    times = np.linspace(0.0, 0.4, 2001)
    pressure = run.at(times)["oil.effort"].reshape(-1)
    assert pressure[50:].min() > 0
    # what the pump delivers is where the piston is, less what oil and leaks take: the lever's arm is 5 cm cos(knee)
    swept = 3e-4 * 0.05 * np.sin(run.at(0.4)["knee"])
    delivered = 2e-5 * (0.4 - 0.05)  # the pump begins over 0.1 s
    leaked = 1e-13 * np.trapezoid(pressure, times)
    assert swept + run.at(0.4)["oil.q"] + leaked == pytest.approx(delivered, rel=1e-6)


def test_the_bungee_is_as_published():
    assert [row.ours for row in STUDIES["duindam-bungee"].rows()] == ["1.37", "-1.84"]
    for n in (1, 10):
        run = strut.simulate(ports.system(bungee(n)), 8.0)
        assert run.ledger.residual < BALANCE * run.ledger.turnover
    # at rest the lumped one hangs where the rope carries it
    at_rest = 60 - 91 * 9.81 / 30
    assert at_rest == pytest.approx(30.24, abs=0.01)


def test_a_thousand_elements_are_assembled_and_assigned_in_seconds():
    """Of the 20 s that compiling may take, too, this is the smaller part."""
    begin = time.process_time()
    g = bungee(143)
    assert len(g.elements) > 1000
    s = ports.system(g)
    assert s.size("x") == 3 * 143
    assert time.process_time() - begin < 5


@pytest.mark.slow  # compiles 1000 elements anew, some seconds of the compiler
def test_a_thousand_elements_are_compiled_in_time(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUT_CACHE", str(tmp_path))
    begin = time.perf_counter()
    s = ports.system(bungee(143))
    strut.compile_system(s)
    assert time.perf_counter() - begin < 20
    assert strut.simulate(s, 0.1).ok
