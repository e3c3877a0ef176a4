"""Is power continuous, and is a graph passive? Both by structure and in numbers."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.ports.assemble import solve_graph
from strut.ports.elements import JUNCTIONS, Element, Kind
from strut.ports.graph import BondGraph
from strut.system import System, own_value, parameters, start, time

STATE_COUNT = 20
"""Random states in which powers are added up."""
STATE_SPREAD = 1.0
"""The standard deviation of these states from the one a run begins in, relative to 1 and to their size."""
PSD_SLACK = 1e-12
"""[1] By which the least eigenvalue of a matrix may be negative, relative to the largest, by rounding."""
LAW_DECADES = (-3, 6)
"""Powers of ten between which efforts and flows lie at which the law of a resistor is looked at, in its
units."""
NEAR, FAR = 10.0, 1e6
"""Distances from zero, in units of the state, between which an energy that falls without end has fallen
much."""
MUCH = 100.0
"""[1] By how many times more an energy falls up to `FAR` than it changes up to `NEAR`, if it has no least
value."""


@dataclass(frozen=True)
class PassivityCheck:
    """Whether a graph can give no more energy than it was given. findings: what speaks against it, in
    sentences."""

    ok: bool
    findings: tuple[str, ...]


@checked
def power_residual(system: System) -> float:
    """By how much stored' = supplied - dissipated fails in random states, relative to the powers in it: 1e-12
    or so where the ledger is whole. For any system, between its events."""
    ledger = system.ledger
    if not ledger.stored:
        raise ModelError(f"'{system.name}' has no account of energy: there is nothing to add up")
    x = system.vector("x")
    flow = ca.vertcat(*[ca.vec(ca.SX(system.flow[q.name])) for q in system.x], ca.SX(0, 1))
    stored = ca.sum1(ca.vertcat(*[ca.SX(e) for e in ledger.stored.values()]))
    # by state, so that their size is known where they cancel
    changes = ca.vertcat(ca.gradient(stored, x) * flow, ca.jacobian(stored, time))
    powers = [ca.SX(e) for e in ledger.supplied.values()], [ca.SX(e) for e in ledger.dissipated.values()]
    terms = ca.vertcat(changes, *[-e for e in powers[0]], *powers[1])
    f = system.function("powers", [terms])
    begin, p = start(system), parameters(system)
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(STATE_COUNT):
        at = begin.x + STATE_SPREAD * random.standard_normal(len(begin.x)) * (1 + np.abs(begin.x))
        u = begin.u + random.standard_normal(len(begin.u))
        values = np.array(f(0.3, at, begin.z, u, p)).reshape(-1)
        worst = max(worst, abs(values.sum()) / max(np.abs(values).max(), 1e-300))
    return float(worst)


@checked
def junction_residual(graph: BondGraph) -> float:
    """By how much the powers at the ports of everything that joins and converts (junctions, transformers,
    gyrators, heaters) fail to add up to zero in random states, relative to the largest: rounding, where power
    is continuous."""
    solved = solve_graph(graph)
    wiring = solved.wiring
    sums, sizes = [], []
    for name, element in wiring.elements.items():
        if element.kind in JUNCTIONS or element.kind in (Kind.TRANSFORMER, Kind.GYRATOR, Kind.HEATER):
            powers = [
                (1 if a.inward else -1) * ca.dot(*solved.solution.at(wiring, name, k))
                for k, a in enumerate(wiring.at[name])
            ]
            sums.append(ca.sum1(ca.vertcat(*powers)))
            sizes.append(ca.norm_inf(ca.vertcat(*powers)))
    if not sums:
        return 0.0
    symbols = ca.symvar(ca.vertcat(*sums, *sizes))
    f = ca.Function("powers", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.vertcat(*sums), ca.vertcat(*sizes)])
    random = np.random.default_rng(0)
    worst = 0.0
    for _ in range(STATE_COUNT):
        total, size = (np.array(e) for e in f(random.uniform(0.5, 1.5, len(symbols))))
        worst = max(worst, float((np.abs(total) / np.maximum(size.max(), 1e-300)).max()))
    return worst


@checked
def check_passivity(graph: BondGraph) -> PassivityCheck:
    """Look whether a graph is passive: every resistor dissipates, every energy has a least value, and no
    machine is in it whose own account nobody checked. Junctions, transformers and gyrators are
    power-continuous whatever their ratio, so nothing else can make energy. Laws that are not linear, and
    energies that are not quadratic, are looked at in random places over many decades: there a finding is
    certain, and none is not a proof."""
    solved = solve_graph(graph)
    findings: list[str] = []
    for element in solved.wiring.elements.values():
        if element.kind in (Kind.RESISTOR, Kind.HEATER):
            findings += _resistor_findings(element)
        elif "slope" in element.laws:
            findings += _storage_findings(element)
        elif "energy" in element.laws:
            findings += _energy_findings(element)
        elif element.kind is Kind.MACHINE:
            findings.append(
                f"{element} is a system of its own, which this does not look into: see power_residual"
            )
    return PassivityCheck(not findings, tuple(findings))


def _resistor_findings(element: Element) -> list[str]:
    port = element.ports[0]
    matrix = element.laws.get("resistance", element.laws.get("conductance"))
    if matrix is not None:
        least = _least_eigenvalue((matrix + matrix.T) / 2)
        if least < -PSD_SLACK:
            word = next(iter(element.laws))
            return [f"{element} supplies energy: the least eigenvalue of its {word} is {least:g}"]
        return []
    name, law = next(iter(element.laws.items()))
    argument = port.flow if name == "effort" else port.effort
    symbols = ca.symvar(law)
    own = {s.element_hash() for s in ca.vertsplit(argument)}
    others = [s for s in symbols if s.element_hash() not in own]
    f = ca.Function("power", [argument, ca.vertcat(*others, ca.SX(0, 1))], [ca.dot(law, argument)])
    random = np.random.default_rng(0)
    others_at = [_number(s, random) for s in others]
    for _ in range(10 * STATE_COUNT):
        value = random.standard_normal(argument.numel()) * 10 ** random.uniform(*LAW_DECADES)
        power = float(f(value, others_at))
        if power < 0:
            return [
                f"{element} supplies energy: its power is {power:g} W where its argument is {value.tolist()}"
            ]
    return []


def _storage_findings(element: Element) -> list[str]:
    state = element.ports[0].state
    assert state is not None
    least = _least_eigenvalue(ca.jacobian(element.laws["slope"], state.sym))
    if least < -PSD_SLACK:
        return [f"the energy of {element} has no least value: an eigenvalue of its matrix is {least:g}"]
    return []


def _energy_findings(element: Element) -> list[str]:
    """An energy that is linear in its state has no least value, a weight can always sink further; nor has a
    quadratic one with a negative eigenvalue, or any that falls further the farther one goes. One that is zero
    only integrates."""
    x = ca.vertcat(*[port.state.sym for port in element.ports if port.state is not None])
    slopes = [element.energy_slope(port) for port in element.ports]
    if any(not ca.depends_on(slope, x) and not ca.simplify(slope).is_zero() for slope in slopes):
        return [
            f"the energy of {element} grows without end in its state, as that of a weight: it has no "
            f"least value"
        ]
    hessian = ca.jacobian(ca.vertcat(*slopes), x)
    if not ca.depends_on(hessian, x):
        least = _least_eigenvalue((hessian + hessian.T) / 2)
        if least < -PSD_SLACK:
            return [f"the energy of {element} has no least value: an eigenvalue of its matrix is {least:g}"]
        return []
    fall = _far_fall(element.laws["energy"], x)
    return [f"the energy of {element} has no least value: {fall}"] if fall else []


def _far_fall(energy: ca.SX, x: ca.SX) -> str:
    """Where an energy falls without end, as words; empty where none was found."""
    others = [s for s in ca.symvar(energy) if not ca.depends_on(x, s)]
    random = np.random.default_rng(0)
    numbers = [_number(s, random) for s in others]
    f = ca.Function("energy", [x, ca.vertcat(*others, ca.SX(0, 1))], [energy])
    n = x.numel()
    directions = [*np.eye(n), *-np.eye(n), *random.standard_normal((STATE_COUNT, n))]
    zero = float(f(np.zeros(n), numbers))
    for direction in directions:
        # several places nearby, so that a wave is not mistaken for a slope
        near = max(
            abs(float(f(part * NEAR * direction, numbers)) - zero) for part in (0.1, 0.2, 0.3, 0.5, 0.7, 1)
        )
        far = float(f(FAR * direction, numbers))
        if far == -np.inf or zero - far > MUCH * max(near, 1e-300):
            return f"it is {far:g} J at {(FAR * direction).tolist()}"
    return ""


def _least_eigenvalue(matrix: ca.SX) -> float:
    """Relative to the largest, at the own values of parameters and random ones of signals."""
    symbols = ca.symvar(matrix)
    random = np.random.default_rng(0)
    numbers = [_number(s, random) for s in symbols]
    f = ca.Function("matrix", [ca.vertcat(*symbols, ca.SX(0, 1))], [ca.densify(matrix)])
    eigenvalues = np.linalg.eigvalsh(np.array(f(numbers)))
    return float(eigenvalues.min() / max(np.abs(eigenvalues).max(), 1e-300))


def _number(symbol: ca.SX, random: np.random.Generator) -> float:
    """The own value of a parameter, a random one of anything else."""
    value = own_value(symbol)
    return float(random.uniform(0.5, 1.5)) if value is None else float(value.reshape(-1)[0])


__all__ = ["PassivityCheck", "check_passivity", "junction_residual", "power_residual"]
