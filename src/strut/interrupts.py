"""Ctrl-C that arrives while an extension module runs, as the `KeyboardInterrupt` that it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reveal_interrupts() -> Iterator[None]:
    """Raise `KeyboardInterrupt` where the block ends with a SystemError that one caused.

    Functions of CasADi return with the interrupt set instead of raising it, which Python calls an error of
    the system, caused by the interrupt. Other errors stay what they are.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


__all__ = ["reveal_interrupts"]
