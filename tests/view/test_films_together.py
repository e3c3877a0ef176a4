"""Films side by side have one time: each of them, and one button, plays and moves all."""

import pytest

import strut
from strut import view, walkers
from tests.view.browser import LOOKS, Visit

CLOCKS = "[...document.querySelectorAll('.player output')].map(e => parseFloat(e.textContent))"
WORDS = "[...document.querySelectorAll('.player [id$=play]')].map(e => e.textContent)"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A comparison of a run of 2 s and one of 3 s."""
    folder = tmp_path_factory.mktemp("together")
    runs = {
        name: strut.simulate(walkers.compass(slope=strut.deg(slope)), t=t)
        for name, slope, t in (("short", 3, 2.0), ("long", 3.5, 3.0))
    }
    return view.comparison(runs).save(folder / "both.html")


@pytest.fixture
def visit(chromium, pages):
    opened = Visit(chromium, pages, **LOOKS["light"])
    yield opened
    opened.alone()
    opened.context.close()


def test_one_button_plays_all_films(visit):
    all_of_them = visit.page.get_by_role("button", name="Play all")
    all_of_them.click()
    assert visit.run(WORDS) == ["Pause", "Pause"]
    visit.until(f"{CLOCKS}.every(t => t > 0.1)")
    visit.page.get_by_role("button", name="Pause all").click()
    first, second = visit.run(CLOCKS)
    assert first == min(second, 2.0)
    assert visit.run(WORDS) == ["Play", "Play"]
    assert visit.run("strutTime.now") == pytest.approx(second, abs=0.01)


def test_the_slider_of_one_moves_all_and_the_shorter_waits_at_its_end(visit):
    visit.run(
        "(s => { s.value = s.max; s.dispatchEvent(new Event('input')); })([...document.querySelectorAll('.player [id$=frame]')][1])"
    )
    assert visit.run(CLOCKS) == [2.0, 3.0]
    visit.page.locator(".player select").first.select_option(index=0)  # the slowest
    play = visit.page.locator(".player").first.get_by_role("button", name="Play", exact=True)
    play.click()  # from the beginning
    visit.until(f"{CLOCKS}[1] > 0.02 && {CLOCKS}[1] < 2.9")
    visit.page.locator(".player").first.press("ArrowRight")
    first, second = visit.run(CLOCKS)
    assert first == min(second, 2.0)
    assert visit.run(WORDS) == ["Play", "Play"]


def test_the_speed_of_one_is_that_of_all(visit):
    visit.page.locator(".player select").first.select_option(index=0)
    speeds = visit.run("[...document.querySelectorAll('.player select')].map(e => e.value)")
    assert len(set(speeds)) == 1
    assert float(speeds[0]) != 1
