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


PATIENCE = 90.0
"""Seconds to wait for what a page does, on a machine that does other things too."""
FRAMES_AT_REST = 3
"""Frames on end in which nothing moves, after which a page counts as at rest."""

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
        self.context.set_default_timeout(1000 * PATIENCE)
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

    def until(self, condition, patience=PATIENCE):
        """Wait; by asking from outside, since the page's own policy forbids to evaluate text in it."""
        given_up = time.monotonic() + patience
        while not self.page.evaluate(condition):
            assert time.monotonic() < given_up, (
                f"this did not become true: {condition}; the page said {self.said}"
            )
            self.page.wait_for_timeout(20)

    def point(self, element, inside="[r.width / 2, r.height / 2]"):
        """Scroll to an element, wait until nothing of the page moves any more (figures and films that come to be
        seen are drawn, and move what is below them), and return where a point of it is in the window. inside:
        JavaScript for the place in the element, of its rectangle `r`: its middle unless given."""
        return self.run(
            f"""(async () => {{
              const nextFrame = () => new Promise(requestAnimationFrame), look = () => {{
                const e = {element};
                e.scrollIntoView({{ block: "center" }});
                return e.getBoundingClientRect();
              }};
              let before = "", still = 0;
              for (let k = 0; k < 600 && still < {FRAMES_AT_REST}; k++) {{
                await nextFrame();
                const r = look(), now = [r.left, r.top, r.width, r.height, document.documentElement.scrollHeight].join();
                still = now === before ? still + 1 : 0;
                before = now;
              }}
              const r = look(), [u, v] = {inside};
              return [r.left + u, r.top + v];
            }})()"""
        )

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
        box = self.run(
            "(e => { e.scrollIntoView({ block: 'center' }); const r = e.getBoundingClientRect();"
            " return { x: r.left, y: r.top, width: r.width, height: r.height }; })(document.getElementById('screen'))"
        )
        return np.asarray(images.open(io.BytesIO(self.page.screenshot(clip=box))).convert("RGB")).astype(int)


def share(a, b):
    """Of pixels that differ."""
    return (np.abs(a - b).max(axis=2) > 24).mean()


def hued(picture, strongest):
    """Pixels in which one colour stands out."""
    rest = [c for c in range(3) if c != strongest]
    return (picture[:, :, strongest] > picture[:, :, rest].max(axis=2) + 40).sum()
