"""Recorded angles as a cost: what is recorded of a gait is followed by that gait, and pulls others towards it."""

import math

import numpy as np
import pytest

from strut import gait, optimal, walkers
from strut.errors import StorageError, UnknownNameError, ValueRangeError
from strut.optimal.walk.costs import add_weight_parameters, cost_identity

SLOPE = math.radians(3)


def write(path, head, *columns):
    rows = [",".join(f"{v:.12g}" for v in row) for row in np.column_stack(columns)]
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def walker():
    return walkers.compass(slope=SLOPE)


@pytest.fixture(scope="module")
def passive(walker):
    return gait.find(walker)


def recorded(passive, rows):
    t = np.linspace(0, passive.period * (1 - 1e-9), rows)
    run = passive.trajectory.at(t)
    return t, run["stance"], run["swing"]


@pytest.mark.parametrize("rows", [21, 201])
def test_a_gait_follows_its_own_recording(walker, passive, tmp_path, rows):
    t, stance, swing = recorded(passive, rows)
    file = write(tmp_path / "a.csv", "time,stance [deg],swing_deg", t, np.degrees(stance), np.degrees(swing))
    recording = optimal.track(file)
    assert max(recording.deviation.values()) < 1e-5
    made = optimal.design(walker, speed=(0.3, 1.5), cost=recording)
    assert made.ok, made.wrong
    assert made.result.cost < 1e-9
    assert made.step_length == pytest.approx(passive.step_length, abs=1e-3)
    assert "tracked_step_time" not in made.parameters
    assert made.result.parameters["tracked_step_time"] == pytest.approx(made.result.duration, abs=1e-9)
    # Stretched to the step: the same angles at half the pace are the same recording.
    slower = optimal.track(write(tmp_path / "b.csv", "t,stance,swing", 2 * t, stance, swing))
    assert np.allclose(slower.fractions, recording.fractions)
    assert [each.unit for each in recording.columns] == ["rad", "rad"]
    assert recording.unit == "(rad)^2 s"


def test_a_recording_pulls_a_design_towards_it(walker, passive, tmp_path):
    _, stance, swing = recorded(passive, 41)
    percent = np.linspace(0, 100, 41)
    file = write(tmp_path / "wide.csv", "percent,stance,swing", percent, 1.2 * stance, 1.2 * swing)
    designs = [
        optimal.design(
            walker,
            speed=0.8,
            cost={"squared-torque": 1.0, "wide steps": optimal.track(file, weight=weight)},
        )
        for weight in (0.0, 20.0)
    ]
    assert all(each.ok for each in designs)
    apart = [each.parts()["wide steps"] for each in designs]
    assert apart[1] < 0.5 * apart[0]
    assert designs[1].step_length > designs[0].step_length
    # The part is the integral itself, here taken from the plan by the trapezoidal rule.
    plan, motion = designs[1].result, np.linspace(0, 1, 41)
    at = plan.at(motion * plan.duration)
    gap = (at["stance"] - 1.2 * stance) ** 2 + (at["swing"] - 1.2 * swing) ** 2
    assert apart[1] == pytest.approx(np.trapezoid(gap, motion * plan.duration), rel=0.02)
    rows = {name: unit for name, _, unit in designs[1].rows()}
    assert rows["part: wide steps, before its weight"] == ""  # the file says no unit
    assert "wide.csv" in designs[1].cost.meaning


def test_a_sweep_knows_its_recording_by_content(walker, tmp_path):
    def identity(values, **options):
        file = write(tmp_path / "a.csv", "time,swing", [0.0, 0.5, 1.0], values)
        cost = {"squared-torque": 1.0, "leg": optimal.track(file, **options)}
        return cost_identity(add_weight_parameters(walker, cost), cost)

    assert identity([0, 1, 2]) == identity([0, 1, 2])
    assert identity([0, 1, 2]) != identity([0, 1, 2.5])
    assert identity([0, 1, 2]) != identity([0, 1, 2], weight=2.0)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "time,stanze\n0,1\n1,2\n",
            UnknownNameError,
            "column 'stanze' is no state, output or input of 'compass'",
        ),
        ("time,stanze\n0,1\n1,2\n", UnknownNameError, "did you mean 'stance'?"),
        ("tme,stance\n0,1\n1,2\n", UnknownNameError, "its first column is 'tme'"),
        ("time,stance [m]\n0,1\n1,2\n", ValueRangeError, "is in m, but 'stance' is in rad"),
        ("time,stance [rpm]\n0,1\n1,2\n", ValueRangeError, "column 'stance [rpm]': the unit 'rpm' is not SI"),
        ("time,stance\n0,1\n1,x\n", ValueRangeError, "line 3, column 'stance': 'x' is no finite number"),
        ("time,stance\n0,1\n1\n", ValueRangeError, "line 3, has 1 cells: its head has 2 columns"),
        ("time,stance\n0,1\n0,2\n", ValueRangeError, "'time' does not grow after row 1"),
        ("fraction,stance\n0,1\n0.5,2\n", ValueRangeError, "go from 0 to 0.5: they must go from 0 to 1"),
        ("time,stance,stance_deg\n0,1,1\n1,2,2\n", ValueRangeError, "has two columns for 'stance'"),
        ("time,stance\n0,1\n", ValueRangeError, "has 1 row(s) of numbers: a recording needs at least 2"),
        ("time\n0\n", ValueRangeError, "has no columns"),
    ],
)
def test_wrong_recordings_are_explained(walker, tmp_path, text, error, message):
    file = tmp_path / "wrong.csv"
    file.write_text(text)
    with pytest.raises(error) as caught:
        optimal.design(walker, cost=optimal.track(file))
    assert message in str(caught.value)
    assert str(file) in str(caught.value)


def test_a_recording_that_is_not_there(tmp_path):
    with pytest.raises(StorageError, match="cannot read the recording"):
        optimal.track(tmp_path / "none.csv")
