"""Wrong arguments: of public functions, explained by their annotations; and of single values, by what they
must be.

`@checked` stands above a public function or class. It costs nothing while all goes well. Where a call ends in
an error that is not strut's own, every argument is held against its annotation, and the first that does not
fit is named in an `ArgumentError`: function, argument, value and what is needed. An error with arguments that
fit passes as it is. What a function can say better it checks itself, with the other functions here: a number
being positive, a seed, an order.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numpy as np

from strut.annotations import (
    MAX_INTEGER,
    AnyExpression,
    describe_annotation,
    fits,
    is_integer,
    is_number,
)
from strut.errors import ArgumentError, StrutError, ValueRangeError

F = TypeVar("F", bound=Callable[..., Any])

MAX_SEED = 2**64 - 1
"""The largest seed that the random numbers of the C runtime take."""
MAX_SHOWN_CHARACTERS = 60
"""Characters of a wrong value that a message shows."""


def short_repr(value: object) -> str:
    """Return a value as text for a message: short, and never an error itself."""
    try:
        text = repr(value)
    except Exception:  # a foreign object, or an integer too long to be written
        text = f"a {type(value).__name__} that cannot be shown"
    text = " ".join(text.split())
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."


# ---- single values ----


def finite(name: str, value: Any, unit: str = "") -> float:
    """Return the value as a finite number, or raise `ValueRangeError`. name, unit: for the message."""
    if not is_number(value) or not math.isfinite(float(value)):
        raise ValueRangeError(
            f"{name} is {short_repr(value)}: a finite number{f' in {unit}' if unit else ''} is needed"
        )
    return float(value)


def positive(name: str, value: Any, unit: str = "") -> float:
    """Return the value as a finite number above zero, or raise `ValueRangeError`."""
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise ValueRangeError(
            f"{name} is {short_repr(value)}: a positive number{f' in {unit}' if unit else ''} is needed"
        )
    return float(value)


def integer(name: str, value: Any, least: int, most: int = MAX_INTEGER) -> int:
    """Return the value as a whole number from `least` to `most`, or raise `ValueRangeError`."""
    if not is_integer(value) or not least <= int(value) <= most:
        allowed = f"at least {least}" if most == MAX_INTEGER else f"{least} to {most}"
        raise ValueRangeError(f"{name} is {short_repr(value)}: a whole number is needed, {allowed}")
    return int(value)


def seed_number(value: Any) -> int:
    """Return a seed of random numbers, a whole number of 64 bits without sign, or raise `ValueRangeError`."""
    if (
        not isinstance(value, (int, np.integer))
        or isinstance(value, (bool, np.bool_))
        or not 0 <= int(value) <= MAX_SEED
    ):
        raise ValueRangeError(
            f"seed is {short_repr(value)}: a whole number is needed, at least 0 and below 2**64"
        )
    return int(value)


def number_array(name: str, value: Any, axes: tuple[int, ...] = (0, 1)) -> np.ndarray:
    """Return the value as an array of numbers with as many axes as allowed, or raise `ValueRangeError`; nan
    may be in it."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueRangeError(f"{name} is {short_repr(value)}: numbers are needed") from error
    if array.ndim not in axes:
        allowed = " or ".join(
            {0: "one number", 1: "a row of numbers", 2: "a table of numbers"}[k] for k in axes
        )
        raise ValueRangeError(f"{name} has the shape {array.shape}: {allowed} is needed")
    return array


def require_attributes(name: str, value: Any, attributes: Iterable[str], what: str) -> None:
    """Raise `ArgumentError` for a value that lacks an attribute: where a room may not know the class
    itself."""
    for attribute in attributes:
        if not hasattr(value, attribute):
            raise ArgumentError(
                f"{name} is {short_repr(value)}{_kind_of(value)}, which has no '{attribute}': {what} is "
                "needed"
            )


def ordered_pair(name: str, value: Any) -> tuple[float, float]:
    """Return two numbers, the first not above the second, or raise `ValueRangeError`; infinity is allowed."""
    try:
        pair = tuple(value)
    except TypeError:
        pair = ()
    if len(pair) != 2 or not all(is_number(v) for v in pair) or float(pair[0]) > float(pair[1]):
        raise ValueRangeError(f"{name} is {short_repr(value)}: two numbers are needed, the lower one first")
    return float(pair[0]), float(pair[1])


# ---- annotations ----


def checked(function: F) -> F:
    """Explain errors of a function, or of the making of a class, by the arguments that do not fit their
    annotations; see the module."""
    if isinstance(function, type):
        function.__init__ = _wrap_function(function.__init__, function.__name__)  # type: ignore[misc]  # a class is wrapped at its constructor
        return typing.cast(F, function)
    return _wrap_function(function, _title(function))


def _wrap_function(function: F, title: str) -> F:
    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except StrutError:
            raise
        except Exception as error:
            signature = inspect.signature(function)  # looked at after an error only: it takes a while
            try:
                bound = signature.bind(*arguments, **keywords).arguments
            except TypeError as unfit:
                raise ArgumentError(
                    f"{title}: {unfit}; its arguments are {signature_text(signature)}"
                ) from error
            expected = _annotations(function)
            for name, value in bound.items():
                if name in expected and value is not signature.parameters[name].default:
                    _check_argument(title, signature.parameters[name], value, expected[name], error)
            plugin = re.search(r"Cannot load shared library '(\S+)'", str(error))
            if plugin is not None:
                raise StrutError(
                    f"{title}: CasADi lacks its plugin {plugin[1]}: install it whole (pip install "
                    f"--force-reinstall casadi)"
                ) from error
            if isinstance(error, (RuntimeError, NotImplementedError)) and "casadi" in str(error).lower():
                why = str(error).strip().splitlines()[0].rpartition(": ")[2] or "CasADi refused them"
                raise ArgumentError(
                    f"{title}: its expressions do not fit together ({why}): check their sizes"
                ) from error
            raise

    return typing.cast(F, call)


def signature_text(signature: inspect.Signature) -> str:
    """The names of the arguments, as a list for people."""
    return ", ".join(name for name in signature.parameters if name != "self")


def _title(function: Callable[..., Any]) -> str:
    room, name = function.__module__.split(".")[1:2], function.__qualname__.removesuffix(".__init__")
    return name if room == [name] or name[:1].isupper() else ".".join([*room, name])


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    """What each argument must be, as far as its annotation can be read here; names that only type checkers
    see are left out."""
    names = {
        **vars(typing),
        **_names_for_type_checkers(function),
        **function.__globals__,
        "Expression": AnyExpression,
    }
    expected: dict[str, Any] = {}
    for name, annotation in function.__annotations__.items():
        if name == "return":
            continue
        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            expected[name] = typing.get_type_hints(holder, names)[name]
        except (NameError, AttributeError, TypeError):
            expected[name] = Any
    return expected


def _names_for_type_checkers(function: Callable[..., Any]) -> dict[str, Any]:
    """What the function's module imports of strut only `if TYPE_CHECKING`: annotations use it, and by now it
    can be imported."""
    try:
        source = inspect.getsource(sys.modules[function.__module__])
    except (KeyError, OSError, TypeError):
        return {}
    names: dict[str, Any] = {}
    for block in ast.parse(source).body:
        if not (isinstance(block, ast.If) and ast.unparse(block.test).endswith("TYPE_CHECKING")):
            continue
        for node in block.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("strut."):
                module = importlib.import_module(str(node.module))
                names |= {each.asname or each.name: getattr(module, each.name, Any) for each in node.names}
    return names


def _check_argument(
    title: str, parameter: inspect.Parameter, value: Any, annotation: Any, cause: Exception
) -> None:
    values = [value]
    if parameter.kind is parameter.VAR_POSITIONAL:
        values = list(value)
    elif parameter.kind is parameter.VAR_KEYWORD:
        for key, each in value.items():
            if not fits(each, annotation):
                raise ArgumentError(
                    f"{title}: {key} is {short_repr(each)}{_kind_of(each)}: "
                    f"{describe_annotation(annotation)} is needed"
                ) from cause
        return
    for each in values:
        if not fits(each, annotation):
            what = f"{title}: {parameter.name} is {short_repr(each)}{_kind_of(each)}"
            raise ArgumentError(
                f"{what}: {describe_annotation(annotation)} is needed{_hint(each, annotation)}"
            ) from cause


def _hint(value: Any, annotation: Any) -> str:
    """What a common slip was meant to be, behind a semicolon."""
    type_names = {getattr(each, "__name__", "") for each in (annotation, *typing.get_args(annotation))}
    if "System" in type_names and type(value).__name__ == "Mechanism":
        return "; of a Mechanism m, give mechanism.system(m), or on ground contact.rigid(m, ...)"
    if callable(value) and type_names & {"System", "Mechanism"}:
        return f"; call it, {getattr(value, '__name__', 'name')}()"
    if "System" in type_names:
        return "; strut.walkers has functions that make one"
    return ""


def _kind_of(value: object) -> str:
    return "" if value is None or isinstance(value, (bool, int, float)) else f" (a {type(value).__name__})"


__all__ = [
    "checked",
    "finite",
    "integer",
    "is_integer",
    "is_number",
    "number_array",
    "ordered_pair",
    "positive",
    "require_attributes",
    "seed_number",
    "short_repr",
]
