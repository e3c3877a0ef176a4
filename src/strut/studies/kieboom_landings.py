"""What smooths the landings of Kieboom's human? Its goals are searched with one thing changed: soft soles,
soft ankles or joints, little power, or a goal that the ground's force be smooth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from strut import evolve
from strut.simulate import Trajectory, simulate
from strut.studies.gait_verification import FINE_STEP
from strut.studies.human_beyond import MIN_PEAK_RISE, force_peaks
from strut.studies.human_gait import DURATION, FEET, FREQUENCY, human_with
from strut.studies.human_impacts import (
    GROUND_PARAMETERS,
    IMPACT_GENERATIONS,
    IMPACT_MODES,
    IMPACT_RUNS,
    PAD_DISSIPATION,
    PAD_STIFFNESS,
    SMOOTH_VARIATION,
    VARIATIONS,
    WEIGHT,
    search_impacts,
    search_name,
)
from strut.studies.human_pictures import SETTLING_PERIODS, first_contact, right_stride
from strut.studies.mode_searches import progress_text, run_options
from strut.studies.study import Plot, Row, SearchOrder, SearchOutcome, SearchStudy

FOLDER = "kieboom-landings"
"""Where the study keeps its searches unless it is told."""
FORCE_SAMPLING = 1e-3
"""[s] Time between values of a force whose peaks are counted: a force plate has as many."""
GOAL_NAMES = ("time", "speed", "steadiness", "assistance", "contact", "smooth force or cost", "cost")
"""The goals, in a word each; without a goal of smooth forces the sixth is the last."""
SHOWN_PERIODS = SETTLING_PERIODS + 3
"""Periods that a best walks again."""


@dataclass(frozen=True, eq=False)
class StrideForce:
    """How the ground pushes back under the right foot of a gait over a stride. force: over the weight, every
    `FORCE_SAMPLING` from the landing on. peaks: of it, in weights. total_variation: the sum of its rises and
    falls, in weights. first_point: of the sole, that touches first."""

    force: np.ndarray
    peaks: list[float]
    total_variation: float
    first_point: str

    @property
    def text(self) -> str:
        """What it is, in words."""
        peaks = ", ".join(f"{peak:.2f}" for peak in self.peaks)
        return (
            f"{len(self.peaks)} of {peaks} weights; rises and falls {self.total_variation:.1f}; "
            f"{self.first_point} first"
        )


def landing_of(walk: Trajectory) -> StrideForce | None:
    """Return how the ground pushes back in a walk that has settled; None where it fell or has no stride."""
    stride = right_stride(walk)
    if stride is None:
        return None
    begin = float(stride.t[0])
    times = np.arange(begin, begin + 1 / FREQUENCY, FORCE_SAMPLING)
    moments = walk.at(times)
    force = np.sum([moments[f"{point}_normal"] for point in FEET["right"]], axis=0) / WEIGHT
    return StrideForce(
        force=force,
        peaks=force_peaks(force),
        total_variation=float(np.abs(np.diff(force, append=0.0, prepend=0.0)).sum()),
        first_point=first_contact(stride),
    )


def walk_variation(name: str, mode: str, parameters: Mapping[str, float]) -> Trajectory:
    """Walk with a controller on the ground of a variation, until a stride has settled."""
    ground = (
        dict(zip(GROUND_PARAMETERS, (PAD_STIFFNESS, PAD_DISSIPATION), strict=True))
        if VARIATIONS[name].pad
        else {}
    )
    walker = human_with(mode, parameters).using(ground)
    return simulate(walker, SHOWN_PERIODS / FREQUENCY, method="rk4", step=FINE_STEP, ledger=False)


def carry_out(order: SearchOrder, tell: Callable[[str], None]) -> SearchOutcome:
    """Search all variations as far as is asked, let the bests walk again, and count the peaks of the ground's
    force under a foot."""
    evolutions = _search(order, tell) if order.search else _load(order.folder)
    rows, curves = [], {}
    for name in VARIATIONS:
        for mode in IMPACT_MODES:
            evolution = evolutions[search_name(name, mode)]
            tell(f"the best of {VARIATIONS[name].words}, {mode}, walks once more")
            landing = (
                landing_of(walk_variation(name, mode, evolution.best.parameters)) if order.verify else None
            )
            rows.append(landing_row(name, mode, evolution, landing))
            if landing is not None:
                curves[f"{name}, {mode}"] = landing.force.tolist()
    rows.append(
        Row(
            "evaluations, and how long they took",
            "",
            f"{sum(each.evaluations for each in evolutions.values())} from three starts each, in "
            f"{sum(each.seconds for each in evolutions.values()) / 60:.1f} min",
            f"searches in {order.folder}",
        )
    )
    return SearchOutcome(rows, _plots(curves))


def landing_row(name: str, mode: str, evolution: evolve.Evolution, landing: StrideForce | None) -> Row:
    """Return what became of a variation in some mode."""
    best = evolution.best
    reached = sum(each.stage == evolution.stages for each in evolution.best_of_run)
    values = best.measures
    remark = (
        f"{reached} of {len(evolution.best_of_run)} runs at the last goal; the best at goal {best.stage} of "
        f"{evolution.stages}, {values['torque']:.0f} N m, |power| {values['power_absolute']:.0f} W, "
        f"{values['speed']:.2f} m/s, stance {100 * values['stance']:.0f} %"
    )
    ours = "no stride" if landing is None else landing.text
    quantity = f"peaks of the ground's force: {VARIATIONS[name].words}, {mode}"
    return Row(quantity, "two, smooth", ours, remark)


def _plots(curves: Mapping[str, list[float]]) -> list[Plot]:
    """The ground's force over a stride, of each mode all variations."""
    plots = []
    for mode in IMPACT_MODES:
        own = {
            label.partition(",")[0]: curve for label, curve in curves.items() if label.endswith(f", {mode}")
        }
        if own:
            count = max(map(len, own.values()))
            percent = tuple((100 * np.arange(count) * FORCE_SAMPLING * FREQUENCY).tolist())
            title = f"vertical ground force, right foot, {mode}"
            plots.append(Plot(title, "part of the stride [%]", f"{title} [body weights]", percent, own))
    return plots


def _search(order: SearchOrder, tell: Callable[[str], None]) -> dict[str, evolve.Evolution]:
    """Search, or go on with what the folder has."""
    return search_impacts(
        order.folder,
        way=run_options(order),
        runs=order.runs or IMPACT_RUNS,
        generations=order.generations or IMPACT_GENERATIONS,
        minutes=order.minutes,
        progress=lambda at: tell(progress_text(at, GOAL_NAMES)),
    )


def _load(folder: Path) -> dict[str, evolve.Evolution]:
    """What the folder has of searches."""
    names = [search_name(name, mode) for name in VARIATIONS for mode in IMPACT_MODES]
    return {name: evolve.load_evolution(folder / f"{name}.db") for name in names}


def rows() -> list[Row]:
    """Carry out the whole study, in a folder of its name."""
    return carry_out(SearchOrder(Path(FOLDER)), lambda _: None).rows


STUDY = SearchStudy(
    "kieboom-landings",
    "What smooths the landings of a human that learned to walk",
    f"Kieboom, section 4.1, who reports two smooth peaks; from a known gait, evaluations of {DURATION:g} s "
    f"from three starts; peaks that rise by {MIN_PEAK_RISE:g} of the weight; a goal of smooth forces asks "
    f"for rises and falls below {SMOOTH_VARIATION:g} weights a stride. Hours on two cores, minutes on a "
    "graphics card (--device cuda)",
    rows,
    carry_out=carry_out,
)
