"""Kept gaits of Kieboom's human pushed: as they are, with landings that set the phase right, and held from
step to step by feedback, which the thesis leaves for later."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from strut.errors import NoGaitError
from strut.studies.human_pushes import (
    MASS,
    SPEED_CHANGES,
    SURVIVED_STEPS,
    WayToWalk,
    ways_to_walk,
)
from strut.studies.kieboom_gaits import gaits_for
from strut.studies.study import Row, Study

WAY_REMARKS = {
    "landings set its phase right": "a foot that comes down says where in its cycle the leg is",
    "held from step to step": "points of references and the frequency follow the states after a step "
    "(control.step_lqr); where stiffness steps with the phase, the references alone",
}
"""What is done, by way."""


@cache
def kept_ways() -> Mapping[str, Mapping[str, WayToWalk] | str]:
    """Return by name how kept gaits of the human walk in each way, or why they are not held."""
    answers: dict[str, Mapping[str, WayToWalk] | str] = {}
    for gait in gaits_for("kieboom-human"):
        try:
            answers[gait.name] = ways_to_walk(gait.mode, gait.parameters)
        except NoGaitError as error:
            answers[gait.name] = str(error)
    return answers


def way_rows(name: str, ways: Mapping[str, WayToWalk] | str) -> list[Row]:
    """Return the rows of one gait. ways: as of `kept_ways`."""
    if isinstance(ways, str):
        return [Row(f"{name}: pushed", "", "not held", ways)]
    tried = f"up to {MASS * SPEED_CHANGES[-1]:.0f} N s were tried, {SURVIVED_STEPS} steps walked afterwards"
    return [
        Row(
            f"{name}: {way}",
            "",
            f"largest multiplier {walking.multiplier:.3f}; survives {walking.pushes[0]:.1f} N s backwards "
            f"and {walking.pushes[1]:.1f} forwards",
            WAY_REMARKS.get(way, f"on the whole body as a step begins, without assistance; {tried}"),
        )
        for way, walking in ways.items()
    ]


def rows() -> list[Row]:
    """Push all kept gaits of the human."""
    return [row for name, ways in kept_ways().items() for row in way_rows(name, ways)]


STUDY = Study(
    "kieboom-pushes",
    "Gaits of a human that searches found, pushed: as they are, and held by feedback",
    "Kieboom, section 4.1, who has no feedback and no multipliers; gaits that are kept (kieboom-gaits). A "
    "quarter of an hour, nothing is searched",
    rows,
)
