"""Settings that may be numbers, parameters or expressions: those that are numbers are held against what they
must be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from strut.control.reference import ReferenceSignal
from strut.errors import ValueRangeError
from strut.system import Param, Quantity, sx


def constant_numbers(value: Any) -> list[float]:
    """Return the numbers in a setting: its own, and values of parameters; none of an expression."""
    if value is None or isinstance(value, str):
        return []
    if isinstance(value, ReferenceSignal):
        return constant_numbers(value.value)
    if isinstance(value, Quantity):
        return [] if isinstance(value.value, ca.SX) else np.asarray(value.value, float).reshape(-1).tolist()
    if isinstance(value, Mapping):
        return constant_numbers(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [number for each in value for number in constant_numbers(each)]
    return [float(each) for each in sx(value).elements() if each.is_constant()]


def check_finite(name: str, value: Any) -> None:
    """Refuse numbers that are none, or infinite."""
    for number in constant_numbers(value):
        if not math.isfinite(number):
            raise ValueRangeError(f"{name} is {number}: finite numbers are needed")


def check_not_negative(name: str, value: Any, *, infinite: bool = False) -> None:
    """Refuse numbers below zero, those that are none, and infinity unless it may be."""
    for number in constant_numbers(value):
        if not 0 <= number < math.inf and not (infinite and number == math.inf):
            raise ValueRangeError(f"{name} is {number:g}: a number of at least 0 is needed")


def check_positive(name: str, value: Any, *, infinite: bool = False) -> None:
    """Refuse numbers that are not above zero, those that are none, and infinity unless it may be."""
    for number in constant_numbers(value):
        if not 0 < number < math.inf and not (infinite and number == math.inf):
            raise ValueRangeError(f"{name} is {number:g}: a positive number is needed")


Settings = TypeVar("Settings")
"""A dataclass of settings of a controller, whose numbers may become its parameters."""


def numbers_as_parameters(settings: Settings) -> Settings:
    """The settings with parameters, of the names of their fields, in the place of plain numbers."""
    assert is_dataclass(settings)
    values = {each.name: getattr(settings, each.name) for each in fields(settings)}
    numbers = {name: value for name, value in values.items() if isinstance(value, (int, float))}
    return replace(settings, **{name: Param(name, float(value)) for name, value in numbers.items()})  # type: ignore[type-var]  # it is a dataclass, see above


def has_nan(expression: ca.SX) -> bool:
    """Whether something in an expression is no number, whatever its symbols are."""
    function = ca.Function("f", [ca.vertcat(*ca.symvar(expression), ca.SX(0, 1))], [expression])
    return any(
        function.instruction_id(k) == ca.OP_CONST and math.isnan(function.instruction_constant(k))
        for k in range(function.n_instructions())
    )


__all__ = [
    "check_finite",
    "check_not_negative",
    "check_positive",
    "constant_numbers",
    "has_nan",
    "numbers_as_parameters",
]
