"""Largest values over a run: discrete states that remember them, set by events where the value turns.

A value is largest where a run begins or ends, before or after a jump, or where its rate falls through zero
after it has risen above all before. The last are located as any event is, so the result does not depend on
the steps of the integrator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from strut.system import Discrete, Event, Sample, System, sx, time

LARGEST_PREFIX = "measured_largest"
"""What names of the states and events begin with that remember a largest value."""
INITIAL_LARGEST = -1e300
"""What a largest value is before anything was seen."""
MIN_RISE = 1e-9
"""By how much, in its own unit, a value must exceed the largest before it to count as a turn, besides a
part of itself: what comes to rest would else turn at every step, and never come to an end."""
MIN_RISE_PART = 1e-8
"""[1] Part of itself by which a value must exceed the largest before it to count as a turn: the rounding of
what stays the same would else be an event at every step."""
LAST_PRIORITY = 1_000_000
"""Of events at one instant the machine's own go first."""


@dataclass(frozen=True)
class Extreme:
    """A largest value that is asked for. name: of the state that remembers it. value: an expression of the
    system. begin: from when on it counts [s]."""

    name: str
    value: ca.SX
    begin: float

    def largest_with(self, value: ca.SX, memory: ca.SX) -> ca.SX:
        """Return the largest of what the memory holds and of one more value, which counts from `begin` on."""
        larger = ca.fmax(memory, value)
        return ca.if_else(time >= self.begin, larger, memory) if self.begin > 0 else larger


def remember_largest(system: System, extremes: list[Extreme]) -> System:
    """Return the system with a discrete state for each largest value."""
    if not extremes:
        return system
    memories = {each.name: Discrete(each.name, INITIAL_LARGEST, internal=True) for each in extremes}
    turns = tuple(_turn(system, each, memories[each.name].sym) for each in extremes)

    def jump_values(changes: Mapping[Any, Any]) -> dict[str, ca.SX]:
        """Return largest values after a jump: of those before, and the values before and after it."""
        new_values = {str(name): sx(value) for name, value in changes.items()}
        quantities = [q for q in (*system.x, *system.z) if q.name in new_values]
        result = {}
        for each in extremes:
            after = each.value
            if quantities:
                symbols, values = [q.sym for q in quantities], [new_values[q.name] for q in quantities]
                after = ca.substitute([each.value], symbols, values)[0]
            memory = each.largest_with(each.value, memories[each.name].sym)
            result[each.name] = each.largest_with(after, memory)
        return result

    events = [replace(event, reset={**event.reset, **jump_values(event.reset)}) for event in system.events]
    samples: list[Sample] = [
        replace(sample, set={**sample.set, **jump_values(sample.set)}) for sample in system.samples
    ]
    return replace(
        system, z=(*system.z, *memories.values()), events=(*events, *turns), samples=tuple(samples)
    )


def _turn(system: System, extreme: Extreme, memory: ca.SX) -> Event:
    """Return the event in which a value has risen to a new largest and begins to fall. It also happens as a
    run begins with a falling value, and where it begins to count."""
    value = extreme.value
    rate = ca.jacobian(value, time)
    for state in system.x:
        if ca.depends_on(value, state.sym):
            rate = rate + ca.jtimes(value, state.sym, sx(system.flow[state.name]))
    rise = value - memory - (MIN_RISE + MIN_RISE_PART * ca.fabs(value))
    guard = ca.fmin(-rate, rise)
    if extreme.begin > 0:
        guard = ca.fmin(guard, time - extreme.begin)
    return Event(
        f"{extreme.name}_turn",
        ca.densify(guard),
        {extreme.name: extreme.largest_with(value, memory)},
        priority=LAST_PRIORITY,
        eager=True,
    )
