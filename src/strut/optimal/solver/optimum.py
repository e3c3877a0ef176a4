"""`OptimumPoint`: where a solver ended, unknowns and multipliers, for another search to begin warm.

An interior-point method that begins at a solution with nothing but its motion forgets it: the barrier pushes
the motion away from all bounds, and what comes back may be another, worse optimum. With the multipliers, and
a barrier as small as where the last search ended, it stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from strut.optimal.nlp.mesh_rows import MeshRows

SAME_PLACE = 1e-9
"""Two meshes are one where their intervals are as wide to this part of the phase."""
MAX_WARM_RESIDUAL = 1.0
"""Multipliers with which the conditions of an optimum hold no better than this, scaled as IPOPT does, are
those of another problem: a search begins without them."""
BARRIER_FACTOR = 1e-3
"""The barrier parameter of IPOPT at the beginning of a warm search, relative to how far the conditions of an
optimum are from holding there."""
MIN_BARRIER, MAX_BARRIER = 1e-8, 1e-2
"""Bounds of that barrier parameter; IPOPT's own begins at 0.1."""
WARM_PUSH = 1e-9
"""How far IPOPT moves a start away from bounds, relative, where it begins from an optimum."""
WARM_OPTIONS: dict[str, Any] = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": WARM_PUSH,
    "warm_start_bound_frac": WARM_PUSH,
    "warm_start_slack_bound_push": WARM_PUSH,
    "warm_start_slack_bound_frac": WARM_PUSH,
    "warm_start_mult_bound_push": WARM_PUSH,
}
"""Options of IPOPT for a start that has multipliers."""


@dataclass(frozen=True, eq=False)
class MultiplierCurve:
    """Multipliers of rows or bounds that every interval of a phase has.

    places: where they are, of one, increasing. widths: of their intervals, or one where they do not shrink
    with these. values: a row for each place.
    """

    places: np.ndarray
    widths: np.ndarray
    values: np.ndarray

    def at(self, places: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """Return the multipliers on another mesh: densities are interpolated linearly."""
        density = self.values / self.widths[:, None]
        columns = [np.interp(places, self.places, column) for column in density.T]
        return np.column_stack(columns) * widths[:, None] if columns else np.zeros((len(places), 0))


@dataclass(frozen=True, eq=False)
class OptimumPoint:
    """Where a solver ended.

    fractions: the mesh, by phase the widths of its intervals. unknowns: of that mesh, with their `names`.
    cost: what was minimised. bounds, rows: multipliers of everything that stands once, by name.
    bound_curves, row_curves: of what every interval has, by group.
    """

    fractions: tuple[np.ndarray, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    unknowns: np.ndarray = field(repr=False)
    cost: float
    bounds: Mapping[str, float] = field(repr=False)
    rows: Mapping[str, float] = field(repr=False)
    bound_curves: Mapping[Any, MultiplierCurve] = field(repr=False)
    row_curves: Mapping[Any, MultiplierCurve] = field(repr=False)

    def is_on(self, mesh: MeshRows) -> bool:
        """Whether a mesh is the one on which this was found, with the same unknowns."""
        return self.names == tuple(mesh.unknowns.names) and same_mesh(
            self.fractions, [span.fractions for span in mesh.spans]
        )

    def multipliers(self, mesh: MeshRows) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of the bounds and of the rows of a mesh; zero where this knows none."""
        bounds = _spread(
            mesh.unknowns.names, _unknown_groups(mesh), known=self.bounds, curves=self.bound_curves
        )
        rows = _spread(mesh.rows.names, _row_groups(mesh), known=self.rows, curves=self.row_curves)
        return bounds, rows[1:]


def same_mesh(one: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> bool:
    """Return whether two meshes have the same intervals."""
    return len(one) == len(other) and all(
        len(a) == len(b) and bool(np.abs(a - b).max(initial=0.0) <= SAME_PLACE)
        for a, b in zip(one, other, strict=True)
    )


def optimum_point(
    mesh: MeshRows, unknowns: np.ndarray, cost: float, bounds: np.ndarray, rows: np.ndarray
) -> OptimumPoint:
    """Return where a solver ended on a mesh. bounds, rows: its multipliers, as CasADi has them."""
    known_bounds, bound_curves = _gather(mesh.unknowns.names, _unknown_groups(mesh), bounds)
    known_rows, row_curves = _gather(mesh.rows.names, _row_groups(mesh), np.concatenate([[0.0], rows]))
    return OptimumPoint(
        fractions=tuple(span.fractions for span in mesh.spans),
        names=tuple(mesh.unknowns.names),
        unknowns=unknowns,
        cost=cost,
        bounds=known_bounds,
        rows=known_rows,
        bound_curves=bound_curves,
        row_curves=row_curves,
    )


Group = tuple[Any, np.ndarray, np.ndarray, np.ndarray]
"""A key, places and widths of intervals, and indices: a row for each interval."""


def _unknown_groups(mesh: MeshRows) -> Iterator[Group]:
    """Yield the unknowns that every interval has. Their bounds count in an integral over time, and so their
    multipliers shrink with the interval."""
    for k, span in enumerate(mesh.spans):
        nodes, widths = span.nodes, span.fractions
        yield ("x", k), nodes, np.concatenate([widths[:1], widths]), span.x
        for label, index in (("w", span.w), ("inner", span.inner), ("slack", span.slack)):
            for j in range(index.shape[1]):
                # Their places within the interval are the same on all meshes: the middle stands for them.
                columns = index[:, j].reshape(span.count, -1)
                yield (label, k, j), nodes[:-1] + widths / 2, widths, columns


def _row_groups(mesh: MeshRows) -> Iterator[Group]:
    """Yield the rows that every interval has."""
    for (k, key, shrinks), by_interval in mesh.interval_rows.items():
        span = mesh.spans[k]
        at = np.array(sorted(by_interval))
        widths = span.fractions[at] if shrinks else np.ones(len(at))
        rows = np.array([by_interval[i] for i in at])
        yield (k, key), span.nodes[:-1][at] + span.fractions[at] / 2, widths, rows


def _gather(
    names: Sequence[str], groups: Iterator[Group], values: np.ndarray
) -> tuple[dict[str, float], dict[Any, MultiplierCurve]]:
    """Return numbers by name of what stands once, and curves of what every interval has."""
    once, curves = np.ones(len(names), dtype=bool), {}
    for key, places, widths, index in groups:
        once[index.reshape(-1)] = False
        curves[key] = MultiplierCurve(places, widths, values[index])
    return {names[i]: float(values[i]) for i in np.flatnonzero(once).tolist()}, curves


def _spread(
    names: Sequence[str],
    groups: Iterator[Group],
    *,
    known: Mapping[str, float],
    curves: Mapping[Any, MultiplierCurve],
) -> np.ndarray:
    """Return numbers for everything: by name of what stands once, from curves what every interval has."""
    once, values = np.ones(len(names), dtype=bool), np.zeros(len(names))
    for key, places, widths, index in groups:
        once[index.reshape(-1)] = False
        curve = curves.get(key)
        if curve is not None and curve.values.shape[1] == index.shape[1]:
            values[index] = curve.at(places, widths)
    for i in np.flatnonzero(once).tolist():
        values[i] = known.get(names[i], 0.0)
    return values


__all__ = ["OptimumPoint", "optimum_point"]
