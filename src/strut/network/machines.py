"""`join_machines`: joins a network with systems that stand for some of its nodes, such as a leg."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

import casadi as ca

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system import System, add_prefix, join


def join_machines(network: System, machines: Mapping[str, System]) -> System:
    """Join the system of a network with machines that stand for some of its nodes.

    machines: systems by the names of nodes. A node has variables of the same names as what it shares with its
    machine: one that is called like an input of the machine drives it; one with the flag `in` that is called
    like a state or output of the machine shows it. To the rest of the network it is a node like any other.

    The walk of the whole is the one that the network's file states; else that of the machine that walks, with
    its names prefixed; none where several machines walk. Raises `UnknownNameError` or `ModelError` where a
    node shows what its machine does not have, or shares nothing with it.
    """
    parts: list[System] = []
    connect: dict[str, ca.SX] = {}
    outside = {**{q.name: q.sym for q in (*network.x, *network.z, *network.p)}, **network.outputs}
    shown_by_network: set[str] = set()
    for node, machine in machines.items():
        part = add_prefix(machine, node)
        if network.walk is not None:
            part = part.replace(walk=None)
        visible = {**{q.name: q.sym for q in (*part.x, *part.z, *part.p)}, **part.outputs}
        driven = {q.name for q in part.u if q.name in outside}
        shown_names = {q.name for q in network.u if q.name.startswith(f"{node}.")}
        for name in shown_names - visible.keys():
            raise UnknownNameError(
                f"node '{node}' shows '{name}', which '{machine.name}' does not have: "
                f"{did_you_mean(name, list(visible))}"
            )
        if not driven and not shown_names:
            inputs = ", ".join(q.name for q in machine.u) or "it has none"
            raise ModelError(
                f"node '{node}' shares nothing with '{machine.name}': give it variables named like its "
                f"inputs ({inputs}), "
                "or like its states with the flag 'in'"
            )
        connect |= {f"{n}.driven": outside[n] for n in driven} | {
            f"{n}.shown": visible[n] for n in shown_names
        }
        shown_by_network |= shown_names
        parts.append(_rename_inputs(part, driven, "driven"))
    return join(
        network.name,
        _rename_inputs(network, shown_by_network, "shown"),
        *parts,
        connect=connect,
        description=network.description,
    )


def _rename_inputs(system: System, names: set[str], word: str) -> System:
    """Put a word behind the names of some inputs, so that what drives them can have their names."""
    changed = []
    for q in system.u:
        new = copy(q)
        if q.name in names:
            object.__setattr__(new, "name", f"{q.name}.{word}")
        changed.append(new)
    return system.replace(u=tuple(changed))
