"""What each element answers at its ports, as a function of what it is given there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import ValueRangeError
from strut.ports.causality import Causality
from strut.ports.elements import Element, Given, Kind
from strut.ports.wiring import Wiring

Values = Mapping[tuple[int, Given], ca.SX]
"""Efforts and flows of bonds, as far as they are known."""


@dataclass(frozen=True, eq=False)
class Answer:
    """How one effort or flow is computed: by which element, and from which others."""

    element: str
    needs: tuple[tuple[int, Given], ...]
    compute: Callable[[Values], ca.SX]


def answers(
    causality: Causality,
    rates: Mapping[tuple[str, str], ca.SX],
    energy_slopes: Mapping[tuple[str, str], ca.SX],
    source_values: Mapping[str, ca.SX],
) -> dict[tuple[int, Given], Answer]:
    """For every effort and flow of a graph, how it is computed. rates: of storages whose rate is their
    answer. energy_slopes, source_values: what stands for dH/dx and for what sources give, else what they
    are."""
    scope = _Scope(causality, rates, energy_slopes, source_values)
    table: dict[tuple[int, Given], Answer] = {}
    for name, element in causality.wiring.elements.items():
        for k, attachment in enumerate(causality.wiring.at[name]):
            variable = (attachment.bond, causality.input_at(name, k).other)
            table[variable] = scope.junction(name, k) if not element.ports else scope.port(name, k)
    return table


class _Scope:
    """All that an answer may be made of."""

    def __init__(
        self,
        causality: Causality,
        rates: Mapping[tuple[str, str], ca.SX],
        energy_slopes: Mapping[tuple[str, str], ca.SX],
        source_values: Mapping[str, ca.SX],
    ) -> None:
        self.causality, self.wiring = causality, causality.wiring
        self.rates, self.energy_slopes, self.source_values = rates, energy_slopes, source_values
        self.signals = _signals(self.wiring)

    def variable(self, name: str, k: int, which: Given) -> tuple[int, Given]:
        """The effort or flow at an attachment."""
        return self.wiring.at[name][k].bond, which

    def expression(self, name: str, law: ca.SX) -> Answer:
        """An answer that is an expression: signals in it are efforts and flows that it needs."""
        used: dict[tuple[int, Given], list[tuple[ca.SX, int]]] = {}
        for symbol in ca.symvar(law):
            place = self.signals.get(symbol.element_hash())
            if place is not None:
                used.setdefault(place[0], []).append((symbol, place[1]))
        if not used:
            return Answer(name, (), lambda _: law)

        def compute(values: Values) -> ca.SX:
            old = [symbol for pairs in used.values() for symbol, _ in pairs]
            new = [values[variable][i] for variable, pairs in used.items() for _, i in pairs]
            return ca.substitute([law], [ca.vertcat(*old)], [ca.vertcat(*new)])[0]

        return Answer(name, tuple(used), compute)

    def port(self, name: str, k: int) -> Answer:
        """What an element that is no junction answers at its k-th port."""
        element, port = self.wiring.elements[name], self.wiring.port(name, k)
        incoming = self.causality.input_at(name, k)
        kind = element.kind
        if port.state is not None:
            if (name, port.name) in self.rates:
                rate = self.rates[name, port.name]
                return Answer(name, (), lambda _: rate)
            slope = self.energy_slopes.get((name, port.name))
            own = element.energy_slope(port) if slope is None else slope
            return Answer(name, (), lambda _: own)
        if kind in (Kind.EFFORT_SOURCE, Kind.FLOW_SOURCE):
            return self.expression(name, self.source_values.get(name, next(iter(element.laws.values()))))
        if kind is Kind.MACHINE:
            return self.expression(name, element.flows[port.name])
        if kind in (Kind.TRANSFORMER, Kind.GYRATOR):
            return self.converter(name, k, incoming)
        if kind is Kind.HEATER and k == 1:
            return self.heat(name)
        return self.resistor(name, incoming)

    def resistor(self, name: str, incoming: Given) -> Answer:
        """The answer of a resistor: its law, or a linear one either way."""
        element = self.wiring.elements[name]
        port = element.ports[0]
        if "effort" in element.laws or "flow" in element.laws:
            return self.expression(name, next(iter(element.laws.values())))
        argument = port.effort if incoming is Given.EFFORT else port.flow
        multiplies = ("conductance" in element.laws) == (incoming is Given.EFFORT)
        matrix = next(iter(element.laws.values()))
        return self.expression(name, matrix @ argument if multiplies else _solve(matrix, argument, element))

    def heat(self, name: str) -> Answer:
        """The entropy flow of a heater: its loss divided by the temperature."""
        port, heat = self.wiring.elements[name].ports
        return self.expression(name, ca.dot(port.effort, port.flow) / heat.effort)

    def converter(self, name: str, k: int, incoming: Given) -> Answer:
        """TF: f2 = X f1, e1 = X' e2. GY: e2 = X f1, e1 = X' f2. What is given the other way is solved for."""
        element = self.wiring.elements[name]
        X = element.laws["ratio"]
        other = element.ports[1 - k]
        matrix = X if k == 1 else X.T
        if element.kind is Kind.TRANSFORMER:
            # the answer is of the kind that the other port is given
            argument = other.flow if incoming is Given.EFFORT else other.effort
            direct = (k == 1) == (incoming is Given.EFFORT)
            matrix = X if incoming is Given.EFFORT else X.T
        else:
            argument = other.flow if incoming is Given.FLOW else other.effort
            direct = incoming is Given.FLOW
            matrix = matrix if direct else matrix.T
        return self.expression(name, matrix @ argument if direct else _solve(matrix, argument, element))

    def junction(self, name: str, k: int) -> Answer:
        """What a junction answers on one of its bonds: the common effort or flow, or, on its strong bond,
        what makes the others add up to zero."""
        strong = Given.EFFORT if self.wiring.elements[name].kind is Kind.ZERO else Given.FLOW
        attachments = self.wiring.at[name]
        source = next(i for i in range(len(attachments)) if self.causality.input_at(name, i) is strong)
        if k != source:
            shared = self.variable(name, source, strong)
            return Answer(name, (shared,), lambda values: values[shared])
        terms = [
            (self.variable(name, i, strong.other), -1.0 if a.inward == attachments[k].inward else 1.0)
            for i, a in enumerate(attachments)
            if i != k
        ]

        def compute(values: Values) -> ca.SX:
            (first, sign), *rest = terms
            total = values[first] if sign > 0 else -values[first]
            for variable, sign in rest:
                total = total + values[variable] if sign > 0 else total - values[variable]
            return total

        return Answer(name, tuple(variable for variable, _ in terms), compute)


def _solve(matrix: ca.SX, argument: ca.SX, element: Element) -> ca.SX:
    """matrix^-1 argument. Raises ValueRangeError where the matrix of an element is a number without an
    inverse."""
    if matrix.is_constant():
        numbers = np.array(ca.DM(matrix))
        if np.linalg.matrix_rank(numbers) < len(numbers):
            law = next(iter(element.laws))
            value = "zero" if numbers.size == 1 else "a matrix without an inverse"
            raise ValueRangeError(
                f"the {law} of {element} is {value}, and what the graph gives the element must be divided "
                f"by it: leave the element out, or give it the other variable, by a storage beside it"
            )
    return ca.solve(matrix, argument)


def _signals(wiring: Wiring) -> dict[int, tuple[tuple[int, Given], int]]:
    """By the hash of a symbol of a port, which effort or flow it stands for, and which component."""
    places: dict[int, tuple[tuple[int, Given], int]] = {}
    for name, element in wiring.elements.items():
        for k, port in enumerate(element.ports):
            bond = wiring.at[name][k].bond
            for symbol, which in ((port.effort, Given.EFFORT), (port.flow, Given.FLOW)):
                for i in range(port.size):
                    places[symbol[i].element_hash()] = ((bond, which), i)
    return places
