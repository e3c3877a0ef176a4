"""The explicit port-Hamiltonian form: x' = (J - R) dH/dx + (g - P) u, y = (g + P)' dH/dx + (K + S) u.

Duindam, appendix B, (B.1) to (B.5), has it without P, which graphs need whose resistors see a state and an
input together, a pump into a pipe with a leak; then [R P; P' S] is positive semidefinite rather than R and S
alone (van der Schaft and Jeltsema, Port-Hamiltonian systems theory, 2014, section 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, ShapeError, UnknownNameError, did_you_mean
from strut.ports.assemble import SolvedGraph, solve_assigned
from strut.ports.causality import assign
from strut.ports.dependent import solve_blocks
from strut.ports.elements import SOURCES, Element, Kind
from strut.ports.graph import BondGraph
from strut.ports.solve import PortValues, solve
from strut.ports.wiring import wire
from strut.system import Input, Ledger, Param, Quantity, State, System, known_symbol, own_value, sx, time

FORM_TOLERANCE = 1e-9
"""[1] By which the matrices may miss the flow of the graph itself, relative to its size, in random states."""
VANISHING = 1e-12
"""[1] By which P may differ from zero by rounding, relative to g."""
SAMPLE_COUNT = 5
"""States in which that is looked at."""


@dataclass(frozen=True, eq=False)
class PortHamiltonian:
    """x' = (J - R) dH/dx + (g - P) u, y = (g + P)' dH/dx + (K + S) u, as expressions.

    x: states. u: inputs. H: energy [J]. J, R: interconnection, skew, and dissipation, positive semidefinite.
    g: how inputs act. K, S: direct feedthrough, skew and positive semidefinite. P: what inputs and states
    dissipate together; mostly zero. p: parameters."""

    name: str
    x: tuple[State, ...]
    u: tuple[Input, ...]
    p: tuple[Param, ...]
    H: ca.SX
    J: ca.SX
    R: ca.SX
    g: ca.SX
    K: ca.SX
    S: ca.SX
    P: ca.SX

    def __post_init__(self) -> None:
        n, m = sum(q.size for q in self.x), sum(q.size for q in self.u)
        shapes = {"J": (n, n), "R": (n, n), "g": (n, m), "K": (m, m), "S": (m, m), "P": (n, m)}
        for label, shape in shapes.items():
            matrix = getattr(self, label)
            if matrix.shape != shape:
                raise ShapeError(
                    f"{label} of '{self.name}' is {matrix.shape[0]} x {matrix.shape[1]}: {shape[0]} x "
                    f"{shape[1]} is "
                    f"needed for {n} states and {m} inputs"
                )

    @property
    def gradient(self) -> ca.SX:
        """dH/dx."""
        return ca.densify(ca.gradient(self.H, _column(self.x)))

    @property
    def outputs(self) -> ca.SX:
        """y, the flows or efforts that answer the inputs: y' u is the power supplied."""
        return (self.g + self.P).T @ self.gradient + (self.K + self.S) @ _column(self.u)

    def matrices(self, values: Mapping[str, float] | None = None) -> dict[str, np.ndarray]:
        """J, R, g, K, S and P in numbers, at initial values of states and at own values of parameters and
        inputs unless `values` has others."""
        names = ("J", "R", "g", "K", "S", "P")
        quantities: list[Quantity] = [*self.x, *self.u, *self.p]
        by_name = {q.name: q for q in quantities}
        for key, value in (values or {}).items():
            if key not in by_name:
                raise UnknownNameError(f"'{self.name}' has no '{key}': {did_you_mean(key, list(by_name))}")
            if np.size(value) != by_name[key].size:
                raise ShapeError(
                    f"'{key}' of '{self.name}' is given {np.size(value)} number(s): {by_name[key].size} are "
                    f"needed"
                )
        numbers = [np.asarray((values or {}).get(q.name, _own(sx(q.value)))).reshape(-1) for q in quantities]
        f = ca.Function(
            "matrices",
            [time, ca.vertcat(*[q.sym for q in quantities], ca.SX(0, 1))],
            [ca.densify(getattr(self, label)) for label in names],
        )
        results = f(0.0, np.concatenate(numbers) if numbers else [])
        return {label: np.array(m) for label, m in zip(names, results, strict=True)}

    @checked
    def system(self) -> System:
        """The form as a system. The ledger has H, what R, P and S dissipate, and what each input supplies."""
        slope, u, y = self.gradient, _column(self.u), self.outputs
        rate = (self.J - self.R) @ slope + (self.g - self.P) @ u
        flow, outputs, supplied = dict[str, ca.SX](), dict[str, ca.SX](), dict[str, ca.SX]()
        at = 0
        for q in self.x:
            flow[q.name] = rate[at : at + q.size]
            at += q.size
        at = 0
        for source in self.u:
            answer = y[at : at + source.size]
            outputs[f"{source.name}_answer"] = answer
            supplied[source.name] = ca.dot(source.sym, answer)
            at += source.size
        lost = ca.dot(slope, self.R @ slope)
        if self.u:
            lost = lost + 2 * ca.dot(slope, self.P @ u) + ca.dot(u, self.S @ u)
        dissipated = {} if sx(lost).is_zero() else {"dissipation": lost}
        ledger = Ledger({"energy": self.H}, supplied, dissipated)
        return System(self.name, x=self.x, flow=flow, u=self.u, p=self.p, outputs=outputs, ledger=ledger)


@checked
def port_hamiltonian(graph: BondGraph) -> PortHamiltonian:
    """Return the explicit port-Hamiltonian form of a bond graph.

    Its inputs are the sources, each called after its element; their values are those of the sources, 0 where
    that is an expression of inputs or of the time. Raises ModelError, which names the element,
    where the graph has none: with a resistor that is not linear, a heater, or a machine (a mechanism's own
    form is `mechanism.hamiltonian_system`)."""
    causality = assign(wire(graph))
    solved = solve_assigned(causality)
    _check_kinds(solved)
    sources = {name: e for name, e in solved.wiring.elements.items() if e.kind in SOURCES}
    source_symbols = {name: ca.SX.sym(name.replace(".", "_"), e.ports[0].size) for name, e in sources.items()}
    slopes = {
        (name, port.name): ca.SX.sym(f"{name}_slope", port.size)
        for name, e in solved.wiring.elements.items()
        for port in e.ports
        if port.state is not None and (name, port.name) not in solved.dependent.states
    }
    symbolic = solve(causality, slopes, source_symbols)
    z = ca.vertcat(*slopes.values(), ca.SX(0, 1))
    w = ca.vertcat(*source_symbols.values(), ca.SX(0, 1))
    rate, answer = _rates_and_answers(solved, symbolic, list(sources))
    W = ca.SX.eye(z.numel())
    if symbolic.rates:
        rate, answer, W = _with_dependents(solved, symbolic, slopes, (rate, answer))
    # in terms of the slope of the whole energy, W z: see `_with_dependents`
    A = _right_divide(ca.jacobian(rate, z), W)
    C = _right_divide(ca.jacobian(answer, z), W)
    B, D = ca.jacobian(rate, w), ca.jacobian(answer, w)
    inputs = tuple(
        Input(name, _own(sx(next(iter(e.laws.values())))), _unit(e)) for name, e in sources.items()
    )
    old, new = list(source_symbols.values()), [q.sym for q in inputs]
    A, B, C, D = ca.substitute([A, B, C, D], old, new) if old else (A, B, C, D)
    H = sum((solved.energy(e) for e in solved.wiring.elements.values() if "energy" in e.laws), start=ca.SX(0))
    g, shared = ca.densify((B + C.T) / 2), ca.densify((C.T - B) / 2)
    form = PortHamiltonian(
        graph.name,
        solved.states,
        inputs,
        _params([A, B, D, H, *[sx(s.value) for s in solved.states]]),
        H,
        ca.densify((A - A.T) / 2),
        ca.densify(-(A + A.T) / 2),
        g,
        ca.densify((D - D.T) / 2),
        ca.densify((D + D.T) / 2),
        ca.SX.zeros(*g.shape) if _vanishes(shared, g) else shared,
    )
    _check_form(form, solved, [sx(next(iter(e.laws.values()))) for e in sources.values()])
    return form


def _rates_and_answers(
    solved: SolvedGraph, symbolic: PortValues, sources: Sequence[str]
) -> tuple[ca.SX, ca.SX]:
    """What storages integrate, and what sources are answered."""
    rates, wiring = [], solved.wiring
    for name, element in wiring.elements.items():
        for k, port in enumerate(element.ports):
            if port.state is not None and (name, port.name) not in symbolic.rates:
                rates.append(symbolic.values[wiring.at[name][k].bond, port.prefers])
    answers = []
    for name in sources:
        effort, flow = symbolic.at(wiring, name, 0)
        answers.append(flow if wiring.elements[name].kind is Kind.EFFORT_SOURCE else effort)
    return ca.vertcat(*rates, ca.SX(0, 1)), ca.vertcat(*answers, ca.SX(0, 1))


def _with_dependents(
    solved: SolvedGraph,
    symbolic: PortValues,
    slopes: Mapping[tuple[str, str], ca.SX],
    rows: tuple[ca.SX, ca.SX],
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Rates and answers with the rates of dependent states eliminated, and W.

    A dependent state is x_d = Q_d^-1 T z, with z = dH_i/dx of the independent energy, and its rate is Q_d^-1
    T Q x', with Q the second derivative of H_i. The slope of the whole energy is W z, W = 1 + Q T' Q_d^-1 T,
    and x' = W'^-1 (J - R) z: so (J - R) in terms of the whole slope stays skew less symmetric."""
    wiring = solved.wiring
    z = ca.vertcat(*slopes.values(), ca.SX(0, 1))
    incoming, inverse = [], []
    for name, port_name in symbolic.rates:
        element = wiring.elements[name]
        k = next(i for i, port in enumerate(element.ports) if port.name == port_name)
        port = element.ports[k]
        assert port.state is not None
        incoming.append(symbolic.values[wiring.at[name][k].bond, solved.causality.input_at(name, k)])
        Q_d = ca.jacobian(element.energy_slope(port), port.state.sym)
        inverse.append(ca.inv(ca.densify(Q_d)))
    _check_untied(incoming, list(slopes.values()), solved)
    T = ca.jacobian(ca.vertcat(*incoming), z)
    x = _column(solved.states)
    own = [wiring.elements[name].energy_slope(wiring.elements[name].port(port)) for name, port in slopes]
    Q = ca.jacobian(ca.vertcat(*own, ca.SX(0, 1)), x)
    M = ca.diagcat(*inverse)
    unknown = ca.vertcat(*symbolic.rates.values())
    rate, answer = rows
    # d = M T Q x', x' = rate(z, d)
    pull = M @ T @ Q
    A = ca.SX.eye(unknown.numel()) - pull @ ca.jacobian(rate, unknown)
    free = ca.substitute([rate], [unknown], [ca.SX.zeros(unknown.numel())])[0]
    solution = solve_blocks(ca.sparsify(A), pull @ free)
    rate, answer = ca.substitute([rate, answer], [unknown], [ca.densify(solution)])
    return rate, answer, ca.SX.eye(z.numel()) + Q @ T.T @ M @ T


def _check_untied(incoming: Sequence[ca.SX], slopes: Sequence[ca.SX], solved: SolvedGraph) -> None:
    """Raise ModelError where a dependent storage is tied to a source: the source's rate would act on it."""
    own_symbols = {s.element_hash() for slope in slopes for s in ca.vertsplit(slope)}
    for (name, _), value in zip(solved.dependent.states, incoming, strict=True):
        for symbol in ca.symvar(value):
            if symbol.element_hash() not in own_symbols and symbol.name() in solved.wiring.elements:
                raise ModelError(
                    f"'{solved.wiring.name}' has no explicit port-Hamiltonian form: '{name}' is tied to "
                    f"source "
                    f"'{symbol.name()}', whose rate acts on it; ports.system makes a system of it all the "
                    f"same"
                )


def _right_divide(A: ca.SX, W: ca.SX) -> ca.SX:
    """A W^-1."""
    if not A.numel() or (ca.SX(W) - ca.SX.eye(W.shape[0])).is_zero():
        return ca.densify(A)
    return ca.solve(ca.densify(W.T), ca.densify(A.T)).T


def _check_kinds(solved: SolvedGraph) -> None:
    """Raise ModelError where an element has no place in the explicit form."""
    for element in solved.wiring.elements.values():
        if element.kind in (Kind.MACHINE, Kind.HEATER):
            raise ModelError(
                f"{element} has no place in the explicit port-Hamiltonian form of '{solved.wiring.name}': a "
                f"machine has equations of its own, and the entropy that a heater makes is not linear in "
                f"slopes of "
                f"the energy; ports.system makes a system of it all the same"
            )
        if element.kind in SOURCES:
            _check_from_outside(element, solved)
        if element.kind is Kind.RESISTOR and ("effort" in element.laws or "flow" in element.laws):
            raise ModelError(
                f"{element} of '{solved.wiring.name}' is not linear, so there is no matrix R: give it a "
                f"resistance, "
                f"which may depend on states and signals, or use ports.system"
            )


def _check_from_outside(element: Element, solved: SolvedGraph) -> None:
    """Raise ModelError where a source is a function of states or signals: then it is no input."""
    for symbol in ca.symvar(next(iter(element.laws.values()))):
        if not isinstance(known_symbol(symbol), (Param, Input)) and not ca.depends_on(time, symbol):
            raise ModelError(
                f"{element} of '{solved.wiring.name}' is a function of '{symbol.name()}', so it is no input "
                f"of an explicit port-Hamiltonian form: make it an Input, or use ports.system"
            )


def _check_form(form: PortHamiltonian, solved: SolvedGraph, sources: Sequence[ca.SX]) -> None:
    """Raise ModelError where the form says another flow than the graph: a constraint that moves with the
    state, say."""
    u = ca.vertcat(*sources, ca.SX(0, 1))
    rate = (form.J - form.R) @ form.gradient + (form.g - form.P) @ _column(form.u)
    form_flow = ca.substitute([rate], [_column(form.u)], [u])[0] if form.u else rate
    flow = ca.vertcat(*solved.flow, ca.SX(0, 1))
    symbols = ca.symvar(ca.vertcat(form_flow, flow))
    f = ca.Function("flows", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.densify(form_flow), ca.densify(flow)])
    names = ", ".join(name for name, _ in solved.dependent.states)
    random = np.random.default_rng(0)
    for _ in range(SAMPLE_COUNT if flow.numel() else 0):
        ours, theirs = (np.array(e) for e in f(random.uniform(0.5, 1.5, len(symbols))))
        if not np.abs(ours - theirs).max() <= FORM_TOLERANCE * max(1.0, np.abs(theirs).max()):
            raise ModelError(
                f"'{form.name}' has no explicit port-Hamiltonian form with these states: a storage in "
                f"derivative "
                f"causality ({names}) is tied by a ratio that changes; ports.system makes a system of it all "
                f"the same"
            )


@checked
def interconnect(
    first: PortHamiltonian, second: PortHamiltonian, *, ports: Mapping[str, str], name: str = ""
) -> PortHamiltonian:
    """Join two port-Hamiltonian forms by ports, (B.3) to (B.5), such as a cart, which takes a force and
    answers with its velocity, and a controller, which takes a velocity and answers with a force. The output
    y_1 that answers an input of the first becomes the input of the second, whose own output y_2 acts against
    the first:

        u_2 = y_1,   u_1 = u_new - y_2.

    ports: by an input of the first, one of the second. The first must be strictly proper, K = S = 0, there.
    Inputs of the first stay; those of the second that are named are gone. Names of states must differ."""
    if any(q.size != 1 for q in (*first.u, *second.u)):
        raise ModelError("inputs that are vectors cannot be interconnected: make one input for each number")
    chosen_1 = [_index(first, key) for key in ports]
    chosen_2 = [_index(second, key) for key in ports.values()]
    free = [k for k in range(len(second.u)) if k not in chosen_2]
    names = [q.name for q in (*first.x, *first.u)]
    twice = [q.name for q in (*second.x, *[second.u[k] for k in free]) if q.name in names]
    if twice:
        raise ModelError(
            f"'{first.name}' and '{second.name}' both have '{twice[0]}': name the elements of one of them "
            f"otherwise"
        )
    direct = second.K + second.S
    if not all(ca.simplify(ca.sparsify(m)).is_zero() for m in (first.K + first.S, first.P)):
        raise ModelError(
            f"'{first.name}' is not strictly proper: its answers depend on its inputs; exchange the two"
        )
    if not ca.simplify(direct[chosen_2, free]).is_zero() or not ca.simplify(direct[free, chosen_2]).is_zero():
        raise ModelError(
            f"inputs of '{second.name}' that stay act directly on those that are joined: join all of them"
        )
    g1 = first.g[:, chosen_1]
    into, out = (second.g - second.P)[:, chosen_2], (second.g + second.P)[:, chosen_2]
    loop = first.J - first.R - g1 @ direct[chosen_2, chosen_2] @ g1.T
    A = ca.vertcat(ca.horzcat(loop, -g1 @ out.T), ca.horzcat(into @ g1.T, second.J - second.R))
    E = ca.diagcat(ca.SX.zeros(len(first.u), len(first.u)), direct[free, free])
    return PortHamiltonian(
        name or f"{first.name}_{second.name}",
        (*first.x, *second.x),
        (*first.u, *[second.u[k] for k in free]),
        tuple(dict.fromkeys((*first.p, *second.p))),
        first.H + second.H,
        ca.densify((A - A.T) / 2),
        ca.densify(-(A + A.T) / 2),
        ca.densify(ca.diagcat(first.g, second.g[:, free])),
        ca.densify((E - E.T) / 2),
        ca.densify((E + E.T) / 2),
        ca.densify(ca.diagcat(first.P, second.P[:, free])),
    )


def _vanishes(matrix: ca.SX, beside: ca.SX) -> bool:
    """Is a matrix nothing but rounding beside another, at random values of all they depend on?"""
    symbols = ca.symvar(ca.vertcat(ca.vec(matrix), ca.vec(beside)))
    f = ca.Function("sizes", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.densify(matrix), ca.densify(beside)])
    random = np.random.default_rng(0)
    for _ in range(SAMPLE_COUNT):
        small, large = (np.abs(np.array(e)) for e in f(random.uniform(0.5, 1.5, len(symbols))))
        if small.size and not small.max() <= VANISHING * large.max():
            return False
    return True


def _index(form: PortHamiltonian, name: str) -> int:
    names = [q.name for q in form.u]
    if name not in names:
        raise UnknownNameError(f"'{form.name}' has no input '{name}' to join: {did_you_mean(name, names)}")
    return names.index(name)


def _column(quantities: Sequence[Quantity]) -> ca.SX:
    return ca.vertcat(*[q.sym for q in quantities], ca.SX(0, 1))


def _own(expression: ca.SX) -> np.ndarray:
    """An expression of parameters in numbers, else zero: the value of a source that is an input, or of
    time."""
    value = own_value(expression)
    if value is None:
        owner = known_symbol(expression) if expression.numel() == 1 and expression.is_symbolic() else None
        value = owner.value if owner is not None and isinstance(owner.value, np.ndarray) else None
    return np.zeros(expression.numel()) if value is None else np.asarray(value).reshape(-1)


def _unit(element: Element) -> str:
    if element.domain is None:
        return ""
    return element.domain.effort_unit if element.kind is Kind.EFFORT_SOURCE else element.domain.flow_unit


def _params(expressions: Sequence[ca.SX]) -> tuple[Param, ...]:
    """The parameters in expressions; an error for an input, which modulates them."""
    owners = [known_symbol(s) for s in ca.symvar(ca.vertcat(*[ca.vec(e) for e in expressions]))]
    for owner in owners:
        if isinstance(owner, Input):
            raise ModelError(
                f"input '{owner.name}' modulates an element, so the matrices depend on it: make it a "
                f"parameter, or use "
                f"ports.system"
            )
    return tuple(dict.fromkeys(owner for owner in owners if isinstance(owner, Param)))
