"""Tables 6.1 to 6.5 of van de Rijt's thesis: walking and a push, with the baseline and the final design."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strut.studies.rijt_scenarios import OUR_CHOICES, PARAMETER_SETS, ScenarioRun, measure
from strut.studies.study import Row, Study
from strut.walkers.rijt import FEET

MEAN_FORCE_TIMES = (0.005, 0.01, 0.02)
"""[s] Over which ground forces are averaged to tell landings from load."""
OTHER_CHOICES: dict[str, dict[str, float]] = {
    "feet that count as landed below 1 mm": {"touch_gap": 1e-3},
    "feet that count as landed below 0.1 mm": {"touch_gap": 1e-4},
    "feet 0.123 m apart at first": {"spread": 0.123},
    "swings of at least 0.607 m": {"shortest": 0.607},
    "all three: 1 mm, 0.123 m, 0.607 m": {"touch_gap": 1e-3, "spread": 0.123, "shortest": 0.607},
}
"""Choices that are not printed, and that decide the error of the centre of mass and the peaks of forces while
walking: other values than ours, in words."""
SOURCE = "van de Rijt, MSc thesis BE-851, University of Twente"
"""What was published, for all studies of it."""
PUBLISHED = {
    "baseline": {
        "walking": {
            "CoM error [m]": ("0.012", "0.027"),
            "feet error [m]": ("2.6e-3", "0.034"),
            "chest deviation [rad]": ("0.015", "0.058"),
            "joint torque [N m]": ("70.4", "220"),
            "ground force [N]": ("355.3", "1024"),
            "squared torque [N^2 m^2]": ("3.0e4", "1.17e5"),
        },
        "push": {
            "CoM error [m]": ("0.40", "0.91"),
            "vertical CoM error [m]": ("8.3e-3", "0.042"),
            "feet error [m]": ("2.3e-3", "0.79 (0.079?)"),
            "chest deviation [rad]": ("0.019", "0.058"),
            "joint torque [N m]": ("60.6", "220"),
            "ground force [N]": ("359.1", "1059"),
            "squared torque [N^2 m^2]": ("2.8e4", "1.3e5"),
        },
    },
    "final": {
        "walking": {
            "CoM error [m]": ("0.013", "0.028"),
            "feet error [m]": ("1.8e-3", "0.034"),
            "chest deviation [rad]": ("0.017", "0.058"),
            "joint torque [N m]": ("69.6", "220"),
            "ground force [N]": ("356.1", "1027"),
            "squared torque [N^2 m^2]": ("3.0e4", "1.17e5"),
        },
        "push": {
            "CoM error [m]": ("0.36", "0.85"),
            "vertical CoM error [m]": ("9.3e-3", "0.028"),
            "feet error [m]": ("1.5e-3", "0.055"),
            "chest deviation [rad]": ("0.024", "0.058"),
            "joint torque [N m]": ("59.6", "220"),
            "ground force [N]": ("362.2", "1051"),
            "squared torque [N^2 m^2]": ("2.8e4", "1.3e5"),
        },
    },
}
"""By parameter set, scenario and variable: the mean and the peak, as printed (tables 6.1, 6.2, 6.4, 6.5)."""
REMARKS = {
    "CoM error [m]": "depends on choices that are not printed (rows 'walking with ...'); after a push on the "
    "run's length, too",
    "ground force [N]": "peaks of the ground are impulses of landings over one step of the contact, 1 ms; "
    "see the rows on the forces of the program and on means over longer times",
    "chest deviation [rad]": "his peak is where a run begins in all four runs",
}
"""By variable, why ours differ."""


def _table(name: str) -> Callable[[], list[Row]]:
    """Return what computes the rows of a parameter set."""

    def rows() -> list[Row]:
        table = []
        for scenario, published in PUBLISHED[name].items():
            run = measure(scenario, PARAMETER_SETS[name])
            table += _scenario_rows(scenario, published, run)
        table += _forces(name) + (_comparison(name) if name == "final" else _choices())
        return table + [
            Row(f"choices {k + 1}", "-", "see remark", text) for k, text in enumerate(OUR_CHOICES)
        ]

    return rows


def _scenario_rows(scenario: str, published: dict[str, tuple[str, str]], run: ScenarioRun) -> list[Row]:
    """Whether a scenario succeeded, and each analysis variable."""
    verdict = "succeeds" if run.ok else f"fails: {run.why_failed}"
    table = [
        Row(f"{scenario}: outcome", "succeeds", verdict, f"{run.steps} steps"),
        Row(f"{scenario}: largest KKT residual", "-", f"{run.run.kkt:.1e}", "of every program, relative"),
    ]
    for variable, (mean, peak) in published.items():
        ours = run.variables[variable]
        remark = REMARKS.get(variable, "")
        table.append(Row(f"{scenario}: {variable}, mean", mean, f"{ours[0]:.3g}", remark))
        table.append(Row(f"{scenario}: {variable}, peak", peak, f"{ours[1]:.3g}", remark))
    if scenario == "walking":
        table.append(
            Row(
                "walking: part of the time on one foot",
                "0.35",
                f"{run.single_support:.3f}",
                "read off his text",
            )
        )
    else:
        table.append(
            Row(
                "push: recovery time [s]",
                "4.2",
                f"{run.recovery_time:.2f}",
                "ours: until it stays within 5 cm",
            )
        )
    return table


def _forces(name: str) -> list[Row]:
    """What the peaks of ground forces are: those that the program asks for, whose components keep to its
    limit, and those of the ground as means over longer times."""
    table = []
    for scenario, printed in PUBLISHED[name].items():
        run, peak = measure(scenario, PARAMETER_SETS[name]), printed["ground force [N]"][1]
        asked = run.variables["force of the program [N]"][1]
        remark = "each component is at most 1000 N, their norm more; which forces he printed is not said"
        table.append(
            Row(f"{scenario}: force that the program asks for, peak [N]", peak, f"{asked:.4g}", remark)
        )
        columns = ([run.run.trajectory[f"{foot}_{part}"] for part in ("normal", "friction")] for foot in FEET)
        forces = [np.hypot(*each) for each in columns]
        for duration in MEAN_FORCE_TIMES:
            steps = round(duration / float(run.run.controller.every))
            window = np.ones(steps) / steps
            smooth = max(float(np.convolve(each, window, "valid").max()) for each in forces)
            label = f"{scenario}: ground force as a mean over {1e3 * duration:g} ms, peak [N]"
            remark = "his is an impulse over one step of the contact, whose length is not printed"
            table.append(Row(label, peak, f"{smooth:.4g}", remark))
    return table


def _choices() -> list[Row]:
    """What the error of the centre of mass and the peaks of forces while walking depend on."""
    walk, printed = measure("walking", {}), PUBLISHED["baseline"]["walking"]
    table = []
    miss = walk.run["com"] - walk.run["com_reference"]
    for axis, word in ((0, "along the path"), (1, "vertical")):
        mean = float(np.abs(miss[walk.run.t >= walk.scenario.skip, axis]).mean())
        table.append(Row(f"walking: CoM error {word}, mean [m]", "-", f"{mean:.3g}", "of the one above"))
    for words, values in OTHER_CHOICES.items():
        other = measure("walking", values)
        push = measure("push", values).why_failed or "succeeds"
        for variable, k in (("CoM error [m]", 0), ("feet error [m]", 0), ("ground force [N]", 1)):
            label = f"walking with {words}: {variable}, {('mean', 'peak')[k]}"
            remark = f"ours {walk.variables[variable][k]:.3g}; not printed; the push with this: {push}"
            table.append(Row(label, printed[variable][k], f"{other.variables[variable][k]:.3g}", remark))
    return table


def _comparison(name: str) -> list[Row]:
    """How much better the final design is than the baseline in feet error."""
    table = []
    for scenario, published in (("walking", "31 %"), ("push", "35 %")):
        before, after = (
            measure(scenario, PARAMETER_SETS[n]).variables["feet error [m]"][0] for n in ("baseline", name)
        )
        gain = f"{100 * (1 - after / before):.0f} %"
        table.append(
            Row(f"{scenario}: feet error, less than the baseline's by", published, gain, "of the mean")
        )
    return table


BASELINE_STUDY = Study(
    "rijt-baseline",
    "Momentum control of a planar humanoid: walking and push recovery with the baseline (tables 6.1, 6.2)",
    SOURCE,
    _table("baseline"),
)
FINAL_STUDY = Study(
    "rijt-final",
    "Momentum control of a planar humanoid: the final design (tables 6.3 to 6.5)",
    SOURCE,
    _table("final"),
)

__all__ = ["BASELINE_STUDY", "FINAL_STUDY", "PUBLISHED"]
