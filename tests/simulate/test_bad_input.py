"""Bad input to a run: a clear sentence, never a traceback from below."""

import numpy as np
import pytest

import strut
from strut import walkers
from strut.errors import ModelError, ShapeError, StrutError, UnknownNameError, ValueRangeError

MISTAKES = [
    ({"t": 1.0, "p": {"mass": np.nan}}, ValueRangeError, "parameter 'mass' is nan: a finite number is needed"),
    ({"t": 1.0, "p": {"mass": -1.0}}, ValueRangeError, "parameter 'mass' is -1 kg: allowed are 0 to 1e\\+06 kg"),
    ({"t": 1.0, "p": {"mas": 1.0}}, UnknownNameError, "'mas' is not a parameter of 'pendulum': did you mean 'mass'"),
    ({"t": 1.0, "p": {"mass": "heavy"}}, ModelError, "parameter 'mass' is 'heavy': a number is needed"),
    ({"t": 1.0, "p": {"mass": [1.0, 2.0]}}, ShapeError, "parameter 'mass' has shape"),
    ({"t": 1.0, "x0": {"angel": 1.0}}, UnknownNameError, "'angel' is not a state of 'pendulum': did you mean 'angle'"),
    ({"t": 1.0, "x0": [1.0, 2.0, 3.0]}, ShapeError, r"states of 'pendulum' need 2 number\(s\) \(angle, rate\)"),
    ({"t": 1.0, "x0": [1.0, np.inf]}, ValueRangeError, "state 'rate' is .*: a finite number is needed"),
    ({"t": 1.0, "u": {"force": 1.0}}, UnknownNameError, "'force' is not a input"),
    ({"t": -1.0}, ValueRangeError, "the run would end at -1 s, before it begins at 0 s"),
    ({"t": (2.0, 1.0)}, ValueRangeError, "before it begins at 2 s"),
    ({"t": np.nan}, ValueRangeError, "both must be finite"),
    ({"t": np.inf}, ValueRangeError, "both must be finite"),
    ({"t": 1.0, "method": "rk4"}, ModelError, "method 'rk4' has a fixed step: give step="),
    ({"t": 1.0, "method": "rk4", "step": 0.0}, ValueRangeError, "step is 0.0: it must be positive"),
    ({"t": 1.0, "method": "rk4", "step": -0.1}, ValueRangeError, "step is -0.1: it must be positive"),
    ({"t": 1.0, "method": "rk4", "step": np.nan}, ValueRangeError, "step is nan: it must be positive"),
    ({"t": 1.0, "rtol": 0.0}, ValueRangeError, "rtol is 0.0"),
    ({"t": 1.0, "method": "rk5"}, ModelError, "method 'rk5' is unknown: did you mean 'rk4'"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), MISTAKES)
def test_mistakes_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        strut.simulate(walkers.pendulum(), **arguments)


def test_every_error_is_ours():
    assert issubclass(UnknownNameError, StrutError)
    assert issubclass(ValueRangeError, StrutError)


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
