"""Which bond ends at which port: a graph checked, with domains and sizes known along every bond."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from strut.errors import ModelError
from strut.ports.domains import Domain
from strut.ports.elements import JUNCTIONS, Bond, Element, ElementPort, Kind
from strut.ports.graph import BondGraph
from strut.ports.laws import check_ratio_unit
from strut.system import known_symbol

MIN_BONDS_OF_JUNCTION = 2
"""Bonds that a junction has at least: one with a single bond lets no power through."""


@dataclass(frozen=True)
class Attachment:
    """A bond where it meets an element: its number, and whether power is counted into the element."""

    bond: int
    inward: bool


@dataclass(frozen=True, eq=False)
class Wiring:
    """A graph whose every port has one bond.

    bonds: in order. at: by element, its attachments, those of named ports in the order of the ports.
    domains, sizes: of every bond.
    """

    name: str
    elements: Mapping[str, Element]
    bonds: tuple[Bond, ...]
    at: Mapping[str, tuple[Attachment, ...]]
    domains: tuple[Domain | None, ...]
    sizes: tuple[int, ...]

    def port(self, element: str, k: int) -> ElementPort:
        """The k-th port of an element that is no junction."""
        return self.elements[element].ports[k]

    def place(self, element: str, bond: int) -> int:
        """Which of an element's attachments a bond is."""
        return next(k for k, a in enumerate(self.at[element]) if a.bond == bond)

    def ends(self, bond: int) -> tuple[str, str]:
        """The elements at tail and head of a bond."""
        return self.bonds[bond].tail[0], self.bonds[bond].head[0]


def wire(graph: BondGraph) -> Wiring:
    """Check how a graph is joined, and return its wiring.

    Raises ModelError for a port without a bond or with two, for junctions of fewer than two bonds, and for
    bonds between domains or sizes that differ, and for a ratio whose unit does not fit its neighbours.
    """
    if not graph.elements:
        raise ModelError(f"bond graph '{graph.name}' is empty: add elements and bonds")
    loose: dict[str, list[Attachment]] = {name: [] for name in graph.elements}
    used: dict[tuple[str, str], list[Attachment]] = {}
    for k, bond in enumerate(graph.bonds):
        for end, inward in ((bond.tail, False), (bond.head, True)):
            if end[0] not in graph.elements:
                raise ModelError(
                    f"bond {bond} of '{graph.name}' ends at '{end[0]}', which is no element any more: take "
                    f"the bond out, too"
                )
            loose[end[0]].append(Attachment(k, inward))
            used.setdefault(end, []).append(loose[end[0]][-1])
    at = {name: _attachments(graph, element, loose[name], used) for name, element in graph.elements.items()}
    domains, sizes = _propagate(graph, at)
    _check_ratio_units(graph, at, domains)
    return Wiring(graph.name, dict(graph.elements), tuple(graph.bonds), at, domains, sizes)


def _check_ratio_units(
    graph: BondGraph, at: Mapping[str, tuple[Attachment, ...]], domains: tuple[Domain | None, ...]
) -> None:
    """Check the units of ratios against the domains of the bonds: of a transformer or gyrator that says none
    itself these are known only now."""
    for name, element in graph.elements.items():
        if element.kind in (Kind.TRANSFORMER, Kind.GYRATOR) and element.laws["ratio"].is_symbolic():
            owner = known_symbol(element.laws["ratio"])
            first, second = (domains[attachment.bond] for attachment in at[name])
            unit = owner.unit if owner is not None and owner.size == 1 else ""
            check_ratio_unit(unit, first, second, element.kind, f"{element} of '{graph.name}'")


def _attachments(
    graph: BondGraph,
    element: Element,
    loose: list[Attachment],
    used: Mapping[tuple[str, str], list[Attachment]],
) -> tuple[Attachment, ...]:
    """The attachments of one element, each port once."""
    if element.kind in JUNCTIONS:
        if len(loose) < MIN_BONDS_OF_JUNCTION:
            raise ModelError(
                f"{element} of '{graph.name}' has {len(loose)} bond(s): a junction joins at least two; bond "
                f"it, or "
                f"leave it out"
            )
        return tuple(loose)
    attachments = []
    for port in element.ports:
        here = used.get((element.name, port.name), [])
        label = f"port '{port.name}' of {element}" if port.name else str(element)
        if not here:
            way = f"bond('OTHER', '{element.name}')" if port.inward else f"bond('{element.name}', 'OTHER')"
            raise ModelError(f"{label} of '{graph.name}' is not connected: add {way}")
        if len(here) > 1:
            bonds = ", ".join(str(graph.bonds[a.bond]) for a in here)
            raise ModelError(
                f"{label} of '{graph.name}' has {len(here)} bonds ({bonds}): a port has one, put a 0- or "
                f"1-junction between them"
            )
        attachments += here
    return tuple(attachments)


def _propagate(
    graph: BondGraph, at: Mapping[str, tuple[Attachment, ...]]
) -> tuple[tuple[Domain | None, ...], tuple[int, ...]]:
    """Domain and size of every bond: what ports say, carried through junctions and through transformers that
    say nothing. Raises ModelError where two ends differ."""
    facts: list[tuple[Domain | None, int | None, str]] = [(None, None, "")] * len(graph.bonds)
    queue: list[int] = []

    def tell(bond: int, domain: Domain | None, size: int | None, teller: str) -> None:
        old_domain, old_size, old_teller = facts[bond]
        if domain and old_domain and domain != old_domain:
            raise ModelError(
                f"bond {graph.bonds[bond]} of '{graph.name}' joins domains: {teller} is {domain.name}, "
                f"{old_teller} "
                f"is {old_domain.name}; put a transformer or gyrator between them"
            )
        if size and old_size and size != old_size:
            raise ModelError(
                f"bond {graph.bonds[bond]} of '{graph.name}' joins sizes: {teller} has {size} component(s), "
                f"{old_teller} has {old_size}; put a transformer with a matrix between them"
            )
        new = (domain or old_domain, size or old_size, old_teller or teller)
        if new[:2] != facts[bond][:2]:
            facts[bond] = new
            queue.append(bond)

    for name, element in graph.elements.items():
        for port, attachment in zip(element.ports, at[name], strict=False):
            tell(attachment.bond, port.domain, port.size, str(element))
    while queue:
        bond = queue.pop()
        for end in (graph.bonds[bond].tail[0], graph.bonds[bond].head[0]):
            if graph.elements[end].kind in JUNCTIONS:
                domain, size, teller = facts[bond]
                for attachment in at[end]:
                    tell(attachment.bond, domain, size, teller)
    return tuple(fact[0] for fact in facts), tuple(fact[1] or 1 for fact in facts)
