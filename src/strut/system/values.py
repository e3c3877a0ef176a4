"""Numbers for a system's vectors, from defaults and from what a user names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import short_repr
from strut.errors import ModelError, ShapeError, UnknownNameError, ValueRangeError, a, did_you_mean
from strut.gc_pause import pause_gc
from strut.system.memoise import memo
from strut.system.quantity import sx
from strut.system.system import System

ARGUMENTS = {"x": "x0", "z": "z0", "u": "u", "p": "p"}
"""By group, the argument of `simulate` that gives its numbers."""
WORDS = {"x": "state", "z": "discrete state", "u": "input", "p": "parameter"}
"""By group, what messages call one of its quantities."""
ROWS_AT_ONCE = 10_000
"""Rows of initial values that are evaluated by one call: the first call of a size costs what its rows do."""


@dataclass(frozen=True)
class Start:
    """The numbers a run begins from; in a batch, arrays of rows where something varies."""

    x: np.ndarray
    z: np.ndarray
    u: np.ndarray
    p: np.ndarray


def start(
    system: System, x0: Any = None, z0: Any = None, u: Any = None, p: Any = None, *, runs: int | None = None
) -> Start:
    """The vectors to begin from. Each argument is a mapping from names to numbers, or a whole vector. With
    `runs`, numbers may be arrays with one entry per run, and vectors matrices with one row per run."""
    with pause_gc():
        pv = _vector(system, "p", p, runs=runs)
        uv = _vector(system, "u", u, runs=runs)
        xv = _vector(system, "x", x0, runs=runs, p=pv)
        return Start(x=xv, z=_vector(system, "z", z0, runs=runs, p=pv, x=xv), u=uv, p=pv)


def parameters(system: System) -> np.ndarray:
    """The system's own parameters, as a vector."""
    return _vector(system, "p", None)


def runs_in(system: System, **arguments: Any) -> int:
    """How many runs the arguments of a batch (x=, z=, u=, p=) describe: the one length that is not 1."""
    lengths: dict[int, str] = {}
    for group, argument in arguments.items():
        if argument is None:
            continue
        if not isinstance(argument, Mapping):
            array = _numbers(argument, f"the {WORDS[group]}s of '{system.name}'")
            if array.ndim == 2:
                lengths[len(array)] = f"a matrix of shape {array.shape}"
            continue
        for key, value in argument.items():
            where = system.slices(group).get(str(key))
            array = _numbers(value, f"{WORDS[group]} '{key}'")
            rows = array.ndim == 1 if where is None or where.stop - where.start == 1 else array.ndim == 2
            if rows:
                lengths[len(array)] = f"'{key}'"
    lengths.pop(1, None)
    if len(lengths) > 1:
        described = " and ".join(f"{who} has {n}" for n, who in lengths.items())
        raise ShapeError(f"a batch needs one length: {described}; use numpy.meshgrid(...).ravel() for a grid")
    return next(iter(lengths), 1)


def _numbers(value: Any, what: str) -> np.ndarray:
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"{what} is {short_repr(value)}: a number is needed") from error


def _vector(
    system: System,
    group: str,
    given: Any,
    *,
    runs: int | None = None,
    p: np.ndarray | None = None,
    x: np.ndarray | None = None,
) -> np.ndarray:
    """The numbers of one group: defaults, with what is given put in, checked.

    given: a mapping from names to numbers, or the whole vector. runs: how many rows, of a batch. p, x:
        numbers of which initial values may be expressions.
    """
    quantities, size = getattr(system, group), system.size(group)
    shape = (size,) if runs is None else (runs, size)
    if given is None and all(isinstance(q.value, np.ndarray) for q in quantities):
        own = np.concatenate([q.value for q in quantities]) if quantities else np.empty(0)
        return own if runs is None else np.broadcast_to(own, shape)  # one row in memory for all runs
    if given is not None and not isinstance(given, Mapping):
        array = _numbers(given, f"the {WORDS[group]}s of '{system.name}'")
        if array.shape not in ((shape,) if runs is None else (shape, (size,), (1, size))):
            raise ShapeError(
                f"{WORDS[group]}s of '{system.name}' need {size} number(s) "
                f"({', '.join(system.labels(group)) or 'there are none'}); got shape {array.shape}"
            )
        if group in ("u", "p"):  # a state may have left its bounds in the run that a whole vector comes from
            _check(system, group, array)
        elif not np.all(np.isfinite(array)):
            raise ValueRangeError(
                f"{WORDS[group]}s of '{system.name}' are {array}: finite numbers are needed"
            )
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    named = {str(key): value for key, value in (given or {}).items()}
    places = system.slices(group)
    for name in named:
        if name not in places:
            raise _unknown(system, group, name)
    array = _defaults(system, group, shape, p=p, x=x, given=named)
    by_name = {q.name: q for q in quantities} if named else {}
    for name, value in named.items():
        owner = by_name.get(name) or by_name[name[: name.index("[")]]
        numbers = owner.check(_numbers(value, f"{WORDS[group]} '{name}'"))
        width = places[name].stop - places[name].start
        allowed = [(), (1,)] if width == 1 else [(width,), ()]
        if runs is not None:
            allowed.append((runs,) if width == 1 else (runs, width))
        if numbers.shape not in allowed:
            raise ShapeError(
                f"{WORDS[group]} '{name}' has shape {numbers.shape}: {width} number(s) needed"
                + ("" if runs is None else " per run")
            )
        array[..., places[name]] = (
            numbers[:, None] if runs is not None and width == 1 and numbers.shape == (runs,) else numbers
        )
    return array


def _unknown(system: System, group: str, name: str) -> UnknownNameError:
    """A name that is not in a group: is it in another?"""
    for other, word in WORDS.items():
        if name in system.slices(other):
            return UnknownNameError(
                f"'{name}' of '{system.name}' is {a(word)}, not {a(WORDS[group])}: give it as "
                f"{ARGUMENTS[other]}={{'{name}': ...}}"
            )
    if name in system.slices("outputs"):
        return UnknownNameError(
            f"'{name}' of '{system.name}' is an output: it follows from the states, set those"
        )
    names = [q.name for q in getattr(system, group)]
    return UnknownNameError(
        f"'{name}' is not {a(WORDS[group])} of '{system.name}': {did_you_mean(name, names)}"
    )


def _check(system: System, group: str, array: np.ndarray) -> None:
    for q in getattr(system, group):
        q.check(array[..., system.slices(group)[q.name]])


def _defaults(
    system: System,
    group: str,
    shape: tuple[int, ...],
    *,
    p: np.ndarray | None,
    x: np.ndarray | None,
    given: Mapping[str, Any],
) -> np.ndarray:
    """The system's own values; expressions, of parameters and for discrete states also of the states that a
    run begins with, are evaluated where `given` does not replace them."""
    array = np.empty(shape)
    own = None
    places, quantities = system.slices(group), getattr(system, group)
    if quantities and all(
        isinstance(q.value, np.ndarray) for q in quantities
    ):  # at once: large networks have 100,000 of them
        array[...] = np.concatenate([q.value for q in quantities])
        return array
    for q in quantities:
        where = places[q.name]
        if isinstance(q.value, np.ndarray):
            array[..., where] = q.value
        elif q.name not in given:
            if own is None:
                f, rows = _initial(system, group)
                own = _evaluate_rows(f, [np.atleast_2d(v) for v in (p, x) if v is not None])
            values = own[:, rows[q.name]]
            array[..., where] = values if len(values) == 1 else values.reshape(*shape[:-1], q.size)
    return array


def _evaluate_rows(f: ca.Function, arguments: list[np.ndarray]) -> np.ndarray:
    """The function's values, a row for each row of its arguments; one row where it depends on nothing in
    which they differ. A million runs take a second on a graphics card, so nothing is copied into matrices of
    CasADi, and all cores help."""
    differs = any(
        bool((argument[:, k] != argument[0, k]).any())
        for number, argument in enumerate(arguments)
        for k in sorted(set(f.jac_sparsity(0, number).get_col()))
    )
    count = len(arguments[0]) if differs else 1
    values = np.empty((count, f.numel_out(0)))
    cores = min(os.cpu_count() or 1, -(-count // ROWS_AT_ONCE))
    ends = np.linspace(0, count, cores + 1).astype(int)
    block = f.map(ROWS_AT_ONCE) if count >= ROWS_AT_ONCE else f

    def evaluate_rows_between(begin: int, end: int) -> None:
        for at in range(begin, end, ROWS_AT_ONCE):
            rows = slice(at, min(end, at + ROWS_AT_ONCE))
            size = rows.stop - rows.start
            buffer, evaluate = (block if size == ROWS_AT_ONCE else f.map(size)).buffer()
            own = [np.ascontiguousarray(argument[rows], float) for argument in arguments]
            for k, row in enumerate(own):
                buffer.set_arg(k, row.data)
            buffer.set_res(0, values[rows].data)
            evaluate()

    with ThreadPoolExecutor(cores) as pool:  # CasADi's own map over threads is slower than one thread
        list(pool.map(evaluate_rows_between, ends[:-1], ends[1:]))
    return values


def _initial(system: System, group: str) -> tuple[ca.Function, dict[str, slice]]:
    """Initial values that are expressions, as a function of p (and x), and where each stands."""
    # variants differ in which quantities are still expressions, so their names are part of the key
    names = tuple(q.name for q in getattr(system, group) if not isinstance(q.value, np.ndarray))
    return memo(system, _initial_function, group, names)


def _initial_function(
    system: System, group: str, names: tuple[str, ...]
) -> tuple[ca.Function, dict[str, slice]]:
    """What `_initial` returns, for the quantities of these names."""
    quantities = [q for q in getattr(system, group) if q.name in names]
    ends = np.cumsum([0, *(q.size for q in quantities)])
    places = {q.name: slice(int(ends[k]), int(ends[k + 1])) for k, q in enumerate(quantities)}
    values = ca.densify(ca.vertcat(*[sx(q.value) for q in quantities]))
    vectors = system.vectors("px")
    return ca.Function("initial", vectors if group == "z" else vectors[:1], [values]), places


def initial_values(system: System) -> list[ca.SX]:
    """Initial x and z as expressions of parameters."""
    x, z = (
        ca.densify(ca.vertcat(*[sx(q.value) for q in getattr(system, g)], ca.SX(0, 1))) for g in ("x", "z")
    )
    states = [q.sym for q in system.x]
    return [x, ca.substitute([z], [ca.vertcat(*states)], [x])[0] if states and z.numel() else z]
