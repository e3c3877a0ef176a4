"""Pages of large networks: names that differ by numbers are one figure and one row, and the graph is there."""

import re

import numpy as np
import pytest

import strut
from strut import network, view
from strut.view.figures import plots
from strut.view.figures.crowds import name_pattern, pattern_rows
from strut.view.pages.provenance import rerun_code
from tests.view.browser import LOOKS, Visit

NODES = 750
"""Of four states each: three thousand."""
TEXT = f"""
node "n{{1:{NODES}}}" {{
    x = "rand(-0.5, 0.5)"
    y = 0
    x'' = "-10 * x"
    y'' = "-4 * y + x"
}}
<bidirectional>
edge from "n{{1:{NODES - 1}}}" to "n$(@1 + 1)" {{
    K = 5
    dx' += "K * (input.x - output.x)"
}}
"""


@pytest.fixture(scope="module")
def net():
    return network.loads(TEXT)


@pytest.fixture(scope="module")
def crowd(net):
    return strut.simulate(net.system(), t=0.3, method="rk4", step=1e-2)


def test_a_crowd_is_a_band_that_holds_every_curve(crowd):
    figures = plots.states(crowd)
    assert [figure.y for figure in figures] == ["n*.x", "n*.y", "n*.dx", "n*.dy"]
    band, *lines = figures[0].traces
    values = np.array([crowd[f"n{k + 1}.x"] for k in range(NODES)])
    np.testing.assert_allclose(np.interp(crowd.t, band.x, band.lower), values.min(axis=0), atol=1e-12)
    np.testing.assert_allclose(np.interp(crowd.t, band.x, band.upper), values.max(axis=0), atol=1e-12)
    median = next(line for line in lines if "median of 750" in line.name)
    np.testing.assert_allclose(np.interp(crowd.t, median.x, median.y), np.median(values, axis=0), atol=1e-12)
    assert plots.undrawn_count(crowd, crowd.names.x, figures) == 0  # all lie in the bands
    assert plots.undrawn_count(crowd, crowd.names.x, figures[1:]) == NODES


def test_names_that_differ_by_numbers_are_one_row():
    assert name_pattern("n12.leg3") == "n*.leg*"
    rows = pattern_rows(
        {"n1.K": (5.0, "N/m"), "n2.K": (5.0, "N/m"), "g": (9.81, ""), "n1.m": (1, ""), "n2.m": (2, "")}
    )
    assert rows == [
        ("n*.K, 2 of them", "5", "N/m"),
        ("g", "9.81", ""),
        ("n*.m, 2 of them", "1 to 2", ""),
    ]


def test_the_page_of_three_thousand_variables_can_be_used(crowd, net, chromium, tmp_path):
    path = view.page(crowd, tmp_path / "net.html", drawing=net.graph())
    assert path.stat().st_size < 5e5
    for look in ("light", "dark", "phone"):
        visit = Visit(chromium, path, **LOOKS[look])
        visit.open_all()
        drawn = "document.querySelector('button.drawing img')"
        visit.until(f"{drawn}.complete && {drawn}.naturalWidth > 500")
        visit.alone()
        assert visit.run("document.documentElement.scrollHeight") < 6000
        assert visit.run("document.documentElement.scrollWidth <= innerWidth")
        visit.context.close()
    text = re.sub(r"\s+", " ", path.read_text(encoding="utf-8"))
    assert "1,498 of them" in text  # the stiffnesses of all springs


def test_a_drawing_is_a_picture_in_which_nothing_runs(crowd, chromium, tmp_path):
    hostile = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" onload="document.title=1">'
        "<script>document.title = 2</script><text>a</text></svg>"
    )
    visit = Visit(chromium, view.page(crowd, tmp_path / "x.html", title="mine", drawing=hostile))
    visit.until("document.querySelector('button.drawing img').naturalWidth === 90")
    assert visit.run("document.title") == "mine"
    visit.page.click("button.drawing")
    assert visit.run("document.querySelector('button.drawing').getAttribute('aria-pressed')") == "true"
    visit.alone()
    visit.context.close()


def test_a_large_run_is_repeated_from_its_file(crowd, net, tmp_path, monkeypatch):
    code = rerun_code(crowd)
    assert len(code) < 2000
    monkeypatch.chdir(tmp_path)
    crowd.save("run.h5")
    given = {"system": net.system()}
    exec(code, given)
    np.testing.assert_array_equal(given["run"]["n7.x"], crowd["n7.x"])
