"""`Names`: what the columns of a run's arrays are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strut.system import Foot


@dataclass(frozen=True)
class Names:
    """What the columns of the arrays are called; enough to read a trajectory without its system."""

    x: tuple[str, ...]
    z: tuple[str, ...]
    u: tuple[str, ...]
    p: tuple[str, ...]
    outputs: tuple[str, ...]
    jumps: tuple[str, ...]  # event or sample name of each jump number
    clocked: tuple[bool, ...]
    stored: tuple[str, ...]
    supplied: tuple[str, ...]
    dissipated: tuple[str, ...]
    lost: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[str, ...] = ()  # events in which the machine failed
    meanings: Mapping[str, str] = field(default_factory=dict)  # descriptions of events
    scales: tuple[str, ...] = ()  # parameters that, all 1, leave nothing with a unit
    feet: tuple[Foot, ...] = ()
    step_events: tuple[str, ...] = ()
    internal: tuple[str, ...] = ()  # states, inputs and parameters, one by one, and events: bookkeeping
    step_length: str = ""  # the discrete state that is the length of the last step
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # outputs that are their coordinates
