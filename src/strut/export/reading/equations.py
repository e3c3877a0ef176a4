"""`equations`: a small system as a person would write it: SymPy to calculate with, LaTeX to read.

Machines come as equations of motion, M(q) q'' + ... = torques, because that is how they say their rates
(`System.implied`); everything else as rates. Rates of states that are states themselves are written with
dots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.export.reading.arrange import (
    EquationRow,
    arrange_motion,
    arrange_rate,
    canonical,
    collect_terms,
    write_latex,
)
from strut.export.reading.letters import letters
from strut.export.reading.to_sympy import sympy_module, to_sympy
from strut.system import System, operation_count, sx, time

MAX_OPERATIONS = 3000
"""Operations of a flow that is still written out; nobody reads more."""

MAX_GUARD_OPERATIONS = 30
"""Operations of a guard that is still written; those of contacts are long, and say little to a reader."""


@dataclass(frozen=True, eq=False)
class Equations:
    """The equations of a system.

    rows: one for each rate or equation of motion, sides arranged. rates: by component of a state, its rate as
    a SymPy expression, as it is computed. guards: by event, what crosses zero. unwritten: events whose guards
    are too long to be read. symbols: by component of a quantity, 't' among them, its SymPy symbol; NAME_dot
    is the rate of NAME. names: how each symbol is written in LaTeX."""

    name: str
    rows: tuple[EquationRow, ...]
    rates: Mapping[str, Any]
    guards: Mapping[str, Any]
    unwritten: tuple[str, ...]
    symbols: Mapping[str, Any]
    names: Mapping[Any, str]

    @property
    def sympy(self) -> list[Any]:
        """The rows as SymPy equations."""
        sp = sympy_module()
        return [sp.Eq(row.left, row.right, evaluate=False) for row in self.rows]

    @property
    def latex(self) -> str:
        """The rows as LaTeX, aligned at the sign of equality; then the guards of events."""
        lines = [row.latex(self.names) for row in self.rows]
        sp = sympy_module()
        for event, guard in self.guards.items():
            lines.append(f"\\text{{{_plain(event)} when }} {write_latex(sp, guard, self.names)} &= 0")
        if self.unwritten:
            lines.append(f"\\text{{events too long to write: {', '.join(map(_plain, self.unwritten))}}} &")
        body = " \\\\\n".join(lines)
        return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"

    def _repr_latex_(self) -> str:
        """In a notebook."""
        return f"$$\n{self.latex}\n$$"

    def __repr__(self) -> str:
        return f"<Equations of {self.name}: {len(self.rows)} rows>"


def _plain(word: str) -> str:
    return word.replace("_", "\\_")


@checked
def equations(system: System) -> Equations:
    """Return the equations of a small system, to read and to calculate with. Needs SymPy, the extra
    'equations'.

    Raises ModelError for a system whose flow has more than `MAX_OPERATIONS` operations: that is for `export`.
    """
    flow = ca.vertcat(*[ca.vec(sx(system.flow[q.name])) for q in system.x], ca.SX(0, 1))
    count = operation_count(system.function("flow", [flow]))
    if count > MAX_OPERATIONS:
        raise ModelError(
            f"the flow of '{system.name}' has {count} operations: equations are written up to "
            f"{MAX_OPERATIONS}; "
            f"strut.export hands the rest to a machine"
        )
    sp = sympy_module()
    writer = _SympyWriter(sp, system)
    rates = dict(zip(system.labels("x"), writer.convert([flow])[0], strict=True))
    motion = _motion_rows(sp, system, writer)
    covered = {label for labels, _ in motion for label in labels}
    rows = [row for _, row in motion]
    for label, rate in rates.items():
        if label not in covered and label not in writer.derivatives:
            rows.append(arrange_rate(sp, writer.rate_symbol(label), rate))
    raw = {event.name: writer.convert([sx(event.guard)])[0][0] for event in system.events}
    guards = {
        event: guard if guard.has(sp.Piecewise) else collect_terms(sp, canonical(sp, guard))
        for event, guard in raw.items()
        if guard.count_ops() <= MAX_GUARD_OPERATIONS
    }
    unwritten = tuple(event for event in raw if event not in guards)
    return Equations(
        name=system.name,
        rows=tuple(rows),
        rates=rates,
        guards=guards,
        unwritten=unwritten,
        symbols=writer.symbols,
        names=writer.names,
    )


class _SympyWriter:
    """Symbols of SymPy for those of a system, and how they are written.

    derivatives: by component of a state whose rate is a state, that state: position -> velocity.
    """

    def __init__(self, sp: Any, system: System) -> None:
        self.sp, self.system = sp, system
        self.symbols: dict[str, Any] = {"t": sp.Symbol("t", real=True)}
        self.names: dict[Any, str] = {self.symbols["t"]: "t"}
        self.table: dict[str, tuple[ca.SX, list[Any]]] = {"t": (time, [self.symbols["t"]])}
        written = letters(system.quantities())
        for q in system.quantities():
            positive = q.kind == "parameter" and q.bounds[0] >= 0
            components = [
                sp.Symbol(
                    label.replace(".", "_").replace("[", "_").replace("]", ""), real=True, **_sign(positive)
                )
                for label in q.labels
            ]
            for k, (label, symbol) in enumerate(zip(q.labels, components, strict=True)):
                self.symbols[label] = symbol
                self.names[symbol] = written[q.name] if q.size == 1 else _component(written[q.name], k)
            self.table[q.name] = (q.sym, components)
        self.derivatives = _derivatives(system)
        for label, velocity in self.derivatives.items():
            self.names[self.symbols[velocity]] = add_dots(self.names[self.symbols[label]], 1)

    def rate_symbol(self, label: str) -> Any:
        """The symbol of a rate, NAME_dot; written with two dots where NAME is the rate of another state."""
        if f"{label}_dot" not in self.symbols:
            symbol = self.sp.Symbol(f"{self.symbols[label].name}_dot", real=True)
            self.symbols[f"{label}_dot"] = symbol
            place = next((p for p, velocity in self.derivatives.items() if velocity == label), None)
            base = self.names[self.symbols[place or label]]
            self.names[symbol] = add_dots(base, 2 if place else 1)
        return self.symbols[f"{label}_dot"]

    def convert(
        self, expressions: Sequence[ca.SX], more: Mapping[str, tuple[ca.SX, list[Any]]] | None = None
    ) -> list[list[Any]]:
        """Expressions of the system as SymPy. more: further symbols."""
        return to_sympy(expressions, {**self.table, **(more or {})})


def _sign(positive: bool) -> dict[str, bool]:
    return {"nonnegative": True} if positive else {}


def _component(text: str, k: int) -> str:
    head, _, index = text.partition("_")
    return f"{head}_{{{index[1:-1]},{k}}}" if index else f"{head}_{{{k}}}"


def add_dots(text: str, count: int) -> str:
    """A letter with dots on it, its index left alone."""
    head, underscore, index = text.partition("_{")
    return f"\\{'d' * count}ot{{{head}}}{underscore}{index}"


def _derivatives(system: System) -> dict[str, str]:
    """By component of a state whose rate is a component of a state, that one."""
    labels = system.labels("x")
    places = (
        {s.element_hash(): label for s, label in zip(ca.vertsplit(system.vector("x")), labels, strict=True)}
        if labels
        else {}
    )
    velocities: dict[str, str] = {}
    at = 0
    for q in system.x:
        for rate in ca.vertsplit(ca.vec(sx(system.flow[q.name]))):
            if rate.is_symbolic() and rate.element_hash() in places:
                velocities[labels[at]] = places[rate.element_hash()]
            at += 1
    return velocities


def _motion_rows(sp: Any, system: System, writer: _SympyWriter) -> list[tuple[list[str], EquationRow]]:
    """Equations of motion, each with the states whose rates they say; none where a system says its rates
    only."""
    implied = system.implied
    if implied is None:
        return []
    labels = [label for name in implied.states for label in _labels(system, name)]
    forces = implied.unknown.numel() - len(labels)
    lambdas = [sp.Symbol(f"lambda_{k + 1}", real=True) for k in range(forces)]
    for k, symbol in enumerate(lambdas):
        writer.symbols[f"lambda_{k + 1}"] = symbol
        writer.names[symbol] = f"\\lambda_{{{k + 1}}}"
    unknown = [*[writer.rate_symbol(label) for label in labels], *lambdas]
    residuals = writer.convert([implied.residual], {"unknown": (implied.unknown, unknown)})[0]
    motion, others = residuals[: len(labels)], residuals[len(labels) :]
    # forces that the motion does not need are only defined by their rows
    if any(row.has(force) for row in motion for force in lambdas):
        motion = [*motion, *others]
    else:
        for symbol in lambdas:
            writer.symbols.pop(symbol.name), writer.names.pop(symbol)
    inputs = [writer.symbols[label] for label in system.labels("u")]
    accelerations = unknown[: len(labels)]
    rows = [
        arrange_motion(sp, residual, _own_first(accelerations, k), [*inputs, *lambdas])
        for k, residual in enumerate(motion)
    ]
    return [(labels, rows[0]), *[([], row) for row in rows[1:]]] if rows else []


def _own_first(accelerations: Sequence[Any], k: int) -> list[Any]:
    """The accelerations with the one first whose equation this is."""
    own = [accelerations[k]] if k < len(accelerations) else []
    return [*own, *[a for a in accelerations if a not in own]]


def _labels(system: System, name: str) -> tuple[str, ...]:
    return next(q.labels for q in system.x if q.name == name)


__all__ = ["Equations", "equations"]
