"""How a machine is controlled: references over time, and servos that follow them. A controlled machine is a
`System` again."""

from strut.control.reference import ReferenceSignal, minimum_jerk, sine, spline, table
from strut.control.servo import servo

__all__ = ["ReferenceSignal", "minimum_jerk", "servo", "sine", "spline", "table"]
