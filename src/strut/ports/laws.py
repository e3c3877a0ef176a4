"""What elements say of their efforts and flows: numbers, matrices and functions made expressions, and
checked."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import ModelError, ShapeError, ValueRangeError
from strut.ports.domains import Domain, check_ratio
from strut.ports.elements import ElementPort, Given, Kind
from strut.system import Expression, Param, Quantity, known_symbol, own_value, sx

DIVIDED_BY = ("inertia", "capacity")
"""Roles of numbers that a storage divides by."""


def domain_size(domain: Domain, size: int | None, what: str) -> int:
    """Components of a port: those asked for, else the domain's."""
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ModelError(f"the size of {what} is {size!r}: a whole number from 1 on is needed")
    return domain.size if size is None else size


def field_matrix(value: Expression, size: int, domain: Domain, role: str, what: str) -> ca.SX:
    """A number, or a matrix, between the effort and flow of a port, as a matrix."""
    domain.check_unit(unit_of(value), f"the {role} of {what}", role)
    matrix = _matrix(value, f"the {role} of {what}")
    _check_divisor(matrix, role, what)
    if matrix.numel() == 1:
        return matrix if size == 1 else ca.densify(matrix * ca.SX.eye(size))
    if matrix.shape == (size, size):
        _check_symmetric(matrix, role, what)
    else:
        raise ShapeError(
            f"the {role} of {what} has {matrix.shape[0]} rows and {matrix.shape[1]} columns: one number, or "
            f"{size} "
            f"of each, are needed"
        )
    return matrix


def _check_symmetric(matrix: ca.SX, role: str, what: str) -> None:
    """Raise ModelError where a matrix of a storage is not symmetric: no energy has such a derivative."""
    if role in ("inertia", "stiffness", "capacity") and not ca.simplify(matrix - matrix.T).is_zero():
        raise ModelError(
            f"the {role} of {what} is a matrix that is not symmetric: no energy has that derivative"
        )


def ratio_matrix(
    value: Expression, first: Domain | None, second: Domain | None, kind: Kind, what: str
) -> ca.SX:
    """The ratio of a transformer or gyrator as a matrix; its unit must fit where both domains are known."""
    check_ratio_unit(unit_of(value), first, second, kind, what)
    return _matrix(value, f"the ratio of {what}")


def check_ratio_unit(unit: str, first: Domain | None, second: Domain | None, kind: Kind, what: str) -> None:
    """Raise ModelError where the unit of a ratio does not lead from the first domain to the second. One that
    is empty is not checked, nor one beside a domain that is not known or has several units."""
    if unit and first is not None and second is not None and first.flow_unit and second.flow_unit:
        above = second.flow_unit if kind is Kind.TRANSFORMER else second.effort_unit
        check_ratio(unit, above, first.flow_unit, f"the ratio of {what}")


def storage_energy(energy: Callable[..., Expression], states: Sequence[ca.SX], what: str) -> ca.SX:
    """The energy of a storage as an expression of its states. It may use parameters and nothing else: what is
    modulated from outside would change its energy without power."""
    _check_argument_count(energy, len(states), what)
    H = sx(energy(*states))
    if H.numel() != 1:
        raise ShapeError(f"the energy of {what} has {H.numel()} numbers: one is needed")
    check_unmodulated(H, states, what)
    return H


def _check_argument_count(energy: Callable[..., Expression], count: int, what: str) -> None:
    """Raise ModelError where the energy of a storage does not take one argument for each port."""
    try:
        signature = inspect.signature(energy)
    except (TypeError, ValueError):  # of functions written in C
        return
    try:
        signature.bind(*range(count))
    except TypeError as error:
        raise ModelError(
            f"the energy of {what} does not take the states of its {count} port(s), in order: {error}"
        ) from error


def check_unmodulated(H: ca.SX, states: Sequence[ca.SX], what: str) -> None:
    """Raise ModelError where the energy of a storage depends on more than its states and parameters."""
    own = {symbol.element_hash() for state in states for symbol in ca.vertsplit(state)}
    for symbol in ca.symvar(H):
        if symbol.element_hash() not in own and not isinstance(known_symbol(symbol), Param):
            raise ModelError(
                f"{what} is modulated by '{symbol.name()}': its energy would change without power. Give it a "
                f"further port, storage(...), through which that change is paid for; only what stores "
                f"nothing may "
                f"be modulated"
            )


def law_of(
    port: ElementPort,
    domain: Domain,
    what: str,
    *,
    values: Mapping[str, Expression | None],
    laws: Mapping[str, Callable[[ca.SX], Expression] | None],
) -> tuple[ElementPort, dict[str, ca.SX]]:
    """What a resistor says, and its port with what it must be given: a law that is no number is evaluated one
    way only."""
    chosen = [name for name, value in (*values.items(), *laws.items()) if value is not None]
    if len(chosen) != 1:
        raise ModelError(f"{what} is given {len(chosen)} of {', '.join((*values, *laws))}: give one")
    name = chosen[0]
    if name in values:
        return port, {name: field_matrix(values[name], port.size, domain, name, what)}
    law = laws[name]
    assert law is not None
    argument = port.flow if name == "effort" else port.effort
    answer = sx(law(argument))
    if answer.numel() != port.size:
        raise ShapeError(f"the {name} of {what} has {answer.numel()} numbers: {port.size} are needed")
    return replace(port, needs=Given.FLOW if name == "effort" else Given.EFFORT), {name: answer}


def unit_of(value: Expression) -> str:
    """The unit of a quantity; that of an expression is not known."""
    return value.unit if isinstance(value, Quantity) else ""


def check_finite(expression: ca.SX, what: str) -> None:
    """Raise ValueRangeError where a number that stands by itself is not finite."""
    for k in range(expression.numel()):
        entry = expression[k]
        if entry.is_constant() and not math.isfinite(float(entry)):
            raise ValueRangeError(f"{what} is {float(entry)}: a finite number is needed")


def _check_divisor(matrix: ca.SX, role: str, what: str) -> None:
    """Raise ValueRangeError where what is divided by is zero, or where motion would have negative energy."""
    numbers = own_value(matrix) if role in DIVIDED_BY else None
    if numbers is None:
        return
    of = ", ".join(f"'{symbol.name()}'" for symbol in ca.symvar(matrix))
    by = f" with the value of parameter {of}" if of else ""
    size = "zero" if numbers.size == 1 else "a matrix without an inverse"
    if np.linalg.matrix_rank(numbers) < len(numbers):
        raise ValueRangeError(
            f"the {role} of {what} is {size}{by}: it is divided by; leave the element out instead"
        )
    if numbers.shape[0] == numbers.shape[1] and np.linalg.eigvalsh((numbers + numbers.T) / 2)[0] < 0:
        value = f"{float(numbers[0, 0]):g}" if numbers.size == 1 else "a matrix with a negative eigenvalue"
        raise ValueRangeError(
            f"the {role} of {what} is {value}{by}: what it stores would be negative; give a positive one"
        )


def _matrix(value: Expression, what: str) -> ca.SX:
    if isinstance(value, Quantity):
        return value.sym
    matrix = None
    try:
        matrix = ca.densify(ca.SX(ca.DM(value) if isinstance(value, list) else value))
    except (NotImplementedError, TypeError, RuntimeError):
        if isinstance(value, (list, tuple)):
            rows = [
                ca.horzcat(*[sx(v) for v in row]) if isinstance(row, (list, tuple)) else sx(row)
                for row in value
            ]
            matrix = ca.vertcat(*rows)
    if matrix is None or not matrix.numel():
        raise ModelError(f"{what} is {value!r}: a number, an expression or a matrix of them is needed")
    check_finite(matrix, what)
    return matrix
