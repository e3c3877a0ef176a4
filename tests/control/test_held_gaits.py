"""Gaits that are held: by LQR along the step and from step to step, and by joint impedance."""

import warnings

import casadi as ca
import numpy as np
import pytest

import strut
from strut import control, gait, optimal, walkers
from strut.errors import ModelError, UnknownNameError, ValueRangeError


@pytest.fixture(scope="module")
def steep():
    """The compass on 4.5 degrees, which doubles its period: its gait of one step is unstable."""
    return gait.find(walkers.compass(slope=np.deg2rad(4.5)), {"stance": 0.2516, "swing": -0.4087}, starts=0)


@pytest.fixture(scope="module")
def brisk():
    return optimal.design(walkers.compass(), speed=0.8)


def step_of(held, y):
    """The state after a step in the simulator, which knows nothing of variations."""
    begin = {**held.gait.x0, **dict(zip(held.gait.names, y, strict=True))}
    run = strut.simulate(
        held.system, t=1.5 * held.gait.period, x0=begin, z0=dict(held.gait.z0), rtol=1e-12, atol=1e-13
    )
    strike = next(e for e in run.events if e.name == held.gait.section)
    return np.array([strike.after[name] for name in held.gait.names])


def central_differences(held, size=1e-6):
    y, columns = held.gait.y0, []
    for k in range(len(y)):
        off = size * np.eye(len(y))[k]
        if held.gait.names[k] == "reference_clock":
            columns.append(np.zeros(len(y)))  # a step begins with its clock at zero
            continue
        columns.append((step_of(held, y + off) - step_of(held, y - off)) / (2 * size))
    return np.array(columns).T


@pytest.mark.parametrize("index", ["time", "auto"])
def test_the_unstable_compass_is_held_inside_a_half(steep, index):
    held = control.lqr(steep, index=index)
    assert held.method == f"LQR along the step, by {'time' if index == 'time' else 'stance'}"
    assert abs(steep.multipliers[0]) == pytest.approx(1.1065, abs=1e-4)
    assert np.abs(held.gait.multipliers).max() < 0.2
    measured = np.linalg.eigvals(central_differences(held))
    assert np.abs(measured).max() == pytest.approx(abs(held.gait.multipliers[0]), abs=1e-4)
    assert held.gait.period == pytest.approx(steep.period, abs=1e-6)  # it is the same gait


def test_the_stable_compass_too():
    """On 3 degrees: 0.58 without."""
    held = control.lqr(gait.find(walkers.compass()))
    assert abs(held.before.multipliers[0]) == pytest.approx(0.58, abs=1e-3)
    assert np.abs(held.gait.multipliers).max() < 0.5
    measured = np.linalg.eigvals(central_differences(held))
    assert np.abs(measured).max() == pytest.approx(abs(held.gait.multipliers[0]), abs=1e-6)


@pytest.mark.parametrize(
    ("price", "expected"),
    [(1.0, (0.759, 0.266, 0.105)), (1e-2, (0.411, 0.144, 0.045)), (1e-4, (0.399, 0.174, 0.0005))],
)
def test_hip_torque_from_step_to_step(steep, price, expected):
    """Multipliers that another implementation, with derivatives by central differences, found for Q = I."""
    one = dict.fromkeys(steep.names, 1.0)
    held = control.step_lqr(steep, by=["hip_torque"], deviation=one, change={"hip_torque": price**-0.5})
    assert np.abs(held.gait.multipliers)[:3] == pytest.approx(expected, abs=5e-4)


def test_from_step_to_step_the_simulated_step_agrees(steep):
    held = control.step_lqr(steep, by="hip_torque")
    expected = np.sort(np.abs(held.gait.multipliers))
    assert np.sort(np.abs(np.linalg.eigvals(central_differences(held)))) == pytest.approx(expected, abs=1e-4)


def test_a_parameter_of_the_machine_holds_it_from_step_to_step(steep):
    """A spring between the legs whose stiffness is set once per step."""
    held = control.step_lqr(steep, by=["hip_spring"])
    assert np.abs(held.gait.multipliers).max() < 0.5
    assert "hip_spring" in held.system.labels("p")
    assert held.system.labels("x")[-1] == "hip_spring_change"


def test_springs_that_motors_play_hold_a_design(brisk):
    """Nothing added, nothing changed; with springs, indexed by the stance angle, it is held."""
    free = control.track(brisk, 0.0, index="time")
    assert abs(free.gait.multipliers[0]) == pytest.approx(abs(brisk.gait.multipliers[0]), rel=1e-5)
    assert not free.stable
    held = control.track(brisk, {"hip_torque": 200.0}, 20.0)
    assert held.stable
    assert held.settings == {"hip_torque_stiffness": 200.0, "hip_torque_damping": 20.0}
    stiffer = held.system.using(hip_torque_stiffness=300.0)  # they are parameters: nothing is compiled again
    assert gait.find(stiffer, dict(held.gait.x0), starts=0).stable


@pytest.fixture(scope="module")
def held_design(brisk):
    return control.lqr(brisk)


def test_a_design_is_held(brisk, held_design):
    assert abs(brisk.gait.multipliers[0]) > 1.3
    assert np.abs(held_design.gait.multipliers).max() < 0.5
    assert "LQR along the step, by stance, largest multiplier 1.376" in repr(held_design)


def test_it_is_saved_and_read_again(held_design, tmp_path):
    again = control.HeldGait.load(held_design.save(tmp_path / "held.h5"))
    assert again.gait.multipliers == pytest.approx(held_design.gait.multipliers)
    assert again.before.period == held_design.before.period
    assert again.method == held_design.method


def test_what_cannot_be_held_is_said(steep, brisk):
    with pytest.raises(ModelError, match=r"'simplest' has no inputs: .* control.step_lqr"):
        control.lqr(gait.find(walkers.simplest()))
    with pytest.raises(ModelError, match="hold the Design"):
        control.lqr(brisk.gait)
    with pytest.raises(UnknownNameError, match=r"'hip' is no input of 'compass'.*hip_torque"):
        control.lqr(steep, effort={"hip": 1.0})
    with pytest.raises(UnknownNameError, match="'stanse' is no state of 'compass'.*stance"):
        control.lqr(steep, deviation={"stanse": 1.0})
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(
            ValueRangeError, match="effort of 'hip_torque' is .*: a positive number is needed"
        ):
            control.lqr(steep, effort={"hip_torque": wrong})
        with pytest.raises(
            ValueRangeError, match="change of 'hip_torque' is .*: a positive number is needed"
        ):
            control.step_lqr(steep, by=["hip_torque"], change={"hip_torque": wrong})
    with pytest.raises(ModelError, match="the index 'swing' does not grow, or fall, all through a step"):
        control.lqr(steep, index="swing")
    with pytest.raises(UnknownNameError, match="no input or parameter of 'compass' that could change"):
        control.step_lqr(steep, by=["hip_torqe"])
    with pytest.raises(ModelError, match="nothing may change from step to step"):
        control.step_lqr(steep, by=[])
    with pytest.raises(ModelError, match="is named twice"):
        control.step_lqr(steep, by=["hip_torque", "hip_torque"])
    with pytest.raises(ValueRangeError, match="stiffness of 'hip_torque' is -1: 0 or more is needed"):
        control.track(brisk, -1.0)
    with pytest.raises(UnknownNameError, match="damping of 'knee', which is no input"):
        control.track(brisk, 1.0, {"knee": 1.0})


def test_a_wrong_source_names_the_function_that_was_called():
    with pytest.raises(strut.StrutError, match=r"lqr"):
        control.lqr("compass")
    with pytest.raises(strut.StrutError, match=r"track"):
        control.track(3, 1.0)


def test_inputs_keep_their_limits(brisk):
    """A little more than the plan needs: what feedback asks beyond it is cut off, and said."""
    planned = float(
        np.abs(brisk.gait.trajectory.at(np.linspace(0, brisk.gait.period, 500))["hip_torque_planned"]).max()
    )
    held = control.lqr(brisk, limits={"hip_torque": 1.02 * planned})
    assert held.settings["largest of hip_torque"] == pytest.approx(1.02 * planned)
    begin = {**held.gait.x0, "stance_rate": 1.03 * held.gait.x0["stance_rate"]}
    run = strut.simulate(held.system, t=3, x0=begin, z0=dict(held.gait.z0))
    t = np.linspace(0, 3, 3000)
    moments = run.at(t)
    given = moments["hip_torque_planned"] + moments["hip_torque_feedback"] - moments["hip_torque_cut_off"]
    assert np.abs(given).max() == pytest.approx(1.02 * planned, rel=1e-9)
    costs = {row.name: row.after for row in held.costs}
    assert 0 < costs["share of time at the limit of hip_torque after that push"] < 1
    with pytest.raises(ValueRangeError, match="needs hip_torque from .* a gait within them is needed first"):
        control.lqr(brisk, limits={"hip_torque": 0.5 * planned})
    with pytest.raises(UnknownNameError, match="limits of 'knee', which is no input"):
        control.lqr(brisk, limits={"knee": 1.0})
    with pytest.raises(ValueRangeError, match="limit of 'hip_torque' is -1"):
        control.lqr(brisk, limits={"hip_torque": -1.0})


def test_the_largest_effort_is_that_of_the_loop_itself(brisk):
    """By derivatives of the feedback in the closed loop, at moments of its gait, in the worst direction of one
    acceptable deviation; between the places of the table, where efforts are taken, gains differ by half a percent."""
    held = control.lqr(brisk, index="time")
    loop, told = held.system, held.efforts["hip_torque"]
    names = [n.removeprefix("acceptable deviation of ") for n in held.settings if "deviation" in n]
    by_state = ca.jacobian(loop.outputs["hip_torque_feedback"], ca.vertcat(*[loop[n] for n in names]))
    slopes = loop.function("slopes", [by_state], "xzp", clock=False)
    run = held.gait.trajectory
    acceptable = np.array([held.settings[f"acceptable deviation of {n}"] for n in names])
    p = strut.system.start(loop).p
    norms = []
    for t in np.linspace(0, run.t1 * (1 - 1e-6), 400):
        moment = run.at(t)
        x, z = ([float(moment[n]) for n in loop.labels(group)] for group in "xz")
        norms.append(np.linalg.norm(np.array(slopes(x, z, p)).ravel() * acceptable))
    assert max(norms) == pytest.approx(told, rel=0.01)
    row = next(c for c in held.costs if c.name.startswith("hip_torque beyond the plan for one acceptable"))
    assert (row.after, row.unit) == (told, "N m")


def test_an_effort_beyond_the_limits_is_warned_of(brisk):
    """A regulator that may ask for anything asks for more than the motor has; a softer one does not."""
    limits = {"hip_torque": 12.0}
    asked = r"'compass' asks more than it can have: hip_torque: one.*a smaller effort=\{'hip_torque': \.\.\.\} makes"
    with pytest.warns(control.EffortWarning, match=asked):
        held = control.lqr(brisk, limits=limits)
    (fault,) = held.effort_faults
    assert "effort=" not in fault  # who asks on the command line is told in other words
    assert f"up to {held.efforts['hip_torque']:.4g} beyond the plan" in fault
    assert "its limits are -12 to 12" in fault
    assert "asks hip_torque for more than limits allow, see effort_faults" in repr(held)
    push = next(row for row in held.comparison if "all rates faster" in row.name)
    assert "m/s" not in push.note  # a part of the rates, not a speed
    assert push.name.endswith("relative")
    units = {name: unit for name, _, unit in held.setting_rows()}
    assert units["acceptable deviation of stance"] == "rad"
    assert units["acceptable effort of hip_torque"] == "N m"
    assert fault in held.data()["effort_faults"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        soft = control.lqr(brisk, limits=limits, effort={"hip_torque": 0.3})
    assert not soft.effort_faults
    assert soft.efforts["hip_torque"] < 12.0 < held.efforts["hip_torque"]


def test_what_no_input_moves_is_named(steep):
    """A parameter that the step does not depend on moves nothing."""
    idle = strut.Param("idle", 1.0)
    walker = steep.system.replace(p=(*steep.system.p, idle))
    unmoved = gait.find(walker, dict(steep.x0), starts=0)
    with pytest.raises(
        ModelError, match=r"not controllable: its mode of multiplier 1\.106, mostly .* by idle"
    ):
        control.step_lqr(unmoved, by=["idle"])


def test_what_is_conserved_is_said_to_be():
    """The angle of attack of a runner on a spring does not change its energy."""
    with pytest.raises(
        ModelError, match=r"multiplier 1, mostly .* does not die out \(something is conserved\)"
    ):
        control.step_lqr(gait.find(walkers.slip()), by=["attack"])


def test_designed_knees_are_held():
    """Two phases, with a knee strike between that comes when it comes: 5.55 without, inside a half with it."""
    design = optimal.design(walkers.kneed(), speed=0.5)
    held = control.lqr(design)
    assert abs(design.gait.multipliers[0]) == pytest.approx(5.552, abs=1e-3)  # its plan waits for the knee
    assert np.abs(held.gait.multipliers).max() < 0.5
    measured = central_differences(held)
    assert np.abs(np.linalg.eigvals(measured)).max() == pytest.approx(abs(held.gait.multipliers[0]), abs=2e-3)
