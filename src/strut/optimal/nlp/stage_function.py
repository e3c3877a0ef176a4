"""Stage functions: the small functions of which a large problem is made, each with exact derivatives.

A stage function takes local variables `v`, numbers `d` and gives a column. The large problem evaluates it at
many places, so what is compiled does not depend on how many: another mesh needs no compiler.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np


@dataclass(frozen=True, eq=False)
class StageFunction:
    """A function and its derivatives: `value(v, d)`, `jacobian(v, d)` and `hessian(v, d, weights)`, the
    latter two as their non-zeros, at `jacobian_at` and `hessian_at` (rows and columns; of the Hessian the
    upper triangle)."""

    name: str
    value: ca.Function
    jacobian: ca.Function
    hessian: ca.Function
    jacobian_at: tuple[np.ndarray, np.ndarray]
    hessian_at: tuple[np.ndarray, np.ndarray]

    @property
    def size(self) -> int:
        """How many numbers it gives."""
        return int(self.value.size1_out(0))


def make_stage(name: str, v: Any, d: Any, result: Any) -> StageFunction:
    """Return a stage function of expressions, with Jacobian and Hessian; not compiled."""
    result = ca.densify(result)
    weights = type(v).sym("weights", result.numel())
    jacobian: Any = ca.jacobian(result, v)
    hessian: Any = ca.triu(ca.hessian(ca.dot(weights, result), v)[0])
    return stage_of(name, [v, d, weights], result, jacobian, hessian)


def stage_of(name: str, arguments: list[Any], result: Any, jacobian: Any, hessian: Any) -> StageFunction:
    """Return a stage function of expressions of its arguments v, d and weights; of the Hessian the upper
    triangle."""
    v, d, weights = arguments
    places = [
        tuple(np.array(part, dtype=int) for part in m.sparsity().get_triplet()) for m in (jacobian, hessian)
    ]
    return StageFunction(
        name,
        ca.Function(f"{name}_value", [v, d], [ca.densify(result)]),
        ca.Function(f"{name}_jacobian", [v, d], [_nonzeros(jacobian)]),
        ca.Function(f"{name}_hessian", [v, d, weights], [_nonzeros(hessian)]),
        (places[0][0], places[0][1]),
        (places[1][0], places[1][1]),
    )


def _nonzeros(matrix: Any) -> Any:
    return matrix.nz[:] if matrix.nnz() else type(matrix)(0, 1)


__all__ = ["StageFunction", "make_stage", "stage_of"]
