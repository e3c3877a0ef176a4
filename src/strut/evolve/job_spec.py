"""What a file says of its job: what of it is compared when it is gone on with, and in what two differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

PLACE = "runs on"
"""In what a file says of its job, where its runs were done at first, if not on the processor: told, and not
compared, so that a search that began on a card goes on without one."""
PLACE_OPTIONS = ("crew", "lanes")
"""Options of runs that say how a card or a core shares them out, not what they are: files of earlier versions
have them among what a job is."""


def without_place(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job is, without where its runs are done."""
    entries = {name: value for name, value in spec.items() if name != PLACE}
    options = entries.get("options")
    if isinstance(options, Mapping):
        entries["options"] = {name: each for name, each in options.items() if name not in PLACE_OPTIONS}
    return {
        name: without_place(value) if isinstance(value, Mapping) else value for name, value in entries.items()
    }


def spec_difference(old: Mapping[str, Any], new: Mapping[str, Any], path: str = "") -> str:
    """Return the first place in which two descriptions differ, as a sentence."""
    for name in sorted({*old, *new}):
        a, b = old.get(name), new.get(name)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            inner = spec_difference(a, b, f"{path}{name}.")
            if inner:
                return inner
        elif a != b:
            return f"its {path}{name} is {json.dumps(a)[:80]}, not {json.dumps(b)[:80]}"
    return ""


__all__ = ["PLACE", "PLACE_OPTIONS", "spec_difference", "without_place"]
