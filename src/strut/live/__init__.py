"""Live pages: a machine that runs in the browser, with sliders, gaits and maps; one file, offline."""

from strut.live.beside import write_beside
from strut.live.page import live_page
from strut.simulate.live_result import WRITERS

# runs, gaits and designs, and pages of these, call them; their rooms do not know this one
WRITERS["live"] = live_page
WRITERS["beside"] = write_beside

__all__ = ["live_page"]
