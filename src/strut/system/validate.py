"""Checks made when a system is constructed, and the one normal form everything later relies on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError, ShapeError, UnknownNameError, a, did_you_mean
from strut.system.check_jumps import Merge, check_unique, checked_event, checked_sample, key_by_name
from strut.system.event import Event, Sample
from strut.system.implied import Implied
from strut.system.ledger import Ledger
from strut.system.quantity import (
    Delay,
    Discrete,
    Expression,
    Input,
    Param,
    Quantity,
    Random,
    State,
    check_name,
    sx,
)
from strut.system.scene import Scene
from strut.system.sums import Sums
from strut.system.symbol_scope import SymbolScope
from strut.system.system_fields import SystemFields
from strut.system.walk import check_walk

RESERVED = ("t", "time")
"""Names of the time, which no quantity may have."""
NO_RANDOM = "a flow cannot use random numbers; hold them in a discrete state with a Sample"
"""The end of a message about a flow."""
STATUSES = ("running", "done", "terminal", "zeno", "not finite", "interrupted")
"""Words that say how a run ended, which no event may be called: a terminal event's name says so too."""

KINDS: dict[str, type[Quantity]] = {
    "x": State,
    "z": Discrete,
    "u": Input,
    "p": Param,
    "randoms": Random,
    "delays": Delay,
}


def checked_fields(system: SystemFields) -> dict[str, Any]:
    """The fields of a system in normal form: tuples, names as keys, dense columns as expressions."""
    for field in (*KINDS, "events", "samples"):
        if not isinstance(getattr(system, field), (tuple, list)):
            raise ModelError(
                f"{field} of system '{system.name}' is {getattr(system, field)!r}: give a list, {field}=[...]"
            )
    groups, merge = _merged_quantities(system)
    scope = SymbolScope(system.name, groups)
    sizes = {q.name: q.size for group in ("x", "z") for q in groups[group]}
    states = {q.name: q.size for q in groups["x"]}
    merged = len(groups["p"]) != len(system.p)

    flow = _checked_flow(system, scope, states, merge, merged)
    _check_initial_values(groups, scope, merge)
    groups["delays"] = _checked_delays(groups["delays"], scope, merge)
    events = tuple(checked_event(e, scope, sizes, merge) for e in system.events)
    samples = tuple(checked_sample(s, scope, sizes, merge) for s in system.samples)
    outputs = _checked_outputs(system, scope, merge, merged)
    _check_names(system.name, [q.name for qs in groups.values() for q in qs] + list(outputs), events, samples)

    ledger = _checked_ledger(system.ledger, scope, merge)
    of_walk = {label: [n for q in groups[label] for n in (q.name, *q.labels)] for label in "xzp"} | {
        "outputs": list(outputs),
        "stored": list(ledger.stored),
    }

    def of_groups(expression: Expression, where: str, symbols: str, why: str, size: int = 1) -> ca.SX:
        return scope.allow(merge(expression), where, symbols, why, size)

    terms = partial(_with_terms, merged=merged, groups=groups, scope=scope)
    return {
        **groups,
        "flow": terms(flow, system.flow, what="the flow"),
        "events": events,
        "samples": samples,
        "outputs": terms(outputs, system.outputs, what="the outputs"),
        "output_units": _checked_units(system, outputs),
        "scales": _checked_scales(system),
        "ledger": ledger,
        "walk": check_walk(system.walk, system.name, of_walk, events, of_groups),
        "scene": _checked_scene(system.scene, scope, merge, list(outputs)),
        "implied": _checked_implied(system, scope, states, merge),
        "symmetry": _checked_symmetry(system, scope, sizes | {q.name: q.size for q in groups["u"]}, merge),
    }


def _checked_flow(
    system: SystemFields, scope: SymbolScope, states: Mapping[str, int], merge: Merge, merged: bool
) -> dict[str, ca.SX]:
    """A rate for every state, in order. merged: whether parameters were made one, so that sums are written
    out."""
    rates = key_by_name(_own(system.flow, merged), states, f"the flow of system '{system.name}'")
    entries = {name: (merge(rate), f"the flow of '{name}'", states[name]) for name, rate in rates.items()}
    flow = scope.allow_all(entries, "txzupd", NO_RANDOM)
    for name in states:
        if name not in flow:
            raise ModelError(
                f"state '{name}' of system '{system.name}' has no flow: give its rate, 0 if it is constant "
                f"between events"
            )
    return {name: flow[name] for name in states}


def _check_initial_values(
    groups: Mapping[str, tuple[Quantity, ...]], scope: SymbolScope, merge: Merge
) -> None:
    """Initial values may depend on parameters, those of discrete states also on the states."""
    for group, letters, why in (
        ("x", "p", "initial values may depend on parameters only"),
        (
            "z",
            "px",
            "initial values of discrete states may depend on parameters and on the states a run begins with",
        ),
    ):
        for q in groups[group]:
            scope.allow(merge(q.value), f"the initial value of '{q.name}'", letters, why, q.size)


def _checked_delays(delays: tuple[Delay, ...], scope: SymbolScope, merge: Merge) -> tuple[Delay, ...]:
    """Delays of signals that are no delays themselves, by constant durations."""
    return tuple(
        q.copy_with(
            signal=scope.allow(
                merge(q.signal),
                f"the signal of delay '{q.name}'",
                "txzup",
                "a delay cannot delay a delay; delay the original signal by the sum",
            ),
            by=scope.allow(
                merge(q.by),
                f"the duration of delay '{q.name}'",
                "p",
                "a duration is constant during a run: use parameters only",
            ),
            before=scope.allow(
                merge(q.before),
                f"the past of delay '{q.name}'",
                "tp",
                "nothing but time and parameters exists before a run",
            ),
        )
        for q in delays
    )


def _checked_outputs(
    system: SystemFields, scope: SymbolScope, merge: Merge, merged: bool
) -> dict[str, ca.SX]:
    entries = {}
    for name, expression in _own(system.outputs, merged).items():
        check_name(str(name), "output")
        column = sx(merge(expression))
        entries[str(name)] = (column, f"output '{name}'", column.numel())
    return scope.allow_all(entries, "txzupd", "outputs cannot use random numbers")


def _check_names(
    system: str, names: list[str], events: tuple[Event, ...], samples: tuple[Sample, ...]
) -> None:
    """Raise ModelError for a name that stands twice, or that means something else. names: of quantities and
    outputs."""
    check_unique(
        [*(e.name for e in events), *(s.name for s in samples)], f"events and samples of system '{system}'"
    )
    check_unique(names, f"names of system '{system}'")
    for name in (n for n in names if n in RESERVED):
        raise ModelError(f"'{name}' of system '{system}' has the name of the time itself: choose another")
    for event in (e for e in events if e.name in STATUSES):
        raise ModelError(
            f"event '{event.name}' of system '{system}' has the name of a status that runs end with: "
            f"choose another"
        )


def _checked_symmetry(
    system: SystemFields, scope: SymbolScope, exchanged: Mapping[str, int], merge: Merge
) -> dict[str, ca.SX]:
    """exchanged: sizes of states, discrete states and inputs, by name."""
    images = key_by_name(system.symmetry, exchanged, f"the symmetry of system '{system.name}'")
    why = "left and right are exchanged in states, discrete states and inputs"
    return {
        n: scope.allow(merge(v), f"the symmetry of '{n}'", "xzup", why, exchanged[n])
        for n, v in images.items()
    }


def _own(expressions: Mapping[Any, Expression], merged: bool) -> Mapping[Any, Expression]:
    """What is to be checked as expressions: all, or of sums what terms are added to. Where parameters are
    merged, sums are written out."""
    return expressions.own if isinstance(expressions, Sums) and not merged else expressions


def _with_terms(
    own: dict[str, ca.SX],
    given: Mapping[Any, Expression],
    *,
    merged: bool,
    groups: Mapping[str, tuple[Quantity, ...]],
    scope: SymbolScope,
    what: str,
) -> Mapping[str, ca.SX]:
    """Expressions in normal form; terms of sums are checked, and stay what they are."""
    if not isinstance(given, Sums) or merged:
        return own
    where = f"{what} of system '{scope.system}'"
    given.check(where, {q.name: q for group in ("x", "z", "u", "p", "delays") for q in groups[group]})
    return given.within(own, scope.allow(given.others, where, "txzupd", NO_RANDOM, given.others.numel()))


def _merged_quantities(
    system: SystemFields,
) -> tuple[dict[str, tuple[Any, ...]], Callable[[Expression], ca.SX]]:
    """The groups with equal parameters of one name made one, and the substitution that makes expressions
    follow."""
    groups: dict[str, tuple[Any, ...]] = {}
    old, new = [], []
    for group, kind in KINDS.items():
        by_name: dict[str, Quantity] = {}
        for q in getattr(system, group):
            if not isinstance(q, kind):
                raise ModelError(
                    f"'{q}' stands in {group} of system '{system.name}' but is "
                    f"{a(getattr(q, 'kind', type(q).__name__))}: "
                    f"{kind.__name__} needed"
                )
            first = by_name.setdefault(q.name, q)
            if first is q:
                continue
            if (
                group == "p" and ca.is_equal(first.sym, q.sym) and np.array_equal(first.value, q.value)
            ):  # one of them has narrower bounds
                by_name[q.name] = max(first, q, key=lambda each: each.bounds[0])
                continue
            if (
                group != "p"
                or first.size != q.size
                or not np.array_equal(first.value, q.value)
                or first.bounds != q.bounds
            ):
                raise ModelError(
                    f"{q.kind} '{q.name}' stands twice in system '{system.name}' with different definitions: "
                    "rename one, or use one object in both places"
                )
            old.append(q.sym)
            new.append(first.sym)
        groups[group] = tuple(by_name.values())

    def merge(expression: Expression) -> ca.SX:
        column = sx(expression)
        return ca.substitute([column], old, new)[0] if old else column

    return groups, merge


def _checked_scene(scene: Scene, scope: SymbolScope, merge: Merge, outputs: list[str]) -> Scene:
    for point, labels in scene.points.items():
        for label in labels:
            if label not in outputs:
                raise UnknownNameError(
                    f"the point '{point}' of the scene is at '{label}', which is no output: "
                    f"{did_you_mean(label, outputs)}"
                )
        if len(labels) not in (2, 3):
            raise ModelError(
                f"the point '{point}' of the scene has {len(labels)} coordinates: give the outputs of x and "
                f"z, or of x, y and z"
            )
    for name, expression in scene.columns().items():
        column = merge(expression)
        scope.allow(
            column,
            f"'{name}' of the scene",
            "txzup",
            "a picture cannot use random numbers or delays",
            column.numel(),
        )
    if scene.floor is not None:
        flat = ca.substitute(
            [merge(scene.floor.height)], [scene.floor.x, scene.floor.y], [ca.DM(1), ca.DM(1)]
        )[0]
        scope.allow(flat, "the floor of the scene", "tzup", "the ground does not move with the machine")
    return scene.with_expressions(merge)


def _checked_implied(
    system: SystemFields, scope: SymbolScope, states: Mapping[str, int], merge: Merge
) -> Implied | None:
    implied = system.implied
    if implied is None:
        return None
    where = f"the implied rates of system '{system.name}'"
    key_by_name(dict.fromkeys(implied.states), states, where)
    rates = sum(states[n] for n in implied.states)
    size = rates + implied.further.numel()
    if (
        implied.unknown.shape != (size, 1)
        or implied.residual.shape != (size, 1)
        or not implied.unknown.is_valid_input()
    ):
        raise ShapeError(f"{where} need {size} symbols as unknown and as many residuals")
    residual, further = merge(implied.residual), merge(implied.further)
    at_rest = ca.substitute([residual], [implied.unknown], [ca.DM.zeros(size)])[0]
    scope.allow(at_rest, where, "txzupd", "a rate cannot use random numbers", size)
    scope.allow(further, where, "txzupd", "a force cannot use random numbers", size - rates)
    return replace(implied, residual=residual, further=further)


def _checked_scales(system: SystemFields) -> tuple[str, ...]:
    parameters = [q.name for q in system.p]
    for name in system.scales:
        if str(name) not in parameters:
            raise UnknownNameError(
                f"scales of system '{system.name}' name '{name}', which is no parameter: "
                f"{did_you_mean(str(name), parameters)}"
            )
    return tuple(str(name) for name in system.scales)


def _checked_units(system: SystemFields, outputs: Mapping[str, ca.SX]) -> dict[str, str]:
    for name in system.output_units:
        if str(name) not in outputs:
            raise UnknownNameError(
                f"output_units of system '{system.name}' name '{name}', which is not an output: "
                f"{did_you_mean(str(name), list(outputs))}"
            )
    return {str(name): str(unit) for name, unit in system.output_units.items() if unit}


def _checked_ledger(ledger: Ledger, scope: SymbolScope, merge: Merge) -> Ledger:
    def column(name: str, value: Expression, groups: str) -> ca.SX:
        return scope.allow(
            merge(value), f"'{name}' in the ledger", groups, "an energy depends on the present state only"
        )

    stored = {str(n): column(n, e, "txzup") for n, e in ledger.stored.items()}
    supplied = {str(n): column(n, e, "txzupd") for n, e in ledger.supplied.items()}
    dissipated = {str(n): column(n, e, "txzupd") for n, e in ledger.dissipated.items()}
    check_unique([*stored, *supplied, *dissipated], f"ledger entries of system '{scope.system}'")
    for name in ledger.electrical:
        if name not in supplied:
            raise UnknownNameError(
                f"the ledger of system '{scope.system}' calls '{name}' electrical, which is no power that is "
                f"supplied: {did_you_mean(str(name), list(supplied))}"
            )
    return Ledger(stored, supplied, dissipated, electrical=tuple(ledger.electrical))
