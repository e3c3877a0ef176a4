"""What a model file says besides its mechanism, of ground, drives, servos, sensors and watchers: kept as the
file has it, so that it can be written again. Who reads it is `contact.load`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from strut.system import number_text

MACHINE_TABLES = ("contact", "drives", "servos", "sensors", "watchers")
"""The tables that are no part of the mechanism, in the order in which they are put to use."""
UNMIRRORED_CONTACTS = ("stepping",)
"""Kinds of contact whose tables do not say whether left and right are exchanged."""


def keep_tables(data: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a file that are no part of its mechanism. A mirrored file exchanges left and right
    without a word; one that is written has both sides, so that its contact says so."""
    tables = {name: deepcopy(data[name]) for name in MACHINE_TABLES if isinstance(data.get(name), dict)}
    ground = tables.get("contact")
    if data.get("mirror") and ground is not None and ground.get("kind") not in UNMIRRORED_CONTACTS:
        ground.setdefault("symmetry", True)
    return tables


def table_blocks(tables: Mapping[str, Any]) -> list[list[str]]:
    """The tables as lines of TOML, block by block."""
    blocks = []
    for name, table in tables.items():
        if name == "contact":
            blocks.append([f"[{name}]", *_lines(table)])
        else:
            blocks += [[f"[{name}.{_key(label)}]", *_lines(inner)] for label, inner in table.items()]
    return blocks


def _lines(table: Mapping[str, Any]) -> list[str]:
    """The keys of a table, a line each."""
    return [f"{_key(key)} = {_value(value)}" for key, value in table.items()]


def _key(name: str) -> str:
    """A key, in quotes where TOML wants them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _value(value: Any) -> str:
    """A value: a text, a number, true or false, or lists and tables of them."""
    if isinstance(value, dict):
        return f"{{ {', '.join(_lines(value))} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    if isinstance(value, (bool, int, str)):
        return json.dumps(value, ensure_ascii=False)
    return number_text(value) if abs(value) < float("inf") else "inf" if value > 0 else "-inf"


__all__ = ["MACHINE_TABLES", "keep_tables", "table_blocks"]
