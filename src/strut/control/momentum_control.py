"""`momentum_stepping`: a machine on two legs whose centre of mass follows a path, and that steps to keep its
balance, by whole-body control of its momentum.

The controller of van de Rijt's thesis: a reference generator (the path, and `ReactiveStepping` for the
feet), a motion reference planner (the laws below, eqs. 4.3 to 4.6), and a quadratic program (`whole_body`)
in which momentum, feet and chest are soft goals and dynamics, friction, forces and torques are kept. Every
number is a parameter of the controller, so that sweeps compile nothing again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import casadi as ca

from strut.checks import checked
from strut.control.body_model import BodyModel
from strut.control.constants import check_finite, check_not_negative, numbers_as_parameters
from strut.control.qp_controller import QpController
from strut.control.reactive_stepping import ReactiveStepping, SteppingSignals, SteppingState, stepping_signals
from strut.control.reference import ReferenceSignal
from strut.control.stepping_parts import leaving_contacts
from strut.control.tasks import FrameTask, MomentumTask, OrientationTask, Task
from strut.control.whole_body_control import whole_body
from strut.errors import ModelError
from strut.system import Expression, limit_to, sx, time


@checked
@dataclass(frozen=True, kw_only=True)
class MomentumGains:
    """Limits, weights and gains of `momentum_stepping`. Numbers become parameters of these names. What
    depends on the weight of the machine must be given; the rest is by default that of the final design of van
    de Rijt's thesis, for one robot: `walkers.rijt`, a planar man of 70 kg on point feet with legs of 0.94 m
    (who has 220 N m, 1000 N, 1500 N/m and 430 N of what is given).

    For a machine of your own of m [kg] and legs of l [m], similar motions have limits and gains times these,
    which are where to begin, not the best: force_limit and momentum_limit m/70, torque_limit m/70 l/0.94,
    com_stiffness m/70 0.94/l; force_weight and momentum_weight (70/m)^2, since they weigh squares of forces;
    feet_stiffness, chest_stiffness and acceleration_limit 0.94/l, spin_gain its root, acceleration_weight
    and chest_weight (l/0.94)^2. friction is the ground's. `QpController.using` tries others, and compiles
    nothing again.

    torque_limit: of every motor [N m]. force_limit: of each component of a foot's force [N].
    acceleration_limit: with which joints brake before the end of their range [rad/s^2], on or off as in the
        thesis.
    acceleration_weight, force_weight: of half the squares of accelerations and forces.
    momentum_weight, feet_weight, chest_weight: of half the squared misses of the rate of momentum [N, N m],
        of the feet's accelerations [m/s^2] and of the chest's [rad/s^2].
    com_stiffness: force per distance of the centre of mass from its path [N/m]. feet_stiffness,
        chest_stiffness: acceleration per distance or angle [1/s^2]. damping_ratio: of all three; the thesis
        calls 1/sqrt(2) critical.
    spin_gain: rate with which angular momentum is taken out [1/s].
    momentum_limit: of the horizontal rate of momentum that is asked for [N].
    friction: that the forces of the program keep to. chest_angle: forward from upright [rad].
    contact_gap: [m] below this height the program may use a foot's force.
    unload: [1] part of a step's time in which the program gives the swinging foot no force though it may
        still touch: a foot that carries load while it is told to leave is dragged along.
    """

    torque_limit: Expression
    force_limit: Expression
    com_stiffness: Expression
    momentum_limit: Expression
    acceleration_limit: Expression = 1000.0
    acceleration_weight: Expression = 1e-2
    force_weight: Expression = 1e-4
    momentum_weight: Expression = 10.0
    feet_weight: Expression = 5e5
    chest_weight: Expression = 1e5
    feet_stiffness: Expression = 1500.0
    chest_stiffness: Expression = 100.0
    damping_ratio: Expression = 0.5**0.5
    spin_gain: Expression = 3.0
    friction: Expression = 0.7
    chest_angle: Expression = 0.0
    contact_gap: Expression = 1e-3
    unload: Expression = 0.5

    def __post_init__(self) -> None:
        for each in fields(self):
            name, value = f"{each.name} of momentum stepping", getattr(self, each.name)
            if each.name == "chest_angle":
                check_finite(name, value)
            else:
                check_not_negative(name, value, infinite=each.name in ("torque_limit", "momentum_limit"))


@checked
def momentum_stepping(  # noqa: PLR0913 -- what a controller can be asked, each by its own name
    body: BodyModel,
    *,
    feet: Sequence[str],
    chest: str,
    com: Sequence[Expression | ReferenceSignal],
    stepping: ReactiveStepping,
    gains: MomentumGains,
    every: float = 1e-3,
    hard_feet: bool = False,
    slack: bool = False,
    name: str = "momentum_stepping",
) -> QpController:
    """Return a controller of a planar machine on two point feet, on level ground.

    feet: the frames of both. chest: the frame that is kept upright. com: the path of the centre of mass, x
        and z [m], expressions of `strut.time` or references. every: the period [s].
    hard_feet: whether the feet's accelerations are equations. slack: see `QuadraticProgram`.

    Recorded outputs: com, com_reference, FOOT_place and FOOT_reference (x and z [m]), xcom [m], chest (its
    angle [rad]), and the momentum_rate that is asked for [N m, N, N]; in its memory swinging, steps and
    swing_length.
    """
    if not body.mechanism.planar:
        raise ModelError(
            f"'{body.mechanism.name}' moves in space: reactive stepping is for planar machines; "
            f"`whole_body` takes footsteps of your own there"
        )
    if len(com) != 2:
        raise ModelError(f"the path of the centre of mass has {len(com)} numbers: give x and z")
    step, k = numbers_as_parameters(stepping), numbers_as_parameters(gains)
    axes = list(body.axes)
    path = ca.vertcat(*[sx(c.value if isinstance(c, ReferenceSignal) else c) for c in com])
    path_rate = ca.jacobian(path, time)
    at, speed = body.com[axes], body.com_rate[axes]
    places = {foot: body.position(foot)[axes] for foot in feet}
    signals = stepping_signals(
        step,
        SteppingState(at, speed, places, {foot: place[1] for foot, place in places.items()}),
        t=time,
        speed=path_rate[0],
        height=path[1],
        first={foot: [place[0], place[1]] for foot, place in places.items()},
        g=sx(body.mechanism.g),
    )
    momentum_rate = _momentum_rate(body, k, path)
    tasks: list[Task] = [
        MomentumTask(rate=momentum_rate, of=("angular_y", "linear_x", "linear_z"), weight=k.momentum_weight),
        OrientationTask(
            frame=chest,
            target=k.chest_angle,
            stiffness=k.chest_stiffness,
            damping=2 * sx(k.damping_ratio) * ca.sqrt(sx(k.chest_stiffness)),
            weight=k.chest_weight,
            name="chest",
        ),
        *(_foot_task(foot, signals, k, hard=hard_feet) for foot in feet),
    ]
    contacts = leaving_contacts(
        {foot: {foot: place[1]} for foot, place in places.items()},
        swinging=signals.swinging,
        clock=signals.clock,
        unload_time=sx(k.unload) * sx(step.step_time),
        gap=k.contact_gap,
        friction=k.friction,
        max_force=k.force_limit,
    )
    R = body.rotation(chest)
    outputs = {"com": at, "com_reference": path, "xcom": signals.xcom, "chest": ca.atan2(R[0, 2], R[0, 0])}
    outputs |= {f"{foot}_place": places[foot] for foot in feet}
    outputs |= {f"{foot}_reference": signals.positions[foot] for foot in feet}
    return whole_body(
        body,
        every=every,
        tasks=tasks,
        contacts=contacts,
        torque_limit=k.torque_limit,
        acceleration_limit=k.acceleration_limit,
        braking="on-off",
        acceleration_weight=k.acceleration_weight,
        force_weight=k.force_weight,
        slack=slack,
        memory=tuple(signals.memory),
        update={z.name: e for z, e in signals.memory.items()},
        outputs={**outputs, "momentum_rate": momentum_rate},
        name=name,
    )


def _momentum_rate(body: BodyModel, k: MomentumGains, path: ca.SX) -> ca.SX:
    """The rate of centroidal momentum that is asked for, angular [N m] and along x and z [N]: the motion
    reference planner. A spring and a damper pull the centre of mass to its path [m]; the horizontal part is
    saturated; angular momentum is taken out."""
    axes = list(body.axes)
    at, speed = body.com[axes], body.com_rate[axes]
    path_rate = ca.jacobian(path, time)
    stiffness = sx(k.com_stiffness)
    damping = 2 * sx(k.damping_ratio) * ca.sqrt(body.mass * stiffness)
    rate = stiffness * (path - at) + damping * (path_rate - speed) + body.mass * ca.jacobian(path_rate, time)
    spin = -sx(k.spin_gain) * body.momentum[1]
    return ca.vertcat(spin, limit_to(rate[0], k.momentum_limit), rate[1])


def _foot_task(foot: str, signals: SteppingSignals, k: MomentumGains, *, hard: bool) -> FrameTask:
    """The task of a foot that follows its reference, whether it swings or stands."""
    return FrameTask(
        frame=foot,
        target=signals.positions[foot],
        rate=signals.velocities[foot],
        acceleration=signals.accelerations[foot],
        stiffness=k.feet_stiffness,
        damping=2 * sx(k.damping_ratio) * ca.sqrt(sx(k.feet_stiffness)),
        weight=k.feet_weight,
        hard=hard,
        name=foot,
    )


__all__ = ["MomentumGains", "momentum_stepping"]
