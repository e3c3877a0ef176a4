"""Rigid contact: closed forms, conservation, and Duindam's examples."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strut
from strut import contact
from strut.contact.switched_rows import LU, MaskedRows, SlidingRow
from strut.errors import ModelError, UnknownNameError
from strut.mechanism import Mechanism, Tree, constraints, joints, observe
from strut.system.ldl import Factors

G = 9.81


def two_corners(w=0.5, h=0.5, mass=1.0, inertia=0.1):
    m = Mechanism("box", planar=True)
    m.joint("base", m.world, m.body("box", mass, inertia=inertia), joints.planar(), actuated=False)
    return m, contact.polygon(m, "box", [(-w, 0, -h), (w, 0, -h)], name="corner")


@cache
def any_box(frictional, bouncing):
    """A box of 2 w by 2 h that touches with its lower corners, every number of it a parameter, so that it is compiled once."""
    p = {
        n: strut.Param(n, 0.5, bounds=(-1e4, 1e4))
        for n in ("w", "h", "mass", "inertia", "slope", "friction", "restitution")
    }
    m, feet = two_corners(*list(p.values())[:4])
    options = ({"friction": p["friction"]} if frictional else {}) | (
        {"restitution": p["restitution"]} if bouncing else {}
    )
    return contact.rigid(m, feet, contact.plane(p["slope"]), **options)


def box(w=0.5, h=0.5, at=(0.0, 1.0, 0.0), rate=(0.0, 0.0, 0.0), slope=0.0, **options):
    """That box, of mass 1 and homogeneous."""
    state = dict(
        zip(("base.x", "base.z", "base.pitch", "base.vx", "base.vz", "base.wy"), (*at, *rate), strict=True)
    )
    values = {"w": w, "h": h, "mass": 1.0, "inertia": (w * w + h * h) / 3, "slope": slope, **options}
    return any_box("friction" in options, "restitution" in options).using(values | state)


@cache
def any_block():
    """A point mass in space."""
    m = Mechanism("block")
    parent = m.world
    for axis in "xyz":
        body = m.body(f"carried_{axis}", 1.0 if axis == "z" else 0.0)
        m.joint(axis, parent, body, joints.prismatic(axis), actuated=axis != "z")
        parent = body
    m.frame("foot", parent)
    mu, slope = (strut.Param(n, 0.2, bounds=(0, 2)) for n in ("friction", "slope"))
    return contact.rigid(m, ["foot"], contact.plane(slope), friction=mu)


def block(rate=(0.0, 0.0), slope=0.0, friction=0.2):
    return any_block().using({"x_rate": rate[0], "y_rate": rate[1], "slope": slope, "friction": friction})


# ---- impacts ----


def chain(feet=("tip",)):
    m = Mechanism("chain", planar=True)
    parent, at = m.world, (0, 0, 0)
    for k in range(4):
        rod = m.body(f"rod{k}", 1.0 + 0.3 * k, (0.05, 0, -0.25), 0.04)
        joint = joints.planar() if k == 0 else joints.revolute()
        m.joint(f"q{k}", parent, rod, joint, at=at, actuated=False)
        m.frame(f"end{k}", rod, (0, 0, -0.5))
        parent, at = rod, (0, 0, -0.5)
    return m


def landed(walker, event, x, z, p):
    """The state after an event, from its reset."""
    names = [q.name for q in walker.x]
    reset = next(e for e in walker.events if e.name == event).reset
    arguments = [
        ca.vertcat(*[q.sym for q in getattr(walker, group)], ca.SX(0, 1)) for group in ("x", "z", "p")
    ]
    new = [
        ca.vertcat(*[reset.get(n, walker[n]) for n in names]),
        ca.vertcat(*[reset.get(q.name, q.sym) for q in walker.z]),
    ]
    return (np.array(r).reshape(-1) for r in ca.Function("f", arguments, new)(x, z, p))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**31))
def test_an_impact_stops_the_foot_and_takes_the_least_energy(seed):
    """Contact velocity zero, energy never up, the loss is the energy of the change, momentum about the contact kept."""
    rng = np.random.default_rng(seed)
    m = chain()
    floor = strut.Param("floor", 0.0, "m")
    walker, tree = contact.rigid(m, ["end3"], contact.plane(height=floor)), Tree(m)
    q, v = rng.uniform(-1, 1, tree.nq), rng.standard_normal(tree.nv)
    f = ca.Function(
        "f",
        [tree.q, tree.v, m.gravity],
        [
            tree.mass_matrix,
            observe.world_jacobian(tree, "end3")[[3, 5], :],
            observe.momentum(tree),
            observe.com(tree),
            observe.position(tree, "end3"),
        ],
    )
    if float((np.array(f(q, v, G)[1]) @ v)[1]) >= 0:
        v = -v
    height = float(np.array(f(q, v, G)[4])[2, 0])
    params = np.array([height if p.name == "floor" else p.value[0] for p in walker.p])
    after, z = landed(walker, "end3_touchdown", np.concatenate([q, v]), [0.0], params)
    v1 = after[tree.nq :]
    M, J, h, com, foot = (np.array(r) for r in f(q, v, G))
    h1 = np.array(f(q, v1, G)[2])
    speed = np.abs(v).max() * 5
    assert np.abs(J @ v1).max() < 1e-12 * speed
    assert z[0] == 1
    lost = (v @ M @ v - v1 @ M @ v1) / 2
    assert lost >= 0
    assert lost == pytest.approx((v - v1) @ M @ (v - v1) / 2, rel=1e-9, abs=1e-12)
    arm = (com - foot).reshape(-1)

    def about_foot(h):
        return h[1, 0] + arm[2] * h[3, 0] - arm[0] * h[5, 0]

    assert about_foot(h1) == pytest.approx(about_foot(h), abs=1e-13 * 100 * speed)


def test_rocking_closets_thresholds():
    """A box on one corner lands on the other: it rocks on if h^2 - w^2 > -J/m, and stands still otherwise."""
    w, mass = 0.5, 2.0
    for h, inertia, rocks in (
        (0.51, 1e-4, True),
        (0.49, 1e-4, False),
        (0.36, None, True),
        (0.35, None, False),
    ):
        J = mass / 3 * (w * w + h * h) if inertia is None else inertia
        walker = box(w=w, h=h, mass=mass, inertia=J, at=(0, h, 0.0))
        omega = 0.7  # about the left corner, clockwise
        x = np.array([0, h, 0.0, h * omega, -w * omega, omega])
        after, z = landed(walker, "corner_1_touchdown", x, [1.0, 0.0], [p.value[0] for p in walker.p])
        assert z[1] == 1
        assert bool(z[0]) != rocks
        vx, vz, wy = after[3:]
        lift = vz + w * wy
        if rocks:
            assert lift == pytest.approx(
                2 * w * (J + mass * (h * h - w * w)) / (J + mass * (h * h + w * w)) * omega, rel=1e-9
            )
        else:
            np.testing.assert_allclose([vx, vz, wy], 0, atol=1e-12)


def test_release_by_force_and_by_acceleration_differ_in_duindams_example():
    """Two unit links with unit masses in their middles, 1 N at the second: the foot pulls, yet let go it would go deeper."""
    m = Mechanism("links", planar=True, g=0.0)
    one = m.body("one", 1.0, (0, 0, -0.5))
    two = m.body("two", 1.0, (0, 0, -0.5))
    angle = (0.0, -1.0, 0.0)
    m.joint("a", m.world, one, joints.revolute(angle), at=(0, 0, 0), initial=np.pi / 4)
    m.joint("b", one, two, joints.revolute(angle), at=(0, 0, -1), initial=np.pi / 2)
    m.frame("tip", two, (0, 0, -1))
    tree = Tree(m)
    K = observe.world_jacobian(tree, "tip")[[3, 5], :]
    middle = m.frame("middle", two, (0, 0, -0.5))
    push = observe.world_jacobian(tree, middle.name)[3, :].T
    f = ca.Function("f", [tree.q, tree.v], [tree.mass_matrix, K, push])
    q = [np.pi / 4, np.pi / 2]
    M, J, tau = (np.array(r) for r in f(q, [0, 0]))
    np.testing.assert_allclose(np.abs(tau.reshape(-1)), np.sqrt(2) / 4, atol=1e-12)
    masked = MaskedRows(tree.factors, K)
    loose = np.linalg.solve(M, tau)
    free = (J @ loose).reshape(-1)
    g = ca.Function("g", [tree.q], [masked.forces(ca.DM(-free), ca.SX.ones(2))])
    force = np.array(g(q)).reshape(-1)
    np.testing.assert_allclose(np.abs(free), [7 / 5, 3 / 5], atol=1e-12)
    np.testing.assert_allclose(np.abs(force), [3 / 4, 1 / 4], atol=1e-12)
    assert force[1] < 0  # pulls
    assert free[1] < 0  # and would go down
    floor = float(np.array(ca.Function("p", [tree.q], [observe.position(tree, "tip")[2]])(q)).item())
    torques = {"a_torque": float(tau[0, 0]), "b_torque": float(tau[1, 0])}
    for rule, stays in (("force", False), ("acceleration", True)):
        walker = contact.rigid(_links(), ["tip"], contact.plane(height=floor), release=rule).using(torques)
        run = strut.simulate(walker, t=1e-3)
        assert bool(run["tip_on"][-1] > 0) is stays, rule
        assert run["tip_gap"].min() > (-1e-10 if stays else -1e-5)


def _links():
    m = Mechanism("links", planar=True, g=0.0)
    angle = (0.0, -1.0, 0.0)
    one, two = m.body("one", 1.0, (0, 0, -0.5)), m.body("two", 1.0, (0, 0, -0.5))
    m.joint("a", m.world, one, joints.revolute(angle), initial=np.pi / 4)
    m.joint("b", one, two, joints.revolute(angle), at=(0, 0, -1), initial=np.pi / 2)
    m.frame("tip", two, (0, 0, -1))
    return m


@pytest.mark.parametrize(
    ("supports", "com", "push", "left"),
    [
        ((-0.5, 0.5), 0.0, None, (1, 1)),  # a bar on two supports: both stay
        ((-0.5, 0.5), 0.0, (0.0, 11.0), (0, 0)),  # pushed up: both let go
        ((-0.5, -0.2), 0.0, None, (0, 1)),  # both left of the mass: the nearer one stays, the bar turns
    ],
)
def test_two_points_let_go_as_they_should(supports, com, push, left):
    m = Mechanism("bar", planar=True, g=10.0)
    bar = m.body("bar", 1.0, (com, 0, 0), 1 / 3)
    rail = m.body("rail")
    m.joint("x", m.world, rail, joints.prismatic("x"))
    lift = m.body("lift")
    m.joint("z", rail, lift, joints.prismatic("z"))
    m.joint("turn", lift, bar, joints.revolute())
    feet = contact.polygon(m, "bar", [(x, 0, 0) for x in supports], name="support")
    walker = contact.rigid(m, feet, release="acceleration").using({"z_force": push[1] if push else 0.0})
    run = strut.simulate(walker, t=0.01)
    assert (run["support_0_on"][-1], run["support_1_on"][-1]) == left


# ---- boxes ----


def test_a_box_falls_lands_flat_and_rests():
    run = strut.simulate(box(), t=60.0)
    assert run.events.t[0] == pytest.approx(np.sqrt(2 * 0.5 / G), abs=1e-12)
    assert run["base.z"][-1] == pytest.approx(0.5, abs=1e-12)
    np.testing.assert_allclose([run["corner_0_normal"][-1], run["corner_1_normal"][-1]], G / 2, rtol=1e-9)
    assert run.ledger.lost["corner_0_touchdown"][-1] == pytest.approx(G * 0.5, rel=1e-12)
    assert run.ledger.residual < 1e-11


@pytest.mark.parametrize(("mu", "slides"), [(0.51, False), (0.49, True)])
def test_sticking_and_sliding_on_a_slope(mu, slides):
    """tan(slope) = 0.5: a wide, low box holds above that coefficient, and slides with g (sin - mu cos) below it."""
    slope = np.arctan(0.5)
    n, t = np.array([np.sin(slope), np.cos(slope)]), np.array([np.cos(slope), -np.sin(slope)])
    centre = 0.1 * n
    run = strut.simulate(box(w=0.5, h=0.1, at=(*centre, slope), slope=slope, friction=mu), t=2.0)
    moved = (run["base.x"][-1] - centre[0]) * t[0] + (run["base.z"][-1] - centre[1]) * t[1]
    expected = G * (np.sin(slope) - mu * np.cos(slope)) * 2.0**2 / 2 if slides else 0.0
    assert moved == pytest.approx(expected, abs=1e-8)
    total = run["corner_0_normal"][-1] + run["corner_1_normal"][-1]
    assert total == pytest.approx(G * np.cos(slope), rel=1e-8)
    if slides:
        heat = sum(run.ledger.dissipated[f"corner_{k}_friction"][-1] for k in (0, 1))
        assert heat == pytest.approx(mu * G * np.cos(slope) * moved, rel=1e-7)
    assert run.ledger.residual < 1e-9


def test_a_thrown_box_slides_to_rest():
    """v^2 / (2 mu g)."""
    run = strut.simulate(box(w=2.0, h=0.1, at=(0, 0.1, 0), rate=(1.0, 0, 0), friction=0.3), t=3.0)
    assert run["base.x"][-1] == pytest.approx(1 / (2 * 0.3 * G), rel=1e-8)
    assert run.events.times("corner_0_stick")[0] == pytest.approx(1 / (0.3 * G), rel=1e-8)


def test_bouncing_is_newtons_and_ends():
    e, h = 0.5, 0.5
    run = strut.simulate(box(restitution=e), t=3.0)
    first = np.sqrt(2 * h / G)
    bounces = run.events.times("corner_0_touchdown")
    assert bounces[1] - bounces[0] == pytest.approx(2 * e * np.sqrt(2 * h / G), rel=1e-9)
    assert run.status == "done"
    assert run.t1 == 3.0
    assert bounces[-1] == pytest.approx(first + 2 * first * e / (1 - e), abs=1e-5)
    assert run["corner_0_on"][-1] == 1


def test_rocking_ends():
    run = strut.simulate(box(at=(0, 1.0, 0.1)), t=5.0)
    assert run.status == "done"
    assert run["base.pitch"][-1] == pytest.approx(0, abs=1e-9)
    assert run.ledger.residual < 1e-10


def test_redundant_contacts_rest_without_drift():
    """A plank on four points: eight rows, three of them independent."""
    m = Mechanism("plank", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("plank", 6.0, inertia=2.0),
        joints.planar(),
        initial=(0, 0.1, 0),
        actuated=False,
    )
    feet = contact.polygon(m, "plank", [(x, 0, -0.1) for x in np.linspace(-1, 1, 4)], name="p")
    run = strut.simulate(contact.rigid(m, feet, friction=0.5), t=60.0)
    np.testing.assert_allclose([run[f"p_{k}_normal"][-1] for k in range(4)], 1.5 * G, rtol=1e-6)
    for name in ("base.x", "base.pitch"):
        assert abs(run[name][-1]) < 1e-10
    assert run["base.z"][-1] == pytest.approx(0.1, abs=1e-10)


def test_a_stack_rests():
    """Two blocks on rails: the upper one's contact is with the lower one's frame, as a loop it can leave is not; so its
    weight goes through the lower one's feet."""
    m = Mechanism("stack", planar=True)
    low = m.body("low", 2.0, inertia=0.5)
    m.joint("base", m.world, low, joints.planar(), initial=(0, 0.2, 0), actuated=False)
    high = m.body("high", 1.0)
    m.joint(
        "slide",
        low,
        high,
        joints.prismatic("z"),
        at=(0, 0, 0.2),
        initial=0.0,
        actuated=False,
        stop=strut.mechanism.Stop(0.0, 1.0, 1e5, 1e4),
    )
    feet = contact.polygon(m, "low", [(-0.5, 0, -0.2), (0.5, 0, -0.2)], name="foot")
    run = strut.simulate(contact.rigid(m, feet, friction=0.6), t=60.0)
    assert run["foot_0_normal"][-1] + run["foot_1_normal"][-1] == pytest.approx(3 * G, rel=1e-6)
    assert abs(run["base.x"][-1]) < 1e-9


# ---- in space ----


def test_sliding_in_space_follows_the_velocity():
    """A puck thrown across a level floor goes straight, by v^2 / (2 mu g); on a slope it turns downhill."""
    run = strut.simulate(block(rate=(0.6, 0.8), friction=0.2), t=1.0)
    distance = 1 / (2 * 0.2 * G)
    assert run["x"][-1] == pytest.approx(0.6 * distance, rel=1e-6)
    assert run["y"][-1] == pytest.approx(0.8 * distance, rel=1e-6)
    assert run.ledger.dissipated["foot_friction"][-1] == pytest.approx(0.5, rel=1e-6)
    slope = 0.3
    steep = strut.simulate(block(rate=(0.0, 1.0), slope=slope, friction=0.2), t=2.0)
    assert steep["x"][-1] > 0.5
    speeds = np.array([steep[f"{a}_rate"][-1] for a in "xy"])
    assert speeds[1] < 0.5 < speeds[0]  # the sideways motion is braked, the fall goes on
    assert steep.ledger.residual < 1e-8


def test_a_ball_rolls_down_a_slope():
    """5/7 g sin for a solid sphere that does not slip."""
    m = Mechanism("ball")
    radius, slope = 0.3, 0.2
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    body = m.body("ball", 2.0, inertia=0.4 * 2.0 * radius**2)
    m.joint("base", m.world, body, joints.free(), initial=(*(radius * normal), 0, 0, 0, 1), actuated=False)
    # a body's name means its own frame
    run = strut.simulate(contact.rigid(m, [contact.sphere("ball", radius)], contact.plane(slope)), t=2.0)
    along = run["base.x"][-1] * np.cos(slope) - run["base.z"][-1] * np.sin(slope)
    assert along == pytest.approx(5 / 7 * G * np.sin(slope) * 2.0, rel=1e-8)
    assert run.ledger.residual < 1e-9


def test_a_cylinder_rolls_on_its_side():
    """2/3 g sin for a solid one, on two circles whose rows repeat each other."""
    m = Mechanism("roller")
    radius, slope = 0.3, 0.1
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    body = m.body("roller", 2.0, inertia=(0.3, 2.0 * radius**2 / 2, 0.3))
    m.joint("base", m.world, body, joints.free(), initial=(*(radius * normal), 0, 0, 0, 1), actuated=False)
    feet = contact.cylinder(m, "roller", radius, 0.8)
    run = strut.simulate(contact.rigid(m, feet, contact.plane(slope)), t=1.0)
    along = run["base.x"][-1] * np.cos(slope) - run["base.z"][-1] * np.sin(slope)
    assert along == pytest.approx(2 / 3 * G * np.sin(slope) / 2, rel=1e-7)


# ---- ground ----


def test_landing_on_a_profile():
    ground = contact.profile(lambda x, y: 0.2 * ca.sin(x))
    m = Mechanism("pebble", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("pebble", 1.0, inertia=1e-3),
        joints.planar(),
        initial=(0.7, 2.0, 0),
        actuated=False,
    )
    m.frame("foot", m.bodies["pebble"])
    run = strut.simulate(contact.rigid(m, ["foot"], ground), t=2.0)
    assert run.events.t[0] == pytest.approx(np.sqrt(2 * (2 - 0.2 * np.sin(0.7)) / G), abs=1e-10)
    assert run["base.z"][-1] == pytest.approx(0.2 * np.sin(0.7), abs=1e-9)


def test_a_bead_slides_along_a_profile_without_losing_energy():
    ground = contact.profile(lambda x, y: 0.2 * ca.cos(x))
    m = Mechanism("bead", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("bead", 1.0, inertia=1e-3),
        joints.planar(),
        initial=(2.0, 0.2 * np.cos(2.0), 0),
        actuated=False,
    )
    m.frame("foot", m.bodies["bead"])
    run = strut.simulate(contact.rigid(m, ["foot"], ground, friction=0.0), t=5.0)
    assert run["foot_on"][-1] == 1
    assert np.abs(run["foot_gap"]).max() < 1e-9
    kinetic, gravity = run.ledger.stored["kinetic"], run.ledger.stored["gravity"]
    np.testing.assert_allclose(kinetic + gravity, gravity[0], atol=1e-8)


def test_stairs_are_stepped_down():
    m = Mechanism("sledge", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("sledge", 1.0, inertia=1e-3),
        joints.planar(),
        initial=(0.0, 0.0, 0),
        rate=(1.0, 0, 0),
        actuated=False,
    )
    m.frame("foot", m.bodies["sledge"])
    ground = contact.stairs([(1.0, -0.3)])
    run = strut.simulate(contact.rigid(m, ["foot"], ground, friction=0.0, fall=("foot", -0.1)), t=2.0)
    assert run["base.z"][-1] == pytest.approx(-0.3, abs=1e-9)


# ---- with loops, masks and mistakes ----


def test_loops_and_contacts_together():
    """A closed four-bar dropped on its feet: the loop stays closed through the impact."""
    m = Mechanism("frame", planar=True)
    base = m.body("top", 1.0, inertia=0.1)
    m.joint("base", m.world, base, joints.planar(), initial=(0, 1.2, 0), actuated=False)
    left = m.body("left", 0.5, (0, 0, -0.5), 0.05)
    right = m.body("right", 0.5, (0, 0, -0.5), 0.05)
    m.joint("a", base, left, joints.revolute(), at=(-0.3, 0, 0), initial=0.1, actuated=False)
    m.joint("b", base, right, joints.revolute(), at=(0.3, 0, 0), initial=0.1, actuated=False)
    low = m.body("low", 0.3, (0.3, 0, 0), 0.01)
    m.joint("c", left, low, joints.revolute(), at=(0, 0, -1), initial=-0.1, actuated=False)
    m.frame("end", low, (0.6, 0, 0))
    m.frame("foot", right, (0, 0, -1))
    m.frame("other", left, (0, 0, -1))
    m.constrain(constraints.point("loop", "end", "foot"))
    run = strut.simulate(contact.rigid(m, ["foot", "other"], friction=0.8), t=0.6)
    assert {e.name for e in run.events} & {"foot_touchdown", "other_touchdown"}
    assert run["closure_error"].max() < 1e-9
    assert min(run["foot_gap"].min(), run["other_gap"].min()) > -1e-8
    assert run.ledger.residual < 1e-8


def test_sliding_rows_follow_the_normal_force():
    rng = np.random.default_rng(0)
    M = rng.standard_normal((4, 4))
    M = M @ M.T + 4 * np.eye(4)
    K = rng.standard_normal((2, 4))
    masked = MaskedRows(Factors(ca.SX(M)), ca.SX(K))
    force = np.array(
        ca.DM(masked.forces(ca.SX([1.0, 2.0]), ca.SX.ones(2), (SlidingRow(1, 0, ca.SX(1), ca.SX(-0.3)),)))
    ).reshape(-1)
    assert force[1] == pytest.approx(-0.3 * force[0])
    assert (K @ np.linalg.solve(M, K.T) @ force)[0] == pytest.approx(1.0)
    off = np.array(ca.DM(masked.forces(ca.SX([1.0, 2.0]), ca.SX([1.0, 0.0])))).reshape(-1)
    assert off[1] == 0
    A = rng.standard_normal((5, 5)) + 5 * np.eye(5)
    np.testing.assert_allclose(
        np.array(ca.DM(LU(ca.SX(A)).solve(ca.SX(np.ones(5))))).reshape(-1),
        np.linalg.solve(A, np.ones(5)),
        rtol=1e-12,
    )


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"release": "gently"}, ModelError, "release 'gently' is unknown"),
        ({"scuffing": "maybe"}, ModelError, "scuffing 'maybe' is unknown"),
        ({"arm": {"toe": lambda tree: 0}}, UnknownNameError, "there is no foot 'toe' to arm"),
        ({"locks": [contact.KneeLock("base", "corner_0")]}, ModelError, "'base' cannot lock"),
        ({"locks": [contact.KneeLock("base", "toe")]}, UnknownNameError, "opens with foot 'toe'"),
    ],
)
def test_mistakes_are_explained(options, error, message):
    m, feet = two_corners()
    with pytest.raises(error, match=message):
        contact.rigid(m, feet, **options)


def test_feet_that_do_not_exist_or_stand_twice():
    m = chain()
    with pytest.raises(UnknownNameError, match="no frame or body 'toe'"):
        contact.rigid(m, ["toe"])
    with pytest.raises(ModelError, match="two contacts are called 'end3'"):
        contact.rigid(m, ["end3", "end3"])
    with pytest.raises(ModelError, match="nothing can touch the ground"):
        contact.rigid(m, [])


# ---- friction, thoroughly ----


def test_a_block_at_rest_in_space_begins_to_slide():
    """Down a slope steeper than friction holds, and under a push on level ground: from rest, along the pull."""
    slope, mu = 0.5, 0.2
    run = strut.simulate(block(slope=slope, friction=mu), t=1.0)
    expected = G * (np.sin(slope) - mu * np.cos(slope)) / 2
    assert run.status == "done"
    assert np.hypot(run["x"][-1], run["z"][-1]) == pytest.approx(expected, rel=1e-6)
    pushed = strut.simulate(block(friction=mu), t=1.0, u={"x_force": 1.8, "y_force": 2.4})
    assert [pushed["x"][-1], pushed["y"][-1]] == pytest.approx(
        [0.6 * (3 - mu * G) / 2, 0.8 * (3 - mu * G) / 2], rel=1e-6
    )


@pytest.mark.parametrize("h", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("mu", [0.2, 0.4])
def test_landing_flat_with_speed_takes_what_friction_allows(h, mu):
    """Both corners land at once: the tangential impulse is mu times the normal one."""
    run = strut.simulate(box(w=0.5, h=h, at=(0, h + 0.2, 0), rate=(3.0, 0, 0), friction=mu), t=0.25)
    assert run["base.vx"][-1] == pytest.approx(
        3.0 - mu * np.sqrt(2 * G * 0.2) - mu * G * (0.25 - np.sqrt(0.4 / G)), rel=1e-7
    )


def test_friction_at_impact_opposes_what_slides_after_it():
    """A rod falls on its end at rest: which way it slides does not hang on the sign of nothing."""
    m = Mechanism("rod", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("rod", 1.0, inertia=1 / 12),
        joints.planar(),
        initial=(0, 1.0, 0.6),
        actuated=False,
    )
    m.frame("end", m.bodies["rod"], (0.5, 0, 0))
    walker = contact.rigid(m, ["end"], friction=0.3)
    ends = [strut.simulate(walker, t=0.45, x0={"base.vx": v})["base.wy"][-1] for v in (-1e-6, 1e-6)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-4)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**31))
def test_boxes_with_friction_and_bouncing_never_gain_energy(seed):
    rng = np.random.default_rng(seed)
    walker = tumbling().using(
        friction=rng.uniform(0, 1.2), restitution=rng.uniform(0, 0.8), slope=rng.uniform(0, 0.5)
    )
    x0 = {
        "base.z": 1.2,
        "base.pitch": rng.uniform(-3, 3),
        "base.vx": rng.uniform(-2, 2),
        "base.wy": rng.uniform(-5, 5),
    }
    run = strut.simulate(walker, t=1.5, x0=x0, max_steps=20_000)
    assert run.status == "done"
    total = sum(run.ledger.stored.values())
    assert np.diff(total).max() < 1e-7
    assert min(run[f"c_{k}_gap"].min() for k in range(4)) > -1e-7
    assert run.ledger.residual < 1e-6


@cache
def tumbling():
    """A box with four corners."""
    m = Mechanism("tumbling", planar=True)
    m.joint(
        "base", m.world, m.body("box", 1.0, inertia=0.1), joints.planar(), initial=(0, 1.2, 0), actuated=False
    )
    feet = contact.polygon(m, "box", [(x, 0, z) for x in (-0.3, 0.3) for z in (-0.2, 0.2)], name="c")
    p = [
        strut.Param(n, v, bounds=(0, 2)) for n, v in (("friction", 0.5), ("restitution", 0.0), ("slope", 0.0))
    ]
    return contact.rigid(m, feet, contact.plane(p[2]), friction=p[0], restitution=p[1])


def test_a_ball_rolls_over_hills_and_spins_up_by_friction():
    """On a profile the gap stays closed; on a slope steeper than friction holds a ball slides at the textbook rate."""
    ground = contact.profile(lambda x, y: 0.2 * ca.cos(x))
    m = Mechanism("ball", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("ball", 1.0, inertia=0.4 * 0.01),
        joints.planar(),
        initial=(0.0, 0.3, 0),
        rate=(1.0, 0, 10.0),
        actuated=False,
    )
    m.frame("centre", m.bodies["ball"])
    run = strut.simulate(contact.rigid(m, [contact.arc("centre", 0.1)], ground, friction=0.0), t=2.0)
    assert np.abs(run["centre_gap"]).max() < 1e-9
    assert run.ledger.residual < 1e-9


def test_flags_follow_the_state_a_run_begins_with():
    """Built standing, begun in the air: it flies. Built in the air, begun on the ground: it stands."""
    standing = box(at=(0, 0.5, 0))
    flying = strut.simulate(standing, t=0.2, x0={"base.z": 2.0, "base.vx": 3.0})
    assert flying["base.x"][-1] == pytest.approx(0.6)
    assert not len(flying.events)
    resting = strut.simulate(box(at=(0, 2.0, 0), friction=0.4), t=1.0, x0={"base.z": 0.5})
    assert resting["base.z"][-1] == pytest.approx(0.5, abs=1e-12)
    thrown = strut.simulate(box(w=2.0, h=0.1, friction=0.3), t=3.0, x0={"base.z": 0.1, "base.vx": 1.0})
    assert thrown["base.x"][-1] == pytest.approx(1 / (2 * 0.3 * G), rel=1e-8)


def test_steps_up_and_down_end_or_drop():
    m = Mechanism("sledge", planar=True)
    m.joint(
        "base",
        m.world,
        m.body("sledge", 1.0, inertia=1e-3),
        joints.planar(),
        rate=(1.0, 0, 0),
        actuated=False,
    )
    m.frame("foot", m.bodies["sledge"])
    up = strut.simulate(contact.rigid(m, ["foot"], contact.stairs([(1.0, 0.1)]), friction=0.0), t=3.0)
    assert up.status == "foot_inside"
    down = strut.simulate(contact.rigid(m, ["foot"], contact.stairs([(1.0, -0.3)]), friction=0.0), t=3.0)
    assert down.events.times("foot_touchdown")[0] == pytest.approx(1.0 + np.sqrt(0.6 / G), abs=1e-3)
    assert down.ledger.residual < 2e-3  # it leaves the edge a tenth of a millimetre late
