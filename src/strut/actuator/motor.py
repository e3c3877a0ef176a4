"""`DcMotor`: the numbers of a motor with its gear, as data sheets print them; and motors by catalogue
name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields

from strut.checks import checked, is_number, short_repr
from strut.errors import UnknownNameError, ValueRangeError, did_you_mean

POSITIVE = ("resistance", "torque_constant", "rotor_inertia", "gear_ratio")
"""Numbers of a motor that must be above zero, and finite."""
NOT_NEGATIVE = ("inductance", "gear_inertia", "viscous", "coulomb", "stiction")
"""Numbers of a motor that may be zero, and must be finite."""
LIMITS = ("gear_stiffness", "voltage_limit", "current_limit")
"""Numbers of a motor that must be above zero, and may be infinite."""


@checked
@dataclass(frozen=True, kw_only=True)
class DcMotor:
    """A DC motor, brushed or seen through its commutation, with its gear.

    resistance: of the winding, and of what feeds it [ohm]. inductance: of the winding [H].
    torque_constant: torque per current [N m/A], which in SI units is the back-EMF per speed [V s/rad], too.
    rotor_inertia: of the rotor [kg m^2]. gear_inertia: of the gear, as the rotor feels it [kg m^2].
    gear_ratio: turns of the rotor per turn of the joint; per metre [rad/m] where it drives a length.
    viscous: friction of rotor and gear per speed of the rotor [N m s/rad].
    coulomb: friction of rotor and gear while they turn, as the rotor feels it [N m].
    stiction: the torque up to which they do not begin to turn [N m]; `coulomb` unless it is larger.
    gear_stiffness: of the gear, at the joint [N m/rad]; infinite for a rigid one.
    voltage_limit, current_limit: what the driver gives at most [V, A]; infinite for one without limit.
    source: where the numbers come from.
    """

    resistance: float
    torque_constant: float
    rotor_inertia: float
    gear_ratio: float = 1.0
    inductance: float = 0.0
    gear_inertia: float = 0.0
    viscous: float = 0.0
    coulomb: float = 0.0
    stiction: float = 0.0
    gear_stiffness: float = math.inf
    voltage_limit: float = math.inf
    current_limit: float = math.inf
    source: str = ""

    def __post_init__(self) -> None:
        for name in (*POSITIVE, *LIMITS):
            value = getattr(self, name)
            if not is_number(value) or not value > 0 or (name in POSITIVE and not math.isfinite(value)):
                unit = f" in {UNITS[name]}" if name in UNITS else ""
                raise ValueRangeError(
                    f"{name} of a motor is {short_repr(value)}: a positive number{unit} is needed"
                )
        for name in NOT_NEGATIVE:
            value = getattr(self, name)
            if not is_number(value) or not 0 <= value < math.inf:
                raise ValueRangeError(
                    f"{name} of a motor is {short_repr(value)}: zero or a positive number in {UNITS[name]} "
                    f"is needed"
                )
        if 0 < self.stiction < self.coulomb:
            raise ValueRangeError(
                f"stiction of a motor is {self.stiction:g} N m, below its coulomb friction of "
                f"{self.coulomb:g} N m: what holds at rest is at least what drags in motion, or leave it out"
            )

    @property
    def inertia(self) -> float:
        """The inertia of rotor and gear as the joint feels it [kg m^2]: what a rigid drive adds to a joint,
        where it is called armature."""
        return self.gear_ratio**2 * (self.rotor_inertia + self.gear_inertia)

    @property
    def damping(self) -> float:
        """Torque per speed of a motor with shorted terminals, at the joint [N m s/rad]: viscous friction and
        back-EMF."""
        return self.gear_ratio**2 * (self.viscous + self.torque_constant**2 / self.resistance)

    @property
    def voltage_gain(self) -> float:
        """Torque of the motor at rest per voltage, at the joint [N m/V]."""
        return self.gear_ratio * self.torque_constant / self.resistance

    @property
    def breakaway(self) -> float:
        """The torque at the rotor up to which it does not begin to turn [N m]."""
        return max(self.stiction, self.coulomb)

    def series_stiffness(self, spring: float = math.inf) -> float:
        """The stiffness of the gear in series with a spring [N m/rad]."""
        return 1 / (1 / self.gear_stiffness + 1 / spring) if spring > 0 else 0.0


UNITS: Mapping[str, str] = {
    "resistance": "ohm",
    "torque_constant": "N m/A",
    "rotor_inertia": "kg m^2",
    "inductance": "H",
    "gear_inertia": "kg m^2",
    "viscous": "N m s/rad",
    "coulomb": "N m",
    "stiction": "N m",
    "gear_stiffness": "N m/rad",
    "voltage_limit": "V",
    "current_limit": "A",
}
"""The units of a motor's numbers, by name."""

MOTORS: Mapping[str, DcMotor] = {
    "rbe1211-csd17": DcMotor(
        resistance=0.664,
        inductance=0.32e-3,
        torque_constant=0.041,
        rotor_inertia=5.4e-6,
        gear_inertia=8.47e-6,
        gear_ratio=100.0,
        viscous=1.9958e-5,
        gear_stiffness=8400.0,
        voltage_limit=40.0,
        current_limit=50.0,
        source=(
            "Kollmorgen RBE1211-A with harmonic drive CSD-17-2A, of COMAN's joints: HDallali/"
            "CoManRobotranSimulator, workR/RBE1211_CSD17_CoMan_drive.m, commit 6b3cc1b; the gear's is the "
            "least stiffness, to 13000 N m/rad. Dallali et al. fit a stiction of 0.6 V, which is 0.03705 N m"
        ),
    ),
    "maxon-re40-gp42c": DcMotor(
        resistance=0.317,
        inductance=0.0823e-3,
        torque_constant=0.0302,
        rotor_inertia=138e-7,
        gear_inertia=15e-7,
        gear_ratio=12.0,
        coulomb=0.137 * 0.0302,
        voltage_limit=24.0,
        current_limit=8.0,
        source=(
            "maxon RE 40, 150 W, 24 V (148867) with planetary gearhead GP 42 C, as commonly quoted from the "
            "maker's data sheets, of which there are several editions: compare with that of your motor. "
            "Friction is the no-load current of 137 mA. Dribbel's hip motor (Duindam, PhD thesis, section "
            "5.3), of which the thesis prints the limit of 8 A; the ratio of 12 is ours, it prints none"
        ),
    ),
}
"""Motors with their gears, by catalogue name."""


@checked
def motor_named(name: str) -> DcMotor:
    """A motor of the catalogue. Raises UnknownNameError for another name."""
    if name not in MOTORS:
        raise UnknownNameError(
            f"there is no motor '{name}' in the catalogue: {did_you_mean(name, list(MOTORS))}; one of your "
            f"own is actuator.DcMotor(resistance=..., torque_constant=..., rotor_inertia=..., ...)"
        )
    return MOTORS[name]


NUMBERS = tuple(f.name for f in fields(DcMotor) if f.name != "source")
"""The names of a motor's numbers."""

__all__ = ["MOTORS", "NUMBERS", "UNITS", "DcMotor", "motor_named"]
