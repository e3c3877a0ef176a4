"""Machines inside a network: a node stands for a system that something else describes, a leg or a motor."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import casadi as ca

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import System, add_prefix, join


def holding(network: System, machines: Mapping[str, System]) -> System:
    """The system of a network in which some nodes are machines.

    The node has variables of the same names as what it shares with the machine: one that is called like an
    input of the machine drives it; one with the flag `in` that is called like a state or output of the
    machine shows it. To the rest of the network it is a node like any other.
    """
    parts: list[System] = []
    connect: dict[str, ca.SX] = {}
    outside = {**{q.name: q.sym for q in (*network.x, *network.z, *network.p)}, **network.outputs}
    seen: set[str] = set()
    for node, machine in machines.items():
        part = add_prefix(machine, node)
        known = {**{q.name: q.sym for q in (*part.x, *part.z, *part.p)}, **part.outputs}
        driven = {q.name for q in part.u if q.name in outside}
        shown = {q.name for q in network.u if q.name.startswith(f"{node}.")}
        for name in shown - known.keys():
            raise UnknownNameError(
                f"node '{node}' shows '{name}', which '{machine.name}' does not have: "
                f"{did_you_mean(name, list(known))}"
            )
        if not driven and not shown:
            inputs = ", ".join(q.name for q in machine.u) or "it has none"
            raise ModelError(
                f"node '{node}' shares nothing with '{machine.name}': give it variables named like its "
                f"inputs ({inputs}), "
                "or like its states with the flag 'in'"
            )
        connect |= {f"{n}.driven": outside[n] for n in driven} | {f"{n}.shown": known[n] for n in shown}
        seen |= shown
        parts.append(_inputs_renamed(part, driven, "driven"))
    return join(
        network.name,
        _inputs_renamed(network, seen, "shown"),
        *parts,
        connect=connect,
        description=network.description,
    )


def _inputs_renamed(system: System, names: set[str], word: str) -> System:
    """Inputs that are about to be connected give up their names to what is on the other side."""
    changed = []
    for q in system.u:
        new = copy(q)
        if q.name in names:
            object.__setattr__(new, "name", f"{q.name}.{word}")
        changed.append(new)
    return system.replace(u=tuple(changed))
