"""CasADi's own word on Ctrl-C, which is kept from people: whoever runs a solver says it in a sentence."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LINE_BEGIN = "CasADi - "
"""What a warning of CasADi begins with; it is written in pieces, the last of which ends the line."""
INTERRUPT = "KeyboardInterruptException"
"""What stands in the one on Ctrl-C."""


@contextmanager
def hide_interrupt_warning() -> Iterator[None]:
    """Keep the warning that CasADi prints on Ctrl-C off standard error while the block runs; everything else
    goes there."""
    own_stream = sys.stderr
    if isinstance(own_stream, _WithoutWarning) or own_stream is None:
        yield
        return
    sys.stderr = _WithoutWarning(own_stream)
    try:
        yield
    finally:
        if isinstance(sys.stderr, _WithoutWarning):
            sys.stderr = own_stream


class _WithoutWarning:
    """A stream that passes on what is written to it, but for one warning."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._pieces: dict[int, list[str]] = {}  # of a line that CasADi began, by the thread that writes it

    def write(self, text: str) -> int:
        """Write a text; a line of CasADi waits until it is whole."""
        thread = threading.get_ident()
        if text.startswith(LINE_BEGIN) or thread in self._pieces:
            self._pieces.setdefault(thread, []).append(text)
            if not text.endswith("\n"):
                return len(text)
            line = "".join(self._pieces.pop(thread))
            if INTERRUPT not in line:
                self._stream.write(line)
        else:
            self._stream.write(text)
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


__all__ = ["hide_interrupt_warning"]
