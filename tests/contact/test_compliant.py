"""Compliant contact against closed forms."""

import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import strut
from strut import Param, contact
from strut.errors import ModelError
from strut.mechanism import Mechanism, joints
from tests.contact.machines import G, ball, box, brick, rod, weight

SLOPE, SPOKES = 0.08, 8
CLOSED = 1e-9  # of the energy that moved: what the books may leave unexplained at the default tolerances
ROUNDING = 1e-9  # [N]: an event is located to rounding, and the force there is zero to as much

LAWS = {
    "linear": contact.linear(2e3, 20.0),
    "elastic": contact.linear(2e3),
    "hunt_crossley": contact.hunt_crossley(1e4, 0.2),
    "hertz": contact.hertz(1e5, 300.0),
    "cubic": contact.cubic(1e7, 1e6),
    "capped": contact.cubic(1e7, 1e5, cap=60.0),
    "geyer": contact.geyer(2e3, 0.3),
}


def number(expression):
    return float(ca.DM(expression))


# ---- laws ----


@pytest.mark.parametrize("name", LAWS)
@given(depth=st.floats(-0.1, 0.1), rate=st.floats(-5, 5))
@settings(max_examples=60, deadline=None)
def test_ground_never_pulls_and_never_gives(name, depth, rate):
    law = LAWS[name]
    assert number(law.force(depth, rate)) >= 0
    assert number(law.dissipated_power(depth, rate)) >= -1e-12
    assert number(law.energy(ca.SX(max(depth, 0.0)))) >= 0
    if depth <= 0:
        assert number(law.force(depth, rate)) == 0


@pytest.mark.parametrize("name", LAWS)
def test_energy_is_the_integral_of_the_elastic_force(name):
    law, depth = LAWS[name], ca.SX.sym("depth")
    slope = ca.Function("slope", [depth], [ca.jacobian(law.energy(depth), depth) - law.elastic(depth)])
    assert max(abs(float(slope(x))) for x in np.linspace(1e-4, 0.05, 31)) < 1e-9


def test_grip_has_the_sign_of_the_force():
    depth, rate = ca.SX.sym("depth"), ca.SX.sym("rate")
    for law in LAWS.values():
        if law.grip is not None:
            both = ca.Function(
                "f", [depth, rate], [law.grip(depth, rate), law.elastic(depth) + law.damping(depth) * rate]
            )
            for x in (1e-3, 0.02, 0.09):
                for r in np.linspace(-9, 3, 25):
                    grip, force = (float(e) for e in both(x, r))
                    assert grip * force > 0 or abs(force) < 1e-9


def test_hertz_from_modulus_and_radius():
    assert number(contact.hertz(modulus=1e6, radius=0.04).elastic(ca.SX(0.01))) == pytest.approx(
        4 / 3 * 1e6 * 0.2 * 1e-3
    )


def test_bad_laws_are_refused():
    for wrong in (
        lambda: contact.linear(0.0),
        lambda: contact.linear(10, -1),
        lambda: contact.anchored(1.0, 0.0, 0.5),
    ):
        with pytest.raises(ModelError, match="must"):
            wrong()
    with pytest.raises(ModelError, match="stiffness, or a modulus"):
        contact.hertz(damping=3)
    with pytest.raises(ModelError, match="law of compliant contact"):
        contact.compliant(weight(), ["foot"], law=3.0)
    with pytest.raises(ModelError, match="friction of compliant contact"):
        contact.compliant(weight(), ["foot"], law=contact.linear(1e3), friction=0.5)


# ---- one mass, closed forms ----


def test_a_dropped_mass_follows_the_damped_oscillator():
    k, d, m, h = 1000.0, 8.0, 1.0, 0.5
    system = contact.compliant(weight(m, h), ["foot"], law=contact.linear(k, d))
    run = strut.simulate(system, t=1.0)
    touch = run.events.times("foot_touchdown")[0]
    assert touch == pytest.approx(math.sqrt(2 * h / G), rel=1e-10)
    w0, decay = math.sqrt(k / m), d / (2 * m)
    w = math.sqrt(w0**2 - decay**2)
    speed, rest = -math.sqrt(2 * G * h), -m * G / k
    t = np.linspace(0, run.events.times("foot_slack")[0] - touch, 40)
    a = -rest
    b = (speed + decay * a) / w
    exact = rest + np.exp(-decay * t) * (a * np.cos(w * t) + b * np.sin(w * t))
    np.testing.assert_allclose(run.at(touch + t)["z"], exact, atol=1e-9)
    assert run["foot_normal"].min() > -ROUNDING
    assert run.ledger.residual < CLOSED * run.ledger.turnover


def test_a_mass_that_leaves_too_fast_is_let_go_inside_the_ground():
    run = strut.simulate(contact.compliant(weight(), ["foot"], law=contact.linear(1000.0, 30.0)), t=1.0)
    names = [e.name for e in run.events]
    assert names[:3] == ["foot_touchdown", "foot_slack", "foot_liftoff"]
    slack, off = run.events[1], run.events[2]
    assert slack.before["z"] < -1e-3
    inside = np.linspace(slack.t, off.t, 20)[1:-1]
    assert np.all(run.at(inside)["foot_normal"] == 0)
    assert run.ledger_at(off.t).lost["foot_slack"] == pytest.approx(
        1000.0 * slack.before["z"] ** 2 / 2, rel=1e-8
    )  # all that the ground still held


@pytest.mark.parametrize(
    ("mass", "k", "d", "zeta", "e"),
    [(0.6, 1200, 1, 0.01863, 0.943), (0.3, 500, 1.5, 0.06124, 0.825), (0.4, 600, 1.8, 0.05809, 0.833)],
)
def test_pogo_masses(mass, k, d, zeta, e):
    """Kieboom's bouncing masses: restitution exp(-pi zeta / sqrt(1 - zeta^2)) without gravity, rest at -m g / k."""
    assert d / (2 * math.sqrt(k * mass)) == pytest.approx(zeta, rel=1e-3)
    assert math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2)) == pytest.approx(e, abs=6e-4)
    system = contact.compliant(weight(mass, 0.0), ["foot"], law=contact.linear(k, d))
    v = 100.0  # fast enough for gravity to be nothing
    run = strut.simulate(system, t=0.5, x0={"z": 0.1, "z_rate": -v})
    out = run.events[[n.name for n in run.events].index("foot_liftoff")].after["z_rate"]
    # the mass leaves where the force ends, a little before the spring is at rest
    angle = math.pi - math.atan2(2 * zeta * math.sqrt(1 - zeta**2), 1 - 2 * zeta**2)
    assert out / v == pytest.approx(math.exp(-zeta / math.sqrt(1 - zeta**2) * angle), rel=2e-3)
    assert out / v == pytest.approx(e, rel=0.015)
    rest = strut.simulate(system, t=60.0)
    assert rest["z"][-1] == pytest.approx(-mass * G / k, rel=1e-6)


def test_hunt_crossley_restitution():
    """1 - a v for slow impacts; the error is of order (a v)^2."""
    a = 0.3
    system = contact.compliant(weight(1.0, 0.0), ["foot"], law=contact.hunt_crossley(1e7, a)).using(g=0.0)
    for v in (0.02, 0.1, 0.4):
        run = strut.simulate(system, t=1.0, x0={"z": 1e-3, "z_rate": -v})
        restitution = run["z_rate"][-1] / v
        assert abs(restitution - (1 - a * v)) < 1.5 * (a * v) ** 2
        assert run.events.counts() == {"foot_touchdown": 1, "foot_liftoff": 1}


def test_hertz_contact_lasts_as_long_as_it_should():
    """2.94 delta_max / v, delta_max = (5 m v^2 / (4 k))^(2/5): 2.94 is 2 int_0^1 (1 - x^2.5)^-1/2 dx."""
    m, k, v = 0.7, 1e6, 0.8
    system = contact.compliant(weight(m, 0.0), ["foot"], law=contact.hertz(k)).using(g=0.0)
    run = strut.simulate(system, t=0.5, x0={"z": 0.01, "z_rate": -v})
    down, up = run.events.times("foot_touchdown")[0], run.events.times("foot_liftoff")[0]
    factor = 2 * math.sqrt(math.pi) * math.gamma(0.4) / (2.5 * math.gamma(0.9))
    assert factor == pytest.approx(2.9433, abs=1e-4)
    assert up - down == pytest.approx(factor * (5 * m * v**2 / (4 * k)) ** 0.4 / v, rel=1e-6)
    assert run["z_rate"][-1] == pytest.approx(v, rel=1e-8)


@pytest.mark.parametrize(
    ("law", "depth"), [(contact.linear(203600.0, 1006.0), 0.137e-3), (contact.hertz(400e3, 400.0), 1.69e-3)]
)
def test_coman_at_rest(law, depth):
    """28.36 kg on ten points."""
    m, feet = box(28.36, 0.2, height=0.1, points=10)
    run = strut.simulate(contact.compliant(m, feet, law=law), t=8.0)
    assert 0.1 - run["base.z"][-1] == pytest.approx(depth, rel=5e-3)
    assert sum(run[f"{f}_normal"][-1] for f in feet) == pytest.approx(28.36 * G, rel=1e-6)


@pytest.mark.parametrize("name", LAWS)
def test_books_close_and_say_where_the_energy_went(name):
    system = contact.compliant(weight(), ["foot"], law=LAWS[name], friction=contact.anchored(2e3, 40.0, 0.4))
    run = strut.simulate(system, t=2.5, x0={"x_rate": 1.0})
    books = run.ledger
    assert books.residual < CLOSED * books.turnover
    spent = sum(b[-1] for b in (*books.dissipated.values(), *books.lost.values()))
    before, after = (sum(b[k] for b in books.stored.values()) for k in (0, -1))
    assert spent == pytest.approx(before - after, rel=1e-6)
    for book in books.dissipated.values():
        assert np.diff(book).min() > -1e-9
    assert run["foot_normal"].min() > -ROUNDING


def test_parameters_stay_symbols():
    k, mu = Param("k", 1e3, "N/m"), Param("mu", 0.3)
    system = contact.compliant(
        weight(), ["foot"], law=contact.linear(k, 80.0), friction=contact.anchored(k, 50.0, mu)
    )
    run = strut.simulate(system, t=5.0, p={"k": 4e3})
    assert run["z"][-1] == pytest.approx(-G / 4e3, rel=1e-6)


def test_a_run_may_begin_inside_the_ground():
    system = contact.compliant(weight(), ["foot"], law=contact.linear(1e3, 30.0))
    run = strut.simulate(system, t=5.0, x0={"z": -0.02})
    assert run["z"][-1] == pytest.approx(-G / 1e3, rel=1e-6)
    assert run.ledger.residual < CLOSED * run.ledger.turnover


# ---- friction ----

STICKY = contact.linear(2e5, 800.0)


@pytest.mark.parametrize("mu", [0.2, 0.3])
def test_a_block_slides_down_a_slope_that_is_too_steep(mu):
    slope = math.atan(0.5)
    start = {"z": -2.0 * 0.5, "x": 2.0}
    system = contact.compliant(
        weight(),
        ["foot"],
        contact.plane(slope),
        law=STICKY,
        friction=contact.anchored(2e5, 800.0, mu),
    )
    run = strut.simulate(system, t=1.0, x0=start)
    t = np.linspace(0.5, 1.0, 11)
    speed = run.at(t)["x_rate"] / math.cos(slope)
    np.testing.assert_allclose(
        np.diff(speed) / np.diff(t), G * (math.sin(slope) - mu * math.cos(slope)), rtol=1e-6
    )
    assert run["foot_slip"][-1] == 1
    friction = run.ledger.dissipated["foot_friction"]
    assert friction[-1] > 0
    assert run.ledger.residual < CLOSED * run.ledger.turnover


def test_a_block_holds_on_a_slope_and_stays_where_it_is():
    slope, k = math.atan(0.5), 2e5
    system = contact.compliant(
        weight(),
        ["foot"],
        contact.plane(slope),
        law=STICKY,
        friction=contact.anchored(k, 800.0, 0.6),
    )
    run = strut.simulate(system, t=20.0, x0={"z": -1.0, "x": 2.0})
    moved = np.hypot(run["x"][-1] - 2.0, run["z"][-1] + 1.0)
    assert run["foot_strain"][-1] == pytest.approx(G * math.sin(slope) / k, rel=1e-6)
    assert moved == pytest.approx(G / k, rel=1e-3)  # along and into the ground together
    late = run.at(np.linspace(10, 20, 50))["x"]
    assert np.ptp(late) < 1e-10
    assert run["foot_slip"][-1] == 0
    assert run["foot_friction"][-1] == pytest.approx(-G * math.sin(slope), rel=1e-6)


def test_a_pushed_block_stops_after_the_right_distance():
    mu, v, k = 0.4, 2.0, 1e6
    system = contact.compliant(
        weight(), ["foot"], law=contact.linear(k, 2e3), friction=contact.anchored(k, 2e3, mu)
    )
    run = strut.simulate(system, t=2.0, x0={"z": -G / k, "x_rate": v})
    assert run["x"][-1] == pytest.approx(v**2 / (2 * mu * G), abs=3 * mu * G / k + v * 2e3 / k * 0.01)
    assert run["foot_slip"][0] == 1  # it begins sliding
    assert run.events.counts()["foot_stick"] >= 1
    assert run.ledger.dissipated["foot_friction"][-1] == pytest.approx(v**2 / 2, rel=1e-4)


def test_strain_at_liftoff_is_lost_and_booked():
    """A bouncing block is pushed sideways while it holds on: the spring along the ground is let go with what it stores."""
    run = strut.simulate(
        contact.compliant(
            weight(), ["foot"], law=contact.linear(2e3), friction=contact.anchored(200.0, 1.0, 5.0)
        ),
        t=1.0,
        x0={"x_rate": 0.3},
    )
    assert run.events.counts()["foot_liftoff"] >= 1
    assert run.ledger.lost["foot_strain"][-1] > 1e-4
    assert run.ledger.residual < CLOSED * run.ledger.turnover
    off = run.events[[e.name for e in run.events].index("foot_liftoff")]
    assert off.after["foot_strain"] == 0
    assert off.after["foot_slip"] == 0


def test_friction_in_space_acts_against_the_motion():
    mu, speed = 0.3, np.array([0.6, 0.8])
    m, feet = brick(at=(0, 0, 0.1))
    system = contact.compliant(m, feet, law=contact.linear(1e6, 2e3), friction=contact.anchored(1e6, 2e3, mu))
    run = strut.simulate(
        system, t=0.2, x0={"base.z": 0.1 - 2 * G / 4e6, "base.vx": speed[0], "base.vy": speed[1]}
    )
    t = 0.1
    friction = np.array([sum(run.at(t)[f"{f}_friction_{a}"] for f in feet) for a in "xy"])
    np.testing.assert_allclose(friction, -mu * 2 * G * speed, rtol=2e-2)
    assert np.hypot(*friction) == pytest.approx(mu * sum(run.at(t)[f"{f}_normal"] for f in feet), rel=1e-3)
    assert run.ledger.residual < CLOSED * run.ledger.turnover
    longer = strut.simulate(
        system, t=1.0, x0={"base.z": 0.1 - 2 * G / 4e6, "base.vx": speed[0], "base.vy": speed[1]}
    )
    there = np.array([longer["base.x"][-1], longer["base.y"][-1]])
    assert np.linalg.norm(there) == pytest.approx(1 / (2 * mu * G), rel=5e-3)
    assert abs(there[0] * speed[1] - there[1] * speed[0]) < 1e-3


def test_a_ball_with_grip_rolls_down_without_sliding():
    """g sin(slope) / (1 + 2/5) along the slope."""
    slope, r = 0.2, 0.1
    n = np.array([math.sin(slope), 0, math.cos(slope)])
    m = ball(1.0, r, tuple(r * n))
    system = contact.compliant(
        m,
        [contact.sphere("ball", r)],
        contact.plane(slope),
        law=contact.linear(1e6, 2e3),
        friction=contact.anchored(1e6, 2e3, 0.8),
    )
    run = strut.simulate(system, t=1.0)
    along = (run["base.x"][-1] - run["base.x"][0]) / math.cos(slope)
    assert along == pytest.approx(G * math.sin(slope) / 1.4 / 2, rel=1e-3)
    assert run["ball_slip"][-1] == 0
    assert run.ledger.residual < CLOSED * run.ledger.turnover


def test_viscous_and_smooth_friction():
    k = 1e5
    start = {"z": -G / k, "x_rate": 1.0}
    thick = strut.simulate(
        contact.compliant(weight(), ["foot"], law=contact.linear(k, 500), friction=contact.viscous(3.0)),
        t=1.0,
        x0=start,
    )
    assert thick["x_rate"][-1] == pytest.approx(math.exp(-3.0), rel=1e-7)
    dry = strut.simulate(
        contact.compliant(
            weight(), ["foot"], law=contact.linear(k, 500), friction=contact.coulomb(0.2, 1e-4)
        ),
        t=0.4,
        x0=start,
    )
    assert dry["x_rate"][-1] == pytest.approx(1 - 0.2 * G * 0.4, rel=1e-5)
    assert dry.ledger.residual < CLOSED * dry.ledger.turnover
    free = strut.simulate(contact.compliant(weight(), ["foot"], law=contact.linear(k, 500)), t=1.0, x0=start)
    assert free["x_rate"][-1] == 1.0


def test_elastic_ground_of_any_shape_conserves_energy():
    hills = contact.profile(lambda x, y: 0.1 * ca.sin(3 * x))
    system = contact.compliant(rod(height=1.2), ["left", "right"], hills, law=contact.hertz(3e5))
    run = strut.simulate(system, t=3.0, rtol=1e-10, atol=1e-10)
    assert sum(run.events.counts().values()) > 8
    total = sum(run.ledger.stored.values())
    np.testing.assert_allclose(total, total[0], rtol=1e-8)


@pytest.mark.parametrize(
    "ground", [contact.plane(0.1), contact.profile(lambda x, y: 0.05 * ca.sin(4 * x) * ca.cos(3 * y))]
)
def test_books_of_a_tumbling_brick(ground):
    """Four corners that land, slide, stick and let go in space."""
    m, feet = brick(at=(0.3, 0.2, 0.4))
    system = contact.compliant(
        m,
        feet,
        ground,
        law=contact.hunt_crossley(1e5, 0.3),
        friction=contact.anchored(2e4, 100.0, 0.5),
    )
    run = strut.simulate(system, t=1.0, x0={"base.wx": 2.0, "base.wy": 1.0, "base.vx": 1.0})
    assert run.events.counts()["foot0_slide"] >= 1
    assert run.ledger.residual < CLOSED * run.ledger.turnover
    for name, book in run.ledger.dissipated.items():
        assert np.diff(book).min() > -1e-9, name


def test_a_wheel_and_a_cylinder_roll():
    """Down a slope with g sin(slope) / (1 + 1/2): a solid cylinder on its two ends, and a thin wheel that carries as much."""
    slope, r = 0.15, 0.1
    for kind in ("cylinder", "wheel"):
        m = Mechanism(kind, planar=kind == "wheel")
        body = m.body("body", 2.0, inertia=0.01 if m.planar else (0.01, 0.01, 0.01))
        start = (
            (r * math.sin(slope), r * math.cos(slope), 0)
            if m.planar
            else (r * math.sin(slope), 0, r * math.cos(slope), 0, 0, 0, 1)
        )
        m.joint(
            "base",
            m.world,
            body,
            joints.planar("y") if m.planar else joints.free(),
            initial=start,
            actuated=False,
        )
        feet = [contact.wheel("body", r)] if m.planar else [contact.cylinder(m, "body", r, 0.3)]
        system = contact.compliant(
            m,
            feet,
            contact.plane(slope),
            law=contact.linear(1e6, 4e3),
            friction=contact.anchored(1e6, 4e3, 0.6),
        )
        run = strut.simulate(system, t=1.0)
        along = (run["base.x"][-1] - run["base.x"][0]) / math.cos(slope)
        assert along == pytest.approx(G * math.sin(slope) / 1.5 / 2, rel=1e-3)
        assert run.ledger.residual < CLOSED * run.ledger.turnover


# ---- towards rigid ----


def test_stiffer_ground_comes_nearer_to_rigid_ground():
    """An elastic rod without friction; the duration of contact, and with it the error, goes as 1 / sqrt(stiffness)."""
    rigid = strut.simulate(contact.rigid(rod(), ["left", "right"], friction=0, restitution=1.0), t=0.5)
    assert rigid.events.counts()["right_touchdown"] == 1
    names = ("base.x", "base.z", "base.pitch", "base.vx", "base.vz", "base.wy")
    errors = []
    ground = contact.compliant(rod(), ["left", "right"], law=contact.linear(Param("k", 1e5, "N/m")))
    for k in (1e5, 1e6, 1e7, 1e8):
        soft = strut.simulate(ground, t=0.5, p={"k": k})
        errors.append(max(abs(soft[n][-1] - rigid[n][-1]) for n in names))
    orders = -np.diff(np.log10(errors))
    np.testing.assert_allclose(orders, 0.5, atol=0.06)
    assert errors[-1] < 5e-3


def test_damped_stiff_ground_lets_a_box_stand_as_rigid_ground_does():
    m, feet = box()
    soft = strut.simulate(
        contact.compliant(m, feet, law=contact.linear(1e6, 3e4), friction=contact.anchored(1e6, 3e4, 0.6)),
        t=1.0,
    )
    rigid = strut.simulate(contact.rigid(box()[0], feet, friction=0.6), t=1.0)
    assert soft["base.z"][-1] == pytest.approx(rigid["base.z"][-1], abs=2e-5)
    for f in feet:
        assert soft[f"{f}_normal"][-1] == pytest.approx(rigid[f"{f}_normal"][-1], rel=1e-6)


def wheel(inertia):
    """A rimless wheel of mass 1 with spokes of 1 m, its first spoke on the ground in front."""
    m = Mechanism("wheel", planar=True)
    lean = SLOPE - math.pi / SPOKES
    hub = m.body("hub", 1.0, inertia=inertia)
    m.joint(
        "base", m.world, hub, joints.planar(), initial=(math.sin(lean), math.cos(lean), lean), actuated=False
    )
    for k in range(3):  # those that come to the ground
        angle = 2 * math.pi * k / SPOKES
        m.frame(f"spoke{k}", hub, (math.sin(angle), 0, -math.cos(angle)))
    return m, ["spoke0", "spoke1", "spoke2"]


def test_a_walker_on_stiffer_ground_walks_as_on_rigid_ground():
    """Damped ever more strongly, too: with a constant damping ratio a foot bounces however stiff the ground is. The hub is heavy to turn:
    else a landing foot presses the old one into the ground, which compliant ground answers, whatever its stiffness, and the rule
    of rigid ground, that the old foot is let go, does not."""
    rate = 1.1
    begin = {"base.vx": rate, "base.vz": 0.0, "base.wy": rate}  # about the foot that stands
    ground = contact.plane(slope=SLOPE)
    m, feet = wheel(0.3)
    rigid = strut.simulate(contact.rigid(m, feet, ground), t=2.0, x0=begin)
    assert [e.name for e in rigid.events if "touchdown" in e.name] == [f"spoke{n}_touchdown" for n in (1, 2)]
    m, feet = wheel(0.3)
    k, d = Param("k", 1e4, "N/m"), Param("d", 1e3, "N s/m")
    soft = contact.compliant(m, feet, ground, law=contact.linear(k, d), friction=contact.anchored(k, d, 10.0))
    errors = []
    for stiffness, ratio in ((1e4, 4), (1e5, 7), (1e6, 13)):
        p = {"k": stiffness, "d": 2 * ratio * math.sqrt(stiffness)}
        run = strut.simulate(soft, t=2.0, x0=begin, p=p, rtol=1e-8, atol=1e-10)
        errors.append(max(abs(run[n][-1] - rigid[n][-1]) for n in ("base.pitch", "base.wy")))
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-4
