"""What the page of exoskeletons draws: where the search has been, its goals over time, the best designs to
scale, and what they do over a cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from strut import evolve, linkage, walkers
from strut.simulate import Trajectory, simulate
from strut.studies.exoskeleton_rival import RIVAL, RIVAL_MOTORS, rival_bars
from strut.studies.gait_pictures import CURVE_POINTS, progress_plots
from strut.studies.study import ColourMap, Picture, Plot
from strut.system import System

JOINT_NUMBERS = range(1, 7)
"""Of a linkage, as published."""
TOPOLOGY_NUMBERS = range(1, 11)
"""As published."""
PICTURE_STEP = 2.5e-4
"""[s] Step of RK4 of walks that are drawn."""
FILMED_STRIDES = 2
"""Strides of a moving picture."""
PAIRS = tuple(f"{a}{b}" for a, b in combinations(JOINT_NUMBERS, 2))
"""Pairs of joints, in the order of the map's columns."""


def visits_map(visits: Mapping[str, float], bests: Sequence[str] = ()) -> ColourMap:
    """Return how often each topology with each pair of actuators was evaluated, as the logarithm to base 2;
    one that was never visited counts as -1, and where a pair does not drive a topology there is nothing.

    visits: by group, as "2-15". bests: groups of the best designs, which are marked."""
    values = np.full((len(TOPOLOGY_NUMBERS), len(PAIRS)), np.nan)
    for group, count in visits.items():
        row, column = _cell(group)
        values[row, column] = np.log2(count) if count > 0 else -1.0
    marks = {}
    if bests:
        cells = [_cell(group) for group in dict.fromkeys(bests)]
        marks["best designs"] = (
            [float(column + 1) for _, column in cells],
            [float(row + 1) for row, _ in cells],
        )
    columns = ", ".join(f"{k + 1}: {pair}" for k, pair in enumerate(PAIRS))
    return ColourMap(
        "visits by topology and pair of actuators",
        f"pair of joints ({columns})",
        "topology",
        "log2 of evaluations (-1: never)",
        tuple(float(k + 1) for k in range(len(PAIRS))),
        tuple(float(n) for n in TOPOLOGY_NUMBERS),
        values.tolist(),
        marks,
    )


def _cell(group: str) -> tuple[int, int]:
    """Row and column of a group, from 0."""
    number, _, pair = group.partition("-")
    return int(number) - 1, PAIRS.index("".join(sorted(pair)))


def stage_plots(evolutions: Mapping[str, evolve.Evolution]) -> list[Plot]:
    """Return goals over time: the mean of all runs, the power of those at the last goal, and the goal of the
    best so far of every run."""
    plots = progress_plots(evolutions, "power [W]")
    curves, count = {}, 0
    for name, evolution in evolutions.items():
        history = evolution.history
        for run in np.unique(history["run"]):
            own = history["best_stage"][history["run"] == run]
            several = len(np.unique(history["run"])) > 1
            curves[f"{name}, run {int(run) + 1}" if several else name] = own.astype(float)
            count = max(count, len(own))
    x = tuple(float(k + 1) for k in range(count))
    padded = {
        name: np.pad(own, (0, count - len(own)), constant_values=np.nan).tolist()
        for name, own in curves.items()
    }
    return [*plots, Plot("goal of each run", "generation", "goal of the best so far", x, padded)]


def draw_designs(
    designs: Mapping[str, tuple[linkage.Topology, np.ndarray, Sequence[str]]],
) -> list[Picture]:
    """Return drawings of designs to scale, and of their graphs. designs: by title, topology, values of pins
    and actuators."""
    return [
        Picture(
            title,
            linkage.draw_linkage(topology, np.reshape(pins, (1, -1)), title, actuators)
            + linkage.draw_graph(topology, title, actuators),
        )
        for title, (topology, pins, actuators) in designs.items()
    ]


def draw_rival(parameters: Mapping[str, float], title: str = RIVAL) -> Picture:
    """Return a drawing of the rival to scale. parameters: with its cuffs, shares of the segments."""
    limb = linkage.human_leg()
    bars: dict[str, list[np.ndarray]] = {}
    pins: dict[str, np.ndarray] = {}
    motors = []
    for motor, segment, joint in zip(RIVAL_MOTORS, ("thigh", "shank"), ("hip", "knee"), strict=True):
        top = np.array(limb.pivot(joint))
        length = rival_bars()[len(bars)]
        bars[f"{segment} bar"] = [top, top - (0.0, length)]
        pins[motor] = top
        pins[f"{segment} cuff"] = top - (0.0, parameters[f"{segment}_cuff"] * length)
        motors.append(motor)
    return Picture(title, linkage.draw_bars(limb, bars, pins, title, motors))


@dataclass(frozen=True)
class GaitSources:
    """Where curves of a machine come from, of its right leg. torques: by actuator the output that is its
    torque, and the weights of the joints whose rates make its own. forces: by place the outputs that are the
    components of the force between human and machine there [N]."""

    torques: Mapping[str, tuple[str, Mapping[str, float]]]
    forces: Mapping[str, Sequence[str]]


def linkage_sources(topology: linkage.Topology, actuators: Sequence[str]) -> GaitSources:
    """Return where curves of a linkage come from."""
    weights = linkage.joint_angles(topology, "_r")
    return GaitSources(
        {joint: (f"{joint}_r_motor_torque", weights[f"{joint}_r"]) for joint in actuators},
        walkers.exoskeleton_attachments(topology),
    )


def rival_sources() -> GaitSources:
    """Return where curves of the rival come from: on soft ground its bars turn as hips and knees do."""
    return GaitSources(
        {
            motor: (f"{motor}_r_motor_torque", {f"{joint}_r": 1.0})
            for motor, joint in zip(RIVAL_MOTORS, ("hip", "knee"), strict=True)
        },
        walkers.anthropomorphic_attachments(),
    )


def gait_plots(
    walks: Mapping[str, Trajectory], sources: Mapping[str, GaitSources], frequency: float
) -> list[Plot]:
    """Return curves over the last whole cycle of walks, of the right leg: angles of hip and knee, torques and
    powers of actuators and of the ankle, and forces between human and machine. A walk that fell has none.
    sources: by title. frequency: of the gait [Hz]."""
    phase = np.linspace(0, 1, CURVE_POINTS)
    curves: dict[str, dict[str, list[float]]] = {
        "angles of hip and knee [deg]": {},
        "torques of actuators [N m]": {},
        "powers of actuators [W]": {},
        "forces between human and machine [N]": {},
    }
    angles, torques, powers, forces = curves.values()
    for title, walk in walks.items():
        if walk.status != "done":
            continue
        moments = walk.at((np.floor(walk.t[-1] * frequency) - 1 + phase) / frequency)
        for joint in ("hip", "knee"):
            angles[f"{title}: {joint}"] = np.rad2deg(moments[f"{joint}_r"]).tolist()
        ankle = {"ankle": ("ankle_r_torque", {"ankle_r": 1.0})}
        for joint, (output, own) in {**sources[title].torques, **ankle}.items():
            rate = np.sum([weight * moments[f"{name}_rate"] for name, weight in own.items()], axis=0)
            torques[f"{title}: {joint}"] = moments[output].tolist()
            powers[f"{title}: {joint}"] = (moments[output] * rate).tolist()
        for place, outputs in sources[title].forces.items():
            if place.endswith("_r") and all(name in walk.names.outputs for name in outputs):
                size = np.sqrt(np.sum([moments[name] ** 2 for name in outputs], axis=0))
                forces[f"{title}: {place[:-2]}"] = size.tolist()
    return [
        Plot(f"{text.partition(' [')[0]}, right leg", "phase [1]", text, tuple(phase.tolist()), own)
        for text, own in curves.items()
        if own
    ]


def last_strides(machine: System, walk: Trajectory, frequency: float) -> Trajectory:
    """Return the last whole strides of a walk from where it then is, begun anew at x = 0, for a moving
    picture; of one that fell all of it. machine: that walks."""
    if walk.status != "done":
        return walk
    end = np.floor(walk.t[-1] * frequency) / frequency
    begin = end - FILMED_STRIDES / frequency
    now = walk.at(begin)
    x0 = {name: float(now[name]) for name in machine.labels("x")} | {"x": 0.0}
    return simulate(machine, (begin, end), x0=x0, method="rk4", step=PICTURE_STEP, ledger=False)


__all__ = [
    "PAIRS",
    "PICTURE_STEP",
    "GaitSources",
    "draw_designs",
    "draw_rival",
    "gait_plots",
    "last_strides",
    "linkage_sources",
    "rival_sources",
    "stage_plots",
    "visits_map",
]
