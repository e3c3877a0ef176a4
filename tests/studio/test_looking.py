"""What the studio shows of a model: sliders in sight, curves with axes, pictures that can be seen, robots; and a job."""

import shutil
from pathlib import Path

import pytest

from strut import Mechanism, contact, joints, walkers
from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.cli.run import OWN_METHODS
from strut.errors import ModelError
from strut.studio import reading
from strut.studio.server import READY_MADE
from tests.studio.test_browser import SPRING, Tab, quiet
from tests.view.browser import LOOKS, browser

pytest.importorskip("starlette")
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def chromium():
    with browser() as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    shutil.copy(EXAMPLES / "biped.toml", tmp_path)
    (tmp_path / "spring.cdn").write_text(SPRING)
    return tmp_path


@pytest.mark.parametrize("look", ["light", "dark"])
def test_sliders_stand_between_the_picture_and_the_curves(chromium, studios, folder, look):
    """They were 1,700 px below what they change."""
    with quiet(Tab(chromium, studios.start(folder), **LOOKS[look])) as tab:
        tab.open("biped.toml")
        tab.wait("#preview .curve")
        tab.until(  # asked at once: what is read again as one types is drawn anew
            "(() => { const [a, b, c] = ['#picture img', '#sliders', '#preview .curve'].map(each => "
            "document.querySelector(each)); if (!c || !a || !a.complete) return false; const [p, q, r] = "
            "[a, b, c].map(each => each.getBoundingClientRect()); "
            "return p.bottom < q.top && q.bottom < r.top && r.top < 900; })()"
        )
        assert tab.page.evaluate("document.documentElement.scrollHeight") == 900


def test_on_a_phone_the_sliders_come_within_two_screens(chromium, studios, folder):
    with quiet(Tab(chromium, studios.start(folder), **LOOKS["phone"])) as tab:
        tab.open("biped.toml")
        tab.wait("#preview .curve")
        tab.until("(e => e && e.getBoundingClientRect().top < 2 * 844)(document.querySelector('#sliders'))")
        assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


def test_curves_have_axes(chromium, studios, folder):
    """A mass of 1 on a spring of 4, let go at 1: x goes from -1 to 1, v from -2 to 2, with zero in between."""
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("spring.cdn")
        tab.wait("#preview .curve")
        ends = tab.page.evaluate(
            "[...document.querySelectorAll('#preview .axis-y')].map(e => [...e.children].map(s => Number(s.textContent)))"
        )
        assert ends[0] == pytest.approx([1, -1], abs=1e-3)
        assert ends[1] == pytest.approx([2, -2], abs=1e-3)
        times = tab.page.evaluate(
            "[...document.querySelector('#preview .axis-t').children].map(e => e.textContent)"
        )
        assert times == ["0", "2.5", "5 s"]
        zero = tab.page.evaluate("document.querySelector('#preview .curve line').getAttribute('y1')")
        assert float(zero) == pytest.approx(50, abs=0.1)


def test_a_machine_that_falls_for_ever_is_drawn_where_it_can_be_seen():
    """Five seconds without ground are 123 m: its picture was empty."""
    text = (EXAMPLES / "biped.toml").read_text()
    shown = reading.answer({"do": "preview", "name": "biped.toml", "text": text, "seconds": 5.0})
    assert "it goes 12" in shown["drawn"]
    assert "a table [contact] gives a machine ground" in shown["drawn"]
    begin, end = shown["drawn"].split(" s ")[0].split(" to ")
    assert 0.4 < float(end) - float(begin) < 1.0  # 1.5 sizes of 1.7 m or so: sqrt(2 * 2.5 / 9.81)
    with_ground = reading.answer({"do": "preview", "name": "compass", "seconds": 3.0})
    assert "longer way" not in with_ground["drawn"]


def test_a_run_that_ends_where_it_begins_says_why():
    """A machine whose feet begin far below the ground was answered with a word on the poses of its picture."""
    box = Mechanism("box", planar=True)
    body = box.body("box", mass=2.0, inertia=0.05)
    box.joint("base", box.world, body, joints.planar(), initial=(0, -0.5, 0), actuated=False)
    corners = contact.polygon(box, "box", [(-0.2, 0, -0.1), (0.2, 0, -0.1)])
    with pytest.raises(ModelError, match="the run ends where it begins: .*deep in the ground"):
        reading.preview(contact.rigid(box, corners), {}, 1.0)


def test_robots_are_among_the_ready_made(chromium, studios, folder):
    assert set(walkers.CATALOGUE) | set(walkers.ROBOTS) == set(READY_MADE)
    assert set(READY_MADE) == set(SYSTEM_DESCRIPTIONS) | set(MECHANISM_DESCRIPTIONS)
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        names = tab.page.evaluate(
            "[...document.querySelectorAll('#machines button')].filter(e => "
            "e.textContent.includes('up to a minute to compile')).map(e => e.firstChild.textContent)"
        )
        assert names == list(walkers.ROBOTS)
        tab.page.click("#machines button:has-text('human')")
        tab.wait("#preview .curve")
        assert "fall at 0.3" in tab.page.inner_text("#preview-state")


def test_stiff_robots_are_previewed_as_they_are_run():
    assert reading.PREVIEW_METHODS == OWN_METHODS


@pytest.mark.parametrize("look", ["light", "dark"])
def test_tabs_and_sliders_take_the_keyboard(chromium, studios, folder, look):
    with quiet(Tab(chromium, studios.start(folder), **LOOKS[look])) as tab:
        tab.open("spring.cdn")
        tab.wait("#preview .curve")
        before = tab.page.get_attribute("#preview .curve path", "d")
        tab.page.focus("[id='slider-mass.k']")
        for _ in range(40):
            tab.page.keyboard.press("ArrowRight")
        tab.until(  # while it is drawn anew there is none
            "(path => path !== null && path.getAttribute('d') !== "
            f"'{before}')(document.querySelector('#preview .curve path'))"
        )
        tab.page.focus("#choose-start")
        tab.page.keyboard.press("Enter")
        tab.wait("#command")
        tab.page.focus("#text")
        tab.page.keyboard.press("Control+s")
        tab.wait("#notice.good")


def test_a_job_is_started_from_its_form_followed_and_cancelled(chromium, studios, folder):
    job = (EXAMPLES / "slip_job.toml").read_text()
    small = job.replace("time = 60", "time = 6").replace("population = 40", "population = 6")
    (folder / "slip_job.toml").write_text(small.replace("generations = 25", "generations = 100000"))
    with quiet(Tab(chromium, studios.start(folder))) as tab:
        tab.open("slip_job.toml")
        tab.until("document.getElementById('tab-look').textContent.includes('A job')")
        tab.page.click("#choose-start")
        tab.page.select_option("#command", "gait")
        assert tab.page.is_disabled("#start")  # it is no model
        tab.start("evolve")
        tab.wait("[data-cancel]")
        told = "document.querySelector('[data-state=running]')?.textContent ?? ''"
        tab.until(f"/generation [2-9]|[1-9][0-9]+/.test({told})")
        tab.page.click("[data-cancel]")
        tab.wait("[data-state=cancelled]")
        (results,) = (folder / "results").iterdir()
        assert next(results.glob("*.db")).stat().st_size > 0  # what was found is kept
