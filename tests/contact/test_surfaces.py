"""Smooth surfaces against each other."""

import math

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Param, contact
from strut.errors import ModelError
from strut.mechanism import Mechanism, joints
from tests.contact.machines import G, ball

AXES_A, AXES_B = (0.5, 0.3, 0.2), (0.25, 0.4, 0.3)


def turned(q):
    """The rotation of a quaternion x, y, z, w."""
    x, y, z, w = np.asarray(q) / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def two_ellipsoids(**more):
    m = Mechanism("pair", g=0.0)
    a, b = m.body("a", 1.0, inertia=(0.03, 0.06, 0.07)), m.body("b", 2.0, inertia=(0.1, 0.06, 0.09))
    m.joint("fa", m.world, a, joints.free(), initial=(0, 0, 0, 0, 0, 0, 1))
    m.joint("fb", m.world, b, joints.free(), initial=(0.2, 0.1, 1.2, 0.1, 0.2, 0.3, 0.9))
    pair = contact.between("a", contact.ellipsoid(*AXES_A), "b", contact.ellipsoid(*AXES_B), name="touch")
    return contact.surfaces(m, [pair], law=contact.linear(1e5), **more)


def closest(run, t):
    """Closest points of the two ellipsoids by Newton's method on Lagrange's conditions, without any chart."""
    now = run.at(t)
    shapes = []
    for body, axes in (("fa", AXES_A), ("fb", AXES_B)):
        R = turned([now[f"{body}.q{c}"] for c in "xyzw"])
        shapes.append((R @ np.diag(1 / np.square(axes)) @ R.T, np.array([now[f"{body}.{c}"] for c in "xyz"])))
    (A, pa), (B, pb) = shapes
    line = pb - pa
    x = pa + line / math.sqrt(line @ A @ line)
    y = pb - line / math.sqrt(line @ B @ line)
    k = h = np.linalg.norm(y - x) / 4
    for _ in range(50):
        f = np.concatenate(
            [
                x - y + k * A @ (x - pa),
                y - x + h * B @ (y - pb),
                [(x - pa) @ A @ (x - pa) - 1, (y - pb) @ B @ (y - pb) - 1],
            ]
        )
        J = np.zeros((8, 8))
        J[:3, :3], J[:3, 3:6], J[:3, 6] = np.eye(3) + k * A, -np.eye(3), A @ (x - pa)
        J[3:6, 3:6], J[3:6, :3], J[3:6, 7] = np.eye(3) + h * B, -np.eye(3), B @ (y - pb)
        J[6, :3], J[7, 3:6] = 2 * A @ (x - pa), 2 * B @ (y - pb)
        step = -np.linalg.solve(J, f)
        x, y, k, h = x + step[:3], y + step[3:6], k + step[6], h + step[7]
    assert np.abs(f).max() < 1e-13
    return x, y


def test_points_of_moving_ellipsoids_stay_the_closest():
    """Tumbling past each other for many turns, through both charts of both."""
    start = {
        "fa.wx": 2.0,
        "fa.wy": 3.0,
        "fa.wz": 1.0,
        "fb.wx": -3.0,
        "fb.wy": 1.0,
        "fb.wz": 2.0,
        "fb.vx": 0.05,
        "fa.vy": 0.04,
    }
    run = strut.simulate(two_ellipsoids(), t=6.0, x0=start, rtol=1e-11, atol=1e-12)
    assert run.ok
    assert run.events.counts()["touch_a_turn"] >= 2
    assert run.events.counts()["touch_b_turn"] >= 2
    assert "touch_touchdown" not in run.events.counts()
    assert run["touch_error"].max() < 1e-10
    for t in (0.0, 1.3, 3.7, 6.0):
        x, y = closest(run, t)
        now = run.at(t)
        np.testing.assert_allclose([now[f"touch_{c}"] for c in "xyz"], x, atol=1e-10)
        assert now["touch_gap"] == pytest.approx(np.linalg.norm(y - x), abs=1e-10)


def test_ellipsoids_collide_and_keep_momentum_and_energy():
    start = {"fa.wx": 1.0, "fa.wy": 2.0, "fa.vz": 2.0, "fb.wz": 2.0}
    run = strut.simulate(two_ellipsoids(), t=1.0, x0=start, rtol=1e-10, atol=1e-11)
    assert run.events.counts()["touch_liftoff"] >= 1

    def momentum(t):
        now = run.at(t)
        total = np.zeros(3)
        spin = np.zeros(3)
        for body, mass, inertia in (("fa", 1.0, (0.03, 0.06, 0.07)), ("fb", 2.0, (0.1, 0.06, 0.09))):
            R = turned([now[f"{body}.q{c}"] for c in "xyzw"])
            p = mass * R @ np.array([now[f"{body}.v{c}"] for c in "xyz"])
            total += p
            spin += R @ (np.array(inertia) * [now[f"{body}.w{c}"] for c in "xyz"]) + np.cross(
                [now[f"{body}.{c}"] for c in "xyz"], p
            )
        return np.concatenate([total, spin])

    np.testing.assert_allclose(momentum(1.0), momentum(0.0), atol=1e-8)
    total = sum(run.ledger.stored.values())
    np.testing.assert_allclose(total, total[0], rtol=1e-8)


def test_a_ball_on_a_plane_is_a_sphere_on_the_ground():
    law, friction = contact.linear(1e4, 20.0), contact.anchored(1e4, 30.0, 0.5)
    start = {"base.vx": 1.0, "base.vy": 0.4, "base.wy": -20.0, "base.wx": 5.0}
    pair = contact.between("world", contact.plane_surface(), "ball", contact.ellipsoid(0.1, 0.1, 0.1))
    ours = strut.simulate(
        contact.surfaces(ball(at=(0, 0, 0.5)), [pair], law=law, friction=friction), t=2.0, x0=start
    )
    theirs = strut.simulate(
        contact.compliant(ball(at=(0, 0, 0.5)), [contact.sphere("ball", 0.1)], law=law, friction=friction),
        t=2.0,
        x0=start,
    )
    t = np.linspace(0, 2, 41)
    for name in ("base.x", "base.y", "base.z", "base.vx", "base.wx", "base.wy", "ball_gap", "ball_strain_x"):
        np.testing.assert_allclose(ours.at(t)[name], theirs.at(t)[name], atol=2e-8, err_msg=name)
    counts = dict(ours.events.counts())
    assert counts.pop("ball_b_turn") >= 2
    assert counts == theirs.events.counts()
    assert ours.ledger.residual < 1e-9 * ours.ledger.turnover


def test_a_ball_in_waves_conserves_energy():
    A, f = Param("A", 0.05, "m"), Param("f", 0.5, "1/m")
    pair = contact.between("world", contact.sine_ground(A, f), "ball", contact.ellipsoid(0.1, 0.1, 0.1))
    system = contact.surfaces(ball(at=(0.2, 0, 0.4)), [pair], law=contact.hertz(2e5))
    run = strut.simulate(system, t=4.0, x0={"base.vy": 0.2}, rtol=1e-10, atol=1e-11)
    assert run.events.counts()["ball_touchdown"] >= 6
    total = sum(run.ledger.stored.values())
    np.testing.assert_allclose(total, total[0], rtol=1e-8)
    assert run["base.vy"][-1] == pytest.approx(0.2, abs=1e-9)  # nothing pushes along the crests
    assert run["ball_error"].max() < 1e-8


def test_a_ball_comes_to_rest_in_a_trough():
    A, f = 0.05, 0.5
    pair = contact.between("world", contact.sine_ground(A, f), "ball", contact.ellipsoid(0.1, 0.1, 0.1))
    system = contact.surfaces(ball(at=(-0.4, 0, 0.1), damping=1.0), [pair], law=contact.linear(1e4, 100.0))
    run = strut.simulate(system, t=25.0)
    assert run["ball_x"][-1] == pytest.approx(-0.5, abs=1e-4)
    assert run["base.z"][-1] == pytest.approx(0.1 - A - G / 1e4, abs=1e-6)


def test_an_ellipsoid_over_a_plane_touches_with_its_lowest_point():
    """-S^2 n / |S n| in its own frame."""
    q, axes = np.array([0.2, 0.3, -0.1, 0.9]), np.array([0.3, 0.2, 0.1])
    m = Mechanism("egg")
    m.joint(
        "base",
        m.world,
        m.body("egg", 1.0, inertia=0.1),
        joints.free(),
        initial=(0.3, -0.2, 1.0, *(q / np.linalg.norm(q))),
    )
    pair = contact.between("world", contact.plane_surface(), "egg", contact.ellipsoid(*axes))
    run = strut.simulate(contact.surfaces(m, [pair], law=contact.linear(1e4)), t=0.01)
    R = turned(q)
    n = R.T @ [0, 0, 1]
    lowest = np.array([0.3, -0.2, 1.0]) - R @ (axes**2 * n) / np.linalg.norm(axes * n)
    assert run["egg_gap"][0] == pytest.approx(lowest[2], abs=1e-12)
    np.testing.assert_allclose([run["egg_x"][0], run["egg_y"][0]], lowest[:2], atol=1e-10)


def test_a_run_may_begin_in_any_posture():
    """The points are found again when a run begins, also on the other side of the body and deep in the ground."""
    axes = np.array([0.3, 0.2, 0.1])
    pair = contact.between("world", contact.plane_surface(), "ball", contact.ellipsoid(*axes))
    system = contact.surfaces(ball(at=(0, 0, 0.4)), [pair], law=contact.linear(1e4))
    rng = np.random.default_rng(5)
    for _ in range(40):
        q, x, z = rng.standard_normal(4), rng.standard_normal(), rng.uniform(0.05, 0.5)
        q = q / np.linalg.norm(q)
        start = dict(
            zip(("base.qx", "base.qy", "base.qz", "base.qw", "base.x", "base.z"), (*q, x, z), strict=True)
        )
        run = strut.simulate(system, t=1e-9, x0=start)
        lowest = z - np.linalg.norm(axes * (turned(q).T @ [0, 0, 1]))
        assert run["ball_gap"][-1] == pytest.approx(lowest, abs=1e-7)
        assert run["ball_on"][-1] == (lowest < 0)


def test_a_planar_wheel_on_waves():
    m = Mechanism("wheel", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("wheel", 1.0, inertia=0.005),
        joints.planar("y"),
        actuated=False,
        initial=(0.1, 0.3, 0),
    )
    pair = contact.between("world", contact.sine_ground(0.03, 0.5), "wheel", contact.ellipsoid(0.1, 0.1, 0.1))
    run = strut.simulate(
        contact.surfaces(m, [pair], law=contact.linear(2e4, 50.0), friction=contact.anchored(2e4, 50.0, 0.8)),
        t=2.0,
    )
    assert run.ok
    assert run["wheel_error"].max() < 1e-8
    assert run.ledger.residual < 1e-9 * run.ledger.turnover


def test_a_chart_of_ones_own():
    """A bowl as a paraboloid: its lowest point is where the ball ends."""
    bowl = contact.surface(lambda u: ca.vertcat(u[0], u[1], (u[0] ** 2 + u[1] ** 2) / 2))
    pair = contact.between("world", bowl, "ball", contact.ellipsoid(0.1, 0.1, 0.1))
    system = contact.surfaces(ball(at=(0.2, 0.1, 0.2), damping=2.0), [pair], law=contact.linear(1e4, 100.0))
    run = strut.simulate(system, t=25.0)
    assert math.hypot(run["ball_x"][-1], run["ball_y"][-1]) < 1e-4


def test_bad_pairs_are_refused():
    with pytest.raises(ModelError, match="two planes"):
        contact.between("world", contact.plane_surface(), "ball", contact.plane_surface())
    with pytest.raises(ModelError, match="three numbers"):
        contact.surface(lambda u: u)
    with pytest.raises(ModelError, match="at least one pair"):
        contact.surfaces(ball(), [], law=contact.linear(1e4))
    pair = contact.between("world", contact.plane_surface(), "ball", contact.ellipsoid(0.1, 0.1, 0.1))
    with pytest.raises(ModelError, match="two contacts are called 'ball'"):
        contact.surfaces(ball(), [pair, pair], law=contact.linear(1e4))


def cradle(radius, law):
    """Three balls on a line, touching exactly: to rounding, which has no sign."""
    m = Mechanism("cradle", g=0.0)
    for k in range(3):
        m.joint(
            f"slide{k}",
            m.world,
            m.body(f"ball{k}", 1.0, inertia=4e-3),
            joints.prismatic("x"),
            initial=k * 2 * radius,
        )
    shape = contact.ellipsoid(radius, radius, radius)
    pairs = [contact.between(f"ball{k}", shape, f"ball{k + 1}", shape, name=f"touch{k}") for k in range(2)]
    return contact.surfaces(m, pairs, law=law)


def test_newtons_cradle_begins_where_the_balls_touch():
    """Hertz's law between three equal balls, against the same three equations of motion by SciPy."""
    from scipy.integrate import solve_ivp

    radius, stiffness = 0.1, 1e6
    run = strut.simulate(
        cradle(radius, contact.hertz(stiffness)), t=0.02, x0={"slide0_rate": 1.0}, max_steps=2000
    )
    assert run.status == "done"
    assert run.events.counts() == {"touch0_liftoff": 1, "touch1_liftoff": 1}

    def rate(t, y):
        push = stiffness * np.maximum(y[:2] - y[1:3], 0) ** 1.5
        return [*y[3:], -push[0], push[0] - push[1], push[1]]

    exact = solve_ivp(rate, (0, 0.02), [0, 0, 0, 1, 0, 0], method="DOP853", rtol=1e-11, atol=1e-14).y[3:, -1]
    np.testing.assert_allclose([run[f"slide{k}_rate"][-1] for k in range(3)], exact, atol=1e-8)
    assert run.ledger.residual < 1e-9
