"""`MotionPlayer`: servos that follow a table of angles over time. The table is parameters: other motions of
the same length need no compiling, and a batch may have another one in every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked, integer, number_array, positive
from strut.control.reference import ReferenceSignal
from strut.control.servo import servo
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.system import Discrete, Param, Sample, System, join, time

KNOT_SLACK = 1e-6
"""[1] By which a tick may come before its knot, relative to the period: rounding."""


@checked
@dataclass(frozen=True)
class MotionPlayer:
    """Plays motions of joints from a table, as cubic splines through evenly spaced knots.

    joints: by name of drive, as `servo` takes them. knots: of the longest motion; shorter ones hold their
        last angles. name: what its parameters and states are called.

    At each knot a sample looks up the four coefficients of every joint's B-spline; between them the flow
    evaluates a cubic. Before the motion begins and after it has ended, it rests.
    """

    joints: tuple[str, ...]
    knots: int
    name: str = "motion"

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        integer("knots of a motion player", self.knots, 2)
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise ModelError(
                f"a motion player has the joints {list(self.joints)}: names that differ are needed"
            )

    def drive(self, system: System, hold: Mapping[str, float] | None = None, **options: Any) -> System:
        """Return the system with servos that follow the table.

        hold: angles at which other drives are held [rad]. options: of `servo`, kp and the like. The system
        has then parameters `motion_every` [s] and `motion_table`, which `table` makes of a motion; until they
        are given, all joints are held at zero.
        """
        every = Param(
            f"{self.name}_every", 0.02, "s", bounds=(1e-6, np.inf), description="period of the knots"
        )
        width = self.knots + 2
        table = Param(
            f"{self.name}_table",
            np.zeros(width * len(self.joints)),
            "rad",
            description="B-spline coefficients, joint after joint",
        )
        place = Discrete(f"{self.name}_knot", 0.0, internal=True)
        splines = {
            joint: Discrete(f"{self.name}_{joint}_spline", np.zeros(4), "rad", internal=True)
            for joint in self.joints
        }
        knot = ca.fmin(ca.floor(time / every.sym + KNOT_SLACK), self.knots - 2)
        knot = ca.fmax(knot, 0)
        at_knot = [knot == k for k in range(self.knots - 1)]
        changes: dict[Any, Any] = {place: knot}
        signals = {}
        # the part of the way to the next knot; before the first and after the last it rests
        s = ca.fmax(0, ca.fmin(1, time / every.sym - place.sym))
        weights = ca.vertcat((1 - s) ** 3, 4 - 6 * s**2 + 3 * s**3, 1 + 3 * s + 3 * s**2 - 3 * s**3, s**3) / 6
        for number, joint in enumerate(self.joints):
            row = table.sym[number * width : (number + 1) * width]
            # one entry of a row, chosen by a sum: there is no index that is an expression
            coefficients = [
                sum((at_knot[k] * row[k + m] for k in range(len(at_knot))), ca.SX(0)) for m in range(4)
            ]
            changes[splines[joint]] = ca.vertcat(*coefficients)
            signals[joint] = ReferenceSignal(ca.dot(splines[joint].sym, weights))
        reader = System(
            f"{self.name}_player",
            z=(place, *splines.values()),
            p=(every, table),
            samples=(Sample(f"{self.name}_tick", every=every.sym, set=changes, description="the next knot"),),
        )
        with_reader = join(system.name, system, reader)
        return servo(with_reader, {**signals, **(hold or {})}, **options).replace(name=system.name)

    def table(self, t: Any, angles: Mapping[str, Any]) -> dict[str, Any]:
        """Return a motion as parameters, for p of `simulate` and `simulate_batch`.

        t: evenly spaced times from 0 [s], at most as many as there are knots. angles: by joint, one for each
        time [rad]; the spline through them begins and ends at rest.
        """
        times = number_array("the times of a motion", t, axes=(1,))
        if len(times) < 2 or len(times) > self.knots:
            raise ValueRangeError(
                f"a motion has {len(times)} knots: this player takes 2 to {self.knots}; make one with more"
            )
        every = positive("the period of a motion", float(times[-1] - times[0]) / (len(times) - 1), "s")
        if times[0] != 0 or np.abs(np.diff(times) - every).max() > KNOT_SLACK * every:
            raise ValueRangeError("the times of a motion must begin at 0 and be evenly spaced")
        rows = []
        for joint in self.joints:
            if joint not in angles:
                raise UnknownNameError(f"the motion has no '{joint}': {did_you_mean(joint, list(angles))}")
            column = number_array(f"'{joint}' of a motion", angles[joint], axes=(1,))
            if len(column) != len(times) or not np.isfinite(column).all():
                raise ValueRangeError(
                    f"'{joint}' of a motion has {len(column)} angles: {len(times)} finite ones are needed"
                )
            rows.append(
                spline_coefficients(np.concatenate([column, np.full(self.knots - len(column), column[-1])]))
            )
        return {f"{self.name}_every": every, f"{self.name}_table": np.concatenate(rows)}


def spline_coefficients(values: np.ndarray) -> np.ndarray:
    """Return the coefficients of the uniform cubic B-spline through values, at rest at both ends: two more
    than there are values. Several columns are several splines."""
    count = len(values)
    # (c[k] + 4 c[k+1] + c[k+2]) / 6 is the value at knot k, and (c[k+2] - c[k]) / 2 its slope: the first and
    # last coefficient are those of their neighbours' neighbours, and a tridiagonal system is left, which
    # elimination solves (Thomas algorithm)
    diagonal, right = np.full(count, 4.0), 6 * values.astype(float)
    upper, lower = np.ones(count), np.ones(count)
    upper[0] = lower[-1] = 2.0
    for k in range(1, count):
        factor = lower[k] / diagonal[k - 1]
        diagonal[k] -= factor * upper[k - 1]
        right[k] -= factor * right[k - 1]
    inner = right / diagonal.reshape(-1, *[1] * (values.ndim - 1))
    for k in range(count - 2, -1, -1):
        inner[k] -= upper[k] / diagonal[k] * inner[k + 1]
    return np.concatenate([inner[1:2], inner, inner[-2:-1]])


def spline_rates(values: np.ndarray, every: float) -> np.ndarray:
    """Return the slopes at its knots of the spline through values, `every` seconds apart."""
    c = spline_coefficients(values)
    return np.asarray((c[2:] - c[:-2]) / (2 * every))


__all__ = ["MotionPlayer", "spline_coefficients", "spline_rates"]
