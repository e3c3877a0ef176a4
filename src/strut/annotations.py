"""Does a value fit an annotation, and what does an annotation ask for in words?"""

from __future__ import annotations

import inspect
import math
import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import casadi as ca
import numpy as np

MAX_INTEGER = 2**63 - 1
"""Larger whole numbers fit nowhere: not into C, not into NumPy, and beyond 4300 digits not even into a
message."""
MAX_NAME_BYTES = 255
"""Bytes of a file's name that every file system takes."""
MAX_PATH_BYTES = 4000
"""Bytes of a whole path that every system takes."""


class AnyExpression:
    """Stands for the annotation `Expression`: a number, a quantity, a CasADi expression, or a sequence of
    these."""


def is_number(value: object) -> bool:
    """Is it one real number, infinity included, that a float can hold; no truth value and no text?"""
    if isinstance(value, (bool, np.bool_, str, bytes, bytearray)):
        return False
    if (
        isinstance(value, (np.ndarray, ca.DM))
        and np.ndim(np.asarray(value))
        and np.size(np.asarray(value)) != 1
    ):
        return False
    try:
        return not math.isnan(float(value))  # type: ignore[arg-type]  # what is no number raises, and is caught
    except Exception:
        return False


def is_integer(value: object) -> bool:
    """Is it a whole number that fits into 64 bits; no truth value?"""
    return (
        isinstance(value, (int, np.integer))
        and not isinstance(value, (bool, np.bool_))
        and abs(int(value)) <= MAX_INTEGER
    )


def fits(value: Any, annotation: Any) -> bool:
    """Is the value what the annotation asks for?"""
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
    Callable: _fits_callable,
    Sequence: _fits_sequence,
    list: _fits_sequence,
    tuple: _fits_tuple,
    Iterable: _fits_iterable,
    Collection: _fits_iterable,
    Mapping: _fits_mapping,
    dict: _fits_mapping,
    AnyExpression: _fits_expression,
}
"""How a value is held against an annotation, by what the annotation is without its brackets."""


def describe_annotation(annotation: Any) -> str:
    """Say in words what an annotation asks for."""
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
    Callable: "a function",
    AnyExpression: "a number, a quantity or an expression of them",
    Sequence: "a list",
    Mapping: "a dict",
}
