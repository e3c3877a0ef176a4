"""Phases of a plan that end by time: the jumps at their ends, as events of the machine with its plan."""

from __future__ import annotations

import casadi as ca

from strut.optimal.problem import Phase
from strut.optimal.solver.result import Solution
from strut.system import Discrete, Event, State, System

CLOCK = "plan_clock"
"""The state that is the time since a plan began [s]."""


def jump_event(result: Solution, k: int) -> str:
    """Return the name of the event of the machine with its plan that stands for the end of phase k, where
    that ends by time and something jumps then; empty otherwise."""
    phases = result.problem.phases
    if phases[k].until is not None or k + 1 >= len(phases):
        return ""
    return f"{event_name(phases[k])}_ends" if phases[k].jump or phases[k + 1].z else ""


def event_name(phase: Phase) -> str:
    """Return the name of a phase as one that an event may have."""
    name = "".join(letter if letter.isalnum() else "_" for letter in phase.name)
    return name if name[:1].isalpha() else f"phase_{name}"


def add_timed_jumps(whole: System, result: Solution) -> System:
    """Return the machine with its plan with an event at the end of every phase that ends by time and jumps
    then, or leads to one with discrete states of its own."""
    names = {k: name for k in range(len(result.phases)) if (name := jump_event(result, k))}
    if not names:
        return whole
    if CLOCK not in whole.labels("x"):
        clock = State(CLOCK, 0.0, "s", description="since the plan began", internal=True)
        whole = whole.replace(x=(*whole.x, clock), flow={**whole.flow, clock.name: 1.0})
    phases = result.problem.phases
    jumps = Discrete("plan_jumps", 0.0, description="ends of phases by time, so far", internal=True)
    events = [
        Event(
            name,
            guard=whole[CLOCK] - float(result.phases[k].t[-1]),
            when=0.5 - ca.fabs(jumps.sym - number),
            reset={**phases[k].jump, **phases[k + 1].z, jumps.name: jumps.sym + 1},
            priority=-1,
            internal=True,
        )
        for number, (k, name) in enumerate(names.items())
    ]
    return whole.replace(z=(*whole.z, jumps), events=(*whole.events, *events))


__all__ = ["CLOCK", "add_timed_jumps", "jump_event"]
