"""Dribbel with what makes it walk on level ground: its motor, its hip controller, its knee latches and ground
that gives way (Duindam, section 5.3)."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from strut.actuator import MOTORS, dc_motors
from strut.checks import checked
from strut.contact import anchored, compliant, hunt_crossley, plane
from strut.control import current_servo, knee_latches
from strut.system import Param, System
from strut.walkers.duindam import FEET, dribbel_mechanism, half_leg
from strut.walkers.straight import slope

GEAR_RATIO = 81.0
"""[1] Of the hip's gear; the thesis prints none, and this one gives his cost of transport."""
CURRENT_LIMIT = 8.0
"""[A] Of the hip's driver."""
GROUND_STIFFNESS = 5e4
"""[N/m] Of the ground, along and across; not published."""
GROUND_DISSIPATION = 1.0
"""[s/m] Of Hunt and Crossley's law; not published."""
GROUND_DAMPING = 1e3
"""[N s/m] Along the ground; not published."""
FRICTION = 0.8
"""[1] Coulomb's coefficient under the feet; not published."""
LATCH = {"stiffness": 2000.0, "damping": 20.0}
"""[N m/rad, N m s/rad] Of the magnets that hold the knees, and of the stops; not published."""
FIRST_STATES = {
    "foot_z": -0.002435,
    "foot_z_rate": -0.01048,
    "foot_x_rate": -0.00372,
    "ankle": -0.09455,
    "ankle_rate": -1.0493,
    "knee_l": 0.00034,
    "knee_l_rate": 0.00456,
    "hip": 0.3385,
    "hip_rate": -3.795,
    "knee_r": 0.0,
    "knee_r_rate": 11.93,
    "foot_l_strain": -0.000185,
    "foot_l_on": 1.0,
    "foot_l_slip": 0.0,
    "foot_r_on": 0.0,
    "foot_r_slip": 0.0,
}
"""Where a run begins, near its gait: the left leg stands, and the knee of the right one in front of it has
just been latched [m, rad and per s]."""
SECTION = "knee_r_latch"
"""The event after which a stride begins: there the right foot is off the ground and the left one sticks, so
that no flag of a contact is about to change."""


@checked
def dribbel_robot(**values: float) -> System:
    """Dribbel as it walks: a PD law sets the current of the hip's motor, kp (set - hip) - kd hip', whose set
    point is -`hip_set` while the right feet alone touch the ground, and `hip_set` otherwise; knees are
    latched while their leg stands. A stride goes from one latching of the right knee to the next."""
    m = dribbel_mechanism(knee_torques=True)
    stiffness = Param(
        "ground_stiffness", GROUND_STIFFNESS, "N/m", bounds=(1e2, 1e8), description="of soft ground"
    )
    on_ground = compliant(
        m,
        FEET,
        plane(slope(0.0)),
        law=hunt_crossley(stiffness, GROUND_DISSIPATION, 1.0),
        friction=anchored(stiffness, GROUND_DAMPING, FRICTION),
        fall=("hip", half_leg(m)),
        description="Dribbel with its hip motor and controller on ground that gives way",
    )
    knees = {"knee_l": "foot_l", "knee_r": "foot_r"}
    latched = knee_latches(on_ground, knees, locked=list(knees), **LATCH)
    motor = replace(MOTORS["maxon-re40-gp42c"], gear_ratio=GEAR_RATIO)
    # dry friction is smooth: what sticks would freeze the hip of a machine whose base moves
    driven = dc_motors(latched, motor, ["hip"], smooth=True)
    set_point = Param("hip_set", 0.3, "rad", bounds=(0, 1), description="of the hip, to either side")
    outer_alone = ca.logic_and(driven["foot_r_on"] > 0, driven["foot_l_on"] < 1)
    reference = ca.if_else(outer_alone, -set_point.sym, set_point.sym)
    loop = current_servo(
        driven.replace(p=(*driven.p, set_point)), "hip", reference, kp=10.0, kd=0.0, limit=CURRENT_LIMIT
    )
    walk = None if loop.walk is None else replace(loop.walk, section=SECTION)
    return loop.replace(walk=walk).using(FIRST_STATES).using(values)
