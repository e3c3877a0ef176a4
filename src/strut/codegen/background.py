"""Libraries compiled in the background: a thread waits for a compiler of low priority, while the process goes
on without the library.

What it makes is in the cache for the next time; where the process ends first, the compiler is stopped and
nothing is left behind.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from multiprocessing import util

from strut.codegen.cache import build, is_cached, stop_compilers
from strut.errors import CompileError

STOP_TIME = 2.0
"""How long the end of a process waits [s] for a stopped compiler to clean up."""
log = logging.getLogger("strut")

_threads: dict[str, threading.Thread] = {}
"""Threads that build, by the key of the library."""
_ends_with: set[int] = set()
"""Processes that stop their compilers when they end: this one, and, in a forked one, those it comes from."""


def build_in_background(
    key: str, sources: Callable[[], dict[str, str]], main: str, cc: tuple[str, ...], name: str
) -> None:
    """Begin to build a library, as `build` does, and return at once; nothing where this process began it
    already. A build that fails is logged: whoever needs the library builds it, and is told."""
    if key in _threads:
        return
    texts = sources()  # written here: CasADi's expressions are not for two threads at a time

    def work() -> None:
        try:
            build(key, lambda: texts, main, cc, name, patient=True)
        except CompileError as error:
            if not _stopping.is_set():
                log.warning("in the background: %s", error)

    if os.getpid() not in _ends_with:
        _ends_with.add(os.getpid())
        util.Finalize(None, _stop, exitpriority=1)
    _threads[key] = threading.Thread(target=work, name=f"build {name}", daemon=True)
    _threads[key].start()


def is_begun(key: str) -> bool:
    """Whether this process began to build a library in the background."""
    return key in _threads


def is_built(key: str) -> bool:
    """Whether this process began to build a library in the background, and has it."""
    return key in _threads and not _threads[key].is_alive() and is_cached(key)


def wait_for_builds(timeout: float | None = None) -> None:
    """Wait until everything that is built in the background is ready, each for at most so long [s]."""
    for thread in list(_threads.values()):
        thread.join(timeout)


_stopping = threading.Event()


def _stop() -> None:
    """Stop the compilers, and wait until their threads have removed what they had begun."""
    _stopping.set()
    stop_compilers()
    wait_for_builds(STOP_TIME)


__all__ = ["build_in_background", "is_begun", "is_built", "wait_for_builds"]
