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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from strut.codegen import (
    build,
    build_in_background,
    chosen_backend,
    is_begun,
    is_cached,
    key_of,
    required_compiler,
    split_long_functions,
)
from strut.optimal.nlp.stage_backend import MIN_EVALUATIONS, VirtualUse, stage_costs

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


_loaded: dict[str, tuple[ca.Function, ...]] = {}
"""Functions of libraries that this process has loaded, by the key of the library."""
_virtual_use = VirtualUse()


@dataclass(frozen=True, eq=False)
class ReadyStages:
    """Stage functions ready to be evaluated.

    stages: compiled, or as they are. compiled: which of it. wait: how long it took [s]. note: is to be told
    the iterations of every solve with them; it has them compiled in the background once that pays.
    """

    stages: list[StageFunction]
    compiled: bool
    wait: float
    note: Callable[[int], None]


def ready_stages(
    stages: Sequence[StageFunction], counts: Sequence[int], name: str, backend: str | None = None
) -> ReadyStages:
    """Return stage functions to be evaluated: as compiled C, or in CasADi's virtual machine.

    counts: how often an iteration evaluates each. name: of the system, for people. backend: 'native',
        'virtual' or 'auto' (default, also $STRUT_BACKEND): compiled where the cache has them, or where one
        solve is expected to pay for it; see `strut.optimal.nlp.stage_backend`. What an iteration evaluates
        but once, such as the end of a phase, is never compiled.
    Raises `ModelError` for a backend that does not exist, `CompileError` where 'native' finds no compiler.
    """
    backend = chosen_backend(backend)
    cc = None if backend == "virtual" else required_compiler(backend)
    as_they_are = ReadyStages(list(stages), compiled=False, wait=0.0, note=lambda _: None)
    if cc is None:
        return as_they_are
    began = clock.perf_counter()
    often = [k for k, count in enumerate(counts) if count >= MIN_EVALUATIONS]
    groups = [(stages[k].value, stages[k].jacobian, stages[k].hessian) for k in often]
    functions = [f for group in groups for f in group]
    key = key_of(GENERATOR + EXPORTED + _digest(functions), cc)
    unit = (key, lambda: {"stages.c": _source(functions)}, "stages.c", cc, f"the stages of {name}")
    if backend == "auto" and key not in _loaded and not is_cached(key):
        costs = stage_costs(groups, [counts[k] for k in often])
        worth = _virtual_use.spent(key) > costs.compile_time and not is_begun(key)
        if not (costs.pays_at_once or worth):

            def note(iterations: int) -> None:
                if _virtual_use.add(key, costs, iterations):
                    build_in_background(*unit)

            return replace(as_they_are, note=note)
    if key not in _loaded:
        path = build(*unit)
        _loaded[key] = tuple(ca.external(f.name(), str(path)) for f in functions)
    compiled = list(stages)
    for at, k in enumerate(often):
        value, jacobian, hessian = _loaded[key][3 * at : 3 * at + 3]
        compiled[k] = replace(stages[k], value=value, jacobian=jacobian, hessian=hessian)
    return replace(as_they_are, stages=compiled, compiled=True, wait=clock.perf_counter() - began)


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
