"""Conditions as text; arithmetic as text is tested with model files, which are made of it."""

import casadi as ca
import pytest

from strut.errors import ExpressionError
from strut.system import parse_expression

NAMES = {"a": ca.SX.sym("a"), "b": ca.SX.sym("b")}


def holds(text, a, b):
    expression = parse_expression(text, NAMES, conditions=True)
    return bool(ca.Function("f", list(NAMES.values()), [expression])(a, b))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", True),
        ("a >= b", False),
        ("0 < a < b <= 2", True),
        ("0 < a < b < 2", False),
        ("a > b or b > a", True),
        ("a > b and b > a", False),
        ("not a > b", True),
        ("abs(a - b) < 0.5 * b", False),
    ],
)
def test_conditions_hold_as_python_says(text, expected):
    assert holds(text, 1.0, 2.0) is expected
    assert bool(eval(text, {"a": 1.0, "b": 2.0})) is expected


def test_conditions_are_no_arithmetic_unless_asked_for():
    with pytest.raises(ExpressionError, match="'a < b' is not allowed"):
        parse_expression("a < b", NAMES)


def test_equality_is_refused():
    with pytest.raises(ExpressionError, match="only <, <=, > and >= compare here"):
        parse_expression("a == b", NAMES, conditions=True)
