"""COMAN's ground, found from the forces under its feet: a search recovers planted stiffness and damping.

Dallali et al. measured forces under the swaying robot and let RLPF search for the ground that gives them.
There is no robot here: forces of a ground that is known take the place of those measured, with noise, and the
search does not know it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from strut import evolve
from strut.errors import StrutError
from strut.simulate import simulate_batch
from strut.studies.dallali_sway import FREQUENCY, LEG_LENGTH, POINTS, SWAY
from strut.studies.study import ColourMap, Plot, Row, SearchOrder, SearchOutcome
from strut.studies.trial_search import TRIALS_FILE, search_trials, trial_study, trials_row
from strut.system import System
from strut.walkers import coman, coman_motion

PLANTED_STIFFNESS, PLANTED_DAMPING = 203600.0, 1006.0
"""[N/m, N s/m] Of the ground whose forces are searched for: what Dallali et al. found."""
STIFFNESS_RANGE, DAMPING_RANGE = (5e4, 5e5), (100.0, 2500.0)
"""[N/m, N s/m] In which the search looks; the paper prints no range."""
TRIALS, POPULATION, RANDOM_TRIALS = 100, 5, 20
"""How often the robot sways, as in the paper; how many trials are done together, and how many are random
before the search learns."""
DURATION, READ_EVERY = 2.5, 2e-3
"""[s] One period of swaying, and how often forces are read."""
STEP = 5e-4
"""[s] Of the integrator: forces are right to 0.02 N, in the stiffest corner of the range to 0.01 N."""
FORCE_NOISE = 2.0
"""[N] Deviation of what is added to each reading: a sensor's."""
NOISE_SEED = 7
"""Of the readings' noise: the same in every search."""
COST_MAP_SIZE = (15, 13)
"""Stiffnesses and dampings in the map of the cost."""
ROBOT_WEIGHT = 28.357 * 9.81
"""[N] The weight of the robot."""
FEET = {side: [f"{side}_sole{k}_normal" for k in range(POINTS)] for side in "rl"}
"""The outputs that are forces under each foot."""


@cache
def swaying_robot() -> System:
    """COMAN's twelve leg joints with motors and springs, swaying 5 cm to both sides at 0.4 Hz, PD 150/10."""
    lean = math.asin(SWAY / LEG_LENGTH)
    return coman("legs", references=coman_motion("sway", lean, FREQUENCY, "legs"), events=False)


def foot_forces(stiffness: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Return the vertical force under each foot [N], for each ground: grounds x 2 x times. nan where a run
    broke off."""
    batch = simulate_batch(
        swaying_robot(),
        DURATION,
        p={"ground_stiffness": stiffness, "ground_damping": damping},
        outputs=[name for names in FEET.values() for name in names],
        at=np.arange(0.0, DURATION, READ_EVERY),
        method="rkc",
        step=STEP,
    )
    if batch.interrupted:
        raise KeyboardInterrupt
    return np.stack([sum(batch.outputs[name] for name in names) for names in FEET.values()], axis=1)


@cache
def measured_forces() -> np.ndarray:
    """Return the forces of the planted ground with noise, 2 x times [N]."""
    forces = foot_forces(np.array([PLANTED_STIFFNESS]), np.array([PLANTED_DAMPING]))[0]
    noise = np.random.default_rng(NOISE_SEED).normal(0.0, FORCE_NOISE, forces.shape)
    return np.asarray(forces + noise)


def rms_error(stiffness: np.ndarray, damping: np.ndarray) -> np.ndarray:
    """Return the root of the mean squared difference of forces [N], for each ground."""
    difference = foot_forces(stiffness, damping) - measured_forces()
    return np.asarray(np.sqrt((difference**2).mean(axis=(1, 2))))


def problem() -> evolve.SearchProblem:
    """Return what is searched."""
    return evolve.SearchProblem(
        [
            evolve.SearchParameter("stiffness", *STIFFNESS_RANGE, unit="N/m"),
            evolve.SearchParameter("damping", *DAMPING_RANGE, unit="N s/m"),
        ],
        evolve.of_function(rms_error, vectorised=True),
        evolve.minimise("value"),
    )


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search, and compare with what was planted and published."""
    method = evolve.ParticleFilter(POPULATION, first=min(RANDOM_TRIALS, order.trials or TRIALS))
    evolution = search_trials(problem(), method, order, tell, trials=TRIALS)
    best = evolution.best
    if not best.stage:
        raise StrutError(f"every one of {evolution.evaluations} trials failed: {dict(evolution.failures)}")
    stiffness, damping = best.parameters["stiffness"], best.parameters["damping"]
    planted = "planted here: {}; {:.1f} % away"
    floor = float(rms_error(np.array([PLANTED_STIFFNESS]), np.array([PLANTED_DAMPING]))[0])
    rows = [
        trials_row(evolution, "100"),
        Row(
            "stiffness of one point [N/m]",
            "203600",
            f"{stiffness:.0f}",
            planted.format("203600", 100 * abs(stiffness / PLANTED_STIFFNESS - 1)),
        ),
        Row(
            "damping of one point [N s/m]",
            "1006",
            f"{damping:.0f}",
            planted.format("1006", 100 * abs(damping / PLANTED_DAMPING - 1)),
        ),
        Row(
            "RMS error of vertical forces [N]",
            "50.4",
            f"{best.value:.3f}",
            f"published: against the robot, whose covers and whole soles the model lacks; the planted ground "
            f"itself has {floor:.3f}, the readings' noise",
        ),
        Row(
            "RMS error, of the weight",
            "18 % (derived)",
            f"{100 * best.value / ROBOT_WEIGHT:.2f} %",
            "a sway of 5 cm at 0.4 Hz, its readings and their noise are ours",
        ),
    ]
    columns = evolution.columns()
    progress = Plot(
        "Progress of the search",
        "generation",
        "least RMS error so far [N]",
        tuple(columns["generation"] + 1),
        {"search": columns["best_value"].tolist(), "planted ground": [floor] * len(columns["generation"])},
    )
    maps = []
    if order.verify:
        tried = evolve.load_individuals(order.folder / TRIALS_FILE)
        trials = (tried["stiffness"].tolist(), tried["damping"].tolist())
        maps.append(cost_map({"trials": trials, "best of them": ([stiffness], [damping])}))
    return SearchOutcome(rows, [progress], maps=maps)


def cost_map(points: dict[str, tuple[list[float], list[float]]]) -> ColourMap:
    """Return the cost over the whole range, as in figure 7. points: what is marked besides the planted
    ground."""
    stiffness = np.linspace(*STIFFNESS_RANGE, COST_MAP_SIZE[0])
    damping = np.linspace(*DAMPING_RANGE, COST_MAP_SIZE[1])
    K, D = np.meshgrid(stiffness, damping)
    cost = rms_error(K.ravel(), D.ravel()).reshape(K.shape)
    return ColourMap(
        title="Cost over stiffness and damping",
        x_label="stiffness [N/m]",
        y_label="damping [N s/m]",
        value_label="RMS error [N]",
        x=tuple(stiffness.tolist()),
        y=tuple(damping.tolist()),
        values=cost.tolist(),
        points={**points, "planted": ([PLANTED_STIFFNESS], [PLANTED_DAMPING])},
    )


STUDY = trial_study(
    "dallali-ground",
    "A dynamic simulator of the compliant humanoid COMAN: the ground found from forces, by a search",
    "Dallali et al. (2013), section on tuning the ground, figure 7",
    carry_out,
)
