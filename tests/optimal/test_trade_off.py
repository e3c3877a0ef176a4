"""Trade-offs: the same points in any order and number of processes, kept as they are found."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pytest

from strut import optimal, walkers
from strut.errors import StorageError, UnknownNameError, ValueRangeError
from strut.optimal.walk.sweep_run import SweepTask
from strut.report import sweep_result

SPEEDS = (0.4, 0.45, 0.5, 0.55)
ASKED = {"free": {"hip_spring": (0, 100)}, "cost": "squared-torque"}


@pytest.fixture(scope="module")
def walker():
    return walkers.compass(slope=0.0)


@pytest.fixture(scope="module")
def curve(walker, tmp_path_factory):
    told = []
    file = tmp_path_factory.mktemp("sweep") / "speed.sqlite"
    found = optimal.trade_off(
        walker, "speed", SPEEDS, **ASKED, file=file, workers=2, progress=lambda a, b: told.append((a, b))
    )
    assert told[0] == (0, 4)
    assert told[-1] == (4, 4)
    return found


def test_every_point_is_a_design_of_its_own(walker, curve):
    assert curve.ok
    assert np.array_equal(curve.values, SPEEDS)
    assert np.allclose(curve["speed"], SPEEDS, atol=1e-7)
    assert np.all(np.diff(curve["cost"]) > 0)  # faster costs more
    alone = optimal.design(walker, **ASKED, speed=0.5)
    assert curve["cost"][2] == pytest.approx(alone.result.cost, rel=1e-6)
    assert curve["hip_spring"][2] == pytest.approx(alone.parameters["hip_spring"], rel=1e-4)
    assert curve["largest multiplier"][2] == pytest.approx(abs(alone.gait.multipliers[0]), rel=1e-4)
    again = curve.design(0.5)
    assert again.ok
    assert again.result.cost == pytest.approx(alone.result.cost, rel=1e-6)


def test_goes_on_where_it_was_stopped(walker, curve, tmp_path):
    file = tmp_path / "copy.sqlite"
    file.write_bytes(curve.file.read_bytes())
    with sqlite3.connect(file) as base:
        base.execute("delete from points where value > 0.46")
        base.execute("update points set status = 'kept' where value < 0.42")
    base.close()
    more = optimal.trade_off(walker, "speed", SPEEDS, **ASKED, file=file, workers=1)
    assert more.points[0].status == "kept"  # not solved again
    assert np.allclose(more["cost"], curve["cost"], rtol=1e-6)
    with pytest.raises(StorageError, match="holds another sweep \\(its cost differs\\)"):
        optimal.trade_off(walker, "speed", SPEEDS, free=ASKED["free"], cost="energy", file=file)


def test_every_point_says_what_decides_it(walker, curve, tmp_path):
    alone = optimal.design(walker, **ASKED, speed=0.5)
    (speed,) = [each for each in alone.active_limits if each.field == "speed"]
    point = curve.points[2]
    assert [each.name for each in point.active_limits] == [each.name for each in alone.active_limits]
    (own,) = [each for each in point.active_limits if each.field == "speed"]
    assert own.slope == pytest.approx(speed.slope, rel=1e-4)
    assert own.value == point.value
    stored = curve.data()["points"][2]["active_limits"]
    assert stored == [each.data() for each in point.active_limits]
    assert "speed" in curve.columns()["active limits"][2].split("; ")
    # What decides a point is in its file, and a file of before has none of it and goes on.
    file = tmp_path / "copy.sqlite"
    file.write_bytes(curve.file.read_bytes())
    again = optimal.trade_off(walker, "speed", SPEEDS, **ASKED, file=file, workers=1)
    assert [p.active_limits for p in again.points] == [p.active_limits for p in curve.points]
    with sqlite3.connect(file) as base:
        base.execute("alter table points drop column limits")
    base.close()
    old = optimal.trade_off(walker, "speed", SPEEDS, **ASKED, file=file, workers=1)
    assert np.array_equal(old["cost"], curve["cost"])
    assert [p.active_limits for p in old.points] == [()] * len(SPEEDS)
    tables = [table for chapter in sweep_result(curve).chapters for table in chapter.tables]
    (limits,) = [table for table in tables if table.title == "What decides them"]
    assert (0.5, "speed", "exactly", 0.5, "m/s", "asked", own.slope) in limits.rows


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills a process")
def test_a_killed_sweep_loses_nothing(walker, curve, tmp_path):
    file = tmp_path / "killed.sqlite"
    program = (
        "from strut import optimal, walkers\n"
        f"optimal.trade_off(walkers.compass(slope=0.0), 'speed', {SPEEDS}, free={ASKED['free']}, cost='squared-torque', "
        f"file={str(file)!r}, workers=1, progress=lambda a, b: print(a, flush=True))\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) >= 2:
            os.kill(child.pid, signal.SIGKILL)
            break
    child.stdout.close()
    child.wait()
    time.sleep(0.1)
    with sqlite3.connect(file) as base:
        done = base.execute("select count(*) from points").fetchone()[0]
    base.close()
    assert 2 <= done <= 4
    found = optimal.trade_off(walker, "speed", SPEEDS, **ASKED, file=file, workers=1)
    assert np.allclose(found["cost"], curve["cost"], rtol=1e-6)


def test_weights_of_costs_are_swept(walker):
    both = {"squared-torque": 1.0, "energy": 1.0}
    found = optimal.trade_off(
        walker, "weight_energy", (0.0, 5.0), free=ASKED["free"], cost=both, speed=0.5, workers=1
    )
    assert found.ok
    effort, lost = found["part: squared-torque"], found["part: energy"]
    assert np.all(np.diff(effort) > 0)  # what one gains, the other pays
    assert np.all(np.diff(lost) < 0)
    assert np.allclose(found["cost"], effort + found.values * lost, rtol=1e-9)
    shown = sweep_result(found)
    assert [chapter.heading for chapter in shown.chapters] == [
        "Trade-off",
        "Over weight_energy",
        "All of them",
    ]
    assert "hip_spring" in dict(shown.figures())


def test_mistakes(walker):
    with pytest.raises(UnknownNameError, match="nothing called 'sped' to sweep: did you mean 'speed'"):
        optimal.trade_off(walker, "sped", SPEEDS)
    with pytest.raises(ValueRangeError, match="'speed' is swept and given"):
        optimal.trade_off(walker, "speed", SPEEDS, speed=1.0)
    with pytest.raises(ValueRangeError, match="needs finite values"):
        optimal.trade_off(walker, "speed", [])


def test_a_design_as_guess_says_where_a_sweep_begins():
    """Optima are local: a curve is that of the point it begins with."""
    compass, speeds = walkers.compass(), [0.4, 0.45, 0.5]
    fast = optimal.design(compass, speed=0.5, slope=0.0, backend="virtual")
    assert SweepTask(compass, "speed", (), "squared-torque", {"guess": fast}).first_value(speeds) == 0.5
    heavy = SweepTask(compass, "hip_mass", (), "squared-torque", {"guess": fast})
    assert heavy.first_value([5.0, 9.0, 30.0]) == 9.0  # its own is 10 kg
    plain = SweepTask(compass, "speed", (), "squared-torque", {"guess": fast.guess(), "like": fast.passive})
    assert plain.first_value(speeds) == 0.45
