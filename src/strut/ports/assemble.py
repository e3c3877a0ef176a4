"""From a bond graph to a `System`: states are what storages integrate, and the ledger has an entry per
element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.ports.causality import Causality, assign
from strut.ports.dependent import DependentStates, dependent_states
from strut.ports.elements import SOURCES, Element, Kind
from strut.ports.graph import BondGraph
from strut.ports.solve import PortValues, solve
from strut.ports.wiring import Wiring, wire
from strut.system import (
    MIN_POSITIVE,
    Input,
    Ledger,
    Param,
    Quantity,
    State,
    System,
    join,
    known_symbol,
    own_value,
    sx,
    time,
)

START_TOLERANCE = 1e-9
"""[1] By which a storage in derivative causality may be said to begin beside where it follows from others."""


@dataclass(frozen=True, eq=False)
class SolvedGraph:
    """A graph whose every effort and flow is an expression of states, inputs, parameters and the time.

    states: the independent ones of the graph. flow: their rates. dependent: states that follow from them.
    """

    causality: Causality
    solution: PortValues
    states: tuple[State, ...]
    flow: tuple[ca.SX, ...]
    dependent: DependentStates

    @property
    def wiring(self) -> Wiring:
        """How the graph is joined."""
        return self.causality.wiring

    def energy(self, element: Element) -> ca.SX:
        """The energy of a storage [J]."""
        H = element.laws["energy"]
        for port in element.ports:
            follows = self.dependent.states.get((element.name, port.name))
            if follows is not None and port.state is not None:
                H = ca.substitute([H], [port.state.sym], [follows])[0]
        return H


@checked
def solve_graph(graph: BondGraph) -> SolvedGraph:
    """Wire a graph, assign causality, and solve it for all efforts and flows and for the rates of its
    states."""
    return solve_assigned(assign(wire(graph)))


def solve_assigned(causality: Causality) -> SolvedGraph:
    """Solve a graph that has causality."""
    wiring, solution = causality.wiring, solve(causality)
    states, rates = _integrals(causality, solution)
    machines = _machines(wiring)
    x = ca.vertcat(
        *[s.sym for s in states], *[e.system.vector("x") for e in machines if e.system is not None]
    )
    flow = ca.vertcat(*rates, *[_machine_flow(wiring, solution, e) for e in machines])
    dependent = dependent_states(causality, solution, x, flow)
    if dependent.rates:
        _check_impacts(machines, dependent)
        old, new = list(solution.rates.values()), list(dependent.rates.values())
        keys = list(solution.values)
        replaced = ca.substitute([*solution.values.values(), *rates], old, new)
        solution = PortValues(dict(zip(keys, replaced, strict=False)), solution.rates, solution.loops)
        rates = replaced[len(keys) :]
    return SolvedGraph(causality, solution, tuple(states), tuple(rates), dependent)


@checked
def system(graph: BondGraph, *, outputs: bool = True, description: str = "") -> System:
    """Make a system of a bond graph.

    Its states are NAME.p of inertias and NAME.q of compliances; one in derivative causality has an output of
    this name instead, because its state follows from others. Outputs are NAME.effort and NAME.flow of all
    that is no junction, NAME.PORT.effort where it has several ports; outputs=False leaves these away. The
    ledger has what each storage stores, each resistor dissipates and each source supplies. What machines
    bring, their events, outputs, scene and walk included, is kept."""
    return system_of(solve_graph(graph), outputs=outputs, description=description)


def system_of(solved: SolvedGraph, *, outputs: bool = True, description: str = "") -> System:
    """Make a system of a graph that is solved."""
    wiring = solved.wiring
    machines = _machines(wiring)
    _check_starts(solved, machines)
    ledger = _ledger(solved)
    observed = _outputs(solved) if outputs else {}
    followers = {
        port.state.name: (solved.dependent.states[name, port.name], port.state.unit)
        for name, element in wiring.elements.items()
        for port in element.ports
        if port.state is not None and (name, port.name) in solved.dependent.states
    }
    expressions = {name: e for name, (e, _) in {**observed, **followers}.items()}
    units = {name: unit for name, (_, unit) in {**observed, **followers}.items() if unit}
    entries = [*ledger.stored.values(), *ledger.supplied.values(), *ledger.dissipated.values()]
    starts = [sx(s.value) for s in solved.states]
    owners = _owners([*solved.flow, *expressions.values(), *entries, *starts], solved)
    divisors = {q.name for e in wiring.elements.values() for q in e.divisors}
    params = tuple(
        q.at_least(MIN_POSITIVE) if q.name in divisors else q for q in owners if isinstance(q, Param)
    )
    inputs = tuple(q for q in owners if isinstance(q, Input))
    flow = {s.name: rate for s, rate in zip(solved.states, solved.flow, strict=True)}
    if not machines:
        return System(
            wiring.name,
            x=solved.states,
            flow=flow,
            u=inputs,
            p=params,
            outputs=expressions,
            output_units=units,
            ledger=ledger,
            description=description,
        )
    return _join_machines(
        solved,
        flow,
        inputs=inputs,
        params=params,
        outputs=expressions,
        units=units,
        ledger=ledger,
        description=description,
    )


def _join_machines(
    solved: SolvedGraph,
    flow: dict[str, ca.SX],
    *,
    inputs: tuple[Input, ...],
    params: tuple[Param, ...],
    outputs: dict[str, ca.SX],
    units: dict[str, str],
    ledger: Ledger,
    description: str,
) -> System:
    """The machines and the graph as one system: the graph's efforts take the place of the machines'
    inputs."""
    machines = _machines(solved.wiring)
    parts = [e.system for e in machines if e.system is not None]
    own = {q.name for part in parts for q in (*part.u, *part.p)}
    still = System(
        solved.wiring.name,
        x=solved.states,
        flow={s.name: 0 for s in solved.states},
        u=tuple(q for q in inputs if q.name not in own),
        p=tuple(q for q in params if q.name not in own),
    )
    connect, powers = {}, dict[str, ca.SX]()
    removed: set[str] = set()
    for element in machines:
        assert element.system is not None
        for k, port in enumerate(element.ports):
            effort, answer = solved.solution.at(solved.wiring, element.name, k)
            connect[element.inputs[port.name]] = effort
            if port.name in element.unbooked:
                # its own account does not know this power, so it leaves the books here
                powers[f"{element.name}.{port.name}"] = -ca.dot(effort, answer)
        removed |= _port_powers(element)
    names = [entry for part in parts for group in _groups(part.ledger) for entry in group]
    whole = join(
        solved.wiring.name,
        *parts,
        still,
        connect=connect,
        couplings=flow,
        outputs=outputs,
        description=description or "; ".join(part.description for part in parts if part.description),
    )
    for entry in (*ledger.stored, *ledger.supplied, *ledger.dissipated):
        if entry in names:
            raise ModelError(
                f"element '{entry}' has the name of a ledger entry of a machine: name it otherwise"
            )
    supplied = {n: e for n, e in whole.ledger.supplied.items() if n not in removed}
    return whole.replace(
        ledger=Ledger(
            {**whole.ledger.stored, **ledger.stored},
            {**supplied, **ledger.supplied, **powers},
            {**whole.ledger.dissipated, **ledger.dissipated},
            electrical=(*(n for n in whole.ledger.electrical if n in supplied), *ledger.electrical),
        ),
        output_units={**whole.output_units, **units},
    )


def _machines(wiring: Wiring) -> list[Element]:
    return [e for e in wiring.elements.values() if e.system is not None]


def _groups(ledger: Ledger) -> tuple[Iterable[str], ...]:
    return ledger.stored, ledger.supplied, ledger.dissipated


def _port_powers(element: Element) -> set[str]:
    """The entries of a machine's ledger that are the power of its ports: the graph books what is behind
    them."""
    assert element.system is not None
    booked = [element.inputs[port.name] for port in element.ports if port.name not in element.unbooked]
    symbols = [q.sym for q in element.system.u if q.name in booked]
    others = [q.sym for q in element.system.u if q.name not in booked]
    removed = set()
    for name, power in element.system.ledger.supplied.items():
        if any(ca.depends_on(power, s) for s in symbols):
            removed.add(name)
            if any(ca.depends_on(power, s) for s in others):
                raise ModelError(
                    f"the power '{name}' of {element} is that of several inputs: make all of them ports, "
                    f"those that "
                    f"are not used with an effort source of zero"
                )
    return removed


def _integrals(causality: Causality, solution: PortValues) -> tuple[list[State], list[ca.SX]]:
    """The independent states, and what each integrates."""
    states, rates = [], []
    for name, element in causality.wiring.elements.items():
        for k, port in enumerate(element.ports):
            if port.state is not None and (name, port.name) not in solution.rates:
                bond = causality.wiring.at[name][k].bond
                states.append(port.state)
                rates.append(solution.values[bond, port.prefers])
    return states, rates


def _machine_flow(wiring: Wiring, solution: PortValues, element: Element) -> ca.SX:
    """The rates of a machine's states, with the graph's efforts for its inputs."""
    assert element.system is not None
    part = element.system
    old = {q.name: q.sym for q in part.u}
    efforts = [solution.at(wiring, element.name, k)[0] for k in range(len(element.ports))]
    flow = ca.vertcat(*[sx(part.flow[q.name]) for q in part.x], ca.SX(0, 1))
    symbols = [old[element.inputs[port.name]] for port in element.ports]
    return ca.substitute([flow], symbols, efforts)[0]


def _check_impacts(machines: Sequence[Element], dependent: DependentStates) -> None:
    """Raise ModelError where an event jumps what a dependent state follows from: its momentum would jump
    without an impulse on the machine."""
    for element in machines:
        assert element.system is not None
        for event in element.system.events:
            jumped = [q.sym for q in element.system.x if q.name in event.reset]
            for (name, _), state in dependent.states.items():
                if any(ca.depends_on(state, s) for s in jumped):
                    raise ModelError(
                        f"event '{event.name}' of {element} resets what '{name}' is tied to rigidly: an "
                        f"impact must "
                        f"stop it, too, which the event does not know. Put a compliance between them, or "
                        f"give the "
                        f"joint its inertia, joint(..., armature=...)"
                    )


def _check_starts(solved: SolvedGraph, machines: Sequence[Element]) -> None:
    """Raise ModelError where a storage in derivative causality is said to begin elsewhere than where it
    follows from the others. Zero, which nobody may have said, is not looked at."""
    quantities = [*solved.states, *(q for e in machines if e.system is not None for q in e.system.x)]
    old, new = [q.sym for q in quantities], [sx(q.value) for q in quantities]
    for (name, port_name), follows in solved.dependent.states.items():
        element = solved.wiring.elements[name]
        state = element.port(port_name).state
        assert state is not None
        stated = own_value(state.value)
        begins = own_value(ca.substitute([follows], [*old, time], [*new, ca.SX(0)])[0])
        if stated is None or begins is None or not np.any(stated):
            continue
        if not np.allclose(stated, begins, rtol=START_TOLERANCE, atol=START_TOLERANCE):
            raise ModelError(
                f"{element} of '{solved.wiring.name}' begins at {stated.ravel().tolist()}, but it has "
                f"derivative causality: what it is tied to makes that {begins.ravel().tolist()}. Leave its "
                f"initial value away, and give the others theirs"
            )


def _ledger(solved: SolvedGraph) -> Ledger:
    """What each storage stores, each resistor dissipates and each source supplies."""
    stored, supplied, dissipated = dict[str, ca.SX](), dict[str, ca.SX](), dict[str, ca.SX]()
    electrical = []
    for name, element in solved.wiring.elements.items():
        if "energy" in element.laws:
            stored[name] = solved.energy(element)
        elif element.kind is Kind.RESISTOR or element.kind in SOURCES:
            power = ca.dot(*solved.solution.at(solved.wiring, name, 0))
            (dissipated if element.kind is Kind.RESISTOR else supplied)[name] = power
            if element.kind in SOURCES and element.domain is not None and element.domain.name == "electrical":
                electrical.append(name)
    return Ledger(stored, supplied, dissipated, electrical=tuple(electrical))


def _outputs(solved: SolvedGraph) -> dict[str, tuple[ca.SX, str]]:
    """Effort and flow of every port, with units."""
    observed: dict[str, tuple[ca.SX, str]] = {}
    for name, element in solved.wiring.elements.items():
        for k, port in enumerate(element.ports):
            label = f"{name}.{port.name}" if len(element.ports) > 1 else name
            domain = solved.wiring.domains[solved.wiring.at[name][k].bond]
            effort, flow = solved.solution.at(solved.wiring, name, k)
            observed[f"{label}.effort"] = (effort, domain.effort_unit if domain else "")
            observed[f"{label}.flow"] = (flow, domain.flow_unit if domain else "")
    return observed


def _owners(expressions: Sequence[ca.SX], solved: SolvedGraph) -> list[Quantity]:
    """The quantities that expressions are made of, states and those of machines included; an error for a
    symbol that nobody owns."""
    owners: dict[int, Quantity] = {}
    own = {s.element_hash() for state in solved.states for s in ca.vertsplit(state.sym)}
    own |= {time.element_hash()}
    for element in solved.wiring.elements.values():
        if element.system is not None:
            for group in element.system.vectors():
                own |= {s.element_hash() for s in ca.vertsplit(group)} if group.numel() else set()
    for symbol in ca.symvar(ca.vertcat(*[ca.vec(e) for e in expressions])):
        if symbol.element_hash() in own:
            continue
        owner = known_symbol(symbol)
        if not isinstance(owner, (Param, Input)):
            raise ModelError(
                f"bond graph '{solved.wiring.name}' has '{symbol.name()}' in it, which is no parameter, no "
                f"input and "
                f"no signal of one of its elements: make a Param or an Input of it, or bond its element. One "
                f"that was "
                f"made inside of an expression is forgotten: give it a name first, u = strut.Input(...)"
            )
        owners[id(owner)] = owner
    return list(owners.values())


__all__ = ["SolvedGraph", "solve_assigned", "solve_graph", "system", "system_of"]
