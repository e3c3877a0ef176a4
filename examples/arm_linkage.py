"""A linkage for an arm: which ones carry shoulder and elbow with both motors on the back, and which of their
designs is the lightest that stays away from singularities while the arm reaches forward.

Run it with `python examples/arm_linkage.py`; it leaves arm_linkage.svg, the design to scale."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from strut import linkage

ARM = linkage.Limb(
    ("back", "upper_arm", "forearm"),
    {"shoulder": ("back", "upper_arm"), "elbow": ("upper_arm", "forearm")},
    {
        "back": ((0.0, 1.45), (0.0, 1.05)),
        "upper_arm": ((0.0, 1.45), (0.0, 1.15)),
        "forearm": ((0.0, 1.15), (0.0, 0.9)),
    },
    {"shoulder": -1, "elbow": -1},
)
"""An arm that hangs down: segments in the reference posture [m]; lifting it forward counts as positive."""
REACH = np.column_stack([np.linspace(0.2, 1.0, 15), np.linspace(0.9, 0.3, 15)])
"""[rad] Shoulder and elbow while the arm reaches forward."""
PIN_RANGES = {"x": (-0.3, 0.1), "z": (0.8, 1.6)}
"""[m] Where pins may be that are on no segment: rather behind the arm."""
DESIGNS = 1500
"""Random designs of each topology."""


def both_on_the_back(topology: linkage.Topology) -> list[tuple[str, ...]]:
    """The pairs of motors of which both sit on the back."""
    return [
        pair for pair in topology.actuator_sets() if all("back" in topology.joints[joint] for joint in pair)
    ]


def lightest(topology: linkage.Topology, pair: tuple[str, ...], seed: int) -> tuple[float, np.ndarray] | None:
    """The mass [kg] and the pins of the lightest of random designs that pass, if any does."""
    parameters = linkage.pin_parameters(topology, PIN_RANGES)
    low, high = np.array([(each.low, each.high) for each in parameters]).T
    values = np.random.default_rng(seed).uniform(low, high, (DESIGNS, len(parameters)))
    motion = linkage.follow_postures(topology, values, REACH, margin=0.05)
    screening = linkage.screen(motion, pair, min_strength=0.3)
    print(f"{topology.text()}; motors {', '.join(pair)}: {screening}")
    if not screening.ok.any():
        return None
    masses = np.where(screening.ok, linkage.linkage_masses(topology, motion.pins, pair), np.inf)
    return float(masses.min()), values[masses.argmin()]


def main(picture: Path = Path("arm_linkage.svg")) -> float:
    """Count, screen and draw; returns the mass of the lightest design [kg]."""
    topologies = linkage.topologies(ARM, links=4, joints=6)
    driven_at_back = [(t, pair) for t in topologies for pair in both_on_the_back(t)]
    print(f"{len(topologies)} topologies, {len(driven_at_back)} with both motors on the back")
    designs = [(t, pair, lightest(t, pair, k)) for k, (t, pair) in enumerate(driven_at_back)]
    passing = [(best[0], t, pair, best[1]) for t, pair, best in designs if best is not None]
    mass, topology, pair, values = min(passing, key=lambda entry: entry[0])
    picture.write_text(linkage.draw_linkage(topology, values, "a linkage for an arm", pair), encoding="utf-8")
    print(f"the lightest has {mass:.2f} kg")
    return mass


if __name__ == "__main__":
    main(*[Path(name) for name in sys.argv[1:2]])
