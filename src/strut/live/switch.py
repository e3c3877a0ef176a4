"""`add_live_switch`: a link from a page of a run, a gait or a design to the live page of its machine."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote

from strut.errors import StorageError
from strut.files import DAMAGE, put
from strut.html import safe

SWITCH = re.compile('<p class="note" id="live-switch">.*?</p>', re.DOTALL)
"""The switch of a page that has one."""


def add_live_switch(page: Path, live: Path, remark: str = "") -> Path:
    """Put a switch 'Live' below the heading of a page that strut wrote, or let the one it has lead to `live`;
    return the page. remark: a sentence behind it. Raises StorageError for a file that is no such page."""
    where = os.path.relpath(live.expanduser().resolve(), page.expanduser().resolve().parent)
    link = quote(Path(where).as_posix())
    words = (
        f'<a href="{safe(link)}">Live</a>: the machine itself, in this browser ({safe(Path(where).name)}).'
    )
    return _put_switch(page, f"{words} {safe(remark)}".strip())


def say_why_not_live(page: Path, why: str) -> Path:
    """Say, in the place of a switch, why a page has no live one; return the page."""
    return _put_switch(page, f"Not live: {safe(why)}")


def _put_switch(page: Path, words: str) -> Path:
    """Put words in the place of a page's switch, below its heading."""
    try:
        text = page.expanduser().read_text(encoding="utf-8")
    except DAMAGE as error:
        raise StorageError(f"cannot read the page {page}: {error}") from error
    if "Content-Security-Policy" not in text or "</h1>" not in text:
        raise StorageError(f"{page} is no page of strut's: give one of a run, a gait or a design")
    switch = f'<p class="note" id="live-switch">{words}</p>'
    if SWITCH.search(text):
        return put(page, SWITCH.sub(lambda _: switch, text, count=1))
    return put(page, text.replace("</h1>", f"</h1>{switch}", 1))


__all__ = ["add_live_switch", "say_why_not_live"]
