"""`strut live`: of a machine, and of what was saved of one, which begins where that did."""

import json
import re

import numpy as np
import pytest

import strut
from strut import control, gait, walkers
from strut.codegen import find_wasm_compiler
from tests.cli.test_cli import run

pytestmark = pytest.mark.skipif(
    find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed"
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def page_data(path):
    """What the scripts of a live page read."""
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="live-data"[^>]*>(.*?)</script>', text, re.DOTALL)[1])


def test_a_saved_run_begins_where_it_did(capsys, tmp_path):
    system = walkers.compass(slope=strut.deg(4))
    begin = strut.simulate(system, t=0.3).end["x0"]
    strut.simulate(system, t=1.0, x0=begin).save(tmp_path / "walk.h5")
    code, _, err = run(capsys, "live", "walk.h5", "--no-gait", "-o", "walk.html")
    assert code == 0, err
    data = page_data(tmp_path / "walk.html")
    np.testing.assert_array_equal(data["begin"]["x"], begin)
    assert data["p"][list(system.labels("p")).index("slope")] == strut.deg(4)


def test_a_saved_gait_begins_on_it(capsys, tmp_path):
    system = walkers.compass(slope=strut.deg(3))
    found = gait.find(system)
    found.save(tmp_path / "gait.h5")
    code, _, err = run(capsys, "live", "gait.h5", "--no-gait")
    assert code == 0, err
    data = page_data(tmp_path / "compass-live.html")
    np.testing.assert_allclose(data["begin"]["x"], [found.x0[n] for n in system.labels("x")], atol=1e-12)


def test_a_held_gait_begins_on_it(capsys, tmp_path):
    """The folder that `strut control -o` writes: the page runs the closed loop, which begins on its gait."""
    held = control.lqr(gait.find(walkers.compass(slope=strut.deg(4.5))))
    held.save(tmp_path / "held.h5")
    strut.simulate(walkers.compass(), t=0.1).save(tmp_path / "another.h5")  # what else the folder has
    code, _, err = run(capsys, "live", ".", "--no-gait", "-o", "held.html")
    assert code == 0, err
    data = page_data(tmp_path / "held.html")
    names = held.system.labels("x")
    np.testing.assert_allclose(data["begin"]["x"], [held.gait.x0[n] for n in names], atol=1e-12)


def test_a_design_begins_with_its_plan(capsys, tmp_path):
    assert run(capsys, "design", "compass", "--speed", "0.5", "-o", "walk")[0] == 0
    code, _, err = run(capsys, "live", "walk", "--no-gait", "-o", "plan.html")
    assert code == 0, err
    design = strut.optimal.load(tmp_path / "walk" / "design.h5")
    data = page_data(tmp_path / "plan.html")
    np.testing.assert_array_equal(data["p"], strut.system.start(design.machine).p)


def test_what_cannot_be_shown_live_is_said(capsys, tmp_path):
    assert "cannot read nothing.h5: there is no such file" in run(capsys, "live", "nothing.h5")[2]
    x = strut.State("x", 1.0)
    strut.simulate(strut.System(name="mine", x=(x,), flow={"x": -x.sym}), t=1.0).save(tmp_path / "mine.h5")
    assert "is a run of 'mine', which is no ready-made machine: say where it is, --machine" in (
        " ".join(run(capsys, "live", "mine.h5")[2].split())
    )
    assert "its parameters are what they are" in run(capsys, "live", "mine.h5", "--set", "a=1")[2]
    assert "--machine is of a saved run" in run(capsys, "live", "pendulum", "--machine", "slip")[2]
    (tmp_path / "empty").mkdir()
    assert "there is no run, gait or design" in run(capsys, "live", "empty")[2]


def test_a_run_of_ones_own_machine_is_told_where_it_is(capsys, tmp_path):
    (tmp_path / "own.py").write_text(
        "import strut\nx = strut.State('x', 1.0)\n"
        "mine = strut.System(name='mine', x=(x,), flow={'x': -x.sym})\n"
    )
    x = strut.State("x", 1.0)
    strut.simulate(strut.System(name="mine", x=(x,), flow={"x": -x.sym}), t=1.0, x0=[3.0]).save("mine.h5")
    code, _, err = run(capsys, "live", "mine.h5", "--machine", "own.py:mine", "-o", "mine.html")
    assert code == 0, err
    assert page_data(tmp_path / "mine.html")["begin"]["x"] == [3.0]


def test_a_page_that_is_not_there_is_said_before_anything_is_compiled(capsys, tmp_path):
    code, _, err = run(capsys, "live", "compass", "--page", "nothing.html")
    assert code == 2
    assert "--page nothing.html: there is no such page" in err.replace("\n", " ")
    assert not list(tmp_path.glob("*.html"))
