"""Runs in lanes of a core are the ordinary ones: states, times, outputs, energy, failures; and mistakes are told."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Event, Param, State, System, contact, walkers
from strut.codegen import LANES, compiler, full_lanes
from strut.errors import ModelError, StrutError
from tests.codegen.test_c import EVERY, POINTS, a, b
from tests.contact.machines import box

ROUNDING = 1e-12  # sines of whole registers are within 4 units of the last place, and sums may be fused

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C compiler")


def pair(system, t, lanes="auto", **asked):
    return [strut.simulate_batch(system, t, lanes=each, **asked) for each in (1, lanes)]


def assert_same(one, other, tolerance):
    assert one.status.tolist() == other.status.tolist()
    for name in ("steps", "cause", "culprit"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    unended = one.status == "done"
    np.testing.assert_array_equal(one.t[unended], other.t[unended])
    np.testing.assert_allclose(other.t, one.t, rtol=tolerance)
    np.testing.assert_allclose(other.x, one.x, rtol=tolerance, atol=tolerance)
    for name, values in one.outputs.items():
        np.testing.assert_allclose(other.outputs[name], values, rtol=tolerance, atol=tolerance, err_msg=name)


@needs_compiler
@pytest.mark.parametrize("lanes", LANES)
def test_every_operation(lanes):
    system = System("every", x=[a, b], flow={a: 0, b: 0}, outputs=EVERY)
    scalar, wide = pair(
        system, 0.1, lanes, x0=POINTS, outputs=list(EVERY), method="euler", step=0.1, threads=1
    )
    assert (scalar.device, wide.device) == ("cpu", f"cpu, {lanes} lanes")
    for name in EVERY:
        np.testing.assert_allclose(
            wide.outputs[name], scalar.outputs[name], rtol=1e-14, atol=1e-300, err_msg=name
        )


@needs_compiler
@pytest.mark.parametrize(("runs", "method"), [(1, "rk4"), (11, "rk4"), (11, "rkc")])
def test_a_box_on_soft_ground(runs, method):
    """Contact inside the flow, with stops on and off the grid of steps, and the ledger; by a method whose
    stages need the one before alone, and by one whose stages need all before."""
    machine, feet = box(height=0.2)
    system = contact.compliant(machine, feet, law=contact.hunt_crossley(1e5, 0.3), events=False)
    asked = {"x0": {"base.pitch": np.linspace(-0.3, 0.3, runs)}, "method": method, "step": 1e-4}
    scalar, wide = pair(system, 0.2, outputs=["com_z"], at=[0.0, 0.05, 0.100033, 0.2], ledger=True, **asked)
    assert_same(scalar, wide, 1e-9)  # 2000 steps on stiff ground magnify rounding
    for group in ("supplied", "dissipated"):
        for name, values in getattr(scalar, group).items():
            np.testing.assert_allclose(getattr(wide, group)[name], values, rtol=1e-9, atol=1e-9)
    assert len(wide) == runs


@needs_compiler
def test_one_run_that_blows_up_ends_alone():
    """x' = x^2 ends at 1/x0: some of the runs reach infinity, and say which state and when, as ordinary ones do."""
    x, y = State("x", 0.0), State("y", 1.0)
    system = System("blowup", x=[x, y], flow={x: x.sym**2, y: -y.sym}, outputs={"sum": x.sym + y.sym})
    begin = np.linspace(-1.0, 3.0, 20)
    scalar, wide = pair(
        system, 1.0, x0={"x": begin}, outputs=["sum"], at=[0.25, 0.5, 1.0], method="rk4", step=0.01
    )
    ends = np.isin(scalar.status, ["done"])
    assert 0 < ends.sum() < len(begin)
    np.testing.assert_array_equal(ends, begin < 1.0)
    assert_same(scalar, wide, 1e-9)
    at_end = pair(system, 1.0, x0={"x": begin}, outputs=["sum"], method="rk4", step=0.01)
    assert_same(*at_end, 1e-9)
    assert [at_end[0].message(k) for k in range(20)] == [at_end[1].message(k) for k in range(20)]


@needs_compiler
def test_parameters_of_their_own_and_the_most_steps():
    rate = Param("rate", 1.0)
    x = State("x", 1.0)
    system = System("decay", x=[x], p=[rate], flow={x: -rate.sym * x.sym})
    rates = np.linspace(0.1, 3.0, 100)
    wide = strut.simulate_batch(system, 1.0, p={"rate": rates}, method="rk4", step=1e-3, lanes="auto")
    np.testing.assert_allclose(wide["x"], np.exp(-rates), rtol=1e-11)
    assert_same(*pair(system, 1.0, p={"rate": rates}, method="rk4", step=1e-3, max_steps=10), ROUNDING)
    assert_same(*pair(system, 1.0, p={"rate": rates}, method="rk4", step=1e-1, max_step=0.03), ROUNDING)


@needs_compiler
def test_single_precision_is_near():
    x, v = State("x", 1.0), State("v", 0.0)
    system = System("spring", x=[x, v], flow={x: v.sym, v: -ca.sin(x.sym)})
    exact, single = (
        strut.simulate_batch(
            system, 3.0, x0={"x": np.linspace(0.1, 1, 33)}, method="rk4", step=1e-3, lanes="auto", precision=p
        )
        for p in ("double", "single")
    )
    assert single.device == f"cpu, {full_lanes('single')} lanes"
    difference = np.abs(exact.x - single.x).max()
    assert 0 < difference < 1e-4  # 24 bits, 3000 steps


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"lanes": 3}, "lanes is 3: give 1, 2, 4, 8, 16, or 'auto'"),
        ({"lanes": "all"}, "lanes is 'all'"),
        ({"lanes": 8, "backend": "virtual"}, "backend 'virtual' does one run after the other"),
        ({"lanes": 8, "device": "cuda"}, "lanes are of a processor"),
        ({"lanes": 8, "method": "dop853"}, "method 'dop853' cannot run in lanes"),
    ],
)
def test_mistakes_are_told(wrong, text):
    x = State("x", 1.0)
    system = System("decay", x=[x], flow={x: -x.sym})
    with pytest.raises(ModelError, match=text):
        strut.simulate_batch(system, 1.0, **{"method": "rk4", "step": 0.1, **wrong})


@needs_compiler
@pytest.mark.parametrize("at", [None, [0.2, 0.7, 1.1, 2.0]])
def test_runs_end_at_events_and_lanes_take_the_next(at):
    """A ball thrown up falls at 2 v / g: each run ends at its own time, found as without lanes; energy is booked."""
    z, v = State("z", 0.0), State("v", 1.0)
    drag = Param("drag", 0.3)
    falls = Event("falls", -z.sym - 0.01, terminal=True, failure=True)
    ball = System(
        "ball",
        x=[z, v],
        p=[drag],
        flow={z: v.sym, v: -9.81 - drag.sym * v.sym},
        events=[falls],
        outputs={"height": z.sym},
        ledger=strut.Ledger(
            stored={"ball": v.sym**2 / 2 + 9.81 * z.sym}, dissipated={"drag": drag.sym * v.sym**2}
        ),
    )
    asked = {"x0": {"v": np.random.default_rng(1).uniform(0, 15, 203)}, "method": "rk4", "step": 1e-2}
    scalar, wide = pair(ball, 2.0, outputs=["height"], at=at, ledger=True, **asked)
    assert set(scalar.status) == {"falls", "done"}
    assert_same(scalar, wide, 1e-10)
    np.testing.assert_array_equal(scalar.counts["falls"], wide.counts["falls"])
    np.testing.assert_allclose(wide.dissipated["drag"], scalar.dissipated["drag"], rtol=1e-9, atol=1e-12)
    dull = strut.simulate_batch(ball, 2.0, p={"drag": 0.0}, **asked, lanes="auto")
    fell = dull.status == "falls"
    v0 = asked["x0"]["v"][fell]
    np.testing.assert_allclose(dull.t[fell], (v0 + np.sqrt(v0**2 + 2 * 9.81 * 0.01)) / 9.81, rtol=1e-9)


@needs_compiler
def test_an_event_that_is_there_from_the_beginning():
    """One that is eager ends a run at once, one that is not waits until it has been false."""
    x = State("x", 0.0)
    wave = ca.sin(x.sym)
    for eager in (True, False):
        over = Event("over", wave - 0.5, terminal=True, eager=eager)
        system = System("phase", x=[x], flow={x: 1.0}, events=[over])
        begin = np.linspace(0.0, 3.0, 13)
        assert_same(*pair(system, 9.0, x0={"x": begin}, method="rk4", step=1e-2), ROUNDING)


def test_a_walker_with_events_is_refused():
    with pytest.raises(StrutError, match="without samples, delays and events, but for those that end a run"):
        strut.simulate_batch(walkers.compass(), 1.0, method="rk4", step=1e-3, lanes=8)
