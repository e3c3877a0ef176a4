"""The simplest walking model: two gaits at every small slope, and the doubling of the longer one."""

from __future__ import annotations

from strut.gait import find_all, follow
from strut.studies.study import Row, Study
from strut.walkers import simplest


def rows() -> list[Row]:
    long, short = find_all(simplest(slope=0.009))
    doubling = follow(simplest(slope=0.009), "slope", to=0.017, start=long, points=40).bifurcations[0]
    small = find_all(simplest(slope=0.001))
    scale = 0.001 ** (1 / 3)
    m = long.multipliers[0]
    return [
        Row("long gait at 0.009: stance angle [rad]", "0.200310900544287", f"{long.x0['stance']:.12f}"),
        Row("long gait at 0.009: stance rate", "-0.199832473004977", f"{long.x0['stance_rate']:.12f}"),
        Row("long gait at 0.009: multipliers", "-0.190 ± 0.558 i", f"{m.real:.9f} ± {abs(m.imag):.9f} i"),
        Row("long gait is stable for slopes up to", "0.0151", f"{doubling.at:.7f}", "where a multiplier is -1"),
        Row("short gait at 0.009", "unstable", f"multipliers {short.multipliers[0].real:.6f}, {short.multipliers[1].real:.6f}"),
        Row(
            "period as the slope goes to 0: long",
            "3.812",
            f"{small[0].period:.4f}",
            "ours at slope 0.001; the limit is approached as slope^(2/3)",
        ),
        Row("period as the slope goes to 0: short", "3.142", f"{small[1].period:.4f}", "ours at slope 0.001"),
        Row("stance angle / slope^(1/3): long", "0.970956", f"{small[0].x0['stance'] / scale:.4f}", "ours at slope 0.001"),
        Row("stance angle / slope^(1/3): short", "0.943976", f"{small[1].x0['stance'] / scale:.4f}", "ours at slope 0.001"),
    ]


STUDY = Study(
    "garcia-simplest",
    "The simplest walking model: stability, complexity, and scaling",
    "Garcia, Chatterjee, Ruina and Coleman, J. Biomech. Eng. 120 (1998)",
    rows,
)
