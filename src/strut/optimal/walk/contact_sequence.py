"""`contact_sequence`: the phases of a step on ground that gives way, where no gait says them.

Such ground stops nothing at once. The old foot stays a while after the new one has landed; then it leaves,
and before that it may go slack: the ground no longer follows it. Which events come before it leaves is read
from the guards of the walker itself. In every phase the flags of contact are held, so that the flow is
smooth, and no other event of contact may come: that is required along the path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.optimal.problem import Problem
from strut.optimal.walk.frozen_branch import FrozenBranch, freeze_corners
from strut.optimal.walk.guard_words import name_of_rest
from strut.optimal.walk.read_walk import flow_flags, velocity_states
from strut.optimal.walk.require import EVENT_MARGIN
from strut.system import Event, Foot, System, position_places, start, sx

PROBE_SPEED = 0.05
"""[m/s] at which a foot comes down, or leaves, where it is asked which events that brings: slow, as feet
leave the ground."""
LIFT_PROBE = 0.1
"""[m] by which a walker is lifted where it is asked whether laws of contact go on into the air."""
END_SLACK = 0.02
"""[1] The part of its size at rest by which a guard may be positive at the ends of a phase, falling to
nothing in its middle: at an end it is zero already where the event itself comes, or where the last one has
left it, and a limit there would say the same twice: its multipliers would have no bound."""
FLAG_DEPTH = 1e-3
"""[m] The value of a flag that holds a depth: the flow asks only whether it is positive."""
BOTH_SHARE, EVENT_SHARE = 0.12, 0.02
"""[1] The parts of a step that a guess gives to both feet on the ground, and to each event before one
leaves."""


@dataclass(frozen=True, eq=False)
class ContactSequence:
    """How contact goes in a step: the events that end its phases, the discrete states in each of them, and
    the part of the step that a guess gives to it."""

    events: tuple[str, ...]
    flags: tuple[Mapping[str, float], ...]
    shares: tuple[float, ...]

    def branch(self, walker: System, standing: np.ndarray) -> FrozenBranch:
        """Return this sequence as the branch of a plan; resets are smooth as they are. standing: a state with
        both feet in the ground."""
        places = {q.name: q.size for q in walker.z}
        return FrozenBranch(
            system=_with_smooth_flow(walker, standing, self.flags[0]),
            actual=walker,
            z0=dict(self.flags[0]),
            discrete=tuple(
                {name: np.full(size, flags[name]) for name, size in places.items()} for flags in self.flags
            ),
            conditions={},
            guard_sizes=self._guard_sizes(walker, standing),
        )

    def _guard_sizes(self, walker: System, standing: np.ndarray) -> dict[str, float]:
        """Return the size of the guard of every event of contact where the walker stands: the largest of all
        phases in which it depends on the state."""
        sizes: dict[str, float] = {}
        for event in _flag_events(walker, flow_flags(walker)):
            for flags in self.flags:
                guard = _guard_in(walker, event, flags)
                if guard is not None:
                    f = walker.function("guard", [guard], clock=False)
                    begin = start(walker)
                    value = abs(float(f(standing, begin.z, begin.u, begin.p)))
                    sizes[event.name] = max(value, sizes.get(event.name, 0.0))
        return sizes


def contact_sequence(walker: System, stance: Foot, swing: Foot, touching: np.ndarray) -> ContactSequence:
    """Return how contact goes in a step that begins when the stance foot has landed and ends when the swing
    foot lands. touching: a state in which both are on the ground. Raises `ModelError` where more happens
    than a foot that goes slack before it leaves."""
    flags = _flags_on_both(walker, stance, swing)
    landing = _events_of(
        stance, walker, _state_with_foot_speed(walker, touching, stance, swing, -PROBE_SPEED), flags
    )
    before = _events_of(
        swing, walker, _state_with_foot_speed(walker, touching, swing, stance, PROBE_SPEED), flags
    )
    if landing or len(before) > 1:
        names = ", ".join(f"'{event.name}'" for event in (*landing, *before))
        raise ModelError(
            f"feet of '{walker.name}' stick and slide at moments that nobody knows before the search "
            f"({names}, as soon as a foot touches or leaves the ground): let friction be a function of "
            f"velocity, contact.coulomb(mu, speed=0.1) or contact.viscous(damping), design it on rigid "
            f"ground, or give a gait as guess"
        )
    phases = [flags]
    for event in before:
        phases.append(_flags_after(walker, event, phases[-1]))
    air = {**flags, **dict.fromkeys(_own_flags(walker, swing), 0.0)}
    events = (*[event.name for event in before], swing.lifts, swing.lands)
    early = (BOTH_SHARE, *(EVENT_SHARE,) * len(before))
    return ContactSequence(events=events, flags=(*phases, air), shares=(*early, 1 - sum(early)))


def _with_smooth_flow(walker: System, standing: np.ndarray, flags: Mapping[str, float]) -> System:
    """Return a walker whose laws of contact go on smoothly where a foot touches: forces that end with a
    corner there would hold up the search, and flags say who touches. Laws that cannot be continued into the
    air, such as powers of the depth, have no corner and stay."""
    begin, names = start(walker), list(walker.flow)
    z = np.array([flags[name] for name in walker.labels("z")])
    rates = [sx(walker.flow[name]) for name in names]
    smooth = freeze_corners(walker, rates, (0.0, standing, z, begin.u, begin.p))
    lifted = standing.copy()
    lifted[lift_places(walker)] += LIFT_PROBE
    values = walker.function("rates", [ca.vertcat(*smooth)], clock=False)(lifted, z, begin.u, begin.p)
    if not np.isfinite(np.array(values)).all():
        return walker
    return walker.replace(flow=dict(zip(names, smooth, strict=True)))


def lift_places(walker: System) -> list[int]:
    """Return the place among the states of the one that puts the whole machine higher, if there is one."""
    lift = "" if walker.walk is None else walker.walk.lift
    return [k for k, name in enumerate(walker.labels("x")) if name == lift]


def require_sequence(problem: Problem, clearance: float) -> Problem:
    """Require that no event of contact comes before the one that ends its phase: along every phase the guards
    of all events that set flags of contact are not positive. clearance: height [m] of a foot in the middle of
    the phase in which it swings."""
    system, flags = problem.system, flow_flags(problem.system)
    assert problem.branch is not None
    for phase in problem.phases:
        for event in _flag_events(system, flags):
            guard = _guard_in(system, event, phase.z)
            if guard is None:
                continue
            name = name_of_rest(problem, event)
            slack = END_SLACK * problem.branch.guard_sizes.get(event.name, 0.0)
            lands = system.walk is not None and system.walk.foot_of(event.name) is not None
            margin = slack + (max(clearance, EVENT_MARGIN) if lands else 0.0)
            problem = problem.require(name, -guard, low=-slack, phase=phase.name, margin=margin)
    return problem


def _flag_events(system: System, flags: set[str]) -> list[Event]:
    """Return the events that change the flow and do not end a run."""
    return [event for event in system.events if not event.terminal and flags & set(event.reset)]


def _guard_in(system: System, event: Event, z: Mapping[str, Any]) -> ca.SX | None:
    """Return the guard of an event with discrete states held; None where the state does not matter then."""
    flags = [q for q in system.z if q.name in z]
    guard = ca.substitute([sx(event.guard)], [q.sym for q in flags], [ca.DM(z[q.name]) for q in flags])[0]
    guard = ca.simplify(guard)
    return guard if ca.depends_on(guard, system.vector("x")) else None


def _own_flags(walker: System, foot: Foot) -> list[str]:
    """Return the flags of the flow that the lift-off of a foot sets."""
    return sorted(flow_flags(walker) & set(walker.event(foot.lifts).reset))


def _flags_on_both(walker: System, stance: Foot, swing: Foot) -> dict[str, float]:
    """Return the discrete states while both feet press: those of the beginning, those of contact set."""
    values = dict(zip(walker.labels("z"), start(walker).z.tolist(), strict=True))
    for foot in (stance, swing):
        values |= dict.fromkeys(_own_flags(walker, foot), 0.0) | {foot.stands: 1.0}
    return values


def _flags_after(walker: System, event: Event, flags: Mapping[str, float]) -> dict[str, float]:
    """Return the discrete states after an event."""
    values = dict(flags)
    for name in flow_flags(walker) & set(event.reset):
        value = sx(event.reset[name])
        values[name] = FLAG_DEPTH if not value.is_constant() else float(value)
    return values


def _state_with_foot_speed(
    walker: System, x: np.ndarray, foot: Foot, other: Foot, speed: float
) -> np.ndarray:
    """Return a state with velocities with which a foot moves away from the ground, and as fast along it,
    while the other rests."""
    begin = start(walker)
    groups = [walker.vector("x"), walker.vector("p")]
    positions, velocities = position_places(walker), velocity_states(walker)
    flow = ca.vertcat(*[sx(walker.flow[q.name]) for q in walker.x])
    moves = ca.jacobian(flow[positions], groups[0][velocities])
    rows = [
        ca.jacobian(ca.vertcat(sx(f.at), sx(walker[f.gap])), groups[0][positions]) @ moves
        for f in (foot, other)
    ]
    own_rows, other_rows = (np.array(J) for J in ca.Function("feet", groups, rows)(x, begin.p))
    speeds = np.concatenate([[speed, speed], np.zeros(len(other_rows))])
    moved = x.copy()
    moved[velocities] = np.linalg.lstsq(np.vstack([own_rows[[0, 3]], other_rows]), speeds, rcond=None)[0]
    return moved


def _events_of(foot: Foot, walker: System, x: np.ndarray, flags: Mapping[str, float]) -> list[Event]:
    """Return the events that change the flags of a foot and whose guards are positive in a state, but for its
    lift-off."""
    begin, own = start(walker), set(_own_flags(walker, foot))
    candidates = [e for e in _flag_events(walker, own) if e.name != foot.lifts]
    f = walker.function("guards", [ca.vertcat(*[sx(e.guard) for e in candidates])], clock=False)
    z = np.array([flags[name] for name in walker.labels("z")])
    guards = np.array(f(x, z, begin.u, begin.p)).reshape(-1)
    return [event for event, guard in zip(candidates, guards, strict=True) if guard > 0]


__all__ = ["ContactSequence", "contact_sequence", "lift_places", "require_sequence"]
