"""A state that is not finite ends a run, wherever it came from, and every engine says the same."""

import math
import subprocess

import casadi as ca
import numpy as np
import pytest

import strut
from strut import Delay, Discrete, Event, Param, Sample, State, System

ENGINES = [
    {"backend": "native"},
    {"backend": "virtual"},
    {"backend": "native", "method": "radau", "rtol": 1e-8},
    {"backend": "virtual", "method": "bdf", "rtol": 1e-8},
    {"backend": "native", "method": "euler", "step": 0.1},
    {"backend": "virtual", "method": "rk4", "step": 0.1},
]
CLOCK = 1e-7
"""[s] How exactly the engines agree on the time of an event, at the tolerances above."""


def reset_to_infinity(value=math.inf):
    x, y = State("x", 0.0), State("y", 0.0)
    return System("s", x=[x, y], flow={x: 1.0, y: 0.0}, events=[Event("a", x - 1.5, reset={y: value})])


def reset_divides_by_zero():
    """A guard that is zero to the last digit where it fires makes the quotient infinite or huge; a switch makes it infinite."""
    x, y = State("x", 0.0), State("y", 0.0)
    huge = ca.if_else(ca.fabs(x - 1.5) < 1e-6, 1 / (x - x), 1.0)
    return System("s", x=[x, y], flow={x: 1.0, y: 0.0}, events=[Event("a", x - 1.5, reset={y: huge})])


def guard_of_that_state():
    x, y = State("x", 0.0), State("y", -1.0)
    events = [Event("a", x - 1.5, reset={y: math.inf}), Event("b", y, reset={x: 0.0})]
    return System("s", x=[x, y], flow={x: 1.0, y: 0.0}, events=events)


def discrete_state():
    x, n = State("x", 0.0), Discrete("n", 0.0)
    return System("s", x=[x], z=[n], flow={x: 1.0}, events=[Event("a", x - 1.5, reset={n: -math.inf})])


def sampled():
    x, n = State("x", 1.0), Discrete("n", 0.0)
    return System(
        "s", x=[x], z=[n], flow={x: 0.0}, samples=[Sample("b", every=0.5, set={n: n + 1, x: 1 / (3 - n)})]
    )


def flow_of_time():
    x, y = State("x", 1.0), State("y", 1.0)
    return System("s", x=[x, y], flow={x: 0.0, y: ca.if_else(strut.time < 0.99999, 0.1, math.inf)})


def flow_at_the_beginning():
    x, y, k = State("x", 1.0), State("y", 1.0), Param("k", 0.0)
    return System("s", x=[x, y], p=[k], flow={x: 0.0, y: 1 / k})


def flow_after_a_reset():
    x, y = State("x", 0.0), State("y", 1.0)
    return System("s", x=[x, y], flow={x: 1.0, y: 1 / y}, events=[Event("a", x - 1.5, reset={y: 0.0})])


def initial_value():
    k = Param("k", 0.0)
    x, y = State("x", 1.0), State("y", 1 / k)
    return System("s", x=[x, y], p=[k], flow={x: 0.0, y: 0.0})


def initial_discrete():
    k = Param("k", 0.0)
    x, n = State("x", 1.0), Discrete("n", ca.log(k))
    return System("s", x=[x], z=[n], p=[k], flow={x: 0.0})


def delayed():
    x, y = State("x", 0.0), State("y", 0.0)
    past = Delay("past", signal=1 / x, by=1.0, before=0.0)
    return System("s", x=[x, y], delays=[past], flow={x: 0.0, y: past})


def terminal():
    x, y = State("x", 0.0), State("y", 0.0)
    return System(
        "s", x=[x, y], flow={x: 1.0, y: 0.0}, events=[Event("a", x - 1.5, reset={y: math.nan}, terminal=True)]
    )


SET = "a finite number is needed, mend its reset"
BEGINS = "a finite number is needed, mend its initial value"
FLOWS = "its rate is infinite or not a number there, or the step is too long"
CASES = [
    (reset_to_infinity, 1.5, f"state 'y' is inf at t = 1.5 s, set by event 'a': {SET}"),
    (reset_divides_by_zero, 1.5, f"state 'y' is inf at t = 1.5 s, set by event 'a': {SET}"),
    (guard_of_that_state, 1.5, f"state 'y' is inf at t = 1.5 s, set by event 'a': {SET}"),
    (discrete_state, 1.5, f"discrete state 'n' is -inf at t = 1.5 s, set by event 'a': {SET}"),
    (sampled, 1.5, f"state 'x' is inf at t = 1.5 s, set by sample 'b': {SET}"),
    (flow_at_the_beginning, 0.0, f"state 'y' does not stay finite after t = 0 s: {FLOWS}"),
    (flow_after_a_reset, 1.5, f"state 'y' does not stay finite after t = 1.5 s: {FLOWS}"),
    (initial_value, 0.0, f"state 'y' begins with inf at t = 0 s: {BEGINS}"),
    (initial_discrete, 0.0, f"discrete state 'n' begins with -inf at t = 0 s: {BEGINS}"),
    (terminal, 1.5, f"state 'y' is nan at t = 1.5 s, set by event 'a': {SET}"),
]


def words(message: str) -> str:
    """A message with its time rounded to what the engines agree on."""
    before, found, rest = message.partition("t = ")
    number, _, after = rest.partition(" s")
    return f"{before}t = {round(float(number), 6):g} s{after}" if found else message


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: f"{e['backend']}-{e.get('method', 'dop853')}")
@pytest.mark.parametrize(("make", "t", "message"), CASES, ids=[c[0].__name__ for c in CASES])
def test_every_engine_says_the_same(make, t, message, engine):
    run = strut.simulate(make(), t=4.0, **engine)
    assert run.status == "not finite"
    assert not run.ok
    assert run.t1 == pytest.approx(t, abs=CLOCK)
    assert words(run.message) == message


@pytest.mark.parametrize("engine", ENGINES, ids=lambda e: f"{e['backend']}-{e.get('method', 'dop853')}")
def test_a_rate_that_becomes_infinite(engine):
    """Adaptive methods come as near as the clock resolves; one of a fixed step stops before the step that fails."""
    run = strut.simulate(flow_of_time(), t=4.0, **engine)
    assert run.status == "not finite"
    assert run.t1 == pytest.approx(0.99999, abs=0.1 + CLOCK if "step" in engine else CLOCK)
    assert "state 'y' does not stay finite after t = " in run.message


@pytest.mark.parametrize("engine", ENGINES[:4], ids=lambda e: f"{e['backend']}-{e.get('method', 'dop853')}")
def test_a_delayed_signal_that_is_infinite(engine):
    run = strut.simulate(delayed(), t=4.0, **engine)
    assert run.status == "not finite"
    assert run.t1 == pytest.approx(1.0, abs=CLOCK)
    assert words(run.message) == f"state 'y' does not stay finite after t = 1 s: {FLOWS}"


@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_a_batch_marks_the_run_and_goes_on(backend):
    x, y, k = State("x", 0.0), State("y", 0.0), Param("k", 1.0)
    system = System(
        "s", x=[x, y], p=[k], flow={x: 1.0, y: 0.0}, events=[Event("a", x - 1.5, reset={y: 1 / k})]
    )
    batch = strut.simulate_batch(system, t=4.0, p={"k": [1.0, 0.0, 2.0]}, backend=backend)
    assert list(batch.status) == ["done", "not finite", "done"]
    assert list(batch.ok) == [True, False, True]
    assert words(batch.message(1)) == f"state 'y' is inf at t = 1.5 s, set by event 'a': {SET}"
    assert batch.message(0) == "t = 4 s: the run reached its end"
    begins = strut.simulate_batch(initial_value(), t=1.0, p={"k": [1.0, 0.0]}, backend=backend)
    assert list(begins.status) == ["done", "not finite"]
    assert begins.message(1) == f"state 'y' begins with inf at t = 0 s: {BEGINS}"


@pytest.mark.parametrize(
    ("make", "culprit", "cause"), [(reset_to_infinity, 1, 0), (sampled, 0, 0), (initial_value, 1, -1)]
)
def test_exported_c_ends_too(tmp_path, make, culprit, cause):
    strut.export(make(), tmp_path)
    source = (tmp_path / "main.c").read_text()
    told = 'printf("%d %d %d\\n", (int)sim.status, (int)sim.culprit, (int)sim.cause);\n    return s_ok'
    (tmp_path / "main.c").write_text(source.replace("return s_ok", told))
    subprocess.run(["make", "-s", "s"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "s"], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == f"4 {culprit} {cause}"
    assert done.returncode == 4  # STRUT_NOT_FINITE


def test_a_saved_run_keeps_its_message(tmp_path):
    run = strut.simulate(reset_to_infinity(), t=4.0)
    assert strut.Trajectory.load(run.save(tmp_path / "run.h5")).message == run.message


def test_other_endings_have_sentences():
    assert strut.simulate(reset_to_infinity(2.0), t=1.0).message == "t = 1 s: the run reached its end"
    ended = strut.simulate(terminal().replace(events=[Event("a", strut.time - 0.5, terminal=True)]), t=1.0)
    assert ended.message == "t = 0.5 s: event 'a' ended the run"
    assert np.isfinite(ended.raw.x_end).all()
