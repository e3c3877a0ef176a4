"""Which of many curves share a figure, by their names."""

from __future__ import annotations

import re

import numpy as np

from strut.view.figures.crowds import pattern_groups

MAX_CURVES = 12
"""Curves of a figure at most: of more, names that begin alike have a figure of their own."""
MAX_GROUPS = 8
"""Small figures of one unit at most; of more groups of names the first ones are drawn."""


def name_groups(names: list[str]) -> list[list[str]]:
    """Divide many names among figures: those with the same beginning, up to a dot, a bracket or a number,
    together. Few names are one group. Where that makes too many figures, beginnings end at an underscore,
    too, and small groups share a figure. Of more names than can be drawn so,
    those that differ by numbers alone are one group, however many."""
    if len(names) <= MAX_CURVES:
        return [names]
    if len(names) > MAX_CURVES * MAX_GROUPS:
        patterns = list(pattern_groups(names).values())
        return sorted(patterns, key=len, reverse=True)[:MAX_GROUPS]
    parts = _groups_by_beginning(names, r"[.\[]|\d")
    if len(parts) > MAX_GROUPS:
        parts = _join_small(_groups_by_beginning(names, r"[.\[_]|\d"))
    return parts[:MAX_GROUPS]


def _groups_by_beginning(names: list[str], end: str) -> list[list[str]]:
    """Names that begin alike, up to what the pattern `end` finds; more than a figure holds in even parts."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(re.split(end, name, maxsplit=1)[0], []).append(name)
    return [
        part.tolist()
        for group in groups.values()
        for part in np.array_split(np.array(group), -(-len(group) // MAX_CURVES))
    ]


def _join_small(groups: list[list[str]]) -> list[list[str]]:
    """Groups of up to half as many names as a figure can hold, joined with others of them to a full one."""
    joined: list[list[str]] = []
    open_group: list[str] | None = None  # the last one to which another may come
    for group in groups:
        if len(group) > MAX_CURVES // 2:
            joined.append(group)
        elif open_group is not None and len(open_group) + len(group) <= MAX_CURVES:
            open_group += group
        else:
            open_group = list(group)
            joined.append(open_group)
    return joined


__all__ = ["MAX_CURVES", "MAX_GROUPS", "name_groups"]
