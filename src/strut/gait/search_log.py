"""`SearchLog`: what a search of gaits tried and saw; and what is said of it where it ends without a gait."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from strut.errors import NoGaitError
from strut.gait.deadline import Deadline
from strut.gait.gait import Gait
from strut.gait.newton import FixedPoints
from strut.gait.replay import MIN_STEP, replay
from strut.gait.return_map import ReturnMap
from strut.gait.section import explain_status
from strut.gait.standing import SHORT_STEP
from strut.system import System

SAME_GAIT = 1e-6
"""Distance, relative to 1 + |y|, below which two fixed points are one."""
MAX_APPROACHES = 50
"""States near which a step nearly returned that are remembered."""
NAMED_PARAMETERS = 8
"""Parameters whose values an error names; of a machine with more, the others are counted."""
STANDING = "stood still"
"""Why a fixed point of the map is no gait, where the machine stays where it is."""


class BudgetWarning(UserWarning):
    """A search of gaits ended because its time was over, before all that was asked was tried."""


class GaitSearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search of gaits, with what it had by then.

    gaits: those found. nearest: the states just after the section, by name, that came nearest to a gait;
    empty where no step was completed. closest: their change over a step, 2-norm.
    """

    def __init__(self, message: str, gaits: list[Gait], nearest: Mapping[str, float], closest: float) -> None:
        super().__init__(message)
        self.gaits, self.nearest, self.closest = gaits, nearest, closest


@dataclass
class SearchLog:
    """What a search has seen.

    progress: who is told how far it is, if somebody is. deadline: until when it may go on, and own_deadline:
        from where the machine begins and walks to. budget: how long it may take [s].
    closest: the smallest change of the free states over a step, 2-norm. ended: how often each reason ended a
        step. refused: how often the simulator had each reason to say that a fixed point is no gait.
    approaches: the states from which a step changed them least, with that change, the smallest first.
    own_begin: whether Newton's method began also where the machine does and where it walks to.
    starts: how many random states were to be tried, and tried: from how many Newton's method came to an end.
    usual_period: the median duration of steps from random states [s]; 0 where none was made.
    gaits: those found.
    """

    progress: Callable[[str, float | None], None] | None = None
    deadline: Deadline = field(default_factory=Deadline)
    own_deadline: Deadline = field(init=False)
    budget: float = math.inf
    closest: float = np.inf
    ended: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    approaches: list[tuple[float, np.ndarray]] = field(default_factory=list)
    own_begin: bool = False
    starts: int = 0
    tried: int = 0
    usual_period: float = 0.0
    gaits: list[Gait] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.own_deadline = self.deadline.part(1.0)

    def begin_counting(self, own_share: float) -> None:
        """Count the time of the budget from now on. own_share: of it [1], from where the machine begins and
        walks to."""
        self.deadline = Deadline(self.budget)
        self.own_deadline = self.deadline.part(own_share)

    @property
    def cut_short(self) -> bool:
        """Whether random states were left when the time was over."""
        return self.tried < self.starts

    def tell(self, text: str, part: float | None = None) -> None:
        """Say what is done, and which part of it is done [1] where that is known."""
        if self.progress is not None:
            self.progress(text, part)

    def note(self, points: FixedPoints, standing: np.ndarray | None = None) -> None:
        """Add what Newton's method saw. standing: in which rows the machine only stands."""
        self.closest = min(self.closest, points.closest)
        self.ended.update(points.fell)
        residual = points.residual if standing is None else np.where(standing, np.inf, points.residual)
        rows = np.argsort(residual)[:MAX_APPROACHES]
        near = [(float(residual[k]), points.y[k]) for k in rows if np.isfinite(residual[k])]
        self.approaches = sorted([*self.approaches, *near], key=lambda each: each[0])[:MAX_APPROACHES]


@dataclass(frozen=True, eq=False)
class Approach:
    """The state nearest to a gait that a search saw: its free states, their change over a step (2-norm), and
    how long that took [s] and led [m]."""

    y: np.ndarray
    change: float
    period: float
    distance: float


def nearest_approach(step: ReturnMap, log: SearchLog) -> Approach | None:
    """Return the nearest approach to a gait in which the machine made a step; None where there was none."""
    if not log.approaches:
        return None
    y = np.array([state for _, state in log.approaches])
    steps = step.many(y, rough=True)
    long_enough = steps.ok & (steps.period > max(MIN_STEP, SHORT_STEP * log.usual_period))
    for k in np.flatnonzero(long_enough):
        period = float(steps.period[k])
        moved = replay(step, step.whole(y[k]), step.start.z, period).distance
        if not abs(moved) < MIN_STEP:
            return Approach(y[k], log.approaches[k][0], period, moved)
    return None


def is_new(y: np.ndarray, gaits: list[Gait]) -> bool:
    """Return whether none of these gaits is the one at the free states `y`."""
    return all(np.abs(y - gait.y0).max() > SAME_GAIT * (1 + np.abs(y).max()) for gait in gaits)


def no_gait_error(step: ReturnMap, log: SearchLog) -> NoGaitError:
    """Return the error that says what was sought and tried, how near it came, why steps ended, and what to do
    next."""
    system, near = step.system, nearest_approach(step, log)
    sentences = [
        f"no gait of '{system.name}' was found with {_parameters_text(system)}: "
        f"{_approach_text(system, near, log)}; {_ended_text(step, log)}",
        _tried_text(log),
        _drive_hint(system),
        _advice(log),
    ]
    return NoGaitError(
        ". ".join(each for each in sentences if each),
        log.closest if near is None else near.change,
        {**log.ended, **{f"no gait: {reason}": count for reason, count in log.refused.items()}},
        {} if near is None else _states(step, near.y),
    )


def search_interrupted(step: ReturnMap | None, log: SearchLog) -> GaitSearchInterrupted:
    """Return what a search raises where Ctrl-C ends it. step: None where its map was not made yet."""
    if step is None:
        return GaitSearchInterrupted("no gait was looked for yet", [], {}, np.inf)
    near = nearest_approach(step, log)
    gaits: list[Gait] = []
    for gait in log.gaits:
        gaits += [gait] if is_new(gait.y0, gaits) else []
    gaits_text = f"{len(gaits)} found" if gaits else "no gait was found yet"
    text = f"{gaits_text}: {_approach_text(step.system, near, log)}. {_tried_text(log)}"
    return GaitSearchInterrupted(
        text,
        gaits,
        {} if near is None else _states(step, near.y),
        log.closest if near is None else near.change,
    )


def budget_warning(log: SearchLog) -> BudgetWarning:
    """Return the warning of a search that found gaits, and whose time was over before it had tried all."""
    return BudgetWarning(
        f"the search of gaits ended after its budget of {log.budget:g} s, when {log.tried} of {log.starts} "
        f"random states had been tried: a longer one (--budget, budget=) may find others"
    )


def _states(step: ReturnMap, y: np.ndarray) -> dict[str, float]:
    """All states by name, from free ones."""
    return dict(zip(step.system.labels("x"), step.whole(y).tolist(), strict=True))


def _parameters_text(system: System) -> str:
    """The values of parameters, the slope first; of many the first."""
    values = {q.name: float(q.value[0]) for q in system.p if isinstance(q.value, np.ndarray)}
    slope = "" if system.walk is None else system.walk.slope
    names = sorted(values, key=lambda name: name != slope)
    texts = [f"{name}={values[name]:.4g}" for name in names[:NAMED_PARAMETERS]]
    more = len(names) - len(texts)
    return ", ".join(texts) + (f" and {more} other parameters" if more > 0 else "") or "no parameters"


def _approach_text(system: System, near: Approach | None, log: SearchLog) -> str:
    """How near a search came to a gait."""
    if log.refused and (near is None or set(log.refused) - {STANDING}):
        words = {STANDING: "it stood still"}
        reasons = sorted(words.get(reason) or explain_status(system, reason) for reason in log.refused)
        return (
            f"Newton found fixed points that are no gaits, by what the simulator said of them "
            f"({'; '.join(reasons)})"
        )
    if near is not None:
        far = "" if math.isnan(near.distance) else f", {near.distance:.3g} m far,"
        stood = log.refused[STANDING]
        beside = f" (but for {stood} states that returned because it stood still there)" if stood else ""
        return (
            f"the closest approach changed the state by {near.change:.3g} over a step{far} of "
            f"{near.period:.3g} s{beside}"
        )
    if np.isfinite(log.closest):
        return f"the closest approach changed the state by {log.closest:.3g} over a step that led nowhere"
    return "no step was completed"


def _ended_text(step: ReturnMap, log: SearchLog) -> str:
    """Why steps ended early, and how often."""
    words = {
        "done": f"no {step.section} within {step.longest:g} s",
        step.section: "derivatives that are not finite",
        "too many steps": f"no {step.section}, however long it swung",
    }
    ended = [(words.get(n) or explain_status(step.system, n), c) for n, c in log.ended.most_common(5)]
    if not ended:
        return "no step ended early"
    return f"of all steps tried, these ended early: {', '.join(f'{c} ({n})' for n, c in ended)}"


def _tried_text(log: SearchLog) -> str:
    """From where Newton's method began; empty where no random states were to be tried."""
    if not log.starts:
        return ""
    over = f" when the budget of {log.budget:g} s was over" if log.cut_short else ""
    over = " by then" if log.deadline.interrupted else over
    own = "where the machine does, where it walks to, and " if log.own_begin else ""
    return f"Newton's method began {own}from {log.tried} of {log.starts} random states{over}"


def _drive_hint(system: System) -> str:
    """What may be missing for a machine to walk at all; empty where nothing is known to be."""
    values = {q.name: float(q.value[0]) for q in system.p if isinstance(q.value, np.ndarray)}
    slope = values.get("" if system.walk is None else system.walk.slope, 1.0)
    if system.u:
        lead = "Its motors give what they were set to, nothing by default"
        level = ", and on level ground nothing else makes up for what landings take" if slope <= 0 else ""
        return (
            f"{lead}{level}: how to drive them, strut design (optimal.design) finds, and strut control "
            f"(control.lqr) holds that gait"
        )
    return "A walker without motors needs a slope that goes down" if slope <= 0 else ""


def _advice(log: SearchLog) -> str:
    """What to try next."""
    more = "a longer budget (--budget, budget=)" if log.cut_short else "more starts"
    return f"Try other parameters, another guess, or {more}"


__all__ = [
    "STANDING",
    "BudgetWarning",
    "GaitSearchInterrupted",
    "SearchLog",
    "budget_warning",
    "is_new",
    "nearest_approach",
    "no_gait_error",
    "search_interrupted",
]
