"""A page of HTML that stands alone: one file with style, data and scripts inside, which a browser lets load
nothing."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from strut.html import safe

POLICY = "default-src 'none'; script-src {scripts}; style-src {styles}; img-src data: blob:"
"""What a browser lets a page do: run the scripts and apply the styles whose hashes stand here, and load
nothing."""


def sheet(
    title: str,
    style: str,
    body: str,
    scripts: Sequence[str] = (),
    *,
    unpacked: Sequence[str] = (),
    rules: str = "",
    nonce: str = "",
) -> str:
    """Return the text of a page.

    style: the name of its own sheet of style, beside the one all pages share. rules: further ones, as CSS.
        scripts: run at its end.
    unpacked: scripts that those make of what `inline_packed` puts into the page. nonce: a word by which these
        may load a script that lies beside the page.
    """
    styles = part("shared.css") + part(style) + rules
    allowed = policy([*scripts, *unpacked], [styles], nonce)
    elements = "".join(f"<script>{text}</script>\n" for text in scripts)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{allowed}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{safe(title)}</title>
<style>{styles}</style>
</head>
<body>
{body}{elements}</body>
</html>
"""


def policy(scripts: Sequence[str], styles: Sequence[str], nonce: str = "") -> str:
    """The Content-Security-Policy that allows these scripts and styles, by their SHA-256, scripts that carry
    the nonce, if there is one, and no others."""
    hashes = [" ".join(f"'sha256-{_digest(t)}'" for t in dict.fromkeys(texts)) for texts in (scripts, styles)]
    allowed = hashes[0] + (f" 'nonce-{nonce}'" if nonce else "")
    return POLICY.format(scripts=allowed or "'none'", styles=hashes[1])


@lru_cache(maxsize=16)
def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def part(name: str) -> str:
    """The text of a script or a sheet of style that comes with this room."""
    return (resources.files("strut.view") / "scripts" / name).read_text(encoding="utf-8")


def inline_json(name: str, data: Any, mark: str = "") -> str:
    """Return data as an element of a page, as JSON: within a script element only '<' could end it. mark: an
    attribute of ours for its element."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json" id="{name}"{mark and " " + mark}>{text}</script>\n'


def inline_packed(name: str, text: str) -> str:
    """Return long text as an element of a page, compressed; scripts/unpack.js opens it."""
    return f'<script type="text/plain" id="{name}" class="packed">{_compress(text)}</script>\n'


@lru_cache(maxsize=16)
def _compress(text: str) -> str:
    """Compress a text (gzip) and write it in letters (base64)."""
    return base64.b64encode(gzip.compress(text.encode("utf-8"), 6, mtime=0)).decode("ascii")


def unpack_text(text: str) -> str:
    """Return the text that `inline_packed` was given, from what stands in its element."""
    return gzip.decompress(base64.b64decode(text)).decode("utf-8")
