"""`Integral`, `Jumps` and `Initial`: numbers of a whole motion, which costs and requirements use."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.system import Expression, Quantity, sx

SPLITS = ("", "positive", "absolute")
"""What of a rate can be integrated."""


def _fill_quantity(total: Quantity, name: str) -> None:
    """Set what a quantity has besides its symbol: a name, and nothing that a total of a motion could have."""
    for label, value in (
        ("name", name),
        ("value", 0.0),
        ("unit", ""),
        ("bounds", (-math.inf, math.inf)),
        ("description", ""),
    ):
        object.__setattr__(total, label, value)


@dataclass(frozen=True, eq=False)
class Integral(Quantity):
    """The integral of `rate` over all phases, or over the one named `phase`; used in `minimise` as if it were
    a number.

    split: '' integrates the rate as it is, 'positive' what of it is positive, 'absolute' its absolute value.
        The latter two are not smooth: they are put as differences of two slacks that are not negative, which
        a solver takes well; a rounded corner would stop it.
    """

    rate: Expression = None
    split: str = ""
    phase: str | None = None
    kind = "integral"

    def __init__(self, name: str, rate: Expression, split: str = "", phase: str | None = None) -> None:
        _fill_quantity(self, name)
        if split not in SPLITS:
            raise ModelError(
                f"integral '{name}' has split '{split}': allowed are '', 'positive' and 'absolute'"
            )
        if sx(rate).numel() != 1:
            raise ModelError(
                f"integral '{name}' has a rate of {sx(rate).numel()} numbers: give their sum, or one "
                f"Integral for each"
            )
        object.__setattr__(self, "rate", sx(rate))
        object.__setattr__(self, "split", split)
        object.__setattr__(self, "phase", phase)
        self.__post_init__()


@dataclass(frozen=True, eq=False)
class Jumps(Quantity):
    """The sum of `amount`, an expression of the state before an event, over the events that end phases (or
    over those of one name). `system.after(event, e)` says what comes after one."""

    amount: Any = None
    event: str | None = None
    kind = "sum over events"

    def __init__(
        self, name: str, amount: Expression | Mapping[str, Expression], event: str | None = None
    ) -> None:
        _fill_quantity(self, name)
        amounts = {n: sx(e) for n, e in amount.items()} if isinstance(amount, Mapping) else sx(amount)
        object.__setattr__(self, "amount", amounts)
        object.__setattr__(self, "event", event)
        self.__post_init__()

    def of(self, event: str) -> ca.SX:
        """Return what one event adds."""
        if isinstance(self.amount, Mapping):
            return ca.SX(self.amount.get(event, ca.SX(0)))
        return ca.SX(self.amount) if self.event in (None, event) else ca.SX(0)


@dataclass(frozen=True, eq=False)
class Initial(Quantity):
    """The value that a continuous state has where the motion begins; `initial` makes one. state: its name, of
    a vector with the component, 'q[0]'."""

    state: str = ""
    kind = "initial value"

    def __init__(self, state: str) -> None:
        if not isinstance(state, str) or not state:
            raise ModelError(
                f"the initial value of {state!r} is asked: give the name of a state, initial('x')"
            )
        _fill_quantity(self, "initial_" + re.sub(r"\W", "_", state))
        object.__setattr__(self, "state", state)
        self.__post_init__()


@checked
def initial(state: str) -> Initial:
    """Return the value that a continuous state has where the motion begins, for costs and for requirements at
    the end: `problem.require("returns", x - initial("x"), equal=0, at="end")`. One symbol for each name."""
    return _initial(state)


@cache
def _initial(state: str) -> Initial:
    return Initial(state)


MotionTotal = Integral | Jumps | Initial
"""A number of a whole motion."""

__all__ = ["Initial", "Integral", "Jumps", "MotionTotal", "initial"]
