"""`ready_stages`: stage functions as compiled C where that pays, else in CasADi's virtual machine."""

from __future__ import annotations

import os
import tempfile
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca

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
from strut.optimal.nlp.stage_backend import MIN_EVALUATIONS, StageCosts, VirtualUse, stage_costs
from strut.optimal.nlp.stage_function import StageFunction
from strut.optimal.nlp.stage_source import StageSource

GENERATOR = f"casadi {ca.CasadiMeta.version()}, stage functions 3"
"""What the generated C depends on besides the expressions: how they are differentiated and written."""
EXPORTED = '#define CASADI_SYMBOL_EXPORT __attribute__((visibility("default")))\n'
"""Libraries are built with everything hidden; these functions are to be seen."""
FUNCTIONS = ("stage_value", "stage_jacobian", "stage_hessian")
"""What a library has."""

_loaded: dict[str, tuple[ca.Function, ...]] = {}
"""Functions of libraries that this process has loaded, by the key of the library."""
_virtual_use = VirtualUse()
Unit = tuple[str, Callable[[], dict[str, str]], str, tuple[str, ...], str]
"""What `strut.codegen.build` takes: a key, what writes the C, the name of its file, a compiler, a name."""


@dataclass(frozen=True, eq=False)
class ReadyStages:
    """Stage functions ready to be evaluated.

    stages: compiled, or as they are. compiled: whether any of them is. wait: how long it took [s]. note: is
    to be told the iterations of every solve with them; it has them compiled in the background once that pays.
    """

    stages: list[StageFunction]
    compiled: bool
    wait: float
    note: Callable[[int], None]


def ready_stages(
    sources: Sequence[StageSource], counts: Sequence[int], name: str, backend: str | None = None
) -> ReadyStages:
    """Return stage functions to be evaluated: as compiled C, or in CasADi's virtual machine.

    counts: how often an iteration evaluates each. name: of the system, for people. backend: 'native',
        'virtual' or 'auto' (default, also $STRUT_BACKEND): compiled where the cache has them, or where one
        solve is expected to pay for it; see `strut.optimal.nlp.stage_backend`. What an iteration evaluates
        but once, such as the end of a phase, is never compiled, nor are short integrals, a stage beside the
        flow: another cost needs no other library.
    Raises `ModelError` for a backend that does not exist, `CompileError` where 'native' finds no compiler.
    """
    backend = chosen_backend(backend)
    cc = None if backend == "virtual" else required_compiler(backend)
    wait, ready, virtual = 0.0, list[StageFunction](), list[tuple[Unit, StageCosts]]()
    for source, count in zip(sources, counts, strict=True):
        if cc is None or count < MIN_EVALUATIONS or not source.reads:
            ready.append(source.own_form)
            continue
        began, unit = clock.perf_counter(), _unit(source, name, cc)
        if backend == "auto" and unit[0] not in _loaded and not is_cached(unit[0]):
            own = source.own_form
            costs = stage_costs([(own.value, own.jacobian, own.hessian)], [count], source.growth)
            worth = _virtual_use.spent(unit[0]) > costs.compile_time and not is_begun(unit[0])
            if not (costs.pays_at_once or worth):
                ready.append(own)
                virtual.append((unit, costs))
                continue
        ready.append(source.selected_form(_load(unit)))
        wait += clock.perf_counter() - began

    def note(iterations: int) -> None:
        for unit, costs in virtual:
            if _virtual_use.add(unit[0], costs, iterations):
                build_in_background(*unit)

    return ReadyStages(ready, compiled=wait > 0, wait=wait, note=note)


def _unit(source: StageSource, name: str, cc: tuple[str, ...]) -> Unit:
    """Return how the library of a stage is built."""
    key = key_of(GENERATOR + EXPORTED + source.digest, cc)
    return (
        key,
        lambda: {"stage.c": _source(source.general_functions())},
        "stage.c",
        cc,
        f"{source.name} of {name}",
    )


def _load(unit: Unit) -> tuple[ca.Function, ...]:
    """Return the functions of a library, which is built where the cache does not have it."""
    if unit[0] not in _loaded:
        path = build(*unit)
        _loaded[unit[0]] = tuple(ca.external(label, str(path)) for label in FUNCTIONS)
    return _loaded[unit[0]]


def _source(functions: Sequence[ca.Function]) -> str:
    """Return C of all functions, with what they share written once."""
    generator: Any = ca.CodeGenerator("stage.c", {"with_header": False})
    for f in functions:
        generator.add(f)
    with tempfile.TemporaryDirectory() as scratch:
        generator.generate(scratch + os.sep)
        return EXPORTED + split_long_functions(Path(scratch, "stage.c").read_text())


__all__ = ["ReadyStages", "ready_stages"]
