"""Sweeps of van de Rijt's controller, each read in several ways: what a statement of his may depend on that
he does not print.

A statement about a sweep leaves open which runs count as failing, over which feet an error is averaged, over
which values the parameter goes, and all that the thesis does not say of machine and controller. Each of these
is a `SweepReading`; where a statement does not hold as we did it, it is asked of the others, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from strut.studies.rijt_scenarios import SCENARIOS, measure

COM, HEIGHT, FEET, CHEST = (
    "CoM error [m]",
    "vertical CoM error [m]",
    "feet error [m]",
    "chest deviation [rad]",
)
TORQUE, FORCE, SQUARE = "joint torque [N m]", "ground force [N]", "squared torque [N^2 m^2]"
SWINGING = "error of the swinging foot [m]"
"""Names of analysis variables, as `ScenarioRun.variables` has them."""
VARIABLES = (COM, HEIGHT, FEET, SWINGING, CHEST, TORQUE, FORCE, SQUARE)
"""The analysis variables of the thesis, and the error of the foot that swings alone."""
PARAMETER_GRIDS: dict[str, tuple[float, ...]] = {
    "torque_limit": (160, 180, 200, 210, 220, 240, 260, 300, 400, 500),
    "force_limit": (500, 600, 700, 750, 800, 900, 1000, 1250, 1500),
    "force_weight": (1e-8, 1e-6, 1e-4, 1e-2, 1e-1, 1.0, 10.0),
    "acceleration_weight": (1e-4, 1e-2, 1.0, 10.0, 100.0, 1e3),
    "momentum_weight": (0.1, 1.0, 10.0, 100.0, 1e3, 1e4),
    "feet_weight": (1e3, 1e4, 1e5, 1e6, 1e7),
    "chest_weight": (1e2, 1e3, 1e4, 1e5, 1e6, 1e7),
    "com_stiffness": (250, 500, 1000, 1500, 2500, 4000),
    "feet_stiffness": (100, 250, 500, 1000, 2000, 4000),
}
"""By parameter: the values that are tried. His are not printed."""
VARIATIONS: dict[str, dict[str, float]] = {
    "": {},
    "feet that count as landed below 1 mm": {"touch_gap": 1e-3},
    "feet that count as landed below 0.01 mm": {"touch_gap": 1e-5},
    "feet 0.123 m apart at first": {"spread": 0.123},
    "swings of at least 0.607 m": {"shortest": 0.607},
    "swings 3 cm high": {"swing_height": 0.03},
    "steps of 0.25 s": {"step_time": 0.25},
    "gains that are critically damped (a ratio of 1)": {"damping_ratio": 1.0},
    "gains with a damping ratio of 0.5": {"damping_ratio": 0.5},
    "a saturation of 100 N": {"momentum_limit": 100.0},
    "a saturation of 430 N": {"momentum_limit": 430.0},
    "no damping of angular momentum": {"spin_gain": 0.0},
    "a chest of 400 1/s^2": {"chest_stiffness": 400.0},
    "a centre of mass at 0.9 m": {"com_height": 0.9},
}
"""What was varied, one at a time, to see what statements depend on, by what it is in words; the first is what
we took. All but the damping ratio are not printed. The ratio is: by its formula it is 1/sqrt(2), which the
thesis calls critical; a ratio of 1 reads the word, and 0.5 is neither."""
MIN_GRID_LENGTH = 3
"""Values that are left of a grid, at least, where it begins later."""
Outcome = tuple[dict[str, str], dict[str, tuple[float, float]]]
"""Why a run failed, by cause, and its analysis variables (none of a run that fell)."""


@dataclass(frozen=True)
class SweepReading:
    """A way to read a sweep.

    words: what it is, after 'holds'; empty for ours. forgiven: causes (`ScenarioRun.failures`) that do not
    count as failing. swinging: whether the error of the feet is that of the foot that swings, not of both.
    first: the value with which the grid begins, if not with its own. variation: one of `VARIATIONS`.
    """

    words: str = ""
    forgiven: tuple[str, ...] = ()
    swinging: bool = False
    first: float | None = None
    variation: str = ""


OURS = SweepReading()
"""How we read all sweeps."""


@dataclass(frozen=True)
class Sweep:
    """One parameter over its grid, in one scenario.

    failed: why each run failed, empty where it did not. means, peaks: by variable, in its unit; nan where a
        run failed.
    """

    parameter: str
    scenario: str
    values: tuple[float, ...]
    failed: tuple[str, ...]
    means: dict[str, np.ndarray]
    peaks: dict[str, np.ndarray]

    def mean(self, variable: str, value: float) -> float:
        """The mean of a variable at a value of the grid."""
        return float(self.means[variable][self.values.index(value)])

    def works(self, value: float) -> bool:
        """Whether the scenario succeeds there."""
        return not self.failed[self.values.index(value)]

    @property
    def good_values(self) -> list[float]:
        """The values at which the scenario succeeds."""
        return [value for value in self.values if self.works(value)]

    def mean_texts(self, variable: str) -> str:
        """The means of a variable, in words."""
        return ", ".join(
            f"{value:g}: {mean:.3g}" if not why else f"{value:g}: fails ({why})"
            for value, mean, why in zip(self.values, self.means[variable], self.failed, strict=True)
        )


@cache
def _outcomes(parameter: str, scenario: str, variation: str) -> tuple[Outcome, ...]:
    """Run a scenario for every value of a parameter's grid, with one of `VARIATIONS`."""
    base = VARIATIONS[variation]
    runs = (measure(scenario, {**base, parameter: value}) for value in PARAMETER_GRIDS[parameter])
    return tuple((run.failures, {} if "fall" in run.failures else run.variables) for run in runs)


@cache
def sweep(parameter: str, scenario: str, reading: SweepReading = OURS) -> Sweep:
    """Return the sweep of a scenario over a parameter's grid, read in one way."""
    chosen = [
        (value, outcome)
        for value, outcome in zip(
            PARAMETER_GRIDS[parameter], _outcomes(parameter, scenario, reading.variation), strict=True
        )
        if reading.first is None or value >= reading.first
    ]
    runs = [
        (", ".join(text for cause, text in failures.items() if cause not in reading.forgiven), variables)
        for _, (failures, variables) in chosen
    ]
    nothing = (np.nan, np.nan)
    columns = {v: np.array([nothing if why else of.get(v, nothing) for why, of in runs]) for v in VARIABLES}
    if reading.swinging:
        columns[FEET] = columns[SWINGING]
    return Sweep(
        parameter,
        scenario,
        tuple(value for value, _ in chosen),
        tuple(why for why, _ in runs),
        {v: c[:, 0] for v, c in columns.items()},
        {v: c[:, 1] for v, c in columns.items()},
    )


@cache
def works(scenario: str, variation: str) -> bool:
    """Whether a scenario succeeds with the baseline and one of `VARIATIONS`."""
    return measure(scenario, VARIATIONS[variation]).ok


def _groups(parameter: str) -> Iterator[list[SweepReading]]:
    """Other readings than ours, in groups: of each group the first that makes a statement hold is told."""
    yield [
        SweepReading("if runs count whose programs had no solution and were relaxed", forgiven=("relaxed",)),
        SweepReading("if runs count in which programs were left unsolved", forgiven=("unsolved",)),
    ]
    swinging = SweepReading(
        "for the error of the foot that swings, without the one that stands", swinging=True
    )
    yield [swinging]
    later = PARAMETER_GRIDS[parameter][1 : 1 - MIN_GRID_LENGTH]
    from_value = [SweepReading(f"for values from {value:g} on", first=value) for value in later]
    yield from_value
    yield [replace(each, words=f"{each.words} {swinging.words}", swinging=True) for each in from_value]
    other_choices = [SweepReading(f"with {words}", variation=words) for words in list(VARIATIONS)[1:]]
    yield other_choices
    yield [replace(each, words=f"{each.words} {swinging.words}", swinging=True) for each in other_choices]
    yield [
        replace(each, words=f"{each.words} {start.words}", first=start.first)
        for each in other_choices
        for start in from_value
    ]


def readings_that_hold(
    parameter: str, holds: Callable[[Sweep, Sweep], bool], scenarios: Sequence[str]
) -> list[str]:
    """Return, in words, readings of a sweep with which a statement holds, the first of each group; two
    changes at once only where one alone does not. scenarios: those that the statement is about; where these
    fail anyway with other choices, it says nothing."""
    readings: list[SweepReading] = []
    for group in _groups(parameter):
        kinds = (group[0].swinging, group[0].first is not None, bool(group[0].variation))
        if readings and sum(kinds) > 1:
            continue
        first = next((each for each in group if _holds(parameter, holds, scenarios, each)), None)
        readings += [] if first is None else [first]
    return [_in_words(each) for each in readings]


def _holds(
    parameter: str, holds: Callable[[Sweep, Sweep], bool], scenarios: Sequence[str], reading: SweepReading
) -> bool:
    """Whether a statement holds as a sweep is read."""
    if reading.variation and not all(works(scenario, reading.variation) for scenario in scenarios):
        return False
    try:
        return bool(holds(*(sweep(parameter, scenario, reading) for scenario in ("walking", "push"))))
    except (ValueError, IndexError):  # a value that the statement names is not in the grid, or nothing works
        return False


def _in_words(reading: SweepReading) -> str:
    """A reading in words; of another choice of ours, also what fails with it."""
    if not reading.variation:
        return reading.words
    failing = [scenario for scenario in SCENARIOS if not works(scenario, reading.variation)]
    return reading.words + (f" ({' and '.join(failing)} then fails)" if failing else "")


__all__ = [
    "CHEST",
    "COM",
    "FEET",
    "PARAMETER_GRIDS",
    "SQUARE",
    "VARIABLES",
    "VARIATIONS",
    "Sweep",
    "SweepReading",
    "readings_that_hold",
    "sweep",
]
