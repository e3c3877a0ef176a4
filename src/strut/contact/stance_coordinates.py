"""`StanceCoordinates`: all coordinates of a machine, from its angles, while its stance foot stands or rolls.

The joints of the base, which carry the stance foot, are where the foothold and the angles put them: what is
left are the fewest coordinates, and velocities T w of the others.
"""

from __future__ import annotations

import casadi as ca

from strut.contact.ground import Ground
from strut.contact.legs import Legs
from strut.contact.touch import Touch, spot
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.system import Discrete, sx


class StanceCoordinates:
    """The coordinates of a machine on its stance foot.

    axes: of the plane, or of space, in which the foot is. base, free: indices of the velocities of the base,
    and of the others. positions, velocities: the states of the others. foothold: where the foot stood when it
    landed [m], discrete states. T: velocities by the free ones. rolls: those of the base along the axes
    [m/rad], zero for a foot that is a point. lifted: from the foothold to the base, without rolling [m].
    """

    def __init__(self, assembly: Assembly, legs: Legs, stance: Touch, ground: Ground) -> None:
        self.stance = stance
        self.tree = tree = assembly.tree
        self.axes = [0, 2] if tree.mechanism.planar else [0, 1, 2]
        self.base = self._base_columns(legs)
        self.free = [k for k in range(tree.nv) if k not in self.base]
        self.positions = [assembly.positions[k] for k in self.free]
        self.velocities = [assembly.velocities[k] for k in self.free]
        self.foothold = [Discrete(f"foothold_{'xyz'[k]}", 0.0, "m", internal=True) for k in self.axes]
        here = spot(tree, stance, ground)
        self.rolls = self._rolls(here.K, here.directions)
        T = ca.SX.zeros(tree.nv, len(self.free))
        T[self.base, :] = self.rolls
        for k, column in enumerate(self.free):
            T[column, k] = 1
        self.T = ca.sparsify(T)
        self.lifted = here.directions[self.axes, 0] * sx(stance.radius) - self._offset()
        place = ca.vertcat(*[z.sym for z in self.foothold]) + self.lifted + self.rolls @ tree.q[self.free]
        self.q = ca.SX(tree.q)
        self.q[self.base] = place
        self.q = ca.densify(self.q)
        self.v = ca.densify(self.T @ tree.v[self.free])

    def _base_columns(self, legs: Legs) -> list[int]:
        """The base's columns. Raises unless all its joints exist, and as many carry the foot as there are
        axes."""
        tree = self.tree
        for name in legs.base:
            if name not in tree.v_of:
                raise UnknownNameError(
                    f"'{tree.mechanism.name}' has no joint '{name}': {did_you_mean(name, list(tree.v_of))}"
                )
        if len(legs.base) != len(self.axes):
            raise ModelError(
                f"the stance foot of '{tree.mechanism.name}' is carried by {len(legs.base)} joints: "
                f"{len(self.axes)} are needed"
            )
        return [tree.v_of[name].start for name in legs.base]

    def _rolls(self, J: ca.SX, directions: ca.SX) -> ca.SX:
        """Velocities of the base by the free ones: the stance foot does not slip.

        J: rows of the touching point along normal and tangents; the base's own columns are those directions.
        """
        pivot = sx(self.stance.radius).is_zero()
        rolls = (
            ca.SX(len(self.base), len(self.free)) if pivot else -(directions @ J[:, self.free])[self.axes, :]
        )
        if ca.depends_on(rolls, self.tree.q):
            raise ModelError(
                f"the stance foot of '{self.tree.mechanism.name}' cannot roll on this ground: arcs need a "
                f"plane"
            )
        return rolls

    def _offset(self) -> ca.SX:
        """From the base to the centre of the stance foot [m]."""
        tree = self.tree
        centre = observe.position(tree, self.stance.frame)[self.axes]
        offset = ca.substitute([centre], [tree.q[self.base]], [ca.SX.zeros(len(self.base))])[0]
        if ca.depends_on(offset, tree.q):
            raise ModelError(
                f"the base of '{tree.mechanism.name}' must sit at the stance foot '{self.stance.frame}'"
            )
        return offset

    def in_states(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Return expressions of all coordinates as ones of the states and the foothold."""
        tree = self.tree
        standing = ca.substitute(expressions, [tree.q, tree.v], [self.q, self.v])
        symbols = [state.sym for state in (*self.positions, *self.velocities)]
        formal = [tree.q[c] for c in self.free] + [tree.v[c] for c in self.free]
        return list(ca.substitute(standing, formal, symbols))

    def on_first_foothold(self, expression: ca.SX) -> ca.SX:
        """Return an initial value: an expression of the states, on the foothold that a run begins with."""
        return ca.substitute(
            self.in_states([expression]), [z.sym for z in self.foothold], [ca.SX(0)] * len(self.axes)
        )[0]


__all__ = ["StanceCoordinates"]
