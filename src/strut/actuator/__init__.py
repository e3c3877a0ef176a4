"""How a machine is driven: rigidly, or with springs in series with its motors or beside them. Each takes a
`System` and gives one."""

from strut.actuator.drives import Drive, drives
from strut.actuator.kinds import KINDS, constants, driven
from strut.actuator.parallel import parallel
from strut.actuator.series import series

__all__ = ["KINDS", "Drive", "constants", "driven", "drives", "parallel", "series"]
