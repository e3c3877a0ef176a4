"""`repeat_step`: a step of a walker as several that follow one another, for a search to begin from.

Where left and right are exchanged after a step, every other one is the mirror image: other events, other
feet, the same motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.walk.frozen_branch import FrozenBranch, Point, compares, freeze_at
from strut.optimal.walk.read_walk import velocity_states
from strut.system import System, start, sx

IMAGE_POINTS = 3
"""Random states at which the guards of two events are compared."""
SAME_GUARD = 1e-9
"""Guards that differ by less, relative to 1 + their size, are the same."""


@dataclass(frozen=True, eq=False)
class StepSequence:
    """Steps that follow one another.

    steps: how many. events: those that end the phases, step by step. guess: the motion. branch: what the
    events do, where that depends on who touches the ground; None otherwise.
    """

    steps: int
    events: tuple[str, ...]
    guess: Guess
    branch: FrozenBranch | None


def repeat_step(result: Solution, paces: Sequence[float]) -> StepSequence:
    """Return the step of a result as one for each pace: as fast as it is, or by that factor of it."""
    walker = result.system
    exchange = Exchanged(walker, result)
    events: list[str] = []
    stretches: list[Stretch] = []
    discrete: list[dict[str, np.ndarray]] = []
    points: dict[str, Point] = {}
    for k, pace in enumerate(paces):
        mirrored = bool(result.problem.repeats) and k % 2 == 1
        for m in result.phases:
            assert m.until is not None
            name = exchange.image_of(m.until) if mirrored else m.until
            events.append(name)
            stretches.append(exchange.stretch(m, mirrored, k, pace))
            x, z, u = m.x[-1], m.z, m.inputs(m.t[-1:])[0]
            if mirrored:
                x, z, u = (f(part) for f, part in zip(exchange.functions, (x, z, u), strict=True))
            discrete.append({q.name: z[walker.slices("z")[q.name]] for q in walker.z})
            points.setdefault(name, (float(m.t[-1]), x, z, u, result.p))
    branch = None
    if any(compares(walker, name) for name in points):
        first = np.concatenate([discrete[0][q.name] for q in walker.z])
        branch = replace(freeze_at(walker, points, first), discrete=tuple(discrete))
    return StepSequence(len(paces), tuple(events), Guess(tuple(stretches)), branch)


class Exchanged:
    """The motion of a result, and its mirror image."""

    def __init__(self, walker: System, result: Solution) -> None:
        self.walker, self.result = walker, result
        self.functions = [self._mirror(group) for group in "xzu"]
        self.velocities = velocity_states(walker)
        last = result.phases[-1]
        assert last.until is not None
        after = walker.after(
            last.until, mirrored_states(walker) if result.problem.repeats else walker.vector("x")
        )
        reached = ca.Function("reached", walker.vectors(), [after])(
            last.x[-1], last.z, last.inputs(last.t[-1:])[0], result.p
        )
        self.advance = np.array(reached).reshape(-1) - result.phases[0].x[0]

    def _mirror(self, group: str) -> Callable[[np.ndarray], np.ndarray]:
        """Return the exchange of left and right of states, discrete states or inputs."""
        walker = self.walker
        image = ca.vertcat(
            *[sx(walker.symmetry.get(q.name, q.sym)) for q in getattr(walker, group)], ca.SX(0, 1)
        )
        f = ca.Function("mirror", [walker.vector(group), walker.vector("p")], [ca.densify(image)])
        p = self.result.p
        return lambda row: np.array(f(row, p)).reshape(-1)

    def stretch(self, m: Motion, mirrored: bool, step: int, pace: float) -> Stretch:
        """Return a phase as one of a guess: of the step of this number, mirrored or not, at a pace."""
        plain = m.stretch()

        def states(s: np.ndarray) -> np.ndarray:
            turn = self.functions[0] if mirrored else np.array
            rows: np.ndarray = np.array([turn(row) for row in plain.x(s)])
            rows = rows + step * self.advance * ~np.isin(np.arange(rows.shape[1]), self.velocities)
            rows[:, self.velocities] *= pace
            return rows

        def inputs(s: np.ndarray) -> np.ndarray:
            rows = plain.u(s)
            return np.array([self.functions[2](row) for row in rows]) if mirrored else rows

        return Stretch(plain.duration / pace, states, inputs)

    def image_of(self, event: str) -> str:
        """Return the event that is another's mirror image: of a foot, that of the opposite foot; else the one
        whose guard is the same with left and right exchanged. `ModelError` where there is none."""
        feet = () if self.walker.walk is None else self.walker.walk.feet
        for foot in feet:
            opposite = next((f for f in feet if f.name == foot.opposite), None)
            for kind in ("lands", "lifts", "passes", "clears"):
                if opposite is not None and getattr(foot, kind) == event and getattr(opposite, kind):
                    return str(getattr(opposite, kind))
        names = [e.name for e in self.walker.events]
        f = self.walker.function(
            "guards", [ca.vertcat(*[sx(e.guard) for e in self.walker.events])], clock=False
        )
        begin, random = start(self.walker), np.random.default_rng(3)
        same = np.ones(len(names), dtype=bool)
        for _ in range(IMAGE_POINTS):
            x = begin.x + random.uniform(-0.2, 0.2, len(begin.x))
            z = random.integers(0, 2, self.walker.size("z")).astype(float)
            u = random.uniform(-1, 1, self.walker.size("u"))
            own = float(np.array(f(x, z, u, self.result.p)).reshape(-1)[names.index(event)])
            turned = [g(part) for g, part in zip(self.functions, (x, z, u), strict=True)]
            others = np.array(f(*turned, self.result.p)).reshape(-1)
            same &= np.abs(others - own) <= SAME_GUARD * (1 + abs(own))
        matches = [name for name, is_same in zip(names, same, strict=True) if is_same]
        if not matches:
            raise ModelError(
                f"'{event}' of '{self.walker.name}' has no mirror image: say in its walk which feet are "
                f"opposite, Foot(opposite=...), or let both sides be alike"
            )
        return event if event in matches else matches[0]


__all__ = ["StepSequence", "repeat_step"]
