"""Storages in derivative causality: their states follow from others, and their rates are solved for.

An inertia that is geared to another is told its flow f. So its momentum is p = M f(x), and the effort that it
takes is the rate of that, which depends on the rates of all states x, which depend on this effort again.
Since rates are linear in efforts, that is a linear equation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.errors import AlgebraicLoopError, ModelError
from strut.ports.causality import Causality
from strut.ports.elements import Given, Kind
from strut.ports.solve import PortValues
from strut.ports.sorting import components
from strut.system import Input, known_symbol, time


@dataclass(frozen=True, eq=False)
class DependentStates:
    """The states of storages in derivative causality as expressions of the others, and their rates."""

    states: Mapping[tuple[str, str], ca.SX]
    rates: Mapping[tuple[str, str], ca.SX]


def dependent_states(causality: Causality, solution: PortValues, x: ca.SX, flow: ca.SX) -> DependentStates:
    """Solve for the rates of dependent states. x, flow: independent states, machines' included, and their
    rates as expressions that may have the unknown rates in them."""
    if not solution.rates:
        return DependentStates({}, {})
    unknown = ca.vertcat(*solution.rates.values())
    states: dict[tuple[str, str], ca.SX] = {}
    for key in solution.rates:
        states[key] = _dependent_state(causality, solution, key, unknown)
    column = ca.vertcat(*states.values())
    rate = ca.jtimes(column, x, flow) + ca.jacobian(column, time)
    residual = unknown - rate
    A = ca.jacobian(residual, unknown)
    names = ", ".join(f"'{name}'" for name, _ in states)
    if ca.depends_on(A, unknown):
        raise AlgebraicLoopError(
            f"bond graph '{causality.wiring.name}': the rates of {names}, which follow from other states, "
            f"are not "
            f"linear in the efforts they cause: put a stiff compliance between them and the rest"
        )
    constant = ca.substitute([residual], [unknown], [ca.SX.zeros(unknown.numel())])[0]
    solved = solve_blocks(ca.sparsify(A), -constant)
    sizes = [rate.numel() for rate in solution.rates.values()]
    pieces = ca.vertsplit(solved, [0, *np.cumsum(sizes).tolist()])
    return DependentStates(states, dict(zip(solution.rates, pieces, strict=True)))


def solve_blocks(A: ca.SX, b: ca.SX) -> ca.SX:
    """x of A x = b, one block after the other: what does not depend on each other is not solved together."""
    sparsity = A.sparsity()
    rows, columns = sparsity.get_triplet()
    needs: dict[int, list[int]] = {k: [] for k in range(A.shape[0])}
    for row, column in zip(rows, columns, strict=True):
        needs[row].append(column)
    x: dict[int, ca.SX] = {}
    for block in components(needs):
        inside = set(block)
        solved_places = [j for i in block for j in needs[i] if j not in inside]
        right = b[block]
        if solved_places:
            chosen = sorted(set(solved_places))
            right = right - A[block, chosen] @ ca.vertcat(*[x[j] for j in chosen])
        values = ca.solve(ca.densify(A[block, block]), right)
        x.update({i: values[k] for k, i in enumerate(block)})
    return ca.vertcat(*[x[k] for k in range(A.shape[0])])


def _dependent_state(
    causality: Causality, solution: PortValues, key: tuple[str, str], unknown: ca.SX
) -> ca.SX:
    """The state of one storage as an expression of others: dH/dx solved for x, which asks for a quadratic
    H."""
    name, port_name = key
    wiring = causality.wiring
    element = wiring.elements[name]
    k = next(i for i, port in enumerate(element.ports) if port.name == port_name)
    state = element.ports[k].state
    assert state is not None
    if element.kind is Kind.STORAGE:
        raise ModelError(
            f"{element} of '{wiring.name}' has derivative causality at its port '{port_name}': a storage "
            f"with several "
            f"ports cannot have that; put a stiff compliance or a small inertia between it and what forces it"
        )
    incoming = causality.input_at(name, k)
    bond = wiring.at[name][k].bond
    coenergy = solution.values[bond, incoming]
    slope = element.energy_slope(element.ports[k])
    Q = ca.jacobian(slope, state.sym)
    where = f"{element} of '{wiring.name}' has derivative causality, its {incoming.value} is forced on it"
    if ca.depends_on(Q, state.sym):
        raise ModelError(
            f"{where}, and its energy is not quadratic, so that its state does not follow: put a "
            f"{'compliance' if incoming is Given.FLOW else 'small inertia'} between it and what forces it"
        )
    _check_coenergy(coenergy, unknown, where, incoming)
    offset = ca.substitute([slope], [state.sym], [ca.SX.zeros(state.size)])[0]
    return ca.densify(ca.solve(ca.densify(Q), coenergy - offset))


def _check_coenergy(coenergy: ca.SX, unknown: ca.SX, where: str, incoming: Given) -> None:
    """Raise ModelError where the rate of what is forced on a storage is not known: that of an input, or of
    the storage's own answer."""
    owners: Sequence[object] = [known_symbol(symbol) for symbol in ca.symvar(coenergy)]
    source = next((owner for owner in owners if isinstance(owner, Input)), None)
    if source is not None:
        raise ModelError(
            f"{where} by input '{source.name}', whose rate nobody knows: make the source a function of time, "
            f"or put "
            f"a {'compliance' if incoming is Given.FLOW else 'resistor'} between them"
        )
    if ca.depends_on(coenergy, unknown):
        raise ModelError(
            f"{where} by what depends on its own rate, or on that of another such storage: its rate would be "
            f"a second "
            f"derivative; "
            f"put a compliance or a resistor between them"
        )


__all__ = ["DependentStates", "dependent_states", "solve_blocks"]
