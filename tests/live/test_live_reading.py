"""What a live page says, and where: keys of colours, advice, no bookkeeping among sliders, the machine in sight on a phone."""

import numpy as np
import pytest

import strut
from strut import gait, walkers
from strut.codegen import find_wasm_compiler
from strut.live import live_page
from tests.live.test_live_page import LiveVisit, own_machine
from tests.view.browser import LOOKS, browser

pytestmark = pytest.mark.skipif(
    find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed"
)
SETTLED = "strutPage.gait && strutPage.basin && strutPage.basin.done === 1"


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return live_page(walkers.compass(slope=strut.deg(3)), tmp_path_factory.mktemp("live") / "compass.html")


def test_bookkeeping_has_no_slider(chromium, tmp_path):
    """The table of a plan is of the model, not of the machine."""
    swing, table = own_machine(), strut.Param("plan_pieces", 3.0, internal=True)
    rows = strut.Param("plan", [1.0, 2.0], internal=True)
    machine = swing.replace(p=(table, rows, *swing.p), outputs={"first": rows.sym[0] + table.sym})
    visit = LiveVisit(chromium, live_page(machine, tmp_path / "own.html"), **LOOKS["light"])
    sliders = "[...document.querySelectorAll('#sliders input[type=range]')].map(e => e.dataset.name)"
    assert visit.run(sliders) == ["g"]
    assert visit.run("Array.from(strutPage.machine.p)") == [3.0, 1.0, 2.0, 9.81]
    visit.run("strutPage.change('g', 5)")
    assert visit.run("Array.from(strutPage.machine.p)") == [3.0, 1.0, 2.0, 5.0]
    visit.alone()
    visit.context.close()


def test_a_basin_has_a_key_with_counts(chromium, page):
    visit = LiveVisit(chromium, page, **LOOKS["light"])
    visit.wait(SETTLED)
    cells = visit.run("strutPage.basin.cells")
    key = visit.run("[...document.querySelectorAll('#basin-key span')].map(e => e.textContent)")
    kinds = ["walks", *sorted(set(cells) - {"walks"})]
    assert len(kinds) > 2
    assert [text.split(" ")[:2] for text in key] == [[kind, str(cells.count(kind))] for kind in kinds]
    colours = visit.run("[...document.querySelectorAll('#basin-key i')].map(e => e.style.background)")
    assert len(set(colours)) == len(kinds)
    # the colour of the key is that of the cells: the first cell, at the lower left
    pixel = visit.run(
        "(c => { const r = c.width / c.clientWidth; return Array.from(c.getContext('2d').getImageData("
        "56 * r, c.height - 38 * r, 1, 1).data.slice(0, 3)); })(document.getElementById('basin'))"
    )
    shown = visit.run(
        f"getComputedStyle(document.querySelectorAll('#basin-key i')[{kinds.index(cells[0])}]).backgroundColor"
    )
    assert shown == f"rgb({', '.join(map(str, pixel))})"
    visit.alone()
    visit.context.close()


def test_only_multipliers_outside_the_circle_are_red(chromium, page):
    """Beyond the doubling of the compass one of four grows."""
    visit = LiveVisit(chromium, page, **LOOKS["light"])
    visit.wait("strutPage.gait")
    assert visit.run("strutPage.growing.length") == 0
    steep = strut.deg(4.6)
    visit.run(f"strutPage.change('slope', {steep}); 1")
    visit.wait("strutPage.gait && strutPage.growing && strutPage.growing.length > 0")
    ours = gait.find(walkers.compass(slope=steep)).multipliers
    growing = [complex(*m) for m in visit.run("strutPage.growing")]
    np.testing.assert_allclose(growing, ours[np.abs(ours) > 1], atol=1e-6)
    colours = visit.run(
        "(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set();"
        "for (let k = 0; k < d.length; k += 4) if (d[k + 3] === 255) seen.add(`${d[k]},${d[k + 1]},${d[k + 2]}`);"
        "return [...seen]; })(document.getElementById('multipliers'))"
    )
    assert {"0,104,76", "168,67,0"} <= set(colours)  # --good and --bad
    visit.context.close()


def test_on_a_phone_the_machine_is_in_sight_while_a_slider_is_moved(chromium, page):
    visit = LiveVisit(chromium, page, **LOOKS["phone"])
    visit.wait(SETTLED)
    box = "(r => [r.top, r.bottom, r.height])(document.getElementById('{}').getBoundingClientRect())"
    top, bottom, height = visit.run(box.format("screen"))
    assert 0 <= top < bottom <= 844 / 2
    assert height > 150
    assert visit.run(box.format("play"))[1] < 844  # the buttons are there without scrolling
    # Scrolled and measured at one instant: what is said above a slider while the machine walks moves it.
    seen = visit.run(
        "[...document.querySelectorAll('#sliders input[type=range]')].map(slider => {"
        " slider.scrollIntoView({ block: 'nearest' });"
        " const walk = document.getElementById('walk').getBoundingClientRect();"
        " return [walk.top, walk.bottom, slider.getBoundingClientRect().top]; })"
    )
    assert seen
    for walk_top, walk_bottom, slider_top in seen:
        assert walk_top == 0
        assert walk_bottom <= slider_top < 844
    assert visit.run("document.documentElement.scrollWidth <= innerWidth")
    visit.alone()
    visit.context.close()


@pytest.mark.parametrize("look", ["light", "phone"])
def test_below_a_slider_stands_what_it_means_and_how_far_it_goes(chromium, page, look):
    """Where nothing can be hovered over, a title says nothing: letters such as `a` and `b` had no meaning."""
    visit = LiveVisit(chromium, page, **LOOKS[look])
    texts = visit.run(
        "Object.fromEntries([...document.querySelectorAll('#sliders input')].map(input => ["
        " (input.dataset.name ? 'slider ' : 'field ') + (input.dataset.name ?? input.dataset.field),"
        " document.getElementById(input.getAttribute('aria-describedby')).textContent]))"
    )
    assert texts["slider a"] == "foot to centre of mass of a leg; 0.001 to 10 m"
    assert texts["slider g"] == "gravity; any number"
    assert texts["slider slope"].endswith("; -28.648 to 28.648°")
    assert texts["slider hip_torque"].startswith("of the motor 'hip'; ")
    assert all(
        texts["field " + name.removeprefix("slider ")] == texts[name] for name in texts if "slider" in name
    )
    # below its slider, inside of the page, large enough to be read
    boxes = visit.run(
        "[...document.querySelectorAll('#sliders .slider')].map(row => {"
        " const note = row.querySelector('small'), a = note.getBoundingClientRect();"
        " return [row.querySelector('input[type=range]').getBoundingClientRect().bottom, a.top, a.left, a.right,"
        "  parseFloat(getComputedStyle(note).fontSize)]; })"
    )
    assert len(boxes) == len(texts) / 2 == 9  # eight parameters and an input
    for slider_bottom, top, left, right, size in boxes:
        assert slider_bottom <= top + 1
        assert 0 <= left < right <= LOOKS[look]["viewport"]["width"]
        assert size >= 11
    assert not visit.run("[...document.querySelectorAll('.slider')].some(row => row.title)")
    visit.context.close()


def test_a_machine_that_falls_by_itself_says_what_it_needs(chromium, tmp_path):
    visit = LiveVisit(chromium, live_page(walkers.rabbit(), tmp_path / "rabbit.html"), **LOOKS["light"])
    visit.wait("strutPage.machine.ending === 'fall'")
    visit.wait("document.getElementById('gait-say').textContent.includes('no gait found')")
    said = visit.run("document.getElementById('gait-say').textContent")
    assert "'strut control rabbit --speed 0.6 -o held' designs a gait and holds it" in said
    assert visit.run("document.getElementById('basin').dataset.note") == "no basin"
    visit.alone()
    visit.context.close()
    # without a search for gaits it is said beside the end of the run
    lone = live_page(walkers.rabbit(), tmp_path / "lone.html", gait=False)
    visit = LiveVisit(chromium, lone, **LOOKS["light"])
    visit.wait("strutPage.machine.ending === 'fall'")
    visit.wait("document.getElementById('say').textContent.includes('strut control rabbit')")
    visit.context.close()


def test_ground_of_another_slope_lies_where_the_machine_is(chromium, page):
    """Far from where it began, the ground of a slope that is changed a little lay half a metre lower."""
    visit = LiveVisit(chromium, page, reduced_motion="reduce", **LOOKS["light"])
    visit.run("strutPage.advance(0.2); while (strutPage.machine.t < 20) strutPage.advance(0.1); 1")
    assert visit.run("strutPage.machine.ending") == ""
    far = visit.run("strutPage.machine.see('scene')[strutPage.data.film.com[0]]")
    assert far > 10
    visit.run(f"strutPage.change('slope', {strut.deg(3.5)}); 1")
    visit.run("while (strutPage.machine.t < 40 && !strutPage.machine.ending) strutPage.advance(0.1); 1")
    assert visit.run("strutPage.machine.ending") == ""
    visit.context.close()


def test_plots_say_their_numbers_and_give_them(chromium, page):
    visit = LiveVisit(chromium, page, **LOOKS["light"])
    visit.wait(f"{SETTLED} && strutPage.map && strutPage.map.done === 1 && strutPage.machine.t > 0.5")
    visit.page.click("#play")  # pause, so that what is drawn stays
    largest = visit.run("Math.max(...strutPage.gait.multipliers.map(m => Math.hypot(...m)))")
    count = visit.run("strutPage.map.points.length")
    walks = visit.run("strutPage.basin.cells.filter(word => word === 'walks').length")
    cells = visit.run("strutPage.basin.cells.length")
    words = {
        "portrait": "phase portrait: swing [°] from ",
        "multipliers": f" inside of the unit circle, 0 outside, the largest {largest:.4g}",
        "map": f"bifurcation map: {count} step times from ",
        "basin": f": walks {100 * walks / cells:.0f} %",
    }
    rows = {"multipliers": visit.run("strutPage.gait.multipliers.length"), "map": count, "basin": cells}
    for name, text in words.items():
        assert text in visit.run(f"document.getElementById('{name}').getAttribute('aria-label')")
        with visit.page.expect_download() as data:
            visit.page.click(f"button[data-of={name}]")
        lines = data.value.path().read_text(encoding="utf-8").splitlines()
        assert lines[0].startswith('"')
        assert len(lines) - 1 == rows.get(name, len(lines) - 1) > 1
    visit.alone()
    visit.context.close()


@pytest.mark.parametrize("look", ["light", "dark", "phone"])
def test_the_keyboard_plays_and_pauses(chromium, page, look):
    visit = LiveVisit(chromium, page, **LOOKS[look])
    word = "document.getElementById('play').textContent"
    visit.page.keyboard.press("Space")
    assert visit.run(word) == "Pause"  # keys are the player's while it has the focus
    visit.run("document.getElementById('walk').focus()")
    for shown in ("Play", "Pause"):
        visit.page.keyboard.press("Space")
        assert visit.run(word) == shown
    visit.page.focus("input[type=range][data-name=slope]")
    before = visit.run("strutPage.machine.p[strutPage.machine.places.p.slope]")
    visit.page.keyboard.press("ArrowRight")
    assert visit.run("strutPage.machine.p[strutPage.machine.places.p.slope]") > before
    visit.context.close()
