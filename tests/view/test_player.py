"""The player in a real browser, offline: it loads, draws, moves, and asks for nothing."""

import numpy as np
import pytest

import strut
from strut import walkers
from tests.view.browser import LOOKS, Visit, hued, share
from tests.view.test_drawing import every_shape

pytest.importorskip("PIL.Image")


def assert_drawn(visit):
    """It shows different things at different times, and the same at the same."""
    visit.scrub(0.0)
    first = visit.pixels()
    visit.scrub(0.5)
    assert share(first, visit.pixels()) > 0.005
    visit.scrub(0.0)
    np.testing.assert_array_equal(first, visit.pixels())
    visit.alone()


def test_player_draws_and_asks_for_nothing(playing):
    assert_drawn(playing)


@pytest.mark.parametrize(
    "make",
    [lambda: strut.simulate(walkers.rimless_wheel(), t=3), every_shape],
    ids=["wheel", "every shape in space"],
)
def test_so_do_other_machines(chromium, playing, tmp_path, make):
    assert_drawn(Visit(chromium, make().animate(tmp_path / "run.html", autoplay=False), **LOOKS["small"]))


def test_joints_are_marked(playing):
    playing.scrub(0.3)
    shown = playing.pixels()
    playing.run("document.getElementById('show-joints').click()")
    without = playing.pixels()
    playing.run("document.getElementById('show-joints').click()")
    np.testing.assert_array_equal(shown, playing.pixels())
    rows, columns = np.nonzero(np.abs(shown - without).max(axis=2) > 24)
    assert 10 < len(rows) < 2000
    assert max(np.ptp(rows), np.ptp(columns)) < 80  # one place, the hip


def test_walker_has_its_colours_and_controls_work(playing):
    playing.scrub(0.42)
    shown = playing.pixels()
    assert hued(shown, 2) > 200  # the right leg, blue
    assert hued(shown, 0) > 200  # the left one, orange
    assert hued(shown, 1) > 40  # the force, green
    assert playing.run("document.getElementById('clock').textContent") == "4.20 s"
    playing.run("document.getElementById('show-forces').click()")
    assert hued(playing.pixels(), 1) < 20
    playing.run("document.getElementById('show-ghosts').click()")
    assert share(shown, playing.pixels()) > 0.005
    for box in ("forces", "ghosts"):
        playing.run(f"document.getElementById('show-{box}').click()")
    playing.choose("view", "front")
    front = playing.pixels()
    assert share(shown, front) > 0.05
    playing.page.mouse.move(300, 200)
    playing.page.mouse.down()
    playing.page.mouse.move(420, 220)
    playing.page.mouse.up()
    assert share(front, playing.pixels()) > 0.05
    playing.run("document.activeElement.blur()")
    playing.page.keyboard.press("ArrowRight")
    assert playing.run("+document.getElementById('frame').value") == 253
    playing.choose("view", "side")
    playing.alone()


def test_the_camera_follows_or_stays(playing):
    playing.scrub(0.0)
    playing.choose("view", "side")
    playing.scrub(0.9)
    assert hued(playing.pixels(), 2) > 200  # followed
    playing.scrub(0.0)
    playing.choose("camera", "stay")
    playing.scrub(0.9)
    assert hued(playing.pixels(), 2) < 40  # gone out of sight
    playing.choose("camera", "follow")
    playing.scrub(0.0)
    playing.choose("view", "side")


def test_it_plays_at_the_speed_asked_for_and_stops(chromium, compass, tmp_path):
    visit = Visit(chromium, compass.animate(tmp_path / "walk.html"), **LOOKS["small"])
    label, clock = (
        "document.getElementById('play').textContent",
        "parseFloat(document.getElementById('clock').textContent)",
    )
    assert visit.run(label) == "Pause"  # it plays by itself
    visit.scrub(0.9)
    assert visit.run(label) == "Play"
    visit.choose("speed", "4")
    click = "document.getElementById('play').click()"  # and look in the same moment, however busy it is here
    assert visit.run(f"({click}, {label})") == "Pause"
    visit.until(f"{clock} === 10")
    visit.until(f"{label} === 'Play'")
    assert visit.run(f"({click}, {label})") == "Pause"  # from the beginning
    assert visit.run(f"({click}, {label})") == "Play"
    visit.until(f"{clock} < 9")
    visit.alone()


def test_without_webgl_it_is_flat(chromium, player):
    none = "HTMLCanvasElement.prototype.getContext = (real => function (kind, ...more) { return /webgl/.test(kind) ? null : real.call(this, kind, ...more); })(HTMLCanvasElement.prototype.getContext)"
    visit = Visit(chromium, player, before=none, **LOOKS["small"])
    assert visit.run("document.body.dataset.drawn") == "flat"
    visit.scrub(0.42)
    shown = visit.pixels()
    assert hued(shown, 2) > 500
    assert hued(shown, 0) > 500
    assert visit.run("document.querySelectorAll('.space').length") == 0
    visit.alone()
