"""How like people's are the gaits that were found, and what the thesis does not say of its own: are they
stable, what pushes do they survive, what would they cost a person, and how does the ground push back?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from strut.gait.metabolic import muscle_metabolic_power, walking_cost, work_metabolic_power
from strut.simulate import Trajectory
from strut.studies.gait_verification import Verified, at_last_goal
from strut.studies.human_gait import FEET, FREQUENCY, JOINTS, TARGET_SPEED
from strut.studies.human_pictures import (
    SETTLING_PERIODS,
    SHOWN_STRIDES,
    first_contact,
    right_stride,
    walk_again,
)
from strut.studies.human_pushes import MASS, SPEED_CHANGES, PushLimits
from strut.studies.human_stability import GaitStability
from strut.studies.normal_gait import SOURCE, likeness
from strut.studies.study import Row

MAX_JOINT_RATE = 20.0
"""[rad/s] Of a joint whose muscle shortens without a load: about ten lengths of a fibre a second, over a
lever of half a length. Ours: the papers have none for joints."""
SAMPLES = 8001
"""Moments at which powers are read."""
PUBLISHED_LIKENESS = {"const": (0.98, 0.68, 0.17), "step": (0.96, 0.90, 0.54), "ppoly": (0.89, 0.69, 0.13)}
"""[1] Correlations of hip, knee and ankle of the bests with normal gait (table 4.4)."""
MIN_PEAK_RISE = 0.1
"""[1] Of the weight, by which a peak of the ground's force rises over the valleys beside it."""


def stability_rows(judged: Mapping[tuple[str, int], GaitStability]) -> list[Row]:
    """Return what is known of the stability of bests, mode by mode."""
    rows = []
    for mode in dict.fromkeys(mode for mode, _ in judged):
        own = [each for (name, _), each in judged.items() if name == mode]
        gaits = [each for each in own if each.steps]
        alone = [each for each in gaits if not each.uses_assistance]
        stable = [each for each in alone if each.largest < 1]
        unaided = [each for each in gaits if each.uses_assistance and np.isfinite(each.alone)]
        rows.append(
            Row(
                f"{mode}: is the gait stable?",
                "",
                f"{len(gaits)} of {len(own)} come to a gait; {len(alone)} of these use no assistance, "
                f"{len(stable)} of which are stable",
                f"of {len(gaits) - len(alone)} with assistance {len(unaided)} have a gait without it, "
                f"{sum(each.alone < 1 for each in unaided)} of them stable",
            )
        )
        wandering = [each.growth for each in own if not each.steps and np.isfinite(each.growth)]
        if wandering:
            rows.append(
                Row(
                    f"{mode}: growth of a small deviation over a step, of walks that come to no gait",
                    "",
                    _range_text(wandering),
                    f"{sum(growth > 1 for growth in wandering)} of {len(wandering)} grow: they wander "
                    "without end, within what assistance allows",
                )
            )
        if not alone:
            continue
        rows.append(
            Row(
                f"{mode}: largest multiplier over a step, without assistance",
                "",
                _range_text([each.per_step for each in alone]),
                _reset_text(alone),
            )
        )
    return rows


def unjudged_rows(verified: Mapping[tuple[str, int], Verified]) -> list[Row]:
    """Return by mode of how many bests stability is not asked: those that neither hold nor came to the last
    goal."""
    asked = at_last_goal(verified)
    rows = []
    for mode in dict.fromkeys(mode for mode, _ in verified):
        own = [key for key in verified if key[0] == mode]
        left_out = sum(key not in asked for key in own)
        if left_out:
            rows.append(
                Row(
                    f"{mode}: bests of which stability is not asked",
                    "",
                    f"{left_out} of {len(own)}",
                    "the search did not bring them to the last goal",
                )
            )
    return rows


def push_rows(limits: Mapping[str, PushLimits]) -> list[Row]:
    """Return the pushes that the shown gaits survive."""
    return [
        Row(
            f"{mode}: pushes that are survived, backwards and forwards",
            "",
            f"{each.open[0]:.1f} and {each.open[1]:.1f} N s",
            f"with landings that set the phase right: {each.reset[0]:.1f} and {each.reset[1]:.1f} N s; on "
            f"the whole body at a landing, 25 steps walked afterwards without assistance; up to "
            f"{MASS * SPEED_CHANGES[-1]:.0f} N s were tried",
        )
        for mode, each in limits.items()
    ]


def likeness_rows(walks: Mapping[str, Trajectory], modes: Mapping[str, str]) -> list[Row]:
    """Return how like people's the strides of gaits are. walks: by any name; modes: of each, whose published
    best stands beside it."""
    rows = []
    for name, walk in walks.items():
        stride = right_stride(walk)
        if stride is None:
            continue
        values = [likeness(joint, stride[f"{joint}_r"]) for joint in JOINTS]
        rows.append(
            Row(
                f"{name}: correlation of {', '.join(JOINTS)} with normal gait, and what lands first",
                ", ".join(f"{value:.2f}" for value in PUBLISHED_LIKENESS[modes[name]]) + "; heel",
                ", ".join(f"{value:.2f}" for value in values) + f"; {first_contact(stride)}",
                f"published: the best of {modes[name]}, with curves of Winter; ours: with {SOURCE}",
            )
        )
    return rows


def first_contact_rows(verified: Iterable[Verified]) -> list[Row]:
    """Return by mode which point of the foot lands first in gaits that keep all goals."""
    points: dict[str, list[str]] = {}
    for answer in verified:
        if answer.holds:
            (walk,) = walk_again({answer.mode: answer.individual}).values()
            stride = right_stride(walk)
            points.setdefault(answer.mode, []).append(
                "no stride" if stride is None else first_contact(stride)
            )
    return [
        Row(
            f"{mode}: what lands first, of those that keep all goals",
            "heel",
            ", ".join(f"{point} of {count}" for point, count in Counter(own).items()),
        )
        for mode, own in points.items()
    ]


def effort_rows(walks: Mapping[str, Trajectory]) -> list[Row]:
    """Return what gaits would cost a person, by two estimates of muscles, and peaks of the ground's force."""
    rows = []
    for mode, walk in walks.items():
        if walk.status != "done":
            continue
        work, muscle = metabolic_costs(walk)
        net, gross = walking_cost(TARGET_SPEED)
        rows.append(
            Row(
                f"{mode}: metabolic cost of the best shown",
                "",
                f"{work:.2f} by work, {muscle:.2f} by muscles [J/(kg m)]",
                f"Margaria's efficiencies; Minetti and Alexander's muscles of {MAX_JOINT_RATE:g} rad/s; both "
                f"without what a body needs at rest. A person at {TARGET_SPEED:g} m/s, by ACSM's equation: "
                f"{net:.2f} so, {gross:.2f} with it",
            )
        )
        stride = right_stride(walk)
        if stride is None:
            continue
        force = np.sum([stride[f"{point}_normal"] for point in FEET["right"]], axis=0) / (MASS * 9.81)
        peaks = force_peaks(force)
        rows.append(
            Row(
                f"{mode}: peaks of the ground's force under a foot, over the weight",
                "two; how high is not printed",
                ", ".join(f"{peak:.2f}" for peak in peaks),
                f"that rise by more than {MIN_PEAK_RISE:g} of the weight; what was tried to have two smooth "
                "ones: strut reproduce kieboom-landings",
            )
        )
    return rows


def metabolic_costs(walk: Trajectory) -> tuple[float, float]:
    """Return the metabolic cost of a walk [J/(kg m)] over the strides that are shown: by work, and by
    muscles."""
    begin = SETTLING_PERIODS / FREQUENCY
    times = np.linspace(begin, begin + SHOWN_STRIDES / FREQUENCY, SAMPLES)
    moments = walk.at(times)
    torque, rate = ca.SX.sym("torque"), ca.SX.sym("rate")
    powers = ca.Function(
        "powers",
        [torque, rate],
        [work_metabolic_power(torque * rate), muscle_metabolic_power(torque, rate, MAX_JOINT_RATE)],
    )
    totals = np.zeros((2, SAMPLES))
    for joint in JOINTS:
        for side in "rl":
            torques, rates = moments[f"{joint}_{side}_torque"], moments[f"{joint}_{side}_rate"]
            totals += np.vstack([np.array(part) for part in powers(torques[None], rates[None])])
    speed = (moments["x"][-1] - moments["x"][0]) / (times[-1] - times[0])
    work, muscle = (float(each) / (MASS * float(speed)) for each in totals.mean(axis=1))
    return work, muscle


def force_peaks(force: np.ndarray) -> list[float]:
    """Return the peaks of a curve that rise by more than `MIN_PEAK_RISE` over the valleys beside them."""
    peaks: list[float] = []
    top = valley = 0.0
    rising = True
    for value in [*force, 0.0]:
        if rising:
            top = max(top, float(value))
            if value < top - MIN_PEAK_RISE:
                peaks.append(top)
                rising, valley = False, float(value)
        else:
            valley = min(valley, float(value))
            if value > valley + MIN_PEAK_RISE:
                rising, top = True, float(value)
    return peaks


def _reset_text(judged: Sequence[GaitStability]) -> str:
    """Multipliers with landings that set the phase right; of how many gaits they are not known, and why."""
    reset = [each.reset for each in judged if np.isfinite(each.reset)]
    reasons = Counter(each.why_no_reset for each in judged if each.why_no_reset)
    texts = [_range_text(reset)] if reset else []
    texts += [f"not known of {count}: {reason}" for reason, count in reasons.items()]
    return f"with landings that set the phase right: {'; '.join(texts)}" if texts else ""


def _range_text(values: list[float]) -> str:
    """Median and range of some values."""
    return f"median {np.median(values):.3f}, {min(values):.3f} to {max(values):.3f} ({len(values)})"


__all__ = [
    "effort_rows",
    "first_contact_rows",
    "force_peaks",
    "likeness_rows",
    "metabolic_costs",
    "push_rows",
    "stability_rows",
    "unjudged_rows",
]
