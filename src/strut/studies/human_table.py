"""The table of human gaits that searches found, beside what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import casadi as ca
import numpy as np

from strut import evolve, walkers
from strut.mechanism import Tree, observe
from strut.studies.gait_verification import WAY_WORDS, difference_text
from strut.studies.human_gait import FREQUENCY, GOAL_NAMES, TARGET_SPEED
from strut.studies.human_refinement import STARTS
from strut.studies.human_verification import LONG_DURATION, Verified
from strut.studies.nested_modes import gain_rows
from strut.studies.study import Row
from strut.walkers.human import ANKLE_HEIGHT, HUMAN_HEIGHT, SEGMENTS

PUBLISHED = {  # mean, its deviation, best torque (table 4.4); the thesis prints no unit
    "const": (232.3, 44.3, 161.6),
    "step": (190.9, 53.3, 108.6),
    "ppoly": (216.3, 56.1, 146.7),
}
"""Torques of table 4.4."""
PUBLISHED_RUNS = 10
"""Runs of each mode that were published."""
FIRST_REACHED = (2, 7, 13, 71, 87)
"""[generations] After which the first solution of goals 1 to 5 is published."""
PARAMETERS = {"const": 33, "step": 45, "ppoly": 81}
"""Numbers that a search chooses (table 4.3)."""
TORQUE_MEANING = "ours: mean over the second half of the sum of the sizes of six torques [N m]"
"""What our torque is; what the published one is, is not said."""
PUBLISHED_MASS, PUBLISHED_COM_HEIGHT = 70.0, 1.10
"""[kg, m] Of the body; the height follows from table 5.4: 1.07, 1.02 and 1.03 m with exoskeletons that change
it by -0.03, -0.08 and -0.07 m."""
POWER_FACTOR = 1.96 + 0.84
"""[1] Standard errors by which two means must differ to be told apart at a level of 5 % in four of five
experiments: quantiles of the normal distribution, for both sides of 5 % and for 80 %."""
MIN_VALUES_FOR_SPREAD = 2
"""Values of which a spread is told, at least."""


def human_rows(
    folder: Path,
    parts: Sequence[Mapping[str, evolve.Evolution]],
    verified: Mapping[tuple[str, int], Verified],
    nested: Mapping[str, evolve.Evolution],
    nested_verified: Mapping[tuple[str, int], Verified],
) -> list[Row]:
    """Return the table. parts: of the search, by mode: bests are of the last. verified: bests that were run
    again, by mode and run; none where none was. nested: searches of all modes from the same gaits of mode
    const; none where there are none yet. nested_verified: bests of these that were run again."""
    rows = body_rows()
    for mode in parts[0]:
        rows += _mode_rows(mode, [part[mode] for part in parts], verified)
    rows.append(_order_row(parts[-1], verified))
    rows += [_published_order_row(), *(gain_rows(nested, "torque") if nested else [])]
    for mode in nested:
        own = [answer for (name, _), answer in nested_verified.items() if name == mode]
        rows += _held_rows(f"{mode}, from the same gaits", own) if own else []
    costs = []
    for number, part in enumerate([*parts, nested] if nested else parts):
        count = sum(evolution.evaluations for evolution in part.values())
        minutes = sum(_seconds(evolution) for evolution in part.values()) / 60
        starts = f" from {STARTS.count} starts each" if number else ""
        costs.append(f"{count}{starts}, in {minutes:.1f} min")
    rows.append(
        Row(
            "evaluations, and how long they took",
            "1.8 million in about 30 h on 127 cores",
            "; then ".join(costs),
            f"wall time of the searches in {folder}",
        )
    )
    return rows


def body_rows() -> list[Row]:
    """Return how heavy the body is, and how high its centre of mass where it stands upright."""
    mechanism = walkers.human_mechanism()
    tree, values = Tree(mechanism), mechanism.parameter_set()
    of_body = ca.Function("body", [tree.q, values.symbols], [observe.mass(tree), observe.com(tree)[2]])
    mass, over_hips = map(float, of_body(np.zeros(tree.nq), values.values))
    hips = HUMAN_HEIGHT * (SEGMENTS["thigh"][1] + SEGMENTS["shank"][1] + ANKLE_HEIGHT)
    return [
        Row("mass [kg]", f"{PUBLISHED_MASS:g}", f"{mass:g}", f"a body of {HUMAN_HEIGHT:g} m"),
        Row(
            "height of the centre of mass, upright [m]",
            f"{PUBLISHED_COM_HEIGHT:.2f} (from table 5.4)",
            f"{hips + over_hips:.3f}",
            "published: that of humans in exoskeletons less what these change; the thesis' own segments are "
            "not legible. Ours are Winter's, on ankles at 3 % of the height as published (with his own, at "
            "3.9 %, it would be 1.05): the trunk of the thesis must have its centre of mass about 0.1 m "
            "higher",
        ),
    ]


def _mode_rows(
    mode: str, parts: Sequence[evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> list[Row]:
    """The rows of one kind of impedance. parts: of its search."""
    evolution, bests = parts[0], parts[-1].best_of_run
    last = [best for best in bests if best.stage == len(GOAL_NAMES)]
    torques = [best.value for best in last]
    mean, spread, least = PUBLISHED[mode]
    generations = " and ".join(str(int(part.history["generation"].max()) + 1) for part in parts)
    rows = [
        Row(f"{mode}: parameters", f"{PARAMETERS[mode]}", f"{len(bests[0].parameters)}"),
        Row(
            f"{mode}: runs that reach the last goal",
            "10 of 10",
            f"{len(last)} of {len(bests)}",
            f"after {generations} generations" + ("" if parts[-1].finished else ", not finished"),
        ),
        Row(
            f"{mode}: first generation with goals 1 to 5 reached",
            ", ".join(map(str, FIRST_REACHED)) + " (no mode named)",
            ", ".join(_first_reached(evolution, stage) for stage in range(2, len(GOAL_NAMES) + 1)),
            "medians of the runs that reach it, counted from 1",
        ),
        Row(f"{mode}: torque, mean (deviation)", f"{mean} ({spread})", _mean_text(torques), TORQUE_MEANING),
        Row(f"{mode}: torque, best", f"{least}", f"{min(torques):.1f}" if torques else "none"),
    ]
    own = [answer for (name, _), answer in verified.items() if name == mode]
    return rows + (_verified_rows(mode, own) if own else [])


def _verified_rows(mode: str, own: list[Verified]) -> list[Row]:
    """What became of bests that were run again."""
    last = len(GOAL_NAMES)
    rows = []
    for way, words in WAY_WORDS.items():
        at_last = sum(answer.stages[way] == last for answer in own)
        measured = [answer.measures[way] for answer in own if way in answer.measures]
        torque_text = _mean_text([measures["torque"] for measures in measured])
        difference = difference_text(own, way, "torque")
        upright = sum(answer.stages[way] > 1 for answer in own)
        rows.append(
            Row(
                f"{mode}: run again, {words}",
                "",
                f"{at_last} of {len(own)} keep all goals, {upright} do not fall",
                "; ".join([f"torque {torque_text}", *([difference] if difference else [])]),
            )
        )
    rows += _held_rows(mode, own)
    best = min(own, key=lambda answer: answer.rank)
    if "long" not in best.measures:
        return rows
    values, goal = best.measures["long"], best.kept_stage
    rows.append(
        Row(
            f"{mode}: best of these, over {LONG_DURATION:g} s",
            "stance about 60 %",
            f"torque {values['torque']:.1f} N m, {values['speed']:.3f} m/s, spread "
            f"{values['speed_spread']:.3f} m/s, stance {100 * values['stance']:.1f} %, double support "
            f"{100 * values['double_support']:.1f} %, |power| {values['power_absolute']:.0f} W",
            f"run {best.run + 1}, in every way at goal {goal} of {last} ({GOAL_NAMES[goal - 1]}) or further",
        )
    )
    rows.append(
        Row(
            f"{mode}: step of that best",
            f"{TARGET_SPEED / (2 * FREQUENCY):.3f} m (stride {TARGET_SPEED / FREQUENCY:.3f} m)",
            f"{values['speed'] / (2 * FREQUENCY):.3f} m (stride {values['speed'] / FREQUENCY:.3f} m)",
            f"speed over two steps a period of {FREQUENCY:g} Hz; published: of the {TARGET_SPEED:g} m/s that "
            "are asked for. Searches end at the 5 % that they may be slower",
        )
    )
    return rows


def _held_rows(name: str, own: list[Verified]) -> list[Row]:
    """How many of some bests keep all goals in every way they were run again, and how these walk. name: of
    the mode."""
    lasting = [answer for answer in own if answer.holds]
    at_once = sum(answer.tried == 1 for answer in lasting)
    rows = [
        Row(
            f"{name}: keep all goals in all ways",
            "",
            f"{len(lasting)} of {len(own)}",
            f"of {at_once} the best of the run does; of the others, who is next by torque",
        )
    ]
    if lasting:
        torques, stances = (
            [each.measures["long"][word] for each in lasting] for word in ("torque", "stance")
        )
        rows += [
            Row(f"{name}: torque of these", "", f"{_mean_text(torques)}, best {min(torques):.1f}"),
            Row(
                f"{name}: stance of these",
                "about 60 %",
                f"{100 * min(stances):.1f} to {100 * max(stances):.1f} %, mean {100 * np.mean(stances):.1f}",
            ),
        ]
    return rows


def _order_row(
    evolutions: Mapping[str, evolve.Evolution], verified: Mapping[tuple[str, int], Verified]
) -> Row:
    """The modes in the order of their mean torques, with the standard errors of these: of those that hold,
    where bests were run again."""
    means, errors = {}, {}
    for mode, evolution in evolutions.items():
        own = [answer for (name, _), answer in verified.items() if name == mode]
        torques = [answer.measures["long"]["torque"] for answer in own if answer.holds]
        if not own:
            torques = [best.value for best in evolution.best_of_run if best.stage == len(GOAL_NAMES)]
        if torques:
            means[mode] = float(np.mean(torques))
            several = len(torques) >= MIN_VALUES_FOR_SPREAD
            errors[mode] = float(np.std(torques, ddof=1) / np.sqrt(len(torques))) if several else np.nan
    order = sorted(means, key=lambda mode: means[mode])
    sure = all(means[b] - means[a] > 2 * np.hypot(errors[a], errors[b]) for a, b in pairwise(order))
    listed = ", ".join(f"{mode} {means[mode]:.1f} +- {errors[mode]:.1f}" for mode in order)
    verdict = "" if sure else "; neighbours differ by less than two standard errors: no order is shown"
    ours = " < ".join(order) or "none reached it"
    return Row("order of mean torques", "step < ppoly < const", ours, f"standard errors: {listed}{verdict}")


def _published_order_row() -> Row:
    """By how many standard errors the published means of ten runs differ."""
    texts, needed = [], []
    for worse, better in pairwise(sorted(PUBLISHED, key=lambda mode: -PUBLISHED[mode][0])):
        difference = PUBLISHED[worse][0] - PUBLISHED[better][0]
        spread = float(np.hypot(PUBLISHED[worse][1], PUBLISHED[better][1]))  # of the difference of two runs
        texts.append(f"{worse} - {better} = {difference:.1f} +- {spread / np.sqrt(PUBLISHED_RUNS):.1f}")
        needed.append(int(np.ceil((POWER_FACTOR * spread / difference) ** 2)))
    return Row(
        "order of mean torques, by their errors",
        "; ".join(texts),
        "",
        f"standard errors of the published deviations of {PUBLISHED_RUNS} runs: neighbours differ by less "
        "than two of them, so that the published order is not shown either; to tell such means apart at 5 % "
        f"in four of five experiments, {' and '.join(map(str, needed))} runs of each mode are needed",
    )


def _first_reached(evolution: evolve.Evolution, stage: int) -> str:
    """The median generation, from 1, at which runs come to a goal; '-' where none does."""
    history = evolution.history
    firsts = []
    for run in np.unique(history["run"]):
        own = history["run"] == run
        there = history["generation"][own][history["best_stage"][own] >= stage]
        if there.size:
            firsts.append(there.min() + 1)
    return f"{np.median(firsts):.0f}" if firsts else "-"


def _mean_text(values: list[float]) -> str:
    """Mean and standard deviation of some values, as text."""
    if not values:
        return "none"
    spread = f" ({np.std(values, ddof=1):.1f})" if len(values) >= MIN_VALUES_FOR_SPREAD else ""
    return f"{np.mean(values):.1f}{spread}"


def _seconds(evolution: evolve.Evolution) -> float:
    """How long the generations of a search took [s]."""
    return float(evolution.seconds)


__all__ = ["body_rows", "human_rows"]
