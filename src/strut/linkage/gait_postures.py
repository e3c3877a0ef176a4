"""Postures of a leg along a stride of ordinary walking, for screening."""

from __future__ import annotations

import numpy as np

from strut.checks import checked, integer

STRIDE_POINTS = {
    "hip": ((0.0, 28.0), (0.5, -12.0), (0.85, 32.0)),
    "knee": ((0.0, 5.0), (0.14, 18.0), (0.40, 5.0), (0.72, 60.0), (0.97, 3.0)),
}
"""By joint, extremes of flexion over a stride from heel strike on: the phase [1] and the angle [deg], rounded
from what textbooks of gait agree on; no table of one of them is copied."""


@checked
def stride_postures(samples: int = 40) -> np.ndarray:
    """Return hip and knee flexion [rad] at so many even phases of a stride, a row each: cubics between the
    extremes of ordinary walking, level at each."""
    integer("samples", samples, 2)
    phases = np.arange(samples) / samples
    columns = []
    for points in STRIDE_POINTS.values():
        at, value = np.array(points).T
        at, value = np.concatenate([at, at[:1] + 1]), np.concatenate([value, value[:1]])
        piece = np.searchsorted(at, phases, side="right") - 1
        part = (phases - at[piece]) / (at[piece + 1] - at[piece])
        rise = part**2 * (3 - 2 * part)
        columns.append(np.deg2rad(value[piece] + rise * (value[piece + 1] - value[piece])))
    return np.column_stack(columns)


__all__ = ["stride_postures"]
