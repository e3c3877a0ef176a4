"""How a machine is controlled: references over time, servos that follow them, and what holds a gait. A
controlled machine is a `System` again.

What holds a gait reads gaits and designs, and is imported when it is first asked for: machines with servos
are described without them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from strut.control.current_servo import current_servo
from strut.control.inverted_pendulum import LinearPendulum, pendulum_rate
from strut.control.knee_latch import knee_latches
from strut.control.motion_player import MotionPlayer
from strut.control.phase_clock import TouchdownReset
from strut.control.phase_impedance import PhaseJoint, PhaseTables, phase_impedance, phase_tables
from strut.control.preview import CartMotion, ZmpPreview, stepped_zmp
from strut.control.reactive_stepping import ReactiveStepping, SteppingSignals, SteppingState, stepping_signals
from strut.control.reference import ReferenceSignal, minimum_jerk, sine, spline, table
from strut.control.servo import servo
from strut.control.spatial_stepping import CaptureStepping
from strut.control.step_feedback import foot_placement, step_feedback
from strut.control.swing import SWING_PROFILES, SwingMotion, swing_motion
from strut.control.walk_pattern import WalkPattern

if TYPE_CHECKING:
    from strut.control.body_model import BodyModel
    from strut.control.capture_control import CaptureGains, capture_stepping
    from strut.control.controlled_run import ControlledRun
    from strut.control.curve_field import curve_of, fitted_field, nearest_point_field
    from strut.control.curve_tracking import port_tracking
    from strut.control.effort import EffortWarning
    from strut.control.held_gait import Compared, HeldGait
    from strut.control.impedance import track
    from strut.control.input_limits import RequirementWarning
    from strut.control.kalman import EstimateQuality, Kalman
    from strut.control.leg_inverse import LegInverse
    from strut.control.momentum_control import MomentumGains, momentum_stepping
    from strut.control.motor_spring import MotorSpring, through_springs
    from strut.control.qp_controller import QpController
    from strut.control.qp_program import QpBound, QpGoal, QpRow, QpUnknown, QuadraticProgram
    from strut.control.qp_solvers import qp_solver_names
    from strut.control.regulator import lqr
    from strut.control.step_regulator import step_lqr
    from strut.control.tasks import (
        CentreOfMassTask,
        FrameTask,
        JointTask,
        MomentumTask,
        OrientationTask,
        PostureTask,
    )
    from strut.control.walk_motion import WalkMotion, zmp_walk
    from strut.control.whole_body_control import PointContact, body_unknowns, whole_body

_HOME_OF = {
    "BodyModel": "body_model",
    "QpBound": "qp_program",
    "CaptureGains": "capture_control",
    "CentreOfMassTask": "tasks",
    "Compared": "held_gait",
    "ControlledRun": "controlled_run",
    "EffortWarning": "effort",
    "RequirementWarning": "input_limits",
    "EstimateQuality": "kalman",
    "FrameTask": "tasks",
    "QpGoal": "qp_program",
    "HeldGait": "held_gait",
    "JointTask": "tasks",
    "Kalman": "kalman",
    "LegInverse": "leg_inverse",
    "MomentumGains": "momentum_control",
    "MomentumTask": "tasks",
    "MotorSpring": "motor_spring",
    "OrientationTask": "tasks",
    "PointContact": "whole_body_control",
    "PostureTask": "tasks",
    "QpController": "qp_controller",
    "QpRow": "qp_program",
    "QuadraticProgram": "qp_program",
    "WalkMotion": "walk_motion",
    "QpUnknown": "qp_program",
    "body_unknowns": "whole_body_control",
    "capture_stepping": "capture_control",
    "curve_of": "curve_field",
    "fitted_field": "curve_field",
    "lqr": "regulator",
    "nearest_point_field": "curve_field",
    "port_tracking": "curve_tracking",
    "momentum_stepping": "momentum_control",
    "step_lqr": "step_regulator",
    "qp_solver_names": "qp_solvers",
    "through_springs": "motor_spring",
    "track": "impedance",
    "whole_body": "whole_body_control",
    "zmp_walk": "walk_motion",
}
"""By name, the file of what is imported when it is first asked for."""


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'strut.control' has no attribute '{name}'")
    return getattr(importlib.import_module(f"strut.control.{_HOME_OF[name]}"), name)


__all__ = [
    "SWING_PROFILES",
    "BodyModel",
    "CaptureGains",
    "CaptureStepping",
    "CartMotion",
    "CentreOfMassTask",
    "Compared",
    "ControlledRun",
    "EffortWarning",
    "EstimateQuality",
    "FrameTask",
    "HeldGait",
    "JointTask",
    "Kalman",
    "LegInverse",
    "LinearPendulum",
    "MomentumGains",
    "MomentumTask",
    "MotionPlayer",
    "MotorSpring",
    "OrientationTask",
    "PhaseJoint",
    "PhaseTables",
    "PointContact",
    "PostureTask",
    "QpBound",
    "QpController",
    "QpGoal",
    "QpRow",
    "QpUnknown",
    "QuadraticProgram",
    "ReactiveStepping",
    "ReferenceSignal",
    "RequirementWarning",
    "SteppingSignals",
    "SteppingState",
    "SwingMotion",
    "TouchdownReset",
    "WalkMotion",
    "WalkPattern",
    "ZmpPreview",
    "body_unknowns",
    "capture_stepping",
    "current_servo",
    "curve_of",
    "fitted_field",
    "foot_placement",
    "knee_latches",
    "lqr",
    "minimum_jerk",
    "momentum_stepping",
    "nearest_point_field",
    "pendulum_rate",
    "phase_impedance",
    "phase_tables",
    "port_tracking",
    "qp_solver_names",
    "servo",
    "sine",
    "spline",
    "step_feedback",
    "step_lqr",
    "stepped_zmp",
    "stepping_signals",
    "swing_motion",
    "table",
    "through_springs",
    "track",
    "whole_body",
    "zmp_walk",
]
