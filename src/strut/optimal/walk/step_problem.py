"""What any step asks: phases that end as those of a gait did, feet that push and do not slip, a swing foot
that clears the ground, nothing that would end a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, is_number, number_array
from strut.errors import ModelError, ValueRangeError
from strut.gait import Gait
from strut.gait.transport import distance, weight, weight_of
from strut.optimal.problem import Problem
from strut.optimal.walk.frozen_branch import FrozenBranch, answered
from strut.system import Foot, System, sx, time

LASTS = (0.05, 10.0)
"""A step takes so long [s], where nothing is known of it."""
SHORTEST = 1e-3
"""A step is at least so long [m], where nothing is known of it."""
TIMES = 4.0
"""A step takes at most so many times as long as that of the gait to begin from, and at least that part of it;
so does its length."""
STRENGTH = 1.0
"""Torques are at most so many times weight by step length of the gait to begin from, where nothing is said of
them."""
FRICTION = 1.0
"""What the feet must not exceed, where nothing is said of it."""
FIRM = 0.01
"""Feet push by at least this part of the weight, and keep away from the edge of the cone by this part:
between the points of the mesh, too, they then stay on the ground and do not slip."""
MARGIN = 1e-3
"""What must not happen in a phase is missed by so much in its middle."""
LOOKS = 200
"""At so many moments a gait is looked at."""
ALIKE = 1e-9
"""Guards and forces that differ by no more, relative, are the same."""
Bounds = float | tuple[float, float] | None


def sequence(walker: System, section: str, begun: Gait | None, swings: bool = False) -> tuple[str, ...]:
    """The events of a step at which the motion changes: those of a gait that set states, or discrete states
    that the flow depends on; and, where something is asked of its swing, at which the foot passes the other
    and comes out of the ground."""
    flow = ca.vertcat(*walker.flow.values())
    matters = {q.name for q in walker.x} | {q.name for q in walker.z if ca.depends_on(flow, q.sym)}
    names = [] if begun is None else list(begun.trajectory.events.names)
    foot = _swing(walker, section) if swings else None
    asked = () if foot is None else (foot.passes, foot.clears)
    found = [e for e in names if e in asked or matters & set(walker.event(e).reset)]
    return tuple(found) if found and found[-1] == section else (*asked[:1], section)


def swing_foot(walker: System, section: str) -> Foot | None:
    """The foot that lands in `section`, if its walk says when it passes the other and how high it is; None
    otherwise."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    return foot if foot is not None and foot.passes and foot.gap else None


def _swing(walker: System, section: str) -> Foot:
    """The same of a walker that is asked to clear the ground."""
    foot = swing_foot(walker, section)
    if foot is None:
        raise ModelError(
            f"clearance is asked, but '{walker.name}' has no foot that lands in '{section}' of which its "
            f"walk says when it passes "
            "the other and how high it is: Foot(lands=..., passes=..., gap=...)"
        )
    return foot


def clears(run: Gait) -> bool:
    """Whether the swing foot of a gait stays above the ground."""
    foot = swing_foot(run.system, run.section)
    return foot is not None and bool(run.trajectory.at(_moments(run))[foot.gap].min() >= 0)


def _moments(run: Gait) -> np.ndarray:
    return run.period * np.linspace(0, 1, LOOKS)[1:-1]


def near(bounds: Bounds, name: str, usual: float | None) -> tuple[float, float] | None:
    """Bounds as they were asked, checked; or around what is usual."""
    if bounds is None:
        return None if usual is None or not usual > 0 else (usual / TIMES, usual * TIMES)
    ends = number_array(name, bounds).reshape(-1)
    if len(ends) not in (1, 2) or not 0 < ends[0] <= ends[-1] or not ends[0] < np.inf:
        raise ValueRangeError(
            f"{name} is {bounds}: give a positive number, or bounds (low, high) with low <= high"
        )
    return float(ends[0]), float(ends[-1])


def strength(walker: System, torque: float | None, step: float | None) -> dict[str, float]:
    """What inputs are at most, by name: as asked, or where they are torques without bounds, by weight and
    usual length of a step."""
    if torque is not None:
        if not is_number(torque) or not torque > 0:
            raise ValueRangeError(f"torque is {torque} N m: what is allowed must be positive")
        return dict.fromkeys(walker.labels("u"), float(torque))
    if step is None or not step > 0:
        return {}
    unlimited = [q for q in walker.u if q.size == 1 and q.unit == "N m" and not np.isfinite(q.bounds).any()]
    return {q.name: STRENGTH * weight_of(walker) * step for q in unlimited}


def require_branch(problem: Problem, branch: FrozenBranch) -> Problem:
    """The problem, on a branch: a further requirement for every condition of it."""
    problem = replace(problem, branch=branch)
    for phase in problem.phases:
        for k, condition in enumerate(branch.conditions.get(phase.until or "", ())):
            name = f"{phase.until} does what it did ({k + 1})"
            problem = problem.require(name, condition, low=0.0, at="end", phase=phase.name)
    return problem


@checked
def walking(
    walker: System,
    events: Sequence[str],
    duration: Bounds = None,
    step_length: Bounds = None,
    torque: Mapping[str, float] | float | None = None,
    friction: float | None = None,
    clearance: float | None = None,
    firm: float = 0.0,
    like: Gait | None = None,
    way: FrozenBranch | None = None,
    periodic: bool = True,
) -> Problem:
    """One step of a walker that repeats, its phases ended by `events`: feet push and do not pull, the old
    foot lifts, limits are kept. Nothing is minimised yet. Or, not `periodic`, any number of steps: from
    standing, to a stop, over something; `duration` is then that of all, and `step_length` that of the last.

    firm: by which part of the weight feet push at least, and by which part of the cone they stay away from
        its edge.
    like: a gait; what would end a run, and did not in it, does not. way: the branch that its events take.
    """
    if not events:
        raise ModelError(
            f"no event ends a step of '{walker.name}': give events=['...'], of "
            f"{', '.join(e.name for e in walker.events)}"
        )
    section, problem = events[-1], Problem(walker)
    for k, event in enumerate(events):
        name = "step" if len(events) == 1 else f"until {event}" if event not in events[:k] else f"{event} {k}"
        problem = problem.phase(name, until=event, z=None if way is None else way.held[k])
    if way is not None:
        problem = require_branch(problem, way)
    low, high = near(duration, "duration", None) or LASTS
    problem = (problem.periodic() if periodic else problem).require(
        "step time", time, low=low, high=high, at="end"
    )
    reset = walker.event(section).reset
    for foot in feet_with_forces(walker):
        problem = _pushing(
            problem, f"{foot.name} pushes", walker[foot.normal], firm * weight(walker) if firm else ca.SX(0)
        )
        if friction is not None and len(foot.friction) == 1:
            normal, sideways = walker[foot.normal], walker[foot.friction[0]]
            edge = (1 - firm) * friction * normal
            problem = _pushing(problem, f"{foot.name} does not slip forwards", edge - sideways)
            problem = _pushing(problem, f"{foot.name} does not slip backwards", edge + sideways)
    if friction is not None and not says_friction(walker):
        raise ModelError(
            f"friction is limited, but the walk of '{walker.name}' has no foot that says what it needs: "
            f"Foot(normal=..., friction=(...,))"
        )
    swinging = swing_foot(walker, section)
    if swinging is not None and swinging.passes in events:
        problem = _swinging(problem, clearance)
    leaving = [foot for foot in (walker.walk.feet if walker.walk is not None else ()) if foot.leaves in reset]
    for phase in problem.phases:
        if phase.until == section:
            for foot in leaving:
                problem = problem.require(
                    f"{foot.name} lifts", foot.leaves, low=0.0, at="after", phase=phase.name
                )
    if like is not None:
        problem = _lasting(problem, like)
    low, high = near(step_length, "step_length", None) or (SHORTEST, math.inf)
    problem = problem.require("step length", distance(walker, section), low=low, high=high, at="end")
    if torque is not None:
        most = torque if isinstance(torque, Mapping) else dict.fromkeys(walker.labels("u"), torque)
        problem = problem.within({name: (-limit, limit) for name, limit in most.items()})
    return problem


def feet_with_forces(walker: System) -> list[Foot]:
    """The feet of a walker that say how the ground pushes them."""
    return [] if walker.walk is None else [foot for foot in walker.walk.feet if foot.normal]


def says_friction(walker: System) -> bool:
    """Whether some foot says how much friction it needs."""
    return any(len(foot.friction) == 1 for foot in feet_with_forces(walker))


def _pushing(problem: Problem, name: str, force: ca.SX, least: ca.SX | None = None) -> Problem:
    """A force that is at least so large, in the phases in which there is one: a foot that swings has none."""
    for phase in problem.phases:
        known = [q for q in problem.system.z if q.name in phase.z]
        if not ca.substitute([force], [q.sym for q in known], [ca.DM(phase.z[q.name]) for q in known])[
            0
        ].is_zero():
            problem = problem.require(
                name, force if least is None else force - least, low=0.0, phase=phase.name
            )
    return problem


def _lasting(problem: Problem, like: Gait) -> Problem:
    """What ends a run, and did not come near in a gait, does not happen."""
    walker, run, t = problem.system, like.trajectory, _moments(like)
    moments, still = run.at(t), [np.zeros(walker.size("u")), np.reshape(run.p, -1)]
    x, z = (np.array([moments[label] for label in walker.labels(g)]).reshape(-1, len(t)) for g in "xz")

    def along(expression: ca.SX) -> np.ndarray:
        f = walker.function("along", [expression])
        return np.array(
            f(t[None], x, z, *[np.repeat(part[:, None], len(t), axis=1) for part in still])
        ).ravel()

    known = [along(-walker[foot.normal]) for foot in feet_with_forces(walker)]
    for event in (e for e in walker.events if e.terminal):
        guard = sx(event.guard)
        values = along(guard)
        if values.max() > 0 or any(
            np.abs(values - other).max() <= ALIKE * (1 + np.abs(other).max()) for other in known
        ):
            continue
        nearest = int(values.argmax())
        smooth = sx(answered(walker, event, (t[nearest], x[:, nearest], z[:, nearest], *still))[0].guard)
        flags = [
            q for q in walker.z if ca.depends_on(guard, q.sym) and not ca.depends_on(smooth, q.sym)
        ]  # they change within a phase
        if ca.depends_on(smooth, walker.vector("x")) and not flags:
            known.append(values)
            problem = problem.require(f"no {event.name}", smooth, high=0.0)
    return problem


def _swinging(problem: Problem, clearance: float | None) -> Problem:
    """The swing foot passes the other once, so high above the ground, and is above it from where it comes out
    of it: from the beginning, if it is to clear it."""
    section = problem.phases[-1].until
    assert section is not None
    foot = _swing(problem.system, section)
    passes, height = foot.passes, foot.gap
    ahead = sx(problem.system.event(passes).guard)
    unseen = clearance is not None or all(phase.until != foot.clears for phase in problem.phases)
    passed, above = False, unseen
    for phase in problem.phases:
        firmly: dict[str, Any] = {"phase": phase.name, "margin": MARGIN}
        if clearance is not None or (passed and above):
            problem = problem.require("the swing foot is above the ground", height, low=0.0, **firmly)
        if passed:
            problem = problem.require("the swing foot stays in front", ahead, low=0.0, **firmly)
        elif phase.until == passes:
            passed = True
            problem = problem.require(
                "the swing foot stays behind until it passes", ahead, high=0.0, **firmly
            )
            if clearance is not None:
                problem = problem.require("clearance", height, low=clearance, at="end", phase=phase.name)
        above = above or phase.until == foot.clears
        if phase.until == section:
            passed, above = False, unseen
        elif phase.until is not None and phase.until != passes:
            guard = sx(problem.system.event(phase.until).guard)
            problem = problem.require(f"{phase.until} comes once", guard, high=0.0, **firmly)
    return problem


__all__ = [
    "FRICTION",
    "STRENGTH",
    "clears",
    "near",
    "says_friction",
    "sequence",
    "strength",
    "swing_foot",
    "walking",
]
