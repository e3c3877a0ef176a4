"""`add_joint_motors`: motors in any joint of a linkage, also in one that closes a loop and so has no
coordinate of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import Input, System, join


@checked
def add_joint_motors(system: System, angles: Mapping[str, Mapping[str, float]]) -> System:
    """Return a system whose inputs are torques along sums of joint angles, instead of along each of them.

    angles: by motor, the weights of the joints whose angles make its own, as `joint_angles` says them; a
        joint of the machine stands for itself by {"hip_r": {"hip_r": 1.0}}.

    Motor M becomes the input M_motor_torque [N m], which supplies power by this name. The inputs NAME_torque
    of all joints that are named are gone; a joint that no motor turns alone is passive.
    """
    named = {joint for weights in angles.values() for joint in weights}
    inputs = {q.name: q for q in system.u}
    motors = {name: Input(f"{name}_motor_torque", 0.0, "N m") for name in angles}
    torques = {joint: ca.SX(0) for joint in sorted(named)}
    for name, weights in angles.items():
        if not weights:
            raise ModelError(f"motor '{name}' turns nothing: give weights of joints, {{'hip': 1.0}}")
        for joint, weight in weights.items():
            if f"{joint}_torque" not in inputs:
                raise UnknownNameError(
                    f"motor '{name}' turns '{joint}', but '{system.name}' has no input '{joint}_torque': "
                    f"{did_you_mean(f'{joint}_torque', list(inputs))}"
                )
            torques[joint] = torques[joint] + weight * motors[name].sym
    extended = system.replace(u=(*system.u, *motors.values()))
    connect = {f"{joint}_torque": torque for joint, torque in torques.items()}
    driven = join(system.name, extended, connect=connect, description=system.description)
    # the account names what each motor supplies: torque times the rate of the sum of angles
    supplied = {name: power for name, power in driven.ledger.supplied.items() if name not in connect}
    for name, weights in angles.items():
        rate = sum((weight * driven[f"{joint}_rate"] for joint, weight in weights.items()), ca.SX(0))
        supplied[motors[name].name] = motors[name].sym * rate
    return driven.replace(ledger=replace(driven.ledger, supplied=supplied))


__all__ = ["add_joint_motors"]
