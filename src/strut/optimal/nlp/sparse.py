"""`Assembled`: a large sparse problem made of many evaluations of few stage functions, with exact sparse
derivatives.

With v the unknowns, [f; g] = sum over blocks of R vec(E(v[index], data)) + L v, where E is a stage function,
evaluated for every column of `index`. Jacobian and Hessian are sums of the blocks' own non-zeros: constant
sparse matrices put them where they belong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut.optimal.nlp.stage_function import StageFunction

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows, columns and values."""


@dataclass(eq=False)
class Block:
    """Many evaluations of one stage function.

    index: unknowns of each evaluation, a column each. data: numbers of each, the problem's parameters
        following below.
    targets: (output, evaluation, row, factor) of every contribution; row 0 is the objective.
    """

    stage: StageFunction
    index: np.ndarray
    data: np.ndarray
    targets: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

    @property
    def count(self) -> int:
        """How many evaluations there are."""
        return int(self.index.shape[1])


@dataclass(eq=False)
class Assembled:
    """The functions a solver needs.

    size, rows: how many unknowns and constraints. linear: (row, unknown, factor) of the linear part.
    """

    size: int
    rows: int
    parameters: int
    blocks: Sequence[Block]
    linear: Triplets
    functions: dict[str, ca.Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        v, p = ca.MX.sym("x", self.size), ca.MX.sym("p", self.parameters)
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.rows)
        self._linear = _matrix(self.linear, (self.rows + 1, self.size))
        f, g = self._values(v, p)
        self.functions = {
            "nlp": ca.Function("nlp", [v, p], [f, g], ["x", "p"], ["f", "g"]),
            "grad_f": ca.Function(
                "nlp_grad_f", [v, p], [f, self._gradient(v, p)], ["x", "p"], ["f", "grad_f_x"]
            ),
            "jac_g": ca.Function(
                "nlp_jac_g", [v, p], [g, self._jacobian(v, p)], ["x", "p"], ["g", "jac_g_x"]
            ),
            "hess_lag": ca.Function(
                "nlp_hess_l",
                [v, p, lam_f, lam_g],
                [self._hessian(v, p, lam_f, lam_g)],
                ["x", "p", "lam_f", "lam_g"],
                ["triu_hess_gamma_x_x"],
            ),
        }

    def _locals(self, block: Block, v: ca.MX, p: ca.MX) -> tuple[ca.MX, ca.MX]:
        """Return the unknowns and the data of every evaluation of a block, a column each."""
        local = ca.reshape(v[block.index.flatten("F").tolist()], *block.index.shape)
        return local, ca.vertcat(ca.MX(ca.DM(block.data)), ca.repmat(p, 1, block.count))

    def _scatter(self, block: Block, rows: bool) -> ca.DM:
        """Return the matrix that puts the outputs of a block where they belong: to the constraints (`rows`)
        or to the objective."""
        out, at, row, factor = block.targets
        chosen = row > 0 if rows else row == 0
        place = at[chosen] * block.stage.size + out[chosen]
        return _matrix(
            (row[chosen] - int(rows), place, factor[chosen]),
            (self.rows if rows else 1, block.stage.size * block.count),
        )

    def _values(self, v: ca.MX, p: ca.MX) -> tuple[ca.MX, ca.MX]:
        """Return the objective and the constraints."""
        f = ca.mtimes(self._linear[0, :], v)
        g = ca.mtimes(self._linear[1:, :], v)
        for block in self.blocks:
            F, G = self._scatter(block, False), self._scatter(block, True)
            values = ca.vec(block.stage.value.map(block.count)(*self._locals(block, v, p)))
            f = f + ca.mtimes(F, values) if F.nnz() else f
            g = g + ca.mtimes(G, values) if G.nnz() else g
        return ca.densify(f), ca.densify(g)

    def _derivatives(self, block: Block, rows: bool) -> Triplets:
        """Return where each non-zero of each evaluation's Jacobian goes: (row, unknown) per contribution,
        and which one it is."""
        out, at, row, factor = block.targets
        chosen = row > 0 if rows else row == 0
        r, c = block.stage.jacobian_at
        order, counts = np.argsort(r, kind="stable"), np.bincount(r, minlength=block.stage.size)
        firsts = np.cumsum(counts) - counts  # of every output, its first non-zero in that order
        lengths = counts[out[chosen]]
        of = np.repeat(np.flatnonzero(chosen), lengths)
        within = np.arange(len(of)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        nz = order[firsts[out[of]] + within]
        source = np.column_stack([at[of] * len(r) + nz, factor[of]])
        return row[of], block.index[c[nz], at[of]], source

    def _gradient(self, v: ca.MX, p: ca.MX) -> ca.MX:
        """Return the gradient of the objective."""
        total = ca.MX(ca.densify(self._linear[0, :].T))
        for block in self.blocks:
            _, column, source = self._derivatives(block, False)
            if len(column):
                nonzeros = ca.vec(block.stage.jacobian.map(block.count)(*self._locals(block, v, p)))
                total = total + ca.mtimes(
                    _matrix((column, source[:, 0].astype(int), source[:, 1]), (self.size, nonzeros.numel())),
                    nonzeros,
                )
        return ca.densify(total)

    def _jacobian(self, v: ca.MX, p: ca.MX) -> ca.MX:
        """Return the sparse Jacobian of the constraints."""
        places = [self._derivatives(block, True) for block in self.blocks]
        lr, lc, lw = self.linear
        keep = lr > 0
        keys = np.concatenate(
            [c * self.rows + (r - 1) for r, c, _ in places] + [lc[keep] * self.rows + (lr[keep] - 1)]
        )
        unique, inverse = np.unique(keys, return_inverse=True)
        sparsity = _pattern(unique % self.rows, unique // self.rows, (self.rows, self.size))
        ends = np.cumsum([0, *(len(r) for r, _, _ in places)])
        constant = np.zeros(len(unique))
        np.add.at(constant, inverse[ends[-1] :], lw[keep])
        total = ca.MX(ca.DM(constant))
        for k, (block, (_, _, source)) in enumerate(zip(self.blocks, places, strict=True)):
            if len(source):
                nonzeros = ca.vec(block.stage.jacobian.map(block.count)(*self._locals(block, v, p)))
                to = inverse[ends[k] : ends[k + 1]]
                total = total + ca.mtimes(
                    _matrix((to, source[:, 0].astype(int), source[:, 1]), (len(unique), nonzeros.numel())),
                    nonzeros,
                )
        return ca.MX(sparsity, ca.densify(total))

    def _hessian(self, v: ca.MX, p: ca.MX, lam_f: ca.MX, lam_g: ca.MX) -> ca.MX:
        """Return the upper triangle of the sparse Hessian of the Lagrangian."""
        keys, sources = [], []
        for block in self.blocks:
            r, c = block.stage.hessian_at
            first, second = block.index[r], block.index[c]  # non-zeros by evaluations
            low, high = np.minimum(first, second), np.maximum(first, second)
            keys.append((high * self.size + low).flatten("F"))
            # an unknown that stands in two places of one evaluation meets itself on the diagonal, once from
            # either side
            twice = (first == second) & (r != c)[:, None]
            sources.append(np.where(twice, 2.0, 1.0).flatten("F"))
        unique, inverse = np.unique(
            np.concatenate(keys) if keys else np.zeros(0, dtype=int), return_inverse=True
        )
        sparsity = _pattern(unique % self.size, unique // self.size, (self.size, self.size))
        total: ca.MX | None = None
        at = 0
        for block, factor in zip(self.blocks, sources, strict=True):
            to = inverse[at : at + len(factor)]
            at += len(factor)
            if not len(factor):
                continue
            F, G = self._scatter(block, False), self._scatter(block, True)
            weights = ca.mtimes(F.T, lam_f) if F.nnz() else ca.MX.zeros(F.shape[1])
            weights = weights + ca.mtimes(G.T, lam_g) if G.nnz() else weights
            shaped = ca.reshape(ca.densify(weights), block.stage.size, block.count)
            nonzeros = ca.vec(block.stage.hessian.map(block.count)(*self._locals(block, v, p), shaped))
            part = ca.mtimes(
                _matrix((to, np.arange(len(factor)), factor), (len(unique), len(factor))), nonzeros
            )
            total = part if total is None else total + part
        return ca.MX(sparsity, ca.densify(total)) if total is not None else ca.MX(self.size, self.size)


def _matrix(triplets: Triplets, shape: tuple[int, int]) -> ca.DM:
    """Return a sparse matrix of rows, columns and values; those of one place are added."""
    r, c, w = (np.asarray(part) for part in triplets)
    values = ca.DM(w.astype(float).tolist())
    return ca.DM.triplet(r.astype(int).tolist(), c.astype(int).tolist(), values, *shape)


def _pattern(r: np.ndarray, c: np.ndarray, shape: tuple[int, int]) -> ca.Sparsity:
    """Return the sparsity of rows and columns that are in the order of a compressed matrix."""
    columns = np.searchsorted(c, np.arange(shape[1] + 1))
    return ca.Sparsity(*shape, columns.tolist(), r.tolist())
