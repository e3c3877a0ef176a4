"""Bad input to a run: a clear sentence, never a traceback from below."""

import math

import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import ModelError, ShapeError, StrutError, UnknownNameError, ValueRangeError

MISTAKES = [
    (
        {"t": 1.0, "p": {"mass": np.nan}},
        ValueRangeError,
        "parameter 'mass' is nan: a finite number is needed",
    ),
    (
        {"t": 1.0, "p": {"mass": -1.0}},
        ValueRangeError,
        "parameter 'mass' is -1 kg: allowed are 0 to 1e\\+06 kg",
    ),
    (
        {"t": 1.0, "p": {"mas": 1.0}},
        UnknownNameError,
        "'mas' is not a parameter of 'pendulum': did you mean 'mass'",
    ),
    ({"t": 1.0, "p": {"mass": "heavy"}}, ModelError, "parameter 'mass' is 'heavy': a number is needed"),
    ({"t": 1.0, "p": {"mass": [1.0, 2.0]}}, ShapeError, "parameter 'mass' has shape"),
    (
        {"t": 1.0, "x0": {"angel": 1.0}},
        UnknownNameError,
        "'angel' is not a state of 'pendulum': did you mean 'angle'",
    ),
    (
        {"t": 1.0, "x0": [1.0, 2.0, 3.0]},
        ShapeError,
        r"states of 'pendulum' need 2 number\(s\) \(angle, rate\)",
    ),
    (
        {"t": 1.0, "x0": [1.0, np.inf]},
        ValueRangeError,
        "states of 'pendulum' are .*: finite numbers are needed",
    ),
    ({"t": 1.0, "u": {"force": 1.0}}, UnknownNameError, "'force' is not an input"),
    ({"t": -1.0}, ValueRangeError, "the run would end at -1 s, before it begins at 0 s"),
    ({"t": (2.0, 1.0)}, ValueRangeError, "before it begins at 2 s"),
    ({"t": np.nan}, ValueRangeError, "both must be finite"),
    ({"t": np.inf}, ValueRangeError, "both must be finite"),
    ({"t": 1.0, "method": "rk4"}, ModelError, "method 'rk4' has a fixed step: give step="),
    ({"t": 1.0, "method": "rk4", "step": 0.0}, ValueRangeError, "step is 0.0: it must be positive"),
    ({"t": 1.0, "method": "rk4", "step": -0.1}, ValueRangeError, "step is -0.1: it must be positive"),
    ({"t": 1.0, "method": "rk4", "step": np.nan}, ValueRangeError, "step is nan: it must be positive"),
    ({"t": 1.0, "rtol": 0.0}, ValueRangeError, "rtol is 0.0"),
    ({"t": 1.0, "rtoll": 1.0}, ModelError, "there is no option 'rtoll': did you mean 'rtol'"),
    ({"t": 1.0, "max_steps": 2.5}, ValueRangeError, "option 'max_steps' is 2.5"),
    ({"t": 1.0, "x0": [[1.0, 2.0]]}, ShapeError, r"got shape \(1, 2\)"),
    ({"t": (0, 0.1, 1)}, ValueRangeError, r"give how long, t=10, or t=\(begin, end\)"),
    ({"t": "10"}, ValueRangeError, "a word: give a number"),
    ({"t": 1.0, "control": abs}, ModelError, r"control=Hold\(function, every=0.01\)"),
    ({"t": 1.0, "method": "rk5"}, ModelError, "method 'rk5' is unknown: did you mean 'rk4'"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), MISTAKES)
def test_mistakes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        strut.simulate(walkers.pendulum(), **arguments)


@pytest.mark.parametrize("wrong", [walkers.pendulum, "pendulum", None])
def test_what_is_no_system(wrong):
    with pytest.raises(StrutError, match="is not a System"):
        strut.simulate(wrong, t=1.0)


def test_numbers_of_any_kind_are_options():
    run = strut.simulate(
        walkers.pendulum(), t=np.float64(1), method="rk4", step=np.array(0.01), max_steps=1e6
    )
    assert run.statistics["steps"] == 100


def test_quantities_are_names():
    swing = walkers.pendulum()
    length, angle = swing.p[1], swing.x[0]
    run = strut.simulate(swing, t=0.1, p={length: 2.0}, x0={angle: 0.5})
    assert run[length] == 2.0
    assert run[angle][0] == 0.5


def test_what_was_given_is_not_changed_later():
    p = np.array([1.0, 1.0, 0.0, 9.81])
    run = strut.simulate(walkers.pendulum(), t=0.1, p=p)
    p[3] = 0.0
    assert run["g"] == 9.81


def test_a_real_interrupt_keeps_a_whole_record():
    """The signal arrives while compiled code runs; the record has no hole and ends where the state is."""
    import signal

    oscillator = walkers.van_der_pol()
    armed = []

    def arm(_):
        """Only while the run goes on, however busy the computer is: before it, an interrupt ends all."""
        if not armed:
            armed.append(signal.setitimer(signal.ITIMER_REAL, 0.05))

    handlers = {
        # where tests run in the background it is ignored, and the run would go on
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGALRM: signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT)),
    }
    try:
        run = strut.simulate(oscillator, t=1e6, method="rk4", step=1e-3, max_steps=10**9, progress=arm)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    assert armed
    assert run.status == "interrupted"
    assert len(run.raw.t) == run.statistics["steps"]
    assert run.raw.t[-1] + run.raw.h[-1] == pytest.approx(run.t1)
    assert np.diff(run.t).max() < 1.1e-3


def test_a_keyboard_interrupt_keeps_what_was_computed():
    calls = []

    def stop(now):
        calls.append(now.t)
        if now.t >= 0.5:
            raise KeyboardInterrupt
        return {"torque": 0.0}

    run = strut.simulate(walkers.pendulum(), t=1.0, control=strut.Hold(stop, every=0.1))
    assert run.status == "interrupted"
    assert not run.ok
    assert run.t1 == pytest.approx(0.5)
    assert run["angle"][0] == 1.0


def test_long_runs_report_progress():
    seen = []
    strut.simulate(walkers.pendulum(), t=200.0, method="rk4", step=1e-3, progress=seen.append)
    assert len(seen) > 2
    assert seen == sorted(seen)


def test_long_records_are_complete():
    """More steps than one piece of the record holds: no step is lost at the seams."""
    run = strut.simulate(walkers.pendulum(), t=300.0, method="rk4", step=1e-3)
    assert len(run.raw.t) == 300_000
    np.testing.assert_allclose(run.raw.t, 1e-3 * np.arange(300_000), atol=1e-9)
    np.testing.assert_allclose(run.raw.poly.sum(axis=1)[:-1], run.raw.poly[1:, 0], atol=1e-12)


@pytest.mark.parametrize("limit", [None, math.inf, 2**63 - 1, 2**63, 1e19, 10**400, np.int64(2**63 - 1)])
@pytest.mark.parametrize("backend", ["native", "virtual"])
def test_no_limit_of_steps(limit, backend):
    run = strut.simulate(walkers.pendulum(), t=0.1, max_steps=limit, backend=backend)
    assert run.status == "done"
    assert run.provenance["options"]["max_steps"] == 2**63 - 1


@pytest.mark.parametrize("limit", [math.nan, 1.5, -math.inf, 0, -3, "many"])
def test_a_limit_of_steps_that_is_none(limit):
    with pytest.raises(ValueRangeError, match="max_steps"):
        strut.simulate(walkers.pendulum(), t=0.1, max_steps=limit)
