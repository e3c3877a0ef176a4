"""A `System` as an element of a bond graph: mechanisms, networks and walkers have ports where they have
inputs."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.ports.dimensions import dimensions
from strut.ports.domains import DOMAINS, Domain
from strut.ports.elements import Element, ElementPort, Given, Kind, make_port
from strut.system import Expression, Input, System, sx

EFFORT_DOMAINS = ("translation", "rotation", "electrical", "hydraulic")
"""Domains that the unit of an input tells; a torque and an energy are both in N m, and it is a torque
here."""


def machine_element(name: str, system: System, ports: Mapping[str, str | tuple[str, Expression]]) -> Element:
    """Make an element of a system. ports: by name, an input, or an input and the flow that answers it."""
    if not ports:
        raise ModelError(
            f"machine '{name}' has no ports: name inputs of '{system.name}', ports={{'NAME': 'INPUT'}}"
        )
    inputs = {q.name: q for q in system.u}
    element_ports: list[ElementPort] = []
    flows: dict[str, ca.SX] = {}
    input_names: dict[str, str] = {}
    unbooked: list[str] = []
    for port, entry in ports.items():
        input_name, flow = entry if isinstance(entry, tuple) else (entry, None)
        where = f"port '{port}' of machine '{name}'"
        if input_name not in inputs:
            raise UnknownNameError(
                f"{where} is input '{input_name}', which '{system.name}' has not: "
                f"{did_you_mean(input_name, list(inputs))}"
            )
        if input_name in input_names.values():
            raise ModelError(f"{where} is input '{input_name}', which is another port already")
        source = inputs[input_name]
        if flow is None:
            flows[port] = _flow_of_input(system, source, where)
        else:
            flows[port] = sx(system[flow] if isinstance(flow, str) else flow)
            unbooked.append(port)
        if flows[port].numel() != source.size:
            raise ModelError(
                f"{where} has {source.size} efforts and {flows[port].numel()} flows: as many are needed"
            )
        input_names[port] = input_name
        domain = _domain_of_input(source)
        element_ports.append(make_port(name, port, domain, size=source.size, inward=True, needs=Given.EFFORT))
    # a flow that depends on efforts at once, that of a damper, is one more answer in the graph's loops
    old = [inputs[input_names[port.name]].sym for port in element_ports]
    new = [port.effort for port in element_ports]
    flows = {port: ca.substitute([flow], old, new)[0] for port, flow in flows.items()}
    return Element(
        name,
        Kind.MACHINE,
        tuple(element_ports),
        system=system,
        inputs=input_names,
        flows=flows,
        unbooked=tuple(unbooked),
    )


def _flow_of_input(system: System, source: Input, where: str) -> ca.SX:
    """The flow by which the power of an input grows: power is effort times flow."""
    powers = [power for power in system.ledger.supplied.values() if ca.depends_on(power, source.sym)]
    if not powers:
        raise ModelError(
            f"{where}: the ledger of '{system.name}' books no power of input '{source.name}', so the flow "
            f"that "
            f"answers it is unknown: say it, ('{source.name}', FLOW), as an expression or by the name of a "
            f"state "
            f"or output"
        )
    flow = ca.simplify(ca.jacobian(sum(powers[1:], start=powers[0]), source.sym)).T
    if ca.depends_on(flow, source.sym):
        raise ModelError(
            f"{where}: the power of input '{source.name}' is not linear in it, so it is no effort times a "
            f"flow"
        )
    return ca.densify(flow)


def _domain_of_input(source: Input) -> Domain | None:
    """The domain whose effort has the unit of an input; None where it has none, or that of no effort."""
    if not source.unit:
        return None
    try:
        own = dimensions(source.unit)
    except ModelError:  # a unit that is none of ours tells nothing
        return None
    fitting = [DOMAINS[name] for name in EFFORT_DOMAINS if dimensions(DOMAINS[name].effort_unit) == own]
    return fitting[0] if fitting else None
