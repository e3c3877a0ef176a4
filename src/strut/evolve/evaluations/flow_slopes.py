"""Derivatives of a system's flow at many points at once, by the implicit function theorem where the machine
says its rates by an equation (`System.implied`)."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.extras import optional_module
from strut.system import System, sx, time


class FlowSlopes:
    """Derivatives of flow and integrands by states and by the parameters that vary, at many points.

    integrands: expressions of the system. places: of the parameters that vary, among all.
    """

    def __init__(self, system: System, integrands: list[ca.SX], places: list[int]) -> None:
        x, _, _, p = groups = system.vectors()
        self.nx, self.count = x.numel(), len(integrands)
        flow = ca.vertcat(*[ca.densify(sx(system.flow[q.name])) for q in system.x])
        implied = system.implied
        rows = [] if implied is None else [i for n in implied.states for i in _range(system, n)]
        self.solved, self.explicit = rows, [k for k in range(self.nx) if k not in rows]
        explicit_rates = ca.vertcat(flow[self.explicit], *integrands)
        unknown = ca.SX(0, 1) if implied is None else implied.unknown
        residual = ca.SX(0, 1) if implied is None else implied.residual
        further = ca.SX(0, 1) if implied is None else implied.further
        self.rates = ca.Function(
            "rates",
            [time, *groups],
            [ca.densify(ca.vertcat(flow, *integrands)), ca.densify(ca.vertcat(flow[rows], further))],
        )
        by = [
            (residual, unknown),
            (residual, x),
            (residual, p[places]),
            (explicit_rates, x),
            (explicit_rates, p[places]),
        ]
        slopes = [ca.jacobian(e, v) for e, v in by]
        self.patterns = [_Pattern(each.sparsity()) for each in slopes]
        self.slopes = ca.Function(
            "slopes",
            [time, *groups, unknown],
            [each.nz[:] if each.nnz() else ca.SX(0, 1) for each in slopes],
        )

    def at(  # noqa: PLR0917 the groups of a system
        self, t: np.ndarray, x: np.ndarray, z: np.ndarray, u: np.ndarray, p: np.ndarray, D: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return at points (rows) the rates of states and integrals, their derivatives by states, and those
        along directions of parameters D."""
        n = len(t)
        groups = [t[None], x.T, z.T, u.T, np.tile(p[:, None], n)]
        rates, unknown = (np.array(e) for e in self.rates.map(n)(*groups))
        values = [np.array(e) for e in self.slopes.map(n)(*groups, unknown)]
        r_w, r_x, k_x = (self.patterns[k].fill(values[k]) for k in (0, 1, 3))
        r_p, k_p = (self.patterns[k].times(values[k], D) for k in (2, 4))
        total = self.nx + self.count
        A, B = np.empty((n, total, self.nx)), np.empty((n, total, D.shape[1]))
        explicit = [*self.explicit, *range(self.nx, total)]
        A[:, explicit], B[:, explicit] = k_x, k_p
        if self.solved:
            solved = -np.linalg.solve(r_w, np.concatenate([r_x, r_p], axis=2))[:, : len(self.solved)]
            A[:, self.solved], B[:, self.solved] = solved[:, :, : self.nx], solved[:, :, self.nx :]
        return rates.T, A, B


class _Pattern:
    """Where the entries of a sparse matrix are, to fill many of them at once."""

    def __init__(self, sparsity: ca.Sparsity) -> None:
        self.shape = sparsity.shape
        self.rows, self.columns = (np.array(e, dtype=int) for e in sparsity.get_triplet())

    def fill(self, values: np.ndarray) -> np.ndarray:
        """Return matrices from the columns of their entries."""
        matrices = np.zeros((values.shape[1], *self.shape))
        matrices[:, self.rows, self.columns] = values.T
        return matrices

    def times(self, values: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Return the same matrices times another one."""
        count, (height, width) = values.shape[1], self.shape
        rows = (self.rows[:, None] + height * np.arange(count)).reshape(-1)
        columns = np.repeat(self.columns, count)
        sparse = optional_module("scipy.sparse", "derivatives along a record")
        stacked = sparse.csr_array((values.reshape(-1), (rows, columns)), shape=(height * count, width))
        return np.asarray(stacked @ D).reshape(count, height, D.shape[1])


def _range(system: System, name: str) -> range:
    """Places of a state among all."""
    place = system.slices("x")[name]
    return range(place.start, place.stop)


__all__ = ["FlowSlopes"]
