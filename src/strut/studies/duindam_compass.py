"""Duindam's compass: its passive gaits, what its impacts take, and the step down it survives."""

from __future__ import annotations

import math

import numpy as np

from strut.gait import find_all, impact_loss, step_down
from strut.gait.robust import survives
from strut.studies.study import Row, Study
from strut.walkers import compass


def rows() -> list[Row]:
    """Compare gait, impact and steps down of Duindam's compass with his numbers."""
    walker = compass(leg_mass=1, hip_mass=5, g=9.8, slope=math.radians(3))
    long, short = find_all(walker)
    loss = impact_loss(compass(leg_mass=1, hip_mass=5), {"stance": -0.25, "swing": 0.25})
    heights = np.array([0.020, 0.022, 0.050])
    x, z = (np.repeat(v[None], len(heights), axis=0) for v in (long.vector, np.array(list(long.z0.values()))))
    z[:, walker.labels("z").index("foothold_z")] += heights
    fine = survives(long, x, z)[0]
    remark = ", ".join(
        f"{100 * h:.1f} cm {'survived' if ok else 'falls'}" for h, ok in zip(heights, fine, strict=True)
    )
    limit = step_down(long)
    moduli = ", ".join(f"{abs(m):.4f}" for m in long.multipliers[:3])
    other = ", ".join(f"{abs(m):.4f}" for m in short.multipliers[:3])
    return [
        Row(
            "speed of the stable passive gait [m/s]",
            "0.76",
            f"{long.speed:.6f}",
            "ours is the exact fixed point",
        ),
        Row("its period [s] and step [m]", "-", f"{long.period:.6f}, {long.step_length:.6f}"),
        Row("its multipliers, modulus", "stable", moduli),
        Row(
            "the other passive gait",
            "falls after three steps",
            f"{short.speed:.6f} m/s, multipliers {other}",
            "the short one is unstable",
        ),
        Row(
            "fractions of kinetic energy an impact takes, legs 0.5 rad apart",
            "1.0, 0.22",
            ", ".join(f"{f:.4f}" for f in loss.fractions),
            "0.22 is near sin(0.5)^2 = 0.2298, the value for legs without mass",
        ),
        Row("step down", "2 cm survived, 5 cm falls", remark),
        Row(
            "largest step down with all smaller ones [cm]",
            "2",
            f"{100 * limit.largest:.3f}",
            "what is survived is no interval: some steps of 2 cm are survived beyond the first that is not",
        ),
    ]


STUDY = Study(
    "duindam-compass",
    "Port-based modeling and control for efficient bipedal walking robots, chapter 4",
    "Duindam, PhD thesis, University of Twente (2006)",
    rows,
)
