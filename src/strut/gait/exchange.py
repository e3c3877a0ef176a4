"""The exchange of left and right: the state of a walker as its mirror image has it, stated once as
expressions and compiled once per system."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.system import System, memo, sx

HybridState = tuple[np.ndarray, np.ndarray]
"""Continuous and discrete states at one time."""
OTHER_SIDE = {"l": "r", "r": "l"}
"""Parts of names, between underscores, that say a side, and what they are on the other one."""


def mirrored_states(system: System, group: str = "x") -> ca.SX:
    """The states of a group, 'x' or 'z', with left and right exchanged, as expressions of the states before:
    a column. A state that the system's symmetry does not name stays as it is."""
    states = [sx(system.symmetry.get(q.name, q.sym)) for q in getattr(system, group)]
    return ca.vertcat(*states, ca.SX(0, 1))


def exchange_function(system: System) -> ca.Function:
    """Compile the exchange of left and right: from x, z and p to the new x, the new z, and the derivatives of
    the new x by x and by p. Ask for it with `memo`, which keeps it."""
    x_new, z_new = (mirrored_states(system, group) for group in "xz")
    derivatives = [ca.jacobian(x_new, system.vector(group)) for group in "xp"]
    return system.function("exchange", [x_new, z_new, *derivatives], "xzp", clock=False)


@checked
def mirror(system: System, x: np.ndarray, z: np.ndarray, p: np.ndarray) -> HybridState:
    """Exchange left and right of one moment: its continuous and discrete states, with parameters `p`."""
    x_new, z_new, *_ = memo(system, exchange_function)(x, z, p)
    return np.array(x_new).reshape(-1), np.array(z_new).reshape(-1)


def mirror_steps(
    system: System, x: np.ndarray, z: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Exchange left and right of many moments, a row each.

    Returned are the new continuous and discrete states, row by row, and the derivatives of the former by x
    and by p: a matrix each.
    """
    rows, nx = x.shape
    x_new, z_new, by_x, by_p = memo(system, exchange_function)(x.T, z.T, p.T)
    return (
        np.array(x_new).T,
        np.array(z_new).T,
        np.array(by_x).reshape(nx, rows, nx).transpose(1, 0, 2),
        np.array(by_p).reshape(nx, rows, p.shape[1]).transpose(1, 0, 2),
    )


def opposite_events(system: System, event: str) -> tuple[str, ...]:
    """Return the event that is this one with left and right exchanged, if there is one: of the opposite foot,
    or, of a walker with left and right, the one whose name differs by its side, as knee_l_lock and
    knee_r_lock."""
    feet = () if system.walk is None else system.walk.feet
    pairs = {
        mine: theirs
        for f in feet
        for g in feet
        if f.opposite == g.name
        for mine, theirs in zip(
            (f.lands, f.lifts, f.passes, f.clears), (g.lands, g.lifts, g.passes, g.clears), strict=True
        )
        if mine and theirs
    }
    if event in pairs:
        return (pairs[event],)
    image = "_".join(OTHER_SIDE.get(part, part) for part in event.split("_"))
    names = {e.name for e in system.events}
    return (image,) if system.symmetry and image != event and image in names else ()


__all__ = [
    "HybridState",
    "exchange_function",
    "mirror",
    "mirror_steps",
    "mirrored_states",
    "opposite_events",
]
