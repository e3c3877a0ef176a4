"""`control_errors`: how much of the cost is due to the inputs being polynomials on a mesh.

Minimum principle of Pontryagin: an optimal input minimises the Hamiltonian at every moment. A plan whose
inputs are polynomials does so only on average over an interval. On a mesh with every interval split, with
costates and other multipliers between those of the plan, the gradient of the Lagrangian with respect to the
inputs says what better inputs would gain: down to where it curves up again, or to a bound, where a bang-bang
input switches.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver.guess import fill_unknowns
from strut.optimal.solver.result import Solution
from strut.optimal.solver.scaling import nominal_scales

TRIAL_PARTS = 4
"""Into how many parts intervals are split to look for better inputs: what switches within less of an interval
is not seen, and may cost a sixteenth of what halves would hide."""
MIN_INPUT = 1e-6
"""An input that is smaller than this part of its scale all along is zero: it says nothing of what it could
be."""
ERROR_FACTOR = 1.5
"""The error of a cost relative to what splitting all intervals gains. It is 16/15 where errors are of the
second order in the width of an interval, as of constant inputs and of inputs that jump; interpolated costates
see a part of the gain only."""


@dataclass(frozen=True, eq=False)
class ControlErrors:
    """What the inputs of a plan cost more than the best ones would.

    phases: of every phase the errors of its intervals [unit of the cost].
    """

    phases: tuple[np.ndarray, ...] = field(repr=False)

    @property
    def total(self) -> float:
        """The error of the cost [its unit]."""
        return float(sum(part.sum() for part in self.phases))


def control_errors(result: Solution) -> ControlErrors:
    """Return what the inputs of a solution cost more than the best ones would, interval by interval; infinite
    where that cannot be said, since nothing was solved."""
    counts = [len(m.t) - 1 for m in result.phases]
    point = result.optimum
    if not result.success or point is None:
        return ControlErrors(tuple(np.full(n, np.inf) for n in counts))
    if not result.problem.system.size("u"):
        return ControlErrors(tuple(np.zeros(n) for n in counts))
    fine = [np.repeat(part / TRIAL_PARTS, TRIAL_PARTS) for part in point.fractions]
    mesh = Transcribed(result.problem, result.how, fine, "virtual")
    v, numbers = fill_unknowns(mesh, result.guess()), mesh.numbers()
    _, rows = point.multipliers(mesh)
    # Rates that are split by sign have corners: what these cost is looked at as it is, without multipliers.
    pairs = np.concatenate([span.slack.reshape(-1, 2) for span in mesh.spans])
    signs = np.array([mesh.slack_row[int(pair[0])] - 1 for pair in pairs], dtype=int)
    rows[signs] = 0.0
    f = mesh.assembled.functions
    J = f["jac_g"](v, numbers)[1]
    gradient = np.array(f["grad_f"](v, numbers)[1] + J.T @ rows).reshape(-1)
    H = f["hess_lag"](v, numbers, 1.0, rows)
    r, c = (np.array(part, dtype=int) for part in H.sparsity().get_triplet())
    curvature = np.zeros(len(v))
    curvature[r[r == c]] = np.maximum(np.array(H.nonzeros())[r == c], 0.0)
    low, high = input_reach(mesh, v)
    gains = smooth_gains(gradient, curvature, low, high)
    r, c = (np.array(part, dtype=int) for part in J.sparsity().get_triplet())
    slopes, place = np.array(J.nonzeros()), np.full(len(rows), -1)
    place[signs] = np.arange(len(signs))
    is_input = np.zeros(len(v), dtype=bool)
    for span in mesh.spans:
        is_input[span.w] = True
    chosen = np.flatnonzero((place[r] >= 0) & is_input[c] & (slopes != 0))
    for k in np.unique(c[chosen]).tolist():
        entries = chosen[c[chosen] == k]
        own = place[r[entries]]
        rate = v[pairs[own, 0]] - v[pairs[own, 1]]
        prices = np.maximum(gradient[pairs[own]], 0.0).T
        line = InputPrice(gradient[k], curvature[k], slopes[entries], rate, prices[0], prices[1])
        gains[k] = line.gain(low[k], high[k])
    gains = np.where(
        is_input & ~np.isfinite(gains), np.inf, gains
    )  # between its points it has no derivatives
    errors = []
    for span, n in zip(mesh.spans, counts, strict=True):
        # What stands in two intervals, since inputs are continuous, is shared between them.
        shares = np.where(is_input, gains, 0.0) / np.maximum(
            np.bincount(span.w.reshape(-1), minlength=len(v)), 1
        )
        by_part = shares[span.w].sum(axis=(1, 2))
        errors.append(by_part.reshape(n, TRIAL_PARTS).sum(axis=1) * ERROR_FACTOR)
    return ControlErrors(tuple(errors))


def cost_error(result: Solution) -> float:
    """Return by how much the cost of a solution is too large since its inputs are polynomials on a mesh."""
    return control_errors(result).total if result.cost_error_found is None else result.cost_error_found


@dataclass(frozen=True, eq=False)
class InputPrice:
    """What a change of one input costs: slope and curvature of what is smooth; and rates, as they are and by
    how much they grow, with the prices of what of them is positive and of what is negative."""

    slope: float
    curvature: float
    growth: np.ndarray
    rate: np.ndarray
    up: np.ndarray
    down: np.ndarray

    def cost(self, change: np.ndarray) -> np.ndarray:
        """Return what changes cost."""
        rates = self.rate[:, None] + self.growth[:, None] * change
        split = self.up @ np.maximum(rates, 0) + self.down @ np.maximum(-rates, 0)
        return np.asarray(self.slope * change + self.curvature * change**2 / 2 + split)

    def gain(self, low: float, high: float) -> float:
        """Return how much the best change within bounds saves: at a bound, at a corner, or between two."""
        corners = -self.rate / self.growth
        ends = np.unique(np.concatenate([[low, 0.0, high], corners[(corners > low) & (corners < high)]]))
        middle = (ends[:-1] + ends[1:]) / 2
        tries = [ends]
        if self.curvature > 0:
            rates = self.rate[:, None] + self.growth[:, None] * middle
            steep = np.where(rates > 0, self.up[:, None], -self.down[:, None])
            least = -(self.slope + self.growth @ steep) / self.curvature
            tries.append(np.clip(least, ends[:-1], ends[1:]))
        return float(max(self.cost(np.zeros(1))[0] - self.cost(np.concatenate(tries)).min(), 0.0))


def input_reach(mesh: Transcribed, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much each input may change, down and up: to its bounds, and no further than twice what it
    is at most anywhere in the plan; of one that is zero all along, than its scale."""
    low, high = np.array(mesh.unknowns.low), np.array(mesh.unknowns.high)
    reach, scales = np.zeros(len(v)), nominal_scales(mesh, v).unknowns
    for span in mesh.spans:
        largest = np.abs(v[span.w]).max(axis=(0, 1))
        scale = scales[span.w].max(axis=(0, 1))
        reach[span.w] = np.where(largest > MIN_INPUT * scale, 2 * largest, scale)
    return np.maximum(low - v, -reach), np.minimum(high - v, reach)


def smooth_gains(
    gradient: np.ndarray, curvature: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return how much the best change of each unknown within bounds saves, where nothing has corners."""
    far = np.where(gradient > 0, -low, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        move = np.minimum(far, np.where(curvature > 0, np.abs(gradient) / curvature, np.inf))
    gains: np.ndarray = np.abs(gradient) * move - curvature * move**2 / 2
    return np.asarray(np.maximum(gains, 0.0))


__all__ = ["ControlErrors", "control_errors", "cost_error"]
