"""A page of HTML that stands alone: one file with style, data and scripts inside, which a browser lets load nothing."""

from __future__ import annotations

import base64
import gzip
import json
from functools import lru_cache
from importlib import resources
from typing import Any

from strut.html import safe

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
"""What a browser lets a page do: run what is in it, and load nothing."""


def sheet(title: str, style: str, body: str) -> str:
    """The text of a page. `style` names its own sheet of style, beside the one all pages share."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{safe(title)}</title>
<style>{part("shared.css")}{part(style)}</style>
</head>
<body>
{body}</body>
</html>
"""


def part(name: str) -> str:
    """The text of a script or a sheet of style that comes with this room."""
    return (resources.files("strut.view") / "scripts" / name).read_text(encoding="utf-8")


def inlined(name: str, data: Any, mark: str = "") -> str:
    """Data as a part of a page, as JSON: within a script element only '<' could end it. mark: an attribute of ours for its element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}"{mark and " " + mark}>{text}</script>\n'


def packed(name: str, text: str) -> str:
    """Long text as a part of a page, compressed; scripts/unpack.js opens it."""
    return f'<script type="text/plain" id="{name}" class="packed">{_compressed(text)}</script>\n'


@lru_cache(maxsize=4)
def _compressed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 6, mtime=0)).decode("ascii")


def unpacked(text: str) -> str:
    """What `packed` was given, from what stands in its element."""
    return gzip.decompress(base64.b64decode(text)).decode("utf-8")
