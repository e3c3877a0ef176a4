"""Ports: bond graphs, whose elements exchange power, and which become systems with their account of
energy."""

import importlib
from typing import TYPE_CHECKING, Any

from strut.ports.assemble import SolvedGraph, solve_graph, system
from strut.ports.causality import Causality, causality
from strut.ports.domains import DOMAINS, Domain
from strut.ports.drawing import PowerSamples, svg
from strut.ports.elements import Bond, Element, ElementPort, Given, Kind
from strut.ports.graph import BondGraph
from strut.ports.passivity import PassivityCheck, check_passivity, junction_residual, power_residual
from strut.ports.port_hamiltonian import PortHamiltonian, interconnect, port_hamiltonian

if TYPE_CHECKING:
    from strut.ports.graphfile import is_graph_file, load, parse

_OF_FILES = ("is_graph_file", "load", "parse")
"""Readers of graph files: imported when first used, for they bring parsers that most runs do without."""


def __getattr__(name: str) -> Any:
    if name not in _OF_FILES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
    return globals().setdefault(name, getattr(importlib.import_module("strut.ports.graphfile"), name))


__all__ = [
    "DOMAINS",
    "Bond",
    "BondGraph",
    "Causality",
    "Domain",
    "Element",
    "ElementPort",
    "Given",
    "Kind",
    "PassivityCheck",
    "PortHamiltonian",
    "PowerSamples",
    "SolvedGraph",
    "causality",
    "check_passivity",
    "interconnect",
    "is_graph_file",
    "junction_residual",
    "load",
    "parse",
    "port_hamiltonian",
    "power_residual",
    "solve_graph",
    "svg",
    "system",
]
