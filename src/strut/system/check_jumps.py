"""Checks of what jumps: events and samples, their guards, resets and losses; and of names that must be known
or unique."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import casadi as ca

from strut.errors import GuardError, ModelError, UnknownNameError, did_you_mean
from strut.system.event import Event, Sample
from strut.system.quantity import Expression, Quantity
from strut.system.symbol_scope import SymbolScope

T = TypeVar("T")
Merge = Callable[[Expression], ca.SX]
"""Rewrites an expression so that parameters of one name are one symbol."""
TRUTHS = (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)
"""Operations whose result is true or false: no guard may end in one."""


def key_by_name(mapping: Mapping[Any, T], known: Mapping[str, int], where: str) -> dict[str, T]:
    """A mapping from quantities or names as one from names, of which each must be known and stand once.
    where: what the mapping is, for messages."""
    named: dict[str, T] = {}
    for key, value in dict(mapping).items():
        name = key.name if isinstance(key, Quantity) else str(key)
        if name not in known:
            raise UnknownNameError(
                f"{where} names '{name}', which is not a state it can set: {did_you_mean(name, list(known))}"
            )
        if name in named:
            raise ModelError(f"{where} names '{name}' twice")
        named[name] = value
    return named


def check_unique(names: list[str], where: str) -> None:
    """Raise ModelError where a name stands twice. where: what is named, for messages."""
    seen = set()
    for name in names:
        if name in seen:
            raise ModelError(f"'{name}' stands twice among the {where}: give every one its own name")
        seen.add(name)


def _checked_reset(
    reset: Mapping[Any, Expression], owner: str, scope: SymbolScope, sizes: Mapping[str, int], merge: Merge
) -> dict[str, ca.SX]:
    named = key_by_name(reset, sizes, f"the reset of {owner}")
    entries = {n: (merge(v), f"the reset of '{n}' in {owner}", sizes[n]) for n, v in named.items()}
    return scope.allow_all(entries, "txzupdr", "")


def _checked_loss(
    loss: Mapping[str, Expression] | None, owner: str, scope: SymbolScope, merge: Merge
) -> dict[str, ca.SX] | None:
    if loss is None:
        return None
    return {
        str(n): scope.allow(
            merge(v), f"the loss '{n}' of {owner}", "txzup", "a loss is known from the state before the event"
        )
        for n, v in loss.items()
    }


def checked_event(event: Event, scope: SymbolScope, sizes: Mapping[str, int], merge: Merge) -> Event:
    """An event in normal form: a guard that crosses zero, resets of known states. sizes: of the states that
    it may set, by name."""
    owner = f"event '{event.name}'"
    guard = scope.allow(
        merge(event.guard),
        f"the guard of {owner}",
        "txzup",
        "a guard cannot use random numbers or delays; hold them in a state",
    )
    if any(guard.is_op(op) for op in TRUTHS):
        raise GuardError(
            f"the guard of {owner} in system '{scope.system}' is {guard}, true or false: give a number that "
            f"crosses zero, "
            "height instead of height < 0 (with direction='down')"
        )
    if not scope.groups_in(guard, owner) & {"t", "x", "z", "u"}:
        raise GuardError(
            f"the guard of {owner} in system '{scope.system}' is {guard}, which never changes during a run: "
            "let it depend on time or a state"
        )
    when = (
        None
        if event.when is None
        else scope.allow(
            merge(event.when),
            f"the 'when' of {owner}",
            "zup",
            "it may depend on discrete states, inputs and parameters; put the rest in the guard",
        )
    )
    return replace(
        event,
        guard=guard,
        when=when,
        reset=_checked_reset(event.reset, owner, scope, sizes, merge),
        loss=_checked_loss(event.loss, owner, scope, merge),
    )


def checked_sample(sample: Sample, scope: SymbolScope, sizes: Mapping[str, int], merge: Merge) -> Sample:
    """A sample in normal form: a constant, positive period, resets of known states. sizes: of the states that
    it may set, by name."""
    owner = f"sample '{sample.name}'"
    every = scope.allow(
        merge(sample.every),
        f"the period of {owner}",
        "p",
        "a period is constant during a run: use parameters only",
    )
    if every.is_constant() and not float(ca.DM(every)) > 0:
        raise ModelError(
            f"{owner} in system '{scope.system}' has period {float(ca.DM(every)):g} s: it must be positive"
        )
    offset = scope.allow(
        merge(sample.offset),
        f"the offset of {owner}",
        "p",
        "an offset is constant during a run: use parameters only",
    )
    return replace(
        sample,
        every=every,
        offset=offset,
        set=_checked_reset(sample.set, owner, scope, sizes, merge),
        loss=_checked_loss(sample.loss, owner, scope, merge),
    )


__all__ = ["Merge", "check_unique", "checked_event", "checked_sample", "key_by_name"]
