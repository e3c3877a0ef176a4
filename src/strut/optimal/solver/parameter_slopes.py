"""Derivatives of the Lagrangian of a mesh by the numbers that are given: the parameters of the system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.mesh_rows import Targets
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.stage_function import StageFunction


def lagrangian_slopes(mesh: Transcribed, v: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the derivative of cost + rows * constraints by every parameter of the system (those that are
    free count as given: theirs is zero). At an optimum it is that of the least cost (envelope theorem).

    v: unknowns. rows: multipliers of the rows.
    """
    slopes = np.zeros(mesh.np)
    for stage, local, data, weights in _evaluations(mesh, v, rows):
        symbols = _symbols(stage)
        adjoint = ca.Function(
            "adjoint", list(symbols), [ca.jtimes(stage.value(*symbols[:2]), symbols[1], symbols[2], True)]
        )
        by_data = np.array(adjoint.map(local.shape[1])(local, data, weights))
        slopes += by_data[len(data) - mesh.data :][: mesh.np].sum(axis=1)
    return slopes


def lagrangian_change(
    mesh: Transcribed, v: np.ndarray, rows: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much the gradient of the Lagrangian, of every unknown, and the rows grow where the
    parameters move along a direction.

    v: unknowns. rows: multipliers of the rows. direction: a number for every parameter of the system.
    """
    gradient, growth = np.zeros(len(v)), np.zeros(len(rows) + 1)
    for (stage, local, data, weights), (_, index, _, targets) in zip(
        _evaluations(mesh, v, rows), mesh.pieces, strict=True
    ):
        symbols = _symbols(stage)
        moved = type(symbols[1]).sym("moved", symbols[1].numel())
        value: Any = stage.value(*symbols[:2])
        whole = ca.vertcat(ca.jtimes(value, symbols[0], symbols[2], True), value)
        along = ca.Function("along", [*symbols, moved], [ca.jtimes(whole, symbols[1], moved)])
        seeds = np.zeros(data.shape)
        seeds[len(data) - mesh.data :][: mesh.np] = direction[:, None]
        both = np.array(along.map(local.shape[1])(local, data, weights, seeds))
        np.add.at(gradient, index, both[: len(local)])
        for out, place, row, factor in targets:
            growth[row] += factor * both[len(local) + out, place]
    return gradient, growth[1:]


def _symbols(stage: StageFunction) -> tuple[Any, Any, Any]:
    """Return symbols for local unknowns, data and weights of a stage function."""
    kind = ca.SX if stage.value.is_a("SXFunction") else ca.MX
    sizes = stage.value.size1_in(0), stage.value.size1_in(1), stage.size
    local, data, weights = (kind.sym(name, n) for name, n in zip(("v", "d", "w"), sizes, strict=True))
    return local, data, weights


def _evaluations(
    mesh: Transcribed, v: np.ndarray, rows: np.ndarray
) -> Iterator[tuple[StageFunction, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield every stage function, as it was before it was compiled, with unknowns, data and weights in the
    Lagrangian of all its evaluations, a column each."""
    numbers = mesh.numbers()
    for source, index, data, targets in mesh.pieces:
        stage = source.own_form
        yield stage, v[index], _with_numbers(data, numbers), _weights(stage, index.shape[1], targets, rows)


def _with_numbers(data: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return np.vstack([data, np.repeat(numbers[:, None], data.shape[1], axis=1)])


def _weights(stage: StageFunction, count: int, targets: Targets, rows: np.ndarray) -> np.ndarray:
    """Return by what each output of each evaluation counts in the Lagrangian."""
    weights, factors = np.zeros((stage.size, count)), np.concatenate([[1.0], rows])
    for out, place, row, factor in targets:
        weights[out, place] += factor * factors[row]
    return weights


__all__ = ["lagrangian_change", "lagrangian_slopes"]
