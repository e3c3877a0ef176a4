"""A real browser without a window, if there is one."""

import shutil
import time
from contextlib import contextmanager

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@contextmanager
def browser():
    """Chromium driven by playwright; the test is skipped, with the reason, where either is missing."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        try:
            yield opened
        finally:
            opened.close()


class Visit:
    """A page as one looks at it: what it says on the console, and what it asks of any network."""

    def __init__(self, opened, path, **look):
        self.said, self.asked = [], []
        self.page = opened.new_context(**look).new_page()
        self.page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.resolve().as_uri())
        self.until("[...document.querySelectorAll('.figure')].every(f => f.querySelector('.main-svg'))")

    def until(self, condition, patience=20.0):
        """Wait; by asking from outside, since the page's own policy forbids to evaluate text in it."""
        given_up = time.monotonic() + patience
        while not self.page.evaluate(condition):
            assert time.monotonic() < given_up, f"this did not become true: {condition}; the page said {self.said}"
            self.page.wait_for_timeout(50)
