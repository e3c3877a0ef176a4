"""Stage functions: the small functions of which a large problem is made, each with exact derivatives,
compiled once.

A stage function takes local variables `v`, numbers `d` and gives a column. The large problem evaluates it at
many places, so what is compiled does not depend on how many: another mesh needs no compiler.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.codegen import build, compiler, key_of, split_long_functions

GENERATOR = f"casadi {ca.CasadiMeta.version()}, stage functions 2"
"""What the generated C depends on besides the function."""
EXPORTED = '#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))\n'
"""Libraries are built with everything hidden; these functions are to be seen."""


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
    kind = type(v)
    result = ca.densify(result)
    weights = kind.sym("weights", result.numel())
    jacobian: Any = ca.jacobian(result, v)
    hessian: Any = ca.triu(ca.hessian(ca.dot(weights, result), v)[0])
    places = [
        tuple(np.array(part, dtype=int) for part in m.sparsity().get_triplet()) for m in (jacobian, hessian)
    ]
    return StageFunction(
        name,
        ca.Function(f"{name}_value", [v, d], [result]),
        ca.Function(f"{name}_jacobian", [v, d], [_nonzeros(jacobian)]),
        ca.Function(f"{name}_hessian", [v, d, weights], [_nonzeros(hessian)]),
        (places[0][0], places[0][1]),
        (places[1][0], places[1][1]),
    )


def _nonzeros(matrix: Any) -> Any:
    return matrix.nz[:] if matrix.nnz() else type(matrix)(0, 1)


_loaded: dict[str, tuple[ca.Function, ...]] = {}
"""Functions of libraries that this process has loaded, by the key of the library."""


def compile_stages(
    stages: Sequence[StageFunction], name: str, backend: str | None = None
) -> tuple[list[StageFunction], float]:
    """Return the stage functions as compiled C, and how long that took [s]: nothing if there is no compiler
    or the cache has them."""
    backend = backend or os.environ.get("STRUT_BACKEND") or "auto"
    cc = None if backend == "virtual" else compiler()
    if cc is None:
        return list(stages), 0.0
    began = clock.perf_counter()
    functions = [f for s in stages for f in (s.value, s.jacobian, s.hessian)]
    key = key_of(GENERATOR + EXPORTED + _digest(functions), cc)
    if key not in _loaded:
        path = build(key, lambda: {"stages.c": _source(functions)}, "stages.c", cc, f"the stages of {name}")
        _loaded[key] = tuple(ca.external(f.name(), str(path)) for f in functions)
    functions_in_c = _loaded[key]
    ready = [
        replace(
            s,
            value=functions_in_c[3 * k],
            jacobian=functions_in_c[3 * k + 1],
            hessian=functions_in_c[3 * k + 2],
        )
        for k, s in enumerate(stages)
    ]
    return ready, clock.perf_counter() - began


def _digest(functions: Sequence[ca.Function]) -> str:
    digest = hashlib.sha256()
    for f in functions:
        digest.update(f.serialize().encode())
    return digest.hexdigest()


def _source(functions: Sequence[ca.Function]) -> str:
    """Return C of all functions, with what they share written once."""
    generator = ca.CodeGenerator("stages.c", {"with_header": False})
    for f in functions:
        generator.add(f)
    with tempfile.TemporaryDirectory() as scratch:
        generator.generate(scratch + os.sep)
        return EXPORTED + split_long_functions(Path(scratch, "stages.c").read_text())
