"""Steps of the ground and rough ground on a floating base: the same machine survives the same as one that steps."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Mechanism, Param, contact, control, gait, joints, optimal
from strut.errors import ModelError, UnknownNameError
from strut.gait.foot_ground import change_after_leaving
from strut.system import Foot, Walk

LEG, SHAPE = 0.9, {"leg_mass": 4.0, "hip_mass": 12.0}
SLOPE, HALF_ANGLE = np.deg2rad(2.5), 0.29


def slope():
    return Param("slope", SLOPE, "rad", bounds=(-0.2, 0.2))


def strider():
    """Two legs and a hip, on its stance foot: it steps."""
    m = Mechanism("strider", planar=True)
    slide, foot = m.body("slide"), m.body("foot")
    m.joint("x", m.world, slide, joints.prismatic("x"), actuated=False)
    m.joint("z", slide, foot, joints.prismatic("z"), actuated=False)
    stance = m.body("stance", SHAPE["leg_mass"], (0, 0, LEG / 2))
    turn = joints.revolute("y")
    m.joint("stance", foot, stance, turn, initial=SLOPE - HALF_ANGLE, rate=1.1, actuated=False)
    hip = m.body("hip", SHAPE["hip_mass"])
    m.joint("mount", stance, hip, joints.fixed(), at=(0, 0, LEG))
    swing = m.body("swing", SHAPE["leg_mass"], (0, 0, -LEG / 2))
    m.joint("swing", hip, swing, turn, initial=2 * HALF_ANGLE, rate=-0.7, actuated=False)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -LEG))
    legs = contact.Legs(
        base=("x", "z"),
        stance="stance_foot",
        swing="swing_foot",
        swap="auto",
        hip="hip",
        fall=LEG / 2,
        drives=[contact.Between("hip", {"swing": 1})],
        margin=0.02,
    )
    return contact.stepping(m, legs, contact.plane(slope()))


def floating(ground, **options):
    """The same machine on a floating base, its left leg at the hip, with two feet on the ground."""
    m = Mechanism("floating", planar=True)
    angle = SLOPE - HALF_ANGLE
    left = m.body("leg_l", SHAPE["leg_mass"], (0, 0, -LEG / 2))
    place = (LEG * np.sin(angle), LEG * np.cos(angle), angle)
    rate = (1.1 * LEG, 0.0, 1.1)
    m.joint("base", m.world, left, joints.planar(), initial=place, rate=rate, actuated=False)
    hip = m.body("hip", SHAPE["hip_mass"])
    m.joint("mount", left, hip, joints.fixed())
    right = m.body("leg_r", SHAPE["leg_mass"], (0, 0, -LEG / 2))
    m.joint("hip", hip, right, joints.revolute("y"), initial=2 * HALF_ANGLE, rate=-0.7)
    m.frame("foot_l", left, (0, 0, -LEG))
    m.frame("foot_r", right, (0, 0, -LEG))
    arm = {"foot_l": ("foot_l", "foot_r"), "foot_r": ("foot_r", "foot_l")}
    settings = {
        "arm": {foot: contact.ahead_of(*pair, 0.02) for foot, pair in arm.items()},
        "steps": True,
        "fall": ("hip", LEG / 2),
        "symmetry": exchange,
    }
    walker = contact.rigid(m, ["foot_l", "foot_r"], ground, **{**settings, **options})
    (torque,) = walker.u
    return walker.replace(symmetry={**walker.symmetry, torque.name: -torque.sym})


def exchange(tree):
    """The legs exchanged: the base is the other leg."""
    x, z, pitch, hip = ca.vertsplit(tree.q)
    vx, vz, wy, rate = ca.vertsplit(tree.v)
    c, s = ca.cos(hip), ca.sin(hip)
    place = {"base.x": x, "base.z": z, "base.pitch": pitch + hip, "hip": -hip}
    return place | {
        "base.vx": c * vx - s * vz,
        "base.vz": s * vx + c * vz,
        "base.wy": wy + rate,
        "hip_rate": -rate,
    }


def begin(step):
    """The states of the floating machine in which the one that steps begins its gait."""
    angle, swing, rate, swing_rate = (step.x0[n] for n in ("stance", "swing", "stance_rate", "swing_rate"))
    place = {"base.x": LEG * np.sin(angle), "base.z": LEG * np.cos(angle), "base.pitch": angle, "hip": swing}
    return place | {"base.vx": rate * LEG, "base.vz": 0.0, "base.wy": rate, "hip_rate": swing_rate}


@pytest.fixture(scope="module")
def passive():
    step = gait.find(strider())
    return step, gait.find(floating(contact.uneven(contact.plane(slope()))), begin(step))


@pytest.fixture(scope="module")
def even(passive):
    """The gait of the floating machine on ground without heights under its feet."""
    return gait.find(floating(contact.plane(slope())), begin(passive[0]))


@pytest.fixture(scope="module")
def held(passive):
    return [control.track(g, 40.0, 4.0, index="time").gait for g in passive]


def test_heights_under_feet_leave_the_gait_as_it_is(passive, even):
    step, free = passive
    assert free.multipliers == pytest.approx(even.multipliers, abs=1e-9)
    assert np.abs(free.multipliers[:3]) == pytest.approx(np.abs(step.multipliers[:3]), abs=1e-6)


@pytest.mark.parametrize("which", ["passive", "held"])
@pytest.mark.parametrize("limit", [gait.step_down, gait.step_up])
def test_a_floating_base_survives_the_same_step_of_the_ground(which, limit, request):
    """Lifted over the ground, on its stance foot; by the height of the ground under each foot, floating."""
    stepping, free = (
        limit(g, most=0.05, exact=1e-4, trials_beyond=0) for g in request.getfixturevalue(which)
    )
    assert 0.004 < stepping.largest < 0.02
    assert free.largest == pytest.approx(stepping.largest, abs=1e-4)


def test_a_floating_base_walks_over_the_same_rough_ground(held):
    """With one seed the ground is the same, and so are the steps that are made on it."""
    stepping, free = (gait.walk_over(g, 0.005, steps=40, walks=12, seed=2) for g in held)
    assert 0 < stepping.whole_walks < 12
    assert free.steps_made.tolist() == stepping.steps_made.tolist()


def test_a_step_is_where_the_ground_is(passive):
    """Step by step: a foot that lands on ground 1 cm lower is there, and the other one follows."""
    _, free = passive
    for friction in (None, 0.9):
        walker = floating(contact.uneven(contact.plane(slope())), friction=friction)
        lower = strut.simulate(walker, t=1.0, x0=free.x0, z0={"foot_r_ground": -0.01})
        landing = next(e.t for e in lower.events if e.name == "foot_r_touchdown")
        assert landing > free.period + 1e-3
        height = foot_height(lower.at(landing + 0.05), "r")
        assert height == pytest.approx(-0.01, abs=1e-7)


def foot_height(moment, side):
    """Of a foot over the slope, vertically [m]."""
    x, z, pitch, hip = (float(moment[n]) for n in ("base.x", "base.z", "base.pitch", "hip"))
    angle = pitch if side == "l" else pitch + hip
    return z - LEG * np.cos(angle) + np.tan(SLOPE) * (x - LEG * np.sin(angle))


def test_a_foot_below_its_ground_lands_after_it_was_above():
    """A point mass with a foot, thrown up from below ground that rises: it flies through, and lands on top."""
    m = Mechanism("ball", planar=True)
    ball = m.body("ball", 1.0, inertia=0.1)
    m.joint("base", m.world, ball, joints.planar(), actuated=False)
    m.frame("foot", ball)
    walker = contact.rigid(m, ["foot"], contact.uneven())
    up = {"x0": {"base.vz": 2.0}, "z0": {"foot_ground": 0.1, "foot_on": 0.0, "foot_armed": 0.0}}
    run = strut.simulate(walker, t=1.0, **up)
    assert run.ok
    assert float(run.at(1.0)["base.z"]) == pytest.approx(0.1, abs=1e-8)
    low = strut.simulate(walker, t=0.2, x0={"base.vz": 1.0}, z0=up["z0"])
    assert low.events.counts().get("foot_touchdown", 0) == 0  # 5 cm high: never above


def sole(on, feet=("heel", "toe"), ground=None, **options):
    """A slab of 1 kg: with two contacts, heel and toe, or with one in its middle."""
    m = Mechanism("slab", planar=True)
    slab = m.body("sole", 1.0, inertia=0.01)
    m.joint("base", m.world, slab, joints.planar(), actuated=False)
    for name, x in (("heel", -0.1), ("toe", 0.1), ("middle", 0.0)):
        m.frame(name, slab, (x, 0, 0))
    m.push("sole")
    return on(m, list(feet), contact.uneven() if ground is None else ground, **options)


@pytest.mark.parametrize("feet", [("middle",), ("heel", "toe")])
def test_on_soft_ground_a_step_up_is_survived_up_to_the_apex(feet):
    """A slab that bounces without loss, on one spring or on two of half the stiffness: it comes onto ground that is
    higher by less than the height of its flight, v^2 / 2g, and bounces over rough ground for ever."""
    v = 1.4
    bouncer = sole(contact.compliant, feet, law=contact.linear(2e4 / len(feet), 0.0))
    down = {"base.vz": -v, "base.vx": 0.5}
    section = f"{feet[-1]}_touchdown"
    flight = gait.find(bouncer, down, section, starts=0, z0={f"{foot}_on": 1.0 for foot in feet})
    half_contact = np.pi / np.sqrt(2e4)
    assert flight.period == pytest.approx(2 * v / 9.81 + half_contact, rel=0.02)
    apex = v**2 / (2 * 9.81)
    up = gait.step_up(flight, most=0.2, exact=1e-4, trials_beyond=0)
    assert apex - 2e-4 < up.largest <= apex
    assert gait.step_down(flight, most=0.2, exact=1e-3).largest == 0.2
    assert gait.walk_over(flight, 0.02, steps=30, walks=3).whole_walks == 3


def test_a_soft_foot_below_its_ground_compresses_nothing():
    """Thrown up from below ground that rises, it feels nothing until it was above, and books close."""
    walker = sole(contact.compliant, ["middle"], law=contact.linear(2e4, 0.0))
    below = {"middle_ground": 0.1, "middle_on": 0.0, "middle_armed": 0.0}
    run = strut.simulate(walker, t=0.5, x0={"base.vz": 2.0}, z0=below)
    landing = next(e for e in run.events if e.name == "middle_touchdown")
    assert float(landing.after["base.z"]) == pytest.approx(0.1, abs=1e-9)
    assert float(landing.after["base.vz"]) == pytest.approx(-np.sqrt(4 - 2 * 9.81 * 0.1), abs=1e-8)
    assert run.ledger.residual < 1e-8
    low = strut.simulate(walker, t=0.2, x0={"base.vz": 1.0}, z0=below)
    assert not low.events.counts()  # 5 cm high: never above


def test_the_ground_under_heel_and_toe_changes_when_both_have_left():
    """Tipped over its toe, with the heel in the air, it stands on the ground as it was; thrown up it lands lower."""
    walker = sole(contact.rigid)
    assert [foot.ground for foot in walker.walk.feet] == ["sole_ground", "sole_ground"]
    lower = walker.replace(events=change_after_leaving(walker, ca.SX(-0.05)))
    tipped = strut.simulate(lower, t=0.3, x0={"base.wy": 1.0, "base.vz": 0.1}, z0={"heel_on": 0.0})
    assert tipped.ok
    toe = tipped["base.z"] - 0.1 * np.sin(tipped["base.pitch"])
    assert np.abs(toe).max() < 1e-6
    assert np.abs(tipped["sole_ground"]).max() == 0
    # a force lifts it, off heel and toe at once, and lets it fall
    lifted = strut.simulate(lower, t=1.5, u=strut.push("sole", (0.1, 0.3), (0.0, 20.0)))
    assert lifted.events.counts()["heel_release"] == lifted.events.counts()["toe_release"] == 1
    assert float(lifted.at(0.05)["base.z"]) == pytest.approx(0, abs=1e-9)
    assert float(lifted.at(1.5)["base.z"]) == pytest.approx(-0.05, abs=1e-7)


def test_ground_that_is_not_made_uneven_is_refused():
    with pytest.raises(ModelError, match=r"contact\.compliant without events does not take uneven ground"):
        sole(contact.compliant, law=contact.linear(1e4, 10.0), events=False)
    with pytest.raises(ModelError, match=r"contact\.time_stepped does not take uneven ground"):
        sole(contact.time_stepped, dt=1e-3)
    with pytest.raises(ModelError, match=r"which is no ground: write contact\.plane\(0\.1\)"):
        contact.uneven(0.1)


def test_a_floating_base_without_heights_under_its_feet_says_what_is_missing(even):
    for measure in (lambda: gait.walk_over(even, 0.01), lambda: gait.step_up(even)):
        with pytest.raises(ModelError, match=r"contact\.uneven\(ground\), for contact\.rigid"):
            measure()


def test_a_height_under_a_foot_is_a_discrete_state(passive):
    walker = passive[1].system
    feet = tuple(Foot(name=f.name, ground="foot_l_grond") for f in walker.walk.feet)
    with pytest.raises(UnknownNameError, match="'ground' of foot 'foot_l' of the walk .* 'foot_l_grond'"):
        walker.replace(walk=Walk(section="foot_r_touchdown", feet=feet))


@pytest.mark.slow(reason="a design of RABBIT and its closed loop are compiled")
def test_rabbit_steps_up_onto_uneven_ground():
    """Its feet land wherever they touch: below ground that has risen they pass, and land from above."""
    text = (Path(__file__).parents[2] / "examples" / "rabbit.toml").read_text()
    walker = contact.parse(text.replace('kind = "rigid"', 'kind = "rigid"\nuneven = true'))
    held = control.lqr(optimal.design(walker, speed=0.6)).gait
    limit = gait.step_up(held, most=0.1, exact=1e-3, trials_beyond=0)
    assert 0.02 < limit.largest < 0.04
    assert limit.fell == "fall"
    rough = gait.walk_over(held, 0.005, steps=50, walks=8)
    assert rough.whole_walks == 8
