"""What is told of exoskeletons in a table: the published best three, ours, and the anthropomorphic rival."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from strut import linkage
from strut.linkage.measures import ACTUATOR_MASS, BAR_DENSITY, PASSIVE_MASS
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_rival import RIVAL, rival_bars, rival_mass
from strut.studies.exoskeleton_screening import LEGS
from strut.studies.exoskeleton_search import GOAL_NAMES
from strut.studies.study import Row
from strut.walkers.human import (
    ANKLE_HEIGHT,
    FOOT_MASS,
    HUMAN_HEIGHT,
    SEGMENTS,
    TOE_MASS,
)

HUMAN_MASS = 70.0
"""[kg] Mass of the human without a machine."""
BETTER_QUESTION = "is an exoskeleton better than the anthropomorphic one?"
"""What the study asks at the end."""
CROSSINGS_QUANTITY = "pairs of bars of a leg that cross, mean over a stride"
"""What tells of interference: each needs a layer of its own."""
LAST_GOAL = len(GOAL_NAMES)
"""Number of the last goal, little power."""


@dataclass(frozen=True)
class PublishedDesign:
    """A design of table 5.4. topology: its number. mass: added [kg]. centre, centre_change: height of the
    centre of mass, and what the machine changes of it [m]. bars: shortest and longest [m]. power [W], torque
    [N m]. assist: part of the time that it is assisted [1]."""

    topology: int
    mass: float
    centre: float
    centre_change: float
    bars: tuple[float, float]
    power: float
    torque: float
    assist: float


PUBLISHED = (
    PublishedDesign(2, 13.3, 1.07, -0.03, (0.30, 0.46), 462, 1141, 0.0),
    PublishedDesign(5, 13.9, 1.02, -0.08, (0.20, 0.52), 748, 418, 0.01),
    PublishedDesign(3, 13.5, 1.03, -0.07, (0.10, 0.64), 1018, 818, 0.0),
)
"""The best three, best first."""


@dataclass(frozen=True)
class WornDesign:
    """What the table tells of a machine. name: as "2-15", or the rival's. mass: added [kg]. centre: of mass
    of the machine in the reference posture, x and z [m]. bars: lengths [m]. stage: the goal that it is at.
    measures: of its walk. crossings: pairs of bars of a leg that cross, in the mean over a stride [1]: none
    of the rival, whose bars lie along the leg."""

    name: str
    mass: float
    centre: tuple[float, float]
    bars: np.ndarray
    stage: int
    measures: Mapping[str, float]
    crossings: float = 0.0


def human_centre() -> tuple[float, float]:
    """Return x and z of the centre of mass of the standing human without a machine [m]."""
    knee = ANKLE_HEIGHT + SEGMENTS["shank"][1]
    hip = knee + SEGMENTS["thigh"][1]
    parts = [(SEGMENTS["trunk"][0], 0.0, hip + SEGMENTS["trunk"][2] * SEGMENTS["trunk"][1])]
    for segment, top in (("thigh", hip), ("shank", knee)):
        mass, length, centre, _ = SEGMENTS[segment]
        parts.append((LEGS * mass, 0.0, top - centre * length))
    parts.append((LEGS * FOOT_MASS, 1 / 45, ANKLE_HEIGHT - 1 / 60))
    parts.append((LEGS * TOE_MASS, 2 * 0.1 / 3 + 1 / 60, 1 / 360))
    total = sum(mass for mass, _, _ in parts)
    x, z = (sum(part[0] * part[k] for part in parts) / total for k in (1, 2))
    return HUMAN_HEIGHT * x, HUMAN_HEIGHT * z


def linkage_centre(
    topology: linkage.Topology, pins: np.ndarray, actuators: Sequence[str]
) -> tuple[float, float]:
    """Return x and z of the centre of mass of a linkage in the reference posture [m]. pins: values of
    `linkage.pin_parameters`."""
    at = linkage.pin_positions(topology, np.reshape(pins, (1, -1)))[0]
    place = {joint: at[k] for k, joint in enumerate(topology.joints)}
    masses = [ACTUATOR_MASS if joint in actuators else PASSIVE_MASS for joint in place]
    points = list(place.values())
    for _, a, b in linkage.bars(topology):
        masses.append(BAR_DENSITY * float(np.linalg.norm(place[a] - place[b])))
        points.append((place[a] + place[b]) / 2)
    x, z = np.average(points, axis=0, weights=masses)
    return float(x), float(z)


def rival_centre(cuffs: Mapping[str, float]) -> tuple[float, float]:
    """Return x and z of the centre of mass of the rival in the reference posture [m]. cuffs: thigh_cuff and
    shank_cuff, shares of the segments."""
    moment, total, top = 0.0, 0.0, (ANKLE_HEIGHT + SEGMENTS["shank"][1] + SEGMENTS["thigh"][1]) * HUMAN_HEIGHT
    for segment, length in zip(("thigh", "shank"), rival_bars().tolist(), strict=True):
        parts = (
            (ACTUATOR_MASS, top),
            (PASSIVE_MASS, top - cuffs[f"{segment}_cuff"] * length),
            (BAR_DENSITY * length, top - length / 2),
        )
        moment += sum(mass * z for mass, z in parts)
        total += sum(mass for mass, _ in parts)
        top -= length
    return 0.0, moment / total


def rival_design(parameters: Mapping[str, float], stage: int, measures: Mapping[str, float]) -> WornDesign:
    """Return what the table tells of the rival with these parameters."""
    return WornDesign(RIVAL, rival_mass(), rival_centre(parameters), rival_bars(), stage, measures)


def design_rows(designs: Sequence[WornDesign], rival: WornDesign | None) -> list[Row]:
    """Return the rows of the best designs, best first, beside those that were published, of the rival, and
    whether any design is better than it. designs: best first; as many as were published have rows."""
    rows: list[Row] = []
    for k, (design, published) in enumerate(zip(designs, PUBLISHED, strict=False)):
        rows += _rows_of(f"best {k + 1}", design, published)
    if rival is not None:
        rows += _rows_of("rival", rival, None)
        rows.append(verdict_row(designs, rival))
    return rows


def verdict_row(designs: Sequence[WornDesign], rival: WornDesign) -> Row:
    """Return whether an exoskeleton needs less power than the rival, among those at the last goal: after
    checks, where `stage` is of `exoskeleton_checks.checked_stage`."""
    question = BETTER_QUESTION
    there = [each for each in designs if each.stage == LAST_GOAL]
    if not there or rival.stage != LAST_GOAL:
        if not there and rival.stage == LAST_GOAL:
            return Row(question, "no", "no", "no exoskeleton is at the last goal, the rival is")
        return Row(question, "no", "not decided", f"the rival is at goal {rival.stage} of {LAST_GOAL}")
    best = min(there, key=lambda each: each.measures["power_absolute"])
    mine, other = best.measures["power_absolute"], rival.measures["power_absolute"]
    answer = "yes" if mine < other else "no"
    return Row(question, "no", answer, f"{best.name} {mine:.0f} W, rival {other:.0f} W")


def _rows_of(title: str, design: WornDesign, published: PublishedDesign | None) -> list[Row]:
    """The rows of one design."""
    x, z = _centre_change(design)
    measures = design.measures
    bare = human_centre()[1]
    there = published
    rows = [
        Row(
            f"{title}: topology and joints with actuators",
            "" if there is None else f"{there.topology}",
            design.name,
            f"goal {design.stage} reached",
        ),
        Row(f"{title}: added mass [kg]", "" if there is None else f"{there.mass}", f"{design.mass:.1f}"),
        Row(
            f"{title}: centre of mass, height (change) [m]",
            "" if there is None else f"{there.centre} ({there.centre_change:+})",
            f"{bare + z:.2f} ({z:+.3f})",
            f"standing, fore-aft {x:+.3f} m",
        ),
        Row(
            f"{title}: bars [m]",
            "" if there is None else f"{there.bars[0]:.2f}-{there.bars[1]:.2f}",
            f"{design.bars.min():.2f}-{design.bars.max():.2f}",
        ),
        Row(
            f"{title}: {CROSSINGS_QUANTITY}", "", f"{design.crossings:.1f}", "bars as lines, without the limb"
        ),
    ]
    for name, word, printed in (
        ("power_absolute", "power [W]", None if there is None else there.power),
        ("torque", "torque, sum of sizes [N m]", None if there is None else there.torque),
    ):
        if name in measures:
            text = "" if printed is None else f"{printed:g}"
            rows.append(Row(f"{title}: {word}", text, f"{measures[name]:.0f}"))
    if "assist_time" in measures:
        share = measures["assist_time"] / (DURATION / 2)  # measured in the second half
        rows.append(
            Row(
                f"{title}: part of the time assisted",
                "" if there is None else f"{there.assist:g}",
                f"{share:.2f}",
            )
        )
    for name, word in (
        ("peak_power", "peak power of one actuator [W]"),
        ("interaction", "forces between human and machine, mean sum [N]"),
        ("peak_interaction", "largest force at one place [N]"),
        ("spring_return", "power given back by springs [W]"),
    ):
        if name in measures and np.isfinite(measures[name]):
            rows.append(Row(f"{title}: {word}", "", f"{measures[name]:.0f}"))
    return rows


def _centre_change(design: WornDesign) -> tuple[float, float]:
    """By how much the machine moves the centre of mass of the whole, x and z [m]."""
    share = design.mass / (design.mass + HUMAN_MASS)
    own = np.array(design.centre) - np.array(human_centre())
    x, z = share * own
    return float(x), float(z)


__all__ = [
    "PUBLISHED",
    "WornDesign",
    "design_rows",
    "human_centre",
    "linkage_centre",
    "rival_centre",
    "rival_design",
    "verdict_row",
]
