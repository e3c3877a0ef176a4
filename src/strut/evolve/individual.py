"""`Individual`: one that was evaluated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from strut.evolve.evaluations.evaluation import OK


@dataclass(frozen=True)
class Individual:
    """One that was evaluated. parameters: those that it has. stage: the number of the goal that it is at,
    from 1; 0 where its evaluation failed. value: of that goal; nan at a front, whose goals have a value
    each: `goals`, by what they say. origin: 'confirmed' or 'polished' where it was evaluated again or
    improved at the end of a run; run, generation and place then are of the one that it was."""

    run: int
    generation: int
    place: int
    parameters: Mapping[str, float]
    measures: Mapping[str, float]
    stage: int
    value: float
    status: str = OK
    goals: Mapping[str, float] = field(default_factory=dict)
    origin: str = ""
