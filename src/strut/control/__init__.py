"""How a machine is controlled: references over time, servos that follow them, and what holds a gait. A
controlled machine is a `System` again."""

from strut.control.held_gait import Compared, HeldGait
from strut.control.lqr import lqr
from strut.control.reference import ReferenceSignal, minimum_jerk, sine, spline, table
from strut.control.servo import servo
from strut.control.step_lqr import step_lqr
from strut.control.track import track

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
