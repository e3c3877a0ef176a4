"""A real browser without a window, and what a person does in it."""

import io
import os
import shutil
import time
from contextlib import contextmanager

import numpy as np
import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SOFTWARE = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
"""WebGL without a graphics card."""

LOOKS = {
    "light": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1100, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
    "small": {"viewport": {"width": 640, "height": 420}, "color_scheme": "light"},
}


OPENED = []
"""The browser that is open, if one is: a process drives one at a time."""


@contextmanager
def browser():
    """Chromium driven by playwright, the one that is open or a new one; the test is skipped, with the reason,
    where either is missing."""
    if OPENED:
        yield OPENED[0]
        return
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    program = os.environ.get("STRUT_BROWSER") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed, and STRUT_BROWSER names none")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox", *SOFTWARE])
        OPENED.append(opened)
        try:
            yield opened
        finally:
            OPENED.remove(opened)
            opened.close()


class Visit:
    """A page as one looks at it, offline: what it says on the console, and what it asks of any network."""

    def __init__(self, opened, path, before="", **look):
        self.said, self.asked, self.path = [], [], path
        self.context = opened.new_context(offline=True, **look)
        self.page = self.context.new_page()
        if before:
            self.page.add_init_script(before)
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.resolve().as_uri())
        self.until(
            "[...document.querySelectorAll('.figure')].every(f => !f.clientWidth || f.querySelector('.plot'))"
        )
        self.until(
            "[...document.querySelectorAll('.player')].every(p => p.closest('[hidden]') || p.dataset.ready)"
        )

    def run(self, script):
        return self.page.evaluate(script)

    def until(self, condition, patience=90.0):
        """Wait; by asking from outside, since the page's own policy forbids to evaluate text in it."""
        given_up = time.monotonic() + patience
        while not self.page.evaluate(condition):
            assert time.monotonic() < given_up, (
                f"this did not become true: {condition}; the page said {self.said}"
            )
            self.page.wait_for_timeout(20)

    def alone(self):
        """It said nothing, and asked for nothing but itself."""
        assert self.said == []
        assert self.asked == [self.path.resolve().as_uri()]

    def open_all(self):
        """Unfold every part of the page."""
        self.run("document.querySelectorAll('details').forEach(part => { part.open = true; })")
        self.until("[...document.querySelectorAll('.figure')].every(f => f.querySelector('.plot'))")

    # ---- the film ----

    def scrub(self, part):
        self.run(
            f"(s => {{ s.value = Math.round(s.max * {part}); s.dispatchEvent(new Event('input')); }})(document.getElementById('frame'))"
        )

    def choose(self, name, value):
        self.run(
            f"(s => {{ s.value = '{value}'; s.dispatchEvent(new Event('change')); }})(document.getElementById('{name}'))"
        )

    def pixels(self):
        """Of the screen."""
        images = pytest.importorskip("PIL.Image")
        self.run("document.getElementById('screen').scrollIntoView({ block: 'center' })")
        box = self.run(
            "(r => ({ x: r.left, y: r.top, width: r.width, height: r.height }))(document.getElementById('screen').getBoundingClientRect())"
        )
        return np.asarray(images.open(io.BytesIO(self.page.screenshot(clip=box))).convert("RGB")).astype(int)


def share(a, b):
    """Of pixels that differ."""
    return (np.abs(a - b).max(axis=2) > 24).mean()


def hued(picture, strongest):
    """Pixels in which one colour stands out."""
    rest = [c for c in range(3) if c != strongest]
    return (picture[:, :, strongest] > picture[:, :, rest].max(axis=2) + 40).sum()
