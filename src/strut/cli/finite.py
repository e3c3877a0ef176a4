"""Numbers that are infinite or not a number, found before they pass for results: which variable, and since when."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
import typer
from rich.markup import escape

from strut.cli.show import notes
from strut.simulate.trajectory import Trajectory
from strut.system.quantity import sx, time

PROBE_STEPS = (0.0, 1e-12, 1e-9, 1e-6, 1e-3)
"""How far beyond the end of a run its rates are looked at for the first that is not finite [s]."""


def check_finite(t: np.ndarray, columns: Mapping[str, np.ndarray]) -> None:
    """Say which column is the first that is not finite, and when, and end the command with status 1; pass if none is."""
    first: tuple[int, str] | None = None
    for name, values in columns.items():
        wrong = np.flatnonzero(~np.isfinite(np.asarray(values, dtype=float).reshape(len(t), -1)).all(axis=1))
        if len(wrong) and (first is None or wrong[0] < first[0]):
            first = (int(wrong[0]), name)
    if first is None:
        return
    row, name = first
    value = np.asarray(columns[name], dtype=float).reshape(len(t), -1)[row]
    kind = "not a number" if np.isnan(value).any() else "infinite"
    notes.print(
        f"[red]'{escape(name)}' is {kind} at t = {t[row]:.9g} s[/red]: what follows means nothing; the model divides by zero, leaves the "
        "domain of a root or logarithm, or diverges (try a shorter step)",
        soft_wrap=True,
        highlight=False,
    )
    raise typer.Exit(1)


def diverging_state(result: Trajectory) -> str:
    """The first state that is not finite where a run ended, or whose rate is not; empty if neither can be told."""
    raw, names = result.raw, result.names
    for name, value in zip(names.x, raw.x_end, strict=False):
        if not np.isfinite(value):
            return name
    s = result.system
    if s is None or s.delays or s.randoms or not s.x:
        return ""
    symbols = [ca.vertcat(*[q.sym for q in group]) if group else ca.SX(0, 1) for group in (s.x, s.z, s.u, s.p)]
    flow = ca.Function("flow", [time, *symbols], [ca.densify(ca.vertcat(*[sx(s.flow[q.name]) for q in s.x]))])
    for ahead in (*PROBE_STEPS, float(result.provenance["options"].get("step") or 0)):
        rates = flow(raw.t_end + ahead, raw.x_end[: len(names.x)], raw.z_end, raw.u_end, result.p).full().ravel()
        for name, rate in zip(names.x, rates, strict=True):
            if not np.isfinite(rate):
                return name
    return ""
