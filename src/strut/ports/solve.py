"""Efforts and flows of a graph as expressions: each computed by the element whose answer it is, loops solved.

Causality says who answers what. Variables are computed in the order of their needs; where they need each
other (an algebraic loop), a few are cut (tearing), the others written in terms of these, and what the cut
ones must fulfil is solved, if it is linear in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut.errors import AlgebraicLoopError
from strut.ports.answers import Answer, answers
from strut.ports.causality import Causality
from strut.ports.elements import Given, Kind
from strut.ports.sorting import components, is_loop, shortest_loop, tear
from strut.ports.wiring import Wiring

Variable = tuple[int, Given]
"""The effort or the flow of a bond."""
MIN_SINGULAR_RATIO = 1e-12
"""[1] A loop whose matrix has a smaller ratio of singular values has no solution, or many."""
LOOP_CHECK_SEED = 0
"""The seed of the random numbers at which a loop's matrix is looked at."""


@dataclass(frozen=True)
class AlgebraicLoop:
    """An algebraic loop that was solved: the elements on its shortest round, and how many variables were
    cut."""

    elements: tuple[str, ...]
    drawing: str
    cut: int


@dataclass(frozen=True, eq=False)
class PortValues:
    """Every effort and flow as an expression of states, inputs, parameters, the time, and of `rates`: by
    storage in derivative causality, the rate of its state, which is not known yet."""

    values: Mapping[Variable, ca.SX]
    rates: Mapping[tuple[str, str], ca.SX]
    loops: tuple[AlgebraicLoop, ...] = field(default=())

    def at(self, wiring: Wiring, element: str, k: int) -> tuple[ca.SX, ca.SX]:
        """Effort and flow of the k-th attachment of an element."""
        bond = wiring.at[element][k].bond
        return self.values[bond, Given.EFFORT], self.values[bond, Given.FLOW]


def solve(
    causality: Causality,
    energy_slopes: Mapping[tuple[str, str], ca.SX] | None = None,
    source_values: Mapping[str, ca.SX] | None = None,
) -> PortValues:
    """Compute all efforts and flows.

    energy_slopes: instead of dH/dx of storages, by element and port, symbols; source_values: instead of what
    sources give, symbols. The matrices of the port-Hamiltonian form come from these.
    """
    rates = {
        (name, port.name): ca.SX.sym(f"{name}_rate", port.size)
        for name, element in causality.wiring.elements.items()
        for port in element.ports
        if (name, port.name) in causality.dependent
    }
    table = answers(causality, rates, energy_slopes or {}, source_values or {})
    needs = {variable: answer.needs for variable, answer in table.items()}
    values: dict[Variable, ca.SX] = {}
    loops: list[AlgebraicLoop] = []
    for group in components(needs):
        if is_loop(group, needs):
            loops.append(_solve_loop(causality.wiring, group, table, values))
        else:
            values[group[0]] = table[group[0]].compute(values)
    return PortValues(values, rates, tuple(loops))


def _rank(wiring: Wiring, answer: Answer) -> int:
    """What is best cut: the answers of resistors, in which loops are short and read well."""
    return int(wiring.elements[answer.element].kind in (Kind.RESISTOR, Kind.HEATER))


def _solve_loop(
    wiring: Wiring, group: Sequence[Variable], table: Mapping[Variable, Answer], values: dict[Variable, ca.SX]
) -> AlgebraicLoop:
    """Solve one loop, and add its variables to `values`."""
    inside = set(group)
    local = {v: [n for n in table[v].needs if n in inside] for v in group}
    cut = tear(group, local, {v: _rank(wiring, table[v]) for v in group})
    symbols = [ca.SX.sym("cut", wiring.sizes[bond]) for bond, _ in cut]
    values.update(zip(cut, symbols, strict=True))
    rest = {v: [n for n in wishes if n not in set(cut)] for v, wishes in local.items() if v not in set(cut)}
    order = [v for (v,) in components(rest)]
    for variable in order:
        values[variable] = table[variable].compute(values)
    t = ca.vertcat(*symbols)
    residual = t - ca.vertcat(*[table[v].compute(values) for v in cut])
    A = ca.jacobian(residual, t)
    drawing, elements = draw_loop(wiring, shortest_loop(cut[0], local), table)
    if ca.depends_on(A, t):
        raise AlgebraicLoopError(
            f"bond graph '{wiring.name}' has an algebraic loop that is not linear: {drawing}. Put a small "
            f"inertia "
            f"or compliance into it, or turn the law of a resistor in it round"
        )
    _check_regular(A, wiring, drawing)
    start = ca.substitute([residual], [t], [ca.SX.zeros(t.numel())])[0]
    solved = ca.solve(ca.densify(A), -start)
    updated = ca.substitute([values[v] for v in order], [t], [solved])
    values.update(zip(order, updated, strict=True))
    pieces = ca.vertsplit(solved, [0, *np.cumsum([s.numel() for s in symbols]).tolist()])
    values.update(zip(cut, pieces, strict=True))
    return AlgebraicLoop(elements, drawing, len(cut))


def _check_regular(A: ca.SX, wiring: Wiring, drawing: str) -> None:
    """Raise AlgebraicLoopError where the matrix of a loop has no inverse, at random values of all it depends
    on."""
    symbols = ca.symvar(A)
    generator = np.random.default_rng(LOOP_CHECK_SEED)
    numbers = generator.uniform(0.5, 1.5, len(symbols))
    matrix = np.array(ca.Function("loop", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.densify(A)])(numbers))
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if not np.all(np.isfinite(sizes)) or sizes[-1] <= MIN_SINGULAR_RATIO * sizes[0]:
        raise AlgebraicLoopError(
            f"bond graph '{wiring.name}' has an algebraic loop without a unique solution: {drawing}. What is "
            f"in it "
            f"says the same twice, or contradicts itself: take a junction or a source out, or add a resistor"
        )


def draw_loop(
    wiring: Wiring, round_trip: Sequence[Variable], table: Mapping[Variable, Answer]
) -> tuple[str, tuple[str, ...]]:
    """A loop as text, and its elements: which element computes what, from what the next one computes."""
    names = [table[v].element for v in round_trip]
    words = [f"{v[1].value} of {table[v].element}" for v in round_trip]
    return " <- ".join([*words, words[0]]), tuple(dict.fromkeys(names))
