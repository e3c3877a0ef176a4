"""Reflected inertia: the rotor of a motor that a rigid gear ties to its joint. The joint feels it multiplied
by the squared ratio."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from strut.actuator.drives import Drive
from strut.errors import ModelError
from strut.system import System, sx


def torques_behind_rotors(
    system: System, chosen: Sequence[Drive], torques: Sequence[ca.SX], inertias: Sequence[ca.SX]
) -> list[ca.SX]:
    """Return what is left of motor torques for the joints [N m], after the rotors that turn with them are
    accelerated.

    inertias: of the rotors, at the joints [kg m^2].
    Accelerations are linear in the torques, whoever described the machine: a' = a + A (torque - J a'); so
    they solve (1 + A J) a' = a + A torque. Raises ModelError where an event resets such a rate: an impact
    that stops a joint stops its rotor, too, which only who described the impact can work out.
    """
    for event in system.events:
        reset = ca.vertcat(*[q.sym for q in system.x if q.name in event.reset], ca.SX(0, 1))
        struck = next((d for d in chosen if ca.depends_on(d.rate, reset)), None)
        if struck is not None:
            raise ModelError(
                f"event '{event.name}' of '{system.name}' resets the rate of drive '{struck.name}': an "
                f"impact must stop the rotor behind its rigid gear, too. Give the motor a gear_stiffness or "
                f"a spring; or give the joint the rotor's inertia, joint(..., armature=motor.inertia), and "
                f"say armature=True here"
            )
    inputs = ca.vertcat(*[d.input.sym for d in chosen])
    x, flow = system.vector("x"), ca.vertcat(*[sx(system.flow[q.name]) for q in system.x])
    accelerations = ca.jacobian(ca.vertcat(*[d.rate for d in chosen]), x) @ flow
    gains = ca.jacobian(accelerations, inputs)
    if ca.depends_on(gains, inputs):
        raise ModelError(
            f"the accelerations of '{system.name}' are not linear in its inputs: a rigid gear's rotor cannot "
            f"be put to its joints; give the motor a gear_stiffness"
        )
    free = ca.substitute([accelerations], [inputs], [ca.SX.zeros(inputs.numel())])[0]
    J = ca.diag(ca.vertcat(*inertias))
    joint_accelerations = ca.solve(ca.SX.eye(len(chosen)) + gains @ J, free + gains @ ca.vertcat(*torques))
    return ca.vertsplit(ca.vertcat(*torques) - J @ joint_accelerations)


__all__ = ["torques_behind_rotors"]
