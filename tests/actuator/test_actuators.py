"""Springs in series with motors and beside them: closed forms, SciPy, the energy account, and whose motor is whose after a step."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import strut
from strut import (
    Input,
    Ledger,
    Mechanism,
    Param,
    State,
    System,
    actuator,
    contact,
    gait,
    joints,
    mechanism,
    walkers,
)
from strut.actuator.exchange import after_event, sides_of_joints
from strut.errors import ModelError, UnknownNameError
from tests.export.test_export import build, table

K, J, INERTIA, TORQUE = 40.0, 0.3, 2.0, 1.5
EXACT = {"rtol": 1e-12, "atol": 1e-13}


def flywheel():
    m = Mechanism("flywheel", planar=True, g=0.0)
    wheel = m.body("wheel", mass=1.0, inertia=INERTIA)
    m.joint("axle", m.world, wheel, joints.revolute("y"))
    return mechanism.system(m)


def test_a_wheel_behind_a_spring_moves_as_in_closed_form():
    """Both together accelerate with torque / (J + I); the spring swings about its mean with sqrt(k (1/J + 1/I))."""
    wheel = actuator.series(flywheel(), stiffness=K, inertia=J, damping=0.0)
    run = strut.simulate(wheel, t=3, u={"axle_motor_torque": TORQUE}, **EXACT)
    t = np.linspace(0, 3, 61)
    now = run.at(t)
    omega = np.sqrt(K * (1 / J + 1 / INERTIA))
    stretch = TORQUE / J / omega**2 * (1 - np.cos(omega * t))
    np.testing.assert_allclose(now["axle_motor"] - now["axle"], stretch, atol=1e-11)
    centre = (J * now["axle_motor"] + INERTIA * now["axle"]) / (J + INERTIA)
    np.testing.assert_allclose(centre, TORQUE / (J + INERTIA) * t**2 / 2, atol=1e-11)
    np.testing.assert_allclose(now["axle_torque"], K * stretch, atol=1e-9)
    books = run.ledger
    assert books.residual < 1e-10
    assert books.supplied["axle_motor_torque"][-1] == pytest.approx(TORQUE * run["axle_motor"][-1], abs=1e-10)
    assert books.stored["axle_series_spring"][-1] == pytest.approx(K * stretch[-1] ** 2 / 2, abs=1e-10)


def test_a_pendulum_behind_a_spring_and_damper_agrees_with_scipy():
    damping = 0.7
    pendulum = actuator.series(walkers.pendulum(), stiffness=K, inertia=J, damping=damping).using(
        drive_motor_torque=TORQUE
    )
    run = strut.simulate(pendulum, t=5, **EXACT)

    def rates(_, x):
        angle, rate, motor, motor_rate = x
        spring = K * (motor - angle) + damping * (motor_rate - rate)
        return [rate, spring - 9.81 * np.sin(angle), motor_rate, (TORQUE - spring) / J]

    theirs = solve_ivp(rates, (0, 5), [1.0, 0.0, 1.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13)
    assert list(run.names.x) == ["angle", "rate", "drive_motor", "drive_motor_rate"]
    np.testing.assert_allclose(run.raw.x_end[:4], theirs.y[:, -1], atol=1e-9)
    assert run.ledger.residual < 1e-9
    assert run.ledger.dissipated["drive_series_damper"][-1] > 0.01


def test_a_stiff_spring_and_a_light_motor_are_nearly_rigid():
    torque = {"axle_motor_torque": TORQUE}
    stiff = strut.simulate(actuator.series(flywheel(), stiffness=1e5, inertia=1e-3), t=1, u=torque)
    rigid = strut.simulate(flywheel(), t=1, u={"axle_torque": TORQUE})
    assert stiff["axle"][-1] == pytest.approx(rigid["axle"][-1], rel=1e-3)
    assert stiff["axle"][-1] != pytest.approx(
        rigid["axle"][-1], rel=1e-5
    )  # the motor is a thousandth of what is turned


def test_parallel_is_what_a_spring_at_the_joint_is():
    spring, damping, rest = 30.0, 0.4, 0.2
    m = Mechanism("flywheel", planar=True, g=0.0)
    wheel = m.body("wheel", mass=1.0, inertia=INERTIA)
    m.joint("axle", m.world, wheel, joints.revolute("y"), spring=spring, rest=rest, damping=damping)
    theirs = strut.simulate(mechanism.system(m), t=4, u={"axle_torque": TORQUE}, **EXACT)
    beside = actuator.parallel(flywheel(), stiffness=spring, damping=damping, rest=rest)
    ours = strut.simulate(beside, t=4, u={"axle_motor_torque": TORQUE}, **EXACT)
    t = np.linspace(0, 4, 41)
    np.testing.assert_allclose(ours.at(t)["axle"], theirs.at(t)["axle"], atol=1e-10)
    assert ours.ledger.residual < 1e-10
    for book in ("supplied", "dissipated"):
        (a,), (b,) = (tuple(getattr(run.ledger, book).values()) for run in (ours, theirs))
        assert a[-1] == pytest.approx(b[-1], abs=1e-9)
    assert ours.at(0.0)["axle_torque"] == pytest.approx(TORQUE + spring * rest)


def test_springs_add_up_and_drives_combine():
    """A joint that has a spring, with another beside its motor, and the motor behind a third."""
    m = Mechanism("flywheel", planar=True, g=0.0)
    wheel = m.body("wheel", mass=1.0, inertia=INERTIA)
    m.joint("axle", m.world, wheel, joints.revolute("y"), spring=10.0, damping=0.1)
    both = actuator.parallel(mechanism.system(m), stiffness=20.0, damping=0.3)
    run = strut.simulate(both, t=3, u={"axle_motor_torque": TORQUE}, **EXACT)
    single = strut.simulate(
        actuator.parallel(flywheel(), stiffness=30.0, damping=0.4),
        t=3,
        u={"axle_motor_torque": TORQUE},
        **EXACT,
    )
    assert run["axle"][-1] == pytest.approx(single["axle"][-1], abs=1e-10)
    assert run.ledger.residual < 1e-10
    assert run.ledger.stored["axle_spring"][-1] == pytest.approx(15 * run["axle"][-1] ** 2, abs=1e-10)
    all_three = strut.simulate(
        actuator.series(both, stiffness=K, inertia=J), t=3, u={"axle_motor_motor_torque": TORQUE}, **EXACT
    )
    assert all_three.ledger.residual < 1e-10
    slow = TORQUE / 30.0  # where both springs rest, on the long run
    damped = strut.simulate(
        actuator.series(both, stiffness=K, inertia=J, damping=3.0),
        t=60,
        u={"axle_motor_motor_torque": TORQUE},
    )
    assert damped["axle"][-1] == pytest.approx(slow, rel=1e-3)


def test_a_drive_with_a_spring_of_its_own_stays_as_it_is():
    compass = walkers.compass()
    assert actuator.parallel(compass) is compass
    assert actuator.constants(compass, "parallel") == {"hip_spring": (0.0, 1000.0)}
    assert actuator.constants(compass, "rigid") == {}
    driven = walkers.compass_driven()
    assert actuator.parallel(driven, ["hip"]) is driven


def exchanged(walker, event="heel_strike"):
    found = actuator.drives(walker)
    places = after_event(walker, found, next(e for e in walker.events if e.name == event))
    return {
        d.name: ("-" if sign < 0 else "") + found[j].name for d, (j, sign) in zip(found, places, strict=True)
    }


def test_sides_may_be_said_by_the_beginnings_of_names():
    """A symmetry that is worked out took l_hip to l_hip: every leg was its own mirror image, in silence."""
    m = strut.Mechanism("pair", planar=True)
    trunk = m.body("trunk", mass=3.0, inertia=0.1)
    m.joint("base", m.world, trunk, strut.joints.planar(), initial=(0, 1, 0), actuated=False)
    for side in "lr":
        leg = m.body(f"{side}_leg", mass=1.0, com=(0, 0, -0.4), inertia=0.02)
        m.joint(f"{side}_hip", trunk, leg, strut.joints.revolute("y"))
        m.frame(f"{side}_foot", leg, (0, 0, -0.8))
    driven = actuator.dc_motors(contact.rigid(m, ["l_foot", "r_foot"], symmetry="auto"), "rbe1211-csd17")
    images = {name: str(image) for name, image in driven.symmetry.items()}
    assert (images["l_hip"], images["r_hip_motor"]) == ("r_hip", "l_hip_motor")
    assert images["l_foot_on"] == "r_foot_on"
    assert [q.name for q in driven.p if q.name.endswith("gear_ratio")] == ["hip_gear_ratio"]


@pytest.mark.parametrize(
    ("make", "places"),
    [
        (walkers.compass, {"hip": "-hip"}),
        (walkers.kneed, {"hip": "-hip"}),
        (walkers.saurel_b, {"hip": "-hip", "stance_knee": "swing_knee", "swing_knee": "stance_knee"}),
        (walkers.saurel_d, {"stance_hip": "swing_hip", "swing_hip": "stance_hip", "neck": "neck"}),
        (walkers.dribbel, {"hip": "hip"}),
    ],
)
def test_motors_change_names_with_the_legs(make, places):
    walker = make()
    assert exchanged(walker, walker.events[-1].name if make is walkers.dribbel else "heel_strike") == places


def test_both_sides_share_their_constants():
    walker = actuator.series(walkers.saurel_e())
    assert {q.name for q in walker.p if "series_spring" in q.name} == {
        "hip_series_spring",
        "shoulder_series_spring",
    }
    in_space = walkers.trunk_3d()
    found = actuator.drives(in_space)
    groups = {
        tuple(found[i].name for i in s.members): (s.signs, s.turns) for s in sides_of_joints(in_space, found)
    }
    assert groups["leg_r_pitch", "leg_l_pitch"] == ((1.0, 1.0), False)
    assert groups["leg_r_roll", "leg_l_roll"] == (
        (1.0, -1.0),
        False,
    )  # this machine counts rolling to the left on both sides
    assert groups[("trunk_pitch",)] == ((1.0,), False)
    assert groups[("trunk_roll",)] == ((1.0,), True)
    sprung = actuator.parallel(in_space)
    names = {q.name for q in sprung.p}
    leaning = strut.simulate(
        sprung,
        t=0.0,
        x0=dict.fromkeys(sprung.labels("x"), 0.0),
        p={"leg_roll_spring": 2.0, "leg_roll_rest": 0.1},
        backend="virtual",
    )
    assert leaning["leg_r_roll_torque"][0] == pytest.approx(0.2)
    assert leaning["leg_l_roll_torque"][0] == pytest.approx(-0.2)
    assert "trunk_roll_rest" not in names  # the middle of what leans to both sides
    assert "trunk_roll_motor" in actuator.series(in_space).symmetry


def test_a_heel_strike_leaves_springs_and_rotors_alone():
    """Legs change names; whatever the motors did they do under their new names, and nothing is lost in them."""
    walker = actuator.series(walkers.saurel_c())
    event = next(e for e in walker.events if e.name == "heel_strike")
    groups = walker.vectors()
    after = ca.vertcat(*[event.reset.get(q.name, q.sym) for q in walker.x])
    springs = [walker.ledger.stored[f"{side}_hip_series_spring"] for side in ("stance", "swing")]
    stored = ca.Function("stored", groups, [ca.vertcat(*springs)])
    jump = ca.Function("jump", groups, [after])
    begin = strut.simulate(walker, t=0.0).end
    rng = np.random.default_rng(1)
    for _ in range(3):
        x = begin["x0"] + 0.3 * rng.standard_normal(len(begin["x0"]))
        rest = (begin["z0"], np.zeros(len(walker.u)), begin["p"])
        x1 = np.array(jump(x, *rest)).reshape(-1)
        before, then = (np.array(stored(state, *rest)).reshape(-1) for state in (x, x1))
        np.testing.assert_allclose(then, before[::-1], atol=1e-12)
        motors = [walker.labels("x").index(f"{side}_hip_motor_rate") for side in ("stance", "swing")]
        np.testing.assert_allclose(x1[motors], x[motors[::-1]])


def test_a_walker_with_springs_in_series_walks_and_its_books_close():
    walker = actuator.series(walkers.compass(slope=strut.deg(3)))
    found = gait.find(walker)
    assert found.stable
    assert found.trajectory.ledger.relative < 1e-9
    assert len(found.multipliers) == 6
    loss = gait.impact_loss(walker, found.x0)
    assert loss.fractions[-1] == pytest.approx(0, abs=1e-9)  # the motor feels no impact
    rigid = gait.find(walkers.compass(slope=strut.deg(3)))
    assert found.period == pytest.approx(rigid.period, rel=0.05)


def test_it_is_exported_like_any_other(tmp_path):
    walker = actuator.series(walkers.compass())
    strut.export(walker, tmp_path)
    rows = table(build(tmp_path, walker.name))
    run = strut.simulate(walker, t=1.0)
    np.testing.assert_allclose(rows[0, 1:], run.raw.x_end[: rows.shape[1] - 1], rtol=1e-8)


def test_a_force_along_a_length_is_a_drive_too():
    place, speed, force = State("place", 0.1, "m"), State("speed", 0.0, "m/s"), Input("push_force", 0.0, "N")
    sled = System(
        "sled",
        x=[place, speed],
        u=[force],
        flow={place: speed, speed: force / 2},
        ledger=Ledger(stored={"kinetic": speed**2}, supplied={"hand": force * speed}),
    )
    pulled = actuator.series(sled)
    units = {q.name: q.unit for q in (*pulled.x, *pulled.p)}
    assert units["push_motor"] == "m"
    assert units["push_series_spring"] == "N/m"
    assert units["push_motor_inertia"] == "kg"
    run = strut.simulate(pulled, t=1, u={"push_motor_force": 2.0})
    assert run.ledger.residual < 1e-9
    assert run["push_motor"][0] == 0.1


def test_mistakes_are_explained():
    with pytest.raises(UnknownNameError, match="no drive 'serial': did you mean 'series'"):
        actuator.driven(walkers.compass(), "serial")
    with pytest.raises(UnknownNameError, match="'compass' has no drive 'hop'"):
        actuator.series(walkers.compass(), ["hop"])
    with pytest.raises(ModelError, match="angle of drive 'ankle' is that of none of hip, ankle"):
        actuator.series(walkers.compass_driven())
    with pytest.raises(ModelError, match="has no motors"):
        actuator.driven(walkers.rimless_wheel(), "series")
    place, force = State("place"), Input("force")
    with pytest.raises(ModelError, match="supplies 0 powers of the ledger"):
        actuator.series(System("slider", x=[place], u=[force], flow={place: force}))
    with pytest.raises(ModelError, match="rate of no state"):
        actuator.series(
            System(
                "slider",
                x=[place],
                u=[force],
                flow={place: force},
                ledger=Ledger(supplied={"hand": force * place}),
            )
        )
    gain = Param("gain", 2.0)
    curved = Ledger(supplied={"hand": gain * force * place**2})
    with pytest.raises(ModelError, match="is no sum of states"):
        actuator.series(System("slider", x=[place], u=[force], p=[gain], flow={place: force}, ledger=curved))
