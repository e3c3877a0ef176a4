"""Watchers: events that end a run, or are only recorded, where a machine leaves what it may do: it falls,
strikes itself, leaves the range of a joint, or something exceeds a limit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import casadi as ca

from strut.checks import checked, finite, is_number, positive, short_repr
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.sensors import Bench, bench_of
from strut.system import Discrete, Event, System, sx

MIN_LENGTH = 1e-9
"""[m] A capsule that is shorter is a sphere."""
PARALLEL_SLACK = 1e-12
"""[1] Squared sine of the angle between two axes up to which they are parallel: any of their points may then
be the nearest, and the quotient that says which would be 0/0."""
REARM_PART = 1e-6
"""[1] Part of the scale of a guard, such as 1 m, 1 rad or the limit of an output, by which something must be
well again before it is recorded anew: a machine at rest on a limit trembles about it by rounding."""
TOUCH_SLACK = 1e-12
"""[m] Added under the root of a distance, whose slope would be infinite where two axes meet."""


@dataclass(frozen=True, eq=False)
class Alarm:
    """What a watcher watches: the event's guard, positive where something is wrong, what is set there, and a
    sentence. scale: of the guard, in its unit: what is recorded is well again below `REARM_PART` of it."""

    name: str
    guard: ca.SX
    meaning: str
    set: Mapping[Discrete, ca.SX] = field(default_factory=dict)
    scale: float = 1.0


class Watcher(Protocol):
    """What watches a machine. ends: a run, which then is not ok; otherwise the event is recorded."""

    @property
    def ends(self) -> bool:
        """Whether it ends a run."""
        ...

    def alarms(self, bench: Bench) -> list[Alarm]:
        """What it watches, as expressions of the tree."""
        ...


@checked
@dataclass(frozen=True)
class FallBelow:
    """A frame comes down to a height over the world's origin [m], or over another frame: event FRAME_low."""

    frame: str
    height: float
    over: str = ""
    ends: bool = True

    def __post_init__(self) -> None:
        finite(f"the height to which '{self.frame}' may come down", self.height, "m")

    def alarms(self, bench: Bench) -> list[Alarm]:
        """Return one alarm, of the height."""
        at = observe.position(bench.tree, self.frame)[2]
        if self.over:
            at = at - observe.position(bench.tree, self.over)[2]
        words = f"it fell: {self.frame} came down to {self.height:g} m" + (
            f" over {self.over}" if self.over else ""
        )
        return [Alarm(f"{self.frame}_low", sx(self.height) - at, words)]


@checked
@dataclass(frozen=True)
class JointRange:
    """A joint leaves its range: events JOINT_out_of_range. limits: by joint [rad, m]; those that the
    mechanism has without any given."""

    limits: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    ends: bool = True

    def alarms(self, bench: Bench) -> list[Alarm]:
        """Return an alarm for each joint, positive beyond either end of its range."""
        limits = self.limits or bench.tree.mechanism.limits
        if not limits:
            raise ModelError(
                f"no joint of '{bench.tree.mechanism.name}' has limits to watch: give them, "
                f"JointRange({{'knee': (0.0, 2.0)}}), or joints limits"
            )
        states = {q.name: q.sym for q in bench.system.x if q.size == 1}
        alarms = []
        for joint, (low, high) in limits.items():
            if joint not in states:
                raise UnknownNameError(
                    f"'{joint}' is watched, and is no joint of one coordinate: "
                    f"{did_you_mean(joint, list(states))}"
                )
            if not low <= high:
                raise ValueRangeError(
                    f"the range of '{joint}' is ({low:g}, {high:g}): the lower end comes first"
                )
            beyond = ca.fmax(*[states[joint] - high, low - states[joint]])
            words = f"joint {joint} left its range of {low:g} to {high:g}"
            alarms.append(Alarm(f"{joint}_out_of_range", beyond, words))
        return alarms


@checked
@dataclass(frozen=True)
class OutputLimit:
    """The size of an output, such as a force, exceeds a limit: event OUTPUT_limit. limit: in the output's
    unit."""

    output: str
    limit: float
    ends: bool = True

    def alarms(self, bench: Bench) -> list[Alarm]:
        """Return one alarm, of the output's absolute value or length."""
        positive(f"the limit of '{self.output}'", self.limit)
        value = bench.system[self.output]
        size = ca.fabs(value) if value.numel() == 1 else ca.sqrt(ca.sumsqr(value) + TOUCH_SLACK)
        unit = bench.system.output_units.get(self.output, "")
        return [
            Alarm(
                f"{self.output}_limit",
                size - self.limit,
                f"{self.output} exceeded {self.limit:g} {unit}",
                scale=self.limit,
            )
        ]


@checked
@dataclass(frozen=True)
class Hull:
    """A capsule about a part of a body, for `SelfCollision`: all that is nearer than `radius` [m] to
    the line from `start` to `end` in the body's frame [m]; a sphere about `start` without an end."""

    body: str
    radius: float
    start: Sequence[float] = (0.0, 0.0, 0.0)
    end: Sequence[float] | None = None

    def __post_init__(self) -> None:
        positive(f"the radius about '{self.body}'", self.radius, "m")
        for point in (self.start, self.end):
            if point is not None and (len(point) != 3 or not all(is_number(v) for v in point)):
                raise ValueRangeError(
                    f"a point of the capsule about '{self.body}' is {short_repr(point)}: three numbers "
                    f"are needed"
                )


@checked
@dataclass(frozen=True)
class SelfCollision:
    """Capsules or spheres about bodies meet: one event, self_collision, for all pairs; the discrete state
    collision_pair is the number of the pair in `pairs`, counted from 1.

    capsules: of bodies. excused: pairs of bodies that may meet. Bodies that a joint connects may, too.
    """

    capsules: Sequence[Hull]
    excused: Sequence[tuple[str, str]] = ()
    ends: bool = True

    def pairs(self, mechanism: Mechanism) -> list[tuple[Hull, Hull]]:
        """The pairs that are watched, in order."""
        for capsule in self.capsules:
            if capsule.body not in mechanism.bodies:
                raise UnknownNameError(
                    f"a capsule is about '{capsule.body}', which is no body of '{mechanism.name}': "
                    f"{did_you_mean(capsule.body, list(mechanism.bodies))}"
                )
        near = {frozenset((c.parent.name, c.child.name)) for c in mechanism.connections.values()}
        near |= {frozenset(pair) for pair in self.excused}
        return [
            (a, b)
            for a, b in combinations(self.capsules, 2)
            if a.body != b.body and frozenset((a.body, b.body)) not in near
        ]

    def alarms(self, bench: Bench) -> list[Alarm]:
        """Return one alarm, of the pair that is nearest."""
        pairs = self.pairs(bench.tree.mechanism)
        if not pairs:
            raise ModelError(
                "self-collision has no pair to watch: give capsules about bodies that no joint connects"
            )
        depths = [_overlap(bench, a, b) for a, b in pairs]
        deepest, number = depths[0], ca.SX(1)
        for k, depth in enumerate(depths[1:], 2):
            number = ca.if_else(depth > deepest, k, number)
            deepest = ca.fmax(depth, deepest)
        which = Discrete("collision_pair", 0.0, description="the number of the pair that met; 0 for none")
        names = "; ".join(f"{k} {a.body} and {b.body}" for k, (a, b) in enumerate(pairs, 1))
        words = f"it struck itself: {{{which.name}: {names}}}"
        return [Alarm("self_collision", deepest, words, {which: number})]

    def pair_of(self, mechanism: Mechanism, number: float) -> tuple[str, str]:
        """The bodies of a pair, by the value of collision_pair."""
        a, b = self.pairs(mechanism)[int(number) - 1]
        return a.body, b.body


def _overlap(bench: Bench, a: Hull, b: Hull) -> ca.SX:
    """By how much two capsules overlap [m]; negative where they are apart."""
    (p, u), (q, w) = (_axis(bench, each) for each in (a, b))
    return a.radius + b.radius - _distance(p, u, q, w)


def _axis(bench: Bench, capsule: Hull) -> tuple[ca.SX, ca.SX]:
    """Where the axis of a capsule begins in the world, and how it goes on."""
    X = observe.pose(bench.tree, capsule.body)
    start = ca.DM(list(capsule.start))
    end = start if capsule.end is None else ca.DM(list(capsule.end))
    return X.p + X.R @ start, X.R @ (end - start)


def _distance(p: ca.SX, u: ca.SX, q: ca.SX, w: ca.SX) -> ca.SX:
    """The distance of two segments p + s u and q + t w, s and t from 0 to 1 (Ericson, Real-Time Collision
    Detection, section 5.1.9)."""
    r = p - q
    uu, ww, uw = ca.dot(u, u) + MIN_LENGTH**2, ca.dot(w, w) + MIN_LENGTH**2, ca.dot(u, w)
    ur, wr = ca.dot(u, r), ca.dot(w, r)
    spread = ca.fmax(uu * ww - uw * uw, PARALLEL_SLACK * uu * ww)

    def unit(value: ca.SX) -> ca.SX:
        return ca.fmax(0, ca.fmin(1, value))

    s = unit((uw * wr - ur * ww) / spread)
    t = unit((uw * s + wr) / ww)
    s = unit((uw * t - ur) / uu)
    return ca.sqrt(ca.sumsqr(r + s * u - t * w) + TOUCH_SLACK)


@checked
def watch(system: System, mechanism: Mechanism, watchers: Iterable[Watcher]) -> System:
    """The system with events for what watchers watch: `FallBelow`, `SelfCollision`, `JointRange`,
    `OutputLimit`.

    A watcher ends a run, which is then not ok and says why; with ends=False its events are only recorded,
    once until it is well again by a millionth (of 1 m, 1 rad, or the limit of an output).
    What is wrong when a run begins ends it at once.
    """
    bench = bench_of(system, mechanism)
    events, discrete = [], list[Discrete]()
    for watcher in watchers:
        for alarm in watcher.alarms(bench):
            discrete += alarm.set
            values: dict[str, ca.SX] = {q.name: bench.in_states(sx(v)) for q, v in alarm.set.items()}
            guard, still_well = bench.in_states(alarm.guard), None
            if not watcher.ends:  # recorded once: at rest on a limit it would be again and again
                noted = Discrete(f"{alarm.name}_noted", 0.0, internal=True)
                discrete.append(noted)
                values[noted.name], still_well = ca.SX(1), 1 - noted.sym
                events.append(
                    Event(
                        f"{alarm.name}_well",
                        guard=-guard - REARM_PART * alarm.scale,
                        when=noted.sym,
                        reset={noted.name: ca.SX(0)},
                        priority=9,
                        loss={},
                        internal=True,
                    )
                )
            events.append(
                Event(
                    alarm.name,
                    guard=guard,
                    when=still_well,
                    reset=values,
                    terminal=watcher.ends,
                    failure=watcher.ends,
                    eager=watcher.ends,
                    priority=9,
                    loss={},
                    description=alarm.meaning,
                )
            )
    return system.replace(events=(*system.events, *events), z=(*system.z, *discrete))


__all__ = ["FallBelow", "Hull", "JointRange", "OutputLimit", "SelfCollision", "watch"]
