"""`memo`: what was worked out of a system once, kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class HasCache(Protocol):
    """What `memo` needs of a system: a dictionary that its variants share."""

    @property
    def cache(self) -> dict[Any, Any]:
        """What was computed, by function and arguments."""
        ...


def memo(system: HasCache, function: Callable[..., T], *key: Hashable) -> T:
    """Return function(system, *key), computed once for this system and every variant that `using` made of it.

    function: one that stands in a module or a class, never a lambda or a function inside another: it is found
        again by itself.
    key: its further arguments.

    Variants share their expressions and differ in values, and so: `function` may depend on expressions and on
    `key`, never on the value of a state, input or parameter. What depends on values takes them as part of the
    key. Nothing else writes into `System.cache`.
    """
    place = (function, *key)
    if place not in system.cache:
        system.cache[place] = function(system, *key)
    result: T = system.cache[place]
    return result


__all__ = ["HasCache", "memo"]
