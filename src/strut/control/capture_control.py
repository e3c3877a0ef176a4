"""`capture_stepping`: a machine in space on two feet with soles, that stands, and steps where it is
pushed, by whole-body control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.control.body_model import BodyModel
from strut.control.constants import check_not_negative, check_positive, numbers_as_parameters
from strut.control.inverted_pendulum import pendulum_rate
from strut.control.qp_controller import QpController
from strut.control.spatial_stepping import (
    HORIZONTAL,
    CaptureStepping,
    SpatialSignals,
    SpatialState,
    spatial_stepping_signals,
)
from strut.control.stepping_parts import leaving_contacts
from strut.control.tasks import CentreOfMassTask, FrameTask, MomentumTask, OrientationTask, PostureTask, Task
from strut.control.whole_body_control import whole_body
from strut.errors import ModelError
from strut.system import Expression, sx, time

LEVEL_SLACK = 1e-3
"""[m] By how much corners of a sole may differ in height, and soles in size, when a run begins."""


@checked
@dataclass(frozen=True, kw_only=True)
class CaptureGains:
    """Limits, weights and gains of `capture_stepping`. Numbers become parameters of these names. What depends
    on the machine must be given.

    torque_limit: of every motor [N m]. force_limit: of each component of a corner's force [N].
    com_stiffness: with which the centre of mass is drawn to the middle between the feet while both stand, and
        to its height [1/s^2]; critically damped.
    feet_stiffness, chest_stiffness: acceleration per distance or angle [1/s^2], critically damped.
    spin_gain: rate with which angular momentum is taken out [1/s].
    com_weight, feet_weight, chest_weight: of half the squared misses of accelerations [1/(m/s^2)^2,
        1/(rad/s^2)^2]. spin_weight: of the rate of angular momentum [1/(N m)^2]. posture_weight: of joints
        that are drawn to where they begin [1/(rad/s^2)^2].
    friction: that the forces of the program keep to. unload: [1] part of a step's time in which the foot that
        leaves is given no force though it may still touch.
    """

    torque_limit: Expression
    force_limit: Expression
    com_stiffness: Expression = 40.0
    feet_stiffness: Expression = 400.0
    chest_stiffness: Expression = 100.0
    spin_gain: Expression = 3.0
    com_weight: Expression = 1.0
    feet_weight: Expression = 100.0
    chest_weight: Expression = 1.0
    spin_weight: Expression = 1e-3
    posture_weight: Expression = 1e-3
    friction: Expression = 0.6
    unload: Expression = 0.5

    def __post_init__(self) -> None:
        for each in fields(self):
            name, value = f"{each.name} of capture stepping", getattr(self, each.name)
            check = check_positive if each.name.endswith("_limit") else check_not_negative
            check(name, value)


@checked
def capture_stepping(  # noqa: PLR0913 what a controller can be asked, each by its own name
    body: BodyModel,
    *,
    soles: Mapping[str, Sequence[str]],
    chest: str,
    stepping: CaptureStepping,
    gains: CaptureGains,
    com_height: Expression | None = None,
    posture: Mapping[str, Expression] | None = None,
    every: float = 1e-3,
    name: str = "capture_stepping",
) -> QpController:
    """Return a controller of a machine in space on two feet with soles, on level ground at height 0.

    soles: by frame, at the middle of each sole, the frames of its corners. Both soles are alike, and their
        sides along x and y when a run begins, which directions they keep. chest: the frame that is kept
        upright. com_height: of the centre of mass [m]; that of the mechanism as it begins without any given.
        posture: by joint, where joints are weakly drawn to [rad]; where they begin without any given. every:
        the period [s].

    Both feet stand, and the centre of mass is drawn to the middle between them, until the extrapolated centre
    of mass leaves them (`CaptureStepping`). Then a foot swings to where it will be, while the other pushes
    where that brakes most. Steps go on until it is caught.

    Recorded outputs: com, xcom, FOOT_place and FOOT_reference [m]; in its memory swinging, steps, landing_x
    and landing_y. Raises ModelError for machines in a plane (`momentum_stepping`), and for soles that are not
    level, not alike or not two.
    """
    if body.mechanism.planar:
        raise ModelError(
            f"'{body.mechanism.name}' moves in a plane: capture stepping is for machines in space; take "
            f"`momentum_stepping`"
        )
    half = _half_sizes(body, soles)
    step, k = numbers_as_parameters(stepping), numbers_as_parameters(gains)
    height = sx(float(body.at(body.com)[2]) if com_height is None else com_height)
    places = {foot: body.position(foot) for foot in soles}
    heights = {foot: [body.position(corner)[2] for corner in corners] for foot, corners in soles.items()}
    rate = pendulum_rate(height, sx(body.mechanism.g))
    state = SpatialState(
        com=body.com,
        com_velocity=body.com_rate,
        soles=places,
        gaps={foot: ca.mmin(ca.vertcat(*each)) for foot, each in heights.items()},
        half_sizes=ca.SX(half),
        rate=rate,
    )
    signals = spatial_stepping_signals(step, state, t=time, first=places)
    acceleration = _com_acceleration(state, signals, k, height)
    tasks: list[Task] = [
        CentreOfMassTask(
            target=ca.vertcat(signals.middle, height),
            rate=ca.SX.zeros(3),
            acceleration=acceleration,
            stiffness=0.0,
            damping=0.0,
            weight=k.com_weight,
        ),
        MomentumTask(
            rate=-sx(k.spin_gain) * body.momentum[:3],
            of=("angular_x", "angular_y", "angular_z"),
            weight=k.spin_weight,
            name="spin",
        ),
        OrientationTask(
            frame=chest, target=ca.DM.eye(3), stiffness=k.chest_stiffness, weight=k.chest_weight, name="chest"
        ),
        PostureTask(target=posture, weight=k.posture_weight),
        *(task for foot in soles for task in _sole_tasks(body, foot, signals, k)),
    ]
    contacts = leaving_contacts(
        {foot: dict(zip(corners, heights[foot], strict=True)) for foot, corners in soles.items()},
        swinging=signals.swinging,
        clock=signals.clock,
        unload_time=sx(k.unload) * sx(step.step_time),
        gap=step.touch_gap,
        friction=k.friction,
        max_force=k.force_limit,
    )
    outputs = {"com": body.com, "xcom": state.xcom, "middle": signals.middle}
    outputs |= {f"{foot}_place": place for foot, place in places.items()}
    outputs |= {f"{foot}_reference": signals.positions[foot] for foot in soles}
    return whole_body(
        body,
        every=every,
        tasks=tasks,
        contacts=contacts,
        torque_limit=k.torque_limit,
        memory=tuple(signals.memory),
        update={z.name: e for z, e in signals.memory.items()},
        outputs=outputs,
        name=name,
    )


def _com_acceleration(state: SpatialState, signals: SpatialSignals, k: CaptureGains, height: ca.SX) -> ca.SX:
    """What is asked of the centre of mass [m/s^2]: on both feet a spring and a damper to the middle between
    them; on one foot what a pendulum does that pushes where it brakes most."""
    stiffness = sx(k.com_stiffness)
    goal = ca.vertcat(signals.middle, height)
    spring = stiffness * (goal - state.com) - 2 * ca.sqrt(stiffness) * state.com_velocity
    swings = signals.swinging > 0
    falling = state.rate**2 * (state.com[HORIZONTAL, :] - signals.pressure)
    return ca.vertcat(ca.if_else(swings, falling, spring[HORIZONTAL, :]), spring[2])


def _sole_tasks(body: BodyModel, foot: str, signals: SpatialSignals, k: CaptureGains) -> list[Task]:
    """The tasks of a sole that follows its reference, level and in the direction that it began with."""
    return [
        FrameTask(
            frame=foot,
            target=signals.positions[foot],
            rate=signals.velocities[foot],
            acceleration=signals.accelerations[foot],
            stiffness=k.feet_stiffness,
            weight=k.feet_weight,
            name=foot,
        ),
        OrientationTask(
            frame=foot,
            target=ca.DM(np.asarray(body.at(body.rotation(foot)))),
            stiffness=k.feet_stiffness,
            weight=k.feet_weight,
            name=f"{foot}_level",
        ),
    ]


def _half_sizes(body: BodyModel, soles: Mapping[str, Sequence[str]]) -> np.ndarray:
    """Half the length and half the width of both soles [m]. Raises ModelError where they are not two, not
    level or not alike."""
    if len(soles) != 2:
        raise ModelError(f"capture stepping has {len(soles)} soles, {', '.join(soles)}: it steps with two")
    sizes = []
    for foot, corners in soles.items():
        if len(corners) < 3:
            raise ModelError(
                f"sole '{foot}' has {len(corners)} corners: three or more are needed to stand on it"
            )
        spread = np.array([body.at(body.position(corner) - body.position(foot)) for corner in corners])
        if np.ptp(spread[:, 2]) > LEVEL_SLACK:
            raise ModelError(
                f"sole '{foot}' is not level: its corners differ in height by {np.ptp(spread[:, 2]):.3g} m; "
                f"begin with ankles that hold it level"
            )
        sizes.append(np.ptp(spread[:, :2], axis=0) / 2)
    if np.abs(sizes[0] - sizes[1]).max() > LEVEL_SLACK:
        raise ModelError(
            f"the soles {' and '.join(soles)} are not alike: half sizes {sizes[0].tolist()} and "
            f"{sizes[1].tolist()} m along x and y"
        )
    return np.asarray(sizes[0])


__all__ = ["CaptureGains", "capture_stepping"]
