"""Kieboom's COMAN that learns to walk from goals: three kinds of impedance along a phase whose frequency is
searched, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

from strut import evolve
from strut.control import phase_tables
from strut.simulate import Trajectory, simulate
from strut.studies.coman_gait import (
    DURATION,
    FEET,
    GOAL_NAMES,
    JOINTS,
    MAX_JOINT_RATE,
    MODES,
    STEP,
    FrequencyTables,
    coman_walker,
)
from strut.studies.coman_search import search_gaits
from strut.studies.coman_verification import coman_ways
from strut.studies.gait_pictures import cycle_plots, impedance_curves, progress_plots, walk_beside_each_other
from strut.studies.gait_verification import LONG_DURATION, Verified, candidates_of, verify_bests
from strut.studies.study import Plot, Row, SearchOrder, SearchOutcome, SearchStudy
from strut.system import System

FOLDER = "kieboom-coman"
"""Where the study keeps its searches unless it is told."""
WEIGHT = 27.33174 * 9.81
"""[N] Of COMAN's model."""
PUBLISHED = {"const": (0.64, 0.48, 40.5), "step": (0.63, 0.44, 27.8), "ppoly": (0.53, 0.33, 64.9)}
"""[Hz, m/s, J/m] Frequency, speed and cost of the best of table 4.6."""
SHOWN_TIME, SETTLING_TIME = 6.0, 8.0
"""[s] How long the moving picture is, and when it begins."""
WALKER_DISTANCE = 0.9
"""[m] Between the walkers of the moving picture."""
COST_MEANING = "sum of |torque x rate| over the distance; the thesis does not say how negative work counts"
"""What our cost is."""


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all modes side by side, as far as is asked, then run what was found again and compare."""
    evolutions = search_gaits(order, tell) if order.search else load_searches(order.folder)
    curves = progress_plots(evolutions, "cost [J/m]")
    if not order.verify:
        return SearchOutcome(_rows(order.folder, evolutions, {}), curves)
    candidates = {mode: candidates_of(order.folder / f"{mode}.db", each) for mode, each in evolutions.items()}
    verified = verify_bests(order.folder, candidates, coman_ways(), tell)
    bests = best_of_modes(evolutions, verified)
    tell("the best of each mode walks once more, for the page")
    plots, film = draw_walks(bests)
    return SearchOutcome(_rows(order.folder, evolutions, verified), [*curves, *plots], film)


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


def _rows(
    folder: Path, evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> list[Row]:
    """The table."""
    rows: list[Row] = []
    for mode, evolution in evolutions.items():
        rows += _mode_rows(mode, evolution, [each for (name, _), each in verified.items() if name == mode])
    rows.append(_order_row(evolutions, verified))
    seconds = sum(evolution.seconds for evolution in evolutions.values())
    count = sum(evolution.evaluations for evolution in evolutions.values())
    took = f"{count} from three starts each, in {seconds / 60:.1f} min"
    rows.append(Row("evaluations, and how long they took", "1.8 million", took, f"searches in {folder}"))
    return rows


def _mode_rows(mode: str, evolution: evolve.Evolution, own: list[Verified]) -> list[Row]:
    """The rows of one kind of impedance."""
    frequency, speed, cost = PUBLISHED[mode]
    last = [best for best in evolution.best_of_run if best.stage == len(GOAL_NAMES)]
    generations = int(evolution.history["generation"].max()) + 1
    rows = [
        Row(
            f"{mode}: runs that reach the last goal",
            "10 runs; how many is not said",
            f"{len(last)} of {len(evolution.best_of_run)}",
            f"after {generations} generations" + ("" if evolution.finished else ", not finished"),
        )
    ]
    if not own:
        return rows
    lasting = [each for each in own if each.holds]
    costs = [each.measures["long"]["cost"] for each in lasting]
    cost_text = f"{np.mean(costs):.1f} ({np.std(costs):.1f})" if costs else "none"
    rows.append(
        Row(
            f"{mode}: keep all goals at 0.1 ms, with located contacts, and over {LONG_DURATION:g} s",
            "",
            f"{len(lasting)} of {len(own)}",
            f"cost {cost_text} J/m, mean and deviation",
        )
    )
    best = min(own, key=lambda each: each.rank)
    values = best.measures.get("long")
    if values is None:
        return rows
    own_frequency = best.individual.parameters["frequency"]
    return [
        *rows,
        Row(
            f"{mode}: frequency of the best [Hz]",
            f"{frequency}",
            f"{own_frequency:.3f}",
            f"run {best.run + 1}",
        ),
        Row(f"{mode}: its speed [m/s]", f"{speed}", f"{values['speed']:.3f}"),
        Row(
            f"{mode}: its stride [m]",
            f"{speed / frequency:.2f}",
            f"{values['speed'] / own_frequency:.3f}",
            "published as step length: it is speed over frequency",
        ),
        Row(
            f"{mode}: its cost [J/m]",
            f"{cost}",
            f"{values['cost']:.1f}",
            f"{COST_MEANING}; positive work alone {values['power_positive'] / values['speed']:.1f}, "
            f"net {values['power_net'] / values['speed']:.1f}; over the weight {values['cost'] / WEIGHT:.3f}",
        ),
        Row(f"{mode}: its stance", "50 %", f"{100 * values['stance']:.1f} %"),
        Row(
            f"{mode}: its motors",
            "beyond their limits: hip of ppoly, knee of const",
            f"at most 30 N m; a joint beyond {MAX_JOINT_RATE:g} rad/s for "
            f"{100 * values['fast_time'] / (LONG_DURATION / 2):.2f} % of the time",
            "torque is cut off at its limit",
        ),
    ]


def _order_row(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> Row:
    """The modes in the order of the costs of their bests, with means over runs and standard errors."""
    bests, means, errors = {}, {}, {}
    for mode, evolution in evolutions.items():
        costs = [best.value for best in evolution.best_of_run if best.stage == len(GOAL_NAMES)]
        if verified:
            own = [each for (name, _), each in verified.items() if name == mode and each.holds]
            costs = [each.measures["long"]["cost"] for each in own]
        if costs:
            bests[mode], means[mode] = min(costs), float(np.mean(costs))
            errors[mode] = float(np.std(costs, ddof=1) / np.sqrt(len(costs))) if len(costs) > 1 else np.nan
    order = sorted(bests, key=lambda mode: bests[mode])
    by_mean = sorted(means, key=lambda mode: means[mode])
    sure = all(means[b] - means[a] > 2 * np.hypot(errors[a], errors[b]) for a, b in pairwise(by_mean))
    listed = ", ".join(f"{mode} {means[mode]:.1f} +- {errors[mode]:.1f}" for mode in by_mean)
    verdict = (
        "" if sure else "; neighbours differ by less than two standard errors: no order of means is shown"
    )
    ours = " < ".join(f"{mode} {bests[mode]:.1f}" for mode in order) or "none reached it"
    return Row("order of the bests' costs [J/m]", "step < const < ppoly", ours, f"means: {listed}{verdict}")


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
