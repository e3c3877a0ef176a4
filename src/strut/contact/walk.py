"""The `Walk` of a mechanism on the ground: its feet, its weight, and which coordinates carry the whole
machine about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.contact.ground import Ground
from strut.contact.laws import AnchoredFriction, SmoothFriction
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.system import Expression, Foot, Param, Walk, known_symbol, sx

SHIFT_TOLERANCE = 1e-9
"""[1] by which the motion of the centre of mass per unit of a coordinate that carries the machine may differ
from a unit vector."""


def parameter_name(value: Expression | None) -> str:
    """The name of the parameter that a value is; empty where it is a number, an expression of several, or
    None."""
    column = None if value is None else sx(value)
    quantity = known_symbol(column) if column is not None and column.is_symbolic() else None
    return quantity.name if isinstance(quantity, Param) else ""


def soft_foot(name: str, forces: Sequence[str], friction: AnchoredFriction | SmoothFriction | None) -> Foot:
    """A foot on compliant ground as users of the system see it. forces: outputs, the normal one first."""
    return Foot(
        name=name,
        normal=forces[0],
        friction=tuple(forces[1:]),
        coefficient=parameter_name(None if friction is None else friction.mu),
        gap=f"{name}_gap",
    )


def slope_name(ground: Ground) -> str:
    """The parameter that inclines the ground; empty where it is a number or an expression."""
    return parameter_name(getattr(ground, "angle", None))


def carrying_coordinates(assembly: Assembly) -> tuple[tuple[str, ...], str]:
    """Coordinates that shift the whole machine in the x-z plane, by name; and the one of them that shifts it
    upwards, or nothing."""
    tree = assembly.tree
    moves = ca.jacobian(observe.com(tree), tree.q)
    random = np.random.default_rng(1)
    points = [assembly.evaluate(moves, random.uniform(-1, 1, tree.nq), np.zeros(tree.nv)) for _ in range(2)]
    carried, upwards = [], ""
    for k, state in enumerate(assembly.positions):
        column = points[0][:, k]
        steady = np.abs(points[1][:, k] - column).max() <= SHIFT_TOLERANCE
        if (
            steady
            and abs(np.linalg.norm(column) - 1) <= SHIFT_TOLERANCE
            and abs(column[1]) <= SHIFT_TOLERANCE
        ):
            carried.append(state.name)
            if abs(column[2] - 1) <= SHIFT_TOLERANCE:
                upwards = state.name
    return tuple(carried), upwards


def walk_of(assembly: Assembly, ground: Ground, feet: Sequence[Foot], **more: Any) -> Walk:
    """What makes a mechanism on the ground a walker. more: further fields of `Walk`, instead of those found
    here."""
    progress, lift = carrying_coordinates(assembly)
    weight = observe.mass(assembly.tree) * assembly.mechanism.gravity
    fields = {
        "progress": progress,
        "lift": lift,
        "weight": weight,
        "gravity": "gravity",
        "kinetic": "kinetic",
        "slope": slope_name(ground),
    }
    return Walk(**{"feet": tuple(feet), **fields, **more})


__all__ = ["carrying_coordinates", "parameter_name", "slope_name", "walk_of"]
