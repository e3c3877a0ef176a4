"""How far van de Rijt's controller goes: speeds, pushes and torque limits, by bisection."""

from __future__ import annotations

from strut.studies.rijt_scenarios import FINAL, OUR_CHOICES, PARAMETER_SETS, bisect, measure
from strut.studies.rijt_tables import SOURCE
from strut.studies.study import Row, Study

SPEEDS = (0.3, 2.5)
"""[m/s] A speed that works, and one that does not."""
FORCES = (300.0, 1200.0)
"""[N] For 0.2 s: a push that is recovered from, and one that is not."""
TORQUES = (300.0, 100.0)
"""[N m] A limit that is enough, and one that is not."""
UNKNOWN_CAUSE = "no cause of a difference is known: the thesis prints neither body nor step time nor clamps"
"""Remark on all limits: which of what is ours makes them differ was not studied."""


def rows() -> list[Row]:
    """Bisect for every limit of chapter 7."""
    table = []
    for limit, published in ((220.0, "0.60"), (300.0, "1.25")):
        speed = bisect(
            lambda v, limit=limit: (
                measure("walking", {**FINAL, "torque_limit": limit, "walking_speed": v}).ok
            ),
            *SPEEDS,
            0.02,
        )
        table.append(Row(f"largest speed at {limit:g} N m [m/s]", published, f"{speed:.2f}", UNKNOWN_CAUSE))
    for name, values in PARAMETER_SETS.items():
        force = bisect(lambda f, values=values: measure("push", values, force=f).ok, *FORCES, 5.0)
        remark = f"{force:.0f} N for 0.2 s; {UNKNOWN_CAUSE}"
        table.append(Row(f"largest push, {name} [N s]", "140", f"{0.2 * force:.0f}", remark))
        for scenario in ("walking", "push"):
            torque = bisect(
                lambda x, values=values, scenario=scenario: (
                    measure(scenario, {**values, "torque_limit": x}).ok
                ),
                *TORQUES,
                2.0,
            )
            printed = "200" if name == "baseline" else "-"  # his torque study is of the baseline
            label = f"smallest torque limit, {scenario}, {name} [N m]"
            table.append(Row(label, printed, f"{torque:.0f}", UNKNOWN_CAUSE))
    recovery = measure("push", FINAL)
    travel = float(abs(recovery.run["com"][:, 0]).max())
    label, remark = "distance before balance is recovered, final [m]", f"at 140 N s; {UNKNOWN_CAUSE}"
    table.append(Row(label, "0.85", f"{travel:.2f}", remark))
    remark = f"until it stays within 5 cm; {UNKNOWN_CAUSE}"
    table.append(Row("recovery time, final [s]", "4.2", f"{recovery.recovery_time:.2f}", remark))
    return table + [Row(f"choices {k + 1}", "-", "see remark", text) for k, text in enumerate(OUR_CHOICES)]


STUDY = Study(
    "rijt-limits",
    "Momentum control of a planar humanoid: speeds, pushes and torques at which it fails (chapters 6, 7)",
    SOURCE,
    rows,
)
