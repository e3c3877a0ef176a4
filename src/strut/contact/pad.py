"""`Pad`: one compliant contact with events: its flags, forces, energies, and where its laws change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca

from strut.contact.arming import Swing
from strut.contact.laws import AnchoredFriction, Law, SmoothFriction
from strut.contact.touch import Spot
from strut.contact.walk import soft_foot
from strut.mechanism.tree import Tree
from strut.system import Discrete, Event, Expression, Foot, State, sx

FORCE_SLACK = 1e-9
"""[N], and relative to the friction limit [1]: a contact whose force exceeds the limit by less does not
slide."""
LIFTOFF_MARGIN = 1e-12
"""[m] How far a contact must open before it counts as open: what touches and is at rest has a depth that is
rounding, and would land and lift for ever. The force is nothing there already; rounding of a depth is 1e-15
m, and of a guard that rests at -1, 6e-14."""
GRIP_MARGIN = 1e-9
"""[1] The part of its force at rest that a contact which went slack must have again before it presses: where
both guards are zero by rounding it would go slack and press for ever."""


@dataclass(eq=False)
class Flag:
    """A discrete state that is 0, or positive."""

    state: Discrete

    @property
    def on(self) -> ca.SX:
        """1 where the state is positive."""
        return self.state.sym > 0

    @property
    def off(self) -> ca.SX:
        """1 where the state is not positive."""
        return self.state.sym <= 0

    def set(self, value: Expression) -> dict[str, ca.SX]:
        """The reset that gives the state a value."""
        return {self.state.name: sx(value)}


class Pad:
    """One compliant contact: its flags, forces, energies and events.

    at: where and how the surfaces meet. inside: whether they overlap when a run begins; None where flags
        begin as the state says. begin: makes an initial value of an expression.
    gradient: the row along which the normal force acts; the first row of `at` unless given. height: of the
        ground under it, where it is uneven.
    """

    def __init__(
        self,
        tree: Tree,
        at: Spot,
        law: Law,
        friction: AnchoredFriction | SmoothFriction | None,
        *,
        inside: bool | None = None,
        begin: Callable[[ca.SX], ca.SX] = sx,
        gradient: ca.SX | None = None,
        height: Discrete | None = None,
    ) -> None:
        name = at.name
        self.height = height
        # where the ground under it may rise, a foot below it lands after it was above
        self.swing = None if height is None else Swing(at.gap, None, begin, f"{name}_")
        self.spot, self.law, self.friction = at, law, friction
        row = at.K[0, :] if gradient is None else gradient
        velocity = at.velocity(tree)
        self.depth, self.rate = -at.gap, -(velocity[0] if gradient is None else row @ tree.v)
        inside_now = self.depth > 0 if inside is None else ca.SX(inside)
        goes_slack = ca.SX(0)
        if inside is None and law.grip is not None:
            goes_slack = self.depth * inside_now * (law.grip(self.depth, self.rate) <= 0)
        self.touching = Flag(Discrete(f"{name}_on", begin(inside_now), internal=True))
        self.slack = (
            Flag(Discrete(f"{name}_slack", begin(goes_slack), internal=True))
            if law.grip is not None
            else None
        )
        self.along = velocity[1:]
        suffixes = ("",) if at.K.shape[0] == 2 else ("_x", "_y")
        self.rates: dict[State, ca.SX] = {}
        on = self.touching.on
        pressing = on if self.slack is None else on * self.slack.off
        self.normal = pressing * law.pressing_force(self.depth, self.rate)
        self.strains: list[State] = []
        self.slip: Flag | None = None
        if isinstance(friction, AnchoredFriction):
            self.strains = [State(f"{name}_strain{s}", 0.0, "m") for s in suffixes]
            slides = ca.SX(0) if inside is not None else self._slides(friction, inside_now, goes_slack)
            self.slip = Flag(Discrete(f"{name}_slip", begin(slides), internal=True))
        self.stored = (
            law.energy(self.depth)
            if self.slack is None
            else law.energy(ca.fmax(self.depth, self.slack.state.sym))
        )
        if height is not None:  # below ground that has risen, a foot that has not landed compresses nothing
            self.stored = on * self.stored
        self.entries: dict[str, dict[str, ca.SX]] = {
            "stored": {f"{name}_spring": self.stored},
            "dissipated": {f"{name}_damper": pressing * (self.normal - law.elastic(self.depth)) * self.rate},
        }
        tangential = self._friction()
        self.force = at.directions @ ca.vertcat(self.normal, tangential)
        self.push = row.T @ self.normal + at.K[1:, :].T @ tangential
        forces = {f"{name}_normal": self.normal} | {
            f"{name}_friction{s}": tangential[k] for k, s in enumerate(suffixes)
        }
        self.outputs = {"m": {f"{name}_gap": at.gap}, "N": forces}

    @property
    def foot(self) -> Foot:
        """This contact as users of the system see it."""
        name = self.spot.name
        return replace(
            soft_foot(name, list(self.outputs["N"]), self.friction),
            lands=f"{name}_touchdown",
            lifts=f"{name}_liftoff",
            stands=self.touching.state.name,
            ground="" if self.height is None else self.height.name,
            armed="" if self.swing is None else self.swing.armed.name,
        )

    @property
    def discrete(self) -> list[Discrete]:
        """The flags, as discrete states."""
        flags = [flag.state for flag in (self.touching, self.slack, self.slip) if flag is not None]
        return flags + ([] if self.swing is None else self.swing.discrete)

    def _friction(self) -> ca.SX:
        """Friction along the tangents; notes what it stores and dissipates, and how strains change."""
        name, on = self.spot.name, self.touching.on
        if self.friction is None:
            return ca.SX.zeros(self.along.numel())
        if isinstance(self.friction, SmoothFriction):
            force = on * self.friction.push(self.normal, self.along)
            self.entries["dissipated"][f"{name}_friction"] = -ca.dot(force, self.along)
            return force
        assert self.slip is not None
        stiffness, damping, mu = (sx(n) for n in self.friction.numbers)
        strain = ca.vertcat(*[s.sym for s in self.strains])
        stick_force, limit = self._stick_force(self.friction), mu * self.normal
        size = _length(stick_force)
        self.excess = size - limit
        self.slide_slack = FORCE_SLACK * (2 + limit)
        dragged = (
            self.slip.on * self.excess / damping
        )  # the speed at which the place the foot holds on to moves
        rate = on * (self.along - dragged * stick_force / size)
        self.rates = dict(zip(self.strains, ca.vertsplit(rate), strict=True))
        self.energy = stiffness * ca.sumsqr(strain) / 2
        self.entries["stored"][f"{name}_strain"] = self.energy
        self.entries["dissipated"][f"{name}_friction"] = on * (damping * ca.sumsqr(rate) + limit * dragged)
        return -on * stick_force * (1 - self.slip.on * self.excess / size)

    def _stick_force(self, friction: AnchoredFriction) -> ca.SX:
        """What spring and damper would hold a foot with that sticks, along the tangents."""
        strain = ca.vertcat(*[s.sym for s in self.strains])
        return sx(friction.stiffness) * strain + sx(friction.damping) * self.along

    def _slides(self, friction: AnchoredFriction, inside: ca.SX, slack: ca.SX) -> ca.SX:
        """Whether a foot whose other flags begin with these expressions begins to slide at once."""
        flags = [self.touching, *([self.slack] if self.slack is not None else [])]
        limit = sx(friction.mu) * self.normal
        excess = _length(self._stick_force(friction)) - limit - FORCE_SLACK * (2 + limit)
        values = [inside, slack][: len(flags)]
        return inside * ca.substitute([excess > 0], [flag.state.sym for flag in flags], values)[0]

    def initial_flags(self) -> dict[str, ca.SX]:
        """The flags that a run begins with, where they are set when it does: expressions of the state."""
        inside = self.depth > 0
        flags = self.touching.set(ca.fmax(self.touching.on * (self.depth >= -LIFTOFF_MARGIN), inside))
        if self.slack is not None:
            assert self.law.grip is not None
            flags |= self.slack.set(self.depth * inside * (self.law.grip(self.depth, self.rate) <= 0))
        return flags

    def events(self) -> list[Event]:
        """Events at which the law changes: landing and leaving, slack and press, slide and stick, kinks."""
        name, on, off = self.spot.name, self.touching.on, self.touching.off
        land, leave, loss = self.touching.set(1), self.touching.set(0), dict[str, ca.SX]()
        if self.slack is not None:
            leave |= self.slack.set(0)
            loss[f"{name}_slack"] = self.slack.on * self.stored
        if self.slip is not None:
            leave |= self.slip.set(0) | {s.name: ca.SX(0) for s in self.strains}
            loss[f"{name}_strain"] = self.energy
        may_land = off if self.swing is None else off * self.swing.armed.sym
        events = [] if self.swing is None else self.swing.events(off)
        events += [
            Event(
                f"{name}_touchdown",
                guard=ca.if_else(may_land, self.depth, -1),
                reset=land,
                priority=1,
                loss={},
            ),
            Event(
                f"{name}_liftoff",
                guard=ca.if_else(on, -self.depth - LIFTOFF_MARGIN, -1),
                reset=leave,
                priority=1,
                loss=loss,
            ),
        ]
        if self.slack is not None:
            events += self._slack_events(self.slack)
        if self.slip is not None:
            events += self._slip_events(self.slip)
        for k, kink in enumerate(self.law.kinks(self.depth, self.rate)):
            events.append(Event(f"{name}_cap{k or ''}", kink, direction="both", when=on, priority=4, loss={}))
        return events

    def _slack_events(self, slack: Flag) -> list[Event]:
        """A foot that leaves faster than the ground follows goes slack, and presses when it is met again."""
        name, on = self.spot.name, self.touching.on
        assert self.law.grip is not None
        grip = self.law.grip(self.depth, self.rate)
        recovered = {f"{name}_slack": self.stored - self.law.energy(self.depth)}
        return [
            Event(
                f"{name}_slack",
                ca.if_else(on * slack.off, -grip, -1),
                slack.set(self.depth),
                priority=2,
                loss={},
            ),
            Event(
                f"{name}_press",
                ca.if_else(on * slack.on, grip - GRIP_MARGIN * self.law.grip(self.depth, ca.SX(0)), -1),
                slack.set(0),
                priority=2,
                loss=recovered,
            ),
        ]

    def _slip_events(self, slip: Flag) -> list[Event]:
        """A foot slides where spring and damper exceed the friction limit, and sticks where they fall
        below."""
        name, on = self.spot.name, self.touching.on
        return [
            Event(
                f"{name}_slide",
                ca.if_else(on * slip.off, self.excess - self.slide_slack, -1),
                slip.set(1),
                priority=3,
                loss={},
            ),
            Event(
                f"{name}_stick",
                ca.if_else(on * slip.on, -self.excess, -1),
                slip.set(0),
                priority=3,
                loss={},
            ),
        ]


def _length(vector: ca.SX) -> ca.SX:
    """The length of a vector, smoothed at zero so that it is differentiable and never zero."""
    return ca.sqrt(ca.sumsqr(vector) + FORCE_SLACK**2)


__all__ = ["LIFTOFF_MARGIN", "Flag", "Pad"]
