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
"""Where constraints, or the gradient of the Lagrangian relative to the largest multiplier, are further from
zero than this, multipliers are those of another problem: a search begins without them."""
BARRIER_FACTOR = 1e-3
"""The barrier parameter of IPOPT at the beginning of a warm search, relative to that residual."""
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
NEAR_MOTION: dict[str, Any] = {
    "mu_init": 1e-4,
    "bound_push": 1e-6,
    "bound_frac": 1e-6,
    "slack_bound_push": 1e-6,
    "slack_bound_frac": 1e-6,
}
"""Options of IPOPT for a start without multipliers that is an optimum on another mesh: the usual barrier
would push it far away from limits that it lies on."""


@dataclass(frozen=True, eq=False)
class MultiplierCurve:
    """Multipliers of rows or bounds that stand at many places of a phase.

    places: of one, in order. densities: multipliers over the part of an integral that each place stands for,
    a row for each. smooth: whether they are costates, smooth in time and of either sign; multipliers of
    inequalities jump.
    """

    places: np.ndarray
    densities: np.ndarray
    smooth: bool

    def at(self, places: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the multipliers at other places that stand for other parts: costates by cubic polynomials,
        and lines beyond the ends; others by lines between."""
        own, values = self.places, self.densities
        if len(own) < MIN_PLACES_OF_CUBIC:
            return np.asarray(np.repeat(values[:1], len(places), axis=0) * weights[:, None])
        k = np.clip(np.searchsorted(own, places, side="right") - 1, 0, len(own) - 2)
        h = (own[k + 1] - own[k])[:, None]
        a = (places - own[k])[:, None] / h
        if not self.smooth:
            a = np.clip(a, 0.0, 1.0)
            return np.asarray(((1 - a) * values[k] + a * values[k + 1]) * weights[:, None])
        slopes = np.gradient(values, own, axis=0, edge_order=2)
        inner = (1 + 2 * a) * (1 - a) ** 2 * values[k] + a**2 * (3 - 2 * a) * values[k + 1]
        inner += h * a * (1 - a) * ((1 - a) * slopes[k] - a * slopes[k + 1])
        before, behind = values[:1] + h * a * slopes[:1], values[-1:] + h * (a - 1) * slopes[-1:]
        whole = np.where(a < 0, before, np.where(a > 1, behind, inner))
        return np.asarray(whole * weights[:, None])


@dataclass(frozen=True, eq=False)
class OptimumPoint:
    """Where a solver ended.

    fractions: the mesh, by phase the widths of its intervals. unknowns: of that mesh, with their `names`.
    cost: what was minimised. bounds, rows: multipliers of everything that stands once, by name.
    bound_curves, row_curves: of what stands at many places of a phase, by group.
    scales: of what was far from one in size, as a `Solution` has them.
    own_bounds, own_rows: all multipliers as the solver left them, for the very same mesh; curves are for
        others.
    """

    fractions: tuple[np.ndarray, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    unknowns: np.ndarray = field(repr=False)
    cost: float
    bounds: Mapping[str, float] = field(repr=False)
    rows: Mapping[str, float] = field(repr=False)
    bound_curves: Mapping[Any, MultiplierCurve] = field(repr=False)
    row_curves: Mapping[Any, MultiplierCurve] = field(repr=False)
    scales: Mapping[str, float] = field(repr=False, default_factory=dict)
    own_bounds: np.ndarray = field(repr=False, default_factory=lambda: np.empty(0))
    own_rows: np.ndarray = field(repr=False, default_factory=lambda: np.empty(0))

    def is_on(self, mesh: MeshRows) -> bool:
        """Whether a mesh is the one on which this was found, with the same unknowns."""
        return self.names == tuple(mesh.unknowns.names) and same_mesh(
            self.fractions, [span.fractions for span in mesh.spans]
        )

    def multipliers(self, mesh: MeshRows) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers of the bounds and of the rows of a mesh, from curves: to begin a search with.
        Zero where this knows none."""
        bounds = _spread(
            mesh.unknowns.names, _unknown_groups(mesh), known=self.bounds, curves=self.bound_curves
        )
        rows = _spread(mesh.rows.names, _row_groups(mesh), known=self.rows, curves=self.row_curves)
        return bounds, rows[1:]

    def exact_multipliers(self, mesh: MeshRows) -> tuple[np.ndarray, np.ndarray]:
        """Return multipliers as the solver left them, on the mesh on which this was found; else from
        curves."""
        if self.is_on(mesh) and len(self.own_rows) == len(mesh.rows.names) - 1:
            return self.own_bounds.copy(), self.own_rows.copy()
        return self.multipliers(mesh)


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
        own_bounds=np.array(bounds, dtype=float),
        own_rows=np.array(rows, dtype=float),
    )


Group = tuple[Any, np.ndarray, np.ndarray, np.ndarray]
"""A key, places and weights, and indices: a row for each place."""
COSTATE_ROWS = ("flow", "end")
"""Kinds of rows whose multipliers are costates."""
STATE_GROUPS = ("first", "last", "node", "inner")
"""Groups of unknowns that are states."""
MIN_PLACES_OF_CUBIC = 3
"""Places that slopes of second order need."""
ENOUGH_WEIGHT = 1e-9
"""A place that stands for less of an integral has no density: its multipliers count as they are."""


def _unknown_groups(mesh: MeshRows) -> Iterator[Group]:
    """Yield the unknowns that stand at many places. Bounds hold all along: multipliers are in proportion
    to the part of an integral that a place stands for."""
    c, b = (np.empty(0), np.empty(0)) if mesh.table is None else (mesh.table.c, mesh.table.b)
    between = (c > 0) & (c < 1)
    for k, span in enumerate(mesh.spans):
        nodes, widths = span.nodes, span.fractions
        one = np.ones(1)
        yield ("first", k), nodes[:1], one, span.x[:1]
        yield ("last", k), nodes[-1:], one, span.x[-1:]
        yield ("node", k), nodes[1:-1], widths[:-1], span.x[1:-1]
        within = {"inner": (span.inner, c[between], b[between])}
        count = span.w.shape[1]
        middle = np.linspace(0, 1, count) if count > 1 else np.full(1, 0.5)
        within["w"] = span.w, middle, np.ones(count)
        weights = mesh.weights()
        within["slack"] = span.slack, (np.arange(mesh.points) + 0.5) / mesh.points, weights
        for label, (index, parts, shares) in within.items():
            if index.size:
                places = (nodes[:-1, None] + widths[:, None] * parts).reshape(-1)
                columns = index.reshape(len(places), -1)
                yield (label, k), places, (widths[:, None] * shares).reshape(-1), columns


def _row_groups(mesh: MeshRows) -> Iterator[Group]:
    """Yield the rows that stand at many places."""
    for key, marks in mesh.place_rows.items():
        places, weights, rows = zip(*marks, strict=True)
        yield key, np.array(places), np.array(weights), np.array(rows)


def _gather(
    names: Sequence[str], groups: Iterator[Group], values: np.ndarray
) -> tuple[dict[str, float], dict[Any, MultiplierCurve]]:
    """Return numbers by name of what stands once, and curves of what stands at many places."""
    once, curves = np.ones(len(names), dtype=bool), {}
    for key, places, weights, index in groups:
        once[index.reshape(-1)] = False
        if not len(places):
            continue
        order = np.argsort(places, kind="stable")
        densities = values[index] / _whole(weights)[:, None]
        first = np.concatenate([[True], np.diff(places[order]) > SAME_PLACE])
        curves[key] = MultiplierCurve(
            places[order][first], densities[order][first], smooth=key[1] in COSTATE_ROWS
        )
    return {name: float(values[i]) for i, name in _numbered_names(names, once)}, curves


def _spread(
    names: Sequence[str],
    groups: Iterator[Group],
    *,
    known: Mapping[str, float],
    curves: Mapping[Any, MultiplierCurve],
) -> np.ndarray:
    """Return numbers for everything: by name of what stands once, from curves of what stands at many
    places."""
    once, values = np.ones(len(names), dtype=bool), np.zeros(len(names))
    for key, places, weights, index in groups:
        once[index.reshape(-1)] = False
        curve = curves.get(key)
        if curve is not None and curve.densities.shape[1] == index.shape[1]:
            values[index] = curve.at(places, _whole(weights))
    for i, name in _numbered_names(names, once):
        values[i] = known.get(name, 0.0)
    return values


def _numbered_names(names: Sequence[str], chosen: np.ndarray) -> Iterator[tuple[int, str]]:
    """Yield the chosen ones with their names; the second of one name, and those after it, with a number, so
    that two requirements that are called alike are not taken for one."""
    counts: dict[str, int] = {}
    for i in np.flatnonzero(chosen).tolist():
        counts[names[i]] = counts.get(names[i], 0) + 1
        yield i, names[i] if counts[names[i]] == 1 else f"{names[i]} ({counts[names[i]]})"


def _whole(weights: np.ndarray) -> np.ndarray:
    """Return weights, one for those that are too small to divide by."""
    return np.where(np.abs(weights) < ENOUGH_WEIGHT, 1.0, weights)


__all__ = ["OptimumPoint", "optimum_point"]
