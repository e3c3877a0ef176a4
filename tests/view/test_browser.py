"""Reports in a real browser: they load, say nothing on the console, ask nothing of a network, and can be read."""

import pytest

import strut
from strut import view, walkers
from tests.view.browser import Visit, browser

pytest.importorskip("plotly")

LOOKS = {
    "light": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}

TEXTS = """() => {
  const numbers = c => c.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
  const behind = e => { for (; e; e = e.parentElement) {
    const c = numbers(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const found = [];
  for (const e of document.querySelectorAll("h1, h2, h3, p, dt, dd, th, td, code, button, output, svg text")) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e), ink = numbers(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(behind(e))].sort((p, q) => q - p);
    found.push({ text: e.textContent.slice(0, 40), contrast: (a + 0.05) / (b + 0.05), size: parseFloat(style.fontSize) });
  }
  return found;
}"""
"""Every visible text with its contrast to what is behind it, by the rule of WCAG 2, and its size [px]."""

READABLE = 4.5
"""The contrast that WCAG 2 asks of text (level AA)."""


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    walk = strut.simulate(walkers.compass(slope=strut.deg(3)), t=10)
    return view.page(walk, tmp_path_factory.mktemp("report") / "walk.html", asked="strut run compass --set slope=3deg")


@pytest.mark.parametrize("look", LOOKS)
def test_a_report_can_be_read(chromium, report, look):
    visit = Visit(chromium, report, **LOOKS[look])
    page = visit.page
    assert visit.said == []
    assert visit.asked == [report.resolve().as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing sticks out
    assert page.evaluate("document.querySelectorAll('.figure .scatterlayer path.js-line').length") > 20
    texts = page.evaluate(TEXTS)
    assert len(texts) > 300
    assert [t for t in texts if t["contrast"] < READABLE] == []
    assert [t for t in texts if t["size"] < 11] == []


def test_labels_of_the_flow_do_not_lie_on_each_other(chromium, report):
    for look in LOOKS.values():
        page = Visit(chromium, report, **look).page
        boxes = page.evaluate(
            "[...document.querySelectorAll('.sankey text.node-label')].filter(e => e.textContent)"
            ".map(e => { const r = e.getBoundingClientRect(), around = e.closest('.figure').getBoundingClientRect();"
            " return [r.left, r.top - around.top, r.right, r.bottom - around.top, innerWidth]; })"
        )
        assert len(boxes) == 3
        for k, (left, top, right, bottom, width) in enumerate(boxes):
            assert left >= 0
            assert right <= width
            assert top >= 0  # not cut off
            assert not any(left < r and l < right and top < b and t < bottom for l, t, r, b, _ in boxes[:k])  # noqa: E741


def test_the_dark_is_dark(chromium, report):
    shades = {}
    for look in ("light", "dark"):
        visit = Visit(chromium, report, **LOOKS[look])
        page = visit.page
        shades[look] = page.evaluate("getComputedStyle(document.querySelector('.figure .bg, .main-svg')).backgroundColor")
        page.emulate_media(color_scheme="dark")  # changes while one looks
        visit.until("getComputedStyle(document.querySelector('.main-svg')).backgroundColor === 'rgb(20, 23, 27)'")
    assert shades == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 27)"}


def test_figures_over_time_are_zoomed_together(chromium, report):
    visit = Visit(chromium, report, **LOOKS["light"])
    page = visit.page
    page.evaluate("Plotly.relayout(document.querySelectorAll('.figure')[0], {'xaxis.range': [2, 3]})")
    visit.until(
        "[...document.querySelectorAll('.figure')].filter(f => f.layout.meta === 'time')"
        ".every(f => Math.abs(f.layout.xaxis.range[0] - 2) < 1e-9 && Math.abs(f.layout.xaxis.range[1] - 3) < 1e-9)"
    )
    assert visit.said == []


def test_other_figures_in_a_page(chromium, tmp_path):
    report = view.Report("Gaits", "Found", " two.")
    report.section("What was found")
    report.figures(
        view.multipliers([0.2 + 0.5j, 0.2 - 0.5j, -1.3]),
        view.bifurcation({"parameter": "slope", "values": [1, 2, 3], "stable": [True, True, False], "T": [1, 2, 4]}, "T", units={"T": "s"}),
        view.basin([[0, 1], [1, 2]], [0, 1], [0, 1], "a [rad]", "b [rad/s]", {0: "fell", 1: "walks", 2: "runs"}),
        view.basin([[3, 4], [5, 7]], [0, 1], [0, 1], "a [rad]", "b [rad/s]", title="steps [1]"),
        view.trade_off([1, 2, 3], [3, 1, 2], "speed [m/s]", "cost [1]"),
        beside=True,
    )
    visit = Visit(chromium, report.save(tmp_path / "gaits.html"), **LOOKS["dark"])
    assert visit.said == []
    assert visit.page.evaluate("document.querySelectorAll('.heatmaplayer image').length") == 2
    names = visit.page.evaluate("[...document.querySelectorAll('.cbaxis text')].map(e => e.textContent)")
    assert {"fell", "walks", "runs"} <= set(names)
    assert [t for t in visit.page.evaluate(TEXTS) if t["contrast"] < READABLE] == []
