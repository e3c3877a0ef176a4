"""Peaks that a clock looks for: largest values at even times, remembered in discrete states.

`largest(e)` of measures is located where its rate changes its sign, which needs that rate as an expression:
of a force in a machine with closed loops it is longer than the machine. A clock needs the value alone, and so
does a state that follows it (`follow_peaks`).
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from strut.checks import checked, finite, positive
from strut.errors import ModelError
from strut.system import Discrete, Expression, Sample, State, System, sx, time


@checked
def remember_peaks(
    system: System, values: Mapping[str, Expression], *, every: float, begin: float = 0.0
) -> System:
    """Return the system with a discrete state for each value that remembers its largest at even times.

    values: by the name of the discrete state, an expression of the system; 0 is the least that is remembered.
    every: the time between two looks [s]: a peak that is shorter may be missed. begin: from when on they
    count [s].
    """
    step, first = positive("every", every, "s"), finite("begin", begin)
    if not values:
        raise ModelError("no value is given whose peak is to be remembered: give expressions by name")
    memories = {name: Discrete(name, 0.0, internal=True) for name in values}
    # a look that falls on `begin` counts, whatever rounding says
    counts = time >= first - step / 2
    looks = {
        name: ca.if_else(counts, ca.fmax(memories[name].sym, sx(value)), memories[name].sym)
        for name, value in values.items()
    }
    clock = Sample("peaks", every=step, set=looks)
    return system.replace(z=(*system.z, *memories.values()), samples=(*system.samples, clock))


@checked
def follow_peaks(
    system: System, values: Mapping[str, Expression], *, lag: float, begin: float = 0.0
) -> System:
    """Return the system with a state for each value that rises to it while it is larger, and never falls:
    for runs in lanes and on cards, which have no clocks.

    values: by the name of the state, an expression of the system; 0 is the least that is followed. lag: time
    constant with which a state rises [s]: of a peak that lasts as long two thirds are seen, of a longer one
    all, and of a shorter one less. begin: from when on they count [s].
    """
    rate, first = 1 / positive("lag", lag, "s"), finite("begin", begin)
    if not values:
        raise ModelError("no value is given whose peak is to be followed: give expressions by name")
    states = {name: State(name, 0.0) for name in values}
    rates = {
        state: ca.if_else(time >= first, rate * ca.fmax(sx(values[name]) - state.sym, 0), 0)
        for name, state in states.items()
    }
    return system.replace(x=(*system.x, *states.values()), flow={**system.flow, **rates})


__all__ = ["follow_peaks", "remember_peaks"]
