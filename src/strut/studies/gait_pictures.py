"""Curves and moving pictures of gaits that searches found, of any machine with impedance along a phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut import evolve
from strut.control import PhaseJoint, phase_tables
from strut.control.phase_signal import table_value
from strut.simulate import Trajectory, simulate
from strut.studies.study import Plot, Row
from strut.system import System, add_prefix, join

CURVE_POINTS = 201
"""How many points a curve over a cycle or a stride has."""


def progress_plots(evolutions: Mapping[str, evolve.Evolution], last_goal: str) -> list[Plot]:
    """Return over generations the mean over runs of the goal that the best so far is at, and the median of
    the last goal among runs that are at it; the first alone where no run is. last_goal: what it is, with its
    unit, "cost [J/m]"."""
    goals, values = {}, {}
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
        values[mode] = np.array(
            [np.nanmedian(column) if np.isfinite(column).any() else np.nan for column in reached.T]
        )
    x = tuple(float(k + 1) for k in range(count))

    def extend(curves: Mapping[str, np.ndarray]) -> dict[str, Sequence[float]]:
        return {m: np.pad(c, (0, count - len(c)), constant_values=np.nan).tolist() for m, c in curves.items()}

    word = last_goal.partition(" [")[0]
    stages = Plot("goals over time", "generation", "goal, mean of all runs", x, extend(goals))
    if not any(np.isfinite(each).any() for each in values.values()):
        return [stages]
    title = f"{word} over time, median of runs at the last goal"
    return [stages, Plot(title, "generation", last_goal, x, extend(values))]


def part_plots(parts: Sequence[Mapping[str, evolve.Evolution]], last_goal: str) -> list[Plot]:
    """Return the progress of all parts of a study, one after the other. last_goal: as of
    `progress_plots`."""
    if len(parts) == 1:
        return progress_plots(parts[0], last_goal)
    return [
        replace(plot, title=f"part {number}: {plot.title}")
        for number, part in enumerate(parts, start=1)
        for plot in progress_plots(part, last_goal)
    ]


def impedance_curves(bests: Mapping[str, evolve.Individual], joints: Mapping[str, PhaseJoint]) -> list[Plot]:
    """Return stiffness and damping of each joint over the phase of the controller, by mode."""
    phase = np.linspace(0, 1, CURVE_POINTS, endpoint=False)
    plots = []
    for joint in joints:
        for what, unit in (("stiffness", "N m/rad"), ("damping", "N m s/rad")):
            curves = {
                mode: _signal_values(joints, mode, f"{joint}_{what}", phase, best.parameters).tolist()
                for mode, best in bests.items()
            }
            title = f"{joint} {what}"
            plots.append(Plot(title, "phase [1]", f"{title} [{unit}]", tuple(phase.tolist()), curves))
    return plots


def cycle_plots(
    walks: Mapping[str, Trajectory],
    frequencies: Mapping[str, float],
    quantities: Mapping[str, tuple[tuple[str, ...], str, float]],
) -> list[Plot]:
    """Return curves over the last whole cycle of each walk, from phase 0 to 1; a walk that fell has none.

    frequencies: by mode [Hz]. quantities: by title, the outputs that are added up, their unit, and by what
    they are multiplied."""
    plots = []
    phase = np.linspace(0, 1, CURVE_POINTS)
    for title, (names, unit, factor) in quantities.items():
        curves = {}
        for mode, walk in walks.items():
            if walk.status != "done":
                continue
            cycles = np.floor(walk.t[-1] * frequencies[mode])
            moments = walk.at((cycles - 1 + phase) / frequencies[mode])
            curves[mode] = (factor * np.sum([moments[name] for name in names], axis=0)).tolist()
        plots.append(Plot(title, "phase [1]", f"{title} [{unit}]", tuple(phase.tolist()), curves))
    return plots


def walk_beside_each_other(
    machines: Mapping[str, System],
    walks: Mapping[str, Trajectory],
    *,
    begin: float,
    end: float,
    step: float,
    distance: float,
) -> Trajectory | None:
    """Return a run of several machines at once, one behind the other, from the states that their own runs
    have at `begin`, without those that fell; None where all did. `fallen_rows` tells of them.

    begin, end: of the run [s]. step: of RK4 [s]. distance: between neighbours [m].
    """
    upright = {mode: machine for mode, machine in machines.items() if walks[mode].status == "done"}
    if not upright:
        return None
    parts: list[System] = []
    x0: dict[str, float] = {}
    for k, (mode, machine) in enumerate(upright.items()):
        part = add_prefix(machine, mode)
        if k and part.scene is not None:  # one floor is enough
            part = part.replace(scene=replace(part.scene, floor=None))
        parts.append(part)
        now = walks[mode].at(begin)
        x0 |= {f"{mode}.{name}": float(now[name]) for name in machine.labels("x")}
        x0[f"{mode}.x"] = -k * distance
    together = join("gaits_side_by_side", *parts)
    return simulate(together, (begin, end), x0=x0, method="rk4", step=step, ledger=False)


def fallen_rows(walks: Mapping[str, Trajectory]) -> list[Row]:
    """Return which walks ended early: there are no curves of them, and they are in no moving picture."""
    return [
        Row(
            f"{name}: in curves and in motion",
            "",
            f"{'falls' if walk.ended_in_failure else 'ends'} after {walk.t1:.1f} s: not shown",
            walk.ending_meaning or f"{walk.status}",
        )
        for name, walk in walks.items()
        if walk.status != "done"
    ]


def _signal_values(
    joints: Mapping[str, PhaseJoint],
    mode: str,
    name: str,
    phase: np.ndarray,
    parameters: Mapping[str, float],
) -> np.ndarray:
    """A signal of a controller over its phase."""
    tables = phase_tables(joints, mode)
    row = tables.rows(np.array([[parameters[each] for each in tables.names]]))[0]
    own = [k for k, label in enumerate(tables.labels) if label.startswith(f"{name}_table[")]
    at = ca.SX.sym("phase")
    value = ca.Function("signal", [at], [table_value(ca.SX(row[own]), at)])
    return np.array(value(phase[None, :])).ravel()


__all__ = [
    "cycle_plots",
    "fallen_rows",
    "impedance_curves",
    "part_plots",
    "progress_plots",
    "walk_beside_each_other",
]
