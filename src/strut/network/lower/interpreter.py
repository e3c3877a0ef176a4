"""What functions and operators need of a network's meaning: values of formulas, and quantities
of their own."""

from __future__ import annotations

import random
from typing import Protocol

import casadi as ca

from strut.network.lower.frame import EvaluationFrame
from strut.network.model import Item, Object
from strut.network.text.formula import Name, Tree
from strut.system import Delay, Discrete, Param, Random


class Interpreter(Protocol):
    """Gives expressions their values; `Meaning` is one.

    extra_params, draws, delays: quantities that random numbers and delays have made so far.
    spare: counts them. random: gives the values that random numbers begin with.
    """

    extra_params: list[Param]
    draws: list[tuple[Discrete, Random]]
    delays: list[Delay]
    spare: int
    random: random.Random

    def formula(self, text: str, item: Item | Object, frame: EvaluationFrame) -> ca.SX:
        """The expression of a text that belongs to an item."""
        ...

    def tree(self, tree: Tree, frame: EvaluationFrame) -> ca.SX:
        """The expression of a tree."""
        ...

    def resolve(self, tree: Tree, frame: EvaluationFrame) -> ca.SX:
        """The expression of a tree that is no plain arithmetic: a name, a call, an operator, a derivative."""
        ...

    def name(self, tree: Name, frame: EvaluationFrame) -> ca.SX:
        """The expression of a name, or its derivative."""
        ...

    def known_number(self, m: ca.SX) -> float:
        """The number of an expression of which parameters are known: an index, a size."""
        ...

    def time_derivative(self, expression: ca.SX, order: int, frame: EvaluationFrame) -> ca.SX:
        """The time derivative."""
        ...
