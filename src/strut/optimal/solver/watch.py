"""`SearchWatch`: what a search shows while it runs, how long it may go on, and the best it has so far."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from threading import Lock

from strut.checks import checked
from strut.errors import ValueRangeError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver.result import Solution

BUDGET = 80.0
"""How long a search may work after its first solution [s] (`BusyClock`), with all its parts: finer meshes,
other ways to a speed, sharper plans, prices on torque. Five-link walkers take 4 s for a solution and 5 s for
three finer meshes, a runner of fourteen states three times as long."""
MIN_ROUND = 0.5
"""A round is not begun with less time left [s]."""


@checked
@dataclass(frozen=True)
class SearchStage:
    """What a search is doing.

    name: of the stage. seconds: since the search began. detail: what there is to say of it, or empty.
    """

    name: str
    seconds: float
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}{f' ({self.detail})' if self.detail else ''}, {self.seconds:.0f} s"


StageProgress = Callable[[SearchStage], None]
"""Is told every stage that a search begins."""


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C while the solver ran. best: where it was, no solution."""

    def __init__(self, best: Solution) -> None:
        super().__init__()
        self.best = best


class BusyClock:
    """A clock of the time in which this program worked [s]: it stands still while compilers work for it, or
    other programs have the processor. So what a search comes to does not depend on what else a machine does.
    """

    def __init__(self) -> None:
        self.lock, self.total = Lock(), 0.0
        self.wall, self.processor = clock.perf_counter(), clock.process_time()

    def now(self) -> float:
        """The time [s]; between two calls the shorter of the real and the processor time is counted, the
        latter being that of all threads."""
        with self.lock:
            wall, processor = clock.perf_counter(), clock.process_time()
            self.total += min(wall - self.wall, processor - self.processor)
            self.wall, self.processor = wall, processor
            return self.total


BUSY_CLOCK = BusyClock()
"""That of this program."""


@dataclass(eq=False)
class WholeSearch:
    """What all parts of a search, which are searches too, have in common: when it ends, and the mesh.

    budget: how long they may work together after the first solution of one of them [s]; that of the first
    watch. deadline: when that is over, of `BUSY_CLOCK`. mesh: the one made last.
    """

    budget: float = math.inf
    deadline: float = math.inf
    mesh: Transcribed | None = None


@dataclass(eq=False)
class SearchWatch:
    """Watches one search, of all its solves.

    budget: how long it may work after its first solution [s]. progress: is told its stages. best: the best
    solution so far. deadline: when the time is over, known once there is a first solution. whole: when the
    search ends that this one is a part of, which no part outlives, and the mesh that it made last.
    """

    budget: float = BUDGET
    progress: StageProgress | None = None
    best: Solution | None = None
    began: float = field(default_factory=clock.perf_counter)
    deadline: float = math.inf
    whole: WholeSearch = field(default_factory=WholeSearch)

    def __post_init__(self) -> None:
        if math.isinf(self.whole.budget):  # the first watch, of which others are parts
            self.whole.budget = self.budget
        if not self.budget >= 0:
            raise ValueRangeError(
                f"budget is {self.budget:g} s: how long to go on after the first solution must be 0 or more; "
                f"math.inf sets no limit"
            )

    def tell(self, name: str, detail: str = "") -> None:
        """Say which stage begins."""
        if self.progress is not None:
            self.progress(SearchStage(name, clock.perf_counter() - self.began, detail))

    def count_down(self) -> None:
        """Let the budget run from now on, if it does not already: there is a first solution."""
        if math.isinf(self.whole.deadline):
            self.whole.deadline = BUSY_CLOCK.now() + self.whole.budget
        if math.isinf(self.deadline):
            self.deadline = BUSY_CLOCK.now() + self.budget

    def mesh_of(self, solution: Solution) -> Transcribed | None:
        """Return the mesh that the search made last, where it is that of a solution; None where it is not."""
        mesh, point = self.whole.mesh, solution.optimum
        if mesh is None or point is None or mesh.problem is not solution.problem or mesh.how != solution.how:
            return None
        return mesh if point.is_on(mesh) else None

    @property
    def left(self) -> float:
        """How long it may still work [s]."""
        return min(self.deadline, self.whole.deadline) - BUSY_CLOCK.now()

    @property
    def may_go_on(self) -> bool:
        """Whether there is time for another round."""
        return self.left > MIN_ROUND

    def solver_limit(self) -> dict[str, float]:
        """Return the option of IPOPT that keeps it within the time left; none before a first solution."""
        left = self.left
        return {} if math.isinf(left) else {"max_cpu_time": max(left, MIN_ROUND)}

    def with_share(self, share: float) -> SearchWatch:
        """Return a watch of a search that has this part of the budget; its time begins with its own first
        solution, and ends with that of the whole search."""
        return self._part(share * self.budget, math.inf)

    def until_part(self, share: float) -> SearchWatch:
        """Return a watch of a search that has this part of the time left; where that is not known yet, of the
        budget."""
        left = self.budget if math.isinf(self.left) else max(self.left, 0.0)
        return self._part(share * left, BUSY_CLOCK.now() + share * left)

    def aside(self) -> SearchWatch:
        """Return a watch for a search on the way: it shares the time and shows its stages, and what it finds
        is not what is looked for."""
        return self._part(self.budget, self.deadline)

    def _part(self, budget: float, deadline: float) -> SearchWatch:
        """Return a watch of a part of the same search."""
        return replace(self, budget=budget, best=None, deadline=deadline)


__all__ = ["SearchInterrupted", "SearchStage", "SearchWatch", "StageProgress"]
