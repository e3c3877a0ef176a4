"""COMAN on its feet, squatting, one second: strut with every motor, spring and point of contact; MuJoCo
with the same tree of bodies.

What differs, and is not the same work: strut has 23 motors with angles of their own (46 states more),
springs, and the paper's ground, point by point with events; MuJoCo has servos without springs (position
actuators, the rotors as armature) and its own convex contact of five small balls a foot. Both take steps
of a millisecond.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.peers import mujoco
from bench.timing import Contender, Effort, Section, measure
from strut import actuator, simulate, walkers
from strut.walkers.coman import FOOT_POINTS, LINKS, STANDING_HEIGHT, WAIST

STEP, T = 1e-3, 1.0  # [s]
AMPLITUDE, FREQUENCY = 0.1, 0.5  # [rad], [Hz]
KP, KD = 150.0, 10.0  # [V/rad], [V s/rad]
LINK_DAMPING = 8.0  # [N m s/rad]
BALL = 1e-3  # [m]


def _inertial(mass: float, com: Any, inertia: Any, flip: int) -> str:
    xx, yy, zz, xy, xz, yz = inertia
    return (
        f'<inertial mass="{mass}" pos="{com[0]} {flip * com[1]} {com[2]}" '
        f'fullinertia="{xx} {yy} {zz} {flip * xy} {xz} {flip * yz}"/>'
    )


def mjcf() -> str:
    """COMAN as MuJoCo reads it: the same masses, joints and places."""
    motor = actuator.MOTORS["rbe1211-csd17"]
    axes = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
    names: list[str] = []

    def links_of(parent: str, left: bool) -> str:
        text = ""
        for link, (carrier, at, joint, axis, mass, com, inertia) in LINKS.items():
            if carrier != parent:
                continue
            for mirrored in (
                (False, True) if link.startswith("r_") and not parent.startswith("r_") else (left,)
            ):
                flip = -1 if mirrored else 1
                label = joint.replace("r_", "l_", 1) if mirrored else joint
                names.append(label)
                soles = "".join(
                    f'<geom type="sphere" size="{BALL}" pos="{x} {flip * y} {z + BALL}" friction="0.7"/>'
                    for x, y, z in (FOOT_POINTS if link == "r_foot" else ())
                )
                text += (
                    f'<body pos="{at[0]} {flip * at[1]} {at[2]}"><joint name="{label}" axis="{axes[axis]}" '
                    f'damping="{LINK_DAMPING}" armature="{motor.inertia}"/>'
                    f"{_inertial(mass, com, inertia, flip)}{soles}{links_of(link, mirrored)}</body>"
                )
        return text

    body = links_of("waist", False)
    stiffness, damping = KP * motor.voltage_gain, KD * motor.voltage_gain + motor.damping
    servos = "".join(
        f'<position name="{name}" joint="{name}" kp="{stiffness}" kv="{damping}"/>' for name in names
    )
    return (
        f'<mujoco><option timestep="{STEP}" integrator="implicitfast"/><worldbody>'
        f'<geom type="plane" size="2 2 0.1" friction="0.7"/><body name="waist" pos="0 0 {STANDING_HEIGHT}">'
        f"<freejoint/>{_inertial(*WAIST, 1)}{body}</body></worldbody><actuator>{servos}</actuator></mujoco>"
    )


def _mujoco() -> Contender:
    if mujoco is None:
        return Contender("MuJoCo")
    mj: Any = mujoco
    model = mj.MjModel.from_xml_string(mjcf())
    data = mj.MjData(model)
    sides = {"hip_sag": -1, "knee_sag": 2, "ankle_sag": -1}
    places = [(model.actuator(f"{s}_{joint}").id, gain) for s in "rl" for joint, gain in sides.items()]

    def go() -> float:
        mj.mj_resetData(model, data)
        for k in range(round(T / STEP)):
            bend = AMPLITUDE * (1 - np.cos(2 * np.pi * FREQUENCY * k * STEP))
            for place, gain in places:
                data.ctrl[place] = gain * bend
            mj.mj_step(model, data)
        height: float = data.qpos[2]
        return height

    return Contender("MuJoCo", "implicitfast, 1 ms, no motors", go, note=f"waist ends at {go():.4f} m")


def _strut() -> Contender:
    robot = walkers.coman(references=walkers.coman_motion("squat", AMPLITUDE, FREQUENCY))

    def go() -> float:
        return float(simulate(robot, T, method="rkc", step=STEP, ledger=False)["z"][-1])

    return Contender("strut", "rkc, 1 ms, motors and springs", go, note=f"waist ends at {go():.4f} m")


def run(effort: Effort) -> list[Section]:
    return [
        Section(
            "COMAN squats for a second",
            "",
            measure([_strut(), _mujoco()], effort),
            remark="not the same ground, and only strut has motors and springs; a second is real time",
        )
    ]
