"""`Interpreter`: what functions and operators need of a network's meaning."""

from __future__ import annotations

import random
from typing import Protocol

import casadi as ca

from strut.network.lower.frame import EvaluationFrame
from strut.network.model import Item, Node, Object, Variable
from strut.network.text.errors import Mark
from strut.network.text.formula import Name, Tree
from strut.system import Delay, Discrete, Param, Random


class Interpreter(Protocol):
    """Evaluates expressions of a network; `Meaning` is one.

    extra_params, draws, delays: quantities that random numbers and delays have made so far.
    extra_count: counts them. random: gives the values that random numbers begin with.
    state_machines: nodes that have states, each with its discrete state and the names of its states.
    awaited_states: states that something waits for, and where.
    """

    extra_params: list[Param]
    draws: list[tuple[Discrete, Random]]
    delays: list[Delay]
    extra_count: int
    random: random.Random
    state_machines: dict[Node, tuple[Discrete, list[str]]]
    awaited_states: list[tuple[Node, str, Mark | None]]

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

    def shape(self, variable: Variable) -> tuple[int, int]:
        """The shape of a variable, from its own expression."""
        ...

    def time_derivative(self, expression: ca.SX, order: int, frame: EvaluationFrame) -> ca.SX:
        """The time derivative."""
        ...
