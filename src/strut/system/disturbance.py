"""Disturbances in plans: constants while something is planned, inputs again in the machine that is run."""

from __future__ import annotations

from strut.checks import checked
from strut.system.quantity import Disturbance, Param
from strut.system.system import System


class HeldDisturbance(Param):
    """A `Disturbance` that is held at its value, a parameter with the same symbol."""


@checked
def hold_disturbances(system: System) -> System:
    """Return the system with its disturbances as parameters, so that no plan finds use for them; the system
    itself where it has none."""
    outside = [q for q in system.u if isinstance(q, Disturbance)]
    if not outside:
        return system
    constants = [
        HeldDisturbance(q.name, q.value, q.unit, q.bounds, q.description).copy_with(sym=q.sym, _owner=q)
        for q in outside
    ]
    others = tuple(q for q in system.u if not isinstance(q, Disturbance))
    symmetry = {name: e for name, e in system.symmetry.items() if name not in {q.name for q in outside}}
    return system.replace(u=others, p=(*system.p, *constants), symmetry=symmetry)


@checked
def release_disturbances(system: System) -> System:
    """Return the system with the disturbances that `hold_disturbances` made parameters as inputs again."""
    constants = [q for q in system.p if isinstance(q, HeldDisturbance)]
    if not constants:
        return system
    inputs = [
        Disturbance(q.name, q.value, q.unit, q.bounds, q.description).copy_with(sym=q.sym, _owner=q)
        for q in constants
    ]
    others = tuple(q for q in system.p if not isinstance(q, HeldDisturbance))
    return system.replace(u=(*system.u, *inputs), p=others)


__all__ = ["HeldDisturbance", "hold_disturbances", "release_disturbances"]
