"""COMAN on its feet, squatting and swaying at once, one second: strut with every motor, spring and point of
contact, compiled into an empty cache; MuJoCo with the same tree of bodies.

What differs, and is not the same work: strut has 23 motors with angles of their own (46 states more),
springs, and the paper's ground, point by point with events; MuJoCo has servos without springs (position
actuators, the rotors as armature) and its own convex contact of five small balls a foot. Both take steps
of a millisecond. Errors are those of strut's angles and places against a run of its own with a tolerance of
1e-10; MuJoCo's ground is another, and it has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.compile import BACKEND, CHOICES, built
from bench.peers import mujoco
from bench.timing import Contender, Effort, Row, Section, measure
from strut import System, actuator, simulate, walkers
from strut.walkers.coman import BASES, FOOT_POINTS, LINKS, STANDING_HEIGHT, WAIST

STEP, T = 1e-3, 1.0  # [s]
AMPLITUDE, FREQUENCY = 0.1, 0.5  # [rad], [Hz], of the squat
LEAN, SWAY_FREQUENCY = 0.05, 0.4  # [rad], [Hz]
EXACT = 1e-10  # tolerance of the run that errors are measured against
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
    squat, sway = {"hip_sag": -1, "knee_sag": 2, "ankle_sag": -1}, {"hip_lat": 1, "ankle_lat": -1}
    bending, leaning = (
        [(model.actuator(f"{s}_{joint}").id, gain) for s in "rl" for joint, gain in gains.items()]
        for gains in (squat, sway)
    )

    def go() -> float:
        mj.mj_resetData(model, data)
        for k in range(round(T / STEP)):
            bend = AMPLITUDE * (1 - np.cos(2 * np.pi * FREQUENCY * k * STEP))
            lean = LEAN * np.sin(2 * np.pi * SWAY_FREQUENCY * k * STEP)
            for place, gain in bending:
                data.ctrl[place] = gain * bend
            for place, gain in leaning:
                data.ctrl[place] = gain * lean
            mj.mj_step(model, data)
        height: float = data.qpos[2]
        return height

    return Contender("MuJoCo", "implicitfast, 1 ms, no motors", go, note=f"waist ends at {go():.4f} m")


def _robot() -> System:
    """COMAN that squats and sways at once."""
    squat = walkers.coman_motion("squat", AMPLITUDE, FREQUENCY)
    return walkers.coman(references={**squat, **walkers.coman_motion("sway", LEAN, SWAY_FREQUENCY)})


def _strut(robot: System) -> Contender:
    def simulate_second(**how: Any) -> Any:
        return simulate(robot, T, ledger=False, backend=BACKEND, **how)

    def go() -> Any:
        return simulate_second(method="rkc", step=STEP)

    times = np.linspace(0, T, 101)
    run, exact = (each.at(times) for each in (go(), simulate_second(method="dopri5", rtol=EXACT, atol=EXACT)))
    names = [*BASES["free"], *walkers.coman_mechanism().limits]
    error = max(float(np.abs(run[name] - exact[name]).max()) for name in names)
    note = f"waist ends at {run['z'][-1]:.4f} m"
    return Contender("strut", "rkc, 1 ms, motors and springs", go, error, note)


def run(effort: Effort) -> list[Section]:
    label = next(iter(CHOICES))
    robot, whole, compiler, _ = built(_robot, CHOICES[label])
    return [
        Section(
            "COMAN squats and sways for a second",
            "of angles and places of the base [rad, m], the largest, against tolerance 1e-10",
            measure([_strut(robot), _mujoco()], effort),
            remark="not the same ground, and only strut has motors and springs; a second is real time",
        ),
        Section(
            "COMAN is described and compiled",
            "",
            (
                Row("described and compiled", label, times=(whole,)),
                Row("of it in the C compiler", label, times=(compiler,)),
            ),
            remark="into an empty cache, once",
        ),
    ]
