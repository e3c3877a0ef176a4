"""Elements made and checked, one function for each family; `BondGraph` adds what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import casadi as ca

from strut.errors import ModelError, did_you_mean
from strut.ports.domains import Domain, find_domain
from strut.ports.elements import WORDS, Element, ElementPort, Given, Kind, make_port
from strut.ports.laws import (
    DIVIDED_BY,
    check_finite,
    check_unmodulated,
    domain_size,
    field_matrix,
    law_of,
    ratio_matrix,
    storage_energy,
    unit_of,
)
from strut.system import Expression, Param, State, sx

Law = Callable[[ca.SX], Expression]
"""An effort as an expression of a flow, a flow of an effort, or an energy of a state."""


def storage_element(
    kind: Kind,
    name: str,
    domain: str | Domain,
    *,
    values: Mapping[str, Expression | None],
    energy: Law | None,
    initial: Expression,
    size: int | None,
) -> Element:
    """An inertia or a compliance. values: by role, numbers of a linear one; one of them or the energy is
    given."""
    what = f"{WORDS[kind]} '{name}'"
    of = find_domain(domain, what)
    if kind is Kind.INERTIA and not of.has_momentum:
        raise ModelError(
            f"{what} is {of.name}: nothing stores the integral of a {of.effort}; use a compliance"
        )
    state = _storage_state(name, kind, of, initial, size=domain_size(of, size, what))
    chosen = {role: value for role, value in values.items() if value is not None}
    if len(chosen) + (energy is not None) != 1:
        raise ModelError(
            f"{what} is given {len(chosen) + (energy is not None)} of {', '.join(values)} and energy: give "
            f"one"
        )
    laws, x = dict[str, ca.SX](), state.sym
    if energy is not None:
        laws["energy"] = storage_energy(energy, [x], what)
    else:
        ((role, value),) = chosen.items()
        matrix = field_matrix(value, state.size, of, role, what)
        laws["slope"] = matrix @ x if role == "stiffness" else ca.solve(matrix, x)
        laws["energy"] = ca.dot(x, laws["slope"]) / 2
        check_unmodulated(laws["energy"], [x], what)
    divisors = tuple(q for role, q in chosen.items() if role in DIVIDED_BY and isinstance(q, Param))
    return Element(name, kind, (_storage_port(name, "", kind, of, state),), laws, of, divisors=divisors)


def multiport_element(
    name: str,
    ports: Mapping[str, tuple[str, str | Domain]],
    energy: Callable[..., Expression],
    initial: Mapping[str, Expression],
) -> Element:
    """A storage of several ports with one energy."""
    unknown = [key for key in initial if key not in ports]
    if unknown:
        raise ModelError(
            f"storage '{name}' has no port '{unknown[0]}': {did_you_mean(unknown[0], list(ports))}"
        )
    if not ports:
        raise ModelError(f"storage '{name}' has no ports: give at least one, {{'NAME': ('C', 'rotation')}}")
    storage_ports, states = [], []
    for key, (letter, domain) in ports.items():
        if letter not in ("I", "C"):
            raise ModelError(f"port '{key}' of storage '{name}' is '{letter}': write 'I' or 'C'")
        of = find_domain(domain, f"port '{key}' of storage '{name}'")
        state = _storage_state(f"{name}.{key}", Kind(letter), of, initial.get(key, 0.0), size=of.size)
        states.append(state.sym)
        storage_ports.append(_storage_port(name, key, Kind(letter), of, state))
    H = storage_energy(energy, states, f"storage '{name}'")
    return Element(name, Kind.STORAGE, tuple(storage_ports), {"energy": H})


def resistor_element(
    kind: Kind,
    name: str,
    domain: str | Domain,
    *,
    values: Mapping[str, Expression | None],
    laws: Mapping[str, Law | None],
    size: int | None,
) -> Element:
    """A resistor, or a heater, which has a thermal port besides."""
    what = f"{WORDS[kind]} '{name}'"
    of = find_domain(domain, what)
    label = "in" if kind is Kind.HEATER else ""
    port = make_port(name, label, of, size=domain_size(of, size, what), inward=True)
    port, own_laws = law_of(port, of, what, values=values, laws=laws)
    if kind is Kind.RESISTOR:
        return Element(name, kind, (port,), own_laws, of)
    heat = make_port(name, "out", find_domain("thermal", what), size=1, inward=False, needs=Given.EFFORT)
    return Element(name, kind, (port, heat), own_laws, of)


def source_element(
    kind: Kind, name: str, value: Expression, domain: str | Domain, *, size: int | None
) -> Element:
    """An effort source or a flow source."""
    what = f"{WORDS[kind]} '{name}'"
    of = find_domain(domain, what)
    role, needs = ("effort", Given.FLOW) if kind is Kind.EFFORT_SOURCE else ("flow", Given.EFFORT)
    column = sx(value)
    check_finite(column, f"the {role} of {what}")
    n = domain_size(of, size, what) if column.numel() == 1 else column.numel()
    if size not in (None, n):
        raise ModelError(f"{what} gives {n} numbers: {size} are needed")
    of.check_unit(unit_of(value), f"the {role} of {what}", role)
    port = make_port(name, "", of, size=n, inward=False, needs=needs)
    column = column if column.numel() == n else ca.repmat(column, n, 1)
    return Element(name, kind, (port,), {role: column}, of)


def converter_element(
    kind: Kind,
    name: str,
    ratio: Expression,
    domains: tuple[str | Domain | None, str | Domain | None],
) -> Element:
    """A transformer or a gyrator. A matrix that is not square has no inverse: then its causality is fixed."""
    what = f"{WORDS[kind]} '{name}'"
    if not isinstance(domains, (tuple, list)) or len(domains) != 2:
        raise ModelError(
            f"domains of {what} are {domains!r}: two are needed, that power enters by and the other"
        )
    first, second = (None if d is None else find_domain(d, what) for d in domains)
    matrix = ratio_matrix(ratio, first, second, kind, what)
    rows, columns = matrix.shape
    needs = (Given.EITHER, Given.EITHER)
    if rows != columns:
        needs = (Given.FLOW, Given.EFFORT if kind is Kind.TRANSFORMER else Given.FLOW)
    into = make_port(name, "in", first, size=columns, inward=True, needs=needs[0])
    out = make_port(name, "out", second, size=rows, inward=False, needs=needs[1])
    return Element(name, kind, (into, out), {"ratio": matrix})


def _storage_state(label: str, kind: Kind, domain: Domain, initial: Expression, *, size: int) -> State:
    """The state of a storage: LABEL.p, a momentum, or LABEL.q, a displacement."""
    letter, unit = ("p", domain.momentum_unit) if kind is Kind.INERTIA else ("q", domain.displacement_unit)
    begin = sx(initial)
    check_finite(begin, f"where {WORDS[kind]} '{label}' begins")
    if begin.numel() not in (1, size):
        raise ModelError(f"{WORDS[kind]} '{label}' begins with {begin.numel()} numbers: {size} are needed")
    value = begin if begin.numel() == size else ca.repmat(begin, size, 1)
    number = float(value) if size == 1 and value.is_constant() else value
    return State(f"{label}.{letter}", number, unit)


def _storage_port(element: str, name: str, kind: Kind, domain: Domain, state: State) -> ElementPort:
    prefers = Given.EFFORT if kind is Kind.INERTIA else Given.FLOW
    return make_port(element, name, domain, size=state.size, inward=True, prefers=prefers, state=state)
