"""`pause_gc`: no garbage collection during work that makes many objects, all of which stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_gc() -> Iterator[None]:
    """Switch Python's garbage collector off inside a `with` block, and on again after it if it was on: where
    all objects stay, looking for garbage takes as long as the work."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
