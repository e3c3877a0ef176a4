"""What drives a phase: time alone, or a state of its own that touchdowns of feet set right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import casadi as ca

from strut.checks import checked, finite, positive, short_repr
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Discrete, Event, Param, State, System, time

CLOCKS = ("time", "state")
"""What may drive a phase."""
PHASE = "phase"
"""The name of the phase: an output of a clock that is the time, else a state."""
MARKS = {"phase_mark_l": 0.75, "phase_mark_r": 0.25}
"""[1] Events in which a phase that is a state passes a mark, by name, and where: the first ends a step, the
second is the same with left and right exchanged. Far from 0 and from a half, where it begins anew and is
exchanged, so that rounding decides nothing."""
WRAP = "phase_wrap"
"""The event in which the phase begins anew."""
LEGS = 2
"""Drives of a joint of a machine with left and right."""
MAX_WINDOW = 0.25
"""[1] Of the cycle, at most, before and after its own phase: legs are half a cycle apart."""


@checked
@dataclass(frozen=True)
class TouchdownReset:
    """Feedback on a phase: where a foot comes down, the phase is set to, or moved towards, the one at which
    it should.

    feet: by a name of your own, the contacts of each foot, as `system.walk` names them, in the order of a
        joint's drives: the right foot, then the left. phase: of the leg, from 0 to below 1, at which it
        should come down; the k-th of n legs is k/n of a cycle ahead. gain: share of the difference that is
        taken away, 1 for all of it. window: [1] of the cycle; a foot is listened to from so much before its
        phase until it comes down, and moves the phase by no more.
    """

    feet: Mapping[str, Sequence[str]]
    phase: float
    gain: float = 1.0
    window: float = 0.2

    def __post_init__(self) -> None:
        if not self.feet or any(isinstance(each, str) or not len(each) for each in self.feet.values()):
            raise ModelError(
                f"the feet of a reset are {short_repr(self.feet)}: give the contacts of each, "
                f"{{'right': ['heel_r', 'ball_r'], 'left': ['heel_l', 'ball_l']}}"
            )
        for name, value, high in (("phase", self.phase, 1.0), ("gain", self.gain, 1.0)):
            if not 0 <= finite(name, value) <= high:
                raise ValueRangeError(f"the {name} of a touchdown is {value:g}: it must be from 0 to 1")
        if positive("window", self.window) > MAX_WINDOW:
            raise ValueRangeError(f"the window of a touchdown is {self.window:g}: at most {MAX_WINDOW:g}")


@dataclass(frozen=True, eq=False)
class PhaseClock:
    """A phase that runs. system: the one it was made for, with what the phase needs. phase: from 0 to below
    1; of a state, inside a step of integration, a little beyond. parameters: of the clock that the system
    does not have yet."""

    system: System
    phase: ca.SX
    parameters: tuple[Param, ...]
    is_state: bool

    def of_leg(self, k: int, count: int) -> ca.SX:
        """The phase of the k-th of so many legs, from 0 to below 1."""
        ahead = self.phase + k / count
        if self.is_state:
            return ahead - ca.floor(ahead)
        return self.phase if k == 0 else ahead - (ahead >= 1)


def phase_clock(
    system: System,
    frequency: Param,
    clock: str,
    *,
    touchdown: TouchdownReset | None = None,
    alike: bool = True,
) -> PhaseClock:
    """Return what drives a phase. clock: 'time', or 'state'. alike: whether every joint has a right and a
    left drive: only then is the machine its own mirror image half a cycle later."""
    if clock not in CLOCKS:
        raise ModelError(f"the clock of a phase is '{clock}': {did_you_mean(clock, CLOCKS)}")
    if clock == "time":
        if touchdown is not None:
            raise ModelError("time cannot be set right by touchdowns: say clock='state' for a phase that can")
        turns = frequency.sym * time
        return PhaseClock(system, turns - ca.floor(turns), (frequency,), is_state=False)
    phase = State(PHASE, 0.0, description="of the controller: 0 to 1")
    events = [
        Event(WRAP, guard=phase.sym - 1, reset={PHASE: phase.sym - 1}, description="the phase begins anew"),
        *[
            Event(name, guard=phase.sym - place, description="a step of the phase ends")
            for name, place in MARKS.items()
        ],
    ]
    z: list[Discrete] = []
    own = [frequency]
    if touchdown is not None:
        numbers = _touchdown_parameters(touchdown)
        own += numbers
        for k, (name, contacts) in enumerate(touchdown.feet.items()):
            part = phase.sym + k / len(touchdown.feet)
            armed, more = _touchdown_events(system, (name, contacts), phase.sym, part, numbers)
            z.append(armed)
            events += more
    symmetry = dict(system.symmetry) if alike and len(z) in (0, LEGS) else {}
    if symmetry:
        symmetry[PHASE] = phase.sym + 0.5 - (phase.sym >= 0.5)
        symmetry |= {one.name: other.sym for one, other in zip(z, reversed(z), strict=True)}
    extended = system.replace(
        x=(*system.x, phase),
        z=(*system.z, *z),
        flow={**system.flow, PHASE: frequency.sym},
        events=(*system.events, *events),
        symmetry=symmetry,
        p=(*system.p, *own),
        walk=None if system.walk is None else replace(system.walk, section=next(iter(MARKS))),
    )
    return PhaseClock(extended, phase.sym, (), is_state=True)


def _touchdown_parameters(touchdown: TouchdownReset) -> list[Param]:
    """The parameters of the feedback."""
    return [
        Param("touchdown_phase", touchdown.phase, bounds=(0, 1), description="of a leg, as its foot lands"),
        Param("touchdown_gain", touchdown.gain, bounds=(0, 1), description="share that a landing sets right"),
        Param("touchdown_window", touchdown.window, bounds=(0, MAX_WINDOW), description="of the cycle"),
    ]


def _touchdown_events(
    system: System, foot: tuple[str, Sequence[str]], phase: ca.SX, part: ca.SX, numbers: Sequence[Param]
) -> tuple[Discrete, list[Event]]:
    """The flag of a foot that is listened to, and the events in which it is armed and comes down. part: the
    phase of its leg."""
    name, contacts = foot
    contacts_by_name = {} if system.walk is None else {each.name: each for each in system.walk.feet}
    for contact in contacts:
        if contact not in contacts_by_name:
            raise UnknownNameError(
                f"foot '{name}' has the contact '{contact}': {did_you_mean(contact, list(contacts_by_name))}"
            )
    gap = reduce(ca.fmin, [system[contacts_by_name[contact].gap] for contact in contacts])
    expected, gain, window = (q.sym for q in numbers)
    late = _phase_difference(part - expected)
    armed = Discrete(f"{name}_armed", (ca.fabs(late) < window) * (gap > 0))
    moved = phase - gain * ca.fmax(ca.fmin(late, window), -window)
    return armed, [
        Event(
            f"{name}_arm",
            guard=_phase_difference(part - expected + window),
            reset={armed.name: 1},
            description=f"the {name} foot may come down",
        ),
        Event(
            f"{name}_touchdown",
            guard=-gap,
            when=armed.sym,
            reset={PHASE: moved - ca.floor(moved), armed.name: 0},
            description=f"the {name} foot comes down and sets the phase right",
        ),
    ]


def _phase_difference(difference: ca.SX) -> ca.SX:
    """A difference of phases, from -1/2 to below 1/2."""
    return difference - ca.floor(difference + 0.5)


__all__ = ["CLOCKS", "MARKS", "PHASE", "PhaseClock", "TouchdownReset", "phase_clock"]
