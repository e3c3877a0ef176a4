"""Makes variables quantities of the system: parameters, inputs, states or discrete states."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np

from strut.network.build.calculation import CONSTANTS
from strut.network.lower import algebra, scope
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.functions import BUILT_IN
from strut.network.lower.meaning import Meaning
from strut.network.model import Object, Variable
from strut.network.text.errors import Mistake
from strut.network.text.formula import (
    Binary,
    Call,
    Index,
    Matrix,
    Name,
    Number,
    Range,
    Ternary,
    Tree,
    Unary,
    read_formula,
)
from strut.system import Discrete, Input, Param, State

STRUCTURE = ("zeros", "eye")
"""Functions that make matrices for their shape: what they give is no parameter, even where it is one
number."""


def add_constant(m: Meaning, v: Variable) -> None:
    """Make a variable a parameter if it is one number that depends on nothing; with the flag 'in', an input.

    A variable that is neither is left as it is.
    """
    try:
        number = float(v.text)
    except ValueError:
        if "in" not in v.flags and not is_constant(v.text, v.owner):
            return
        value = m.formula(v.text, v, EvaluationFrame(v.owner, initial=True))
        if "in" in v.flags and value.is_constant():
            m.memo[(v, True)] = value
            m.inputs[v] = Input(m.names[v], np.array(ca.DM(algebra.flat(value))).ravel(), description=v.note)
            return
        if value.numel() != 1 or not value.is_constant():
            return
        number = float(value)
    if not math.isfinite(number):
        return
    if "in" in v.flags:
        m.memo[(v, True)] = ca.SX(number)
        m.inputs[v] = Input(m.names[v], number, description=v.note)
    else:
        param = Param(m.names[v], number, description=v.note)
        m.memo[(v, True)] = m.memo[(v, False)] = param.sym
        m.params[v] = param


def add_changing(m: Meaning, v: Variable, kind: str) -> None:
    """Make a variable a state or a discrete variable that begins with its own expression.

    kind: "state" or "discrete".
    """
    start = algebra.flat(m.value(v, True))
    if kind == "state":
        state = State(m.names[v], start, description=v.note)
        m.states[v] = state
        for k, symbol in enumerate(ca.vertsplit(state.sym)):
            m.owners[symbol.element_hash()] = (v, k)
    else:
        m.discrete[v] = Discrete(m.names[v], start, description=v.note)


def is_constant(text: str, thing: Object) -> bool:
    """Whether an expression is made of numbers, constants and functions of the language alone, seen from a
    thing."""
    try:
        waiting: list[Tree | None] = [read_formula(text).tree]
    except Mistake:
        return False
    while waiting:
        t = waiting.pop()
        if t is None or isinstance(t, Number):
            continue
        if isinstance(t, Name):
            if t.order or t.name not in CONSTANTS or scope.variable(t.name, thing) is not None:
                return False
        elif isinstance(t, Call):
            if (
                t.order
                or t.name in ("rand", *STRUCTURE)
                or t.name not in BUILT_IN
                or scope.function(t.name, thing) is not None
            ):
                return False
            waiting.extend(t.arguments)
        elif isinstance(t, Unary):
            waiting.append(t.operand)
        elif isinstance(t, Binary):
            waiting.extend((t.left, t.right))
        elif isinstance(t, Ternary):
            waiting.extend((t.condition, t.yes, t.no))
        elif isinstance(t, Matrix):
            waiting.extend(e for row in t.rows for e in row)
        elif isinstance(t, Index):
            waiting.extend((t.of, *t.at))
        elif isinstance(t, Range):
            waiting.extend((t.start, t.stop, t.step))
        else:
            return False
    return True
