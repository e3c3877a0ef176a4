"""Power and work of drives in pictures and on pages are those of the account of energy."""

import json
import re

import numpy as np
import pytest

import strut
from strut import optimal, view, walkers
from strut.view.figures.stride import strides
from strut.view.figures.stride_plots import POWER_POINTS
from strut.view.pages.sheet import unpack_text


@pytest.fixture(scope="module")
def walk():
    """Four strides of a compass with torques at hip and ankle."""
    found = optimal.design(walkers.compass_driven(), cost="squared-torque", speed=0.7, slope=strut.deg(3))
    assert found.ok
    return strut.simulate(found.machine, t=8 * found.step_time)


def test_the_area_of_a_loop_is_the_work_of_its_drive(walk):
    """Torque against angle encloses what the drive supplies over the stride, by the account's own integral."""
    first = strides(walk)[0]
    loops = {figure.traces[0].name: figure for figure in view.work_loops(walk)}
    assert set(loops) == {"hip_torque", "ankle_torque"}
    books = walk.ledger_at(np.array([first.t[0] + 1e-9, first.t[-1] - 1e-9]))
    for name, figure in loops.items():
        (line,) = figure.traces
        work = float(np.diff(books.supplied[name])[0])
        # legs change names at a heel strike: the angle jumps there, where no work is done
        whole = np.trapezoid(line.y, line.x)
        jump = np.abs(np.diff(line.x)) > 20 * np.median(np.abs(np.diff(line.x)))
        at_jumps = float((0.5 * (line.y[1:] + line.y[:-1]) * np.diff(line.x))[jump].sum())
        assert abs(work) > 1e-3
        assert whole - at_jumps == pytest.approx(work, rel=0.02, abs=2e-3)


def test_the_power_of_drives_integrates_to_their_work(walk):
    figure = view.drive_power(walk)
    assert figure.y == "power [W]"
    assert set(figure.by_name) == {"hip_torque", "ankle_torque"}
    for name, line in figure.by_name.items():
        assert len(line.x) == POWER_POINTS
        moved = np.diff(walk.ledger.supplied[name][[0, -1]])[0]
        turnover = np.trapezoid(np.abs(line.y), line.x)
        assert np.trapezoid(line.y, line.x) == pytest.approx(moved, abs=0.02 * turnover)


def test_the_page_shows_the_same_numbers(walk, tmp_path):
    text = view.page(walk, tmp_path / "walk.html").read_text(encoding="utf-8")
    figures, columns = (
        json.loads(unpack_text(re.search(rf'id="{name}" class="packed">([^<]+)', text)[1]))
        for name in ("figures", "columns")
    )
    power = view.drive_power(walk)
    drawn = next(f for f in figures if f["code"].startswith("strut.view.drive_power"))
    for trace in drawn["traces"]:
        at, values = np.array(columns[trace["x"]]), np.array(columns[trace["y"]])
        own = power.by_name[trace["name"]]
        near = np.interp(own.x, at, values)
        assert np.abs(near - own.y).max() < 2e-3 * np.ptp(power.traces[0].y)
    shown = [f for f in figures if f["code"].startswith("strut.view.work_loops")]
    loops = view.work_loops(walk)
    assert [f["y"] for f in shown] == [figure.y for figure in loops]
    for f, figure in zip(shown, loops, strict=True):
        np.testing.assert_allclose(columns[f["traces"][0]["x"]], figure.traces[0].x, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(columns[f["traces"][0]["y"]], figure.traces[0].y, rtol=1e-6, atol=1e-9)


def test_a_walk_without_drives_has_neither():
    run = strut.simulate(walkers.compass(slope=strut.deg(3)), t=4)
    assert view.drive_power(run) is None
    assert len(view.work_loops(run)) == 0
