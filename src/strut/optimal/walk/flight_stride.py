"""`flight_stride`: a step with a time in the air to begin a search from, of a machine that runs or hops.

A step begins where a foot has landed. Stance: the base moves evenly over the foot and is lowest in the
middle. Flight: it is thrown, and the next foot (of one leg, the same) is brought under it. Inverse kinematics
give the postures at landing, in the middle of stance and at take-off; the machine moves through them.
"""

from __future__ import annotations

import math
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import NoStrideError
from strut.gait.exchange import mirrored_states
from strut.gait.section import section_of
from strut.gait.transport import distance, forward_states
from strut.optimal.solver.guess import Guess, Stretch
from strut.optimal.walk.even_stride import EvenStride
from strut.optimal.walk.frozen_branch import FrozenBranch, freeze_at
from strut.optimal.walk.goal_field import as_bounds
from strut.optimal.walk.kinematic_stride import STRIDE_SAMPLES, Kinematics, curve_through, nearest_posture
from strut.optimal.walk.read_walk import gravity_of
from strut.optimal.walk.step_goal import StepGoal
from strut.system import Foot, System, sx, time

RUNNING_SPEED = 0.7
"""[1] Speed over sqrt(g h), h the height of the centre of mass, where none is asked: a slow run."""
STANCE_TIME = 0.8
"""[1] Time on the ground over sqrt(h / g)."""
FLIGHT_TIME = 0.4
"""[1] Time in the air over sqrt(h / g), where none is asked."""
MAX_SWEEP = 0.6
"""[1] The way of the base over a foot that stands, over h, at most."""
SWING_LIFT = 0.1
"""[1] Height of a swinging foot over the ground, over h."""


def flight_stride(walker: System, section: str, goal: StepGoal) -> EvenStride:
    """Return a step with a flight of a walker on a floating base, as fast, long and high as is asked. Raises
    `NoStrideError` where it has no foot that lands, lifts and stands by itself, no base that floats, no such
    posture, or where its landing does not do what the sequence means."""
    return _Run(walker, section).stride(goal)


class _Run:
    """The postures of a step with a flight."""

    def __init__(self, walker: System, section: str) -> None:
        self.walker, self.section = walker, section
        self.kinematics = Kinematics(walker, section)
        self.landing_foot, self.stance_foot = self._feet()
        positions, self.shape = self.kinematics.positions, section_of(walker, section)
        self.carried = [positions.index(i) for i in forward_states(walker, self.shape) if i in positions]
        labels = walker.labels("x")
        lift = "" if walker.walk is None else walker.walk.lift
        self.up = positions.index(labels.index(lift)) if lift in labels else -1
        if not self.carried or self.up < 0:
            raise NoStrideError(
                f"'{walker.name}' cannot leave the ground: no coordinates of its own carry it forwards and "
                f"upwards. Let it float (joints.planar() as its base) on contact.rigid(...), or leave out "
                f"flight"
            )

    def _feet(self) -> tuple[Foot, Foot]:
        """The foot whose landing ends the step, and the one that stands in it: its opposite, or itself."""
        walk = self.walker.walk
        landing = None if walk is None else walk.foot_of(self.section)
        others = [f for f in walk.feet if landing and f.name == landing.opposite] if walk else []
        stance = others[0] if others else landing
        if landing is None or stance is None or stance.at is None or not (stance.lifts and stance.stands):
            raise NoStrideError(
                f"'{self.walker.name}' has no foot that lands in '{self.section}' and says when it lifts, "
                f"when it stands and where it is: Foot(lands=..., lifts=..., stands=..., gap=..., at=...), "
                f"as contact.rigid(...) makes them"
            )
        return landing, stance

    def stride(self, goal: StepGoal) -> EvenStride:
        """See `flight_stride`."""
        gravity, height = gravity_of(self.walker), self.kinematics.height()
        speed, stance, flight = self._times(goal, height, gravity)
        length = speed * (stance + flight)
        postures = self._postures(speed * stance / 2, length, height, depth=gravity * flight * stance / 8)
        if postures is None:
            raise NoStrideError(
                f"no postures of '{self.walker.name}' make a step of {length:.3g} m with {flight:.3g} s in "
                f"the air, within the limits of its joints: ask for another speed, step_length or flight, or "
                f"let it begin (initial) in a posture nearer to a landing"
            )
        touchdown, middle, takeoff, landing = postures
        s = np.linspace(0, 1, STRIDE_SAMPLES)[:, None]
        on_ground = (
            touchdown * (1 - s) * (1 - 2 * s) + middle * 4 * s * (1 - s) + takeoff * s * (2 * s - 1),
            (touchdown * (4 * s - 3) + middle * (4 - 8 * s) + takeoff * (4 * s - 1)) / stance,
        )
        thrown = np.zeros(len(takeoff))
        thrown[self.up] = gravity * flight**2 / 2
        in_air = (
            takeoff + s * (landing - takeoff) + s * (1 - s) * thrown,
            (landing - takeoff + (1 - 2 * s) * thrown) / flight,
        )
        states = [self.kinematics.states_with(*part) for part in (on_ground, in_air)]
        standing, flying = self._discrete()
        stretches = [
            Stretch(
                duration, curve_through(rows), curve_through(self.kinematics.inputs_along(rows, duration, z))
            )
            for duration, rows, z in zip((stance, flight), states, (standing, flying), strict=True)
        ]
        return EvenStride(
            period=stance + flight,
            step_length=length,
            guess=Guess(tuple(stretches)),
            branch=self._branch(states[0][-1], self._fall(landing, speed, gravity * flight / 2)),
            events=(self.stance_foot.lifts, self.section),
        )

    def _times(self, goal: StepGoal, height: float, gravity: float) -> tuple[float, float, float]:
        """Speed [m/s], time on the ground and in the air [s] of a step: as asked, or usual."""

        def nearest(name: str, usual: float) -> float:
            value = getattr(goal, name)
            low, high = (0.0, math.inf) if value is None else as_bounds(value)
            return min(max(usual, low), high)

        unit = math.sqrt(height / gravity)
        speed = nearest("speed", RUNNING_SPEED * math.sqrt(gravity * height))
        flight = nearest("flight", FLIGHT_TIME * unit)
        stance = min(STANCE_TIME * unit, MAX_SWEEP * height / speed)
        whole = nearest("duration", nearest("step_length", speed * (stance + flight)) / speed)
        stance = whole - flight if whole > flight else stance
        if goal.speed is None and goal.step_length is not None:
            speed = nearest("step_length", speed * whole) / whole
        return speed, stance, flight

    def _postures(self, ahead: float, length: float, height: float, depth: float) -> list[np.ndarray] | None:
        """Positions at landing, in mid-stance, at take-off, and at the next landing; None where there are
        none. ahead: of the base, where the foot lands [m]. depth: by which the base sinks in stance [m]."""
        walker, k, n = self.walker, self.kinematics, len(self.kinematics.positions)
        own, lift = k.begin.x[k.positions], SWING_LIFT * height
        begin, end = ca.SX.sym("begin", n), ca.SX.sym("end", n)
        repeats = [i for i in range(n) if i not in self.carried]
        after = walker.after(self.section, mirrored_states(walker))[k.positions]
        reached, came = k.expressions_at([after, distance(walker, self.section)], end)
        place = sx(self.stance_foot.at)
        foot, gap = k.expressions_at([place, walker[self.stance_foot.gap]], begin)
        moved = reached - begin
        if self.shape.shear is not None:  # on a slope it comes down as it comes ahead
            along = ca.SX(self.shape.shears(k.begin.p)[k.positions][:, : len(self.carried)])
            moved = moved - along @ moved[self.carried]
        rows = [moved[repeats], came - length, begin[self.carried], gap]
        rows += [foot[0] - begin[self.carried[0]] - ahead]
        rows += self._swing_rows(begin, -ahead, lift)
        there = own.copy()
        there[self.carried[0]] += length
        ends = nearest_posture(ca.vertcat(begin, end), rows, np.concatenate([own, there]), k.bounds(2))
        if ends is None:
            return None
        touchdown, landing = ends.reshape(2, n)
        at_foot = np.array(ca.Function("foot", [begin], [foot])(touchdown)).reshape(-1)
        part = 2 * ahead / length
        between = []
        for share, sinks, swung in ((part / 2, depth, 0.0), (part, 0.0, ahead)):
            q = ca.SX.sym("q", n)
            near = touchdown + share * (landing - touchdown)
            near[self.up] -= sinks
            coordinates = [*self.carried, *([self.up] if self.up not in self.carried else [])]
            rows = [(q - near)[coordinates], (k.expressions_at([place], q)[0] - at_foot)[[0, 2]]]
            rows += self._swing_rows(q, swung, lift)
            posture = nearest_posture(q, rows, near, k.bounds(1))
            if posture is None:
                return None
            between.append(posture)
        return [touchdown, *between, landing]

    def _swing_rows(self, q: ca.SX, ahead: float, lift: float) -> list[ca.SX]:
        """Zero where the foot that will land is so far ahead of the base and over the ground [m]; none of a
        machine on one leg. A run swings its leg while the other stands: behind, beneath, ahead."""
        if self.landing_foot is self.stance_foot:
            return []
        expressions = [sx(self.landing_foot.at)[0], self.walker[self.landing_foot.gap]]
        along, height = self.kinematics.expressions_at(expressions, q)
        return [along - q[self.carried[0]] - ahead, height - lift]

    def _discrete(self) -> tuple[np.ndarray, np.ndarray]:
        """Discrete states on the ground and in the air."""
        standing, flying = self.kinematics.begin.z.copy(), self.kinematics.begin.z.copy()
        labels = self.walker.labels("z")
        for foot in {f.name: f for f in (self.landing_foot, self.stance_foot)}.values():
            standing[labels.index(foot.stands)] = float(foot is self.stance_foot)
            flying[labels.index(foot.stands)] = 0.0
        return standing, flying

    def _fall(self, posture: np.ndarray, ahead: float, down: float) -> np.ndarray:
        """The state in which the machine comes down in a posture without turning a joint; ahead, down: how
        fast [m/s]. Whatever its legs do, so a landing is told."""
        rates = np.zeros(len(posture))
        rates[self.carried[0]], rates[self.up] = ahead, -down
        falling: np.ndarray = self.kinematics.states_with(posture[None], rates[None])[0]
        return falling

    def _branch(self, takeoff: np.ndarray, landing: np.ndarray) -> FrozenBranch:
        """The branch on which one foot lets go and then, with none on the ground, the other lands."""
        walker, k = self.walker, self.kinematics
        (standing, flying), labels = self._discrete(), walker.labels("z")
        # What lets a foot go asks the others, too: none of them is on the ground.
        lifts = walker.event(self.stance_foot.lifts)
        alone = ca.substitute([sx(lifts.guard)], [walker.vector("z")], [ca.SX(standing)])[0]
        events = tuple(replace(e, guard=alone) if e.name == lifts.name else e for e in walker.events)
        u, p = k.begin.u, k.begin.p
        points = {
            lifts.name: (0.0, takeoff, standing, u, p),
            self.section: (0.0, landing, flying, u, p),
        }
        branch = replace(freeze_at(walker.replace(events=events), points, standing), actual=walker)
        reset = branch.system.event(self.section).reset
        new_z = ca.vertcat(*[sx(reset.get(q.name, q.sym)) for q in walker.z])
        after = ca.Function("after", [time, *walker.vectors()], [new_z])(0.0, landing, flying, u, p)
        if not float(after[labels.index(self.landing_foot.stands)]) > 0.5:
            raise NoStrideError(
                f"the landing of '{self.landing_foot.name}' of '{walker.name}' does not hold it on the "
                f"ground: let it begin (initial) in another posture, or give a motion as guess"
            )
        return branch


__all__ = ["flight_stride"]
