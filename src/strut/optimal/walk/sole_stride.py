"""`sole_stride`: a step to begin a search from, of a walker on rigid ground whose feet have several points.

Which points are on the ground, and when, is a `ContactPhases`. Inverse kinematics give the posture at every
event: points that stand stay where they are, the others are lifted. Between, the walker moves evenly, with
its feet where they stand. The events do what the phases mean: who lands holds, and who is to go is let go.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import NoStrideError
from strut.gait.exchange import mirrored_states
from strut.gait.section import section_of
from strut.gait.transport import distance, forward_states, weight_of
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.walk.contact_phases import ContactPhases, standing_feet
from strut.optimal.walk.even_stride import EvenStride
from strut.optimal.walk.frozen_branch import FrozenBranch, Point, freeze_at, freeze_event
from strut.optimal.walk.kinematic_stride import (
    LIFT_PER_HEIGHT,
    MAX_LANDINGS,
    MIN_LANDING_SPEED,
    Kinematics,
    curve_through,
    nearest_posture,
)
from strut.system import Foot, System, sx, time

LANDING_SHARE = 0.12
"""[1] The part of a step that a guess gives to a phase which ends with a landing within the step, as of a toe
after its heel, or where the foot behind leaves after a double support."""
TOE_LIFT, HEEL_LIFT = 0.25, 0.35
"""[1] Heights over the length of a foot: of what lands later, where a foot lands; and of what has left, where
the rest of a foot is let go. Angles of 15 and 20 degrees, as people walk."""
SAMPLES = 9
"""Points of each phase at which states are given."""
GUARD_TORQUE = 0.05
"""[1] Size of random inputs over weight times step length, with which a foot that leaves is tried."""
TOUCH_DEPTH = 1e-10
"""[m] by which a point that lands is in the ground, where a landing is tried: it touches."""


def sole_stride(
    walker: System, phases: ContactPhases, step_length: float | None = None, speed: float | None = None
) -> EvenStride:
    """Return an even step with contact phases, of the length [m] that is asked, or that goes with a speed
    [m/s]. Raises `NoStrideError` where no such postures exist, or where an event never does what the phases
    mean."""
    return _SoleStride(walker, phases).stride(step_length, speed)


class _SoleStride:
    """The postures of a step of feet of several points."""

    def __init__(self, walker: System, phases: ContactPhases) -> None:
        self.walker, self.phases, self.section = walker, phases, phases.events[-1]
        self.kinematics = Kinematics(walker, self.section)
        self.feet = {f.name: f for f in standing_feet(walker)}
        carried = forward_states(walker, section_of(walker, self.section))
        positions = self.kinematics.positions
        self.carried = [positions.index(i) for i in carried if i in positions]
        self.swing = next(f for f in self.feet.values() if f.lands == self.section)
        short = {f.lands for f in self.feet.values()}
        short |= {f.lifts for f in self.feet.values() if self._is_of_swing(f)}
        early = [LANDING_SHARE if event in short else 0.0 for event in phases.events[:-1]]
        rest = (1 - sum(early)) / (1 + len(early) - np.count_nonzero(early))
        self.shares = np.array([*[share or rest for share in early], rest])

    def stride(self, step_length: float | None, speed: float | None) -> EvenStride:
        """See `sole_stride`."""
        kinematics = self.kinematics
        length, period = kinematics.usual_step(step_length, speed)
        postures = self._postures(length)
        if postures is None:
            raise NoStrideError(
                f"no postures of '{self.walker.name}' make a step of {length:.3g} m with the contact phases "
                f"{', '.join(self.phases.events)}, within the limits of its joints: ask for another "
                f"step_length or other phases, give wider limits, or let it begin (initial) in a posture "
                f"nearer to a step"
            )
        stretches, ends = [], []
        for k, share in enumerate(self.shares):
            positions = self._between(postures, k)
            rates = np.gradient(positions, share * period / (SAMPLES - 1), axis=0)
            states = kinematics.states_with(positions, rates)
            inputs = kinematics.inputs_along(states, share * period, self._discrete(k))
            stretches.append(Stretch(share * period, curve_through(states), curve_through(inputs)))
            ends.append(states[-1])
        return EvenStride(
            period=period,
            step_length=length,
            guess=Guess(tuple(stretches)),
            branch=self._branch(ends, length),
            events=self.phases.events,
            shares=tuple(self.shares),
        )

    def _discrete(self, phase: int) -> np.ndarray:
        """Discrete states in a phase: those of the start, with feet on the ground as it says; feet in the air
        may land."""
        z, labels = self.kinematics.begin.z.copy(), self.walker.labels("z")
        for foot in self.feet.values():
            stands = foot.name in self.phases.standing[phase]
            z[labels.index(foot.stands)] = float(stands)
            if f"{foot.name}_armed" in labels:
                z[labels.index(f"{foot.name}_armed")] = float(not stands)
        return z

    # ---- postures ----

    def _postures(self, length: float) -> np.ndarray | None:
        """Positions at the beginning and at the event that ends each phase, as rows; None where there are
        none."""
        walker, k, n = self.walker, self.kinematics, len(self.kinematics.positions)
        count = len(self.shares) + 1
        q = [ca.SX.sym(f"q{i}", n) for i in range(count)]
        repeats = [i for i in range(n) if i not in self.carried]
        after = walker.after(self.section, mirrored_states(walker))[k.positions]
        reached, came = k.expressions_at([after, distance(walker, self.section)], q[-1])
        rows = [(reached - q[0])[repeats], came - length, q[0][self.carried]]
        progress = np.concatenate([[0.0], np.cumsum(self.shares)])
        swing = [k.expressions_at([sx(self.swing.at)], each)[0][0] for each in q]
        # The foot that swings moves on from where it leaves the ground: with the step, or where both feet
        # have stood.
        left = max((i for i in range(1, count - 1) if self._swing_foot_touches(i)), default=0)
        for i in range(1, count - 1):
            rows.append(q[i][self.carried[0]] - progress[i] * length)
            if i > left:
                part = (progress[i] - progress[left]) / (1 - progress[left])
                rows.append(swing[i] - swing[left] - part * (swing[-1] - swing[left]))
        for i in range(count):
            rows += self._foot_rows(q, i, progress[i])
        own = np.tile(k.begin.x[k.positions], (count, 1))
        own[:, self.carried[0]] = progress * length
        # Once for the postures at the ends, then with the others evenly between these.
        for _ in range(2):
            solution = nearest_posture(ca.vertcat(*q), rows, own.reshape(-1), k.bounds(count))
            if solution is None:
                return None
            postures = solution.reshape(count, n)
            own = postures[0] + progress[:, None] * (postures[-1] - postures[0])
        return postures

    def _touching_points(self, i: int) -> frozenset[str]:
        """The points on the ground at the event that ends phase i - 1, before it or after."""
        return self.phases.after(i - 1) | self.phases.standing[i - 1]

    def _is_of_swing(self, foot: Foot) -> bool:
        """Whether a point is of the foot that swings in this step, and lands at its end."""
        return bool(foot.body) and foot.body == self.swing.body

    def _swing_foot_touches(self, i: int) -> bool:
        """Whether the foot that swings is still on the ground at the event that ends phase i - 1."""
        return any(self._is_of_swing(self.feet[name]) for name in self._touching_points(i))

    def _foot_rows(self, q: list[ca.SX], i: int, part: float) -> list[ca.SX]:
        """Zero where the feet are as they should be in posture i, where a part of the step is over. At the
        beginning, 0, they are what they are at the end, left and right exchanged."""
        k, rows = self.kinematics, list[ca.SX]()
        if i == 0:
            return rows
        bodies = set[str]()  # of which one point says where it stands: the others follow
        for foot in self.feet.values():
            gap, at = k.expressions_at([self.walker[foot.gap], sx(foot.at)], q[i])
            if foot.name not in self._touching_points(i):
                rows.append(gap - self._height(foot, self._touching_points(i), part))
                continue
            rows.append(gap)
            if foot.name in self.phases.standing[i - 1] and foot.body not in bodies:
                bodies.add(foot.body)
                rows.append((at - k.expressions_at([sx(foot.at)], q[i - 1])[0])[0])
        return rows

    def _height(self, foot: Foot, touching: frozenset[str], part: float) -> float:
        """[m] of a point that is not on the ground: of a foot that swings, or that stands on another of its
        points."""
        of_body = [f for f in self.feet.values() if f.body == foot.body and f.name in touching]
        if not of_body:
            return LIFT_PER_HEIGHT * self.kinematics.height() * 4 * part * (1 - part)
        lands = any(f.lands == self.section for f in of_body)
        if self._is_of_swing(foot) and not lands:  # it is still behind: its heel has risen for a step
            part += 1
        return self._foot_length(foot, of_body[0]) * (TOE_LIFT if lands else HEEL_LIFT * part)

    def _foot_length(self, one: Foot, other: Foot) -> float:
        """[m] between two points of a body."""
        begin = self.kinematics.begin
        f = self.walker.function("length", [ca.norm_2(sx(one.at) - sx(other.at))], clock=False)
        return float(f(begin.x, begin.z, begin.u, begin.p))

    def _between(self, postures: np.ndarray, phase: int) -> np.ndarray:
        """Positions in a phase, as rows: evenly between the postures at its ends, with the points that stand
        where they were."""
        k, n = self.kinematics, postures.shape[1]
        q, begin = ca.SX.sym("q", n), ca.SX(postures[phase])
        rows: list[ca.SX] = []
        bodies: set[str] = set()
        for foot in (self.feet[name] for name in sorted(self.phases.standing[phase])):
            gap, at = k.expressions_at([self.walker[foot.gap], sx(foot.at)], q)
            rows.append(gap)
            if foot.body not in bodies:
                rows.append((at - ca.substitute([at], [q], [begin])[0])[0])
            bodies.add(foot.body)
        s = np.linspace(0, 1, SAMPLES)[:, None]
        positions: np.ndarray = postures[phase] * (1 - s) + postures[phase + 1] * s
        for row in positions[1:-1]:
            posture = nearest_posture(q, rows, row.copy(), k.bounds(1))
            if posture is not None:
                row[:] = posture
        return positions

    # ---- events ----

    def _branch(self, ends: list[np.ndarray], length: float) -> FrozenBranch:
        """The branch on which every event does what the phases mean. ends: the states at the events."""
        walker = self.walker
        points: dict[str, Point] = {}
        for phase, (event, end) in enumerate(zip(self.phases.events, ends, strict=True)):
            foot = next(f for f in self.feet.values() if event in (f.lands, f.lifts))
            if event == foot.lands:
                points[event] = self._landing_state(phase, foot, end)
            else:
                points[event] = self._leaving_state(phase, foot, end, length)
        return replace(
            freeze_at(self._with_guards_of_phases(walker), points, self._discrete(0)), actual=walker
        )

    def _with_guards_of_phases(self, walker: System) -> System:
        """The walker whose events that let a foot go ask the feet that stand in their phase alone."""
        guards = {}
        for phase, event in enumerate(self.phases.events):
            if any(f.lifts == event for f in self.feet.values()):
                z = ca.SX(self._discrete(phase))
                guards[event] = ca.substitute([sx(walker.event(event).guard)], [walker.vector("z")], [z])[0]
        events = [replace(e, guard=guards[e.name]) if e.name in guards else e for e in walker.events]
        return walker.replace(events=tuple(events))

    def _landing_state(self, phase: int, foot: Foot, end: np.ndarray) -> Point:
        """A landing after which those points stand that the phases say: velocities with which the feet on the
        ground rest are tried until one does that."""
        walker, k, z = self.walker, self.kinematics, self._discrete(phase)
        reset, labels = walker.event(foot.lands).reset, walker.labels("z")
        new_z = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in walker.z])
        outcome = ca.Function("outcome", [time, *walker.vectors()], [new_z])
        rows = {f.name: k.foot_velocities(f, end) for f in self.feet.values()}
        stood = [rows[name] for name in sorted(self.phases.standing[phase])]
        hold = np.eye(len(k.velocities)) - np.linalg.pinv(np.vstack(stood)) @ np.vstack(stood)
        wanted_flags = {self.feet[name].stands: name in self.phases.after(phase) for name in self.feet}
        end = self._lowered_state(end, foot)
        random, spread = np.random.default_rng(0), np.abs(end[k.velocities]).max()
        for trial in range(MAX_LANDINGS):
            x = end.copy()
            shake = spread * random.standard_normal(len(k.velocities)) if trial else 0.0
            x[k.velocities] = hold @ (end[k.velocities] + shake)
            if (rows[foot.name] @ x[k.velocities])[2] > -MIN_LANDING_SPEED:
                continue
            after = np.array(outcome(0.0, x, z, k.begin.u, k.begin.p)).reshape(-1)
            if all((after[labels.index(flag)] > 0.5) == stands for flag, stands in wanted_flags.items()):
                return (0.0, x, z, k.begin.u, k.begin.p)
        standing = ", ".join(sorted(self.phases.after(phase)))
        raise NoStrideError(
            f"however '{walker.name}' comes down, the landing of '{foot.name}' does not leave it on "
            f"{standing} alone: give other phases than {', '.join(self.phases.events)}, another step_length, "
            f"or let it begin (initial) in another posture"
        )

    def _lowered_state(self, x: np.ndarray, foot: Foot) -> np.ndarray:
        """The state moved down until a foot touches the ground: what is within rounding of it does not."""
        walk, lowered = self.walker.walk, x.copy()
        if walk is not None and walk.lift in self.walker.labels("x"):
            f = self.walker.function("gap", [self.walker[foot.gap]], clock=False)
            begin = self.kinematics.begin
            gap = float(f(x, begin.z, begin.u, begin.p))
            lowered[self.walker.labels("x").index(walk.lift)] -= gap + TOUCH_DEPTH
        return lowered

    def _leaving_state(self, phase: int, foot: Foot, end: np.ndarray, length: float) -> Point:
        """A point at which the guard of a foot that leaves asks that foot alone: no other foot would go
        first. Random inputs are tried until there is one."""
        walker, k, z = self.walker, self.kinematics, self._discrete(phase)
        of_phase = self._with_guards_of_phases(walker)
        event, random = of_phase.event(foot.lifts), np.random.default_rng(0)
        spread = GUARD_TORQUE * weight_of(walker) * length
        for trial in range(MAX_LANDINGS):
            u = k.begin.u + (spread * random.standard_normal(len(k.begin.u)) if trial else 0.0)
            point = (0.0, end, z, u, k.begin.p)
            if ca.depends_on(sx(freeze_event(of_phase, event, point)[0].guard), walker.vector("u")):
                return point
        raise NoStrideError(
            f"foot '{foot.name}' of '{walker.name}' is not let go in '{foot.lifts}' with other feet on the "
            f"ground: give other phases than {', '.join(self.phases.events)}"
        )


__all__ = ["sole_stride"]
