"""Steps in space that come of themselves, as the extrapolated centre of mass leaves the soles: which foot
swings, when, and where it is put down.

`ReactiveStepping` in both horizontal directions, for feet with soles. Both stand until the extrapolated
centre of mass (XcoM, the instantaneous capture point) is outside of what lies between the soles; then one
foot swings, in a fixed time, to where the XcoM will be when it lands. Where it goes is planned anew at every
sample of the first part of the swing. Everything is an expression, of where the machine is and of what is
remembered from one sample to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import casadi as ca

from strut.checks import checked
from strut.control.constants import check_not_negative, check_positive
from strut.control.stepping_parts import STANDING, SwingMemory, check_two_feet, search_motion
from strut.control.swing import check_swing_profile, swing_motion
from strut.system import Discrete, Expression, sx

MIN_SPREAD = 1e-9
"""[1] Squared distance of two soles, in their half sizes, below which they are one."""
LONG_AGO = -1e3
"""[s] When the last step of a machine ended that has not stepped yet."""
HORIZONTAL = (0, 1)
"""Places of x and y."""


@checked
@dataclass(frozen=True, kw_only=True)
class CaptureStepping:
    """How a machine with soles steps in space. Each number may be a `Param` or an expression of some.

    step_time: that every step takes [s]. swing_height: of the foot in the middle of the swing [m].
    longest: [m] from the standing foot, along x and along y. narrowest: [m] least distance of the feet along
        y, so that legs do not cross.
    leave: [1] part of the soles' half sizes that the XcoM may be away from the line between them; 1 is their
        edge, ahead and to the sides.
    brake: [1] part of the sole's half sizes that the point of pressure is expected to be away from its middle
        while the other foot swings.
    overshoot: [1] part of the way from the standing foot that is added to it.
    replan: [1] part of the swing in which the landing is planned anew. rest: [s] both feet stand at least so
        long between steps.
    touch_gap: [m] below this height a sole touches. search_speed: [m/s] with which the reference of a foot
        that found no ground in time goes on down. profile: of the swing, a name of `SWING_PROFILES`.
    """

    step_time: Expression
    swing_height: Expression
    longest: Expression
    narrowest: Expression
    leave: Expression = 1.0
    brake: Expression = 0.8
    overshoot: Expression = 0.0
    replan: Expression = 0.7
    rest: Expression = 0.05
    touch_gap: Expression = 1e-3
    search_speed: Expression = 0.1
    profile: str = "smooth"

    def __post_init__(self) -> None:
        check_swing_profile(self.profile)
        for each in fields(self):
            check = check_positive if each.name in ("step_time", "longest") else check_not_negative
            check(f"{each.name} of capture stepping", getattr(self, each.name))


@dataclass(frozen=True, eq=False)
class SpatialState:
    """Where a machine is, as expressions. com, com_velocity: x, y and z [m, m/s]. soles: by name, where the
    middle of each is [m]; gaps: of its lowest point above the ground [m]. half_sizes: of a sole along x and
    y [m]. rate: of the pendulum [1/s]."""

    com: ca.SX
    com_velocity: ca.SX
    soles: Mapping[str, ca.SX]
    gaps: Mapping[str, ca.SX]
    half_sizes: ca.SX
    rate: ca.SX

    @property
    def xcom(self) -> ca.SX:
        """The extrapolated centre of mass, x and y [m]."""
        return self.com[HORIZONTAL, :] + self.com_velocity[HORIZONTAL, :] / self.rate

    def pressure_point(self, sole: ca.SX, part: ca.SX) -> ca.SX:
        """Where a sole pushes [m] that brakes the XcoM as much as it can: the place nearest to the XcoM
        within a part of the sole."""
        reach = part * self.half_sizes
        middle = sole[HORIZONTAL, :]
        return middle + ca.fmax(-reach, ca.fmin(reach, self.xcom - middle))


@dataclass(frozen=True, eq=False)
class SpatialSignals:
    """What the stepping asks for now.

    memory: what it remembers, each with the expression that it becomes at this sample.
    positions, velocities, accelerations: by foot, the reference of its sole along x, y and z [m, m/s, m/s^2].
    swinging: 0 where both stand, else the number of the foot, from 1 on. clock: since the last step began
        [s]. pressure: where the standing foot should push, x and y [m]. middle: between the feet's
        references, x and y [m].
    """

    memory: Mapping[Discrete, ca.SX]
    positions: Mapping[str, ca.SX]
    velocities: Mapping[str, ca.SX]
    accelerations: Mapping[str, ca.SX]
    swinging: ca.SX
    clock: ca.SX
    pressure: ca.SX
    middle: ca.SX


@checked
def spatial_stepping_signals(
    stepping: CaptureStepping, state: SpatialState, *, t: ca.SX, first: Mapping[str, ca.SX]
) -> SpatialSignals:
    """The references of both soles, and what is remembered. t: the time [s]. first: by foot, where its sole
    is when a run begins [m]; the foot whose y is larger is the left one."""
    check_two_feet("capture stepping", list(state.soles))
    s, names = stepping, list(state.soles)
    swing_memory = SwingMemory.begin(last_step=LONG_AGO)
    end_time = Discrete("step_ended", LONG_AGO, "s", description="when the last step ended")
    goal = [
        Discrete(f"landing_{axis}", 0.0, "m", description="where the foot that swings goes") for axis in "xy"
    ]
    places = {
        name: [Discrete(f"{name}_held_{axis}", first[name][k], "m") for k, axis in enumerate("xyz")]
        for name in names
    }
    step = _StepChoice(s, state, {name: ca.vertcat(*[z.sym for z in places[name]]) for name in names})
    rests = ca.logic_and(swing_memory.swinging.sym == STANDING, t - end_time.sym >= sx(s.rest))
    begins = ca.logic_and(rests, step.leaves)
    touches = swing_memory.touches(t, state.gaps, step_time=s.step_time, touch_gap=s.touch_gap)
    ends = ca.logic_or(*touches)
    now_swinging, now_begun = swing_memory.now(t, begins=begins, foot=step.foot, ends=ends)
    clock = t - now_begun
    stands = ca.if_else(now_swinging == 1, state.soles[names[1]], state.soles[names[0]])
    side = ca.if_else(now_swinging == 1, 1, -1) * ca.sign(first[names[0]][1] - first[names[1]][1])
    pressure = state.pressure_point(stands, sx(s.brake))
    planned = step.landing_place(stands, pressure, side, left=ca.fmax(0, sx(s.step_time) - clock))
    replans = ca.logic_and(now_swinging > STANDING, clock <= sx(s.replan) * sx(s.step_time))
    now_goal = ca.if_else(replans, planned, ca.vertcat(*[z.sym for z in goal]))
    memory: dict[Discrete, ca.SX] = {
        swing_memory.swinging: now_swinging,
        swing_memory.start_time: now_begun,
        end_time: ca.if_else(ends, t, end_time.sym),
        swing_memory.count: swing_memory.count.sym + begins,
        **{z: now_goal[k] for k, z in enumerate(goal)},
    }
    swing = swing_motion(1.0, s.swing_height, s.step_time, clock, s.profile)
    search, search_rate = search_motion(clock, s.step_time, s.search_speed, 3)
    positions, velocities, accelerations = {}, {}, {}
    for k, name in enumerate(names):
        swings = now_swinging == k + 1
        before = ca.vertcat(*[z.sym for z in places[name]])
        # where it touches it stays, on the ground and not in it or above
        touched = state.soles[name] - ca.vertcat(0, 0, state.gaps[name])
        now_held = ca.if_else(touches[k], touched, before)
        memory |= {z: now_held[i] for i, z in enumerate(places[name])}
        way = now_goal - now_held[HORIZONTAL, :]
        moved = ca.vertcat(way * swing.position[0], swing.position[1]) + search
        positions[name] = now_held + ca.if_else(swings, moved, 0)
        rate = ca.vertcat(way * swing.velocity[0], swing.velocity[1]) + search_rate
        velocities[name] = ca.if_else(swings, rate, 0)
        bend = ca.vertcat(way * swing.acceleration[0], swing.acceleration[1])
        accelerations[name] = ca.if_else(swings, bend, 0)
    middle = sum((positions[name][HORIZONTAL, :] for name in names), ca.SX.zeros(2)) / 2
    return SpatialSignals(
        memory=memory,
        positions=positions,
        velocities=velocities,
        accelerations=accelerations,
        swinging=now_swinging,
        clock=clock,
        pressure=pressure,
        middle=middle,
    )


@dataclass(frozen=True, eq=False)
class _StepChoice:
    """Whether a step begins at this sample, and which. places: where soles stand, by name [m]."""

    stepping: CaptureStepping
    state: SpatialState
    places: Mapping[str, ca.SX]

    @property
    def leaves(self) -> ca.SX:
        """Whether the XcoM is farther from the line between both soles than they reach. Distances are in half
        sizes of a sole, in which its inscribed ellipse is a circle: exact ahead, behind and to the sides, and
        a little early at the corners."""
        half = self.state.half_sizes
        one, other = (place[HORIZONTAL, :] / half for place in self.places.values())
        xcom, line = self.state.xcom / half, other - one
        part = ca.dot(xcom - one, line) / ca.fmax(ca.sumsqr(line), MIN_SPREAD)
        nearest = one + ca.fmax(0, ca.fmin(1, part)) * line
        return ca.sumsqr(xcom - nearest) > sx(self.stepping.leave) ** 2

    @property
    def foot(self) -> ca.SX:
        """The number of the foot that would swing: where the XcoM is to the side of both, the one on that
        side, as legs do not cross; else the one that is farther from it."""
        half, xcom = self.state.half_sizes, self.state.xcom
        one, other = (place[HORIZONTAL, :] for place in self.places.values())
        low, high = ca.fmin(one[1], other[1]) - half[1], ca.fmax(one[1], other[1]) + half[1]
        beside = ca.logic_or(xcom[1] > high, xcom[1] < low)
        nearer = ca.if_else(ca.fabs(xcom[1] - one[1]) < ca.fabs(xcom[1] - other[1]), 1.0, 2.0)
        farther = ca.if_else(ca.sumsqr((xcom - one) / half) > ca.sumsqr((xcom - other) / half), 1.0, 2.0)
        return ca.if_else(beside, nearer, farther)

    def landing_place(self, stands: ca.SX, pressure: ca.SX, side: ca.SX, left: ca.SX) -> ca.SX:
        """Where the foot lands [m]: at the XcoM then, a time `left` [s] from now, on a foot that pushes at
        `pressure`; within reach of the foot that stands, on its own side (1: the side of larger y)."""
        s = self.stepping
        then = pressure + (self.state.xcom - pressure) * ca.exp(self.state.rate * left)
        way = (1 + sx(s.overshoot)) * (then - stands[HORIZONTAL, :])
        along = ca.fmax(-sx(s.longest), ca.fmin(sx(s.longest), way[0]))
        across = side * ca.fmax(sx(s.narrowest), ca.fmin(sx(s.longest), side * way[1]))
        return stands[HORIZONTAL, :] + ca.vertcat(along, across)


__all__ = ["CaptureStepping", "SpatialSignals", "SpatialState", "spatial_stepping_signals"]
