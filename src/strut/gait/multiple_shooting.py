"""`gait_through`: the gait next to a motion that is known moment by moment, by multiple shooting.

Within a step an open-loop plan may magnify an error by 1e6 and more. Then no run in one go comes back to
where it began, however near it begins, and Newton's method on the return map has nothing to hold on to. The
step is therefore cut at moments, each with a state of its own, and Newton's method makes all pieces join and
the last one lead back to the first: a piece magnifies little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from strut.gait.exchange import mirror, mirror_steps
from strut.gait.gait import Gait, spectrum
from strut.gait.return_map import MAP_TOLERANCES, ReturnMap
from strut.gait.transport import distance_between
from strut.simulate import simulate

MAX_ITERATIONS = 8
"""Iterations of Newton's method, at most: it begins next to the gait, and is quadratic there."""
MAX_GAP = 1e-9
"""[1] Pieces join where states at their ends differ by no more, relative to 1 + |state|."""
MAX_STEP_DIFFERENCE = 1e-6
"""[1] A second step is the first where states at the ends of its pieces differ by no more, relative to
1 + |state|: begun at the same states, only discrete ones may make it another."""
MAX_TIME_FACTOR = 1.25
"""[1] The event that ends the step comes within so many times the planned time of the last piece."""


@dataclass(frozen=True, eq=False)
class Shot:
    """Where a motion is, and a piece begins, at a time [s] since the step began: continuous and discrete
    states."""

    t: float
    x: np.ndarray
    z: np.ndarray


@dataclass(frozen=True, eq=False)
class _Piece:
    """A piece as it ran: its end, by how much it varies with its beginning, and how long it took [s]."""

    x: np.ndarray
    z: np.ndarray
    by_x: np.ndarray
    took: float


def gait_through(step: ReturnMap, moments: Sequence[Shot], period: float) -> tuple[Gait | None, str]:
    """Return the gait next to a motion, or None and why there is none. step: the map whose fixed point it
    is, of one step. moments: of the motion, the first where the map begins. period: of it, about [s]."""
    count, nx = len(moments), step.nx
    x = np.array([m.x for m in moments])
    z = [m.z for m in moments]
    spans = [*np.diff([m.t for m in moments]), MAX_TIME_FACTOR * (period - moments[-1].t)]
    free, spread = len(step.chosen), step.shape.spread
    pieces: list[_Piece] = []
    for _ in range(MAX_ITERATIONS):
        outcomes = [_run(step, x[k], z[k], float(spans[k]), k == count - 1) for k in range(count)]
        pieces = [piece for piece in outcomes if piece is not None]
        if len(pieces) < count:
            return None, f"piece {outcomes.index(None) + 1} of {count} does not end as planned"
        end, by_end = _exchange(step, pieces[-1])
        y = step.free(x[0])
        gaps = [pieces[k].x - x[k + 1] for k in range(count - 1)]
        residual = np.concatenate([*gaps, step.free(end) - y])
        if np.abs(residual).max() <= MAX_GAP * (1 + np.abs(x).max()):
            break
        # Unknown are the free states where the step begins, and all states at the other moments.
        places = np.concatenate([[0], free + nx * np.arange(count)])
        matrix = np.zeros((len(residual), len(residual)))
        for k, piece in enumerate(pieces):
            last = k == count - 1
            rows = slice(k * nx, k * nx + (free if last else nx))
            by_begin = (_repeating_rows(step, by_end) if last else np.eye(nx)) @ piece.by_x
            matrix[rows, places[k] : places[k + 1]] += by_begin @ (spread if k == 0 else np.eye(nx))
            if not last:
                matrix[rows, places[k + 1] : places[k + 2]] -= np.eye(nx)
        matrix[(count - 1) * nx :, :free] -= np.eye(free)
        change = np.linalg.solve(matrix, -residual)
        if not np.isfinite(change).all():
            return None, "Newton's method, piece by piece, comes to no end"
        x[0] = step.whole(y + change[:free], x[0])
        x[1:] += change[free:].reshape(count - 1, nx)
    else:
        return None, f"its pieces do not join: {np.abs(residual).max():.2g} is left"
    why = _why_another(step, x, pieces, [float(span) for span in spans])
    return (None, why) if why else (_gait(step, x[0], pieces, float(np.abs(residual).max())), "")


def _run(step: ReturnMap, x: np.ndarray, z: np.ndarray, span: float, last: bool) -> _Piece | None:
    """Run a piece of so long [s], the last one until the section; None where it ends otherwise."""
    discrete = step.held.copy()
    discrete[: len(z)] = z
    options: dict[str, Any] = {"rtol": MAP_TOLERANCES["rtol"], "atol": MAP_TOLERANCES["atol"]}
    p = np.concatenate([step.start.p, step.along])
    begin = np.concatenate([x, step.variation])
    run = simulate(step.varied, t=span, x0=begin, z0=discrete, u=step.start.u, p=p, **options)
    if run.status != (step.section if last else "done"):
        return None
    state, nx = run.raw.x_end, step.nx
    by_x = state[nx:].reshape(step.n, nx).T[:, :nx]
    return _Piece(state[:nx], run.raw.z_end[: len(z)], by_x, run.t1)


def _exchange(step: ReturnMap, piece: _Piece) -> tuple[np.ndarray, np.ndarray]:
    """The end of a step with left and right exchanged where the system has both, and its derivative by the
    end."""
    if not step.system.symmetry:
        return piece.x, np.eye(step.nx)
    x, _, by_x, _ = mirror_steps(step.system, piece.x[None], piece.z[None], step.start.p[None])
    return x[0], by_x[0]


def _repeating_rows(step: ReturnMap, by_end: np.ndarray) -> np.ndarray:
    """Rows of a derivative that belong to free states."""
    shape = step.shape
    if shape.shear is not None:
        by_end = by_end - shape.shears(step.start.p) @ by_end[list(shape.cyclic)]
    rows: np.ndarray = by_end[step.chosen]
    return rows


def _why_another(step: ReturnMap, x: np.ndarray, pieces: list[_Piece], spans: list[float]) -> str:
    """Why a second step, with the discrete states that the first one left, is another; empty if it is not."""
    z = pieces[-1].z
    if step.system.symmetry:
        _, z = mirror(step.system, pieces[-1].x, z, step.start.p)
    for k, first in enumerate(pieces):
        second = _run(step, x[k], z, spans[k], k == len(pieces) - 1)
        if second is None:
            return "the second step was another"
        if np.abs(second.x - first.x).max() > MAX_STEP_DIFFERENCE * (1 + np.abs(first.x).max()):
            return "the second step was another"
        z = second.z
    return ""


def _gait(step: ReturnMap, x0: np.ndarray, pieces: list[_Piece], residual: float) -> Gait:
    """The gait whose pieces join."""
    system, z0 = step.system, step.start.z
    product = np.eye(step.nx)
    for piece in pieces:
        product = piece.by_x @ product
    by_y = _repeating_rows(step, _exchange(step, pieces[-1])[1]) @ product @ step.shape.spread
    multipliers, vectors = spectrum(by_y)
    end = pieces[-1].x, pieces[-1].z
    return Gait(
        system=system,
        section=step.section,
        steps=1,
        x0=dict(zip(system.labels("x"), x0.tolist(), strict=True)),
        z0=dict(zip(system.labels("z"), z0.tolist(), strict=True)),
        period=sum(piece.took for piece in pieces),
        step_length=distance_between(system, (x0, z0), end, step.start.p, step.shape),
        residual=residual,
        jacobian=by_y,
        multipliers=multipliers,
        eigenvectors=vectors,
        names=step.names,
    )


__all__ = ["Shot", "gait_through"]
