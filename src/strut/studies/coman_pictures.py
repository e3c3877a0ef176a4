"""What pages of COMAN's gaits draw: a cycle of the best of each mode, and all of them walking at once, where
they are pushed with the pushes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.simulate import Trajectory, simulate
from strut.studies.coman_gait import FEET, JOINTS, STEP, FrequencyTables, coman_walker
from strut.studies.coman_search import pushed_walker
from strut.studies.coman_table import WEIGHT
from strut.studies.gait_pictures import cycle_plots, fallen_rows, impedance_curves, walk_beside_each_other
from strut.studies.study import Plot, Row
from strut.studies.swing_pushes import SwingPushes
from strut.system import Arrow, System

SHOWN_TIME = 6.0
"""[s] How long the moving picture is."""
WALKER_DISTANCE = 0.9
"""[m] Between the walkers of the moving picture."""
NO_BAND = (
    "No band of normal gait is drawn: COMAN is no human. It has no toes, ankles three times as high for its "
    "size and shorter legs for its trunk, and walks at a third of a person's speed."
)
"""Under its joint angles."""
Quantities = dict[str, tuple[tuple[str, ...], str, float]]
"""By title, the outputs that are added up, their unit, and by what they are multiplied."""
PUSH_QUANTITIES: Quantities = {
    f"push against the {side} foot": ((f"push_{side[0]}",), "N", 1.0) for side in ("right", "left")
}
"""What is drawn besides where feet are pushed."""


def coman_with(mode: str, parameters: Mapping[str, float]) -> System:
    """Return COMAN with the controller of some mode and these values of its parameters, as the machine of
    tables, which is compiled once for all modes."""
    return coman_walker("table").using(table_values(mode, parameters))


def pushed_coman_with(mode: str, parameters: Mapping[str, float], seed: int) -> System:
    """Return the same COMAN whose swing feet are pushed, with arrows for the pushes in its picture. seed: of
    the draws of its pushes."""
    pushes = SwingPushes(count=1)
    row = pushes.rows(np.zeros((1, 0)), np.array([seed], dtype=np.uint64))[0]
    machine = pushed_walker().using(table_values(mode, parameters) | _values_by_name(pushes.labels, row))
    scene = machine.scene
    assert scene is not None  # that of the mechanism
    ankles = {hinge.name: hinge.at for hinge in scene.hinges}
    arrows = [
        Arrow(f"push_{side}", ankles[f"ankle_{side}"], ca.vertcat(machine[f"push_{side}"], 0, 0))
        for side in pushes.sides
    ]
    return machine.replace(scene=replace(scene, arrows=(*scene.arrows, *arrows)))


def table_values(mode: str, parameters: Mapping[str, float]) -> dict[str, float | list[float]]:
    """Return the parameters of the machine of tables that does what these parameters of a mode say."""
    encoding = FrequencyTables(phase_tables(JOINTS, mode))
    row = encoding.rows(np.array([[parameters[name] for name in encoding.names]]))[0]
    return _values_by_name(encoding.labels, row)


def _values_by_name(labels: tuple[str, ...], row: np.ndarray) -> dict[str, float | list[float]]:
    """Values by the names of parameters, from those of their components."""
    values: dict[str, list[float]] = {}
    for label, value in zip(labels, row, strict=True):
        values.setdefault(label.partition("[")[0], []).append(float(value))
    return {name: each if len(each) > 1 else each[0] for name, each in values.items()}


def draw_walks(
    machines: Mapping[str, System],
    bests: Mapping[str, evolve.Individual],
    *,
    begin: float,
    further: Quantities | None = None,
) -> tuple[list[Plot], Trajectory | None, list[Row]]:
    """Return curves over a cycle of the right leg, of a best of each mode, all of them walking at once, and
    rows that tell of those that fall, which are in neither.

    machines: by mode, COMAN with the parameters of the best. begin: of the moving picture [s], where walks
    have settled. further: what is drawn besides angles, torques, the ground's force and impedances.
    """
    end = begin + SHOWN_TIME
    walks = {
        mode: simulate(machine, end, method="rk4", step=STEP, ledger=False)
        for mode, machine in machines.items()
    }
    quantities: Quantities = {}
    for joint in JOINTS:
        quantities[f"{joint} angle"] = ((f"{joint}_r",), "deg", 180 / np.pi)
        quantities[f"{joint} torque"] = ((f"{joint}_r_torque",), "N m", 1.0)
    for word, ending in (("vertical", "normal"), ("horizontal", "friction")):
        forces = tuple(f"{point}_{ending}" for point in FEET["right"])
        quantities[f"{word} ground force"] = (forces, "weights", 1 / WEIGHT)
    quantities |= further or {}
    frequencies = {mode: best.parameters["frequency"] for mode, best in bests.items()}
    angles = {f"{joint} angle" for joint in JOINTS}
    curves = [
        replace(plot, remark=NO_BAND) if plot.title in angles else plot
        for plot in cycle_plots(walks, frequencies, quantities)
    ]
    plots = [*curves, *impedance_curves(bests, JOINTS)]
    film = walk_beside_each_other(machines, walks, begin=begin, end=end, step=STEP, distance=WALKER_DISTANCE)
    return plots, film, fallen_rows(walks)


__all__ = ["PUSH_QUANTITIES", "coman_with", "draw_walks", "pushed_coman_with", "table_values"]
