"""`ContinuousPad`: compliant contact whose force follows from the state alone, without flags and events.

For fixed steps and populations: nothing has to be located, so a step costs what the flow costs. What a flag
says in a `Pad` is read off the state here: a foot touches where its depth is positive, the ground never
pulls, and the place that anchored friction holds on to is dragged along wherever the friction limit is
exceeded.
"""

from __future__ import annotations

import casadi as ca

from strut.contact.laws import AnchoredFriction, Law, SmoothFriction
from strut.contact.touch import Spot
from strut.contact.walk import soft_foot
from strut.mechanism.tree import Tree
from strut.system import Discrete, Event, Foot, State, sx

MIN_FORCE = 1e-9
"""[N] Smoothing of the size of a force at zero, so that its direction is always defined."""


class ContinuousPad:
    """One compliant contact without events: its forces, energies and further states.

    at: where and how the surfaces meet. gradient: the row along which the normal force acts; the first row of
    `at` unless given.

    The ground gives back nothing to a foot that leaves faster than it follows: what its spring still held is
    booked as dissipated while the force is zero. (With events the ground stays behind at that depth, and the
    rest is lost at lift-off.) The spring of anchored friction relaxes through its own damper while the foot
    is in the air, with the time constant damping / stiffness [s]; with events it is empty at once, so runs
    differ where a foot comes back within that time.
    """

    def __init__(
        self,
        tree: Tree,
        at: Spot,
        law: Law,
        friction: AnchoredFriction | SmoothFriction | None,
        *,
        gradient: ca.SX | None = None,
    ) -> None:
        name = at.name
        self.spot, self.friction = at, friction
        row = at.K[0, :] if gradient is None else gradient
        velocity = at.velocity(tree)
        self.depth, rate = -at.gap, -(velocity[0] if gradient is None else row @ tree.v)
        self.along = velocity[1:]
        self.suffixes = ("",) if at.K.shape[0] == 2 else ("_x", "_y")
        self.normal = law.force(self.depth, rate)
        self.entries: dict[str, dict[str, ca.SX]] = {
            "stored": {f"{name}_spring": law.energy(self.depth)},
            "dissipated": {f"{name}_damper": law.dissipated_power(self.depth, rate)},
        }
        self.rates: dict[State, ca.SX] = {State(f"{name}_contact_time", 0.0, "s"): self.depth > 0}
        tangential = self._friction()
        self.force = at.directions @ ca.vertcat(self.normal, tangential)
        self.push = row.T @ self.normal + at.K[1:, :].T @ tangential
        forces = {f"{name}_normal": self.normal} | {
            f"{name}_friction{s}": tangential[k] for k, s in enumerate(self.suffixes)
        }
        self.outputs = {"m": {f"{name}_gap": at.gap}, "N": forces}

    @property
    def foot(self) -> Foot:
        """This contact as users of the system see it: without an event in which it lands."""
        return soft_foot(self.spot.name, list(self.outputs["N"]), self.friction)

    @property
    def discrete(self) -> list[Discrete]:
        """No discrete states."""
        return []

    def events(self) -> list[Event]:
        """No events."""
        return []

    def initial_flags(self) -> dict[str, ca.SX]:
        """No flags."""
        return {}

    def _friction(self) -> ca.SX:
        """Friction along the tangents; notes what it stores and dissipates, and how strains change."""
        name = self.spot.name
        if self.friction is None:
            return ca.SX.zeros(self.along.numel())
        if isinstance(self.friction, SmoothFriction):
            force = (self.depth > 0) * self.friction.push(self.normal, self.along)
            self.entries["dissipated"][f"{name}_friction"] = -ca.dot(force, self.along)
            return force
        stiffness, damping, mu = (sx(n) for n in self.friction.numbers)
        strains = [State(f"{name}_strain{s}", 0.0, "m") for s in self.suffixes]
        strain = ca.vertcat(*[s.sym for s in strains])
        stick_force = stiffness * strain + damping * self.along
        size = ca.sqrt(ca.sumsqr(stick_force) + MIN_FORCE**2)
        limit = mu * self.normal
        excess = ca.fmax(size - limit, 0)
        # The anchor is dragged just so fast that spring and damper carry the limit. In the air that is none,
        # and the same expression is -stiffness / damping strain: the spring relaxes.
        dragged = excess / damping
        rate = self.along - dragged * stick_force / size
        self.rates |= dict(zip(strains, ca.vertsplit(rate), strict=True))
        self.entries["stored"][f"{name}_strain"] = stiffness * ca.sumsqr(strain) / 2
        self.entries["dissipated"][f"{name}_friction"] = (
            damping * ca.sumsqr(rate) + (size - excess) * dragged * ca.sumsqr(stick_force) / size**2
        )
        return -stick_force * (1 - excess / size)


__all__ = ["ContinuousPad"]
