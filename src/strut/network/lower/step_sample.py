"""`step_sample`: what a network does once in every step, as a `Sample` of its system."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import casadi as ca

from strut.network.lower import algebra
from strut.network.lower.meaning import Meaning
from strut.network.model import Variable
from strut.network.text.errors import Mark
from strut.system import Discrete, Sample, time


class Attempt(Protocol):
    """Does something; None where that was a mistake, which is kept for later with a place."""

    def __call__(self, act: Callable[[], ca.SX], mark: Mark | None) -> ca.SX | None:
        """The result of `act`, or None."""
        ...


def step_sample(
    m: Meaning, flows: Callable[[ca.SX], bool], attempt: Attempt
) -> tuple[tuple[Sample, ...], list[Discrete]]:
    """The sample that draws random numbers, moves discrete variables and constrains states in every step.

    flows: whether an expression changes between events. Returns the sample, if anything is to be done, and
    the discrete states that it needs besides those of variables.
    """
    sets: dict[str, ca.SX] = {number.name: drawn.sym for number, drawn in m.draws}
    moving = [v for v in m.discrete if "discrete" in v.flags and any(a.rate for a in m.actions.get(v, ()))]
    later: list[tuple[Discrete, Variable, ca.SX]] = []
    extra: list[Discrete] = []
    first_step_done = Discrete("step.begun", 0.0, description="0 until the first step")
    for v in moving:
        step = attempt(partial(_next_value, m, v), v.mark)
        if step is None:
            continue
        if flows(step):
            # Evaluated with the states of this step and shown in the next: a discrete state holds it.
            name, description = f"step.next{len(later) + 1}", f"the next value of {m.names[v]}"
            later.append((Discrete(name, _at_start(m, step), description=description), v, step))
        else:
            sets[m.names[v]] = ca.if_else(first_step_done.sym, step, m.discrete[v].sym)
    if later:
        # All variables change at once, so what is held for the next step is computed from their new values.
        old = [m.discrete[v].sym for _, v, _ in later]
        new = [ca.if_else(first_step_done.sym, q.sym, m.discrete[v].sym) for q, v, _ in later]
        for (q, v, step), value in zip(later, new, strict=True):
            sets[m.names[v]] = value
            sets[q.name] = ca.substitute([step], old, new)[0]
            extra.append(q)
    if moving:
        extra.append(first_step_done)
        sets[first_step_done.name] = ca.SX(1)
    for v, state in m.states.items():
        if v.constraint is not None:
            sets[state.name] = algebra.flat(m.value(v))
    return ((Sample("step", m.time_step().sym, sets),) if sets else ()), extra


def _next_value(m: Meaning, v: Variable) -> ca.SX:
    """The value of a discrete variable after the next step."""
    return algebra.flat(m.value(v) + m.rate(v))


def _at_start(m: Meaning, expression: ca.SX) -> ca.SX:
    """An expression with time, discrete states and inputs as a run begins with them."""
    quantities = (
        *m.discrete.values(),
        *(s for s, _ in m.state_machines.values()),
        *(h for h, _ in m.draws),
        *m.inputs.values(),
    )
    symbols = [time, *(q.sym for q in quantities)]
    return ca.substitute([expression], symbols, [ca.SX(0), *(ca.SX(q.value) for q in quantities)])[0]
