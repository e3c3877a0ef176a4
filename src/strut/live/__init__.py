"""Live pages: a machine that runs in the browser, with sliders, gaits and maps; one file, offline."""

from strut.live.page import live_page
from strut.simulate.live_result import WRITERS

WRITERS["live"] = live_page  # runs, gaits and designs call it; their rooms do not know this one

__all__ = ["live_page"]
