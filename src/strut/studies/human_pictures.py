"""What the page of human gaits draws: a stride of the best of each mode, and all of them walking at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from strut import evolve
from strut.simulate import Trajectory, simulate
from strut.simulate.trajectory import Moments
from strut.studies.gait_pictures import (
    CURVE_POINTS,
    fallen_rows,
    impedance_curves,
    part_plots,
    walk_beside_each_other,
)
from strut.studies.human_gait import FEET, FREQUENCY, JOINTS, STEP, human_with
from strut.studies.human_verification import Verified
from strut.studies.normal_gait import SOURCE, likeness, normal_angles
from strut.studies.study import Plot, Row

SETTLING_PERIODS = 9
"""Periods after which a stride is shown."""
SHOWN_STRIDES = 4
"""Strides of the moving picture."""
WALKER_DISTANCE = 1.6
"""[m] The distance between the walkers of the moving picture."""


def choose_bests(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> dict[str, evolve.Individual]:
    """Return by mode the best that is shown: where bests were run again, the one that keeps most goals in
    every way, with the least torque of these; else the search's own."""
    bests = {}
    for mode, evolution in evolutions.items():
        own = [answer for (name, _), answer in verified.items() if name == mode]
        bests[mode] = min(own, key=lambda each: each.rank).individual if own else evolution.best
    return bests


def walk_again(bests: Mapping[str, evolve.Individual]) -> dict[str, Trajectory]:
    """Run the bests again, in double precision, until the strides that are shown are over."""
    end = (SETTLING_PERIODS + SHOWN_STRIDES) / FREQUENCY
    how: dict[str, Any] = {"method": "rk4", "step": STEP, "ledger": False}
    return {mode: simulate(human_with(mode, best.parameters), end, **how) for mode, best in bests.items()}


def stride_plots(walks: Mapping[str, Trajectory], weight: float = 70.0 * 9.81) -> list[Plot]:
    """Return curves over one stride of the right leg, from its heel strike on: angles, torques, the ground's
    forces over the body's weight [N]. Of a walk that fell nothing is drawn, nor of one whose right foot never
    lands: `unshown_rows` tells of them."""
    strides = {mode: stride for mode, walk in walks.items() if (stride := right_stride(walk)) is not None}
    percent = tuple(np.linspace(0, 100, CURVE_POINTS).tolist())
    plots = []
    for joint in JOINTS:
        for title, unit, name, factor in (
            (f"{joint} angle", "deg", f"{joint}_r", 180 / np.pi),
            (f"{joint} torque", "N m", f"{joint}_r_torque", 1.0),
        ):
            curves = {mode: (factor * stride[name]).tolist() for mode, stride in strides.items()}
            drawn = Plot(title, "part of the stride [%]", f"{title} [{unit}]", percent, curves)
            plots.append(_with_normal_band(drawn, joint) if unit == "deg" else drawn)
    for word, ending in (("vertical", "normal"), ("horizontal", "friction")):
        curves = {
            mode: (np.sum([stride[f"{point}_{ending}"] for point in FEET["right"]], axis=0) / weight).tolist()
            for mode, stride in strides.items()
        }
        title = f"{word} ground force"
        plots.append(Plot(title, "part of the stride [%]", f"{title} [weights]", percent, curves))
    return plots


def _with_normal_band(plot: Plot, joint: str) -> Plot:
    """Return a plot of a joint's angle with the band of normal gait behind it, and the correlations."""
    mean, deviation = normal_angles(joint, np.array(plot.x))
    band = ((mean - deviation).tolist(), (mean + deviation).tolist())
    alike = ", ".join(f"{mode} {likeness(joint, np.array(y)):.2f}" for mode, y in plot.curves.items())
    correlations = f" Correlation with its mean: {alike}." if alike else ""
    return replace(plot, band=band, remark=f"Grey: {SOURCE}.{correlations}")


def impedance_plots(bests: Mapping[str, evolve.Individual]) -> list[Plot]:
    """Return stiffness and damping of each joint over the phase of the controller, by mode."""
    return impedance_curves(bests, JOINTS)


def stage_plots(parts: Sequence[Mapping[str, evolve.Evolution]]) -> list[Plot]:
    """Return of every part the mean over runs of the goal that the best so far is at, and the median of its
    torque at the last goal, over generations."""
    return part_plots(parts, "torque [N m]")


def walk_together(
    walks: Mapping[str, Trajectory], bests: Mapping[str, evolve.Individual]
) -> Trajectory | None:
    """Return a run of all bests at once that did not fall, one in front of the other, over some strides; None
    where all did."""
    begin = SETTLING_PERIODS / FREQUENCY
    return walk_beside_each_other(
        {mode: human_with(mode, bests[mode].parameters) for mode in walks},
        walks,
        begin=begin,
        end=begin + SHOWN_STRIDES / FREQUENCY,
        step=STEP,
        distance=WALKER_DISTANCE,
    )


def unshown_rows(walks: Mapping[str, Trajectory]) -> list[Row]:
    """Return of which walks there are no curves over a stride, and why."""
    still = [name for name, walk in walks.items() if walk.status == "done" and right_stride(walk) is None]
    why = f"it does not begin to touch within two periods from {SETTLING_PERIODS / FREQUENCY:.0f} s on"
    return [
        *fallen_rows(walks),
        *[
            Row(f"{name}: over a stride", "", "the right foot does not land: no curves", why)
            for name in still
        ],
    ]


def right_stride(walk: Trajectory) -> Moments | None:
    """The stride of the right leg that begins with the first heel strike after it has settled."""
    if walk.status != "done":
        return None
    # two periods, so that a stance that begins late in the first is seen whole
    times = np.linspace(SETTLING_PERIODS / FREQUENCY, (SETTLING_PERIODS + 2) / FREQUENCY, 4001)
    moments = walk.at(times)
    touches = np.any([moments[f"{point}_gap"] < 0 for point in FEET["right"]], axis=0)
    strikes = np.flatnonzero(~touches[:2000] & touches[1:2001])
    if not strikes.size:
        return None
    # of several contacts in a stride the one that lasts is the stance: the longest that begins here
    lengths = [int(np.argmin(np.append(touches[k + 1 :], False))) for k in strikes]
    begin = times[strikes[int(np.argmax(lengths))] + 1]
    return walk.at(np.linspace(begin, begin + 1 / FREQUENCY, CURVE_POINTS))


def first_contact(stride: Moments) -> str:
    """Return the point of the right sole that touches first in a stride, without its side: 'heel' of one that
    walks as people do."""
    lowest = min(FEET["right"], key=lambda point: float(stride[f"{point}_gap"][0]))
    return lowest.rpartition("_")[0]


__all__ = [
    "choose_bests",
    "first_contact",
    "impedance_plots",
    "right_stride",
    "stage_plots",
    "stride_plots",
    "unshown_rows",
    "walk_again",
    "walk_together",
]
