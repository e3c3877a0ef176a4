"""Drag of a still or steadily moving fluid on bodies, each taken for a box of its inertia: MuJoCo's
inertia-based fluid model."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from strut.mechanism import observe
from strut.mechanism.parts import Effect, Force
from strut.mechanism.spatial import Pose
from strut.mechanism.tree import Tree


def drag(
    name: str,
    frame: str,
    *,
    com: np.ndarray,
    axes: np.ndarray,
    box: np.ndarray,
    density: float,
    viscosity: float,
    wind: Sequence[float] = (0.0, 0.0, 0.0),
) -> Force:
    """Drag on a body.

    com [m] and axes (principal, in columns) are in a frame of the body, or its own by its name; `box` are the
    full lengths [m] along them; density [kg/m^3] and viscosity [Pa s] of the fluid, `wind` its velocity in
    the world [m/s].
    """
    diameter = float(box.mean())
    x, y, z = box
    faces = ca.SX(density / 2 * np.array([y * z, x * z, x * y]))
    turns = ca.SX(density / 64 * np.array([x * (y**4 + z**4), y * (x**4 + z**4), z * (x**4 + y**4)]))

    def effect(tree: Tree) -> Effect:
        X = Pose(ca.densify(ca.SX(axes)), ca.SX(com))
        J = X.twist_inward(observe.jacobian(tree, frame))
        twist = J @ tree.v
        R = observe.pose(tree, frame).R @ X.R
        spin, slip = twist[:3], twist[3:] - R.T @ ca.SX(list(wind))
        moment = np.pi * diameter**3 * viscosity * spin + turns * ca.fabs(spin) * spin
        force = 3 * np.pi * diameter * viscosity * slip + faces * ca.fabs(slip) * slip
        push = ca.vertcat(moment, force)
        return Effect(-(J.T @ push), ca.SX(0), ca.dot(push, twist))

    return Force(name, effect)
