"""`contact_phases`: which points of the feet are on the ground in each phase of a step, of feet of several
points.

A step of such feet begins where one of their points lands, by default the heel. The toe follows (foot flat),
the heel leaves (heel off), and the step ends where the other heel lands and what is still on the ground is
let go. Other orders are given as the events that end the phases.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.system import Foot, System, start, sx


@dataclass(frozen=True, eq=False)
class ContactPhases:
    """Contact in a step, phase by phase.

    events: those that end the phases. standing: for each phase, the names of the feet (points) on the ground.
    next_standing: those on the ground where the next step begins, as they are before left and right are
    exchanged.
    """

    events: tuple[str, ...]
    standing: tuple[frozenset[str], ...]
    next_standing: frozenset[str]

    def after(self, phase: int) -> frozenset[str]:
        """Return the feet that are on the ground after the event that ends a phase."""
        later = (*self.standing[1:], self.next_standing)
        return later[phase]


def standing_feet(walker: System) -> list[Foot]:
    """Return the points of a walker that land, stand and leave by themselves."""
    return [] if walker.walk is None else [f for f in walker.walk.feet if f.stands and f.lands and f.lifts]


def has_soles(walker: System) -> bool:
    """Return whether some body of a walker touches the ground at two points or more."""
    bodies = [f.body for f in standing_feet(walker) if f.body]
    return len(set(bodies)) < len(bodies)


def step_section(walker: System, section: str) -> str:
    """Return the event that ends a step where `section` is the first landing that was thought of: of feet of
    several points, the landing of the one furthest behind, the heel."""
    foot = None if walker.walk is None else walker.walk.foot_of(section)
    if foot is None or not has_soles(walker):
        return section
    return _from_behind(walker, foot.body)[0].lands


def contact_phases(walker: System, section: str, events: Sequence[str] = ()) -> ContactPhases:
    """Return contact in a step that ends with `section`; events: those that end its phases, by default heel
    strike, foot flat, heel off. Raises `ModelError` where they make no step."""
    feet = {f.name: f for f in standing_feet(walker)}
    landing = next((f for f in feet.values() if f.lands == section), None)
    if landing is None or landing.opposite not in feet:
        raise ModelError(
            f"the symmetry of '{walker.name}' exchanges no other foot with the one that lands in "
            f"'{section}': let their names differ by _l and _r"
        )
    stance = _from_behind(walker, feet[landing.opposite].body)
    heel, toe = stance[0], stance[-1]
    ends = tuple(events) or (toe.lands, heel.lifts, section)
    if ends[-1] != section:
        raise ModelError(f"phases end with '{ends[-1]}', and the step with '{section}': let both be the same")
    known_events = {f.lands: (f, True) for f in feet.values()} | {f.lifts: (f, False) for f in feet.values()}
    for name in ends:
        if name not in known_events:
            raise ModelError(
                f"'{name}' neither puts a foot of '{walker.name}' on the ground nor lets one go: "
                f"{did_you_mean(name, list(known_events))}"
            )
    # On the ground at first: what just landed, and what leaves before it lands.
    own = {f.name: [known_events[e][1] for e in ends if known_events[e][0] is f] for f in feet.values()}
    now = frozenset({landing.opposite, *[name for name, lands in own.items() if lands[:1] == [False]]})
    return _follow(walker, feet, ends, known_events, now)


def _follow(
    walker: System,
    feet: Mapping[str, Foot],
    ends: tuple[str, ...],
    known_events: Mapping[str, tuple[Foot, bool]],
    now: frozenset[str],
) -> ContactPhases:
    """Return the phases that follow from the feet on the ground at first (`now`). known_events: by event,
    whose it is and whether it lands."""
    image = frozenset(feet[name].opposite for name in now)
    standing = []
    for k, event in enumerate(ends):
        foot, lands = known_events[event]
        if lands == (foot.name in now):
            state = "on the ground" if lands else "in the air"
            raise ModelError(
                f"'{event}' ends a phase in which foot '{foot.name}' of '{walker.name}' is {state} already: "
                f"of the phases {', '.join(ends)}, leave one out or put them in order"
            )
        standing.append(now)
        if not now:
            raise ModelError(
                f"nothing of '{walker.name}' is on the ground before '{event}': ask for a flight, or give "
                f"other phases than {', '.join(ends)}"
            )
        now = now | {foot.name} if lands else now - {foot.name}
        if k == len(ends) - 1:
            appear = sorted(image - now)
            if appear:
                raise ModelError(
                    f"the step that ends with '{event}' does not repeat: foot '{appear[0]}' would be on the "
                    f"ground after it, but never lands in {', '.join(ends)}"
                )
    return ContactPhases(ends, tuple(standing), image)


def _from_behind(walker: System, body: str) -> list[Foot]:
    """Return the points of one body from the heel to the toe: in the posture in which a run begins."""
    begin = start(walker)
    points = [f for f in standing_feet(walker) if f.body == body and f.at is not None]
    places = walker.function("places", [ca.vertcat(*[sx(f.at)[0] for f in points])], clock=False)
    along = np.array(places(begin.x, begin.z, begin.u, begin.p)).reshape(-1)
    return [points[k] for k in np.argsort(along)]


__all__ = ["ContactPhases", "contact_phases", "has_soles", "standing_feet", "step_section"]
