"""Impedance along a phase: the signals against SciPy, tables against signals, torques in a machine, and
refusals."""

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from strut import control, walkers
from strut.control.phase_signal import phase_signal, table_value
from strut.errors import ModelError, UnknownNameError
from strut.simulate import simulate
from strut.studies.human_gait import JOINTS, human_walker
from strut.system import Param

PHASES = np.linspace(0, 1, 500, endpoint=False)


def values_of(signal, numbers, phases=PHASES):
    """A signal over phases: as it runs by itself, and as its table runs."""
    phase, p = ca.SX.sym("phase"), ca.vertcat(*[q.sym for q in signal.parameters])
    both = ca.vertcat(signal.value(phase), table_value(signal.table, phase))
    f = ca.Function("f", [phase, p], [both])
    return np.array([np.array(f(each, numbers)).ravel() for each in phases]).T


def test_a_cubic_is_scipys_monotone_cubic_around_the_cycle():
    signal = phase_signal("k", "ppoly", unit="", bounds=(0, 9), value=1.0)
    random = np.random.default_rng(5)
    assert [q.name for q in signal.parameters] == [
        *[f"k_share_{k}" for k in range(5)],
        *[f"k_{k}" for k in range(1, 5)],
    ]
    for _ in range(20):
        shares, y = random.uniform(0.01, 1, 5), random.uniform(-3, 3, 4)
        x = np.cumsum(shares)[:4] / shares.sum()
        around = np.concatenate([x + turn for turn in (-2, -1, 0, 1, 2)])
        expected = PchipInterpolator(around, np.tile(y, 5))(PHASES)
        ours, tabled = values_of(signal, [*shares, *y])
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(ours, tabled)
        assert y.min() - 1e-12 <= ours.min() <= ours.max() <= y.max() + 1e-12


@pytest.mark.parametrize(("on", "off"), [(0.2, 0.6), (0.7, 0.1), (0.3, 0.3)])
def test_steps_go_around_the_end_of_the_cycle(on, off):
    steps = Param("on", on), Param("off", off)
    signal = phase_signal("k", "step", unit="", bounds=(0, 9), value=1.0, steps=steps)
    phase = ca.SX.sym("phase")
    p = ca.vertcat(*[q.sym for q in (*signal.parameters, *steps)])
    both = ca.vertcat(signal.value(phase), table_value(signal.table, phase))
    f = ca.Function("f", [phase, p], [both])
    ours = np.array([np.array(f(each, [5.0, 2.0, on, off])).ravel() for each in PHASES])
    inside = (on <= PHASES) & (off > PHASES) if on <= off else (on <= PHASES) | (off > PHASES)
    np.testing.assert_array_equal(ours[:, 0], np.where(inside, 5.0, 2.0))
    np.testing.assert_array_equal(ours[:, 1], ours[:, 0])


@pytest.mark.parametrize(("mode", "count"), [("const", 33), ("step", 45), ("ppoly", 81)])
def test_parameters_are_counted_as_in_the_thesis(mode, count):
    assert len(control.phase_tables(JOINTS, mode).parameters) == count
    body = walkers.human(events=False)
    loop = control.phase_impedance(body, JOINTS, mode, frequency=0.9)
    assert len(loop.p) == len(body.p) + count + 1
    assert not loop.u
    assert loop.output_units["hip_r_torque"] == "N m"


def torque_function(system):
    torques = ca.vertcat(*[system[f"{joint}_{side}_torque"] for joint in JOINTS for side in "rl"])
    return system.function("torques", [torques], "xp")


@pytest.mark.parametrize("mode", ["const", "step", "ppoly"])
def test_one_machine_serves_every_mode(mode):
    """Torques of the machine of tables are those of the mode's own; legs are half a period apart."""
    tables = control.phase_tables(JOINTS, mode)
    random = np.random.default_rng(7)
    numbers = np.array([random.uniform(*q.bounds) for q in tables.parameters])
    own, tabled = human_walker(mode), human_walker("table")
    own = own.using(dict(zip(tables.names, numbers, strict=True)))
    row = tables.rows(numbers[None])[0]
    by_name = {}
    for label, value in zip(tables.labels, row, strict=True):
        by_name.setdefault(label.partition("[")[0], []).append(value)
    tabled = tabled.using(by_name)
    from strut.system import start

    one, other = torque_function(own), torque_function(tabled)
    x = random.uniform(-0.5, 0.5, own.size("x"))
    for t in random.uniform(0, 5, 50):
        a, b = (np.array(f(t, x, start(s).p)).ravel() for f, s in ((one, own), (other, tabled)))
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-9)
    swapped = x.copy()
    for name in own.labels("x"):
        if "_r" in name and name.replace("_r", "_l", 1) in own.labels("x"):
            i, j = own.labels("x").index(name), own.labels("x").index(name.replace("_r", "_l", 1))
            if name.startswith(("hip_r", "knee_r", "ankle_r")):
                swapped[i], swapped[j] = x[j], x[i]
    here = np.array(one(0.2, x, start(own).p)).ravel().reshape(3, 2)
    later = np.array(one(0.2 + 0.5 / 0.9, swapped, start(own).p)).ravel().reshape(3, 2)
    np.testing.assert_allclose(later[:, ::-1], here, rtol=1e-9, atol=1e-6)


def test_a_machine_of_ones_own_is_held_at_its_reference():
    """A pendulum of the guide: stiff enough, it follows; a limit holds; what is wrong is said."""
    pendulum = walkers.pendulum()
    joint = {"swing": control.PhaseJoint(["torque"], (-1.0, 1.0), stiffness=500.0, damping=50.0)}
    loop = control.phase_impedance(pendulum, joint, "const", frequency=0.5)
    loop = loop.using(
        swing_stiffness=500.0, swing_damping=20.0, **{f"swing_reference_{k}": 0.3 for k in range(1, 5)}
    )
    run = simulate(loop, 10.0, rtol=1e-8, atol=1e-8)
    droop = 500.0 * (0.3 - run["angle"][-1])
    assert abs(run["angle"][-1] - 0.3) < 0.05
    assert run["torque"][-1] == pytest.approx(droop, rel=1e-3)
    weak = control.phase_impedance(pendulum, joint, "const", frequency=0.5, limit=0.5)
    held = simulate(weak.using(swing_stiffness=500.0), 2.0)
    assert np.abs(held["torque"]).max() <= 0.5
    with pytest.raises(ModelError, match="mode of an impedance is 'spline'"):
        control.phase_impedance(pendulum, joint, "spline", frequency=0.5)
    with pytest.raises(UnknownNameError, match="no drive 'elbow'"):
        control.phase_impedance(pendulum, {"swing": control.PhaseJoint(["elbow"], (-1, 1))}, frequency=0.5)
    with pytest.raises(ModelError, match="is in 'swing' and in 'again'"):
        control.phase_impedance(pendulum, {**joint, "again": joint["swing"]}, frequency=0.5)
    with pytest.raises(ModelError, match="give a list of names"):
        control.PhaseJoint("torque", (-1, 1))
