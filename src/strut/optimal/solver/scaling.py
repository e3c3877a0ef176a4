"""`nominal_scales`: in which units a nonlinear program is solved, and its conditions are judged.

A problem within a few orders of magnitude of one stays in its own units. The size of anything else is that of
the guess or the solution; of what is zero there, what the flow makes of the others, within bounds: a force is
what moves the masses by as much as they move, in as long as it takes.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.scaled import Scales
from strut.optimal.solver.kkt import ConditionedProgram

UNKNOWN_RANGE = (3e-3, 1e3)
"""Unknowns of these sizes, in their own unit, are not scaled: IPOPT takes them as they are."""
EVIDENCE_RANGE = (1e-4, 5e3)
"""Where a state, an input or a duration is beyond these, in its own unit, all that needs it is scaled; else
nothing."""
ROW_RANGE = (1e-2, 1e8)
"""Constraints that change by as much with unknowns of the size of one are not scaled: IPOPT itself scales
down what has large gradients."""
ROUNDING = 1e-12
"""Constraints that change by less hardly change at all: what is left is rounding."""
COST_RANGE = (1e-3, 1e8)
"""Costs that change by as much are not, either."""
STATE_NOISE = 1e-6
"""A state that is smaller than this part of its scale, in a solution, is zero: nothing is said by it of its
size."""
STATE_RANGE = 1e-9
"""A state that is smaller than this part of the largest one is zero, too."""
MIN_SHARE = 0.1
"""Inputs, parameters and slacks are at least of this part of the size that would move the states by theirs: a
motor that is hardly used, or a spring that is at its bound, says nothing of units."""
MAX_GRADIENT = 100.0
"""IPOPT scales functions such that gradients are at most this, in scaled units."""


def nominal_scales(mesh: Transcribed, v: np.ndarray, before: Mapping[str, float] | None = None) -> Scales:
    """Return the units for a search that begins, or ended, at v. before: those of states, by name, in which v
    was found, one where nothing is said; what is zero to the accuracy that these allow keeps them."""
    f, numbers = mesh.assembled.functions, mesh.numbers()
    J = f["jac_g"](v, numbers)[1]
    r, c = (np.array(part, dtype=int) for part in J.sparsity().get_triplet())
    slopes = np.abs(np.nan_to_num(np.array(J.nonzeros()), nan=0.0, posinf=0.0, neginf=0.0))
    groups, count = unknown_groups(mesh)
    sizes, states = _largest(groups, np.abs(v), count), slice(0, mesh.nx)
    if before is not None:
        used = np.array([before.get(name, 1.0) for name in mesh.system.labels("x")])
        sizes[states] = np.where(sizes[states] < STATE_NOISE * used, used, sizes[states])
    sizes[states][sizes[states] < STATE_RANGE * sizes[states].max(initial=0.0)] = 0.0
    ones = Scales(np.ones(len(v)), np.ones(mesh.assembled.rows), 1.0)
    cost = cost_scale(mesh, v, ones.unknowns)
    if not _in_other_units(mesh, sizes, cost):
        return ones
    sizes, least = _complete_sizes(mesh, sizes, groups, (r, c, slopes))
    if not _in_other_units(mesh, np.maximum(sizes, least), cost):
        return ones
    unknowns = within(sizes, UNKNOWN_RANGE)[groups]
    # A total is what everything in it makes of it: one that is zero, as of a passive walk, has a size, too.
    for name, at in mesh.total_at.items():
        row = mesh.total_row[name][0] - 1
        others = (r == row) & (c != at)
        prices = np.zeros(mesh.assembled.rows)
        prices[row] = 1.0
        size = abs(v[at]) + (slopes[others] * unknowns[c[others]]).sum()
        size += _curved_change(f["hess_lag"](v, numbers, 0.0, prices), unknowns)
        unknowns[at] = within(np.array([size]), ROW_RANGE)[0]
    # A row is of the size by which unknowns of their size change it; rows of a kind are alike.
    alike, kinds = row_groups(mesh)
    change = _largest(alike[r], slopes * unknowns[c], kinds)
    rows = 1 / within(np.where(change > ROUNDING, change, 1.0), ROW_RANGE)[alike]
    # Defects of a state are in its unit.
    for index in flow_rows(mesh):
        rows[index] = 1 / unknowns[mesh.spans[0].x[0]]
    return Scales(unknowns, rows, cost_scale(mesh, v, unknowns))


def cost_scale(mesh: Transcribed, v: np.ndarray, unknowns: np.ndarray) -> float:
    """Return the unit of the cost: what it is, and by how much it changes if everything changes by its
    size."""
    f, numbers = mesh.assembled.functions, mesh.numbers()
    value, gradient = (np.array(part).reshape(-1) for part in f["grad_f"](v, numbers))
    size = abs(float(value[0])) + np.abs(gradient * unknowns).sum()
    size += _curved_change(f["hess_lag"](v, numbers, 1.0, np.zeros(mesh.assembled.rows)), unknowns)
    return float(within(np.array([size if np.isfinite(size) and size > 0 else 1.0]), COST_RANGE)[0])


def _curved_change(hessian: ca.DM, unknowns: np.ndarray) -> float:
    """Return by how much a function changes by its curvature, if every unknown changes by its size."""
    r, c = (np.array(part, dtype=int) for part in hessian.sparsity().get_triplet())
    diagonal = np.array(hessian.nonzeros())[r == c] * unknowns[r[r == c]] ** 2
    return float(np.abs(diagonal).sum()) / 2


def within(sizes: np.ndarray, allowed: tuple[float, float]) -> np.ndarray:
    """Return sizes, and one for those that are allowed as they are, or not known (zero)."""
    plain = (sizes <= 0) | ~np.isfinite(sizes) | ((sizes >= allowed[0]) & (sizes <= allowed[1]))
    return np.where(plain, 1.0, sizes)


def far_off(used: Scales, now: Scales) -> bool:
    """Return whether units differ so much that what was found in one may not be accurate in the other."""
    factor = UNKNOWN_RANGE[1]
    pairs = ((used.unknowns, now.unknowns), (1 / used.rows, 1 / now.rows), (used.cost, now.cost))
    return any(bool((np.maximum(a / b, b / a) > factor).any()) for a, b in pairs)


def gradient_scales(mesh: ConditionedProgram, v: np.ndarray, scales: Scales) -> Scales:
    """Return units in which gradients of the cost and of constraints at v are at most `MAX_GRADIENT`, as
    IPOPT scales them further."""
    f, numbers = mesh.assembled.functions, mesh.numbers()
    gradient = np.array(f["grad_f"](v, numbers)[1]).reshape(-1)
    J = f["jac_g"](v, numbers)[1]
    r, c = (np.array(part, dtype=int) for part in J.sparsity().get_triplet())
    steep = (
        _largest(r, np.abs(np.array(J.nonzeros())) * scales.unknowns[c], mesh.assembled.rows) * scales.rows
    )
    cost = float(np.abs(gradient * scales.unknowns).max(initial=0.0)) / scales.cost
    return Scales(
        scales.unknowns,
        scales.rows / np.maximum(steep / MAX_GRADIENT, 1.0),
        scales.cost * max(cost / MAX_GRADIENT, 1.0),
    )


def unknown_groups(mesh: Transcribed) -> tuple[np.ndarray, int]:
    """Return of each unknown which quantity it is, and how many of these there are: states and inputs first,
    alike at all places; then slacks by integral; each of the others is one of its own."""
    nx, nu = mesh.nx, mesh.nu
    groups, count = np.full(len(mesh.unknowns.names), -1), nx + nu
    for span in mesh.spans:
        groups[span.x], groups[span.inner], groups[span.w] = np.arange(nx), np.arange(nx), nx + np.arange(nu)
        splits = span.slack.shape[2]
        for s in range(splits):
            groups[span.slack[:, :, s]] = count + s
        count += splits
    others = groups < 0
    groups[others] = count + np.arange(others.sum())
    return groups, int(count + others.sum())


def row_groups(mesh: Transcribed) -> tuple[np.ndarray, int]:
    """Return of each row which kind it is, and how many there are: rows that stand at many places of a phase
    are of one kind."""
    groups, count = np.full(mesh.assembled.rows, -1), 0
    for marks in mesh.place_rows.values():
        index = np.array([rows for _, _, rows in marks]) - 1
        groups[index] = count + np.arange(index.shape[1])
        count += index.shape[1]
    others = groups < 0
    groups[others] = count + np.arange(others.sum())
    return groups, int(count + others.sum())


def flow_rows(mesh: Transcribed) -> list[np.ndarray]:
    """Return the rows of collocation or shooting defects: places by states."""
    return [
        np.array([rows for _, _, rows in marks]) - 1
        for (_, kind), marks in mesh.place_rows.items()
        if kind in ("flow", "end")
    ]


def _largest(groups: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return the largest value of each group."""
    largest = np.zeros(count)
    np.maximum.at(largest, groups, values)
    return largest


def _complete_sizes(
    mesh: Transcribed,
    sizes: np.ndarray,
    groups: np.ndarray,
    jacobian: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Return sizes, those that are zero replaced by what the flow says, within bounds, or by these alone, and
    all but those of states at least a share of it; and a share of what all others make of each."""
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    limits = np.where(np.isfinite(low) & np.isfinite(high), np.maximum(np.abs(low), np.abs(high)), 0.0)
    bounds = _largest(groups, limits, len(sizes))
    # By how much a quantity changes states (or what else a row defines) over a phase, if it changes by one.
    r, c, slopes = jacobian
    defined = _defined_groups(mesh, groups)
    chosen = defined[r] >= 0
    change = np.zeros((len(sizes), len(sizes)))
    np.maximum.at(change, (defined[r[chosen]], groups[c[chosen]]), slopes[chosen])
    np.fill_diagonal(change, 0.0)
    change[: mesh.nx] *= max(span.count for span in mesh.spans)

    def flow_size(k: int) -> float:
        """Return the size that moves states by theirs, or that is made of what has one; 0 of neither."""
        per_one, state_sizes = change[: mesh.nx, k], sizes[: mesh.nx]
        movable = (state_sizes > 0) & (per_one > 0)
        sources = (change[k] * sizes).max(initial=0.0)
        size = (state_sizes[movable] / per_one[movable]).min() if movable.any() else sources
        return float(min(size, bounds[k]) if bounds[k] > 0 else size)

    for _ in range(len(sizes)):
        missing = np.flatnonzero(sizes <= 0).tolist()
        flow_sizes = [flow_size(k) for k in missing]
        sizes[missing] = flow_sizes
        if not any(flow_sizes):
            break
    for k in range(mesh.nx, len(sizes)):
        sizes[k] = max(sizes[k], MIN_SHARE * flow_size(k))
    sizes = np.where(sizes > 0, sizes, np.where(bounds > 0, bounds, 1.0))
    least = MIN_SHARE * (change * sizes).max(axis=1)
    return sizes, np.maximum(least, MIN_SHARE * (change * np.maximum(sizes, least)).max(axis=1))


def _in_other_units(mesh: Transcribed, sizes: np.ndarray, cost: float) -> bool:
    """Return whether a problem is in units far from its own: a state, an input or a duration is, or the
    cost. What is zero says nothing; a state that is small, and could be large by what moves it, is
    small by nature."""
    places = [*range(mesh.nx + mesh.nu)]
    groups, _ = unknown_groups(mesh)
    places += [int(groups[span.duration]) for span in mesh.spans]
    chosen = sizes[places][sizes[places] > 0]
    far = (chosen < EVIDENCE_RANGE[0]) | (chosen > EVIDENCE_RANGE[1])
    return bool(far.any()) or not EVIDENCE_RANGE[0] <= cost <= COST_RANGE[1]


def _defined_groups(mesh: Transcribed, groups: np.ndarray) -> np.ndarray:
    """Return of each row which quantity it says something of: states by their flow, slacks and totals by
    their rows; -1 of others."""
    defined = np.full(mesh.assembled.rows, -1)
    for index in flow_rows(mesh):
        defined[index] = np.arange(mesh.nx)
    for slack, row in mesh.slack_row.items():
        defined[row - 1] = groups[slack]
    for name, at in mesh.total_at.items():
        defined[mesh.total_row[name][0] - 1] = groups[at]
    return defined


__all__ = ["cost_scale", "far_off", "gradient_scales", "nominal_scales", "within"]
