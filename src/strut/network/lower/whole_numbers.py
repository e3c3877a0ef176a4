"""Checks numbers that models say: whole numbers, orders and sizes of derivatives."""

from __future__ import annotations

import casadi as ca

from strut.network.text.errors import Mistake


def whole(value: float | str) -> int:
    """The whole number of a text or a value. Raises `Mistake` for what is none: infinity, a word."""
    try:
        return int(value)
    except (ValueError, OverflowError) as error:
        text = str(value)
        raise Mistake(f"'{text if len(text) < 40 else text[:37] + '...'}' is no whole number") from error


MAX_DERIVATIVE_ORDER = 20
"""The highest order of a derivative."""


def check_order(order: int) -> int:
    """The order of a derivative itself. Raises `Mistake` where it is beyond `MAX_DERIVATIVE_ORDER`."""
    if not 0 <= order <= MAX_DERIVATIVE_ORDER:
        raise Mistake(f"a derivative of order {order} is asked for: 0 to {MAX_DERIVATIVE_ORDER} are possible")
    return order


MAX_DERIVED_OPERATIONS = 100_000
"""How many operations an expression may have that is differentiated."""


def check_size(expression: ca.SX) -> None:
    """Raise `Mistake` where an expression is too large to be differentiated."""
    if ca.n_nodes(expression) > MAX_DERIVED_OPERATIONS:
        raise Mistake(
            f"a derivative of more than {MAX_DERIVED_OPERATIONS} operations is needed here: "
            "derive something simpler"
        )
