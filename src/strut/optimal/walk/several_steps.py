"""`repeat_step`: a step of a walker as several that follow one another, for a search to begin from.

Where left and right are exchanged after a step, every other one is the mirror image: other events, other
feet, the same motion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.gait.exchange import mirrored_states
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.solver.result import Motion, Solution
from strut.optimal.walk.frozen_branch import FrozenBranch, Point, compares, freeze_at
from strut.optimal.walk.hold_feet import hold_feet
from strut.optimal.walk.read_walk import velocity_states
from strut.system import System, start, sx

IMAGE_POINTS = 3
"""Random states at which the guards of two events are compared."""
SAME_GUARD = 1e-9
"""Guards that differ by less, relative to 1 + their size, are the same."""


@dataclass(frozen=True, eq=False)
class StepSequence:
    """Steps that follow one another.

    steps: how many. events: those that end the phases, step by step; None for one that ends by time. guess:
    the motion. branch: what the events do, where that depends on who touches the ground; None otherwise.
    """

    steps: int
    events: tuple[str | None, ...]
    guess: Guess
    branch: FrozenBranch | None


def repeat_step(
    result: Solution,
    paces: Sequence[float],
    *,
    walker: System | None = None,
    cuts: Mapping[str, float] | None = None,
) -> StepSequence:
    """Return the step of a result as one for each pace: as fast as it is, or by that factor of it.

    walker: its system, where that has further parameters. cuts: further events of the step, with their times
    [s], that are to end phases, too; they change no discrete state that the flow depends on.
    """
    walker = hold_feet(result.system if walker is None else walker)
    exchange = Exchanged(walker, result)
    events: list[str | None] = []
    stretches: list[Stretch] = []
    discrete: list[dict[str, np.ndarray]] = []
    points: dict[str, Point] = {}
    for k, pace in enumerate(paces):
        mirrored = bool(result.problem.repeats) and k % 2 == 1
        for m in result.phases:
            assert m.until is not None
            name = exchange.image_of(m.until) if mirrored else m.until
            whole = exchange.stretch(m, mirrored, k, pace)
            x, z, u = m.x[-1], m.z, m.inputs(m.t[-1:])[0]
            if mirrored:
                x, z, u = (f(part) for f, part in zip(exchange.functions, (x, z, u), strict=True))
            flags = {
                q.name: z[walker.slices("z")[q.name]]
                for q in walker.z
                if q.name not in exchange.changing_states
            }
            places = {n: (t - m.t[0]) / m.duration for n, t in (cuts or {}).items() if m.t[0] < t < m.t[-1]}
            begin = 0.0
            for event, end in (*sorted(places.items(), key=lambda each: each[1]), (name, 1.0)):
                events.append(event)
                stretches.append(cut_stretch(whole, begin, end))
                discrete.append(flags)
                begin = end
            points.setdefault(name, (float(m.t[-1]), x, z, u, exchange.p))
    branch = None
    if any(compares(walker, name) for name in points):
        first = result.phases[0].z
        branch = replace(freeze_at(walker, points, first), discrete=tuple(discrete))
    return StepSequence(len(paces), tuple(events), Guess(tuple(stretches)), branch)


def cut_stretch(whole: Stretch, begin: float, end: float) -> Stretch:
    """Return a part of a phase of a guess: between two places, 0 to 1."""

    def places(s: np.ndarray) -> np.ndarray:
        return begin + (end - begin) * np.asarray(s)

    if (begin, end) == (0.0, 1.0):
        return whole
    return Stretch((end - begin) * whole.duration, lambda s: whole.x(places(s)), lambda s: whole.u(places(s)))


class Exchanged:
    """The motion of a result, and its mirror image."""

    def __init__(self, walker: System, result: Solution) -> None:
        self.walker, self.result = walker, result
        values = dict(zip(result.system.labels("p"), result.p, strict=True))
        own = dict(zip(walker.labels("p"), start(walker).p, strict=True))
        self.p = np.array([values.get(name, own[name]) for name in walker.labels("p")])
        self.functions = [self._mirror(group) for group in "xzu"]
        self.velocities = velocity_states(walker)
        last = result.phases[-1]
        assert last.until is not None
        after = walker.after(
            last.until, mirrored_states(walker) if result.problem.repeats else walker.vector("x")
        )
        reached = ca.Function("reached", walker.vectors(), [after])(
            last.x[-1], last.z, last.inputs(last.t[-1:])[0], self.p
        )
        self.advance = np.array(reached).reshape(-1) - result.phases[0].x[0]
        self.changing_states = self._changing_states(last)

    def _changing_states(self, last: Motion) -> set[str]:
        """Return the discrete states that a step leaves other than they were when it began, such as where a
        foot stands: a plan carries them on, it does not hold them."""
        walker = self.walker
        image = mirrored_states(walker, "z") if self.result.problem.repeats else walker.vector("z")
        left = walker.function("left", [ca.densify(walker.after(str(last.until), image))])
        values = left(float(last.t[-1]), last.x[-1], last.z, last.inputs(last.t[-1:])[0], self.p)
        same = np.abs(np.array(values).reshape(-1) - self.result.phases[0].z) <= SAME_GUARD
        return {q.name for q in walker.z if not same[walker.slices("z")[q.name]].all()}

    def _mirror(self, group: str) -> Callable[[np.ndarray], np.ndarray]:
        """Return the exchange of left and right of states, discrete states or inputs."""
        walker = self.walker
        image = ca.vertcat(
            *[sx(walker.symmetry.get(q.name, q.sym)) for q in getattr(walker, group)], ca.SX(0, 1)
        )
        f = ca.Function("mirror", [walker.vector(group), walker.vector("p")], [ca.densify(image)])
        p = self.p
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
            own = float(np.array(f(x, z, u, self.p)).reshape(-1)[names.index(event)])
            turned = [g(part) for g, part in zip(self.functions, (x, z, u), strict=True)]
            others = np.array(f(*turned, self.p)).reshape(-1)
            same &= np.abs(others - own) <= SAME_GUARD * (1 + abs(own))
        matches = [name for name, is_same in zip(names, same, strict=True) if is_same]
        if not matches:
            raise ModelError(
                f"'{event}' of '{self.walker.name}' has no mirror image: say in its walk which feet are "
                f"opposite, Foot(opposite=...), or let both sides be alike"
            )
        return event if event in matches else matches[0]


__all__ = ["StepSequence", "repeat_step"]
