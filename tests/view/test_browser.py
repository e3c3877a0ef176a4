"""Reports in a real browser: they load, say nothing on the console, ask nothing of a network, and can be read."""

import pytest

from strut import view
from tests.view.browser import LOOKS, Visit, hued, share

pytest.importorskip("plotly")

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


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_a_report_can_be_read(reading, look):
    visit = reading(look)
    page = visit.page
    visit.alone()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing sticks out
    assert page.evaluate("document.querySelectorAll('.figure .scatterlayer path.js-line').length") > 20
    texts = page.evaluate(TEXTS)
    assert len(texts) > 300
    assert [t for t in texts if t["contrast"] < READABLE] == []
    assert [t for t in texts if t["size"] < 11] == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_labels_of_the_flow_do_not_lie_on_each_other(reading, look):
    boxes = reading(look).page.evaluate(
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


@pytest.mark.parametrize("look", ["light", "phone"])
def test_titles_of_axes_do_not_lie_on_numbers(reading, look):
    found = reading(look).page.evaluate(
        "[...document.querySelectorAll('.figure')].map(f => { const title = f.querySelector('.ytitle')?.getBoundingClientRect();"
        " return title ? [title.left, title.right, Math.min(...[...f.querySelectorAll('.ytick text')].map(e => e.getBoundingClientRect().left))] : null;"
        " }).filter(v => v)"
    )
    assert len(found) > 10
    assert [v for v in found if v[0] < 0 or v[1] > v[2] + 1] == []


def test_the_dark_is_dark(reading):
    shade = "getComputedStyle(document.querySelector('.main-svg')).backgroundColor"
    assert reading("light").run(shade) == "rgb(255, 255, 255)"
    assert reading("dark").run(shade) == "rgb(20, 23, 27)"
    visit = reading("dark")
    visit.page.emulate_media(color_scheme="light")  # changes while one looks
    visit.until(f"{shade} === 'rgb(255, 255, 255)'")
    visit.page.emulate_media(color_scheme="dark")
    visit.until(f"{shade} === 'rgb(20, 23, 27)'")


def test_figures_over_time_are_zoomed_together(reading):
    visit = reading("light")
    visit.run("Plotly.relayout(document.querySelectorAll('.figure')[0], {'xaxis.range': [2, 3]})")
    visit.until(
        "[...document.querySelectorAll('.figure')].filter(f => f.layout.meta === 'time')"
        ".every(f => Math.abs(f.layout.xaxis.range[0] - 2) < 1e-9 && Math.abs(f.layout.xaxis.range[1] - 3) < 1e-9)"
    )
    assert visit.said == []


def test_the_film_of_a_report_moves(reading):
    visit = reading("light")
    visit.scrub(0.1)
    first = visit.pixels()
    visit.scrub(0.13)
    assert share(first, visit.pixels()) > 0.005
    assert hued(first, 2) > 500
    assert hued(first, 0) > 500
    visit.alone()


def test_a_browser_that_cannot_unpack_says_so(chromium, tmp_path):
    report = view.Report("Old")
    report.table(("", "value"), [("speed", "0.7 m/s")])
    report.figures(view.multipliers([0.5]))
    path = report.save(tmp_path / "old.html")
    visit = Visit(chromium, path, before="delete globalThis.DecompressionStream", **LOOKS["small"])
    visit.until("document.body.innerText.includes('needs a browser of 2023 or later')")
    assert "0.7 m/s" in visit.run("document.body.innerText")
    visit.alone()
    text = path.read_text(encoding="utf-8")
    begin = text.index('id="figures" class="packed">') + 40
    path.write_text(text[:begin] + "A" * 40 + text[begin + 40 :], encoding="utf-8")
    visit = Visit(chromium, path, **LOOKS["small"])
    visit.until("document.body.innerText.includes('the file is damaged')")
    assert visit.said == []


def test_other_figures_in_a_page(chromium, tmp_path):
    report = view.Report("Gaits", "Found", " two.")
    report.section("What was found")
    report.figures(
        view.multipliers([0.2 + 0.5j, 0.2 - 0.5j, -1.3]),
        view.bifurcation(
            {"parameter": "slope", "values": [1, 2, 3], "stable": [True, True, False], "T": [1, 2, 4]},
            "T",
            units={"T": "s"},
        ),
        view.basin(
            [[0, 1], [1, 2]], [0, 1], [0, 1], "a [rad]", "b [rad/s]", names={0: "fell", 1: "walks", 2: "runs"}
        ),
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
