"""`Legs`: how a machine steps: its feet, which coordinates change names, its drives and knee locks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from strut.checks import checked
from strut.contact.touch import Touch
from strut.system import Expression

AUTOMATIC = "auto"
"""The word for an exchange of legs that is worked out from the mechanism."""


@checked
@dataclass(frozen=True, eq=False)
class Between:
    """A drive between angles: an input NAME_torque along sum(weight * angle), with a spring about `rest` and
    a damper if given. One that is not `driven` has no input."""

    name: str
    weights: Mapping[str, float]
    spring: Expression = 0.0
    damping: Expression = 0.0
    rest: Expression = 0.0
    driven: bool = True


@checked
@dataclass(frozen=True, eq=False)
class Lock:
    """A knee of absolute angles: free after a step, until `lower` catches up with `upper`; then it locks
    plastically and stays locked through the next heel strike."""

    name: str
    upper: str
    lower: str


@checked
@dataclass(frozen=True, eq=False)
class Legs:
    """How a machine steps.

    base: the prismatic joints, along x and z or, in space, x, y and z, that carry the stance foot. stance,
        swing: the feet.
    swap: at heel strike each coordinate named here takes the value of the one given for it, or its negative
        ("-roll"); others keep theirs. Or "auto", for planar machines whose joints turn, absolute angles or
        relative ones: the exchange is worked out from the chain of bodies between the feet.
    hip: a frame; when it comes lower than `fall` [m] over the ground the walker has fallen.
    """

    base: tuple[str, ...]
    stance: Touch | str
    swing: Touch | str
    swap: Mapping[str, str] | str
    hip: str
    fall: Expression
    drives: Sequence[Between] = ()
    locks: Sequence[Lock] = field(default_factory=tuple)
    margin: Expression = 0.0
