"""Every page of a run, a gait or a design leads to a live one by itself, or says why it cannot."""

import pytest

import strut
from strut import gait, report, view, walkers
from strut.codegen import find_wasm_compiler, wasm_module
from strut.live import beside

needs_compiler = pytest.mark.skipif(
    find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed"
)


@pytest.fixture(autouse=True)
def live_pages(monkeypatch):
    monkeypatch.delenv("STRUT_LIVE")


@pytest.fixture(scope="module")
def walk():
    return strut.simulate(walkers.compass(slope=strut.deg(3)), t=2.0)


def switch_of(page):
    return page.read_text().split('id="live-switch">')[1].split("</p>")[0]


@needs_compiler
def test_a_run_a_gait_and_their_folders_have_one(walk, tmp_path):
    page = view.page(walk, tmp_path / "walk.html")
    assert switch_of(page).startswith('<a href="walk-live.html">Live</a>')
    assert (tmp_path / "walk-live.html").stat().st_size > 200_000
    assert page.stat().st_size < 500_000  # the machine is in the second file
    done = view.folder(walk, tmp_path / "all")
    assert {"index.html", "index-live.html"} <= set(done.files)
    result = report.gait_result(gait.find(walk.system))
    assert {"index.html", "index-live.html"} <= set(result.folder(tmp_path / "gait").files)
    assert 'href="index-live.html"' in switch_of(tmp_path / "gait" / "index.html")


def test_without_a_compiler_the_page_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(wasm_module, "find_wasm_compiler", lambda: None)
    monkeypatch.setattr(wasm_module, "PREBUILT", tmp_path / "none")
    page = view.page(strut.simulate(walkers.pendulum(), t=1.0), tmp_path / "p.html")
    assert "Not live: no compiler for WebAssembly found: install clang and lld" in switch_of(page)
    assert "strut[compiler]" in switch_of(page)
    assert not (tmp_path / "p-live.html").exists()


def test_what_cannot_be_live_says_why(walk, tmp_path, monkeypatch):
    x = strut.State("x", 1.0)
    past = strut.Delay("past", signal=x.sym, by=0.5, before=1.0)
    late = strut.System(name="late", x=(x,), delays=(past,), flow={"x": -past.sym})
    page = view.page(strut.simulate(late, t=1.0), tmp_path / "late.html")
    assert "Not live: &#x27;late&#x27; has delays" in switch_of(page)
    walk.save(tmp_path / "walk.h5")
    page = view.page(strut.Trajectory.load(tmp_path / "walk.h5"), tmp_path / "loaded.html")
    assert "loaded without its system" in switch_of(page)
    monkeypatch.setattr(beside, "MAX_OPERATIONS", 10)
    page = view.page(walk, tmp_path / "large.html")
    assert "from 10 on compiling takes long" in switch_of(page)
    assert "strut live compass -o large-live.html --page large.html" in switch_of(page)
    walk.save(tmp_path / "large.h5")  # the file that was kept beside it has its state and values
    page = view.page(walk, tmp_path / "large.html")
    assert "strut live large.h5 -o large-live.html --page large.html" in switch_of(page)
    own = walk.system.replace(name="mine")
    page = view.page(strut.simulate(own, t=1.0), tmp_path / "own.html")
    assert "strut live MODEL -o own-live.html --page own.html" in switch_of(page)


def test_it_can_be_switched_off(walk, tmp_path, monkeypatch):
    monkeypatch.setenv("STRUT_LIVE", "off")
    page = view.page(walk, tmp_path / "walk.html")
    assert "STRUT_LIVE is off" in switch_of(page)
    assert [path.name for path in tmp_path.iterdir()] == ["walk.html"]


@needs_compiler
def test_a_page_integrates_as_the_run_did(tmp_path):
    system = walkers.van_der_pol()
    page = view.page(strut.simulate(system, t=1.0, method="rk4", step=1e-3), tmp_path / "fixed.html")
    assert "its own method" not in switch_of(page)
    page = view.page(strut.simulate(system, t=1.0, method="radau"), tmp_path / "stiff.html")
    assert "It integrates by its own method: radau needs Python." in switch_of(page)


@needs_compiler
def test_inputs_that_changed_are_said(tmp_path):
    hip = walkers.compass().u[0].name
    run = strut.simulate(walkers.compass(), t=1.0, u={hip: strut.Schedule([0, 0.5], [0.0, 0.1])})
    page = view.page(run, tmp_path / "driven.html")
    assert "Its inputs stay as they began; in the run they changed." in switch_of(page)
