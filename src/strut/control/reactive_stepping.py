"""`ReactiveStepping`: steps that come of themselves, as the extrapolated centre of mass leaves the base of
support. No footstep is planned.

After van de Rijt's thesis (section 4.2): both feet stand until the extrapolated centre of mass (XcoM, the
instantaneous capture point) is outside of the base of support by more than a margin; then the foot that is
farther from it swings, in a fixed time, to where the XcoM will be when it lands, and a little beyond. A step
that has begun is carried through; where the foot touches, its reference freezes. Everything is an expression:
of the time, of where the machine is, and of a few numbers that the stepping remembers from one sample to the
next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from strut.checks import checked
from strut.control.constants import check_finite, check_not_negative, check_positive, constant_numbers
from strut.control.inverted_pendulum import GRAVITY, pendulum_rate
from strut.control.stepping_parts import STANDING, SwingMemory, check_two_feet, search_motion
from strut.control.swing import check_swing_profile, swing_motion
from strut.errors import ValueRangeError
from strut.system import Discrete, Expression, sx


@checked
@dataclass(frozen=True, kw_only=True)
class ReactiveStepping:
    """How a machine steps. Each number may be a `Param` or an expression of some. What depends on the size
    of the machine must be given; the rest is by default that of the thesis.

    step_time: that every step takes [s]. swing_height: of the foot in the middle of the swing [m].
    margin_time: [s] times the speed that is asked for, by which the XcoM may leave the base of support;
        max_margin: of it at most [m].
    overshoot: [1] part of the swing that is added to it. shortest, longest: length of a swing [m]; the
        shortest keeps the base of support from vanishing.
    touch_gap: [m] below this height a foot touches the ground, and its reference freezes.
    search_speed: [m/s] with which the reference of a foot that found no ground in time goes on down.
    profile: of the swing, a name of `SWING_PROFILES`.
    """

    step_time: Expression
    swing_height: Expression
    shortest: Expression
    longest: Expression
    margin_time: Expression = 0.2
    max_margin: Expression = 0.2
    overshoot: Expression = 0.1
    touch_gap: Expression = 1e-3
    search_speed: Expression = 0.0
    profile: str = "sine"

    def __post_init__(self) -> None:
        check_swing_profile(self.profile)
        check_positive("step_time of reactive stepping", self.step_time)
        for word in ("swing_height", "margin_time", "max_margin", "shortest", "touch_gap", "search_speed"):
            check_not_negative(f"{word} of reactive stepping", getattr(self, word))
        check_positive("longest of reactive stepping", self.longest)
        check_finite("overshoot of reactive stepping", self.overshoot)
        least, most = constant_numbers(self.shortest), constant_numbers(self.longest)
        if least and most and least[0] > most[0]:
            raise ValueRangeError(
                f"shortest of reactive stepping is {least[0]:g} m, more than longest, {most[0]:g} m: make "
                f"it less"
            )


@dataclass(frozen=True, eq=False)
class SteppingSignals:
    """What the stepping asks for now.

    memory: what it remembers, each with the expression that it becomes at this sample.
    positions, velocities, accelerations: by foot, the reference along x and z [m, m/s, m/s^2].
    xcom: the extrapolated centre of mass [m]. margin: [m]. swinging: 0 where both stand, else the number of
        the foot, from 1 on. clock: since the last step began [s].
    """

    memory: Mapping[Discrete, ca.SX]
    positions: Mapping[str, ca.SX]
    velocities: Mapping[str, ca.SX]
    accelerations: Mapping[str, ca.SX]
    xcom: ca.SX
    margin: ca.SX
    swinging: ca.SX
    clock: ca.SX


@dataclass(frozen=True, eq=False)
class SteppingState:
    """Where a machine is, as expressions. com, com_velocity: along x and z [m, m/s]. feet: by name, where
    each is along x and z [m]; gaps: above the ground [m]."""

    com: ca.SX
    com_velocity: ca.SX
    feet: Mapping[str, ca.SX]
    gaps: Mapping[str, ca.SX]


@checked
def stepping_signals(
    stepping: ReactiveStepping,
    state: SteppingState,
    *,
    t: ca.SX,
    speed: Expression,
    height: Expression,
    first: Mapping[str, Sequence[Expression]],
    g: Expression = GRAVITY,
    prefix: str = "",
) -> SteppingSignals:
    """The references of both feet, and what is remembered.

    t: the time [s]. speed: that is asked of the centre of mass along x [m/s]. height: of the pendulum [m].
    first: by foot, where it stands when a run begins, along x and z [m]. g: [m/s^2]. prefix: of the names of
    what is remembered.
    """
    check_two_feet("reactive stepping", list(state.feet))
    s = stepping
    names = list(state.feet)
    swing_memory = SwingMemory.begin(prefix=prefix)
    length = Discrete(f"{prefix}swing_length", 0.0, "m", description="of the last swing, signed")
    hold_places = {
        name: [Discrete(f"{prefix}{name}_held_{axis}", first[name][k], "m") for k, axis in enumerate("xz")]
        for name in names
    }
    decision = _decide_step(
        s,
        state,
        standing=swing_memory.swinging.sym == STANDING,
        rate=pendulum_rate(sx(height), sx(g)),
        speed=sx(speed),
    )
    begins = decision.begins
    touches = swing_memory.touches(t, state.gaps, step_time=s.step_time, touch_gap=s.touch_gap)
    now_swinging, now_begun = swing_memory.now(
        t, begins=begins, foot=decision.foot, ends=ca.logic_or(*touches)
    )
    now_length = ca.if_else(begins, decision.length, length.sym)
    memory: dict[Discrete, ca.SX] = {
        swing_memory.swinging: now_swinging,
        swing_memory.start_time: now_begun,
        length: now_length,
        swing_memory.count: swing_memory.count.sym + begins,
    }
    clock = t - now_begun
    swing = swing_motion(now_length, s.swing_height, s.step_time, clock, s.profile)
    search, search_rate = search_motion(clock, s.step_time, s.search_speed, 2)
    positions, velocities, accelerations = {}, {}, {}
    for k, name in enumerate(names):
        swings = now_swinging == k + 1
        before = ca.vertcat(*[z.sym for z in hold_places[name]])
        # where it touches it stays, on the ground and not in it or above
        touched = state.feet[name] - ca.vertcat(0, state.gaps[name])
        leaves = ca.logic_and(begins, decision.foot == k + 1)
        now_held = ca.if_else(ca.logic_or(touches[k], leaves), touched, before)
        memory |= {z: now_held[i] for i, z in enumerate(hold_places[name])}
        positions[name] = ca.if_else(swings, now_held + swing.position + search, now_held)
        velocities[name] = ca.if_else(swings, swing.velocity + search_rate, 0)
        accelerations[name] = ca.if_else(swings, swing.acceleration, 0)
    return SteppingSignals(
        memory=memory,
        positions=positions,
        velocities=velocities,
        accelerations=accelerations,
        xcom=decision.xcom,
        margin=decision.margin,
        swinging=now_swinging,
        clock=clock,
    )


@dataclass(frozen=True, eq=False)
class _StepDecision:
    """Whether a step begins at this sample (`begins`, 0 or 1), and which.

    foot: the number of the foot that would swing, from 1 on. length: of its swing [m], signed. xcom: [m].
    margin: [m] by which the XcoM must be outside of the base of support.
    """

    begins: ca.SX
    foot: ca.SX
    length: ca.SX
    xcom: ca.SX
    margin: ca.SX


def _decide_step(
    s: ReactiveStepping, state: SteppingState, *, standing: ca.SX, rate: ca.SX, speed: ca.SX
) -> _StepDecision:
    """Decide by the extrapolated centre of mass. standing: whether both feet do. rate: of the pendulum [1/s].
    speed: that is asked for [m/s]."""
    one, other = (place[0] for place in state.feet.values())
    xcom = state.com[0] + state.com_velocity[0] / rate
    margin = ca.fmin(sx(s.margin_time) * ca.fabs(speed), sx(s.max_margin))
    front, back = ca.fmax(one, other), ca.fmin(one, other)
    forward, backward = xcom > front + margin, xcom < back - margin
    # the foot that is farther from where the XcoM goes swings, around the other
    foot = ca.if_else(forward == (one >= other), 2.0, 1.0)
    stance, start = ca.if_else(forward, front, back), ca.if_else(forward, back, front)
    landing = stance + (xcom - stance) * ca.exp(rate * sx(s.step_time))
    length = (1 + sx(s.overshoot)) * (landing - start)
    return _StepDecision(
        begins=ca.logic_and(standing, ca.logic_or(forward, backward)),
        foot=foot,
        length=ca.sign(length) * ca.fmax(sx(s.shortest), ca.fmin(sx(s.longest), ca.fabs(length))),
        xcom=xcom,
        margin=margin,
    )


__all__ = ["ReactiveStepping", "SteppingSignals", "SteppingState", "stepping_signals"]
