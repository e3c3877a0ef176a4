"""`Deadline`: until when a search may go on."""

from __future__ import annotations

import math
import time as clock

MAX_WALL_FACTOR = 3.0
"""How many times its seconds a deadline is away by the clock on the wall at most, however busy the computer
is with other things [1]."""


class Deadline:
    """The moment at which a search must end: after so many seconds of work [s], or when it is interrupted.

    While other programs have the processor, its time stands still, so that what a search comes to does not
    depend on them; but not for longer than `MAX_WALL_FACTOR` says. whole: the deadline of the search that
    this one is a part of; it is interrupted with it.
    """

    def __init__(self, seconds: float = math.inf, whole: Deadline | None = None) -> None:
        self.seconds, self.whole, self.interrupted = seconds, whole, False
        self._worked = 0.0
        self._wall = self._began = clock.monotonic()
        self._processor = clock.process_time()

    @property
    def left(self) -> float:
        """How long there is left [s]."""
        wall, processor = clock.monotonic(), clock.process_time()
        self._worked += min(wall - self._wall, processor - self._processor)
        self._wall, self._processor = wall, processor
        by_the_wall = self.seconds - (wall - self._began) / MAX_WALL_FACTOR
        return min(self.seconds - self._worked, by_the_wall)

    @property
    def is_over(self) -> bool:
        """Whether it is over."""
        return self.interrupted or self.left <= 0 or (self.whole is not None and self.whole.is_over)

    def interrupt(self) -> None:
        """End the search now, and the one that it is a part of: somebody pressed Ctrl-C."""
        self.interrupted = True
        if self.whole is not None:
            self.whole.interrupt()

    def part(self, share: float) -> Deadline:
        """Return a deadline after this share [1] of the time that is left."""
        return Deadline(share * max(self.left, 0.0), whole=self)


__all__ = ["Deadline"]
