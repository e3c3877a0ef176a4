"""COMAN's knee, suspended, moved by a servo: voltage, error, and where the energy goes, with and without
stiction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from strut.actuator import MOTORS, dc_motors
from strut.control import minimum_jerk, servo
from strut.mechanism import system
from strut.simulate import Trajectory, simulate
from strut.studies.study import Row, Study
from strut.walkers import coman_mechanism

KNEE = "r_knee_sag"
MOVE_TIME = 5.0
"""[s] The duration of the move, which the paper does not print."""
END_TIME = 12.0
"""[s] When everything is read: long after the move."""
STICTION_VOLTAGE = 0.6
"""[V] The stiction that the paper fits."""
KP, KD, LINK_DAMPING, SPRING_DAMPING, SPRING = 200.0, 10.0, 8.0, 0.8, 415.0
"""[V/rad, V s/rad, N m s/rad, N m s/rad, N m/rad] Gains and fitted numbers of the paper."""


def run_knee(stiction: float = 0.0) -> Trajectory:
    """Run the move from 0 to 90 degrees, all other joints held. stiction: of the motor [V]."""
    motor = MOTORS["rbe1211-csd17"]
    motor = replace(motor, coulomb=stiction * motor.torque_constant / motor.resistance)
    suspended = system(coman_mechanism([KNEE], "fixed"))
    driven = dc_motors(
        suspended, motor, spring=SPRING, spring_damping=SPRING_DAMPING, link_damping=LINK_DAMPING
    )
    move = minimum_jerk(0.0, math.pi / 2, MOVE_TIME)
    return simulate(servo(driven, {KNEE: move}, kp=KP, kd=KD), t=END_TIME, rtol=1e-9, atol=1e-10)


def rows() -> list[Row]:
    """Compare the voltage of the knee with what was published, or follows from what was."""
    free, sticky = run_knee(), run_knee(STICTION_VOLTAGE)
    end, stuck = free.at(END_TIME), sticky.at(END_TIME)
    voltages = free.at(np.linspace(0, END_TIME, 2001))[f"{KNEE}_voltage"]
    offset = stuck[f"{KNEE}_voltage"] - end[f"{KNEE}_voltage"]
    derived = "published: from the masses, K_p and V_T"
    books = {name: float(v[-1]) for name, v in {**free.ledger.supplied, **free.ledger.dissipated}.items()}
    stored = {name: float(v[-1] - v[0]) for name, v in free.ledger.stored.items()}
    parts = {name.removeprefix(f"{KNEE}_"): energy for name, energy in (books | stored).items()}
    split = ", ".join(f"{name} {energy:.3f}" for name, energy in parts.items() if abs(energy) > 5e-4)
    return [
        Row("voltage at 90 degrees [V]", "0.684", f"{end[f'{KNEE}_voltage']:.4f}", derived),
        Row("error at 90 degrees [mrad]", "3.4", f"{1e3 * end[f'{KNEE}_error']:.3f}", derived),
        Row("torque of the weight [N m]", "4.22", f"{end[f'{KNEE}_torque']:.3f}", derived),
        Row(
            "largest voltage [V]",
            "3.2",
            f"{np.abs(voltages).max():.3f}",
            "of a move of 5 s, ours; published: dampers alone, without the weight",
        ),
        Row(
            "voltage that stiction adds at the end [V]",
            "0.6",
            f"{offset:.3f}",
            "the paper's steady mismatch, which it attributes to stiction",
        ),
        Row(
            "energy of the move [J]", "", split, "electrical in; copper, friction, dampers; stored at the end"
        ),
    ]


STUDY = Study(
    "dallali-knee",
    "A dynamic simulator of the compliant humanoid COMAN: a knee under position control",
    "Dallali et al. (2013), section on the single joint; numbers of the public simulator",
    rows,
)
