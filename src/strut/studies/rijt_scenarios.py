"""Van de Rijt's two scenarios, walking and a push, and what he measured of them.

His thesis does not print the body, how it stands at first, the times and clamps of steps, when a foot counts
as landed, saturation, friction and some gains. Ours, in `OUR_CHOICES`, are of a search over them that saw his
tables: both scenarios succeed with both of his parameter sets, and near them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from strut.control import (
    BodyModel,
    ControlledRun,
    MomentumGains,
    QpController,
    ReactiveStepping,
    momentum_stepping,
)
from strut.simulate import push
from strut.system import Param, System, time
from strut.walkers.rijt import CHEST_LEAN, FEET, HumanoidBody, rijt, rijt_mechanism

BODY = HumanoidBody(com_height=0.884, spread=0.356)
"""Our body: Dumas's segments of a man of 70 kg."""
STEPPING = ReactiveStepping(
    step_time=0.181, swing_height=0.02, shortest=0.467, longest=0.785, max_margin=0.2, touch_gap=3.33e-4
)
"""How it steps: margin and overshoot of the thesis, all else ours."""
GAINS = MomentumGains(
    torque_limit=220.0,
    force_limit=1000.0,
    com_stiffness=1500.0,
    force_weight=1e-6,
    feet_weight=1e5,
    feet_stiffness=1000.0,
    chest_angle=-CHEST_LEAN,
    chest_stiffness=94.7,
    spin_gain=1.26,
    momentum_limit=257.0,
    unload=0.894,
)
"""The baseline of the thesis (table D.1, with the torque limit that it uses from then on), and gains of
ours."""
BASELINE: Mapping[str, float] = {}
"""What the baseline changes: nothing."""
FINAL: Mapping[str, float] = {"force_weight": 1e-4, "feet_weight": 5e5, "feet_stiffness": 1500.0}
"""What the final design changes (table 6.3)."""
PARAMETER_SETS: dict[str, Mapping[str, float]] = {"baseline": BASELINE, "final": FINAL}
"""The parameter sets of the thesis."""
OUR_CHOICES = (
    f"ours, not in the thesis: {BODY.mass:.1f} kg (Dumas), centre of mass at {BODY.com_height} m, feet "
    f"{BODY.spread} m apart at first, step time {STEPPING.step_time} s, swing {STEPPING.shortest} to "
    f"{STEPPING.longest} m long and {STEPPING.swing_height} m high, margin at most {STEPPING.max_margin} m",
    f"ours: saturation {GAINS.momentum_limit} N, gain of angular momentum {GAINS.spin_gain} 1/s, chest "
    f"{GAINS.chest_stiffness} 1/s^2, joints brake with {GAINS.acceleration_limit} rad/s^2, friction "
    f"{BODY.friction} (program {GAINS.friction}), steps of {1e3 * BODY.step:g} ms, a foot touches below "
    f"{1e3 * float(STEPPING.touch_gap):.2g} mm and carries nothing in the first {GAINS.unload} of its swing",
)
"""What the thesis does not say, and what we took."""
START_UP_TIME = 0.4
"""[s] Beginning of a walk that the error of the centre of mass leaves out (thesis, section 7.1)."""
MAX_CHEST_LEAN = math.radians(60.0)
"""[rad] Angle of the chest from upright beyond which it has fallen."""
RECOVERED_DISTANCE = 0.05
"""[m] Distance from where it stood, after a push, within which it has recovered."""
MAX_DISTANCE_BEHIND = 0.25
"""[m] Distance from its path, at the end of a walk, beyond which it did not follow."""


@dataclass(frozen=True)
class HumanoidTask:
    """What is asked of the humanoid.

    duration: [s]. values: of the controller's parameters. force: [N] of a push from 0.5 s to 0.7 s. skip: [s]
        at the beginning that the error of the centre of mass leaves out.
    """

    name: str
    duration: float
    values: Mapping[str, float]
    force: float = 0.0
    skip: float = 0.0

    def outside(self) -> dict[str, Any]:
        """What `simulate` is told of the push."""
        return {"u": push("com", t=(0.5, 0.7), force=(self.force, 0.0))} if self.force else {}


SCENARIOS = {
    "walking": HumanoidTask("walking", 10.0, {"walking_speed": 0.5}, skip=START_UP_TIME),
    "push": HumanoidTask("push", 8.0, {"walking_speed": 0.0}, force=700.0),
}
"""Walking at 0.5 m/s, and standing with a push of 140 N s."""


@cache
def humanoid_loop(hard_feet: bool = False) -> tuple[QpController, System]:
    """The controller and the humanoid on its ground. `walking_speed` [m/s] is a parameter of the
    controller."""
    speed = Param("walking_speed", 0.0, "m/s", description="asked of the centre of mass")
    height = Param("com_height", BODY.com_height, "m", description="asked of the centre of mass")
    controller = momentum_stepping(
        BodyModel(rijt_mechanism(BODY)),
        feet=FEET,
        chest="torso",
        com=(speed * time, height),
        stepping=STEPPING,
        gains=GAINS,
        every=BODY.step,
        hard_feet=hard_feet,
        name="rijt",
    )
    return controller, rijt(BODY)


@dataclass(frozen=True, eq=False)
class ScenarioRun:
    """A run of a scenario, and the analysis variables of the thesis (section 5.3), each a mean and a peak."""

    scenario: HumanoidTask
    run: ControlledRun = field(repr=False)

    @cached_property
    def variables(self) -> dict[str, tuple[float, float]]:
        """By name: mean and peak of each. Beside those of the thesis, the error of the foot that swings, and
        the forces that the programs ask for."""
        run = self.run
        late = run.t >= self.scenario.skip
        miss = run["com"] - run["com_reference"]
        torques = np.abs(np.column_stack([run[name] for name in run.controller.command]))
        feet = [np.linalg.norm(run[f"{foot}_error"], axis=1) for foot in FEET]
        swinging = [error[run["swinging"] == k + 1] for k, error in enumerate(feet)]
        forces = np.concatenate(
            [np.hypot(run.trajectory[f"{foot}_normal"], run.trajectory[f"{foot}_friction"]) for foot in FEET]
        )
        asked = np.concatenate([np.hypot(*run[f"{foot}_force"].T) for foot in FEET])
        columns = {
            "CoM error [m]": np.linalg.norm(miss, axis=1)[late],
            "vertical CoM error [m]": np.abs(miss[:, 1]),
            "feet error [m]": np.concatenate(feet),
            "error of the swinging foot [m]": np.concatenate(swinging),
            "chest deviation [rad]": np.abs(run["chest"] + CHEST_LEAN),
            "joint torque [N m]": torques.ravel(),
            "ground force [N]": forces,
            "force of the program [N]": asked,
            "squared torque [N^2 m^2]": (torques**2).sum(axis=1),
        }
        return {name: (float(np.nanmean(c)), float(np.nanmax(c))) for name, c in columns.items() if len(c)}

    @cached_property
    def failures(self) -> dict[str, str]:
        """Why the scenario failed, in words, by cause: 'fall', 'relaxed' (programs had no solution, and
        bounds of braking were missed), 'unsolved' (no solution passed the solver's check), 'chest', 'path';
        empty where it succeeded."""
        run = self.run
        causes: dict[str, str] = {}
        if run.trajectory.status != "done":
            causes["fall"] = f"{run.trajectory.status} at {run.trajectory.t[-1]:.2f} s"
        relaxed = run.counts["relaxed"]
        unsolved = run.unsolved_samples - relaxed
        if relaxed:
            causes["relaxed"] = f"{relaxed} samples relaxed"
        if unsolved:
            causes["unsolved"] = f"{unsolved} samples unsolved"
        if "fall" in causes:
            return causes
        if np.abs(run["chest"]).max() > MAX_CHEST_LEAN:
            causes["chest"] = "the chest tipped over"
        allowed = RECOVERED_DISTANCE if self.scenario.force else MAX_DISTANCE_BEHIND
        left = float(np.linalg.norm(run["com"][-1] - run["com_reference"][-1]))
        if not left < allowed:
            causes["path"] = f"{left:.2f} m from the reference at the end"
        return causes

    @property
    def why_failed(self) -> str:
        """Why the scenario failed, in words; empty where it succeeded."""
        return ", ".join(self.failures.values())

    @property
    def ok(self) -> bool:
        """Whether it neither fell nor was left behind, and every program was solved."""
        return not self.why_failed

    @property
    def single_support(self) -> float:
        """[1] Part of the time in which a foot swings."""
        return float(np.mean(self.run["swinging"] > 0))

    @property
    def steps(self) -> int:
        """How many steps were begun."""
        return int(np.nanmax(self.run["steps"]))

    @property
    def recovery_time(self) -> float:
        """[s] From the push until the centre of mass stays within 5 cm of where it stood."""
        off = np.abs(self.run["com"][:, 0] - self.run["com_reference"][:, 0]) > RECOVERED_DISTANCE
        return float(self.run.t[np.flatnonzero(off)[-1]] - 0.5) if off.any() else 0.0


def measure(
    name: str, values: Mapping[str, float], duration: float | None = None, **changes: Any
) -> ScenarioRun:
    """Run a scenario with parameters of the controller, and with `spread` [m] or `com_height` [m] as a run
    begins. changes: `force` [N] of the push instead of 700; `hard_feet`."""
    scenario = SCENARIOS[name]
    controller, machine = humanoid_loop(bool(changes.pop("hard_feet", False)))
    if "force" in changes:
        scenario = HumanoidTask(name, scenario.duration, scenario.values, changes.pop("force"), scenario.skip)
    stance = {key: values[key] for key in ("spread", "com_height") if key in values}
    begin = replace(BODY, **stance).posture()
    own = {key: value for key, value in values.items() if key != "spread"}
    asked = controller.using({**scenario.values, **own})
    run = asked.run(machine, duration or scenario.duration, x0=begin, **scenario.outside())
    return ScenarioRun(scenario, run)


def bisect(works: Any, good: float, bad: float, accuracy: float) -> float:
    """The value nearest to `bad` that still works, by bisection between one that does and one that does
    not."""
    while abs(bad - good) > accuracy:
        middle = (good + bad) / 2
        good, bad = (middle, bad) if works(middle) else (good, middle)
    return good


__all__ = [
    "BASELINE",
    "FINAL",
    "OUR_CHOICES",
    "PARAMETER_SETS",
    "SCENARIOS",
    "ScenarioRun",
    "bisect",
    "humanoid_loop",
    "measure",
]
