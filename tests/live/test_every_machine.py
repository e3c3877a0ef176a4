"""The live page of every ready-made machine, in Chromium: it says nothing, asks for nothing, moves, and finds its gait."""

import numpy as np
import pytest

from strut import gait, walkers
from strut.cli.run import OWN_METHODS
from strut.codegen import find_wasm_compiler
from strut.errors import StrutError
from strut.live import live_page
from strut.live.page import return_map_of_page
from tests.live.test_live_page import LiveVisit
from tests.view.browser import LOOKS, browser

pytestmark = [
    pytest.mark.slow,  # the modules of all take minutes to compile, once
    pytest.mark.skipif(find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed"),
]
MACHINES = {**walkers.CATALOGUE, **walkers.ROBOTS}
SAME = 1e-6
"""Of the period [s] and the states of a gait."""


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.mark.parametrize("name", MACHINES)
def test_it_moves_and_finds_its_gait(chromium, name, tmp_path):
    system = MACHINES[name]()
    page = live_page(system, tmp_path / f"{name}.html", **OWN_METHODS.get(name, {}))
    visit = LiveVisit(chromium, page, **LOOKS["light"])
    visit.run("window.began = [strutPage.machine.t, ...strutPage.machine.x]; 1")
    visit.wait("strutPage.machine.t > 0.3 || strutPage.machine.ending")
    states = visit.run("[window.began.slice(1), Array.from(strutPage.machine.x)]")
    assert np.abs(np.subtract(*states)).max() > 1e-6
    assert visit.run("Array.from(strutPage.machine.x).every(Number.isFinite)")
    if system.scene.parts:
        assert visit.run("document.getElementById('screen').getContext('2d') !== null")
    if return_map_of_page(system, None) is not None:
        visit.wait("document.getElementById('gait-say').textContent !== 'looking for a gait'")
        found = visit.run("strutPage.gait")
        said = visit.run("document.getElementById('gait-say').textContent")
        if found is None:
            assert said.startswith("no gait found from here")
            assert visit.run("strutPage.data.advice") in said
            with pytest.raises(StrutError):  # no machine whose gait Python finds from where it begins
                gait.find(system, starts=0)
        else:
            replay = gait.ReturnMap(system)(np.array(found["y"]))  # a fixed point of the map, in Python
            np.testing.assert_allclose(replay.y, found["y"], atol=SAME)
            assert abs(replay.period - found["period"]) < SAME
    if visit.run("!!strutPage.data.walk"):
        visit.wait("strutPage.map")  # it comes bit by bit; all of COMAN's takes many minutes
        assert not visit.run("strutPage.map.fault")
    visit.alone()
    visit.context.close()
