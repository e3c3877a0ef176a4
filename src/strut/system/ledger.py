"""The energy account of a system: what it stores, what is supplied to it, what it dissipates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strut.checks import checked
from strut.system.quantity import Expression


@checked
@dataclass(frozen=True, eq=False)
class Ledger:
    """Energies and powers by name.

    stored: energies [J]; expressions of time, states, inputs and parameters.
    supplied: powers [W] into the system, positive when they add energy.
    dissipated: powers [W] out of the system, positive when they remove energy.
    electrical: names of those powers in `supplied` that are electrical, voltage times current.

    Every simulation integrates the powers beside the state and reports how well
    stored(t) - stored(0) = supplied - dissipated - lost in events holds. A loss is positive; one that is
    negative is energy an event adds. An energy that depends on an input changes when the input jumps, which
    nothing books: let it depend on a discrete state set by a `Sample` instead.
    """

    stored: Mapping[str, Expression] = field(default_factory=dict)
    supplied: Mapping[str, Expression] = field(default_factory=dict)
    dissipated: Mapping[str, Expression] = field(default_factory=dict)
    electrical: tuple[str, ...] = field(default=(), kw_only=True)
