"""The player and the page in a real browser, offline: they load, draw, move, and ask for nothing."""

import io
import time

import numpy as np
import pytest

import strut
from strut import view, walkers
from tests.view import devtools as browser

images = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.skipif(browser.found() is None, reason="no Chromium or Chrome was found here; STRUT_BROWSER may name one")


def started(profile, **options):
    try:
        return browser.Browser(profile, **options)
    except (AssertionError, OSError) as error:
        pytest.skip(f"the browser found here does not start: {error}")


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    made = started(tmp_path_factory.mktemp("profile"))
    if not made.run("!!document.createElement('canvas').getContext('webgl2')"):
        made.close()
        pytest.skip("the browser found here has no WebGL, not even in software")
    yield made
    made.close()


@pytest.fixture(scope="module")
def walk():
    return strut.simulate(walkers.compass(), t=10)


def pixels(window):
    """Of the screen only."""
    box = window.run("(r => [r.left, r.top, r.right, r.bottom].map(Math.round))(document.getElementById('screen').getBoundingClientRect())")
    return np.asarray(images.open(io.BytesIO(window.picture())).convert("RGB").crop(tuple(box))).astype(int)


def scrub(window, part):
    window.run(f"(s => {{ s.value = Math.round(s.max * {part}); s.dispatchEvent(new Event('input')); }})(document.getElementById('frame'))")


def share(a, b):
    """Of pixels that differ."""
    return (np.abs(a - b).max(axis=2) > 24).mean()


def hued(picture, strongest):
    """Pixels in which one colour stands out."""
    rest = [c for c in range(3) if c != strongest]
    return (picture[:, :, strongest] > picture[:, :, rest].max(axis=2) + 40).sum()


@pytest.mark.parametrize("name", ["compass", "rimless-wheel", "trunk-3d"])
def test_player_draws_and_asks_for_nothing(window, tmp_path, name):
    run = strut.simulate(walkers.CATALOGUE[name](), t=3)
    path = run.animate(tmp_path / "run.html", autoplay=False)
    window.open(path)
    assert window.run("document.body.dataset.drawn") == "space"
    scrub(window, 0.0)
    first = pixels(window)
    scrub(window, 0.5)
    second = pixels(window)
    assert share(first, second) > 0.005
    scrub(window, 0.0)
    np.testing.assert_array_equal(first, pixels(window))
    assert window.errors == []
    assert window.requests == [path.resolve().as_uri()]


def test_walker_has_its_colours_and_controls_work(window, walk, tmp_path):
    window.open(walk.animate(tmp_path / "walk.html", autoplay=False))
    scrub(window, 0.42)
    shown = pixels(window)
    assert hued(shown, 2) > 500  # the right leg, blue
    assert hued(shown, 0) > 500  # the left one, orange
    assert hued(shown, 1) > 100  # the force, green
    assert window.run("document.getElementById('clock').textContent") == "4.20 s"
    window.run("document.getElementById('show-forces').click()")
    assert hued(pixels(window), 1) < 20
    window.run("document.getElementById('show-ghosts').click()")
    assert share(shown, pixels(window)) > 0.005
    window.run("(s => { s.value = 'front'; s.dispatchEvent(new Event('change')); })(document.getElementById('view'))")
    front = pixels(window)
    assert share(shown, front) > 0.05
    window.drag(400, 300, 520, 320)
    assert share(front, pixels(window)) > 0.05
    window.press("ArrowRight", 39)
    assert window.run("+document.getElementById('frame').value") == 253
    assert window.errors == []


def test_it_plays_at_the_speed_asked_for_and_stops(window, walk, tmp_path):
    window.open(walk.animate(tmp_path / "walk.html"))
    assert window.run("document.getElementById('play').textContent") == "Pause"
    clock = "parseFloat(document.getElementById('clock').textContent)"
    window.run("(s => { s.value = '4'; })(document.getElementById('speed'))")
    end = time.monotonic() + 60
    while window.run(clock) < 10 and time.monotonic() < end:
        time.sleep(0.2)
    assert window.run(clock) == 10.0
    assert window.run("document.getElementById('play').textContent") == "Play"
    window.run("document.getElementById('play').click()")
    assert window.run("document.getElementById('play').textContent") == "Pause"
    window.run("document.getElementById('play').click()")
    assert window.run(clock) < 10
    assert window.errors == []


def test_the_camera_follows_or_stays(window, walk, tmp_path):
    window.open(walk.animate(tmp_path / "walk.html", autoplay=False))
    scrub(window, 0.9)
    assert hued(pixels(window), 2) > 500  # followed
    window.open(walk.animate(tmp_path / "walk.html", autoplay=False))
    window.run("document.getElementById('camera').value = 'stay'")
    scrub(window, 0.9)
    assert hued(pixels(window), 2) < 100  # gone out of sight


def test_page_moves_too(window, walk, tmp_path):
    path = view.page(walk, tmp_path / "page.html")
    window.open(path)
    scrub(window, 0.1)
    first = pixels(window)
    scrub(window, 0.13)
    assert share(first, pixels(window)) > 0.005
    assert hued(first, 2) > 500
    assert hued(first, 0) > 500
    assert window.errors == []
    assert window.requests == [path.resolve().as_uri()]


def test_without_webgl_it_is_flat(walk, tmp_path):
    window = started(tmp_path / "profile", webgl=False)
    try:
        window.open(walk.animate(tmp_path / "walk.html", autoplay=False))
        assert window.run("document.body.dataset.drawn") == "flat"
        scrub(window, 0.42)
        shown = pixels(window)
        assert hued(shown, 2) > 500
        assert hued(shown, 0) > 500
        assert window.run("document.querySelectorAll('.space').length") == 0
        assert window.errors == []
    finally:
        window.close()
