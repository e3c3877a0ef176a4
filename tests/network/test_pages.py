"""Pages of networks: small whatever a network has, and with a graph that can be read."""

import re
from pathlib import Path

import pytest

import strut
from strut import network
from strut.view.pages.page import run_report
from strut.view.pages.report import Report
from tests.view.browser import LOOKS, Visit, browser

EXAMPLES = Path(__file__).parents[2] / "examples" / "network"
SLOW = ("18_pendulums", "19_jacobians", "20_closed_loop", "21_pantograph", "22_landing", "24_coman")
"""Examples that take five seconds or more to build and compile."""
MAX_PAGE = 500_000
"""Letters of a page at most."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in sorted(EXAMPLES.glob("*.cdn"))
    ],
)
def test_the_page_of_a_run_is_small(name):
    net = network.load(EXAMPLES / f"{name}.cdn")
    run = strut.simulate(net.system(), t=0.2 if name == "24_coman" else 3.0, **net.options())
    report = run_report(run)
    report.picture(net.graph(), "the graph")
    assert len(report.document()) < MAX_PAGE


def drawn_boxes(text):
    """Of a drawing: names of nodes by their paths, with left, top, right and bottom of their boxes."""
    boxes = re.findall(
        r'<g id="([^"]+)">.*?<rect class="\w+" x="(\S+)" y="(\S+)" width="(\S+)" height="(\S+)"', text
    )
    return {
        path: (float(x), float(y), float(x) + float(w), float(y) + float(h)) for path, x, y, w, h in boxes
    }


@pytest.mark.parametrize("name", [path.stem for path in sorted(EXAMPLES.glob("*.cdn"))])
def test_nodes_of_a_graph_lie_on_no_other(name):
    boxes = drawn_boxes(network.load(EXAMPLES / f"{name}.cdn").graph())
    for path, (left, top, right, bottom) in boxes.items():
        for other, (l, t, r, b) in boxes.items():  # noqa: E741
            if path.startswith(f"{other}.") or other.startswith(f"{path}.") or path == other:
                continue
            assert not (left < r - 1 and l < right - 1 and top < b - 1 and t < bottom - 1), (path, other)


def test_names_of_a_graph_can_be_read_on_a_page(tmp_path):
    """They have 12 pixels in the drawing's own size, in which it is scrolled where the whole would be smaller."""
    with browser() as chromium:
        for name in ("05_many", "17_joints", "24_coman"):
            report = Report(name)
            report.section("Graph")
            report.picture(network.load(EXAMPLES / f"{name}.cdn").graph(), "the graph")
            for look in ("light", "phone"):
                visit = Visit(chromium, report.save(tmp_path / f"{name}.html"), **LOOKS[look])
                visit.until("document.querySelector('button.drawing').getAttribute('aria-pressed') !== null")
                scale = "(i => i.clientWidth / i.naturalWidth)(document.querySelector('button.drawing img'))"
                visit.until(f"{scale} * 12 >= 9")
                assert visit.run("document.documentElement.scrollWidth <= innerWidth")
                pressed = "document.querySelector('button.drawing').getAttribute('aria-pressed')"
                before = visit.run(pressed)
                visit.page.focus("button.drawing")
                visit.page.keyboard.press("Enter")
                assert visit.run(pressed) != before
                visit.alone()
                visit.context.close()
