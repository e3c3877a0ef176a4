"""The table of COMAN's gaits that searches found, beside what was published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from strut import evolve
from strut.studies.coman_gait import DURATION, MAX_JOINT_RATE
from strut.studies.gait_verification import LONG_DURATION, WAY_WORDS, Verified, difference_text
from strut.studies.nested_modes import gain_rows
from strut.studies.study import Row

WEIGHT = 27.33174 * 9.81
"""[N] Weight of COMAN's model."""
PUBLISHED = {"const": (0.64, 0.48, 40.5), "step": (0.63, 0.44, 27.8), "ppoly": (0.53, 0.33, 64.9)}
"""[Hz, m/s, J/m] Frequency, speed and cost of the best of table 4.6."""
COST_MEANING = "sum of |torque x rate| over the distance; the thesis does not say how negative work counts"
"""What our cost is."""


def coman_rows(
    folder: Path,
    parts: Sequence[Mapping[str, evolve.Evolution]],
    verified: Mapping[tuple[str, int], Verified],
) -> list[Row]:
    """Return the table. parts: of the search, by mode: bests are of the last. verified: bests that were run
    again, by mode and run; none where none was."""
    rows: list[Row] = []
    for mode in parts[0]:
        own = [each for (name, _), each in verified.items() if name == mode]
        rows += _mode_rows(mode, [part[mode] for part in parts], own)
    words = ("", ", joints within their limits")
    rows += [_order_row(part, word) for part, word in zip(parts, words, strict=False)]
    if len(parts) > 1:
        rows += gain_rows(parts[1], "cost")
    seconds = sum(evolution.seconds for part in parts for evolution in part.values())
    counts = [sum(evolution.evaluations for evolution in part.values()) for part in parts]
    took = f"{' and '.join(map(str, counts))} from three starts each, in {seconds / 60:.1f} min"
    rows.append(Row("evaluations, and how long they took", "1.8 million", took, f"searches in {folder}"))
    return rows


def _part_rows(mode: str, parts: Sequence[evolve.Evolution]) -> list[Row]:
    """What each part of a search came to, run by run."""
    rows = []
    for evolution, words in zip(parts, ("", ", joints within their limits"), strict=False):
        bests = evolution.best_of_run
        last = [best for best in bests if best.stage == evolution.stages]
        generations = int(evolution.history["generation"].max()) + 1
        rows.append(
            Row(
                f"{mode}: runs that reach the last goal{words}",
                "10 runs; how many is not said",
                f"{len(last)} of {len(bests)}",
                f"after {generations} generations" + ("" if evolution.finished else ", not finished"),
            )
        )
        rates = [100 * best.measures["fast_time"] / (DURATION / 2) for best in bests]
        rows.append(
            Row(
                f"{mode}: time in which a joint is beyond {MAX_JOINT_RATE:g} rad/s, run by run{words} [%]",
                "knee of const and hip of ppoly beyond, step within",
                ", ".join(f"{rate:.2g}" for rate in rates),
                f"{sum(rate == 0 for rate in rates)} of {len(rates)} keep the limit",
            )
        )
        speeds = [best.measures["speed"] for best in last]
        if speeds:
            rows.append(
                Row(
                    f"{mode}: speed, run by run{words} [m/s]",
                    "0.3 to 0.5; about 0.45",
                    ", ".join(f"{speed:.2f}" for speed in speeds),
                    f"median {np.median(speeds):.2f}",
                )
            )
    return rows


def _mode_rows(mode: str, parts: Sequence[evolve.Evolution], own: list[Verified]) -> list[Row]:
    """The rows of one kind of impedance. parts: of its search. own: bests that were run again."""
    frequency, speed, cost = PUBLISHED[mode]
    rows = _part_rows(mode, parts)
    if not own:
        return rows
    lasting = [each for each in own if each.holds]
    costs = [each.measures["long"]["cost"] for each in lasting]
    cost_text = f"cost {np.mean(costs):.1f} ({np.std(costs):.1f}) J/m, mean and deviation" if costs else ""
    rows.append(
        Row(
            f"{mode}: keep all goals at 0.1 ms, with located contacts, and over {LONG_DURATION:g} s",
            "",
            f"{len(lasting)} of {len(own)}",
            cost_text,
        )
    )
    for way, words in WAY_WORDS.items():
        at_last = sum(each.stages[way] == each.goals for each in own)
        rows.append(
            Row(
                f"{mode}: run again, {words}",
                "",
                f"{at_last} of {len(own)} keep all goals",
                f"cost: {difference_text(own, way, 'cost') or 'no best is at the last goal'}",
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


def _order_row(evolutions: Mapping[str, evolve.Evolution], words: str) -> Row:
    """The modes in the order of the costs of their bests, with means over runs and standard errors. words:
    which part of the search it is."""
    bests, means, errors = {}, {}, {}
    for mode, evolution in evolutions.items():
        costs = [best.value for best in evolution.best_of_run if best.stage == evolution.stages]
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
    name = f"order of the bests' costs{words} [J/m]"
    return Row(name, "step < const < ppoly", ours, f"means: {listed}{verdict}")


__all__ = ["PUBLISHED", "WEIGHT", "coman_rows"]
