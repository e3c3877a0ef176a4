"""Van de Rijt's nine sweeps: one parameter at a time from the baseline, both scenarios, all analysis
variables; and whether what he says of each (chapter 6) holds here too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from strut.studies.rijt_scenarios import OUR_CHOICES, SCENARIOS, measure
from strut.studies.rijt_tables import SOURCE
from strut.studies.study import Plot, Row, Study

COM, HEIGHT, FEET, CHEST = (
    "CoM error [m]",
    "vertical CoM error [m]",
    "feet error [m]",
    "chest deviation [rad]",
)
TORQUE, FORCE, SQUARE = "joint torque [N m]", "ground force [N]", "squared torque [N^2 m^2]"
"""Names of analysis variables, as `ScenarioRun.variables` has them."""
VARIABLES = (COM, HEIGHT, FEET, CHEST, TORQUE, FORCE, SQUARE)
"""The analysis variables of the thesis."""
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
CAUSE_REMARKS = {
    (
        "relaxed",
    ): "would hold if runs counted whose programs had no solution and were relaxed (joints were to "
    "brake harder than motors can)",
    ("unsolved",): "would hold if runs counted in which our solver left programs unsolved",
    ("relaxed", "unsolved"): "would hold if runs counted in which programs were relaxed or left unsolved",
}
"""Remarks where a statement of his does not hold here, by causes of failing without which it would."""
VARIATIONS: dict[str, dict[str, float]] = {
    "": {},
    "swings of at least 0.4 m": {"shortest": 0.4},
    "steps of 0.25 s": {"step_time": 0.25},
    "gains that are critically damped (a ratio of 1)": {"damping_ratio": 1.0},
    "gains with a damping ratio of 0.5": {"damping_ratio": 0.5},
    "a saturation of 1000 N": {"momentum_limit": 1000.0},
    "no damping of angular momentum": {"spin_gain": 0.0},
    "a chest of 400 1/s^2": {"chest_stiffness": 400.0},
}
"""What was varied, one at a time, to see what statements depend on, by what it is in words; the first is what
we took. All but the damping ratio are not printed. The ratio is: by its formula it is 1/sqrt(2), which the
thesis calls critical; a ratio of 1 reads the word, and 0.5 is neither."""
UNKNOWN_CAUSE = (
    "no cause is known: it would not hold either if runs counted that did not fall but had relaxed or "
    f"unsolved programs, nor with {', '.join(list(VARIATIONS)[1:])}, each alone"
)
"""Remark where it does not hold without them either, nor with other choices."""
Outcome = tuple[dict[str, str], dict[str, tuple[float, float]]]
"""Why a run failed, by cause, and its analysis variables (none of a run that fell)."""
SAME_MEAN_SLACK = 0.1
"""[1] Relative difference up to which two means count as the same."""


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
def sweep(parameter: str, scenario: str, forgiven: tuple[str, ...] = (), variation: str = "") -> Sweep:
    """Return the sweep of a scenario over a parameter's grid. forgiven: causes (`ScenarioRun.failures`) that
    do not count as failing. variation: one of `VARIATIONS`."""
    runs = [
        (", ".join(text for cause, text in failures.items() if cause not in forgiven), variables)
        for failures, variables in _outcomes(parameter, scenario, variation)
    ]
    nothing = (np.nan, np.nan)
    columns = {v: np.array([nothing if why else of[v] for why, of in runs]) for v in VARIABLES}
    return Sweep(
        parameter,
        scenario,
        PARAMETER_GRIDS[parameter],
        tuple(why for why, _ in runs),
        {v: c[:, 0] for v, c in columns.items()},
        {v: c[:, 1] for v, c in columns.items()},
    )


@cache
def _works(scenario: str, variation: str) -> bool:
    """Whether a scenario succeeds with the baseline and one of `VARIATIONS`."""
    return measure(scenario, VARIATIONS[variation]).ok


def _verdict(
    statement: str,
    parameter: str,
    holds: Callable[[Sweep, Sweep], bool],
    variable: str = FEET,
    *,
    of: Sequence[str] = ("walking",),
) -> Row:
    """A row: what he says, whether it holds, and the numbers; where it does not, what would make it hold. of:
    the scenarios that the statement is about: where these fail anyway, it says nothing."""
    walking, pushed = sweep(parameter, "walking"), sweep(parameter, "push")
    text = f"walking {variable}: {walking.mean_texts(variable)}; push: {pushed.mean_texts(variable)}"
    if holds(walking, pushed):
        return Row(f"{parameter}: {statement}", "yes", "yes", text)
    remarks = (
        remark
        for causes, remark in CAUSE_REMARKS.items()
        if holds(sweep(parameter, "walking", causes), sweep(parameter, "push", causes))
    )
    others = (
        _variation_remark(variation)
        for variation in list(VARIATIONS)[1:]
        if all(_works(scenario, variation) for scenario in of)
        and holds(*(sweep(parameter, scenario, (), variation) for scenario in ("walking", "push")))
    )
    why = next(remarks, None) or next(others, UNKNOWN_CAUSE)
    return Row(f"{parameter}: {statement}", "yes", "no", f"{why}; {text}")


def _variation_remark(variation: str) -> str:
    """What is said of a statement that holds with another choice of ours."""
    failing = [scenario for scenario in SCENARIOS if not _works(scenario, variation)]
    price = f", with which {' and '.join(failing)} fails" if failing else ""
    tried = f"the first of {len(VARIATIONS) - 1} variations tried that does so"
    return f"cause not shown, but it depends on this: it holds with {variation}{price} ({tried})"


def _same(a: float, b: float) -> bool:
    """Whether two means are the same, nearly."""
    return bool(abs(a - b) <= SAME_MEAN_SLACK * max(abs(a), abs(b)))


def rows() -> list[Row]:
    """Compare the shapes of all sweeps with what he says of them."""
    table = [
        _verdict(
            "push fails below 200 N m",
            "torque_limit",
            lambda w, p: not any(v < 200 for v in p.good_values),
            of=("push",),
        ),
        _verdict(
            "feet are followed little better above 220 N m",
            "torque_limit",
            lambda w, p: (
                w.mean(FEET, 220) - w.mean(FEET, 500) < w.mean(FEET, w.good_values[0]) - w.mean(FEET, 220)
                or _same(w.mean(FEET, 220), w.mean(FEET, 500))
            ),
        ),
        _verdict(
            "push fails below 750 N",
            "force_limit",
            lambda w, p: not any(v < 750 for v in p.good_values),
            of=("push",),
        ),
        _verdict(
            "walking gains nothing above 750 N",
            "force_limit",
            lambda w, p: w.works(750) and _same(w.mean(FEET, 750), w.mean(FEET, 1500)),
        ),
        _verdict(
            "no effect below 1e-1",
            "force_weight",
            lambda w, p: w.works(1e-2) and _same(w.mean(FEET, 1e-8), w.mean(FEET, 1e-2)),
        ),
        _verdict(
            "unstable above 1e-1",
            "force_weight",
            lambda w, p: not (w.works(10.0) and p.works(10.0)),
            of=("walking", "push"),
        ),
        _verdict(
            "no effect up to 10",
            "acceleration_weight",
            lambda w, p: w.works(10.0) and _same(w.mean(FEET, 1e-4), w.mean(FEET, 10.0)),
        ),
        _verdict(
            "weaker feet above 10",
            "acceleration_weight",
            lambda w, p: not w.works(1e3) or w.mean(FEET, 1e3) > (1 + SAME_MEAN_SLACK) * w.mean(FEET, 10.0),
        ),
        _verdict(
            "unstable below 10",
            "momentum_weight",
            lambda w, p: not (w.works(0.1) and p.works(0.1)),
            of=("walking", "push"),
        ),
        _verdict(
            "poor feet above 1000",
            "momentum_weight",
            lambda w, p: not w.works(1e4) or w.mean(FEET, 1e4) > (1 + SAME_MEAN_SLACK) * w.mean(FEET, 10.0),
        ),
        _verdict(
            "too weak at 1000",
            "feet_weight",
            lambda w, p: not (w.works(1e3) and p.works(1e3)) or w.mean(FEET, 1e3) > 2 * w.mean(FEET, 1e5),
            of=("walking", "push"),
        ),
        _verdict(
            "larger: feet better",
            "feet_weight",
            lambda w, p: w.works(1e6) and w.mean(FEET, 1e6) < w.mean(FEET, 1e5),
        ),
        _verdict(
            "larger: chest worse",
            "feet_weight",
            lambda w, p: w.works(1e6) and w.mean(CHEST, 1e6) > w.mean(CHEST, 1e5),
            CHEST,
        ),
        _hard_feet(),
        _verdict(
            "larger: chest better",
            "chest_weight",
            lambda w, p: (
                w.works(1e4) and w.mean(CHEST, 1e5) < w.mean(CHEST, 1e4) < w.mean(CHEST, w.good_values[0])
            ),
            CHEST,
        ),
        _verdict(
            "feet not touched up to 1e4",
            "chest_weight",
            lambda w, p: w.works(1e4) and _same(w.mean(FEET, w.good_values[0]), w.mean(FEET, 1e4)),
        ),
        _verdict(
            "larger: CoM nearer when walking",
            "com_stiffness",
            lambda w, p: w.mean(COM, w.good_values[-1]) < w.mean(COM, w.good_values[0]),
            COM,
        ),
        _verdict(
            "larger: feet error grows",
            "com_stiffness",
            lambda w, p: w.mean(FEET, w.good_values[-1]) > w.mean(FEET, w.good_values[0]),
        ),
        _verdict(
            "push hardly affected",
            "com_stiffness",
            lambda w, p: (
                len(p.good_values) == len(p.values)
                and float(np.ptp(p.peaks[COM])) < SAME_MEAN_SLACK * float(np.mean(p.peaks[COM]))
            ),
            COM,
            of=("push",),
        ),
        _verdict(
            "larger: feet better, mostly at low values",
            "feet_stiffness",
            lambda w, p: (
                w.mean(FEET, w.good_values[0]) - w.mean(FEET, 1000) > w.mean(FEET, 1000) - w.mean(FEET, 4000)
            ),
        ),
        _verdict(
            "larger: CoM error up when walking",
            "feet_stiffness",
            lambda w, p: w.works(4000) and w.mean(COM, 4000) > w.mean(COM, w.good_values[0]),
            COM,
        ),
        _verdict(
            "larger: less squared torque",
            "feet_stiffness",
            lambda w, p: w.works(4000) and w.mean(SQUARE, 4000) < w.mean(SQUARE, w.good_values[0]),
            SQUARE,
        ),
    ]
    return table + [Row(f"choices {k + 1}", "-", "see remark", text) for k, text in enumerate(OUR_CHOICES)]


def _hard_feet() -> Row:
    """The feet's accelerations as equations."""
    outcomes = {name: measure(name, {}, hard_feet=True) for name in SCENARIOS}
    words = "; ".join(f"{name}: {run.why_failed or 'succeeds'}" for name, run in outcomes.items())
    fails = any(not run.ok for run in outcomes.values())
    return Row("feet_weight: an equation instead is unstable", "yes", "yes" if fails else "no", words)


def plots() -> Sequence[Plot]:
    """All analysis variables against each parameter, in both scenarios."""
    pictures = []
    for parameter, values in PARAMETER_GRIDS.items():
        sweeps = [sweep(parameter, scenario) for scenario in SCENARIOS]
        for variable in VARIABLES:
            curves = {
                f"{s.scenario}, {word}": column[variable].tolist()
                for s in sweeps
                for word, column in (("mean", s.means), ("peak", s.peaks))
            }
            pictures.append(
                Plot(
                    title=f"{variable} over {parameter}",
                    x_label=parameter,
                    y_label=variable,
                    x=tuple(float(v) for v in values),
                    curves=curves,
                    log_x=values[-1] / values[0] > 20,
                )
            )
    return pictures


STUDY = Study(
    "rijt-sweeps",
    "Momentum control of a planar humanoid: nine parameters, one at a time (chapter 6, appendices E and F)",
    SOURCE,
    rows,
    plots,
)
