"""The swarm's best gait of Kieboom's human, improved by exact gradients of its gait: the same body and goals,
where the thesis ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from strut.simulate import Trajectory
from strut.studies import human_table
from strut.studies.gait_verification import LONG_DURATION, Verified
from strut.studies.human_beyond import likeness_rows
from strut.studies.human_gradients import MAX_MULTIPLIER, ImprovedGait, improve_gait
from strut.studies.human_pictures import stride_plots
from strut.studies.human_verification import human_ways
from strut.studies.kieboom_gaits import verify_known, walk_known
from strut.studies.known_gaits import KnownGait, known_gait
from strut.studies.study import Plot, Row, Study

BEGIN = "human-const"
"""The gait that is improved."""
SEARCH_MINUTES = 30.0
"""[min] After which the search ends, at most."""


@cache
def improved_gait() -> ImprovedGait:
    """Return what gradients make of the swarm's best; searched once."""
    return improve_gait("const", known_gait(BEGIN).parameters, minutes=SEARCH_MINUTES)


def as_known(better: ImprovedGait) -> KnownGait:
    """Return the improved gait as one that is known, to be run again and shown as such."""
    return replace(
        known_gait(BEGIN), name="by gradients", source=better.message, parameters=better.parameters
    )


def improvement_rows(better: ImprovedGait, verified: Verified) -> list[Row]:
    """Return the table. verified: the improved gait, run again in all ways."""
    values = verified.measures.get("long")
    walked = "falls"
    if values is not None:
        walked = (
            f"{values['torque']:.1f} N m at {values['speed']:.3f} m/s, spread {values['speed_spread']:.3f} "
            f"m/s, stance {100 * values['stance']:.0f} %"
        )
    verdict = "all goals are kept" if verified.holds else "a goal is missed"
    return [
        Row(
            "torque of the gait to begin with [N m]",
            f"{human_table.PUBLISHED['const'][2]}, the best of const",
            f"{better.before:.1f}",
            f"{BEGIN}, a swarm's: {known_gait(BEGIN).source}",
        ),
        Row(
            "torque after gradients [N m]",
            "",
            f"{better.after:.1f}",
            f"{better.gaits} gaits with derivatives, {better.iterations} iterations; {better.message}",
        ),
        Row(
            "largest multiplier over a step",
            "",
            f"{better.multiplier:.3f}",
            f"gaits above {MAX_MULTIPLIER:g} are refused: further down they are unstable",
        ),
        Row(
            "margins of the goals",
            "",
            ", ".join(f"{name} {margin:.4f}" for name, margin in better.margins.items()),
            "a part of what is allowed; next to 0 a goal decides the gait",
        ),
        Row("by how much a step misses where it began", "", f"{better.return_error:.1e}"),
        Row(
            f"walked for {LONG_DURATION:g} s",
            "",
            walked,
            f"{verdict} at 0.1 ms, over {LONG_DURATION:g} s and with located contacts",
        ),
    ]


@cache
def both_walks() -> Mapping[str, Trajectory]:
    """Return walks in the gait to begin with and in the improved one."""
    return {"swarm": walk_known(known_gait(BEGIN)), "gradients": walk_known(as_known(improved_gait()))}


def rows() -> list[Row]:
    """Improve the gait, run it again in all ways, and compare."""
    better = improved_gait()
    gait = as_known(better)
    verified = verify_known([gait], human_ways())[gait.name]
    walks = both_walks()
    return [*improvement_rows(better, verified), *likeness_rows(walks, dict.fromkeys(walks, "const"))]


def plots() -> Sequence[Plot]:
    """Return a stride before and after."""
    return stride_plots(both_walks())


STUDY = Study(
    "kieboom-gradients",
    "A human gait that a swarm found, improved by gradients",
    "Kieboom, section 4.1, body and goals; sequential quadratic programming over gaits, derivatives from "
    "variational equations. A quarter of an hour",
    rows,
    plots,
)
