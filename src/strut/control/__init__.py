"""How a machine is controlled: references over time, servos that follow them, and what holds a gait. A
controlled machine is a `System` again.

What holds a gait reads gaits and designs, and is imported when it is first asked for: machines with servos
are described without them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from strut.control.reference import ReferenceSignal, minimum_jerk, sine, spline, table
from strut.control.servo import servo

if TYPE_CHECKING:
    from strut.control.held_gait import Compared, HeldGait
    from strut.control.impedance import track
    from strut.control.regulator import lqr
    from strut.control.step_regulator import step_lqr

_HOME_OF = {
    "Compared": "held_gait",
    "HeldGait": "held_gait",
    "lqr": "regulator",
    "step_lqr": "step_regulator",
    "track": "impedance",
}
"""By name, the file of what holds a gait."""


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'strut.control' has no attribute '{name}'")
    return getattr(importlib.import_module(f"strut.control.{_HOME_OF[name]}"), name)


__all__ = [
    "Compared",
    "HeldGait",
    "ReferenceSignal",
    "lqr",
    "minimum_jerk",
    "servo",
    "sine",
    "spline",
    "step_lqr",
    "table",
    "track",
]
