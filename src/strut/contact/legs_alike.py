"""Legs that change names at every step: whether they are alike, and which parts of the picture change
places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import casadi as ca
import numpy as np

from strut.contact.legs import Legs
from strut.contact.touch import Touch
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.tree import Tree
from strut.system import Param, Part, Scene

SAME_PLACE = 1e-9
"""[m] Distance up to which two places of a machine are the same, of postures of about a metre."""


class LegSwap:
    """A machine in a random posture with knees locked as they are at heel strike, and in the one with legs
    exchanged.

    feet: stance and swing. exchange: coordinates, and the matrix that exchanges them. params: all parameters
        that expressions may depend on, at their own values.
    """

    def __init__(
        self,
        tree: Tree,
        legs: Legs,
        *,
        feet: tuple[Touch, Touch],
        exchange: tuple[Sequence[int], np.ndarray],
        params: Iterable[Param],
    ) -> None:
        self.tree, self.params = tree, tuple(params)
        self.stance, self.swing = feet
        self.mirror = np.array([1.0, 1.0 if tree.mechanism.planar else -1.0, 1.0])
        self.before = np.random.default_rng(1).uniform(-0.5, 0.5, tree.nq)
        for lock in legs.locks:
            self.before[tree.q_of[lock.lower].start] = self.before[tree.q_of[lock.upper].start]
        self.after = self.before.copy()
        columns, matrix = exchange
        self.after[list(columns)] = matrix @ self.before[list(columns)]

    def places(self, points: Mapping[str, ca.SX]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Where points are [m], seen from the foot that lands: before the exchange from the swing foot, after
        it from the stance foot, which is the same one, in the mirror."""
        symbols = ca.vertcat(*[p.sym for p in self.params], ca.SX(0, 1))
        values = np.concatenate([p.value for p in self.params] or [np.empty(0)])
        feet = [observe.position(self.tree, foot.frame) for foot in (self.swing, self.stance)]
        columns = [ca.horzcat(*[point - foot for point in points.values()]) for foot in feet]
        f = ca.Function("places", [self.tree.q, symbols], columns)
        before, after = np.array(f(self.before, values)[0]), np.array(f(self.after, values)[1])
        return dict(zip(points, before.T, strict=True)), dict(
            zip(points, (self.mirror[:, None] * after).T, strict=True)
        )

    def check_legs_alike(self) -> None:
        """Raise ModelError unless the machine weighs and reaches the same after the exchange."""
        stance, swing = (observe.position(self.tree, foot.frame) for foot in (self.stance, self.swing))
        before, after = self.places({"com": observe.com(self.tree), "stance": stance, "swing": swing})
        if not (_close(before["com"], after["com"]) and _close(before["stance"], after["swing"])):
            raise ModelError(
                f"the legs of '{self.tree.mechanism.name}' are not alike, so they cannot change names at "
                f"heel strike: use contact.rigid"
            )

    def swapped_parts(self, scene: Scene) -> dict[str, str]:
        """The parts of a scene, an expression of the tree's q, that change places in the exchange: those of
        the standing leg, from which the tree begins, with the ones of the swinging leg, by name."""
        points = {str(k): _middle(part) for k, part in enumerate(scene.parts)}
        if not points:
            return {}
        before, after = self.places(points)
        swaps: dict[str, str] = {}
        for a, one in enumerate(scene.parts):
            for b, other in enumerate(scene.parts[a + 1 :], start=a + 1):
                stays = _close(before[str(a)], after[str(a)])
                changes = _close(before[str(a)], after[str(b)]) and _close(before[str(b)], after[str(a)])
                if one.kind == other.kind and one.name != other.name and changes and not stays:
                    swaps.setdefault(one.name, other.name)
        return swaps


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    return bool(np.abs(one - other).max() <= SAME_PLACE)


def _middle(part: Part) -> ca.SX:
    """The place of a part in the world [m]."""
    v = part.values
    return v["at"] if "at" in v else (v["start"] + v["end"]) / 2


__all__ = ["LegSwap"]
