"""Jumps of the state: events, which happen when a guard becomes positive, and samples, which happen by the
clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from strut.checks import checked
from strut.errors import ModelError
from strut.system.pickling import Packed
from strut.system.quantity import Expression, check_name


@checked
@dataclass(frozen=True, eq=False)
class Event(Packed):
    """When `guard` crosses zero, set some states to new values.

    A guard that is exactly zero and rising when a run begins fires at once: a ball on the floor moving down
    bounces.

    guard: expression of time, states, inputs and parameters.
    direction: 'up' fires when the guard becomes positive, 'down' when it becomes negative, 'both' on either.
    reset: new values of continuous and discrete states by name; what is not named keeps its value. All
        right-hand sides see the state before the event.
    when: the event is enabled while this is positive; it may depend on discrete states, inputs and
        parameters. Crossings while it is not are ignored; a guard that is already positive when its event
        becomes enabled does
        not fire. (To fire then too, make it part of the guard: if_else(flag > 0, guard, -1).)
    priority: of events at the same instant, the smallest number goes first.
    terminal: the run ends after the reset, with the event's name as its status.
    failure: the machine fails here: it fell, or did what its model does not hold for. A run that ends so is
        not `ok`, and `strut run` says so and exits with status 1. Such an event is terminal.
    eager: fires also where the guard is positive when a run begins: a foot that would pull lets go at once.
    loss: energy [J] that leaves the ledger in this event, by channel, from the state before it. Without it
        the change of stored energy is booked to a channel with the event's name, and nothing is checked.
    description: what it means, for people. {flag: 1 left; 2 right} in it is, where a run ends so, the word
        behind the value that the discrete state `flag` then has.
    internal: bookkeeping of the model, such as the end of a piece of a plan; pages do not mark it.
    """

    name: str
    guard: Expression
    reset: Mapping[Any, Expression] = field(default_factory=dict)
    direction: str = "up"
    when: Expression | None = None
    priority: int = 0
    terminal: bool = False
    eager: bool = False
    loss: Mapping[str, Expression] | None = None
    description: str = ""
    failure: bool = False
    internal: bool = False

    def __post_init__(self) -> None:
        check_name(self.name, "event")
        if self.failure and not self.terminal:
            raise ModelError(
                f"event '{self.name}' is a failure and not terminal: a failure ends the run, say "
                f"terminal=True"
            )
        if self.direction not in ("up", "down", "both"):
            raise ModelError(
                f"event '{self.name}' has direction '{self.direction}': allowed are 'up', 'down' and 'both'"
            )


@checked
@dataclass(frozen=True, eq=False)
class Sample(Packed):
    """Every `every` seconds set some states to new values: a discrete controller, a zero-order hold, held
    noise.

    It happens at the times offset + k every, for every whole k, from the beginning of a run to before its
    end; what is due at the end itself belongs to the run that goes on from there. `every` and `offset` are
    numbers or expressions of parameters [s].
    """

    name: str
    every: Expression
    set: Mapping[Any, Expression]
    offset: Expression = 0.0
    priority: int = 0
    loss: Mapping[str, Expression] | None = None
    description: str = ""

    def __post_init__(self) -> None:
        check_name(self.name, "sample")
