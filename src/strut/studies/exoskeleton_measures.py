"""What is measured of a human in a machine that walks: its gait, what actuators do, what passes between human
and machine, and what springs keep and give back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from strut import evolve
from strut.errors import UnknownNameError, did_you_mean
from strut.evolve.goals import StagedGoals
from strut.evolve.walk_measures import OUTPUT_PREFIX
from strut.system import System, sx

FEET = {side: (f"heel_{letter}", f"ball_{letter}") for side, letter in (("right", "r"), ("left", "l"))}
"""The contacts of each foot."""
TARGET_SPEED = 1.3
"""[m/s] Speed that a walk is asked for, unless told otherwise."""
PEAK_INTERVAL = 2e-3
"""[s] Time between two looks for peaks: forces that are larger for a shorter time, as after a landing, may
be missed."""
SPEED_MATCH, MAX_ASSIST_SHARE = 0.95, 0.1
"""[1] Part of the asked speed that is enough, and share of the time that the trunk may be assisted (table
5.3)."""
NEGLIGIBLE_TIME = 1e-6
"""[s] Time by which a run may be shorter than asked and still count as whole."""
ANKLES = ("ankle_r_torque", "ankle_l_torque")
"""The torques of the ankles, which are driven directly."""
DESIGN_GOALS = 2
"""Number of goals before those of a walk: no singularity, and short bars."""
FINE_STEP = 1e-4
"""[s] Step of integration of runs that check what a search found."""
LONG_DURATION = 30.0
"""[s] Duration of the long ones of these runs."""
WORN_MEASURES = ("interaction", "peak_interaction", "peak_power", "spring_energy", "spring_return")
"""What is measured of a machine besides its walk."""


def motor_torques(motors: Sequence[str]) -> list[str]:
    """Return the names of the torques of actuators of both legs, and of the ankles."""
    return [*(f"{motor}_{side}_motor_torque" for motor in motors for side in "rl"), *ANKLES]


def gait_measures(
    walker: System,
    duration: float,
    *,
    motors: Sequence[str],
    near_speed: float = TARGET_SPEED,
    begin: float | None = None,
) -> evolve.WalkMeasures:
    """Return what is measured of the walk alone of a human in a machine: `evolve.walk_measures` of heels and
    balls of the feet. Arguments are those of `worn_measures`."""
    return evolve.walk_measures(
        walker,
        duration,
        feet=FEET,
        torques=motor_torques(motors),
        near_speed=near_speed,
        assisting="assisting",
        begin=begin,
    )


def worn_measures(
    walker: System,
    duration: float,
    *,
    motors: Sequence[str],
    attachments: Mapping[str, Sequence[str]],
    near_speed: float = TARGET_SPEED,
    begin: float | None = None,
    lag: float | None = None,
) -> evolve.WalkMeasures:
    """Return the measures of a walk of a human in a machine.

    duration: of the run [s]. motors: names of the machine's actuators of both legs, so that M supplies the
        powers M_r_motor_torque and M_l_motor_torque; the ankles are counted with them. attachments: by place,
        outputs that are the components of the force between human and machine there [N], as
        `walkers.exoskeleton_attachments` says. near_speed: about how fast it goes [m/s]. begin: from when on
        everything but the time is measured [s]; half the duration unless given. lag: time constant with
        which peaks are followed [s], see `evolve.follow_peaks`, for runs in lanes and on cards; unless given,
        a clock looks for them.

    Besides those of `evolve.walk_measures`: interaction, the mean of the sum of the sizes of all forces
    between human and machine [N]; peak_interaction, the largest of one of them [N]; peak_power, the largest
    |P| of one actuator [W]; spring_energy, the mean of what springs store [J]; spring_return, the mean of the
    power that they give back [W]. A clock looks for peaks every 2 ms.
    """
    first = duration / 2 if begin is None else begin
    forces = [force_size(walker, outputs) for outputs in attachments.values()]
    springs = {name: sx(e) for name, e in walker.ledger.stored.items() if name.endswith("_spring")}
    measures = gait_measures(walker, duration, motors=motors, near_speed=near_speed, begin=first)
    machine = measures.system
    signals = {
        "interaction": sum(forces, ca.SX(0)),
        "spring_energy": sum(springs.values(), ca.SX(0)),
        "spring_return": sum((ca.fmax(-_rate(walker, e), 0) for e in springs.values()), ca.SX(0)),
    }
    outputs = {f"{OUTPUT_PREFIX}_{name}": signal for name, signal in signals.items()}
    machine = machine.replace(outputs={**machine.outputs, **outputs})
    powers = [ca.fabs(sx(machine.ledger.supplied[name])) for name in motor_torques(motors)]
    peaks = {"peak_interaction": ca.mmax(ca.vertcat(*forces)), "peak_power": ca.mmax(ca.vertcat(*powers))}
    if lag is None:
        machine = evolve.remember_peaks(machine, peaks, every=PEAK_INTERVAL, begin=first)
    else:
        machine = evolve.follow_peaks(machine, peaks, lag=lag, begin=first)

    def mean(name: str) -> str:
        return f"integral_after({OUTPUT_PREFIX}_{name}, {first!r}) / {duration - first!r}"

    expressions = {
        **measures.expressions,
        **{name: mean(name) for name in signals},
        "peak_interaction": "peak_interaction",
        "peak_power": "peak_power",
    }
    return evolve.WalkMeasures(machine, expressions)


def walking_goals(
    duration: float,
    speed: float = TARGET_SPEED,
    last: evolve.SearchGoal | None = None,
    limits: Mapping[str, float] | None = None,
) -> list[evolve.SearchGoal]:
    """Return goals of a walk in their order (table 5.3): not to fall, the speed with little assistance; then
    each of some measures below a limit; at last little power, unless another goal is given.

    limits: by measure, as {"peak_interaction": 500.0, "peak_power": 800.0} [N, W].
    """
    match = f"min(speed / {speed!r}, {speed!r} / max(speed, 1e-9))"
    half = duration / 2  # the first half is not measured
    goals = [
        evolve.maximise("time", until=f"time > {duration - NEGLIGIBLE_TIME!r}"),
        evolve.maximise(
            f"{match} * (1 - assist_time / {half!r})",
            until=f"{match} >= {SPEED_MATCH!r} and assist_time <= {MAX_ASSIST_SHARE * half!r}",
        ),
    ]
    for name, limit in (limits or {}).items():
        goals.append(evolve.minimise(name, until=f"{name} <= {limit!r}"))
    return [*goals, last or evolve.minimise("power_absolute")]


def force_size(walker: System, outputs: Sequence[str]) -> ca.SX:
    """Return the size of a force [N] whose components are outputs."""
    for name in outputs:
        if name not in walker.outputs:
            raise UnknownNameError(
                f"'{walker.name}' has no output '{name}': {did_you_mean(name, list(walker.outputs))}"
            )
    components = ca.vertcat(*[sx(walker.outputs[name]) for name in outputs])
    return ca.fabs(components[0]) if len(outputs) == 1 else ca.norm_2(components)


def _rate(walker: System, energy: ca.SX) -> ca.SX:
    """The rate of an energy that is a function of states [W]."""
    return sum(
        (
            ca.jtimes(energy, state.sym, sx(walker.flow[state.name]))
            for state in walker.x
            if ca.depends_on(energy, state.sym)
        ),
        ca.SX(0),
    )


def add_stage(measures: Mapping[str, float], duration: float) -> dict[str, float]:
    """Return measures of a walk and `stage`, the number of the goal of the search for exoskeletons that they
    are at: a design that walks has two behind it. Of a run that broke off, `stage` alone. duration: that the
    walk was asked for [s]."""
    if not all(map(math.isfinite, measures.values())):
        return {"stage": float(DESIGN_GOALS)}
    goals = StagedGoals(walking_goals(duration), list(measures))
    key = goals.keys({name: np.array([value]) for name, value in measures.items()})[0]
    return {**measures, "stage": float(DESIGN_GOALS + goals.stage_and_value(key)[0])}


__all__ = [
    "WORN_MEASURES",
    "add_stage",
    "force_size",
    "gait_measures",
    "motor_torques",
    "walking_goals",
    "worn_measures",
]
