"""The numbers of motors as parameters of a machine: which there are, what each means, and its bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from strut.actuator.drives import Drive, common_name
from strut.actuator.exchange import sides_of_joints
from strut.actuator.motor import UNITS, DcMotor
from strut.checks import is_number, short_repr
from strut.errors import ValueRangeError
from strut.system import Param, System

CURRENTS = ("absorbed", "state")
"""How the current of a motor is modelled: it follows voltage and speed at once, or it is a state."""
MAX_PARAMETER = 1e12
"""The largest value of a motor's parameter, in its own unit."""
MIN_PARAMETER = 1e-12
"""The smallest value of a motor's parameter that must be positive, in its own unit."""


@dataclass(frozen=True)
class MotorOptions:
    """How motors are put to joints; see `dc_motors`."""

    spring: float
    spring_damping: float
    link_damping: float
    printed_damping: bool
    current: str
    smooth: bool

    def check(self, motor: DcMotor) -> None:
        """Raise what is wrong."""
        if self.current not in CURRENTS:
            names = " and ".join(repr(word) for word in CURRENTS)
            raise ValueRangeError(f"current of motors is {self.current!r}: allowed are {names}")
        if not is_number(self.spring) or not self.spring > 0:
            raise ValueRangeError(
                f"spring of a motor is {short_repr(self.spring)}: a positive stiffness in N m/rad is needed; "
                f"leave it out for none"
            )
        for word in ("spring_damping", "link_damping"):
            value = getattr(self, word)
            if not is_number(value) or not 0 <= value < math.inf:
                raise ValueRangeError(
                    f"{word} of a motor is {short_repr(value)}: zero or a positive number in N m s/rad is "
                    f"needed"
                )
        if self.current == "state" and not motor.inductance > 0:
            raise ValueRangeError(
                f"the current is to be a state, and the inductance of the motor is {motor.inductance:g} H: "
                f"give a positive one, or current='absorbed'"
            )
        if self.printed_damping and not (math.isfinite(motor.gear_stiffness) or math.isfinite(self.spring)):
            raise ValueRangeError(
                "printed_damping puts the damping of the joint on the motor, too, and the motor of a rigid "
                "gear is the joint: give a spring or a gear_stiffness, or leave it out"
            )


def motor_parameters(
    system: System, chosen: Sequence[Drive], motor: DcMotor, options: MotorOptions
) -> list[dict[str, Param]]:
    """Return the numbers of every motor as parameters by the ending of their names; both sides of a joint
    share them."""
    values = {
        "gear_ratio": motor.gear_ratio,
        "resistance": motor.resistance,
        "torque_constant": motor.torque_constant,
        "rotor_inertia": motor.rotor_inertia + motor.gear_inertia,
        "viscous": motor.viscous,
    }
    if options.current == "state":
        values["inductance"] = motor.inductance
    if motor.breakaway > 0:
        values |= {"coulomb": motor.coulomb, "stiction": motor.breakaway}
    values |= {
        name: getattr(motor, name)
        for name in ("gear_stiffness", *(() if options.smooth else ("voltage_limit", "current_limit")))
        if math.isfinite(getattr(motor, name))
    }
    if math.isfinite(options.spring):
        values["series_spring"] = options.spring
    if math.isfinite(options.spring) or math.isfinite(motor.gear_stiffness):
        values["series_damping"] = options.spring_damping
    if options.link_damping > 0:
        values["link_damping"] = options.link_damping
    by_drive: dict[int, dict[str, Param]] = {}
    for sides in sides_of_joints(system, chosen):
        first, name = chosen[sides.members[0]], common_name([chosen[i].name for i in sides.members])
        units = {
            **UNITS,
            "gear_ratio": "rad/m" if first.unit == "m" else "",
            "gear_stiffness": first.stiffness_unit,
            "series_spring": first.stiffness_unit,
            "series_damping": first.damping_unit,
            "link_damping": first.damping_unit,
        }
        shared = {
            key: Param(f"{name}_{key}", value, units[key], (_min_value(key), MAX_PARAMETER), MEANINGS[key])
            for key, value in values.items()
        }
        by_drive |= dict.fromkeys(sides.members, shared)
    return [by_drive[i] for i in range(len(chosen))]


MEANINGS: Mapping[str, str] = {
    "gear_ratio": "turns of the rotor per turn of the joint",
    "resistance": "of the winding",
    "torque_constant": "torque per current, and back-EMF per speed of the rotor",
    "rotor_inertia": "of rotor and gear, at the rotor",
    "viscous": "friction per speed of the rotor",
    "inductance": "of the winding",
    "coulomb": "dry friction while the rotor turns",
    "stiction": "dry friction up to which the rotor rests",
    "voltage_limit": "of the driver",
    "current_limit": "of the driver",
    "gear_stiffness": "of the gear, at the joint",
    "series_spring": "between gear and joint",
    "series_damping": "of spring and gear",
    "link_damping": "of the joint",
}
"""What each parameter of a motor is, by the ending of its name."""
_MAY_BE_ZERO = ("viscous", "coulomb", "stiction", "series_damping", "link_damping")
"""Parameters that may be zero, by the ending of their names; the others must be positive."""


def _min_value(key: str) -> float:
    """Return the smallest value that a parameter may have."""
    return 0.0 if key in _MAY_BE_ZERO else MIN_PARAMETER


def joint_inertia(params: Mapping[str, Param]) -> ca.SX:
    """Return the inertia of rotor and gear as the joint feels it [kg m^2]."""
    return params["gear_ratio"].sym ** 2 * params["rotor_inertia"].sym


__all__ = ["CURRENTS", "MEANINGS", "MotorOptions", "joint_inertia", "motor_parameters"]
