"""Reports in a real browser: they load, say nothing on the console, ask nothing of a network, and can be read."""

from itertools import pairwise

import pytest

import strut
from strut import view, walkers
from tests.view.browser import LOOKS, Visit, hued, share

CUT_TEXTS = (
    "[...document.querySelectorAll('svg.plot')].flatMap(s => (b => [...s.querySelectorAll('text')]"
    ".filter(t => t.checkVisibility({ visibilityProperty: true })).filter(t => (r => r.width && (r.left < b.left - 1 "
    "|| r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1))(t.getBoundingClientRect()))"
    ".map(t => t.textContent))(s.getBoundingClientRect()))"
)
"""Texts of plots that leave their plot."""
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
    visit.open_all()
    visit.alone()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")  # nothing sticks out
    assert page.evaluate("document.querySelectorAll('.plot .curve').length") > 20
    texts = page.evaluate(TEXTS)
    assert len(texts) > 300
    assert [t for t in texts if t["contrast"] < READABLE] == []
    assert [t for t in texts if t["size"] < 11] == []


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_labels_of_the_flow_do_not_lie_on_each_other(reading, look):
    boxes = reading(look).page.evaluate(
        "[...document.querySelectorAll('.plot .flow-label')].filter(e => e.textContent)"
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
        " return title ? [title.left, title.right, Math.min(...[...f.querySelectorAll('.ytick')].map(e => e.getBoundingClientRect().left))] : null;"
        " }).filter(v => v)"
    )
    assert len(found) > 10
    assert [v for v in found if v[0] < 0 or v[1] > v[2] + 1] == []


def test_the_dark_is_dark(reading):
    shade = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.plot .name')).fill"
    assert reading("light").run(shade) == "rgb(255, 255, 255)"
    assert reading("light").run(ink) == "rgb(27, 31, 36)"
    assert reading("dark").run(shade) == "rgb(20, 23, 27)"
    assert reading("dark").run(ink) == "rgb(232, 234, 237)"
    visit = reading("dark")
    visit.page.emulate_media(color_scheme="light")  # changes while one looks
    visit.until(f"{shade} === 'rgb(255, 255, 255)' && {ink} === 'rgb(27, 31, 36)'")
    visit.page.emulate_media(color_scheme="dark")
    visit.until(f"{shade} === 'rgb(20, 23, 27)'")


TIMED = "strutFigures().filter(f => f && f.figure.time)"
"""Plots over time that are drawn."""


def drag(visit, begin, end):
    """Drag over the first plot over time, between two parts of its width."""
    left, y = visit.point(
        f"{TIMED}[0].svg()", f"(b => [b.left, b.top + b.height / 2])({TIMED}[0].axes().box)"
    )
    width = visit.run(f"{TIMED}[0].axes().box.width")
    places = [left + part * width for part in (begin, end)]
    mouse = visit.page.mouse
    mouse.move(places[0], y)
    mouse.down()
    mouse.move(places[1], y, steps=3)
    mouse.up()


def test_figures_over_time_are_zoomed_together(reading):
    visit = reading("light")
    drag(visit, 0.2, 0.3)
    spans = visit.run(f"{TIMED}.map(f => f.axes().span)")
    assert len(spans) > 3
    for low, high in spans:
        assert low == pytest.approx(2, abs=0.03)
        assert high == pytest.approx(3, abs=0.03)
    visit.run(f"{TIMED}[0].svg().dispatchEvent(new MouseEvent('dblclick'))")
    assert visit.run(f"{TIMED}.every(f => f.axes().span[0] === 0 && f.axes().span[1] === 10)")
    assert visit.said == []


def test_a_click_seeks_and_the_cursor_is_in_all_plots(reading):
    visit = reading("light")
    drag(visit, 0.4, 0.4)
    now = visit.run("strutTime.now")
    assert now == pytest.approx(4, abs=0.02)
    assert visit.page.inner_text("#clock") == f"{now:.2f} s"
    cursors = visit.run(
        f"{TIMED}.map(f => [f.svg().querySelector('.cursor').getAttribute('visibility'),"
        " +f.svg().querySelector('.cursor').getAttribute('x1'), f.axes().u(strutTime.now)])"
    )
    assert len(cursors) > 3
    for visible, at, where in cursors:
        assert visible == "visible"
        assert at == pytest.approx(where)
    visit.scrub(0.95)  # the film moves the cursor, and the dots on portraits of its stride
    visit.until(
        f"Math.abs({TIMED}[0].axes().x(+{TIMED}[0].svg().querySelector('.cursor').getAttribute('x1')) - 9.5) < 0.05"
    )
    dots = visit.run("[...document.querySelectorAll('.cursor-dot')].map(d => d.getAttribute('visibility'))")
    assert "visible" in dots
    assert visit.said == []


def test_keys_are_the_players_while_it_has_the_focus(reading):
    visit = reading("light")
    visit.scrub(0.5)
    before = visit.run("strutTime.now")
    visit.run("document.activeElement.blur()")
    visit.page.keyboard.press("ArrowRight")
    assert visit.run("strutTime.now") == before
    visit.page.focus("#player")
    visit.page.keyboard.press("ArrowRight")
    assert visit.run("strutTime.now") > before
    visit.page.keyboard.press("Home")
    assert visit.run("strutTime.now") == 0
    assert visit.said == []


def test_data_picture_and_code_of_a_figure_by_a_button(reading, compass):
    visit = reading("light")
    place = visit.page.locator(".figure").filter(has=visit.page.locator("text=stance_rate")).first
    with visit.page.expect_download() as data:
        place.get_by_role("button", name="data").click()
    rows = data.value.path().read_text(encoding="utf-8").splitlines()
    assert rows[0].startswith('"curve"')
    with visit.page.expect_download() as picture:
        place.get_by_role("button", name="SVG").click()
    assert picture.value.path().read_text(encoding="utf-8").startswith("<svg")
    states = visit.page.locator(".figure", has_text="swing_rate").last
    states.get_by_role("button", name="code").click()
    assert "strut.view.states(run)[1]" in states.inner_text()
    with visit.page.expect_download() as data:
        states.get_by_role("button", name="data").click()
    rows = [row.split(",") for row in data.value.path().read_text(encoding="utf-8").splitlines()]
    last = [float(row[2]) for row in rows if row[0] == '"swing_rate"'][-1]
    assert last == pytest.approx(compass["swing_rate"][-1], rel=1e-6)


def test_the_contents_lead_to_parts_and_open_them(reading):
    visit = reading("light")
    visit.run("document.querySelector('#part-events details').open = false")
    visit.page.click("nav.contents a[href='#part-events']")
    visit.until("document.querySelector('#part-events details').open")
    visit.until("document.querySelector('#part-events').getBoundingClientRect().top < 900")


def test_cards_say_what_the_walk_is(reading, walker):
    cards = dict(
        reading("light").run(
            "[...document.querySelectorAll('.headline div')].map(d => [d.querySelector('dt').textContent, d.querySelector('dd').textContent])"
        )
    )
    gait = walker.gait
    assert cards["speed"] == f"{gait.speed:.5g} m/s"
    assert cards["step length"] == f"{gait.step_length:.5g} m"
    assert cards["step time"] == f"{gait.period:.5g} s"
    assert cards["cost of transport"] == f"{gait.cost_of_transport:.5g}"
    assert cards["from step to step"] == "repeats"
    assert {"least clearance", "friction needed"} <= set(cards)


def test_a_long_legend_stays_in_its_plot(chromium, tmp_path):
    page = view.Report("Legends")
    multipliers = {word: [0.5, 1.2, -0.3] for word in ("before", "after it", "of another", "and others")}
    page.figures(view.multipliers(multipliers))
    for look in ("light", "phone"):
        visit = Visit(chromium, page.save(tmp_path / "legends.html"), **LOOKS[look])
        assert visit.run("document.querySelectorAll('.plot .entry').length") >= 8
        assert visit.run(CUT_TEXTS) == []
        visit.context.close()


def test_numbers_on_the_ground_do_not_lie_on_each_other(chromium, tmp_path):
    """On a phone, of a run that goes so little that there are many."""
    step = strut.simulate(walkers.compass_driven(slope=0.0), t=0.3)
    report = view.page(step, tmp_path / "step.html")
    noted = (
        "window.texts = []; CanvasRenderingContext2D.prototype.fillText = (real => function (text, x, ...more) "
        "{ window.texts.push([text, x, this.measureText(text).width]); return real.call(this, text, x, ...more); })"
        "(CanvasRenderingContext2D.prototype.fillText)"
    )
    visit = Visit(chromium, report, before=noted, **LOOKS["phone"])
    visit.until("texts.length > 0")
    drawn = visit.run("texts.filter(t => t[0].endsWith(' m'))")
    frames = [[drawn[0]]]
    for each in drawn[1:]:  # from left to right in each frame
        if each[1] <= frames[-1][-1][1]:
            frames.append([])
        frames[-1].append(each)
    assert max(map(len, frames)) >= 2
    for frame in frames:
        for (_, x, width), (_, other, breadth) in pairwise(frame):
            assert x + width / 2 < other - breadth / 2
    visit.context.close()


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
    assert visit.page.evaluate("document.querySelectorAll('.plot image.cells').length") == 2
    names = visit.page.evaluate("[...document.querySelectorAll('.plot .scale')].map(e => e.textContent)")
    assert {"fell", "walks", "runs"} <= set(names)
    assert [t for t in visit.page.evaluate(TEXTS) if t["contrast"] < READABLE] == []


def test_a_film_is_turned_in_space(reading):
    """By the mouse and by keys; the same machine, from elsewhere."""
    visit = reading("light")
    visit.scrub(0.5)
    flat = visit.pixels()
    visit.page.check("#show-space")
    corner = visit.pixels()
    assert share(flat, corner) > 0.02
    x, y = visit.point("document.getElementById('screen')")
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 90, y + 20, steps=3)
    visit.page.mouse.up()
    turned = visit.pixels()
    assert share(corner, turned) > 0.02
    visit.page.focus("#player")
    visit.page.keyboard.press("Shift+ArrowLeft")
    assert share(turned, visit.pixels()) > 0.005
    now = visit.run("strutTime.now")
    visit.page.uncheck("#show-space")
    assert visit.run("strutTime.now") == now  # turning moves no time
    assert share(flat, visit.pixels()) == 0
    assert visit.said == []
