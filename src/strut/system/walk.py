"""`Walk`: what makes a system a walker: its feet, the event that ends a step, how far it comes, what it
weighs.

Rooms that use systems read this and guess nothing from names. Every name here is one of the system's own
quantities, outputs or events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system.quantity import Expression, Quantity, sx

if TYPE_CHECKING:
    from strut.system.event import Event


@dataclass(frozen=True, kw_only=True)
class Foot:
    """A part of a walker that touches the ground. What a model does not say of a foot stays empty.

    name: of the foot, in tables and pictures.
    lands: the event in which it comes down. lifts: the event in which it leaves the ground by itself. stands:
        the discrete state that is positive while it is on the ground.
    normal, friction: outputs or discrete states, the force of the ground on it [N]: upwards, and along the
        ground (one number, or one per direction).
    coefficient: the parameter that is Coulomb's coefficient of friction under it.
    gap: output, its height above the ground [m].
    leaves: a discrete state [m/s] that the landing of the other foot sets to the speed at which this one
        lifts off the ground.
    at: its place in the world [m], three numbers: expressions of the state.
    opposite: the foot on the other side, by name, of a walker with left and right.
    body: what it is a part of, by name: feet of one body, such as heel and toe, share a load.
    ground: a discrete state [m], by how much the ground under it is higher than elsewhere.
    armed: a discrete state that is positive while it lands where it touches the ground; where it is not, it
        passes through the ground until it was above it.
    passes: the event in which, swinging, it comes in front of the other. clears: the event in which it comes
        out of ground that it scuffed.
    """

    name: str
    lands: str = ""
    lifts: str = ""
    stands: str = ""
    normal: str = ""
    friction: tuple[str, ...] = ()
    coefficient: str = ""
    gap: str = ""
    leaves: str = ""
    passes: str = ""
    clears: str = ""
    at: Expression | None = None
    opposite: str = ""
    body: str = ""
    ground: str = ""
    armed: str = ""

    @property
    def events(self) -> tuple[str, ...]:
        """The events that are named."""
        return tuple(name for name in (self.lands, self.lifts, self.passes, self.clears) if name)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The outputs that are named."""
        return tuple(name for name in (self.normal, *self.friction, self.gap) if name)

    def with_names(self, rename: Callable[[str], str], follow: Callable[[Expression], ca.SX]) -> Foot:
        """The same foot of a system whose names and symbols have changed."""
        words = {n: rename(v) if v else "" for n, v in vars(self).items() if isinstance(v, str)}
        return replace(
            self,
            **words,
            friction=tuple(rename(n) for n in self.friction),
            at=None if self.at is None else follow(self.at),
        )


@checked
@dataclass(frozen=True, kw_only=True, eq=False)
class Grip:
    """How a foot with a limit of friction lands and leaves while friction holds it: what a plan is made of
    whose feet do not slide. All expressions are of states, discrete states, parameters and time.

    foot: its name. landing, lifting: what its events `lands` and `lifts` set, by name, where every foot that
        stands holds. impulse: that of such a landing on it [N s], upwards and along the ground.
    coefficient: Coulomb's, of parameters. slides: discrete states that are 0 while it holds.
    """

    foot: str
    landing: Mapping[str, Expression]
    lifting: Mapping[str, Expression]
    impulse: Expression
    coefficient: Expression
    slides: tuple[str, ...] = ()

    def with_names(self, rename: Callable[[str], str], follow: Callable[[Expression], ca.SX]) -> Grip:
        """The same of a system whose names and symbols have changed."""
        return Grip(
            foot=rename(self.foot),
            landing={rename(name): follow(e) for name, e in self.landing.items()},
            lifting={rename(name): follow(e) for name, e in self.lifting.items()},
            impulse=follow(self.impulse),
            coefficient=follow(self.coefficient),
            slides=tuple(rename(name) for name in self.slides),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Walk:
    """What makes a system a walker.

    section: the event that ends a step, where a return map begins. Without one it is the landing of the first
        foot that is off the ground when a run begins.
    feet: see `Foot`.
    progress: states or discrete states [m] that together say how far it has come along the ground, their
        changes at right angles.
    step_length: a discrete state [m] that the section sets to the length of the step that it ends.
    slope: the parameter [rad] that inclines the ground, positive downhill.
    lift: a state or discrete state [m] which, increased, puts the whole machine higher over the ground.
    ground_step: two parameters [m]: by how much the ground steps down, and where.
    flight: whether no foot is on the ground for a part of every step: it runs, or hops.
    weight: mass times g [N], of parameters.
    grips: of feet that friction holds only up to a limit, how they land and leave while it does; see `Grip`.
    gravity, kinetic: the entries of the ledger that are the potential energy of the weight and the kinetic
        energy.
    """

    section: str = ""
    feet: tuple[Foot, ...] = ()
    progress: tuple[str, ...] = ()
    step_length: str = ""
    slope: str = ""
    lift: str = ""
    ground_step: tuple[str, str] | None = None
    flight: bool = False
    weight: Expression | None = None
    gravity: str = ""
    kinetic: str = ""
    grips: tuple[Grip, ...] = ()

    @property
    def step_events(self) -> tuple[str, ...]:
        """The events that end a step in an account: landings of any foot, or the section where no foot says
        when it lands."""
        landings = tuple(dict.fromkeys(foot.lands for foot in self.feet if foot.lands))
        return landings or ((self.section,) if self.section else ())

    def foot_of(self, event: str) -> Foot | None:
        """The foot that lands in an event."""
        return next((foot for foot in self.feet if foot.lands == event), None)

    def with_names(self, rename: Callable[[str], str], follow: Callable[[Expression], ca.SX]) -> Walk:
        """The same of a system whose names and symbols have changed."""
        words: dict[str, Any] = {n: rename(v) for n, v in vars(self).items() if isinstance(v, str) and v}
        step = self.ground_step
        return replace(
            self,
            **words,
            feet=tuple(foot.with_names(rename, follow) for foot in self.feet),
            progress=tuple(rename(n) for n in self.progress),
            ground_step=None if step is None else (rename(step[0]), rename(step[1])),
            weight=None if self.weight is None else follow(self.weight),
            grips=tuple(grip.with_names(rename, follow) for grip in self.grips),
        )


def _check_is_one_of(system: str, name: str, where: str, kind: str, choices: list[str]) -> None:
    """Raise unless a name in a walk is empty or one of some things of its system, of a kind. where: it
    stands."""
    if not isinstance(name, str):
        raise ModelError(
            f"{where} of the walk of system '{system}' is {name!r}: give the name of a {kind}, a text"
        )
    if name and name not in choices:
        raise UnknownNameError(
            f"{where} of the walk of system '{system}' is '{name}', which is no {kind}: "
            f"{did_you_mean(name, choices)}"
        )


def _check_foot(foot: Foot, walk: Walk, system: str, allowed: Mapping[str, list[str]]) -> None:
    """Raise unless a foot stands once in a walk, and all that it names is there. allowed: names by kind."""
    names = [each.name for each in walk.feet]
    if names.count(foot.name) > 1:
        raise ModelError(
            f"foot '{foot.name}' stands twice in the walk of system '{system}': give every foot its own name"
        )
    check_is_one_of = partial(_check_is_one_of, system)
    for event in foot.events:
        check_is_one_of(event, f"an event of foot '{foot.name}'", "event", allowed["events"])
    for output in foot.outputs:
        check_is_one_of(
            output, f"an output of foot '{foot.name}'", "output", [*allowed["outputs"], *allowed["z"]]
        )
    for field in ("stands", "leaves", "ground", "armed"):
        where = f"'{field}' of foot '{foot.name}'"
        check_is_one_of(getattr(foot, field), where, "discrete state", allowed["z"])
    check_is_one_of(foot.coefficient, f"'coefficient' of foot '{foot.name}'", "parameter", allowed["p"])
    check_is_one_of(foot.opposite, f"'opposite' of foot '{foot.name}'", "foot", names)


def check_walk(
    walk: Walk | None,
    system: str,
    groups: Mapping[str, Iterable[str]],
    events: Iterable[Event],
    allow: Callable[[Expression, str, str, str, int], ca.SX],
) -> Walk | None:
    """A walk whose every name is one of the system's. groups: names of 'x', 'z', 'p', 'outputs' and ledger
    entries 'stored'. allow: checks that an expression (with where it stands) uses symbols of some groups only
    (and why), and has so many numbers."""
    if walk is None:
        return None
    if not isinstance(walk, Walk):
        raise ModelError(
            f"walk of system '{system}' is {walk!r}: give a Walk(section=..., feet=[Foot(name=...)])"
        )
    if isinstance(walk.progress, str | Quantity):
        raise ModelError(
            f"progress of the walk of system '{system}' is {walk.progress!r}: give the names of states in a "
            f'tuple, ("x",)'
        )
    allowed = {kind: list(dict.fromkeys(names)) for kind, names in groups.items()}
    allowed["events"] = [e.name for e in events]
    states = [*allowed["x"], *allowed["z"]]
    check_is_one_of = partial(_check_is_one_of, system)
    check_is_one_of(walk.section, "section", "event", allowed["events"])
    check_is_one_of(walk.step_length, "step_length", "discrete state", allowed["z"])
    check_is_one_of(walk.slope, "slope", "parameter", allowed["p"])
    check_is_one_of(walk.lift, "lift", "state", states)
    for name, field in ((walk.gravity, "gravity"), (walk.kinetic, "kinetic")):
        check_is_one_of(name, field, "stored energy of the ledger", allowed["stored"])
    for name in walk.progress:
        check_is_one_of(name, "progress", "state", states)
    for name in walk.ground_step or ():
        check_is_one_of(name, "ground_step", "parameter", allowed["p"])
    for foot in walk.feet:
        _check_foot(foot, walk, system, allowed)
    where = "an expression of the state and parameters"
    feet = tuple(
        replace(foot, at=allow(sx(foot.at), f"the place of foot '{foot.name}'", "xzp", where, 3))
        if foot.at is not None
        else foot
        for foot in walk.feet
    )
    for grip in walk.grips:
        check_is_one_of(grip.foot, "the foot of a grip", "foot", [foot.name for foot in walk.feet])
        for name in (*grip.landing, *grip.lifting, *grip.slides):
            check_is_one_of(name, f"the grip of foot '{grip.foot}'", "state", states)

    def of_state(expression: Expression) -> ca.SX:
        why = "an expression of the state, parameters and time"
        return allow(sx(expression), "the grip of a foot", "xzpt", why, sx(expression).numel())

    grips = tuple(grip.with_names(str, of_state) for grip in walk.grips)
    heavy = None
    if walk.weight is not None:
        heavy = allow(
            sx(walk.weight), "the weight of the walk", "p", "a weight depends on parameters only", 1
        )
    return replace(walk, feet=feet, progress=tuple(walk.progress), weight=heavy, grips=grips)


__all__ = ["Foot", "Grip", "Walk", "check_walk"]
