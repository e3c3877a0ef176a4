"""Curves of large machines have fewer points in pages, none of which can be told from what it was."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from strut.view.figures.figure import Areas, Band, Figure, Line, Points
from strut.view.figures.thinning import kept_indices, thin_figures
from strut.view.pages.report import MAX_FIGURES_SIZE, Report
from strut.view.pages.sheet import unpack_text


def wave(count=5000, seed=0):
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 10, count))
    return x, np.sin(x**2) + 0.3 * np.abs(x - 4)


@pytest.mark.parametrize("part", [1e-4, 1e-2])
def test_thinned_curves_stay_where_they_were(part):
    x, y = wave()
    (thin,) = thin_figures([Figure((Line("a", x, y), Line("b", x, 0.1 * y)))], part)
    a, b = thin.traces
    assert 20 < len(a.x) < len(x)
    np.testing.assert_array_equal(a.x, b.x)  # shared, so that a page keeps it once
    allowed = 1.2 * part * np.ptp(y)  # a tenth more for rounding
    assert np.abs(np.interp(x, a.x, a.y) - y).max() <= allowed
    assert np.abs(np.interp(x, b.x, b.y) - 0.1 * y).max() <= allowed


def test_straight_lines_need_their_ends_and_jumps_stay():
    x = np.concatenate([np.linspace(0, 1, 300), np.linspace(1, 2, 300)])
    y = np.concatenate([np.linspace(0, 1, 300), np.linspace(-5, -4, 300)])
    np.testing.assert_array_equal(kept_indices(x, y[:, None], np.array([1e-6])), [0, 299, 300, 599])


def test_gaps_stay_gaps():
    x, y = np.linspace(0, 1, 200), np.linspace(0, 1, 200)
    y[50:60] = np.nan
    (thin,) = thin_figures([Figure((Line("a", x, y),))], 1e-3)
    assert np.isnan(thin.traces[0].y).any()
    finite = thin.traces[0].x[np.isfinite(thin.traces[0].y)]
    np.testing.assert_array_equal(finite, x[[0, 49, 60, 199]])


def test_held_values_keep_every_change():
    x = np.linspace(0, 1, 500)
    y = np.floor(7 * x)
    (thin,) = thin_figures([Figure((Line("a", x, y, step=True),))], 1e-2)
    kept = thin.traces[0]
    assert len(kept.x) == 8  # seven changes, the last of which is the end, and the beginning
    places = np.searchsorted(kept.x, x, side="right") - 1
    np.testing.assert_array_equal(kept.y[places], y)


def test_bands_and_areas_are_thinned_and_points_are_not():
    x, y = wave()
    traces = (Band(x, y - 1, y + 1), Areas(x, {"a": y + 2, "b": y + 3}, ("#000", "#111")), Points("p", x, y))
    (thin,) = thin_figures([Figure(traces)], 1e-3)
    band, areas, points = thin.traces
    assert len(band.x) < len(x)
    assert len(areas.x) < len(x)
    assert len(points.x) == len(x)
    assert np.abs(np.interp(x, band.x, band.upper) - (y + 1)).max() < 2e-3 * 10
    assert np.abs(np.interp(x, areas.x, areas.layers["b"]) - (y + 3)).max() < 2e-3 * 10


def test_a_page_with_many_curves_is_small_and_says_so():
    figures = []
    for k in range(40):
        x, y = wave(6000, k)
        figures.append(Figure((Line(f"curve {k}", x, y),), "time", "value", over_time=True))
    large, small = Report("many"), Report("few")
    large.figures(*figures)
    small.figures(*figures[:1])
    text = large.document()
    assert len(text) < MAX_FIGURES_SIZE + 80_000  # scripts and style
    assert "have fewer points than the run" in text
    assert "have fewer points than the run" not in small.document()


def test_two_points_at_a_tick_of_a_clock_are_no_jump_where_they_are_alike():
    x = np.repeat(np.linspace(0, 10, 3000), 2)
    y = np.sin(x)
    kept = kept_indices(x, y[:, None], np.array([1e-3]))
    assert len(kept) < 200  # every tick stayed
    assert np.abs(np.interp(x, x[kept], y[kept]) - y).max() <= 1e-3
    y[3001:] += 1.0  # a jump between two points at one x
    assert {3000, 3001} <= set(kept_indices(x, y[:, None], np.array([1e-3])))


def test_curves_of_noise_have_what_a_page_leaves_to_them():
    random = np.random.default_rng(1)
    x = np.linspace(0, 1, 6000)
    noise = [random.normal(size=6000) for _ in range(40)]
    peak = max(each.max() for each in noise)
    report = Report("noise")
    report.figures(*(Figure((Line(f"curve {k}", x, y),), "time", "value") for k, y in enumerate(noise)))
    text = report.document()
    assert len(text) < 5e5
    assert "the least and the greatest value of each of" in text
    packed = re.search(r'id="columns" class="packed">([^<]+)', text)
    columns = json.loads(unpack_text(packed[1]))
    assert max(max(each) for each in columns) == pytest.approx(peak, abs=2e-3 * peak)


def test_curves_leave_room_for_what_else_a_page_has():
    figures = [Figure((Line(f"curve {k}", *wave(6000, k)),), "time", "value") for k in range(40)]
    report = Report("film")
    report.figures(*figures)
    random = np.random.default_rng(2)
    report.embed("<p>film</p>", {"film": random.integers(0, 10**9, 45_000).tolist()})  # 280 kB when packed
    assert 4e5 < len(report.document()) < 5e5


def test_nothing_is_thinned_where_there_is_nothing():
    flat = Figure((Line("a", np.linspace(0, 1, 100), np.zeros(100)),))
    assert thin_figures([flat, replace(flat, traces=())], 1e-3)[0] is flat
