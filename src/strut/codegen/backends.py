"""From a system to something that runs: compiled where there is a C compiler, virtual where there is none."""

from __future__ import annotations

import functools
import hashlib
import os
import warnings
from pathlib import Path

from strut.checks import checked
from strut.codegen.cache import build, compiler, is_cached, key_of
from strut.codegen.lower import Lowered, lower
from strut.codegen.native import Native
from strut.codegen.translation_unit import runtime_sources, unit_text
from strut.codegen.upgrade import Upgrade
from strut.codegen.virtual import Virtual
from strut.errors import CompileError, ModelError
from strut.gc_pause import pause_gc
from strut.system import System, memo

BACKENDS = ("auto", "native", "virtual")
"""Ways to run a system: compiled where possible, compiled, on CasADi's virtual machine."""
GENERATOR = (
    "bandwidth",
    "c",
    "c_loops",
    "c_sums",
    "c_tables",
    "crew",
    "crew_text",
    "find_loops",
    "instructions",
    "prepare",
    "translation_unit",
)
"""Files of this room on which the text of a unit depends: when one changes, everything is compiled again."""


def lower_system(system: System, jacobians: bool = False, stiff: bool = False) -> Lowered:
    """Return the plain functions of a system, made once per system; see `lower`."""
    return memo(system, _lower, jacobians, stiff)


def _lower(system: System, jacobians: bool, stiff: bool) -> Lowered:
    with pause_gc():
        return lower(system, jacobians, stiff)


@functools.cache
def runtime_and_digest(method: str | None = None) -> tuple[dict[str, str], str]:
    """Return our C files, and a digest of everything besides the model on which the text of a unit depends.
    method: the only one that runs will use; all by default."""
    sources = runtime_sources(method)
    files = (Path(__file__).with_name(f"{name}.py").read_text() for name in GENERATOR)
    ours = "\0".join([method or "", *sources.values(), *files])
    return sources, hashlib.sha256(ours.encode()).hexdigest()


def _sought() -> str:
    return f" (CC is '{os.environ['CC']}')" if os.environ.get("CC") else ""


_warned = False


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            f"no C compiler found{_sought()}: strut runs on CasADi's virtual machine, correct but 50 to 500 "
            f"times slower; "
            "install gcc or clang, set CC, or pip install 'strut[compiler]'",
            RuntimeWarning,
            stacklevel=6,
        )


@checked
def compile_system(
    system: System, jacobians: bool = False, backend: str | None = None, stiff: bool = False
) -> Native | Virtual:
    """Return the system ready to run, compiled once per system and kept with it.

    jacobians: also derivatives of flow, guards and resets. stiff: also implicit methods. backend: 'native',
        'virtual' or 'auto' (default, also $STRUT_BACKEND): compiled quickly at first, and with care in the
        background once runs have taken long enough for that to pay; the numbers are the same.
    Raises `ModelError` for a backend that does not exist, `CompileError` where 'native' finds no compiler or
    it fails.
    """
    model = memo(system, _compile, jacobians, chosen_backend(backend), stiff)
    return model.best() if isinstance(model, Native) else model


def chosen_backend(backend: str | None) -> str:
    """Return the backend that is asked for: that given, else $STRUT_BACKEND, else 'auto'. Raises `ModelError`
    for one that does not exist."""
    backend = backend or os.environ.get("STRUT_BACKEND") or "auto"
    if backend not in BACKENDS:
        raise ModelError(f"backend '{backend}' is unknown: allowed are {', '.join(BACKENDS)}")
    return backend


def required_compiler(backend: str) -> tuple[str, ...] | None:
    """Return the C compiler for a backend; None if there is none. Raises `CompileError` where 'native'
    requires one."""
    cc = compiler()
    if cc is None and backend == "native":
        raise CompileError(
            f"no C compiler found{_sought()}: install gcc or clang, set CC, or use backend='virtual'"
        )
    return cc


def _compile(system: System, jacobians: bool, backend: str, stiff: bool) -> Native | Virtual:
    return _make(lower_system(system, jacobians, stiff), backend)


def _make(low: Lowered, backend: str) -> Native | Virtual:
    cc = None if backend == "virtual" else required_compiler(backend)
    if cc is None:
        if backend == "auto":
            _warn_once()
        return Virtual(low)
    runtime, generator = runtime_and_digest()
    content = low.digest + generator

    def sources() -> dict[str, str]:
        with pause_gc():
            return {**runtime, "model.c": unit_text(low)}

    unit = (key_of(content, cc), sources, "model.c", cc, low.name)
    if backend == "native" or is_cached(unit[0]):
        return Native(build(*unit), low)
    quick = build(key_of(content, cc, quick=True), *unit[1:], quick=True)
    return Native(quick, low, Upgrade(quick, unit))
