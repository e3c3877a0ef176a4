"""Duindam's gait search among polynomials, and what its sums over few points hide."""

from __future__ import annotations

import math

import numpy as np

from strut.gait import find
from strut.optimal import Search, gait_search
from strut.studies.duindam_springs import COSTS, FIRST_GUESS, HIS_DEGREE, HIS_POINTS, SPEEDS, SpringWalk
from strut.studies.study import Row, Study, cost_verdict

LISTED_SPEEDS = (0.5, 0.8, 1.0, 1.3)
"""Speeds that are compared with his [m/s]."""


def rows() -> list[Row]:
    """Compare polynomial gait searches with Duindam's, at each of his speeds."""
    walk = SpringWalk()
    passive = find(walk.walker)
    rough = gait_search(walk.problem(None), FIRST_GUESS, degree=HIS_DEGREE, nodes=HIS_POINTS)
    gap = max(abs(rough.motion(0, np.zeros(1))[0][0] - passive.vector))
    table = [
        Row(
            "speed of the passive gait on 3 degrees [m/s]",
            "0.76",
            f"{_speed(walk, rough):.6f}",
            "degree 10, 20 points",
        ),
        Row(
            "its period [s]",
            "-",
            f"{rough.duration:.6f}",
            f"the fixed point has {passive.period:.6f}; states differ by {gap:.1e}",
        ),
    ]
    for v in LISTED_SPEEDS:
        published = COSTS["nominal"][SPEEDS.index(v)]
        problem = walk.problem(v)
        his = gait_search(problem, FIRST_GUESS, degree=HIS_DEGREE, nodes=HIS_POINTS)
        sound = gait_search(problem, FIRST_GUESS, degree=(6, HIS_DEGREE), nodes=HIS_POINTS, rule="gauss")
        exact = problem.solve(sound, accuracy=1e-7, cost_accuracy=None)
        hidden = (
            f"along the same polynomials the integral is {his.accurate_totals['effort']:.4g}: torque hides "
            f"between the points"
        )
        table += [
            Row(
                f"{v} m/s: squared torque, degree 10, sum over 20 points [N^2 m^2 s]",
                published,
                f"{his.cost:.4g}",
                f"{cost_verdict(published, his.cost)}; {hidden}",
            ),
            Row(
                f"{v} m/s: the same, 20 points of Gauss",
                published,
                f"{sound.cost:.4g}",
                f"{cost_verdict(published, sound.cost)}; the integral is "
                f"{sound.accurate_totals['effort']:.4g}",
            ),
            Row(
                f"{v} m/s: the optimum, by collocation",
                published,
                f"{exact.cost:.4g}",
                f"{cost_verdict(published, exact.cost)}; defect {exact.defect:.1e}",
            ),
        ]
    return table


def _speed(walk: SpringWalk, search: Search) -> float:
    """Legs are 1 m long."""
    x, names = search.motion(0, np.ones(1))[0][0], walk.walker.labels("x")
    return float(2 * math.sin(abs(x[names.index("swing")] - x[names.index("stance")]) / 2) / search.duration)


STUDY = Study(
    "duindam-gait-search",
    "Port-based modeling and control for efficient bipedal walking robots, section 4.1 (gait search among "
    "polynomials)",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
