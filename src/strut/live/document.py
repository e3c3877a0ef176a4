"""The HTML of a live page: modules, data and scripts in one file, which a browser lets load nothing."""

from __future__ import annotations

import base64
import gzip
import re
from importlib import resources
from typing import Any

from strut.export.wasm import module_script
from strut.html import safe
from strut.view.motion.film import SPEEDS
from strut.view.motion.player import VIEWS
from strut.view.pages.sheet import inline_json, part, policy


def script(name: str) -> str:
    """The text of a script, a sheet of style or a template of this room."""
    return (resources.files("strut.live") / "scripts" / name).read_text(encoding="utf-8")


def live_document(title: str, description: str, data: dict[str, Any], modules: dict[str, bytes]) -> str:
    """Return the text of a page. data: what its scripts read. modules: for WebAssembly, by name."""
    three = part("three.js")
    scripts = [
        module_script() + script("newton.js"),
        part("flat.js") + part("space.js"),
        script("source.js") + script("settings.js") + script("plots.js") + script("live.js"),
    ]
    styles = part("shared.css") + script("live.css")
    allowed = policy([*scripts, three], [styles])
    film = data["film"]
    first = "side" if film is None or film["planar"] else "corner"
    packed = "".join(
        _packed_element(name, content) for name, content in {**modules, "three": three.encode()}.items()
    )
    words = {
        "policy": allowed.replace("script-src ", "script-src 'wasm-unsafe-eval' ", 1),
        "title": safe(title),
        "description": safe(description),
        "styles": styles,
        "notes": "".join(f"<p>{safe(note)}</p>" for note in (film["notes"] if film else ())),
        "speeds": _options({f"{v:g}×": v for v in SPEEDS}, 1),
        "views": _options({v: v for v in VIEWS}, first),
        "data": inline_json("live-data", data) + packed,
        "scripts": "".join(f"<script>{text}</script>\n" for text in scripts),
    }
    return re.sub("@([a-z]+)@", lambda mark: words[mark[1]], script("live.html"))


def _options(choices: dict[str, Any], chosen: Any) -> str:
    """Options of a select element, one of which is chosen."""
    return "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{word}</option>'
        for word, value in choices.items()
    )


def _packed_element(name: str, content: bytes) -> str:
    """Bytes as an element of a page, compressed."""
    text = base64.b64encode(gzip.compress(content, 9, mtime=0)).decode("ascii")
    return f'<script type="text/plain" id="{name}">{text}</script>\n'


__all__ = ["live_document", "script"]
