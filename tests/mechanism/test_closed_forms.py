"""Machines whose motion is known in closed form or by what it keeps: benchmarks of the IFToMM multibody library, and free flight.

The library asks for an energy that drifts by less than 5e-5 J (A01), 0.1 J (A02) and 1e-3 J (A04) in 10 s.
"""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Event
from strut.mechanism import Mechanism, Pose, Tree, constraints, joints, observe, system
from strut.simulate import LedgerWarning

G = 9.81
ACROSS = 1 / 12  # [kg m^2] of a thin rod of 1 kg and 1 m
COMPLETE = 1.8540746773013719184  # K(m = 1/2), the complete elliptic integral: Gamma(1/4)^2 / (4 sqrt(pi))


def point_on_a_rod():
    """A01: a point of 1 kg in Cartesian coordinates, kept 1 m from the origin; it starts level with it."""
    m = Mechanism("pendulum")
    at = joints.custom(lambda q: Pose.at((q[0], 0, q[1])), ["x", "z"], ["m", "m"])
    m.joint("at", m.world, m.body("mass", 1.0), at, initial=(-1.0, 0.0), actuated=False)
    m.constrain(constraints.general("rod", lambda tree: ca.sumsqr(tree.q) - 1))
    return system(m)


def test_a_pendulum_in_cartesian_coordinates():
    """The period is 4 sqrt(l/g) K(sin(theta/2)); the rod pulls with 3 m g at the bottom: its force is the multiplier
    times the gradient 2 (x, z)."""
    machine = point_on_a_rod()
    run = strut.simulate(
        machine.replace(events=[Event("top", machine["at.z_rate"], direction="down")]), t=10.0
    )
    half = 2 * np.sqrt(1 / G) * COMPLETE  # it is at the top on both sides
    np.testing.assert_allclose(np.diff(run.events.t), half, rtol=0, atol=1e-8)
    assert len(run.events.t) == 9
    assert np.ptp(run.ledger.energy) < 1e-9
    assert run["closure_error"].max() < 1e-9
    bottom = run.at(half / 2)
    assert bottom["at.z"] == pytest.approx(-1, abs=1e-8)
    assert bottom["rod_row0"] == pytest.approx(-1.5 * G, abs=1e-5)


def four_bars(n, **options):
    """A02: n squares in a row, of rods of 1 m and 1 kg, hinged at the ground; all begin upright, the tops at 1 m/s."""
    m = Mechanism("four_bars")
    before = None
    for k in range(n + 1):
        upright = m.body(f"upright{k}", 1.0, (0, 0, 0.5), [ACROSS, ACROSS, 0.0])
        m.joint(f"a{k}", m.world, upright, joints.revolute("y"), at=(k, 0, 0), rate=1.0, actuated=False)
        m.frame(f"top{k}", upright, (0, 0, 1))
        if before is not None:
            bar = m.body(f"bar{k}", 1.0, (0.5, 0, 0), [0.0, ACROSS, ACROSS])
            m.joint(f"b{k}", before, bar, joints.revolute("y"), at=(0, 0, 1), rate=-1.0, actuated=False)
            m.frame(f"end{k}", bar, (1, 0, 0))
            m.constrain(constraints.point(f"loop{k}", f"end{k}", f"top{k}"))
        before = upright
    return system(m, **options)


def one_upright(n):
    """The same motion with one coordinate: uprights turn about the ground, bars move with the tops. A point mass with the
    same moment and inertia about the ground."""
    moment, inertia = (n + 1) / 2 + n, (n + 1) / 3 + n
    m = Mechanism("upright")
    m.joint(
        "a",
        m.world,
        m.body("all", moment**2 / inertia, (0, 0, inertia / moment)),
        joints.revolute("y"),
        rate=1.0,
        actuated=False,
    )
    return system(m)


@pytest.mark.parametrize(
    ("n", "options", "tolerance"),
    [
        (1, {}, 1e-6),
        (1, {"rtol": 1e-7, "atol": 1e-9}, 0.1),
        (1, {"method": "rk4", "step": 1e-3}, 1e-3),
        (3, {}, 1e-5),
        (10, {}, 1e-5),
    ],
)
def test_four_bars_pass_where_they_flatten(n, options, tolerance):
    """Twice a turn all rods lie on the ground line and could move in other ways (n + 1 instead of one). The motion must pass
    without energy lost and without leaving the parallelogram, for gravities that reach the place at different phases."""
    machine = four_bars(n)
    for g in (9.7, G, 9.87):
        run = strut.simulate(machine, t=10.0, p={"g": g}, **options)
        energy = run.ledger.energy
        assert energy[0] == pytest.approx((n + 1) * (g / 2 + 1 / 6) + n * (g + 1 / 2), rel=1e-12)
        assert np.abs(energy - energy[0]).max() < tolerance
        for k in range(n + 1):
            np.testing.assert_allclose(run[f"a{k}"], run["a0"], atol=1e-4 if options else 1e-7)
        assert run["a0"][-1] > 9 * np.pi  # it has passed flat nine times or more


@pytest.mark.parametrize("n", [1, 3])
def test_four_bars_move_like_one_pendulum(n):
    """Through ten singular configurations, against the machine of one coordinate."""
    loops, reduced = strut.simulate(four_bars(n), t=10.0), strut.simulate(one_upright(n), t=10.0)
    times = np.linspace(0, 10, 201)
    ours, exact = ([run.at(t)[name] for t in times] for run, name in ((loops, "a0"), (reduced, "a")))
    np.testing.assert_allclose(ours, exact, atol=1e-6)


def test_a_run_that_loses_energy_at_a_singularity_is_told():
    """Without stabilisation drift is never taken back, and the machine may leave its branch: the account says so."""
    with pytest.warns(LedgerWarning, match="does not close"):
        strut.simulate(four_bars(3, stabilise=0.0), t=10.0, rtol=1e-5, atol=1e-7)


def bricard():
    """A04: five rods along edges of a cube and the ground as the sixth, each hinge across its two rods. Counted by its
    hinges it could not move."""
    m = Mechanism("bricard")
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 0, -1), (1, -1, -1), (0, -1, -1), (0, -1, 0)], dtype=float)
    axes = ["y", "y", "x", "z", "y", "x"]  # at each corner: across the edge before and the edge after
    parent, at = m.world, corners[0]
    for k in range(5):
        along = corners[k + 1] - corners[k]
        inertia = ACROSS * (1 - np.abs(along))
        rod = m.body(f"rod{k}", 1.0, along / 2, inertia)
        m.joint(f"q{k}", parent, rod, joints.revolute("z" if k == 0 else axes[k]), at=at, actuated=False)
        parent, at = rod, along
    m.frame("end", parent, at)
    m.frame("ground", m.world, corners[5])
    m.constrain(constraints.hinge("loop", "end", "ground", axes[5]))
    return m


def test_bricard_moves_although_it_is_overconstrained():
    """Four of the five rows are kept, and the energy is kept through whole swings."""
    machine = system(bricard())
    assert len([name for name in machine.outputs if name.startswith("loop_")]) == 4
    run = strut.simulate(machine, t=10.0)
    assert np.abs(run.ledger.energy - run.ledger.energy[0]).max() < 1e-7
    assert run["closure_error"].max() < 1e-9
    assert np.ptp(run["q0"]) > 1.0
    tree = Tree(bricard())
    f = ca.Function("f", [tree.q], [observe.pose(tree, "end").R, observe.position(tree, "end")])
    R, p = (np.array(r) for r in f(run.raw.x_end[:5]))  # the row that was left out holds as well
    np.testing.assert_allclose(R[:, 0], [1, 0, 0], atol=1e-8)
    np.testing.assert_allclose(p.reshape(-1), [0, -1, 0], atol=1e-8)


def test_a_tree_in_free_flight_keeps_its_angular_momentum():
    """A torso with a ball-jointed arm, a jointed leg and a slider, thrown under gravity: the centre of mass flies a parabola,
    the angular momentum about it and the energy stay."""
    m = Mechanism("thrown")
    torso = m.body("torso", 3.0, (0.05, 0, 0.2), [0.3, 0.25, 0.1])
    arm, leg = (
        m.body("arm", 0.8, (0, 0.1, -0.2), [0.02, 0.02, 0.005]),
        m.body("leg", 1.5, (0, 0, -0.2), [0.05, 0.05, 0.01]),
    )
    foot, pack = m.body("foot", 0.4, (0.1, 0, 0), 0.002), m.body("pack", 1.0, (0, 0, 0.1), 0.01)
    m.joint("base", m.world, torso, joints.free(), rate=(2.0, -1.0, 3.0, 1.0, 0.5, 4.0))
    m.joint(
        "shoulder", torso, arm, joints.spherical(), at=(0, 0.2, 0.4), rate=(-3.0, 2.0, 1.0), actuated=False
    )
    m.joint("hip", torso, leg, joints.revolute([0.6, 0.8, 0.0]), at=(0, -0.1, -0.1), rate=5.0, actuated=False)
    m.joint("ankle", leg, foot, joints.universal("x", "y"), at=(0, 0, -0.4), rate=(1.0, -6.0), actuated=False)
    m.joint(
        "strap",
        torso,
        pack,
        joints.prismatic("z"),
        at=(-0.2, 0, 0.1),
        spring=200.0,
        rate=-1.0,
        actuated=False,
    )
    tree, machine = Tree(m), system(m)
    f = ca.Function("f", [tree.q, tree.v], [observe.momentum(tree), observe.com(tree)])
    run = strut.simulate(machine, t=5.0)
    x0 = np.array([run[name][0] for name in machine.labels("x")])
    first, centre = (np.array(r).reshape(-1) for r in f(x0[: tree.nq], x0[tree.nq :]))
    mass = 6.7
    for t in (1.0, 2.5, 5.0):
        x = np.array([run.at(t)[name] for name in machine.labels("x")])
        now, place = (np.array(r).reshape(-1) for r in f(x[: tree.nq], x[tree.nq :]))
        np.testing.assert_allclose(now[:3], first[:3], atol=1e-7)
        np.testing.assert_allclose(now[3:], first[3:] - [0, 0, mass * G * t], atol=1e-7)
        np.testing.assert_allclose(place, centre + first[3:] / mass * t - [0, 0, G * t * t / 2], atol=1e-7)
    assert run.ledger.residual < 1e-7
