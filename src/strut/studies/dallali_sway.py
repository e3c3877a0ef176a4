"""COMAN sways from side to side on both feet: how well hips and ankles follow, and what each foot carries, on
linear and on nonlinear ground."""

from __future__ import annotations

import math

import numpy as np

from strut.simulate import Trajectory, simulate
from strut.studies.study import Row, Study
from strut.walkers import coman, coman_motion

SWAY, FREQUENCY = 0.05, 0.4
"""[m, Hz] Of the waist to both sides, and how often: the paper prints neither."""
LEG_LENGTH = 0.4268
"""[m] From ankle to hip axis."""
END_TIME = 5.0
"""[s] Two periods: the second is read."""
POINTS = 5
"""Points of contact of each foot."""


def run_sway(ground: str) -> Trajectory:
    """Run two periods of swaying on a ground, the legs alone moving, PD 150/10."""
    lean = math.asin(SWAY / LEG_LENGTH)
    robot = coman("legs", ground=ground, references=coman_motion("sway", lean, FREQUENCY, "legs"))
    return simulate(robot, t=END_TIME, rtol=1e-5, atol=1e-7, ledger=False)


def rows() -> list[Row]:
    """What both grounds give, side by side."""
    readings: dict[str, dict[str, np.ndarray]] = {}
    t = np.linspace(END_TIME / 2, END_TIME, 1001)
    runs = {ground: run_sway(ground).at(t) for ground in ("linear", "hertz")}
    for ground, run in runs.items():
        readings[ground] = {
            "largest error of the right hip roll [mrad]": 1e3 * np.abs(run["r_hip_lat_error"]).max(),
            "largest error of the right ankle roll [mrad]": 1e3 * np.abs(run["r_ankle_lat_error"]).max(),
            "waist to the side, to and fro [mm]": 1e3 * np.ptp(run["y"]),
        }
        for side, word in (("r", "right"), ("l", "left")):
            load = np.sum([run[f"{side}_sole{k}_normal"] for k in range(POINTS)], axis=0)
            readings[ground][f"force under the {word} foot, least to largest [N]"] = np.array(
                [load.min(), load.max()]
            )
    remark = "published: figures alone; a sway of 5 cm at 0.4 Hz is ours"
    return [
        Row(
            quantity,
            "",
            "linear "
            + _text(readings["linear"][quantity])
            + "; nonlinear "
            + _text(readings["hertz"][quantity]),
            remark,
        )
        for quantity in readings["linear"]
    ]


def _text(value: np.ndarray) -> str:
    """A number, or a range."""
    return " to ".join(f"{v:.1f}" for v in np.atleast_1d(value))


STUDY = Study(
    "dallali-sway",
    "A dynamic simulator of the compliant humanoid COMAN: lateral sway on both feet",
    "Dallali et al. (2013), section on whole-body sway, figures 6 and 8",
    rows,
)
