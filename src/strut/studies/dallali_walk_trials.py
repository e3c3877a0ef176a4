"""Trials of COMAN walking: the robot, the seven numbers of a walk by its zero-moment point, and what is read
of each trial."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from strut.control import LegInverse, MotionPlayer, WalkMotion, WalkPattern, zmp_walk
from strut.errors import ValueRangeError
from strut.mechanism import sensors, watch, watchers
from strut.simulate import Trajectory, simulate, simulate_batch
from strut.system import System
from strut.walkers import coman, coman_mechanism
from strut.walkers.coman_robot import FALL, KD, KP, PARTS

RANGES: dict[str, tuple[float, float, str]] = {
    "step_length": (0.02, 0.2, "m"),
    "step_time": (0.25, 0.9, "s"),
    "double_support": (0.1, 0.5, ""),
    "com_height": (0.45, 0.53, "m"),
    "sway": (0.03, 0.11, "m"),
    "clearance": (0.01, 0.05, "m"),
    "trunk_pitch": (-0.1, 0.15, "rad"),
}
"""The seven parameters, where they are searched, and their units."""
STEPS, ENOUGH_STEPS = 12, 10
"""Steps of a trial, and how many make a stable walk."""
HALF_HIP_DISTANCE, ZMP_AHEAD = 0.0726, 0.035
"""[m] Half the distance of the hips, which the feet keep; and from the ankle to the middle of the sole."""
SOLE = ((-0.06, 0.13), (-0.045, 0.045))
"""[m] The sole about the ankle."""
BENT_POSTURE = {"hip_sag": -0.4, "knee_sag": 0.8, "ankle_sag": -0.4}
"""[rad] The posture from which inverse kinematics begins."""
KNOTS_PER_STEP, KNOTS = 20, 420
"""Knots of a step, and of the longest motion in the ranges."""
STEP = 1e-3
"""[s] Of the integrator."""
STANDING_TIME = 1.0
"""[s] How long it must stand still after the walk."""
READ_EVERY = 0.01
"""[s] How often a trial is read."""
AIRBORNE_TIME = 0.05
"""[s] For which a foot must have been in the air for its landing to be a step."""
MIN_HEIGHT = 0.8
"""[1] Part of its planned height below which the centre of mass has fallen."""
FEET = {side: [f"{side}_sole{k}_normal" for k in range(5)] for side in "rl"}
"""The outputs that are forces under each foot."""


@dataclass(frozen=True, eq=False)
class WalkingRobot:
    """COMAN with servos that follow a table, and the inverse kinematics of its legs."""

    legs: LegInverse
    player: MotionPlayer
    system: System = field(repr=False)


@cache
def walking_robot() -> WalkingRobot:
    """The robot of all trials: compiled once."""
    mechanism = coman_mechanism(PARTS["legs-and-waist"])
    posture = {f"{side}_{joint}": angle for side in "rl" for joint, angle in BENT_POSTURE.items()}
    legs = LegInverse(mechanism, "waist", ("r_sole0", "l_sole0"), posture)
    player = MotionPlayer(legs.joints, KNOTS)
    free = coman(
        "legs-and-waist",
        kp=0,
        events=False,
        sensors=[sensors.ZeroMomentPoint()],
    )
    waist = {joint: 0.0 for joint in PARTS["legs-and-waist"] or () if joint.startswith("waist")}
    driven = player.drive(free, hold=waist, kp=KP, kd=KD)
    return WalkingRobot(legs, player, watch(driven, mechanism, [watchers.FallBelow(*FALL)]))


def plan(parameters: dict[str, float]) -> WalkMotion:
    """Return the motion of seven parameters; raises ValueRangeError where legs do not reach."""
    tuned: Any = parameters
    pattern = WalkPattern(**tuned, steps=STEPS, spread=HALF_HIP_DISTANCE, zmp_ahead=ZMP_AHEAD)
    return zmp_walk(walking_robot().legs, pattern, KNOTS_PER_STEP)


def first_state(motion: WalkMotion) -> dict[str, float]:
    """Return where a run begins: as the motion does, and every motor where its joint is."""
    labels = set(walking_robot().system.labels("x"))
    motors = {f"{joint}_motor": angle for joint, angle in motion.begin.items() if f"{joint}_motor" in labels}
    return {**motion.begin, **motors}


def run_walk(motion: WalkMotion, step: float = STEP, **parameters: float) -> Trajectory:
    """Return one run of a walk, whole. step: of the integrator [s]. parameters: of the robot that shall
    differ, its ground's."""
    robot = walking_robot()
    return simulate(
        robot.system,
        float(motion.t[-1]) + STANDING_TIME,
        x0=first_state(motion),
        p={**robot.player.table(motion.t, motion.angles()), **parameters},
        method="rkc",
        step=step,
        ledger=False,
    )


MEASURES = ("planned", "steps", "upright", "complete", "advance", "distance", "aside")
"""What a trial is measured by: whether inverse kinematics had a solution; landings, right and left in turn,
at least half a step apart; the part of the walk before a fall; whether it fell nowhere and made enough steps;
the way forward less the way aside, by the time that steps take [m/s], 0 unless complete; where its feet came
to, forward and aside [m]."""


def measure_trials(**columns: np.ndarray) -> dict[str, np.ndarray]:
    """Return the measures of trials, one for each row of the parameters: planned one by one, run together."""
    count = len(columns["step_time"])
    measures = {name: np.zeros(count) for name in MEASURES}
    motions: dict[int, WalkMotion] = {}
    for k in range(count):
        try:
            motions[k] = plan({name: float(columns[name][k]) for name in RANGES})
        except ValueRangeError:  # beyond the reach of its legs or the ranges of its joints: no walk
            continue
    if not motions:
        return measures
    robot = walking_robot()
    tables = [robot.player.table(motion.t, motion.angles()) for motion in motions.values()]
    begins = [first_state(motion) for motion in motions.values()]
    read_at = np.arange(0.0, max(motion.t[-1] for motion in motions.values()) + STANDING_TIME, READ_EVERY)
    batch = simulate_batch(
        robot.system,
        float(read_at[-1]),
        x0={name: np.array([begin[name] for begin in begins]) for name in begins[0]},
        p={name: np.array([table[name] for table in tables]) for name in tables[0]},
        outputs=[*FEET["r"], *FEET["l"], "r_sole0_x", "l_sole0_x", "r_sole0_y", "l_sole0_y", "com_z"],
        at=read_at,
        method="rkc",
        step=STEP,
    )
    if batch.interrupted:
        raise KeyboardInterrupt
    for row, (k, motion) in enumerate(motions.items()):
        readings = {name: values[row] for name, values in batch.outputs.items()}
        for name, value in read_trial(readings, motion, fell=batch.status[row] != "done").items():
            measures[name][k] = value
    return measures


def read_trial(readings: dict[str, np.ndarray], motion: WalkMotion, *, fell: bool) -> dict[str, float]:
    """Return the measures of one trial from its outputs, `READ_EVERY` apart; nan after it has fallen."""
    pattern = motion.pattern
    low = ~(readings["com_z"] > MIN_HEIGHT * pattern.com_height)
    fell = fell or bool(low.any())
    end = int(np.argmax(low)) if low.any() else len(low)
    landings = sorted(
        (moment, side) for side in "rl" for moment in landing_moments(foot_force(readings, side)[:end])
    )
    in_turn: list[tuple[int, str]] = []
    for (
        moment,
        side,
    ) in landings:  # what lands twice, or at once after the other foot, rocks and does not step
        before, other = in_turn[-1] if in_turn else (-len(low), "")
        if side != other and (moment - before) * READ_EVERY >= pattern.step_time / 2:
            in_turn.append((moment, side))
    distance = aside = 0.0
    if in_turn:
        moment, side = in_turn[-1]
        distance = float(readings[f"{side}_sole0_x"][moment] - readings[f"{side}_sole0_x"][0])
        aside = float(abs(readings[f"{side}_sole0_y"][moment] - readings[f"{side}_sole0_y"][0]))
    complete = not fell and len(in_turn) >= ENOUGH_STEPS
    walked_time = STEPS * pattern.step_time
    return {
        "planned": 1.0,
        "steps": float(len(in_turn)),
        "upright": min(end * READ_EVERY / float(motion.t[-1]), 1.0),
        "complete": float(complete),
        "advance": (distance - aside) / walked_time if complete else 0.0,
        "distance": distance,
        "aside": aside,
    }


def foot_force(readings: Any, side: str) -> np.ndarray:
    """Return the vertical force under a foot [N]. readings: outputs by name, of a batch or a run."""
    return np.asarray(np.sum([readings[name] for name in FEET[side]], axis=0))


def landing_moments(force: np.ndarray) -> list[int]:
    """Return where a foot lands that was in the air for long enough to be a step: places in the readings.

    force: under the foot [N], `READ_EVERY` apart.
    """
    landings, since = [], 0
    for k, loaded in enumerate((force > 0).tolist()):
        if loaded:
            if k and (k - since) * READ_EVERY >= AIRBORNE_TIME - 1e-9:
                landings.append(k)
            since = k + 1
    return landings
