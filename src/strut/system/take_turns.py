"""`alternate`: one system of several that take turns, each with states of its own.

A union of all their quantities, with a flag for each part, 1 while it is active. States of a part that is not
are held; an event hands over to the next and says where that begins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system.event import Event
from strut.system.ledger import Ledger
from strut.system.pickling import Packed
from strut.system.quantity import Discrete, Expression, Quantity, check_name, sx
from strut.system.system import GROUPS, System

ACTIVE = ".active"
"""What the name of the flag of a part ends with."""


class PartFlag(Discrete):
    """The discrete state that is 1 while a part of systems that take turns is active. An alternating system
    is told by it, not by a name."""


@checked
@dataclass(frozen=True, eq=False)
class Switch(Packed):
    """What an event hands over to. to: the part that follows. begin: where its states begin, by name:
    expressions of the states before. States that both parts have go on and need not be named."""

    to: str
    begin: Mapping[Any, Expression] = field(default_factory=dict)


@checked
def alternate(
    name: str, *parts: System, switches: Mapping[str, Switch] | None = None, description: str = ""
) -> System:
    """Return one system of several that take turns: the first is active first.

    A quantity that several parts share, the same object, is one: a parameter, or a state that goes on where
    they change. What else the parts have must have names of its own (`add_prefix`). The discrete state
    'PART.active' is 1 while a part is. All parts are evaluated all along: their equations must be defined
    where their states are held, at first at their own initial values.
    switches: by event, which part follows, and where its states begin. Other events leave the part active.

    Outputs and energies that several parts have by one name are those of the active one. It has neither
    walk, symmetry nor scene until `replace` gives it some. Raises `ModelError` for parts that are sampled,
    random or delayed.
    """
    check_parts(name, parts)
    flags = {part.name: PartFlag(f"{part.name}{ACTIVE}", float(part is parts[0])) for part in parts}
    owners = {event.name: part for part in parts for event in part.events}
    handed = switches or {}
    for event, switch in handed.items():
        if event not in owners:
            raise UnknownNameError(
                f"'{name}' switches with '{event}', which is no event of its parts: "
                f"{did_you_mean(event, list(owners))}"
            )
        check_switch(event, switch, owners[event], parts)

    def of_active(mappings: Sequence[Mapping[Any, Expression]]) -> dict[str, ca.SX]:
        """Entries by name: of those that are active, what is not is zero."""
        together: dict[str, ca.SX] = {}
        for part, mapping in zip(parts, mappings, strict=True):
            for entry, value in mapping.items():
                own = ca.if_else(flags[part.name].sym, sx(value), 0)
                together[str(entry)] = together[str(entry)] + own if str(entry) in together else own
        return together

    books = ("stored", "supplied", "dissipated")
    ledger = Ledger(
        *[of_active([getattr(part.ledger, kind) for part in parts]) for kind in books],
        electrical=tuple(dict.fromkeys(entry for part in parts for entry in part.ledger.electrical)),
    )
    groups: dict[str, Any] = {
        g: tuple({q.name: q for p in parts for q in getattr(p, g)}.values()) for g in GROUPS
    }
    return System(
        name,
        **{**groups, "z": (*groups["z"], *flags.values())},
        flow=of_active([part.flow for part in parts]),
        events=tuple(
            hand_over(event, handed.get(event.name), flags, part) for part in parts for event in part.events
        ),
        outputs=of_active([part.outputs for part in parts]),
        output_units={n: unit for part in parts for n, unit in part.output_units.items()},
        ledger=ledger,
        description=description,
    )


def hand_over(event: Event, switch: Switch | None, flags: Mapping[str, Discrete], part: System) -> Event:
    """Return the event of a part as one of the whole: enabled while its part is active, and after it the part
    that it switches to."""
    own = flags[part.name]
    enabled = own.sym - 0.5 if event.when is None else ca.fmin(own.sym - 0.5, sx(event.when))
    reset = {str(state): value for state, value in event.reset.items()}
    if switch is not None:
        states = {q.name: q.sym for q in (*part.x, *part.z)}
        after = [q for q in states if q in reset]
        # The part that follows begins from the state as its event left it.
        begin = ca.substitute(
            [sx(value) for value in switch.begin.values()],
            [states[q] for q in after],
            [sx(reset[q]) for q in after],
        )
        reset |= {str(state): value for state, value in zip(switch.begin, begin, strict=True)}
        reset |= {own.name: 0.0}
        reset |= {flags[switch.to].name: 1.0}
    # Its guard is held past zero while another part is active: a switch crosses nothing by itself.
    guard = sx(event.guard)
    if event.direction != "both":
        guard = ca.if_else(own.sym, guard, 1 if event.direction == "up" else -1)
    return replace(event, guard=guard, when=enabled, reset=reset)


def check_parts(name: str, parts: Sequence[System]) -> None:
    """Raise `ModelError` where parts cannot take turns."""
    if len(parts) < 2 or len({part.name for part in parts}) < len(parts):
        names = ", ".join(f"'{part.name}'" for part in parts) or "none"
        raise ModelError(
            f"'{name}' alternates between {names}: give two parts or more, each with its own name"
        )
    for part in parts:
        check_name(part.name, "part")
        for kind in ("samples", "randoms", "delays"):
            if getattr(part, kind):
                raise ModelError(
                    f"part '{part.name}' of '{name}' has {kind}: parts that take turns have states, inputs, "
                    f"parameters and events only; put the others around the whole, join(...)"
                )
    by_name: dict[str, Quantity] = {}
    for q in (q for part in parts for q in part.quantities()):
        other = by_name.setdefault(q.name, q)
        if not ca.is_equal(other.sym, q.sym):
            raise ModelError(
                f"two parts of '{name}' have a quantity '{q.name}' each: use one object in both where it is "
                f"the same, or prefix them, add_prefix(part, 'left')"
            )
        if not ca.is_equal(sx(other.value), sx(q.value), 9):
            raise ModelError(
                f"'{q.name}' is {other.value} in one part of '{name}' and {q.value} in another: give them "
                f"one value, whole.using({q.name}=...) after alternate(...)"
            )
    events = [event.name for part in parts for event in part.events]
    if twice := next((e for e in events if events.count(e) > 1), None):
        raise ModelError(f"two parts of '{name}' have an event '{twice}' each: give each a name of its own")


def check_switch(event: str, switch: Switch, source: System, parts: Sequence[System]) -> None:
    """Raise where a switch leads to no part, sets what that does not have, or leaves one of its states
    open."""
    targets = {part.name: part for part in parts if part is not source}
    if switch.to not in targets:
        raise UnknownNameError(
            f"'{event}' switches to '{switch.to}', which is no other part: "
            f"{did_you_mean(switch.to, list(targets))}"
        )
    target, new_states = targets[switch.to], {str(state) for state in switch.begin}
    states = [q.name for q in (*target.x, *target.z)]
    for state in new_states:
        if state not in states:
            raise UnknownNameError(
                f"'{event}' begins '{switch.to}' with '{state}', which is no state of it: "
                f"{did_you_mean(state, states)}"
            )
    common = {q.name for q in (*source.x, *source.z)}
    missing = [q.name for q in target.x if q.name not in new_states | common]
    if missing:
        raise ModelError(
            f"'{event}' switches to '{switch.to}' and does not say where its state '{missing[0]}' begins: "
            f"Switch('{switch.to}', {{'{missing[0]}': ...}}), with '{missing[0]}' itself to go on where it "
            f"was held"
        )


@checked
def is_alternating(system: System) -> bool:
    """Return whether a system is one of several parts that take turns."""
    return any(isinstance(q, PartFlag) for q in system.z)


@checked
def switching_events(system: System) -> list[Event]:
    """Return the events by which parts that take turns change."""
    flags = {q.name for q in system.z if isinstance(q, PartFlag)}
    return [event for event in system.events if flags & {str(state) for state in event.reset}]


@checked
def activate(system: System, part: str) -> dict[str, float]:
    """Return the flags of an alternating system that make one of its parts the active one, by name."""
    flags = [q.name for q in system.z if isinstance(q, PartFlag)]
    names = [flag.removesuffix(ACTIVE) for flag in flags]
    if part not in names:
        hint = did_you_mean(part, names) if names else "it is none of several parts; see alternate(...)"
        raise UnknownNameError(f"'{system.name}' has no part '{part}': {hint}")
    return {flag: float(flag == f"{part}{ACTIVE}") for flag in flags}


__all__ = ["Switch", "activate", "alternate", "is_alternating", "switching_events"]
