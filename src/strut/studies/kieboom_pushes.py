"""Kept gaits of Kieboom's human pushed: as they are, with landings that set the phase right, and held from
step to step by feedback, which the thesis leaves for later."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from strut.errors import NoGaitError
from strut.studies.human_pushes import (
    MASS,
    SPEED_CHANGES,
    SURVIVED_STEPS,
    WayToWalk,
    ways_to_walk,
)
from strut.studies.kieboom_gaits import gaits_for
from strut.studies.known_gaits import known_gait
from strut.studies.study import Row, Study

WAY_REMARKS = {
    "landings set its phase right": "a foot that comes down says where in its cycle the leg is",
    "held from step to step": "points of references and the frequency follow the states after a step "
    "(control.step_lqr); where stiffness steps with the phase, the references alone",
}
"""What is done, by way."""


def kept_ways(name: str) -> Mapping[str, WayToWalk] | str:
    """Return how a kept gait of the human walks in each way, or why it is not held."""
    gait = known_gait(name)
    try:
        return ways_to_walk(gait.mode, gait.parameters)
    except NoGaitError as error:
        return str(error)


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
    return rows_with_progress(lambda _: None)


def rows_with_progress(tell: Callable[[str], None]) -> list[Row]:
    """Push all kept gaits of the human, and say which."""
    answers = []
    for gait in gaits_for("kieboom-human"):
        tell(f"{gait.name}: multipliers and pushes, as it is and held")
        answers += way_rows(gait.name, kept_ways(gait.name))
    return answers


STUDY = Study(
    "kieboom-pushes",
    "Gaits of a human that searches found, pushed: as they are, and held by feedback",
    "Kieboom, section 4.1, who has no feedback and no multipliers; gaits that are kept (kieboom-gaits). A "
    "quarter of an hour, nothing is searched",
    rows,
    rows_with_progress=rows_with_progress,
)
