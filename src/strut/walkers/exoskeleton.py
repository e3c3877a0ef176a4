"""A human in an exoskeleton: linkages along both legs, closed over hips and knees (Kieboom, chapter 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from strut.checks import checked
from strut.contact import Ground
from strut.errors import ModelError
from strut.linkage import (
    Topology,
    add_joint_motors,
    add_linkage,
    add_springs,
    carrying_angles,
    follow_postures,
    human_leg,
    joint_angles,
    linkage_parameters,
    sketch_values,
    spring_parameters,
)
from strut.linkage.measures import ACTUATOR_MASS
from strut.linkage.spanning_tree import spanning_tree
from strut.system import Expression, Param, System
from strut.walkers.human import (
    HUMAN_HEIGHT,
    POSTURE,
    SINK,
    body_size,
    build_human,
)
from strut.walkers.worn_machine import SIDES, STABILISE, check_ground, stand_on_ground


@checked
def exoskeleton(
    topology: Topology,
    design: np.ndarray | None = None,
    actuators: Sequence[str] = (),
    *,
    ground: str = "rigid",
    surface: Ground | None = None,
    friction: Expression | None = None,
    stabilise: Expression = STABILISE,
    **values: Any,
) -> System:
    """The human of `walkers.human` in an exoskeleton: the same linkage along both legs.

    topology: between the bodies of `linkage.human_leg()`. design: values of `linkage.pin_parameters`; without
        them those of a sketch. actuators: joints that weigh 2 kg instead of 0.5. ground: 'rigid', whose feet
        land and leave in events; or 'soft', for populations and fixed steps: Hunt and Crossley's law without
        events. surface: of the ground, level unless given. friction: Coulomb's coefficient of rigid ground;
        None, the default, lets feet hold without limit, as derivatives and plans need (`walkers.human` has
        0.8). Soft ground has the parameter `friction`, 0.8. stabilise:
        rate at which drift of loops and feet is pulled back [1/s]. values: of parameters and states.

    Hips and knees are passive. Every joint J of the linkage may have a spring and a damper: parameters
    J_spring_stiffness, J_spring_rest and J_spring_damping, 0 unless told; what it stores is J_r_spring and
    J_l_spring of the ledger. Inputs are J_r_motor_torque and J_l_motor_torque of every joint J of the
    linkage, whether it carries a link or closes a loop, and the torques of the ankles. Parameters are those
    of the human, of pins and of masses: both legs share them. Forces between human and machine are outputs:
    J_r_reaction_x and J_r_reaction_z [N] of joints by which links hang on the body, J_pin_r_x and J_pin_r_z
    of joints that close loops.
    """
    check_ground(ground, friction)
    if topology.limb != human_leg():
        raise ModelError(
            "the topology is of another limb: an exoskeleton is made of linkage.topologies("
            "linkage.human_leg(), ...)"
        )
    numbers = np.reshape(sketch_values(topology) if design is None else design, (1, -1))
    parameters = linkage_parameters(topology, numbers)
    for joint in actuators:
        name = f"{joint}_mass"
        if name not in parameters:
            raise ModelError(f"actuators has '{joint}': the linkage has {', '.join(topology.joints)}")
        parameters[name] = Param(name, ACTUATOR_MASS, "kg", bounds=(0, 50))
    size = body_size()
    m = build_human(size, 0.0 if ground == "rigid" else SINK)
    m.name = "exoskeleton"
    springs = spring_parameters(topology)
    for side, begin in zip(SIDES, _initial_angles(topology, numbers), strict=True):
        bodies = {
            body: m.bodies[body if body == "trunk" else f"{body}{side}"] for body in topology.limb.bodies
        }
        add_linkage(
            m,
            topology,
            bodies,
            parameters,
            suffix=side,
            scale=size.height.sym / HUMAN_HEIGHT,
            initial=begin,
        )
        add_springs(m, topology, springs, suffix=side)
    walker = stand_on_ground(
        m,
        size,
        ground=ground,
        surface=surface,
        friction=friction,
        reactions=[f"{joint}{side}" for side in SIDES for joint in hanging_joints(topology)],
        stabilise=stabilise,
        description="a human in an exoskeleton, a linkage along each leg",
    )
    motors = {name: weights for side in SIDES for name, weights in joint_angles(topology, side).items()}
    return add_joint_motors(walker, motors).using(values)


def _initial_angles(topology: Topology, numbers: np.ndarray) -> list[dict[str, float]]:
    """Return by leg the angles of the joints that carry links, closed over the posture that a run begins in;
    raises ModelError where the linkage does not assemble there."""
    angles = []
    for side in SIDES:
        posture = np.array([[POSTURE[f"{joint}{side}"] for joint in topology.limb.joints]])
        motion = follow_postures(topology, numbers, posture)
        if not motion.assembles[0]:
            raise ModelError(
                f"the linkage does not assemble with hip and knee at {posture[0].tolist()} rad, where a run "
                "begins: screen designs along postures first (linkage.follow_postures)"
            )
        angles.append({joint: float(a[0, 0]) for joint, a in carrying_angles(motion).items()})
    return angles


def hanging_joints(topology: Topology) -> list[str]:
    """Return the joints by which links hang on the body."""
    carried = spanning_tree(topology).carried.values()
    return [joint for joint, part in carried if part in topology.limb.bodies]


@checked
def exoskeleton_attachments(topology: Topology) -> dict[str, tuple[str, str]]:
    """Return by joint and side (as "j1_r") the outputs of `exoskeleton` that are the force between human and
    machine there, along x and z [N]: of all joints by which a link is attached to the body."""
    outputs: dict[str, tuple[str, str]] = {}
    for side in SIDES:
        for joint in hanging_joints(topology):
            outputs[f"{joint}{side}"] = (f"{joint}{side}_reaction_x", f"{joint}{side}_reaction_z")
        for joint, ends in spanning_tree(topology).closing.items():
            if set(ends) & set(topology.limb.bodies):
                outputs[f"{joint}{side}"] = (f"{joint}_pin{side}_x", f"{joint}_pin{side}_z")
    return outputs


__all__ = ["exoskeleton", "exoskeleton_attachments"]
