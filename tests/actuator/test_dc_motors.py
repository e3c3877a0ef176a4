"""Motors driven by voltage: numbers of data sheets, closed forms, SciPy, stiction, limits, and where the energy goes."""

import math
from dataclasses import replace

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
    gait,
    joints,
    linear,
    mechanism,
    walkers,
)
from strut.actuator import MOTORS, DcMotor
from strut.errors import ModelError, UnknownNameError, ValueRangeError
from tests.actuator.driven_tree import driven_tree

COMAN = MOTORS["rbe1211-csd17"]
RIGID = replace(COMAN, gear_stiffness=math.inf, voltage_limit=math.inf, current_limit=math.inf)
STICKY = replace(COMAN, coulomb=0.6 * COMAN.torque_constant / COMAN.resistance)
EXACT = {"rtol": 1e-12, "atol": 1e-13}
SPRING, DAMPING, VOLTAGE = 415.0, 0.198, 2.0


def flywheel(inertia=2.0, stops=False):
    m = Mechanism("flywheel", planar=True, g=0.0)
    m.joint("axle", m.world, m.body("wheel", mass=1.0, inertia=inertia), joints.revolute("y"))
    return mechanism.system(m)


def test_catalogue_numbers_come_out():
    assert COMAN.inertia == pytest.approx(0.1387)
    assert COMAN.damping == pytest.approx(25.52, abs=0.005)
    assert COMAN.voltage_gain == pytest.approx(6.175, abs=5e-4)
    assert COMAN.series_stiffness(SPRING) == pytest.approx(395.46, abs=0.005)
    assert all(motor.source for motor in MOTORS.values())
    # maxon prints a stall torque of 2280 mN m at 24 V, and 75.7 A
    re40 = MOTORS["maxon-re40-gp42c"]
    assert 24 / re40.resistance == pytest.approx(75.7, abs=0.05)
    assert 24 * re40.voltage_gain / re40.gear_ratio == pytest.approx(2.28, abs=0.01)


def test_a_motor_behind_a_locked_link_swings_at_53_rad_per_s():
    """Its two eigenvalues have the product K_s/J and the sum -(D + D_s)/J, whatever the damping."""
    locked = actuator.dc_motors(flywheel(1e9), COMAN, spring=SPRING, spring_damping=DAMPING)
    eigenvalues = np.linalg.eigvals(linear.linearise(locked).A)
    moving = eigenvalues[np.abs(eigenvalues) > 1e-3]
    assert len(moving) == 2
    assert np.sqrt(np.prod(moving).real) == pytest.approx(53.4, abs=0.01)
    assert -np.sum(moving).real == pytest.approx((COMAN.damping + DAMPING) / COMAN.inertia, rel=1e-7)


def test_a_rigid_motor_runs_up_as_in_closed_form():
    wheel = actuator.dc_motors(flywheel(), RIGID)
    assert wheel.labels("x") == ("axle", "axle_rate")
    run = strut.simulate(wheel, t=0.5, u={"axle_voltage": VOLTAGE}, **EXACT)
    t = np.linspace(0, 0.5, 21)
    slowness = RIGID.damping / (2.0 + RIGID.inertia)
    speed = RIGID.voltage_gain * VOLTAGE / RIGID.damping * (1 - np.exp(-slowness * t))
    np.testing.assert_allclose(run.at(t)["axle_rate"], speed, atol=1e-11)
    books = run.ledger
    assert books.residual < 1e-11
    assert books.stored["kinetic"][-1] == pytest.approx((2.0 + RIGID.inertia) * speed[-1] ** 2 / 2)
    assert set(books.supplied) == {"axle_electrical"}
    assert {"axle_copper", "axle_viscous"} <= set(books.dissipated)


def test_an_elastic_motor_with_inductance_agrees_with_scipy():
    """The pendulum's own equation, and the motor's as Dallali et al. have them, with the current as a state."""
    link = 8.0
    motor = replace(COMAN, voltage_limit=math.inf, current_limit=math.inf)
    for printed in (False, True):
        pendulum = actuator.dc_motors(
            walkers.pendulum(), motor, spring=SPRING, spring_damping=DAMPING, link_damping=link,
            printed_damping=printed, current="state",
        )  # fmt: skip
        run = strut.simulate(pendulum, t=1.0, u={"drive_voltage": VOLTAGE}, **EXACT)
        K = motor.series_stiffness(SPRING)
        n, k, R, L = motor.gear_ratio, motor.torque_constant, motor.resistance, motor.inductance

        def rates(_, x, printed=printed, K=K, n=n, k=k, R=R, L=L):
            q, w, qm, wm, i = x
            spring = K * (qm - q) + DAMPING * (wm - w)
            load = spring - link * w if printed else spring
            return [
                w, spring - link * w - 9.81 * np.sin(q), wm,
                (n * k * i - n**2 * motor.viscous * wm - load) / motor.inertia,
                (VOLTAGE - R * i - n * k * wm) / L,
            ]  # fmt: skip

        theirs = solve_ivp(rates, (0, 1), [1.0, 0, 1.0, 0, 0], method="Radau", rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(run.raw.x_end[:5], theirs.y[:, -1], atol=2e-8)
        assert run.ledger.residual < 1e-9
        assert run.ledger.stored["drive_inductance"][-1] == pytest.approx(
            L * run["drive_current"][-1] ** 2 / 2
        )


def test_the_third_order_motor_becomes_the_second_order_one():
    absorbed = strut.simulate(
        actuator.dc_motors(flywheel(), COMAN, spring=SPRING), t=0.2, u={"axle_voltage": VOLTAGE}, **EXACT
    )
    gaps = []
    for inductance in (3.2e-4, 3.2e-5, 3.2e-6):
        motor = replace(COMAN, inductance=inductance)
        wheel = actuator.dc_motors(flywheel(), motor, spring=SPRING, current="state")
        run = strut.simulate(wheel, t=0.2, u={"axle_voltage": VOLTAGE}, **EXACT)
        gaps.append(abs(run["axle_motor"][-1] - absorbed["axle_motor"][-1]))
    assert gaps[0] > 1e-6
    assert gaps[1] / gaps[0] == pytest.approx(0.1, rel=0.05)  # of first order in the inductance
    assert gaps[2] / gaps[1] == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_stiction_holds_for_100_s_and_breaks_at_its_voltage(backend):
    rig = actuator.dc_motors(flywheel(), STICKY, spring=SPRING, spring_damping=DAMPING)
    held = strut.simulate(rig, t=100, u={"axle_voltage": 0.6}, backend=backend)
    assert held["axle_motor"][-1] == 0.0
    assert held["axle_motor_rate"][-1] == 0.0
    assert len(held.events.t) == 0
    assert held.ledger.dissipated["axle_copper"][-1] == pytest.approx(100 * 0.6**2 / STICKY.resistance)
    loose = strut.simulate(rig, t=0.5, u={"axle_voltage": 0.601}, backend=backend)
    assert loose.events.names == ("axle_breakaway",)
    assert loose["axle"][-1] > 0
    assert loose.ledger.residual < 1e-10


def test_a_stuck_motor_holds_a_swinging_link():
    """Behind its spring the link swings on, its motor does not: sqrt(K_s/I), and no friction is paid."""
    inertia = 0.0855  # COMAN's lower leg about its knee
    rig = actuator.dc_motors(flywheel(inertia), STICKY, spring=SPRING).using(axle=0.005)
    run = strut.simulate(rig, t=3, x0={"axle_motor": 0.0}, **EXACT)
    omega = math.sqrt(COMAN.series_stiffness(SPRING) / inertia)
    assert omega == pytest.approx(68.0, abs=0.1)
    assert len(run.events.t) == 0
    assert run["axle"][-1] == pytest.approx(0.005 * math.cos(3 * omega), abs=1e-9)
    assert run["axle_motor"][-1] == 0.0
    assert run.ledger.dissipated["axle_friction"][-1] == 0.0


def test_a_motor_comes_to_rest_and_stays():
    """Coulomb friction alone stops a wheel after J w^2 / 2 of work, in J w / friction; then nothing moves."""
    free = replace(RIGID, resistance=1e12, viscous=0.0, coulomb=0.01, stiction=0.02)
    wheel = actuator.dc_motors(flywheel(), free).using(axle_rate=0.5)
    run = strut.simulate(wheel, t=100, **EXACT)
    J, friction = 2.0 + free.inertia, free.gear_ratio * free.coulomb
    assert run.events.names == ("axle_stick",)
    assert run.events.t[0] == pytest.approx(J * 0.5 / friction, rel=1e-9)
    assert run["axle"][-1] == pytest.approx(J * 0.5**2 / 2 / friction, rel=1e-9)
    assert run["axle_rate"][-1] == 0.0
    assert run.ledger.dissipated["axle_friction"][-1] == pytest.approx(J * 0.5**2 / 2, rel=1e-8)


def test_stick_and_slip_repeat_without_chatter():
    """A mass that a stiff servo drags through a spring: it sticks and slips, a few events a second, and the books close."""
    rig = actuator.dc_motors(flywheel(0.05), replace(STICKY, stiction=1.5 * STICKY.coulomb), spring=SPRING)
    sine = strut.Schedule(np.arange(0, 4, 0.05), 1.2 * np.sin(2 * np.pi * np.arange(0, 4, 0.05)))
    run = strut.simulate(rig, t=4, u={"axle_voltage": sine}, **EXACT)
    names = list(run.events.names)
    assert 8 <= names.count("axle_stick") <= 40
    assert run.ledger.relative < 1e-9
    shown = run.at(np.linspace(0, 4, 2001))
    stuck = shown["axle_turning"] == 0
    assert 0.2 < stuck.mean() < 0.9
    assert np.all(shown["axle_motor_rate"][stuck] == 0)


def test_driver_limits():
    motor = replace(COMAN, voltage_limit=5.0, current_limit=3.0)
    for current, within in (("absorbed", 1e-12), ("state", 1e-9)):
        wheel = actuator.dc_motors(flywheel(), motor, spring=SPRING, spring_damping=4.2, current=current)
        run = strut.simulate(wheel, t=2, u={"axle_voltage": 50.0}, **EXACT)
        currents = run.at(np.linspace(0, 0.6, 601))["axle_current"]
        assert currents.max() == pytest.approx(3.0, abs=1e-6)
        assert currents.max() <= 3.0 + within
        assert run.ledger.residual < 1e-9
        top = 5.0 / (motor.damping / motor.voltage_gain)  # where back-EMF and friction take the 5 V
        assert run["axle_motor_rate"][-1] == pytest.approx(top, rel=1e-4)
        # while the current is at its limit and, once back-EMF has taken that away, the voltage at its own
        assert run["axle_applied_voltage"].max() == pytest.approx(5.0, abs=1e-9)
        assert run.time_at_limits == {"axle_driver_at_limit": pytest.approx(1.0, abs=0.01)}
    assert wheel.u[0].limits == (-5.0, 5.0)
    gentle = strut.simulate(wheel, t=2, u={"axle_voltage": 1.0}, **EXACT)
    assert gentle.time_at_limits == {}
    assert gentle["axle_applied_voltage"][-1] == 1.0


@pytest.mark.parametrize("current", ["absorbed", "state"])
def test_a_voltage_that_is_no_number_does_not_become_the_limit(current):
    """C's fmin(40, nan) is 40: full voltage in the place of a fault."""
    wheel = actuator.dc_motors(flywheel(), COMAN, spring=SPRING, spring_damping=4.2, current=current)
    changed = [q for q in wheel.x if q.name.endswith(("motor_rate", "current"))]
    rates = wheel.function("rates", [ca.vertcat(*[wheel.flow[q.name] for q in changed])])
    state = strut.system.start(wheel)
    assert np.isnan(rates(0, state.x, state.z, np.nan, state.p).full()).any()


def test_both_ways_of_damping_the_link():
    """The link's damping on both sides adds energy where the motor runs ahead: printed, not physical."""
    run = {}
    for printed in (False, True):
        wheel = actuator.dc_motors(
            flywheel(),
            COMAN,
            spring=SPRING,
            link_damping=8.0,
            printed_damping=printed,
            spring_damping=DAMPING,
        )
        run[printed] = strut.simulate(wheel, t=2, u={"axle_voltage": VOLTAGE}, **EXACT)
        assert run[printed].ledger.residual < 1e-9
    # at constant speed the motor carries back-EMF, friction and, where it acts on the link alone, its damping
    steady = COMAN.voltage_gain * VOLTAGE / (COMAN.damping + 8.0)
    assert run[False]["axle_rate"][-1] == pytest.approx(steady, rel=1e-4)
    assert run[True]["axle_rate"][-1] == pytest.approx(COMAN.voltage_gain * VOLTAGE / COMAN.damping, rel=1e-4)


def test_two_rigid_rotors_are_the_armatures_of_their_joints():
    def arm(**armature):
        m = Mechanism("arm", planar=True)
        at, where = m.world, (0, 0, 0)
        for name in ("shoulder", "elbow"):
            link = m.body(f"{name}_link", mass=1.0, com=(0, 0, -0.2), inertia=0.02)
            m.joint(name, at, link, joints.revolute("y"), at=where, initial=0.5, **armature)
            at, where = link, (0, 0, -0.4)
        return mechanism.system(m)

    u = {"shoulder_voltage": 1.0, "elbow_voltage": -1.0}
    ours = strut.simulate(actuator.dc_motors(arm(), RIGID), t=1, u=u, **EXACT)
    carried = actuator.dc_motors(arm(armature=RIGID.inertia), RIGID, armature=True)
    theirs = strut.simulate(carried, t=1, u=u, **EXACT)
    np.testing.assert_allclose(ours.raw.x_end[:4], theirs.raw.x_end[:4], atol=1e-10)
    assert ours.ledger.residual < 1e-10
    assert theirs.ledger.residual < 1e-10


def test_motors_change_names_with_the_legs():
    """A compass whose hip has a motor: after a heel strike current, friction and angle are the motor's still."""
    motor = replace(MOTORS["maxon-re40-gp42c"], gear_stiffness=200.0)
    driven = actuator.dc_motors(walkers.compass(), motor, spring_damping=1.0, current="state")
    strike = driven.event("heel_strike").reset
    for name in ("hip_current", "hip_turning", "hip_motor"):
        assert ca.is_equal(ca.simplify(ca.SX(strike[name]) + driven[name]), ca.SX(0), 3)
    run = strut.simulate(driven, t=1.5, u={"hip_voltage": 0.5})
    assert run.ledger.relative < 1e-7


def own_motor():
    """A rigid motor of one's own: the same equations, written by hand."""
    angle, rate, volts = Input("angle"), Input("rate"), Input("voltage", 0.0, "V")
    i = State("current", 0.0, "A")
    n, k, R, L = (
        Param(name, value) for name, value in (("n", 100.0), ("k", 0.041), ("R", 0.664), ("L", 3.2e-4))
    )
    return System(
        "own_motor",
        x=[i],
        u=[angle, rate, volts],
        p=[n, k, R, L],
        flow={i: (volts - R * i - n * k * rate) / L},
        outputs={"torque": n * k * i - n**2 * COMAN.viscous * rate},
        ledger=Ledger(
            {"coil": L * i**2 / 2}, {"power": volts * i}, {"heat": R * i**2, "drag": n**2 * COMAN.viscous * rate**2},
            electrical=("power",),
        ),
    )  # fmt: skip


def test_a_drive_of_ones_own_in_one_call():
    m = Mechanism("flywheel", planar=True, g=0.0)
    wheel = m.body("wheel", mass=1.0, inertia=2.0)
    m.joint("axle", m.world, wheel, joints.revolute("y"), armature=COMAN.inertia)
    machine = mechanism.system(m)
    ours = actuator.attach(machine, own_motor())
    theirs = actuator.dc_motors(machine, RIGID, armature=True, current="state")
    run = strut.simulate(ours, t=0.3, u={"axle.voltage": VOLTAGE}, **EXACT)
    again = strut.simulate(theirs, t=0.3, u={"axle_voltage": VOLTAGE}, **EXACT)
    assert run["axle"][-1] == pytest.approx(again["axle"][-1], abs=1e-11)
    assert run.ledger.residual < 1e-10
    assert ours.ledger.electrical == ("axle.power",)
    assert set(run.ledger.supplied) == {"axle.power"}
    with pytest.raises(UnknownNameError, match="no output 'push' to turn a joint with"):
        actuator.attach(machine, own_motor(), torque="push")
    with pytest.raises(ModelError, match="counted the other way"):
        actuator.attach(walkers.compass(), own_motor())


def test_electrical_energy_is_a_cost_of_transport():
    motor = replace(MOTORS["maxon-re40-gp42c"], gear_stiffness=200.0)
    walker = actuator.dc_motors(walkers.compass(slope=0.06), motor, spring_damping=1.0, smooth=True)
    step = strut.simulate(walker, t=0.5, u={"hip_voltage": 0.3})
    from strut.gait.energetics import energetics

    account = energetics(step, 0.4)
    assert "squared-torque" not in account.costs  # inputs are voltages
    power = step.at(np.linspace(0, 0.5, 4001))
    drawn = np.maximum(0.3 * power["hip_current"], 0)
    expected = np.trapezoid(drawn, np.linspace(0, 0.5, 4001)) / account.weight / 0.4
    assert account.costs["electrical"] == pytest.approx(expected, rel=1e-3)
    assert "electrical" in gait.COST_MEANINGS
    with pytest.raises(ModelError, match="draws no electrical power"):
        strut.optimal.design(walkers.compass(), cost="electrical", speed=0.5)
    with pytest.raises(ModelError, match="'hip_voltage' of 'compass' is a voltage"):
        strut.optimal.design(walker, cost="squared-torque", speed=0.5)


@pytest.mark.slow  # a search of half a minute
def test_a_design_finds_the_gear_ratio_by_electrical_energy():
    motor = replace(MOTORS["maxon-re40-gp42c"], gear_stiffness=300.0)
    walker = actuator.dc_motors(walkers.compass(slope=0.0), motor, spring_damping=1.0, smooth=True)
    asked = {"cost": "electrical", "speed": 0.5, "step_length": 0.35}
    best = strut.optimal.design(walker, free={"hip_gear_ratio": (10, 300)}, **asked)
    assert best.ok
    for ratio in (0.8, 1.25):
        other = strut.optimal.design(
            walker.using(hip_gear_ratio=ratio * best.parameters["hip_gear_ratio"]), guess=best, **asked
        )
        assert other.ok
        assert other.result.cost > best.result.cost


def test_a_random_tree_with_drives_is_the_same_in_c_and_in_the_virtual_machine(tmp_path):
    tree = driven_tree()
    runs = [
        strut.simulate(tree, t=0.2, method="rk4", step=2e-4, backend=backend, ledger=False)
        for backend in ("native", "virtual")
    ]
    native, virtual = (run.raw.x_end for run in runs)
    np.testing.assert_allclose(native, virtual, rtol=1e-10, atol=1e-10 * np.abs(virtual).max())
    t = np.linspace(0, 0.2, 5)
    for name in ("tip_acceleration[1]", "tip_gyro[2]", "j1_encoder", "j3_voltage"):
        np.testing.assert_allclose(*[run.at(t)[name] for run in runs], rtol=1e-9, atol=1e-9)
    exported = strut.export(tree, tmp_path)
    assert {"driven_tree.c", "driven_tree.h", "main.c"} <= set(exported.files)


TOML = """
name = "arm"
planar = true
[bodies.link]
mass = 2.0
com = [0, 0, -0.2]
inertia = 0.02
[joints.elbow]
type = "revolute"
axis = "y"
parent = "world"
child = "link"
[drives.arm]
of = ["elbow"]
motor = "rbe1211-csd17"
spring = 415
coulomb = 0.03
"""


def test_a_table_of_a_model_file():
    arm = strut.contact.parse(TOML)
    assert {"elbow_voltage"} == {q.name for q in arm.u}
    assert "elbow_turning" in arm.labels("z")
    values = {q.name: float(q.value[0]) for q in arm.p}
    assert (values["elbow_series_spring"], values["elbow_gear_ratio"]) == (415.0, 100.0)
    sprung = strut.contact.parse(TOML.split("motor")[0] + 'kind = "series"\nstiffness = 50\n')
    assert "elbow_motor_torque" in {q.name for q in sprung.u}
    for line, sentence in (
        ("gear_ratio = 0", "gear_ratio of a motor is 0.0: a positive number is needed"),
        ("resistance = -1", "resistance of a motor is -1.0: a positive number in ohm is needed"),
        ("sprung = 3", "'sprung' is unknown here: did you mean 'spring'?"),
        ('current = "off"', "current of motors is 'off': allowed are 'absorbed' and 'state'"),
        ("smooth = 1", "smooth is 1: true or false is needed"),
    ):
        with pytest.raises(ModelError, match=sentence.replace("?", r"\?")):
            strut.contact.parse(TOML + line)
    with pytest.raises(ModelError, match="a motor needs torque_constant, rotor_inertia: give them, or motor"):
        strut.contact.parse(TOML.replace('motor = "rbe1211-csd17"', "resistance = 1"))
    with pytest.raises(ModelError, match="no motor 'rbe' in the catalogue"):
        strut.contact.parse(TOML.replace("rbe1211-csd17", "rbe"))
    with pytest.raises(ModelError, match="has no drive 'knee'"):
        strut.contact.parse(TOML.replace('"elbow"]', '"knee"]'))


def test_mistakes_are_explained():
    for number, sentence in (
        ({"resistance": -1.0}, "resistance of a motor is -1.0: a positive number in ohm is needed"),
        ({"gear_ratio": 0}, "gear_ratio of a motor is 0: a positive number is needed"),
        ({"viscous": -1e-3}, "viscous of a motor is -0.001: zero or a positive number in N m s/rad"),
        ({"coulomb": 0.2, "stiction": 0.1}, "stiction of a motor is 0.1 N m, below its coulomb friction"),
        ({"voltage_limit": 0}, "voltage_limit of a motor is 0"),
    ):
        with pytest.raises(ValueRangeError, match=sentence):
            DcMotor(**{"resistance": 1.0, "torque_constant": 0.1, "rotor_inertia": 1e-5} | number)
    wheel = flywheel()
    with pytest.raises(ValueRangeError, match="the inductance of the motor is 0 H"):
        actuator.dc_motors(wheel, replace(COMAN, inductance=0.0), current="state")
    with pytest.raises(ValueRangeError, match="spring of a motor is -3"):
        actuator.dc_motors(wheel, COMAN, spring=-3)
    with pytest.raises(ValueRangeError, match="link_damping of a motor is -1"):
        actuator.dc_motors(wheel, COMAN, link_damping=-1)
    with pytest.raises(ValueRangeError, match="printed_damping puts the damping of the joint on the motor"):
        actuator.dc_motors(wheel, RIGID, printed_damping=True, link_damping=1.0)
    with pytest.raises(ModelError, match="must stop the rotor behind its rigid gear"):
        actuator.dc_motors(walkers.compass(), replace(RIGID))
    with pytest.raises(ModelError, match="stiction holds a motor whose torque moves its own rate alone"):
        actuator.dc_motors(walkers.compass(), replace(RIGID, coulomb=0.01), armature=True)
    with pytest.raises(UnknownNameError, match="no motor 'maxon' in the catalogue"):
        actuator.dc_motors(wheel, "maxon")
    with pytest.raises(ModelError, match="has no drives"):
        actuator.dc_motors(walkers.slip(), COMAN)
    with pytest.raises(UnknownNameError, match="calls 'fan' electrical"):
        wheel.replace(ledger=Ledger(electrical=("fan",)))
