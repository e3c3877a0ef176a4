"""Adjustments: inputs and parameters of a machine that may change from step to step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca

from strut.system import BatchRewrite, Event, Expression, Ledger, Param, State, System, sx


def substitute_symbols(system: System, old: list[ca.SX], new: list[ca.SX], **changes: object) -> System:
    """Return a system with symbols replaced by expressions in all that it does. changes: further fields.

    What delays read is not rewritten."""
    batch = BatchRewrite()
    flow, jumps = batch.add(system.flow), batch.add_jumps(system.events)
    samples = batch.add_jumps(system.samples)
    enabled = batch.add({e.name: e.when for e in system.events if e.when is not None})
    outputs = batch.add(system.outputs)
    books = [batch.add(getattr(system.ledger, group)) for group in ("stored", "supplied", "dissipated")]
    looks = batch.add(system.scene.columns())
    batch.rewrite(lambda expressions: ca.substitute(expressions, old, new))
    when = enabled() or {}
    return system.replace(
        flow=flow() or {},
        events=tuple(replace(e, when=when.get(e.name)) for e in jumps()),
        outputs=outputs() or {},
        samples=samples(),
        ledger=Ledger(*(book() or {} for book in books), electrical=system.ledger.electrical),
        scene=system.scene.with_columns(looks() or {}),
        implied=None,
        **changes,
    )


def change_name(name: str) -> str:
    """Return the name of the parameter that is added to an input or parameter for a step."""
    return f"{name}_change"


def add_changes(system: System, names: tuple[str, ...]) -> System:
    """Return a system in which something is added to inputs and parameters: parameters NAME_change, 0 so far.
    Inputs among them are then no inputs any more, but parameters that keep their values."""
    old, new, changes = [], [], []
    inputs = [q for q in system.u if q.name in names]
    constants = [Param(f"{q.name}_held", q.value, q.unit) for q in inputs]
    for q in (*inputs, *[q for q in system.p if q.name in names]):
        change = Param(change_name(q.name), 0.0, q.unit, description=f"of {q.name}, for a step")
        own = next((c.sym for c in constants if c.name == f"{q.name}_held"), q.sym)
        old.append(q.sym)
        new.append(own + change.sym)
        changes.append(change)
    rest = tuple(q for q in system.u if q not in inputs)
    symmetry = {n: e for n, e in system.symmetry.items() if n not in {q.name for q in inputs}}
    # the values stay parameters of their own name and symbol: only what reads them changes
    return substitute_symbols(
        system.replace(u=system.u, p=(*system.p, *constants, *changes)), old, new
    ).replace(u=rest, symmetry=symmetry)


def set_by_events(
    system: System,
    laws: Mapping[str, Mapping[str, ca.SX]],
    changes: tuple[str, ...],
    parameters: tuple[Param, ...],
) -> System:
    """Return a system whose `changes`, parameters so far, are states that events set and nothing else moves.

    laws: by event, what it sets each of them to. parameters: further ones that laws read.
    Energy that a law puts into storage is booked under the change's own name: a loss below zero.
    """
    old = [q for q in system.p if q.name in changes]
    states = tuple(
        State(q.name, 0.0, q.unit, description=q.description).copy_with(sym=q.sym, _owner=q) for q in old
    )
    return system.replace(
        x=(*system.x, *states),
        flow={**system.flow, **{q.name: ca.SX(0) for q in states}},
        p=(*[q for q in system.p if q.name not in changes], *parameters),
        events=tuple(
            replace(
                e,
                reset={**{k: sx(v) for k, v in e.reset.items()}, **laws[e.name]},
                loss=_losses_with_laws(system, e, laws[e.name]),
            )
            if e.name in laws
            else e
            for e in system.events
        ),
    )


def _losses_with_laws(
    system: System, event: Event, laws: Mapping[str, ca.SX]
) -> Mapping[str, Expression] | None:
    """Return the losses of an event [J] at which laws set changes, parameters so far: its own, with changes
    as they were, and by the name of each change that stored energy depends on what its law takes."""
    total = sum((sx(e) for e in system.ledger.stored.values()), ca.SX(0))
    changes = {q.name: q.sym for q in system.p if q.name in laws and ca.depends_on(total, q.sym)}
    quantities = [q for q in (*system.x, *system.z) if q.name in event.reset]
    old, new = [q.sym for q in quantities], [sx(event.reset[q.name]) for q in quantities]
    chance = ca.vertcat(*[q.sym for q in system.randoms], *[d.sym for d in system.delays], ca.SX(0, 1))
    values = ca.vertcat(*[ca.vec(each) for each in new], ca.SX(0, 1))
    if not changes or (chance.numel() and values.numel() and ca.depends_on(values, chance)):
        return event.loss  # a loss is known from the state before the event, without chance
    energy = ca.substitute([total], old, new)[0] if old else total
    losses = {event.name: total - energy} if event.loss is None else dict(event.loss)
    for name, symbol in changes.items():
        old, new = [*old, symbol], [*new, laws[name]]
        after = ca.substitute([total], old, new)[0]
        losses[name], energy = energy - after, after
    return losses


__all__ = ["add_changes", "change_name", "set_by_events"]
