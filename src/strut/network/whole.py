"""Whole numbers from what models say."""

from __future__ import annotations

from strut.network.errors import Mistake


def whole(value: float | str) -> int:
    """The whole number of a text or a value; neither infinity nor a word is one."""
    try:
        return int(value)
    except (ValueError, OverflowError) as error:
        text = str(value)
        raise Mistake(f"'{text if len(text) < 40 else text[:37] + '...'}' is no whole number") from error


HIGHEST = 20
"""Orders of derivatives go no higher."""


def check_order(order: int) -> int:
    if not 0 <= order <= HIGHEST:
        raise Mistake(f"a derivative of order {order} is asked for: 0 to {HIGHEST} are possible")
    return order
