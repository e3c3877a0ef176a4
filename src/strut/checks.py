"""Wrong arguments: of public functions, explained by their annotations; and of single values, by what they
must be.

`@checked` stands above a public function or class. It costs nothing while all goes well. Where a call ends in
an error that is not strut's own, every argument is held against its annotation, and the first that does not
fit is named in an `ArgumentError`: function, argument, value and what is needed. An error with arguments that
fit passes as it is. What a
function can say better it checks itself, with the other functions here: a number being positive, a seed, an
order.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import math
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import casadi as ca
import numpy as np

from strut.errors import ArgumentError, StrutError, ValueRangeError

F = TypeVar("F", bound=Callable[..., Any])

MAX_INTEGER = 2**63 - 1
"""Larger whole numbers fit nowhere: not into C, not into NumPy, and beyond 4300 digits not even into a
message."""
MAX_SEED = 2**64 - 1
"""The largest seed that the random numbers of the C runtime take."""
MAX_NAME_BYTES = 255
"""Bytes of a file's name that every file system takes."""
MAX_PATH_BYTES = 4000
"""Bytes of a whole path that every system takes."""
SHOWN_CHARACTERS = 60
"""Of a wrong value in a message."""


class _Expression:
    """Stands for the annotation `Expression`: a number, a quantity, a CasADi expression, or a sequence of
    these."""


def short_repr(value: object) -> str:
    """A value for a message: short, and never an error itself."""
    try:
        text = repr(value)
    except Exception:  # a foreign object, or an integer too long to be written
        text = f"a {type(value).__name__} that cannot be shown"
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "..."


# ---- single values ----


def is_number(value: object) -> bool:
    """One real number, infinity included, that a float can hold; no truth value and no text."""
    if isinstance(value, (bool, np.bool_, str, bytes, bytearray)):
        return False
    if (
        isinstance(value, (np.ndarray, ca.DM))
        and np.ndim(np.asarray(value))
        and np.size(np.asarray(value)) != 1
    ):
        return False
    try:
        return not math.isnan(float(value))  # type: ignore[arg-type]
    except Exception:
        return False


def is_integer(value: object) -> bool:
    """A whole number that fits into 64 bits; no truth value."""
    return (
        isinstance(value, (int, np.integer))
        and not isinstance(value, (bool, np.bool_))
        and abs(int(value)) <= MAX_INTEGER
    )


def finite(name: str, value: Any, unit: str = "") -> float:
    """The value as a finite number, else `ValueRangeError`."""
    if not is_number(value) or not math.isfinite(float(value)):
        raise ValueRangeError(
            f"{name} is {short_repr(value)}: a finite number{f' in {unit}' if unit else ''} is needed"
        )
    return float(value)


def positive(name: str, value: Any, unit: str = "") -> float:
    """The value as a finite number above zero, else `ValueRangeError`."""
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise ValueRangeError(
            f"{name} is {short_repr(value)}: a positive number{f' in {unit}' if unit else ''} is needed"
        )
    return float(value)


def integer(name: str, value: Any, least: int, most: int = MAX_INTEGER) -> int:
    """The value as a whole number between two, else `ValueRangeError`."""
    if not is_integer(value) or not least <= int(value) <= most:
        allowed = f"at least {least}" if most == MAX_INTEGER else f"{least} to {most}"
        raise ValueRangeError(f"{name} is {short_repr(value)}: a whole number is needed, {allowed}")
    return int(value)


def seed_number(value: Any) -> int:
    """The seed of random numbers: a whole number of 64 bits without sign, else `ValueRangeError`."""
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
    """The value as an array of numbers with so many axes, else `ValueRangeError`; what is not a number, nan,
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
    """Refuse a value that lacks what is read of it, with `ArgumentError`: where a room may not know the class
    itself."""
    for attribute in attributes:
        if not hasattr(value, attribute):
            raise ArgumentError(
                f"{name} is {short_repr(value)}{_kind_of(value)}, which has no '{attribute}': {what} is "
                "needed"
            )


def ordered_pair(name: str, value: Any) -> tuple[float, float]:
    """Two numbers, the first not above the second, else `ValueRangeError`; infinity is allowed."""
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
        function.__init__ = _wrap_function(function.__init__, function.__name__)  # type: ignore[misc]
        return typing.cast(F, function)
    return _wrap_function(function, _title(function))


def _wrap_function(function: F, title: str) -> F:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except StrutError:
            raise
        except Exception as error:
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
        "Expression": _Expression,
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
    wanted = {getattr(each, "__name__", "") for each in (annotation, *typing.get_args(annotation))}
    if "System" in wanted and type(value).__name__ == "Mechanism":
        return "; of a Mechanism m, give mechanism.system(m), or on ground contact.rigid(m, ...)"
    if callable(value) and wanted & {"System", "Mechanism"}:
        return f"; call it, {getattr(value, '__name__', 'name')}()"
    if "System" in wanted:
        return "; strut.walkers has functions that make one"
    return ""


def _kind_of(value: object) -> str:
    return "" if value is None or isinstance(value, (bool, int, float)) else f" (a {type(value).__name__})"


def fits(value: Any, annotation: Any) -> bool:
    """The value is what the annotation asks for."""
    if annotation in (Any, object, inspect.Parameter.empty) or isinstance(annotation, (str, TypeVar)):
        return True
    if annotation in (None, type(None)):
        return value is None
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kinds = [
            each for each in inner if each is not str or Path not in inner
        ]  # a text that is to be a path must be one
        return any(fits(value, each) for each in kinds)
    if origin is typing.Annotated:
        return fits(value, inner[0])
    if origin is typing.Literal:
        return value in inner
    plain = annotation if origin is None else origin
    test = _TESTS.get(plain)
    if test is not None:
        return test(value, inner)
    return isinstance(value, plain) if isinstance(plain, type) else True


def _fits_float(value: Any, inner: tuple[Any, ...]) -> bool:
    return is_number(value)


def _fits_callable(value: Any, inner: tuple[Any, ...]) -> bool:
    """Something that can be called with as many arguments as the annotation says."""
    if not callable(value) or not inner or not isinstance(inner[0], list):
        return callable(value)
    try:
        inspect.signature(value).bind(*inner[0])
    except TypeError:
        return False
    except ValueError:  # of functions in C, whose arguments nobody knows
        return True
    return True


def _fits_path(value: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(value, (str, os.PathLike)):
        return False
    try:
        raw = os.fsencode(value)
    except (TypeError, ValueError):
        return False
    names = raw.split(os.fsencode(os.sep))
    return (
        0 < len(raw) <= MAX_PATH_BYTES
        and b"\0" not in raw
        and all(len(name) <= MAX_NAME_BYTES for name in names)
    )


def _fits_array(value: Any, inner: tuple[Any, ...]) -> bool:
    try:
        return np.asarray(value, dtype=float).dtype.kind == "f" and value is not None
    except Exception:
        return False


def _fits_sequence(value: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
        return False
    if isinstance(value, np.ndarray) and not value.ndim:
        return False
    return all(fits(each, inner[0]) for each in value) if inner else True


def _fits_tuple(value: Any, inner: tuple[Any, ...]) -> bool:
    if not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and not value.ndim):
        return False
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(fits(each, inner[0]) for each in value)
    return not inner or (len(value) == len(inner) and all(map(fits, value, inner)))


def _fits_iterable(value: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, (str, bytes, ca.SX, ca.DM, ca.MX)) or not isinstance(value, (Iterable, np.ndarray)):
        return False
    return not isinstance(value, Collection) or not inner or all(fits(each, inner[0]) for each in value)


def _fits_mapping(value: Any, inner: tuple[Any, ...]) -> bool:
    return isinstance(value, Mapping) and (
        len(inner) != 2 or all(fits(each, inner[1]) for each in value.values())
    )


def _fits_expression(value: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(_fits_expression(each, ()) for each in value)
    if isinstance(value, (np.ndarray, ca.DM, ca.SX)) and not np.prod(value.shape):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype == object or (_fits_array(value, ()) and not np.any(np.isnan(value.astype(float))))
    if isinstance(value, (ca.SX, ca.DM, bool)) or is_number(value):
        return True
    return isinstance(getattr(value, "sym", None), ca.SX)


_TESTS: dict[Any, Callable[[Any, tuple[Any, ...]], bool]] = {
    float: _fits_float,
    int: lambda value, inner: is_integer(value),
    bool: lambda value, inner: isinstance(value, (bool, np.bool_)),
    Path: _fits_path,
    np.ndarray: _fits_array,
    Callable: _fits_callable,  # type: ignore[dict-item]
    Sequence: _fits_sequence,
    list: _fits_sequence,
    tuple: _fits_tuple,
    Iterable: _fits_iterable,
    Collection: _fits_iterable,
    Mapping: _fits_mapping,
    dict: _fits_mapping,
    _Expression: _fits_expression,
}
"""How a value is held against an annotation, by what the annotation is without its brackets."""


def describe_annotation(annotation: Any) -> str:
    """What an annotation asks for, in words."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        kinds = [each for each in inner if each is not str or Path not in inner]
        return " or ".join(dict.fromkeys(describe_annotation(each) for each in kinds))
    if origin is typing.Annotated:
        return describe_annotation(inner[0])
    if annotation in (None, type(None)):
        return "None"
    plain = annotation if origin is None else origin
    if plain is tuple and inner and inner[-1] is not Ellipsis:
        words = [describe_annotation(each) for each in inner]
        return (
            f"a tuple of {len(words)}, {', '.join(words)}"
            if len(set(words)) > 1
            else f"a tuple of {len(words)}, each {words[0]}"
        )
    if plain in (Sequence, list, tuple, Iterable, Collection) and inner:
        return f"a list, each {describe_annotation(inner[0])}"
    if plain in (Mapping, dict) and len(inner) == 2:
        return (
            f"a dict by name, each value {describe_annotation(inner[1])}"
            if inner[1] is not Any
            else "a dict by name"
        )
    if plain is Callable and inner and isinstance(inner[0], list):
        return f"a function of {len(inner[0])} argument(s)"
    return _WORDS.get(plain, f"a {plain.__name__}" if isinstance(plain, type) else "something else")


_WORDS: dict[Any, str] = {
    float: "a number",
    int: "a whole number of at most 64 bits",
    bool: "True or False",
    str: "a text",
    Path: "a path that a file can have",
    np.ndarray: "an array of numbers",
    Callable: "a function",  # type: ignore[dict-item]
    _Expression: "a number, a quantity or an expression of them",
    Sequence: "a list",
    Mapping: "a dict",
}
