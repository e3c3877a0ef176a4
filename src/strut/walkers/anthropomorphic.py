"""The rival of linkages: an exoskeleton whose bars lie along thigh and shank, with actuators at hip and
knee."""

from __future__ import annotations

from typing import Any

import casadi as ca

from strut.checks import checked
from strut.contact import Ground
from strut.linkage import add_joint_motors
from strut.linkage.build import link_body
from strut.linkage.measures import ACTUATOR_MASS, BAR_DENSITY, PASSIVE_MASS
from strut.mechanism import Mechanism, constraints, joints
from strut.system import Expression, Param, System, sx
from strut.walkers.human import (
    FLEXION,
    POSTURE,
    SEGMENTS,
    SINK,
    BodySize,
    body_size,
    build_human,
)
from strut.walkers.worn_machine import SIDES, STABILISE, check_ground, stand_on_ground

BAR_JOINTS = {"hip": "thigh", "knee": "shank"}
"""By joint of the leg that a joint of the machine is at, the segment along which the bar below it lies."""
DEFAULT_CUFF_PLACE = 0.6
"""[1] Where a cuff holds its segment, as the share of it from its upper end."""


@checked
def anthropomorphic_exoskeleton(
    *,
    ground: str = "rigid",
    surface: Ground | None = None,
    friction: Expression | None = None,
    stabilise: Expression = STABILISE,
    **values: Any,
) -> System:
    """The human of `walkers.human` in an exoskeleton that is built like its legs: what `walkers.exoskeleton`
    is to be compared with.

    ground: 'rigid', whose feet land and leave in events; or 'soft', for populations and fixed steps: Hunt and
    Crossley's law without events. There bars are parts of the segments that they are cuffed to, which moves
    alike; what cuffs push follows from the balance of each bar. surface: of the ground, level unless given.
    friction: Coulomb's coefficient of rigid ground; None holds without limit; of soft ground it is the
    parameter `friction`. stabilise: rate at which drift of cuffs and feet is pulled back [1/s]. values: of
    parameters and states.

    Of each leg a bar as long as the thigh turns at the hip, on a mount that is fixed to the trunk, and one as
    long as the shank at the knee; a cuff on each bar slides along its segment of the leg and pushes across
    it. Bars, actuators and passive joints weigh as those of linkages: bar_density [kg/m], bar_hip_mass and
    bar_knee_mass, 2 kg, and thigh_cuff_mass and shank_cuff_mass, 0.5 kg, since every place by which a linkage
    is attached is a passive joint too. thigh_cuff and shank_cuff: where cuffs are, as shares of the segments.

    Hips and knees of the human are passive. Inputs are bar_hip_r_motor_torque, bar_knee_r_motor_torque, those
    of the left leg, flexion positive, and the torques of the ankles. Forces between human and machine are
    outputs: bar_hip_r_reaction_x and bar_hip_r_reaction_z of the mount, thigh_cuff_r_across and
    shank_cuff_r_across [N].
    """
    check_ground(ground, friction)
    size = body_size()
    m = build_human(size, 0.0 if ground == "rigid" else SINK)
    m.name = "anthropomorphic_exoskeleton"
    parameters = _parameters()  # kept while their symbols are used
    for side in SIDES:
        _add_bars(m, side, size, parameters, cuffed=ground == "rigid")
    motors: dict[str, dict[str, float]] = {}
    for name in [f"{joint}{side}" for side in SIDES for joint in BAR_JOINTS]:
        # the human's own joints are named with no weight where bars have joints: they have no input then
        motors[f"bar_{name}"] = {f"bar_{name}": 1.0, name: 0.0} if ground == "rigid" else {name: 1.0}
    walker = stand_on_ground(
        m,
        size,
        ground=ground,
        surface=surface,
        friction=friction,
        reactions=[
            name
            for side in SIDES
            for name in (["bar_hip" + side] if ground == "rigid" else _weld_names(side).values())
        ],
        stabilise=stabilise,
        description="a human in an exoskeleton that is built like its legs",
    )
    worn = add_joint_motors(walker, motors)
    return (worn if ground == "rigid" else _with_cuff_forces(worn)).using(values)


def _weld_names(side: str) -> dict[str, str]:
    """Return by segment the joint by which the bar of a leg is a part of it."""
    return {segment: f"{segment}_bar_weld{side}" for segment in BAR_JOINTS.values()}


def _with_cuff_forces(walker: System) -> System:
    """Return a machine whose bars are parts of segments, with the forces that mounts and cuffs would have if
    bars had joints of their own: from the balance of each bar, the lower one first. What a weld passes on is
    what a bar needs to move so, without the torques of its motors, which turn the segments here."""
    outputs = dict(walker.outputs)
    units = dict(walker.output_units)
    torques = {q.name: q.sym for q in walker.u}
    for side in SIDES:
        below, torque_below, knee = ca.SX.zeros(2), ca.SX(0), ca.SX.zeros(2)
        for joint, segment in reversed(BAR_JOINTS.items()):
            weld = _weld_names(side)[segment]
            need = ca.vertcat(*[outputs.pop(f"{weld}_reaction_{axis}") for axis in "xz"])
            moment = outputs.pop(f"{weld}_reaction_my")
            for axis in ("x", "z", "my"):
                units.pop(f"{weld}_reaction_{axis}", None)
            top, cuff = (_place(walker, f"{segment}_{name}{side}") for name in ("top", "cuff_on_bar"))
            lever = cuff - top
            up = -lever / ca.norm_2(lever)
            across = ca.vertcat(up[1], -up[0])  # of y and the segment's axis, as of `constraints.slot`
            torque = FLEXION[joint][1] * torques[f"bar_{joint}{side}_motor_torque"]
            # the bar below hangs on the end of this one, and its motor turns back
            carried = _moment(knee - top, below) if joint == "hip" else ca.SX(0)
            push = (moment - torque + torque_below + carried) / _moment(lever, across)
            below, torque_below, knee = need + below - push * across, torque, top
            # what the cuff does to the segment, as a slot tells it
            outputs[f"{segment}_cuff{side}_across"] = push
            units[f"{segment}_cuff{side}_across"] = "N"
        for axis, force in zip("xz", (below[0], below[1]), strict=True):
            outputs[f"bar_hip{side}_reaction_{axis}"] = force
            units[f"bar_hip{side}_reaction_{axis}"] = "N"
    return walker.replace(outputs=outputs, output_units=units)


def _place(walker: System, frame: str) -> ca.SX:
    """Where a frame is, x and z [m]."""
    return ca.vertcat(*[sx(walker.outputs[f"{frame}_{axis}"]) for axis in "xz"])


def _moment(lever: ca.SX, force: ca.SX) -> ca.SX:
    """The moment about y of a force at a lever [N m]."""
    return lever[1] * force[0] - lever[0] * force[1]


def _parameters() -> dict[str, Param]:
    """Masses, and where cuffs are."""
    parameters = [Param("bar_density", BAR_DENSITY, "kg/m", bounds=(1e-6, 100))]
    for joint, segment in BAR_JOINTS.items():
        parameters += [
            Param(f"bar_{joint}_mass", ACTUATOR_MASS, "kg", bounds=(0, 50)),
            Param(f"{segment}_cuff_mass", PASSIVE_MASS, "kg", bounds=(0, 50)),
            Param(
                f"{segment}_cuff", DEFAULT_CUFF_PLACE, bounds=(0.05, 1), description="share of the segment"
            ),
        ]
    return {each.name: each for each in parameters}


def _add_bars(m: Mechanism, side: str, size: BodySize, parameters: dict[str, Param], *, cuffed: bool) -> None:
    """Add the bars of a leg with their joints and cuffs; where they are not cuffed, as parts of the leg."""
    symbols = {name: q.sym for name, q in parameters.items()}
    above, at = m.bodies["trunk"], ca.SX(0)
    for joint, segment in BAR_JOINTS.items():
        length = SEGMENTS[segment][1] * size.height.sym
        cuff = symbols[f"{segment}_cuff"] * length
        places = {
            "top": ca.SX([0, 0]),
            "end": ca.vertcat(0, -length),
            "cuff": ca.vertcat(0, -cuff),
        }
        masses = {"top": symbols[f"bar_{joint}_mass"], "cuff": symbols[f"{segment}_cuff_mass"]}
        bar = link_body(m, f"{segment}_bar{side}", places, [("top", "end")], masses, symbols["bar_density"])
        own = m.connections[f"{joint}{side}"]
        m.frame(f"{segment}_cuff_on_bar{side}", bar, (0, 0, -cuff))
        m.frame(f"{segment}_top{side}", m.bodies[f"{segment}{side}"], (0, 0, 0))
        if not cuffed:
            m.joint(f"{segment}_bar_weld{side}", own.child, bar, joints.fixed())
            continue
        m.joint(
            f"bar_{joint}{side}",
            above,
            bar,
            joints.revolute(FLEXION[joint]),
            at=(0, 0, at),
            initial=POSTURE[f"{joint}{side}"],
            rate=own.initial_rate[0] if own.initial_rate else 0.0,
        )
        m.constrain(
            constraints.slot(
                f"{segment}_cuff{side}", f"{segment}_cuff_on_bar{side}", f"{segment}_top{side}", "z"
            )
        )
        above, at = bar, -length


@checked
def anthropomorphic_attachments() -> dict[str, tuple[str, ...]]:
    """Return by place and side the outputs of `anthropomorphic_exoskeleton` that are the force between human
    and machine there [N]: x and z of the mount at the hip, and what a cuff pushes across its segment."""
    outputs: dict[str, tuple[str, ...]] = {}
    for side in SIDES:
        outputs[f"bar_hip{side}"] = (f"bar_hip{side}_reaction_x", f"bar_hip{side}_reaction_z")
        for segment in BAR_JOINTS.values():
            outputs[f"{segment}_cuff{side}"] = (f"{segment}_cuff{side}_across",)
    return outputs


__all__ = ["anthropomorphic_attachments", "anthropomorphic_exoskeleton"]
