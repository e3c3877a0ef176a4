"""Does a linkage keep away from singularities along its own walk? A search screens along an ordinary stride
and around it, before anything walks; nothing holds a walk there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from strut import linkage
from strut.linkage.screening import MIN_REGULARITY, MIN_STRENGTH
from strut.simulate import Trajectory, simulate
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_found import FoundDesign
from strut.studies.exoskeleton_screening import SCREENED_MARGIN
from strut.walkers.worn_machine import SIDES

WALK_STEP = 2.5e-4
"""[s] Step of RK4 of walks that are screened."""
POSTURE_RATE = 200
"""[1/s] Postures of a walk that are looked at: a knee that turns by 8 rad/s does 0.04 rad from one to the
next."""
STRIDE_SAMPLES = 400
"""[1] Samples of the stride from which a walk's distance is told: 0.02 rad apart at most."""
WALK_SCREENING = "walked"
"""What answers of screening along a machine's own walk are kept as."""
WALK_QUANTITY = (
    f"weakest strength and regularity along its own walk ({MIN_STRENGTH:g} and {MIN_REGULARITY:g} are needed)"
)
"""What is told of a walk in tables."""
SOUND_WALK: Mapping[str, float] = {"ok": 1.0}
"""What is found of a machine without linkages, which has no singularity."""


def screen_walk(design: FoundDesign) -> dict[str, float]:
    """Let a design walk on soft ground as long as in the search, and screen its linkages along the postures
    of hips and knees of this walk, from its begin on, both legs.

    Returned are ok, 1 where it passes as `linkage.screen` has it; strength and regularity, the weakest of
    both legs, as of `linkage.Screening`; farthest, by how much a joint differs at most from the nearest
    posture of the stride [rad]; and beyond, the part of the time that it is further from the stride than
    designs are screened around it [1]. Of a walk that falls ok alone, 0, and the time at which it does [s].
    """
    walk = simulate(design.machine("soft"), DURATION, method="rk4", step=WALK_STEP, ledger=False)
    if walk.status != "done":
        return {"ok": 0.0, "time": float(walk.t[-1])}
    return screen_postures(design, walk_postures(design.group.topology, walk))


def walk_postures(topology: linkage.Topology, walk: Trajectory) -> list[np.ndarray]:
    """Return the angles of the limb's joints over a walk [rad], of each leg a row for each sample."""
    moments = walk.at(np.arange(walk.t[0], walk.t[-1], 1 / POSTURE_RATE))
    return [np.column_stack([moments[f"{joint}{side}"] for joint in topology.limb.joints]) for side in SIDES]


def screen_postures(design: FoundDesign, legs: list[np.ndarray]) -> dict[str, float]:
    """Screen a design along postures of its legs, as `screen_walk` does along its walk."""
    topology, pins = design.group.topology, np.reshape(design.pins, (1, -1))
    screened = [
        linkage.screen(linkage.follow_postures(topology, pins, postures), design.group.actuators)
        for postures in legs
    ]
    stride = linkage.stride_postures(STRIDE_SAMPLES)
    away = np.concatenate([_distances(postures, stride) for postures in legs])
    return {
        "ok": float(all(each.ok[0] for each in screened)),
        "strength": min(float(each.strength[0]) for each in screened),
        "regularity": min(float(each.regularity[0]) for each in screened),
        "farthest": float(away.max()),
        "beyond": float((away > SCREENED_MARGIN).mean()),
    }


def _distances(postures: np.ndarray, stride: np.ndarray) -> np.ndarray:
    """By how much a joint differs from the nearest posture of a stride [rad]."""
    return np.asarray(np.abs(postures[:, None] - stride[None]).max(axis=2).min(axis=1))


def walk_text(walked: Mapping[str, float]) -> str:
    """Return the weakest strength and regularity along a walk, for a table."""
    if "time" in walked:
        return f"falls after {walked['time']:.1f} s"
    return f"{walked['strength']:.2f}, {walked['regularity']:.2f}" if "strength" in walked else "-"


def walk_remark(walked: Mapping[str, float]) -> str:
    """Return how far a walk goes from the stride along which designs are screened, for a table."""
    if "farthest" not in walked:
        return ""
    return (
        f"up to {walked['farthest']:.2f} rad from the stride, {100 * walked['beyond']:.0f} % of the time "
        f"beyond the {SCREENED_MARGIN:g} rad around it that are screened"
    )


def walk_miss(walked: Mapping[str, float]) -> str:
    """Return what a walk does not keep, in words; nothing where it passes or was not asked."""
    if walked.get("ok", 1.0):
        return ""
    if "time" in walked:
        return f"{walk_text(walked)} in steps of {1e3 * WALK_STEP:g} ms"
    return "comes near a singularity along its own walk"


__all__ = [
    "SOUND_WALK",
    "WALK_QUANTITY",
    "WALK_SCREENING",
    "screen_postures",
    "screen_walk",
    "walk_miss",
    "walk_postures",
    "walk_remark",
    "walk_text",
]
