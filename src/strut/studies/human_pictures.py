"""What the page of human gaits draws: a stride of the best of each mode, and all of them walking at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.control.phase_signal import table_value
from strut.simulate import Trajectory, simulate
from strut.simulate.trajectory import Moments
from strut.studies.human_gait import FEET, FREQUENCY, JOINTS, STEP, human_with
from strut.studies.human_verification import Verified
from strut.studies.normal_gait import SOURCE, likeness, normal_angles
from strut.studies.study import Plot
from strut.system import System, add_prefix, join

SETTLING_PERIODS = 9
"""Periods after which a stride is shown."""
SHOWN_STRIDES = 4
"""Strides of the moving picture."""
STRIDE_POINTS = 201
"""How many points a curve over a stride has."""
WALKER_DISTANCE = 1.6
"""[m] The distance between the walkers of the moving picture."""


def choose_bests(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> dict[str, evolve.Individual]:
    """Return by mode the best that is shown: where bests were run again, the one that keeps most goals in
    every way, with the least torque of these; else the search's own."""
    bests = {}
    for mode, evolution in evolutions.items():
        own = [answer for (name, _), answer in verified.items() if name == mode]
        bests[mode] = min(own, key=lambda each: each.rank).individual if own else evolution.best
    return bests


def walk_again(bests: Mapping[str, evolve.Individual]) -> dict[str, Trajectory]:
    """Run the bests again, in double precision, until the strides that are shown are over."""
    end = (SETTLING_PERIODS + SHOWN_STRIDES) / FREQUENCY
    how: dict[str, Any] = {"method": "rk4", "step": STEP, "ledger": False}
    return {mode: simulate(human_with(mode, best.parameters), end, **how) for mode, best in bests.items()}


def stride_plots(walks: Mapping[str, Trajectory], weight: float = 70.0 * 9.81) -> list[Plot]:
    """Return curves over one stride of the right leg, from its heel strike on: angles, torques, the ground's
    forces over the body's weight [N], stiffness and damping. Of a walk that fell nothing is drawn."""
    strides = {mode: stride for mode, walk in walks.items() if (stride := right_stride(walk)) is not None}
    percent = tuple(np.linspace(0, 100, STRIDE_POINTS).tolist())
    plots = []
    for joint in JOINTS:
        for title, unit, name, factor in (
            (f"{joint} angle", "deg", f"{joint}_r", 180 / np.pi),
            (f"{joint} torque", "N m", f"{joint}_r_torque", 1.0),
        ):
            curves = {mode: (factor * stride[name]).tolist() for mode, stride in strides.items()}
            drawn = Plot(title, "part of the stride [%]", f"{title} [{unit}]", percent, curves)
            plots.append(_with_normal_band(drawn, joint) if unit == "deg" else drawn)
    for word, ending in (("vertical", "normal"), ("horizontal", "friction")):
        curves = {
            mode: (np.sum([stride[f"{point}_{ending}"] for point in FEET["right"]], axis=0) / weight).tolist()
            for mode, stride in strides.items()
        }
        title = f"{word} ground force, right foot"
        plots.append(Plot(title, "part of the stride [%]", f"{title} [body weights]", percent, curves))
    return plots


def _with_normal_band(plot: Plot, joint: str) -> Plot:
    """A joint's angle with that of normal gait behind it."""
    mean, deviation = normal_angles(joint, np.array(plot.x))
    band = ((mean - deviation).tolist(), (mean + deviation).tolist())
    alike = ", ".join(f"{mode} {likeness(joint, np.array(y)):.2f}" for mode, y in plot.curves.items())
    correlations = f" Correlation with its mean: {alike}." if alike else ""
    return replace(plot, band=band, remark=f"Grey: {SOURCE}.{correlations}")


def impedance_plots(bests: Mapping[str, evolve.Individual]) -> list[Plot]:
    """Return stiffness and damping of each joint over the phase of the controller, by mode."""
    phase = np.linspace(0, 1, STRIDE_POINTS, endpoint=False)
    plots = []
    for joint in JOINTS:
        for what, unit in (("stiffness", "N m/rad"), ("damping", "N m s/rad")):
            curves = {
                mode: _signal(mode, f"{joint}_{what}", phase, best.parameters).tolist()
                for mode, best in bests.items()
            }
            title = f"{joint} {what}"
            plots.append(Plot(title, "phase [1]", f"{title} [{unit}]", tuple(phase.tolist()), curves))
    return plots


def stage_plots(evolutions: Mapping[str, evolve.Evolution]) -> list[Plot]:
    """Return the mean over runs of the goal that the best so far is at, and the median of its torque at the
    last goal, over generations."""
    goals, torques = {}, {}
    count = 0
    for mode, evolution in evolutions.items():
        history = evolution.history
        runs = np.unique(history["run"])
        lengths = [int((history["run"] == run).sum()) for run in runs]
        count = max(count, min(lengths))
        stage, value = (
            np.array([history[name][history["run"] == run][: min(lengths)] for run in runs])
            for name in ("best_stage", "best_value")
        )
        goals[mode] = stage.mean(axis=0)
        reached = np.where(stage == evolution.stages, value, np.nan)
        torques[mode] = np.array(
            [np.nanmedian(column) if np.isfinite(column).any() else np.nan for column in reached.T]
        )
    x = tuple(float(k + 1) for k in range(count))

    def extend(curves: Mapping[str, np.ndarray]) -> dict[str, Sequence[float]]:
        return {m: np.pad(c, (0, count - len(c)), constant_values=np.nan).tolist() for m, c in curves.items()}

    return [
        Plot("goals over time", "generation", "goal, mean of all runs", x, extend(goals)),
        Plot("torque over time", "generation", "torque at the last goal, median [N m]", x, extend(torques)),
    ]


def walk_together(
    walks: Mapping[str, Trajectory], bests: Mapping[str, evolve.Individual]
) -> Trajectory | None:
    """Return a run of all bests at once, one in front of the other, over some strides; None where one of them
    fell."""
    begin = SETTLING_PERIODS / FREQUENCY
    if any(walk.status != "done" for walk in walks.values()):
        return None
    parts: list[System] = []
    x0: dict[str, float] = {}
    for k, mode in enumerate(walks):
        own = human_with(mode, bests[mode].parameters)
        part = add_prefix(own, mode)
        parts.append(_without_floor(part) if k else part)
        now = walks[mode].at(begin)
        x0 |= {f"{mode}.{name}": float(now[name]) for name in own.labels("x")}
        x0[f"{mode}.x"] = -k * WALKER_DISTANCE
    together = join("gaits_side_by_side", *parts)
    return simulate(
        together, (begin, begin + SHOWN_STRIDES / FREQUENCY), x0=x0, method="rk4", step=STEP, ledger=False
    )


def _without_floor(part: System) -> System:
    """A machine whose floor is not drawn."""
    return part if part.scene is None else part.replace(scene=replace(part.scene, floor=None))


def right_stride(walk: Trajectory) -> Moments | None:
    """The stride of the right leg that begins with the first heel strike after it has settled."""
    if walk.status != "done":
        return None
    # two periods, so that a stance that begins late in the first is seen whole
    times = np.linspace(SETTLING_PERIODS / FREQUENCY, (SETTLING_PERIODS + 2) / FREQUENCY, 4001)
    moments = walk.at(times)
    touches = np.any([moments[f"{point}_gap"] < 0 for point in FEET["right"]], axis=0)
    strikes = np.flatnonzero(~touches[:2000] & touches[1:2001])
    if not strikes.size:
        return None
    # of several contacts in a stride the one that lasts is the stance: the longest that begins here
    lengths = [int(np.argmin(np.append(touches[k + 1 :], False))) for k in strikes]
    begin = times[strikes[int(np.argmax(lengths))] + 1]
    return walk.at(np.linspace(begin, begin + 1 / FREQUENCY, STRIDE_POINTS))


def _signal(mode: str, name: str, phase: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
    """A signal of a controller over its phase."""
    tables = phase_tables(JOINTS, mode)
    row = tables.rows(np.array([[parameters[each] for each in tables.names]]))[0]
    own = [k for k, label in enumerate(tables.labels) if label.startswith(f"{name}_table[")]
    at = ca.SX.sym("phase")
    value = ca.Function("signal", [at], [table_value(ca.SX(row[own]), at)])
    return np.array(value(phase[None, :])).ravel()


__all__ = [
    "choose_bests",
    "impedance_plots",
    "right_stride",
    "stage_plots",
    "stride_plots",
    "walk_again",
    "walk_together",
]
