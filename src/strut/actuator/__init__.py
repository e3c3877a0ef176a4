"""How a machine is driven: rigidly, with springs in series with its motors or beside them, by motors with
windings and gears, or by a drive of one's own. Each takes a `System` and gives one."""

from typing import TYPE_CHECKING

from strut.import_on_demand import import_on_demand

if TYPE_CHECKING:
    from strut.actuator.dc_motors import dc_motors
    from strut.actuator.drives import Drive, drives
    from strut.actuator.kinds import KINDS, constants, driven
    from strut.actuator.motor import MOTORS, DcMotor, motor_named
    from strut.actuator.own import attach
    from strut.actuator.parallel import parallel
    from strut.actuator.series import series

__all__ = [
    "KINDS",
    "MOTORS",
    "DcMotor",
    "Drive",
    "attach",
    "constants",
    "dc_motors",
    "driven",
    "drives",
    "motor_named",
    "parallel",
    "series",
]

import_on_demand(
    __name__,
    {
        "dc_motors": ("dc_motors",),
        "drives": ("Drive", "drives"),
        "kinds": ("KINDS", "constants", "driven"),
        "motor": ("MOTORS", "DcMotor", "motor_named"),
        "own": ("attach",),
        "parallel": ("parallel",),
        "series": ("series",),
    },
)
