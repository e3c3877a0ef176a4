"""Springs and dampers in the joints of a linkage, also in those that close loops: passive joints that store
energy and give it back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import casadi as ca

from strut.checks import checked
from strut.errors import UnknownNameError
from strut.linkage.build import joint_angles
from strut.linkage.topology import Topology
from strut.mechanism import Mechanism, forces
from strut.mechanism.tree import Tree
from strut.system import Param

MAX_SPRING_STIFFNESS, MAX_SPRING_DAMPING = 1e5, 1e4
"""[N m/rad, N m s/rad] That a spring's parameters may have."""
MAX_REST_ANGLE = 10.0
"""[rad] That the angle may have at which a spring is slack."""


@checked
def spring_parameters(topology: Topology) -> dict[str, Param]:
    """Return the parameters of springs in all joints of a linkage, by name: of joint J J_spring_stiffness
    [N m/rad], J_spring_rest [rad], the joint's angle at which it is slack, counted from the reference
    posture, and J_spring_damping [N m s/rad]. They are 0 unless told: no spring."""
    parameters = [
        each
        for joint in topology.joints
        for each in (
            Param(f"{joint}_spring_stiffness", 0.0, "N m/rad", bounds=(0, MAX_SPRING_STIFFNESS)),
            Param(f"{joint}_spring_rest", 0.0, "rad", bounds=(-MAX_REST_ANGLE, MAX_REST_ANGLE)),
            Param(f"{joint}_spring_damping", 0.0, "N m s/rad", bounds=(0, MAX_SPRING_DAMPING)),
        )
    ]
    return {each.name: each for each in parameters}


@checked
def add_springs(
    mechanism: Mechanism, topology: Topology, parameters: Mapping[str, Param], *, suffix: str = ""
) -> None:
    """Put a spring with a damper into every joint of a linkage that a mechanism has.

    parameters: of `spring_parameters`; two legs may share them. suffix: of the names of the linkage's joints,
        as of `add_linkage`.

    Joint J has the force J_spring (with a suffix J_r_spring): what it stores stands in the ledger by this
    name, what its damper takes as J_spring_loss. The angle of a joint that closes a loop is a sum of others
    (`joint_angles`).
    """
    for joint in topology.joints:
        names = [f"{joint}_spring_{what}" for what in ("stiffness", "rest", "damping")]
        for name in names:
            if name not in parameters:
                raise UnknownNameError(
                    f"springs lack the parameter '{name}': give those of linkage.spring_parameters"
                )
        stiffness, rest, damping = (parameters[name] for name in names)
        angle = partial(_weighted_angle, weights=joint_angles(topology, suffix)[f"{joint}{suffix}"])
        mechanism.force(
            forces.line(f"{joint}{suffix}_spring", angle, stiffness, (rest, rest), damping=damping)
        )


def _weighted_angle(tree: Tree, weights: Mapping[str, float]) -> ca.SX:
    """A sum of joint angles [rad]."""
    return sum((weight * tree.q[tree.q_of[name].start] for name, weight in weights.items()), ca.SX(0))


__all__ = ["add_springs", "spring_parameters"]
