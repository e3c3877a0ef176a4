"""Whether legs that change names at every step are alike."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.contact.legs import Legs
from strut.contact.touch import Touch
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.tree import Tree
from strut.system import System


def check_legs_alike(
    walker: System,
    tree: Tree,
    feet: tuple[Touch, Touch],
    legs: Legs,
    exchange: tuple[Sequence[int], np.ndarray],
) -> None:
    """Legs that change names must be alike: the machine weighs and moves the same after the swap.

    feet: stance and swing. exchange: coordinates, and the matrix that exchanges them.
    """
    stance, swing = feet
    columns, matrix = exchange
    params = list(tree.mechanism.params.values())
    symbols, values = (
        ca.vertcat(*[p.sym for p in params], ca.SX(0, 1)),
        np.concatenate([p.value for p in params] or [np.empty(0)]),
    )
    f = ca.Function(
        "f",
        [tree.q, symbols],
        [
            observe.com(tree) - observe.position(tree, stance.frame),
            observe.position(tree, swing.frame) - observe.position(tree, stance.frame),
        ],
    )
    rng = np.random.default_rng(1)
    q = rng.uniform(-0.5, 0.5, tree.nq)
    for lock in legs.locks:
        q[tree.q_of[lock.lower].start] = q[tree.q_of[lock.upper].start]
    swapped = q.copy()
    swapped[list(columns)] = matrix @ q[list(columns)]
    (com, foot), (com2, foot2) = (
        tuple(np.array(r).reshape(-1) for r in f(at, values)) for at in (q, swapped)
    )
    other_side = np.array([1.0, 1.0 if tree.mechanism.planar else -1.0, 1.0])
    if not np.allclose(foot, -other_side * foot2, atol=1e-9) or not np.allclose(
        com - foot, other_side * com2, atol=1e-9
    ):
        raise ModelError(
            f"the legs of '{walker.name}' are not alike, so they cannot change names at heel strike: use "
            f"contact.rigid"
        )
