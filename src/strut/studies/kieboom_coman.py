"""Kieboom's COMAN that learns to walk from goals: three kinds of impedance along a phase whose frequency is
searched, too."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.simulate import Trajectory, simulate
from strut.studies.coman_gait import (
    DURATION,
    FEET,
    GENERATIONS,
    JOINTS,
    MODES,
    STEP,
    FrequencyTables,
    coman_walker,
)
from strut.studies.coman_search import (
    LIMITED_FOLDER,
    LIMITED_GENERATIONS,
    search_gaits,
    search_limited_gaits,
)
from strut.studies.coman_table import WEIGHT, coman_rows
from strut.studies.coman_verification import coman_ways
from strut.studies.gait_pictures import cycle_plots, impedance_curves, progress_plots, walk_beside_each_other
from strut.studies.gait_verification import Verified, candidates_of, verify_bests
from strut.studies.mode_searches import has_searches
from strut.studies.study import Plot, Row, SearchOrder, SearchOutcome, SearchStudy
from strut.system import System

FOLDER = "kieboom-coman"
"""Where the study keeps its searches unless it is told."""
SHOWN_TIME, SETTLING_TIME = 6.0, 8.0
"""[s] How long the moving picture is, and when it begins."""
WALKER_DISTANCE = 0.9
"""[m] Between the walkers of the moving picture."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, as published and then within the limits of the
    joints' rates; then run what was found again and compare."""
    parts = _search(order, tell) if order.search else _load(order.folder)
    first, last = parts[0], parts[-1]
    curves = progress_plots(first, "cost [J/m]")
    if not order.verify:
        return SearchOutcome(coman_rows(order.folder, parts, {}), curves)
    limits = len(parts) > 1
    place = order.folder / LIMITED_FOLDER if limits else order.folder
    candidates = {mode: candidates_of(place / f"{mode}.db", each) for mode, each in last.items()}
    verified = verify_bests(place, candidates, coman_ways(limits=limits), tell)
    bests = best_of_modes(last, verified)
    tell("the best of each mode walks once more, for the page")
    plots, film = draw_walks(bests)
    return SearchOutcome(coman_rows(order.folder, parts, verified), [*curves, *plots], film)


def _search(order: SearchOrder, tell: Callable[[str], None]) -> list[dict[str, evolve.Evolution]]:
    """Search, or go on with what the folder has: the first part and, where that is done, the second."""
    began = clock.monotonic()
    first = search_gaits(order, tell)
    left = order.minutes_left(began)
    if not all(each.finished for each in first.values()) or (left is not None and left <= 0):
        return [first]
    # of a search with fewer generations than were published, the second part is shorter, too
    share = (order.generations or GENERATIONS) / GENERATIONS
    generations = max(1, round(share * LIMITED_GENERATIONS))
    return [first, search_limited_gaits(order, generations, left, tell)]


def _load(folder: Path) -> list[dict[str, evolve.Evolution]]:
    """What the folder has of searches, part by part."""
    second = folder / LIMITED_FOLDER
    return [load_searches(each) for each in (folder, second) if each == folder or has_searches(each, MODES)]


def load_searches(folder: Path) -> dict[str, evolve.Evolution]:
    """Return what a folder has of searches."""
    return {mode: evolve.load_evolution(folder / f"{mode}.db") for mode in MODES}


def best_of_modes(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> dict[str, evolve.Individual]:
    """Return by mode the best that is shown: the one that keeps most goals in every way, and costs least."""
    bests = {}
    for mode, evolution in evolutions.items():
        own = [answer for (name, _), answer in verified.items() if name == mode]
        bests[mode] = min(own, key=lambda each: each.rank).individual if own else evolution.best
    return bests


def coman_with(mode: str, parameters: Mapping[str, float]) -> System:
    """Return COMAN with the controller of some mode and these values of its parameters, as the machine of
    tables, which is compiled once for all modes."""
    encoding = FrequencyTables(phase_tables(JOINTS, mode))
    row = encoding.rows(np.array([[parameters[name] for name in encoding.names]]))[0]
    values: dict[str, list[float]] = {}
    for label, value in zip(encoding.labels, row, strict=True):
        values.setdefault(label.partition("[")[0], []).append(float(value))
    return coman_walker("table").using({k: v if len(v) > 1 else v[0] for k, v in values.items()})


def draw_walks(bests: Mapping[str, evolve.Individual]) -> tuple[list[Plot], Trajectory | None]:
    """Return curves over a cycle of a best of each mode, and all of them walking at once."""
    machines = {mode: coman_with(mode, best.parameters) for mode, best in bests.items()}
    end = SETTLING_TIME + SHOWN_TIME
    walks = {
        mode: simulate(machine, end, method="rk4", step=STEP, ledger=False)
        for mode, machine in machines.items()
    }
    quantities: dict[str, tuple[tuple[str, ...], str, float]] = {}
    for joint in JOINTS:
        quantities[f"{joint} angle"] = ((f"{joint}_r",), "deg", 180 / np.pi)
        quantities[f"{joint} torque"] = ((f"{joint}_r_torque",), "N m", 1.0)
    normals = tuple(f"{point}_normal" for point in FEET["right"])
    quantities["vertical ground force, right foot"] = (normals, "body weights", 1 / WEIGHT)
    frequencies = {mode: best.parameters["frequency"] for mode, best in bests.items()}
    plots = [*cycle_plots(walks, frequencies, quantities), *impedance_curves(bests, JOINTS)]
    film = walk_beside_each_other(
        machines, walks, begin=SETTLING_TIME, end=end, step=STEP, distance=WALKER_DISTANCE
    )
    return plots, film


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-coman",
    "COMAN learns to walk from goals, by three kinds of impedance",
    f"Kieboom, section 4.2, tables 4.5 and 4.6; evaluations of {DURATION:g} s from three starts. Hours on "
    "two cores, minutes on a graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
)
