"""The exchange of left and right: the state of a walker as its mirror image has it, stated once as
expressions and compiled once per system."""

from __future__ import annotations

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.system import System, memo, sx

HybridState = tuple[np.ndarray, np.ndarray]
"""Continuous and discrete states at one time."""


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


__all__ = ["HybridState", "exchange_function", "mirror", "mirror_steps", "mirrored_states"]
