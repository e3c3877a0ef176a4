"""Live pages in a real browser: nothing on the console, nothing asked of a network, and the machine does what it is told."""

import json

import numpy as np
import pytest

import strut
from strut import gait, view, walkers
from strut.codegen import find_wasm_compiler
from strut.errors import ModelError, StorageError
from strut.live import live_page
from tests.view.browser import LOOKS, Visit, browser

pytestmark = pytest.mark.skipif(
    find_wasm_compiler() is None, reason="no compiler for WebAssembly is installed"
)
FRAME_TIME = 1000 / 30
"""Most processor time [ms] of the page's thread for a frame, with which 30 are shown in a second."""
PATIENCE = 180
"""Seconds to wait for a worker, on a machine that does other things too."""


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def compass():
    return walkers.compass(slope=strut.deg(3))


@pytest.fixture(scope="module")
def page(compass, tmp_path_factory):
    return live_page(compass, tmp_path_factory.mktemp("live") / "compass.html")


class LiveVisit(Visit):
    """A visit to a live page, which runs: blobs of the page itself are no requests."""

    def __init__(self, opened, path, before="", **look):
        super().__init__(opened, path, before, **look)
        self.wait("strutPage.frames > 0")  # modules are unpacked while the page is there already

    def alone(self):
        assert self.said == []
        others = [url for url in self.asked if not url.startswith("blob:null/")]
        assert others == [self.path.resolve().as_uri()]

    def wait(self, condition):
        self.until(f"window.strutPage && ({condition})", PATIENCE)


@pytest.fixture(scope="module")
def visit(chromium, page):
    opened = LiveVisit(chromium, page, **LOOKS["light"])
    opened.wait(
        "strutPage.gait && strutPage.map && strutPage.map.done === 1 && strutPage.basin && strutPage.basin.done === 1"
    )
    return opened


def thread_time(visit, frames):
    """Processor time [ms] of the page's thread for a frame: other work on the machine does not count."""
    session = visit.context.new_cdp_session(visit.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    before, first = spent(), visit.run("strutPage.frames")
    visit.wait(f"strutPage.frames >= {first + frames}")
    return (spent() - before) / (visit.run("strutPage.frames") - first)


def test_it_walks_alone_and_says_nothing(visit):
    visit.wait("strutPage.machine.t > 1.5")
    visit.alone()
    assert visit.run("strutPage.machine.ending") == ""
    assert thread_time(visit, frames=40) < FRAME_TIME
    assert visit.run("document.documentElement.scrollWidth <= innerWidth")


def test_the_gait_in_the_page_is_that_of_find(visit, compass):
    ours, theirs = gait.find(compass), visit.run("strutPage.gait")
    np.testing.assert_allclose(theirs["y"], ours.y0, atol=1e-6, rtol=0)
    page = np.array([complex(*m) for m in theirs["multipliers"]])
    for value in ours.multipliers:
        assert np.abs(page - value).min() < 1e-6
    assert "stable, largest multiplier 0.57995" in visit.run(
        "document.getElementById('gait-say').textContent"
    )


def test_the_map_doubles_where_the_branch_does(visit):
    """Goswami's compass: one step time at 3 degrees, two at 4.6."""
    points = np.array(visit.run("strutPage.map.points"))
    for slope, kinds in ((3.0, 1), (4.6, 2)):
        near = points[np.abs(np.degrees(points[:, 0]) - slope) < 0.03]
        assert len(near)
        assert len(np.unique(np.round(near[:16, 1], 3))) == kinds


def test_the_basin_is_that_of_basin(visit, compass):
    cells = visit.run("strutPage.basin.cells")
    first, second = (visit.run(f"strutPage.basin.{side}.values") for side in ("first", "second"))
    found = gait.find(compass)
    ours = gait.basin(
        found,
        cells=(len(first), len(second)),
        ranges=[(first[0], first[-1]), (second[0], second[-1])],
        steps=12,
    )
    theirs = (np.array(cells) == "walks").reshape(len(first), len(second))
    assert 0.1 < theirs.mean() < 0.9
    assert (theirs != ours.walks).mean() < 0.01  # cells on the edge


def test_a_slider_changes_the_walk_and_the_address(visit):
    before = visit.run("strutPage.gait.period")
    slider = "document.querySelector('input[data-name=slope]')"
    visit.run(f"(s => {{ s.value = {np.radians(3.6)}; s.dispatchEvent(new Event('input')); }})({slider})")
    visit.wait(f"strutPage.gait && Math.abs(strutPage.gait.period - {before}) > 1e-4")
    ours = gait.find(
        walkers.compass(slope=visit.run("strutPage.machine.p[strutPage.machine.places.p.slope]"))
    )
    assert visit.run("strutPage.gait.period") == pytest.approx(ours.period, abs=1e-8)
    assert "slope=0.0628" in visit.run("location.hash")
    again = LiveVisit(visit.context.browser, visit.path, **LOOKS["light"])
    again.page.goto(visit.page.url)
    again.page.reload()
    again.wait("strutPage.machine.p[strutPage.machine.places.p.slope] > 0.0627")
    again.context.close()
    visit.page.click("#defaults")
    visit.wait(f"strutPage.gait && Math.abs(strutPage.gait.period - {before}) < 1e-9")
    assert visit.run("location.hash") in ("", "#")


def faults(visit):
    return visit.run("document.getElementById('faults').textContent")


def test_bad_links_and_values_out_of_range_are_said(visit):
    again = LiveVisit(visit.context.browser, visit.path, **LOOKS["light"])
    again.page.goto(visit.path.resolve().as_uri() + "#slope=9&hip_mass=heavy&hip_massive=3&leg_mass=6")
    again.page.reload()
    again.wait("strutPage.frames > 2")
    lines = faults(again).splitlines()
    assert lines[0] == "The address sets 'hip_massive', which this machine does not have."
    assert "The address sets hip_mass to 'heavy', which is no number: it stays 10 kg." in lines
    assert any(line.startswith("The address sets slope to 515.66°, but it must be") for line in lines)
    assert len(lines) == 3
    value = "strutPage.machine.p[strutPage.machine.places.p.{}]"
    assert again.run(value.format("leg_mass")) == 6
    assert again.run(value.format("slope")) == pytest.approx(np.radians(3))
    # a number that is typed: too large, none at all, and beyond the slider
    field = "document.querySelector('input[data-field={}]')"

    def enter(name, text):
        again.run(
            f"(f => {{ f.value = '{text}'; f.dispatchEvent(new Event('change')); }})({field.format(name)})"
        )

    enter("slope", "500")
    assert faults(again).startswith("slope must be ")
    assert faults(again).endswith(f": 500° became {again.run(field.format('slope') + '.value')}°.")
    enter("hip_mass", "")
    assert faults(again) == "hip_mass needs a number: it stays 10 kg."
    enter("hip_mass", "300")
    assert faults(again) == ""
    assert again.run("Number(document.querySelector('input[data-name=hip_mass]').value)") == 300
    # the address that is changed in an open page
    again.run("location.hash = 'hip_mass=12'")
    again.wait(f"{value.format('hip_mass')} === 12 && {value.format('leg_mass')} === 5")
    assert again.said == []
    again.context.close()


def test_plots_without_points_say_so(chromium, tmp_path):
    """On level ground no compass walks."""
    path = live_page(walkers.compass(slope=0.0), tmp_path / "level.html")
    opened = LiveVisit(chromium, path, **LOOKS["light"])
    note = "(document.getElementById('{}').dataset.note ?? '')"
    opened.run("strutPage.change('slope', -0.03); 1")
    opened.wait(note.format("map") + ".startsWith('no value of slope here makes 50 steps')")
    opened.wait(note.format("multipliers") + " === 'no gait, so no multipliers'")
    opened.run("document.getElementById('play').click(); strutPage.start()")
    opened.wait(note.format("portrait") + " === 'nothing has moved yet: press Play'")
    opened.alone()
    opened.context.close()


def test_a_machine_that_is_too_heavy_goes_slower_and_says_so(chromium, page):
    """Frames keep their time: what does not fit is left for the next, and the page says by how much."""
    visit = LiveVisit(chromium, page, **LOOKS["light"])
    visit.wait("strutPage.frames > 3")
    visit.run(
        "(run => { strutPage.machine.run = t => { const end = performance.now() + 15; "
        "while (performance.now() < end); return run(t); }; })(strutPage.machine.run)"
    )
    said = (
        "(document.querySelector('#say .slow')?.textContent ?? '')"  # drawing may be slow besides, at first
    )
    visit.wait(f"{said}.includes('slow motion: 0.') && {said}.includes('too heavy for this browser')")
    visit.context.close()


def test_reduced_motion_begins_at_rest(chromium, page):
    visit = LiveVisit(chromium, page, reduced_motion="reduce", **LOOKS["light"])
    visit.wait("strutPage.frames > 3")
    assert visit.run("document.getElementById('play').textContent") == "Play"
    assert visit.run("strutPage.machine.t") == 0
    visit.context.close()


def test_pushes_and_steps_down(visit):
    visit.page.click("#play")
    visit.page.click("#again")
    rate = "strutPage.machine.see('scene') && Array.from(strutPage.machine.x)"
    before = np.array(visit.run(rate))
    visit.run("strutPage.push(0.2, 0)")
    after = np.array(visit.run(rate))
    assert np.abs(after[:2] - before[:2]).max() == 0  # angles stay, rates change
    assert np.abs(after[2:] - before[2:]).max() > 0.05
    x, y = visit.point("document.getElementById('screen')")
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 20, y)
    visit.page.mouse.up()
    assert np.abs(np.array(visit.run(rate))[2:] - after[2:]).max() > 0.02
    height = "strutPage.machine.z[strutPage.data.lift[1]]"
    low = visit.run(height)
    visit.page.click("#down")
    assert visit.run(height) == pytest.approx(low + 0.01, abs=1e-12)
    visit.page.click("#again")
    visit.page.click("#play")
    visit.alone()


def test_in_space(visit):
    visit.page.click("#space")
    visit.until(
        "typeof THREE !== 'undefined' && document.getElementById('screen').getContext('webgl2') !== null",
        PATIENCE,
    )
    count = visit.run("strutPage.frames")
    visit.wait(f"strutPage.frames > {count + 5}")
    visit.page.click("#space")
    visit.alone()


def test_in_space_pictures_that_come_slowly_become_simpler(chromium, page):
    """Shadows go first and pixels after; at rest nothing is counted, and in a plane there is nothing to save."""
    slow = (
        "(ask => { window.requestAnimationFrame = call => ask(stamp => { const end = performance.now() + 60; "
        "while (performance.now() < end); call(stamp); }); })(window.requestAnimationFrame)"
    )
    visit = LiveVisit(chromium, page, before=slow, **LOOKS["light"])
    thrift = "document.getElementById('screen').dataset.thrift"
    visit.page.click("#play")
    visit.page.click("#space")
    visit.wait(
        "typeof THREE !== 'undefined' && document.getElementById('screen').getContext('webgl2') !== null"
    )
    at_rest = visit.run("strutPage.frames")
    visit.wait(f"strutPage.frames > {at_rest + 12}")
    assert visit.run(thrift) is None
    visit.page.click("#play")
    visit.wait(f"{thrift} === '2'")
    visit.wait("(c => c.width === Math.floor(c.clientWidth / 2))(document.getElementById('screen'))")
    said = "Without shadows, and with fewer pixels: frames came slowly."
    visit.wait(f"document.getElementById('say').textContent.includes('{said}')")
    assert visit.run("document.getElementById('screen').title") == said
    visit.page.click("#space")
    visit.wait(f"{thrift} === undefined")
    visit.alone()
    visit.context.close()


@pytest.mark.parametrize("look", ["dark", "phone"])
def test_it_can_be_read_in_other_looks(chromium, page, look):
    visit = LiveVisit(chromium, page, **LOOKS[look])
    visit.wait("strutPage.gait")
    assert visit.run("document.documentElement.scrollWidth <= innerWidth")
    visit.alone()
    visit.context.close()


def test_a_page_of_a_run_begins_as_the_run(chromium, compass, tmp_path):
    run = strut.simulate(compass, t=1.0, x0={"stance_rate": -1.0}, p={"slope": 0.05})
    visit = LiveVisit(chromium, run.live(tmp_path / "run.html", gait=False), **LOOKS["light"])
    visit.wait("strutPage.frames > 2")
    visit.page.click("#play")
    visit.page.click("#again")
    assert visit.run("Array.from(strutPage.machine.p)") == run.p.tolist()
    np.testing.assert_allclose(
        visit.run("Array.from(strutPage.machine.x)"), run._states(np.array([0.0]))[0][0][:4]
    )
    assert visit.run("document.getElementById('gait-box')") is None
    visit.alone()
    visit.context.close()


def own_machine():
    """A machine of one's own, without feet, with a hostile text."""
    angle, rate = strut.State("angle", 1.0, "rad"), strut.State("rate", 0.0, "rad/s")
    g = strut.Param("g", 9.81, "m/s^2", bounds=(0, 20), description="</script><script>alert(1)</script>")
    return strut.System(
        name="swing",
        description="<img src=x onerror=alert(1)>",
        x=(angle, rate),
        p=(g,),
        flow={"angle": rate.sym, "rate": -g.sym * angle.sym},
    )


def test_a_long_vector_is_folded(chromium, tmp_path):
    """A plan has hundreds of numbers: one line until it is opened, and each of them still acts."""
    table = strut.Param("plan", [0.1 * k for k in range(20)], description="a table")
    swing = own_machine()
    machine = swing.replace(
        p=(*swing.p, table, strut.Param("pair", [1.0, 2.0])), outputs={"first": table.sym[0]}
    )
    visit = LiveVisit(chromium, live_page(machine, tmp_path / "own.html"), **LOOKS["light"])
    visit.wait("strutPage.machine.t > 0.1")
    assert visit.run("[...document.querySelectorAll('#sliders summary')].map(e => e.textContent)") == [
        "plan, 20 numbers"
    ]
    shown = (
        "[...document.querySelectorAll('#sliders input[type=range]')].filter(e => e.checkVisibility()).length"
    )
    assert visit.run(shown) == 1 + 2
    visit.page.click("#sliders summary")
    assert visit.run(shown) == 1 + 2 + 20
    visit.run("strutPage.change('plan[3]', 7)")
    assert visit.run("strutPage.machine.p[4]") == 7
    visit.alone()
    visit.context.close()


def test_a_machine_of_ones_own_without_a_scene(chromium, tmp_path):
    visit = LiveVisit(chromium, live_page(own_machine(), tmp_path / "own.html"), **LOOKS["light"])
    visit.wait("strutPage.machine.t > 0.2")
    assert visit.run("document.querySelectorAll('img').length") == 0
    assert visit.run("document.querySelectorAll('#sliders input[type=range]').length") == 1
    assert visit.run("document.getElementById('walk')") is None
    visit.alone()
    visit.context.close()


def test_what_cannot_be_live_is_refused(tmp_path, compass):
    with pytest.raises(
        ModelError, match="a live page is of a System, a run, a gait or a design, not of a dict"
    ):
        live_page({}, tmp_path / "x.html")
    with pytest.raises(ModelError, match=r"written to a file \.html, not 'x.wasm'"):
        live_page(compass, tmp_path / "x.wasm")
    with pytest.raises(ModelError, match="does not walk: nothing happens to it that could end a step"):
        live_page(own_machine(), tmp_path / "x.html", gait=True)


def test_a_page_gets_a_switch(chromium, compass, tmp_path):
    run = strut.simulate(compass, t=2.0)
    page = view.page(run, tmp_path / "walk.html")
    for _ in range(2):  # again leads to the same one switch
        run.live(tmp_path / "walk live.html", gait=False, page=page)
    assert page.read_text().count('id="live-switch"') == 1
    visit = Visit(chromium, page, **LOOKS["light"])
    visit.page.click("#live-switch a")
    visit.until("!!window.strutPage && strutPage.machine.t > 0.1", PATIENCE)
    assert visit.said == []
    visit.context.close()
    other = tmp_path / "other.html"
    other.write_text("<h1>mine</h1>")
    with pytest.raises(StorageError, match=r"other\.html is no page of strut's"):
        run.live(tmp_path / "x.html", gait=False, page=other)


def test_a_page_of_a_gait_begins_on_it(compass, tmp_path):
    found = gait.find(compass)
    text = found.live(tmp_path / "gait.html").read_text()
    data = json.loads(text.split('id="live-data">', 1)[1].split("</script>", 1)[0])
    np.testing.assert_allclose(data["begin"]["x"], found.vector, atol=1e-12)


def test_what_belongs_to_another_machine_is_forgotten(chromium, tmp_path):
    """Uphill no compass walks: no basin stays, nothing can be walked, and plots keep their height."""
    opened = LiveVisit(chromium, live_page(walkers.compass(slope=strut.deg(3)), tmp_path / "compass.html"))
    slope = "document.querySelector('input[type=range][data-name=slope]')"

    def set_slope(value):
        opened.run(f"{slope}.value = {value}; {slope}.dispatchEvent(new Event('input')); 1")

    heights = []
    for _ in range(2):
        set_slope(0.052)
        opened.wait("strutPage.gait && strutPage.basin && strutPage.basin.done === 1")
        heights.append(opened.run("document.getElementById('portrait').clientHeight"))
        set_slope(-0.05)
        opened.wait("strutPage.gait === null && strutPage.basin === null")
    assert heights[0] == heights[1]
    assert opened.run("document.getElementById('walk-gait').disabled")
    assert (
        opened.run("document.getElementById('basin-say').textContent") == "there is no gait to come back to"
    )
