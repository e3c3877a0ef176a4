"""Left and right: the event of one foot that is another's on the other side."""

from __future__ import annotations

from collections.abc import Mapping

from strut.system import System


def opposite_events(system: System, event: str) -> tuple[str, ...]:
    """Return the event of the opposite foot that is this one with left and right exchanged, if there is
    one."""
    feet = () if system.walk is None else system.walk.feet
    pairs: Mapping[str, str] = {
        mine: theirs
        for f in feet
        for g in feet
        if f.opposite == g.name
        for mine, theirs in zip(
            (f.lands, f.lifts, f.passes, f.clears), (g.lands, g.lifts, g.passes, g.clears), strict=True
        )
        if mine and theirs
    }
    return (pairs[event],) if event in pairs else ()


__all__ = ["opposite_events"]
