"""`BondGraph`: elements joined by bonds, built up one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.html import card
from strut.ports.domains import Domain
from strut.ports.elements import JUNCTIONS, SOURCES, Bond, Element, Kind
from strut.ports.machine import machine_element
from strut.ports.make_element import (
    Law,
    converter_element,
    multiport_element,
    resistor_element,
    source_element,
    storage_element,
)
from strut.system import Expression, System, check_name


@checked
@dataclass
class BondGraph:
    """A bond graph, built up by methods named after elements, and by `bond`.

    Every method returns the element; its `effort`, `flow` and `state` are signals, which expressions of other
    elements may use: a transformer whose ratio they are is a modulated one. Numbers may be `Param`s or
    expressions of them, `Input`s in whatever stores nothing, and the time. `ports.system` makes a system of
    it."""

    name: str
    elements: dict[str, Element] = field(default_factory=dict, repr=False)
    bonds: list[Bond] = field(default_factory=list, repr=False)
    exposed: dict[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        check_name(self.name, "bond graph")

    def __getitem__(self, name: str) -> Element:
        """The element of a name."""
        own_name = self.exposed.get(name, name)
        if own_name not in self.elements:
            raise UnknownNameError(
                f"bond graph '{self.name}' has no element '{name}': {did_you_mean(name, list(self.elements))}"
            )
        return self.elements[own_name]

    # ---- what stores ----

    @checked
    def inertia(
        self,
        name: str,
        inertia: Expression | None = None,
        *,
        domain: str | Domain,
        energy: Law | None = None,
        initial: Expression = 0.0,
        size: int | None = None,
    ) -> Element:
        """I: stores momentum p, the integral of effort, and answers with the flow dH/dp.

        inertia: mass [kg], moment of inertia, inductance, fluid inertia; a matrix for vectors. energy:
        instead, the energy [J] as a function of p. initial: p when a run begins. size: components, else the
        domain's."""
        values = {"inertia": inertia}
        return self._add(
            storage_element(
                Kind.INERTIA, name, domain, values=values, energy=energy, initial=initial, size=size
            )
        )

    @checked
    def compliance(
        self,
        name: str,
        *,
        domain: str | Domain,
        stiffness: Expression | None = None,
        capacity: Expression | None = None,
        energy: Law | None = None,
        initial: Expression = 0.0,
        size: int | None = None,
    ) -> Element:
        """C: stores displacement q, the integral of flow, and answers with the effort dH/dq.

        stiffness: effort per displacement. capacity: its inverse. energy: instead of both, the energy [J] as
        a function of q. initial: q when a run begins. size: components, else the domain's."""
        values = {"stiffness": stiffness, "capacity": capacity}
        return self._add(
            storage_element(
                Kind.COMPLIANCE, name, domain, values=values, energy=energy, initial=initial, size=size
            )
        )

    @checked
    def storage(
        self,
        name: str,
        ports: Mapping[str, tuple[str, str | Domain]],
        energy: Callable[..., Expression],
        *,
        initial: Mapping[str, Expression] | None = None,
    ) -> Element:
        """A storage with several ports and one energy.

        ports: by name, 'I' or 'C' and the domain. energy: H [J], a function of their momenta and
        displacements, in order. initial: by port, where a run begins. A spring that is stretched by another
        port is such one."""
        return self._add(multiport_element(name, ports, energy, initial or {}))

    # ---- what dissipates ----

    @checked
    def resistor(
        self,
        name: str,
        resistance: Expression | None = None,
        *,
        domain: str | Domain,
        conductance: Expression | None = None,
        effort: Law | None = None,
        flow: Law | None = None,
        size: int | None = None,
    ) -> Element:
        """R: dissipates effort times flow.

        resistance: effort per flow. conductance: its inverse. effort, flow: instead, the effort as a function
        of the flow, or the other way round, for what is not linear. Signals, inputs and the time may stand in
        all."""
        values = {"resistance": resistance, "conductance": conductance}
        laws = {"effort": effort, "flow": flow}
        return self._add(resistor_element(Kind.RESISTOR, name, domain, values=values, laws=laws, size=size))

    @checked
    def heater(
        self,
        name: str,
        resistance: Expression | None = None,
        *,
        domain: str | Domain,
        conductance: Expression | None = None,
        effort: Law | None = None,
        flow: Law | None = None,
        size: int | None = None,
    ) -> Element:
        """RS: a resistor whose loss becomes heat at a second, thermal port, which power leaves by: the
        entropy flow there is the loss divided by the temperature. Nothing is lost then."""
        values = {"resistance": resistance, "conductance": conductance}
        laws = {"effort": effort, "flow": flow}
        return self._add(resistor_element(Kind.HEATER, name, domain, values=values, laws=laws, size=size))

    # ---- what supplies ----

    @checked
    def effort_source(
        self, name: str, effort: Expression, *, domain: str | Domain, size: int | None = None
    ) -> Element:
        """Se: gives an effort, whatever flows: a voltage, a weight. An `Input` makes it one of the system."""
        return self._add(source_element(Kind.EFFORT_SOURCE, name, effort, domain, size=size))

    @checked
    def flow_source(
        self, name: str, flow: Expression, *, domain: str | Domain, size: int | None = None
    ) -> Element:
        """Sf: gives a flow, whatever the effort: a pump, a moving anchor. An `Input` makes it one of the
        system."""
        return self._add(source_element(Kind.FLOW_SOURCE, name, flow, domain, size=size))

    # ---- what converts, and what joins ----

    @checked
    def transformer(
        self,
        name: str,
        ratio: Expression,
        *,
        domains: tuple[str | Domain | None, str | Domain | None] = (None, None),
    ) -> Element:
        """TF: flow out = ratio times flow in, effort in = ratio' times effort out: a gear, a lever, a piston.

        ratio: a number, or a matrix between vectors of two sizes; one of signals makes it modulated (MTF).
        domains: of the port that power enters by, and of the other; None where the neighbours tell.
        """
        return self._add(converter_element(Kind.TRANSFORMER, name, ratio, domains))

    @checked
    def gyrator(
        self,
        name: str,
        ratio: Expression,
        *,
        domains: tuple[str | Domain | None, str | Domain | None] = (None, None),
    ) -> Element:
        """GY: effort out = ratio times flow in, effort in = ratio' times flow out: a motor, whose ratio is
        its torque constant. ratio, domains: as of a transformer."""
        return self._add(converter_element(Kind.GYRATOR, name, ratio, domains))

    @checked
    def zero(self, name: str) -> Element:
        """A 0-junction: one effort, flows that add up to zero."""
        return self._add(Element(name, Kind.ZERO, ()))

    @checked
    def one(self, name: str) -> Element:
        """A 1-junction: one flow, efforts that add up to zero."""
        return self._add(Element(name, Kind.ONE, ()))

    @checked
    def machine(
        self, name: str, system: System, ports: Mapping[str, str | tuple[str, Expression]]
    ) -> Element:
        """A system as an element: a mechanism, a network, anything with inputs.

        ports: by name, the input of the system that is its effort; the flow is what the input's power grows
        by, as the system's own account of energy says. An input that supplies no power there needs it said:
        (INPUT, FLOW), where the flow is an expression or the name of a state or output. Power is counted into
        the machine."""
        return self._add(machine_element(name, system, ports))

    # ---- how they are joined ----

    @checked
    def bond(self, tail: str | Element, *heads: str | Element) -> None:
        """Bonds along which power is counted from an element to each of others. An end is an element or its
        name, with a dot and the name of the port where there are several."""
        if not heads:
            raise ModelError(f"a bond from '{tail}' leads nowhere: write bond('{tail}', 'OTHER')")
        start = self._end(tail, leaving=True)
        for head in heads:
            end = self._end(head, leaving=False)
            if start[0] == end[0]:
                raise ModelError(f"a bond leads from '{start[0]}' to itself: an element is joined to others")
            self.bonds.append(Bond(start, end))

    @checked
    def expose(self, port: str, element: str) -> None:
        """Name an element, mostly a junction, by which this graph is joined where it is part of another."""
        check_name(port, "port")
        if port in self.elements or port in self.exposed:
            raise ModelError(f"bond graph '{self.name}' has a '{port}' already: name the port otherwise")
        self.exposed[port] = self[element].name

    @checked
    def include(self, name: str, graph: BondGraph) -> None:
        """Put a copy of another graph into this one: its elements, and the ports that it exposes, are called
        NAME.ELEMENT then. Copies share parameters and inputs, and have states of their own."""
        check_name(name, "part")
        if graph is self:
            raise ModelError(f"bond graph '{self.name}' cannot be part of itself")
        copies, pairs = [], list[tuple[ca.SX, ca.SX]]()
        for element in graph.elements.values():
            if element.system is not None:
                raise ModelError(
                    f"{element} is in a part, and a machine stands in one place: add it to the whole"
                )
            copy, own_pairs = element.with_prefix(name)
            copies.append(copy)
            pairs += own_pairs
        old, new = [a for a, _ in pairs], [b for _, b in pairs]
        for copy in copies:
            self._add(copy.with_laws(lambda law: ca.substitute([law], old, new)[0] if old else law))
        for bond in graph.bonds:
            tail, head = ((f"{name}.{element}", port) for element, port in (bond.tail, bond.head))
            self.bonds.append(Bond(tail, head))
        self.exposed |= {f"{name}.{port}": f"{name}.{element}" for port, element in graph.exposed.items()}

    def _end(self, end: str | Element, leaving: bool) -> tuple[str, str]:
        """Element and port of one end of a bond."""
        text = end.name if isinstance(end, Element) else end
        name, port = self.exposed.get(text, text), ""
        if name not in self.elements and "." in name:
            name, _, port = name.rpartition(".")
            name = self.exposed.get(name, name)
        if name not in self.elements:
            names = [*self.elements, *self.exposed]
            raise UnknownNameError(
                f"a bond of '{self.name}' ends at '{text}', which is no element: {did_you_mean(text, names)}"
            )
        element = self.elements[name]
        if element.kind in JUNCTIONS:
            if port:
                raise ModelError(
                    f"a bond ends at '{text}', but a junction has no named ports: write '{name}'"
                )
            return name, ""
        return name, _port_at(element, port, leaving)

    def _add(self, element: Element) -> Element:
        name = element.name
        check_name(name, "element")
        if name in self.elements or name in self.exposed:
            raise ModelError(f"bond graph '{self.name}' has an element '{name}' already: name it otherwise")
        self.elements[element.name] = element.with_owners()
        return self.elements[element.name]

    def _repr_html_(self) -> str:
        """In a notebook."""
        rows = [(e.name, e.kind.value, e.domain.name if e.domain else "") for e in self.elements.values()]
        tables: dict[str, Any] = {
            "elements": (("name", "kind", "domain"), rows),
            "bonds": (("bond",), [(str(bond),) for bond in self.bonds]),
        }
        return card(f"Bond graph {self.name}", "", tables)


def _port_at(element: Element, port: str, leaving: bool) -> str:
    """The name of the port by which a bond reaches an element, the half arrow the right way round."""
    if port:
        chosen = element.port(port)
        if chosen.inward == leaving:
            raise ModelError(
                f"a bond {_wrong_way(leaving)} port '{port}' of {element}: {_correction(element, leaving)}"
            )
        return chosen.name
    fitting = [p for p in element.ports if p.inward != leaving]
    if not fitting:
        raise ModelError(f"a bond {_wrong_way(leaving)} {element}: {_correction(element, leaving)}")
    if len(fitting) > 1:
        names = ", ".join(f"{element.name}.{p.name}" for p in fitting)
        raise ModelError(f"a bond ends at {element}, which has several ports: say which, {names}")
    return fitting[0].name


def _wrong_way(leaving: bool) -> str:
    return "leads away from" if leaving else "leads to"


def _correction(element: Element, leaving: bool) -> str:
    reason = "power is counted into it" if leaving else "power is counted out of it"
    if element.kind in SOURCES:
        return f"{reason}, write bond('{element.name}', 'OTHER')"
    return f"{reason}, turn the bond round"
