"""`StrideScheduler`: which job may use the next free core, by priority (stride scheduling), with leases.

Each job has a pass: the time [s] of a core that it has used, divided by its priority. Of those that wait, the
one with the least pass is next, so that over time jobs use cores in proportion to their priorities. After
C. A. Waldspurger and W. E. Weihl, Stride Scheduling, MIT/LCS/TM-528 (1995); here a job is charged with what
a share is expected to take when it begins, and with what it took when it ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

LEASE_SECONDS = 10.0
"""Time [s] after which a job that gives no sign of life loses its cores."""
MAX_CREDIT_SECONDS = 2.0
"""Time [s] of a core that a job may catch up after a moment without anything to do, between generations."""


@dataclass
class _Contender:
    """A job that shares the cores. permits: of each core that it uses, by its ticket, the machine and the
    expected time [s]."""

    priority: float
    lease: float
    passed: float
    beat: float
    used: float = 0.0
    waiting: list[tuple[int, float]] = field(default_factory=list)
    permits: dict[int, tuple[str, float]] = field(default_factory=dict)


class StrideScheduler:
    """Hands out cores. clock: returns the time [s]."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._jobs: dict[str, _Contender] = {}
        self._now = 0.0
        self._tickets = 0

    def enter(self, job: str, priority: float, lease: float = LEASE_SECONDS) -> None:
        """Let a job take part, or say that it is alive. It begins with the pass of those that are there."""
        contender = self._jobs.get(job)
        if contender is None:
            self._jobs[job] = _Contender(priority, lease, self._now, self._clock())
        else:
            contender.priority, contender.lease, contender.beat = priority, lease, self._clock()

    def leave(self, job: str) -> list[int]:
        """Forget a job, with the cores that it has. Return its tickets that still wait."""
        contender = self._jobs.pop(job, None)
        return [] if contender is None else [ticket for ticket, _ in contender.waiting]

    def ask(self, job: str, seconds: float) -> int:
        """Wait for a core, for about so long [s]; return the number of the ticket. The job must have
        entered."""
        contender = self._jobs[job]
        if not contender.waiting and not contender.permits:
            contender.passed = max(contender.passed, self._now - MAX_CREDIT_SECONDS / contender.priority)
        self._tickets += 1
        contender.waiting.append((self._tickets, seconds))
        return self._tickets

    def grant(self, cores: Mapping[str, int]) -> list[tuple[int, str]]:
        """Give free cores, of so many on each machine, to those that wait; return the tickets that may begin,
        and on which machine."""
        in_use = Counter(place for each in self._jobs.values() for place, _ in each.permits.values())
        grants: list[tuple[int, str]] = []
        while True:
            queue = [each for each in self._jobs.values() if each.waiting]
            free = {place: count - in_use[place] for place, count in cores.items() if count > in_use[place]}
            if not queue or not free:
                return grants
            first = min(queue, key=lambda each: each.passed)
            place = max(free, key=lambda name: free[name])
            ticket, seconds = first.waiting.pop(0)
            self._now = max(self._now, first.passed)
            first.passed += seconds / first.priority
            first.permits[ticket] = (place, seconds)
            in_use[place] += 1
            grants.append((ticket, place))

    def release(self, job: str, ticket: int, seconds: float) -> None:
        """Take back a core that was used for so long [s]; one whose lease had ended is ignored."""
        contender = self._jobs.get(job)
        if contender is None or ticket not in contender.permits:
            return
        _, expected = contender.permits.pop(ticket)
        contender.passed += (seconds - expected) / contender.priority
        contender.used += seconds

    def rest(self, job: str) -> list[int]:
        """Take back all cores and tickets of a job that has nothing to do for now; it keeps its pass. Return
        its tickets that waited."""
        contender = self._jobs.get(job)
        if contender is None:
            return []
        contender.passed -= sum(seconds for _, seconds in contender.permits.values()) / contender.priority
        tickets = [ticket for ticket, _ in contender.waiting]
        contender.permits.clear()
        contender.waiting.clear()
        return tickets

    def expire(self) -> list[int]:
        """Forget jobs whose lease has ended; return their tickets that still wait."""
        now = self._clock()
        dead = [job for job, each in self._jobs.items() if now - each.beat > each.lease]
        return [ticket for job in dead for ticket in self.leave(job)]

    @property
    def job_count(self) -> int:
        """How many jobs take part."""
        return len(self._jobs)

    def usage(self) -> dict[str, float]:
        """Return the time [s] of cores that each job has used, in shares that ended."""
        return {job: each.used for job, each in self._jobs.items()}
