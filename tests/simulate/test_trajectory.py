"""Results: names, dense evaluation, events, the energy account, statistics, files."""

import json
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import strut
from strut import Ledger, State, System, Trajectory, walkers
from strut.errors import MissingExtraError, StorageError, StrutError, UnknownNameError, ValueRangeError
from strut.simulate import LedgerWarning
from tests.problems import servo


@pytest.fixture(scope="module")
def ball():
    return strut.simulate(walkers.bouncing_ball(), t=2.0)


def test_points_have_two_rows_at_an_event(ball):
    t = ball.events.t[0]
    rows = np.flatnonzero(ball.t == t)
    assert len(rows) == 2
    before, after = ball["velocity"][rows]
    assert after == pytest.approx(-0.8 * before)
    assert np.all(np.diff(ball.t) >= 0)


def test_names_reach_everything(ball):
    assert ball["g"] == 9.81
    assert ball["bounces"][-1] == 3
    assert set(ball.keys()) == {"height", "velocity", "bounces", "mass", "restitution", "g"}
    with pytest.raises(UnknownNameError, match="'bouncing_ball' has no 'heigth': did you mean 'height'"):
        ball["heigth"]


def test_dense_evaluation_is_exact_between_steps(ball):
    t = np.linspace(0, 0.45, 50)
    np.testing.assert_allclose(ball.at(t)["height"], 1 - 9.81 * t**2 / 2, atol=1e-12)
    assert ball.at(0.25)["height"] == pytest.approx(1 - 9.81 * 0.25**2 / 2)
    assert np.ndim(ball.at(0.25)["height"]) == 0


def test_at_an_event_the_state_after_it_is_given(ball):
    occurrence = ball.events[0]
    assert ball.at(occurrence.t)["velocity"] == pytest.approx(occurrence.after["velocity"])


def test_outside_the_run_is_an_error(ball):
    with pytest.raises(ValueRangeError, match="asked for t = 1 to 3 s, but the run covers 0 to 2 s"):
        ball.at([1.0, 3.0])


def test_events_know_before_and_after(ball):
    first = ball.events[0]
    assert first.name == "bounce"
    assert first.before["bounces"] == 0
    assert first.after["bounces"] == 1
    assert ball.events.counts() == {"bounce": 3}
    assert [e.t for e in ball.events] == list(ball.events.t)
    with pytest.raises(UnknownNameError, match="there is no event 'bounse'"):
        ball.events.times("bounse")


def test_the_account_is_complete(ball):
    books = ball.ledger
    energy = books.energy
    assert energy[0] == pytest.approx(9.81)
    assert books.lost["bounce"][-1] == pytest.approx(9.81 * (1 - 0.8**6), rel=1e-12)
    assert books.residual < 1e-12
    assert books.summary()["bounce (lost in events)"] == -books.lost["bounce"][-1]


def test_the_account_at_any_time(ball):
    books = ball.ledger_at([0.2, 0.4515, 1.0])
    assert books.energy[0] == pytest.approx(9.81)
    assert books.energy[2] == pytest.approx(9.81 * 0.8**2)
    assert books.lost["bounce"].tolist() == pytest.approx([0, 0, 9.81 * (1 - 0.8**2)])


def test_an_undeclared_loss_is_booked_to_the_event():
    x, v = State("x", 1.0), State("v", 0.0)
    drop = System(
        "drop",
        x=[x, v],
        flow={x: v, v: -1.0},
        events=[strut.Event("thud", x, direction="down", reset={v: -v / 2})],
        ledger=Ledger(stored={"kinetic": v**2 / 2, "gravity": x}),
    )
    run = strut.simulate(drop, t=2.0)
    assert run.ledger.lost["thud"][-1] == pytest.approx(0.75, rel=1e-9)
    assert run.ledger.residual < 1e-10


def test_a_ledger_that_does_not_close_is_reported():
    x, v = State("x", 1.0), State("v", 0.0)
    wrong = System(
        "wrong",
        x=[x, v],
        flow={x: v, v: -x - 0.5 * v},
        ledger=Ledger(stored={"kinetic": v**2 / 2, "spring": x**2 / 2}),
    )
    with pytest.warns(LedgerWarning, match="the energy account of 'wrong' does not close: .* unexplained"):
        strut.simulate(wrong, t=5.0)


def test_a_wrong_ledger_with_a_large_offset_is_reported():
    x, v = State("x", 1.0), State("v", 0.0)
    wrong = System(
        "wrong",
        x=[x, v],
        flow={x: v, v: -x - 0.5 * v},
        ledger=Ledger(stored={"all": 1e5 + v**2 / 2 + x**2 / 2}),
    )
    with pytest.warns(LedgerWarning, match="does not close"):
        strut.simulate(wrong, t=5.0)


def test_a_ledger_that_is_no_number_is_reported():
    x = State("x", 1.0)
    lost = System(
        "lost", x=[x], flow={x: -1.0}, ledger=Ledger(stored={"e": x}, dissipated={"d": (x - 0.5) ** 0.5})
    )
    run = strut.simulate(lost, t=1.0)
    assert (run.status, run.ok) == ("not finite", False)
    assert "not a number at t = 1 s" in run.message


def test_a_run_without_a_ledger(tmp_path):
    for make in (walkers.pendulum, walkers.bouncing_ball):
        run = strut.simulate(make(), t=1.0, ledger=False)
        with pytest.raises(StrutError, match="this run kept no ledger"):
            run.ledger  # noqa: B018
        assert Trajectory.load(run.save(tmp_path / "run.h5")).has_ledger is False


def test_a_wrong_declared_loss_is_reported():
    ball = walkers.bouncing_ball()
    from dataclasses import replace

    event = replace(ball.events[0], loss={"bounce": 0.0})
    with pytest.warns(LedgerWarning, match="does not close"):
        strut.simulate(ball.replace(events=[event]), t=1.0)


def test_statistics_and_provenance(ball):
    assert ball.statistics["steps"] == len(ball.raw.t)
    assert ball.statistics["jumps"] == 3
    assert ball.statistics["flows"] > 10
    assert ball.provenance["options"]["method"] == "dop853"
    assert ball.provenance["strut"] == strut.__version__


def test_a_run_of_no_time_has_one_point():
    run = strut.simulate(walkers.pendulum(), t=0.0)
    assert run.status == "done"
    assert run.t.tolist() == [0.0]
    assert run["angle"].tolist() == [1.0]
    assert run.at(0.0)["angle"] == 1.0
    assert run.ledger.residual == 0


def test_samples_at_the_beginning_are_recorded():
    run = strut.simulate(servo(), t=0.1)
    assert run["command"][0] == 0.0
    assert run["command"][1] == -4.0
    assert run.t[0] == run.t[1] == 0.0


def test_dataframe_and_table(ball):
    frame = ball.to_dataframe()
    assert list(frame.columns) == ["t", "height", "velocity", "bounces"]
    assert len(frame) == len(ball.t)
    assert len(ball.to_dataframe(np.linspace(0, 2, 11))) == 11


def test_without_pandas_the_extra_is_named(ball, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'strut\[data\]'"):
        ball.to_dataframe()


# ---- files ----


def test_hdf5_round_trip(ball, tmp_path):
    path = ball.save(tmp_path / "run.h5")
    for system in (None, walkers.bouncing_ball()):
        again = Trajectory.load(path, system)
        assert again.status == ball.status
        assert again.system_name == "bouncing_ball"
        np.testing.assert_array_equal(again.t, ball.t)
        for name in ("height", "velocity", "bounces"):
            np.testing.assert_array_equal(again[name], ball[name])
        np.testing.assert_array_equal(again.at([0.3, 1.7])["height"], ball.at([0.3, 1.7])["height"])
        assert again.events.names == ball.events.names
        assert again.ledger.residual == ball.ledger.residual
        assert again.provenance["seed"] == 0


def test_outputs_of_a_loaded_run(tmp_path):
    swing = walkers.pendulum()
    run = strut.simulate(swing, t=1.0)
    path = run.save(tmp_path / "run.h5")
    np.testing.assert_array_equal(Trajectory.load(path)["tip_x"], run["tip_x"])
    np.testing.assert_allclose(Trajectory.load(path, swing).at(0.4)["tip_x"], run.at(0.4)["tip_x"])
    with pytest.raises(StrutError, match="holds a run of 'pendulum' with other names"):
        Trajectory.load(path, walkers.slip())


def test_the_file_describes_itself(ball, tmp_path):
    with h5py.File(ball.save(tmp_path / "run.h5")) as file:
        assert json.loads(file["points/x"].attrs["columns"]) == ["height", "velocity"]
        assert "poly[k] a^k" in file["steps"].attrs["about"]
        np.testing.assert_array_equal(file["points/t"][()], ball.t)


def test_csv(ball, tmp_path):
    path = ball.save(tmp_path / "run.csv", times=np.linspace(0, 1, 5))
    lines = path.read_text().splitlines()
    assert lines[0] == "t,height,velocity,bounces"
    assert [float(v) for v in lines[2].split(",")][1] == ball.at(0.25)[
        "height"
    ]  # written so that nothing is lost


def test_unknown_suffix_and_missing_directory(ball, tmp_path):
    with pytest.raises(StorageError, match="cannot tell what to write from 'run.txt'"):
        ball.save(tmp_path / "run.txt")
    with pytest.raises(StorageError, match="does not exist; create it first"):
        ball.save(tmp_path / "nowhere" / "run.h5")


@pytest.mark.parametrize("content", [b"", b"not hdf5 at all", None])
def test_damaged_files_are_reported(ball, tmp_path, content):
    path = tmp_path / "run.h5"
    if content is None:
        whole = ball.save(path).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    else:
        path.write_bytes(content)
    with pytest.raises(StorageError, match=r"cannot read .*run\.h5"):
        Trajectory.load(path)


def test_another_hdf5_file_is_refused(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["a"] = 1
    with pytest.raises(StorageError, match="not a 'strut trajectory 1'"):
        Trajectory.load(tmp_path / "other.h5")
    with pytest.raises(StorageError, match="there is no such file"):
        Trajectory.load(tmp_path / "none.h5")


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_a_full_disk_loses_nothing(tmp_path, suffix):
    """The operating system refuses to let the file grow, as a full disk does: the old file stays, no scrap is left."""
    code = """
import resource, signal, sys
import numpy as np
import strut
run = strut.simulate(strut.walkers.pendulum(), t=200.0)
path = sys.argv[1]
strut.simulate(strut.walkers.pendulum(), t=0.1).save(path)
before = open(path, "rb").read()
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    run.save(path)
except strut.errors.StorageError as error:
    assert "the disk is full" in str(error), error
    assert "nothing was changed there" in str(error), error
else:
    raise AssertionError("no error")
assert open(path, "rb").read() == before
"""
    path = tmp_path / f"run{suffix}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    assert os.listdir(tmp_path) == [path.name]
