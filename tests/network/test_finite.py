"""What is infinite or not a number does not pass for a result: the command fails and says what, and since when."""

from pathlib import Path

import numpy as np
import pytest

from strut import network
from strut.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"
STATE = 'x = 1  x\' = "-x * sqrt(0.5 - t)"'
OUTPUT = 'x = 1  x\' = "-x"  y = "sqrt(0.5 - t)"'
INFINITE = 'x = 1  x\' = "-x"  y = "t < 0.35 ? 1 : 1 / floor(t - t / 2)"'


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as left:
        main(list(arguments))
    said = capsys.readouterr()
    return left.value.code, said.out, " ".join(said.err.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATE, "'x' is not a number at t = 0.7 s"),
        (OUTPUT, "'y' is not a number at t = 0.6 s"),
        (INFINITE, "'y' is infinite at t = 0.4 s"),
    ],
    ids=["state", "output", "infinite"],
)
def test_monitor(capsys, tmp_path, text, said):
    path = tmp_path / "wrong.cdn"
    path.write_text(text, encoding="utf-8")
    code, out, err = run(capsys, "monitor", str(path), "-t", "0:0.1:1", "--print", said[1])
    assert code == 1
    assert said in err
    assert len(out.splitlines()) == 12  # the rows are printed all the same


@pytest.mark.parametrize(
    "more", [("--print", "y"), ("--print", "y", "--json"), ("-o", "run.csv")], ids=["watch", "json", "save"]
)
def test_run_of_an_output(capsys, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "wrong.cdn"
    path.write_text(OUTPUT, encoding="utf-8")
    code, _, err = run(capsys, "run", str(path), "-t", "0:0.1:1", *more)
    assert code == 1
    assert "'y' is not a number at t = 0.6 s" in err
    code, _, err = run(capsys, "run", str(path), "-t", "0:0.1:0.4", *more)
    assert code == 0
    assert "not a number" not in err


@pytest.mark.parametrize("method", ["euler", "dop853"])
def test_run_of_a_state(capsys, tmp_path, method):
    path = tmp_path / "wrong.cdn"
    path.write_text(STATE, encoding="utf-8")
    code, _, err = run(capsys, "run", str(path), "-t", "0:0.1:1", "--print", "x", "--integrator", method)
    assert code == 1
    assert "state 'x' does not stay finite" in err


def test_two_points_that_are_held_whole():
    """In the plane, one row of each is empty and two repeat each other: a singular matrix after the second landing."""
    text = (EXAMPLES / "22_landing.cdn").read_text(encoding="utf-8").replace("hardPlanarY", "hard")
    rows = network.loads(text).run_steps(1, 0.001, outputs=["system.box.c1.pN", "system.box.c2.pN"])
    assert all(np.isfinite(values).all() for values in rows.values.values())
    assert rows["system.box.q"][-1][2] == pytest.approx(0.05, abs=1e-3)
    assert abs(rows["system.box.c1.pN"][-1]) < 1e-3
    assert abs(rows["system.box.c2.pN"][-1]) < 1e-3
