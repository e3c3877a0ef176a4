"""What to say of a name that a system does not have: the nearest that it has, and all by their kinds."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from strut.checks import checked, require_attributes

MAX_SHOWN_NAMES = {"states": 40, "inputs": 40}
"""How many names of these kinds are shown at most."""
MAX_SHOWN_OTHERS = 12
"""How many names of every other kind are shown at most."""
MAX_NEAR_NAMES = 3
"""How many near names are offered at most."""
NEAR_SLACK = 0.1
"""[1] By how much less alike than the nearest, by difflib's ratio, another name may be to be offered, too."""


@checked
def names_by_kind(system: Any) -> dict[str, list[str]]:
    """Return the names of what a system has, by kinds: first those that people look for most. system: a
    `System`, which the module that defines it hands over, so that it cannot be imported here."""
    require_attributes("system", system, ("x", "u", "outputs", "p", "z"), "a System")
    names = {
        "states": [q.name for q in system.x],
        "inputs": [q.name for q in system.u],
        "outputs": list(system.outputs),
        "parameters": [q.name for q in system.p],
        "discrete states": [q.name for q in system.z],
    }
    return {kind: each for kind, each in names.items() if each}


@checked
def suggest_names(name: str, kinds: Mapping[str, Sequence[str]]) -> str:
    """Return the names nearest to one as a question, then all names by their kinds, long lists cut. kinds:
    as of `names_by_kind`."""
    every = [each for names in kinds.values() for each in names]
    near = difflib.get_close_matches(name, every, n=MAX_NEAR_NAMES)
    likeness = [difflib.SequenceMatcher(None, each, name).ratio() for each in near]
    near = [n for n, like in zip(near, likeness, strict=True) if like >= likeness[0] - NEAR_SLACK]
    if not near and name:  # a part of a name, as 'knee' of 'stance_knee'
        near = [each for each in every if name.lower() in each.lower()]
    quoted = [f"'{each}'" for each in near[:MAX_NEAR_NAMES]]
    asked = f"did you mean {' or '.join(quoted)}? " if quoted else ""
    listed = []
    for kind, names in kinds.items():
        if not names:
            continue
        most = MAX_SHOWN_NAMES.get(kind, MAX_SHOWN_OTHERS)
        more = f" and {len(names) - most} more" if len(names) > most else ""
        listed.append(f"{kind}: {', '.join(names[:most])}{more}")
    return asked + ("; ".join(listed) or "there are none")


__all__ = ["names_by_kind", "suggest_names"]
