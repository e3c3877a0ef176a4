"""The states of a run, read from its record: at all of its points, and at any time by its dense output."""

from __future__ import annotations

import numpy as np

from strut.simulate.record import Raw


def recorded_points(raw: Raw) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, states (with integrated powers), discrete states, inputs, and how many jumps came before. A row
    per step, and two for a jump: before and after."""
    m, width = len(raw.t), len(raw.x_end)
    if m and not len(raw.jump):
        rows = (
            np.append(raw.t, raw.t_end),
            np.vstack([raw.poly[:, 0], raw.x_end]),
            np.vstack([raw.z, raw.z_end]),
        )
        return *rows, np.vstack([raw.u, raw.u_end]), np.zeros(m + 1, dtype=int)
    jumps_after = (
        np.bincount(raw.jump_after, minlength=m + 1) if len(raw.jump_after) else np.zeros(m + 1, dtype=int)
    )
    ends = np.append(raw.t[1:], raw.t_end) if m else np.empty(0)
    # steps whose end is a point of its own: those before a jump, and the last
    with_end = np.flatnonzero(jumps_after[1:] > 0) if m else np.empty(0, dtype=int)
    if m and (not len(with_end) or with_end[-1] != m - 1):
        with_end = np.append(with_end, m - 1)
    key = np.concatenate([2 * np.arange(m), 2 * with_end + 1])
    order = np.argsort(key, kind="stable")
    t = np.concatenate([raw.t, ends[with_end]])[order]
    last = raw.poly[with_end].sum(axis=1)
    if m and not jumps_after[m]:
        last[-1] = raw.x_end
    x = np.concatenate([raw.poly[:, 0, :], last])[order]
    z = np.concatenate([raw.z, raw.z[with_end]])[order]
    u = np.concatenate([raw.u, raw.u[with_end]])[order]
    passed = np.cumsum(jumps_after)
    count = np.concatenate([passed[:m], passed[with_end]])[order]
    if jumps_after[0]:  # before the first step
        padded = np.concatenate([raw.x_before[0], np.zeros(width - raw.x_before.shape[1])])
        t, x = np.insert(t, 0, raw.jump_t[0]), np.insert(x, 0, padded, axis=0)
        z, u = np.insert(z, 0, raw.z_before[0], axis=0), np.insert(u, 0, u[0] if m else raw.u_end, axis=0)
        count = np.insert(count, 0, 0)
    if not m or jumps_after[m]:  # after the last
        t, x = np.append(t, raw.t_end), np.append(x, raw.x_end[None], axis=0)
        z, u = np.append(z, raw.z_end[None], axis=0), np.append(u, raw.u_end[None], axis=0)
        count = np.append(count, len(raw.jump))
    return t, x, z, u, count


def states_at(raw: Raw, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, z, u at any times [s]: the polynomial of the step that holds each; at an event, what comes after
    it."""
    if not len(raw.t):
        rows = np.ones((len(t), 1))
        return rows * raw.x_end, rows * raw.z_end, rows * raw.u_end
    k = np.clip(np.searchsorted(raw.t, t, side="right") - 1, 0, len(raw.t) - 1)
    h = raw.h[k]
    a = np.clip(np.divide(t - raw.t[k], h, out=np.zeros(len(t)), where=h > 0), 0.0, 1.0)
    x = raw.poly[k, -1]
    for power in range(raw.poly.shape[1] - 2, -1, -1):
        x = x * a[:, None] + raw.poly[k, power]
    z, u = raw.z[k], raw.u[k]
    ended = t >= raw.t_end
    if np.any(ended):
        x[ended], z[ended], u[ended] = raw.x_end, raw.z_end, raw.u_end
    return x, z, u
