"""Time-stepped contact against closed forms and against rigid contact."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param, contact
from strut.contact.cone import Cone
from strut.errors import ModelError
from strut.mechanism import Mechanism, constraints, joints
from tests.contact.machines import G, box, brick, rod, weight

SWEEPS = 4
ROUNDING = 1e-10  # what thousands of steps may add up to


@pytest.fixture(scope="module")
def dropped():
    m, feet = box(height=0.3, points=2)
    return feet, strut.simulate(contact.time_stepped(m, feet, friction=0.5), t=1.0)


def test_a_dropped_box_lands_and_rests(dropped):
    feet, run = dropped
    landed = math.sqrt(2 * 0.2 / G)
    later = run.at(np.linspace(landed + 0.005, 0.999, 200))
    np.testing.assert_allclose(later["base.z"], 0.1, atol=ROUNDING)  # no bounce, no drift, no penetration
    for name in ("base.x", "base.pitch", "base.vx", "base.vz", "base.wy"):
        np.testing.assert_allclose(later[name], 0.0, atol=ROUNDING, err_msg=name)
    for f in feet:
        np.testing.assert_allclose(run[f"{f}_normal"][-1], 2 * G / 2, rtol=1e-9)
        assert run[f"{f}_gap"].min() > -ROUNDING


def test_the_books_of_a_landing(dropped):
    feet, run = dropped
    books = run.ledger
    assert books.residual < 1e-12
    assert sum(books.lost[f"{f}_contact"][-1] for f in feet) == pytest.approx(2 * G * 0.2, rel=0.02)
    assert abs(books.lost["stepping"][-1]) < 0.02 * 2 * G * 0.2


def test_a_box_slides_down_a_slope_as_it_should():
    """Acceleration exact, so the distance is right to one step."""
    slope, mu = math.atan(0.5), Param("mu", 0.2)
    m = weight(height=-1.0)
    system = contact.time_stepped(m, ["foot"], contact.plane(slope), friction=mu, sweeps=1)
    for value in (0.0, 0.2, 0.3):
        for dt in (1e-3,):
            run = strut.simulate(system, t=1.0, x0={"x": 2.0}, p={"mu": value})
            a = G * (math.sin(slope) - value * math.cos(slope))
            along = (run["x"][-1] - 2.0) / math.cos(slope)
            assert along == pytest.approx(a / 2, abs=2 * a * dt)
            assert run["foot_normal"][-1] == pytest.approx(G * math.cos(slope), rel=1e-9)
    assert run.ledger.lost["foot_contact"][-1] == pytest.approx(0.3 * G * math.cos(slope) * along, rel=2e-3)


def test_sliding_begins_at_the_friction_limit():
    slope = math.atan(0.5)
    for size in (0.499, 0.501):
        system = contact.time_stepped(
            weight(height=0.0), ["foot"], contact.plane(slope), friction=size, sweeps=1
        )
        run = strut.simulate(system, t=1.0)
        moved = run["x"][-1] / math.cos(slope)
        assert moved == pytest.approx(
            0.0 if size > 0.5 else G * (math.sin(slope) - size * math.cos(slope)) / 2, abs=1e-5
        )


def test_a_plank_on_many_points_rests():
    m, feet = box(mass=3.0, size=0.6, height=0.3, points=6)
    run = strut.simulate(contact.time_stepped(m, feet, friction=0.4), t=1.5)
    assert sum(run[f"{f}_normal"][-1] for f in feet) == pytest.approx(3 * G, rel=1e-8)
    assert run["base.z"][-1] == pytest.approx(0.3, abs=1e-8)
    assert abs(run["base.pitch"][-1]) < 1e-8
    assert min(run[f"{f}_normal"].min() for f in feet) >= 0


def test_a_brick_in_space_is_stopped_by_friction():
    mu, speed = 0.4, np.array([0.6, 0.8])
    m, feet = brick(at=(0, 0, 0.1))
    run = strut.simulate(
        contact.time_stepped(m, feet, friction=mu, sweeps=4),
        t=0.5,
        x0={"base.vx": speed[0], "base.vy": speed[1]},
    )
    there = np.array([run["base.x"][-1], run["base.y"][-1]])
    assert np.linalg.norm(there) == pytest.approx(1 / (2 * mu * G), rel=0.01)
    np.testing.assert_allclose(there / np.linalg.norm(there), speed, atol=0.01)
    assert abs(run["base.z"][-1] - 0.1) < 1e-6
    assert abs(np.linalg.norm([run[f"base.q{a}"][-1] for a in "xyzw"]) - 1) < 1e-12


def test_shorter_steps_come_nearer_to_rigid_ground():
    """A tilted rod that lands, holds and tips over: errors go with dt."""
    rigid = strut.simulate(contact.rigid(rod(height=0.6), ["left", "right"], friction=None), t=0.38)
    assert rigid.events.counts() == {"right_touchdown": 1}
    dt = Param("dt", 1e-3, "s")
    system = contact.time_stepped(rod(height=0.6), ["left", "right"], friction=None, dt=dt, sweeps=3)
    steps = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)
    errors = []
    for step in steps:
        soft = strut.simulate(system, t=0.38, p={"dt": step})
        errors.append(
            max(
                abs(soft[n][-1] - rigid[n][-1])
                for n in ("base.x", "base.z", "base.pitch", "base.vx", "base.vz", "base.wy")
            )
        )
    order = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert 0.8 < order < 1.3, errors
    assert errors[-1] < 5e-3


def test_inputs_and_dampers_have_names_in_the_books():
    m = Mechanism("cart", planar=True)
    body = m.body("body", 1.0)
    m.joint("x", m.world, body, joints.prismatic("x"), damping=2.0)
    m.frame("foot", body)
    run = strut.simulate(
        contact.time_stepped(m, ["foot"], contact.plane(height=-1.0), friction=0.0, sweeps=1),
        t=5.0,
        u={"x_force": 3.0},
    )
    speed, books = 1.5, run.ledger
    assert run["x_rate"][-1] == pytest.approx(speed, rel=1e-3)
    assert books.residual < 1e-10
    assert books.lost["x_force"][-1] == pytest.approx(-3.0 * run["x"][-1], rel=1e-9)
    assert books.lost["x_damper"][-1] == pytest.approx(3.0 * run["x"][-1] - speed**2 / 2, rel=5e-3)


def test_closed_loops_stay_closed():
    m = Mechanism("wedge", planar=True)
    left, right = m.body("left", 1.0, (0, 0, -0.25), 0.02), m.body("right", 1.0, (0, 0, -0.25), 0.02)
    m.joint("base", m.world, left, joints.planar("y"), actuated=False, initial=(0, 0.6, 0.4))
    m.joint("hip", left, right, joints.revolute("y"), actuated=False, initial=-0.8)
    m.frame("a", left, (0, 0, -0.5))
    m.frame("b", right, (0, 0, -0.5))
    m.constrain(constraints.prescribed("strap", "hip", -0.8))
    run = strut.simulate(contact.time_stepped(m, ["a", "b"], friction=0.0), t=1.0)
    assert run["closure_error"].max() < 1e-3
    assert run["a_normal"][-1] + run["b_normal"][-1] == pytest.approx(2 * G, rel=1e-3)
    assert run["base.z"][-1] == pytest.approx(0.5 * math.cos(0.4), abs=1e-3)
    name = next(n for n in list(run.keys()) if n.startswith("strap_"))
    assert abs(run[name][-1]) == pytest.approx(
        G * 0.25 * math.sin(0.4), rel=1e-3
    )  # what keeps the legs from spreading


def test_stiff_joints_do_no_harm():
    """A light finger on a stiff, heavily damped joint: with old velocities such a step would be unstable by four orders."""
    m = Mechanism("finger", planar=True)
    body, tip = m.body("body", 1.0, inertia=0.01), m.body("tip", 1e-3, (0.05, 0, 0), 1e-6)
    m.joint("z", m.world, body, joints.prismatic("z"), actuated=False, initial=0.2)
    m.joint("knuckle", body, tip, joints.revolute("y"), spring=100.0, damping=50.0, actuated=False)
    m.frame("end", tip, (0.1, 0, 0))
    run = strut.simulate(contact.time_stepped(m, ["end"], friction=0.0, sweeps=1), t=8.0)
    moment = (
        G * 1.0 * 0.1
    )  # the body's weight at the end of the finger; that of the finger is a thousandth of it
    assert run["knuckle"][-1] == pytest.approx(-math.sin(moment / 100.0), rel=5e-3)
    assert run["end_normal"][-1] == pytest.approx(G * 1.001, rel=1e-6)
    assert run.ledger.residual < 1e-9


@pytest.mark.parametrize("size", [2, 3])
def test_one_contact_is_resolved_by_coulombs_law(size):
    """Random inertias and velocities: open, sticking, or sliding with friction against the velocity that remains."""
    rng = np.random.default_rng(3)
    G_, c_, own, mu = ca.SX.sym("G", size, size), ca.SX.sym("c", size), ca.SX.sym("own", size), 0.6
    solve = ca.Function("solve", [G_, c_, own], [Cone(G_, ca.SX(mu)).resolve(c_, own)])
    kinds = {"open": 0, "stick": 0, "slide": 0}
    for _ in range(300):
        root = rng.standard_normal((size, size))
        inertia, c = root @ root.T / 4 + np.eye(size), rng.standard_normal(size)
        found = np.zeros(size)
        for _ in range(SWEEPS):
            found = np.array(solve(inertia, c, found)).reshape(-1)
        after = c + inertia @ found
        along, push = after[1:], found[1:]
        if c[0] >= 0:
            kinds["open"] += 1
            assert not found.any()
        elif np.linalg.norm(push) < mu * found[0] * (1 - 1e-9):
            kinds["stick"] += 1
            np.testing.assert_allclose(after, 0, atol=1e-12)
        else:
            kinds["slide"] += 1
            assert np.linalg.norm(push) == pytest.approx(mu * found[0], rel=1e-9)
            assert abs(after[0]) < 1e-12
            cosine = push @ along / (np.linalg.norm(push) * np.linalg.norm(along))
            assert cosine == pytest.approx(
                -1, abs=1e-9 if size == 2 else 0.02
            )  # in space found by turning, sweep by sweep
    assert min(kinds.values()) > 10, kinds


def test_without_sweeps_nothing_would_happen():
    with pytest.raises(ModelError, match="at least one"):
        contact.time_stepped(weight(), ["foot"], sweeps=0)
