"""`memo`: what was worked out of a system once, kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from strut.system.system import System

T = TypeVar("T")


def memo(system: System, function: Callable[..., T], *key: Hashable) -> T:
    """function(system, *key), computed once for this system and every variant that `using` made of it.

    Variants share their expressions and differ in values, and so: `function` may depend on expressions and on
    `key`, never on the value of a state, input or parameter. What depends on values takes them as part of the
    key.
    """
    place = (function.__module__, function.__qualname__, *key)
    if place not in system.cache:
        system.cache[place] = function(system, *key)
    result: T = system.cache[place]
    return result


__all__ = ["memo"]
