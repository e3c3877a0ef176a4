"""What no machine can be: a mass below zero, a stop that begins behind its end, a joint that leaves the plane."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism.joints import Joint
from strut.system.quantity import Expression, own_value

if TYPE_CHECKING:
    from strut.mechanism.mechanism import Body, Connection, Stop

TRIANGLE = 0.01  # by how much, relatively, the largest moment of inertia may exceed the sum of the others: rounding in files
IN_PLANE = 1e-9  # of unit vectors: smaller components count as none


class InertiaWarning(UserWarning):
    """An inertia that no body can have, in a file written by others."""


def not_negative(value: Expression, what: str) -> None:
    """A number, or what parameters make of it by their own values, is zero or more."""
    numbers = own_value(value)
    if numbers is not None and numbers.size and not numbers.min() >= 0:
        raise ModelError(f"{what} is {numbers.min():g}: it must not be negative")


def joint_type(value: Any, where: str) -> Joint:
    """A joint, not the function that makes one or its name."""
    if isinstance(value, Joint):
        return value
    name = value if isinstance(value, str) else getattr(value, "__name__", "")
    hint = f"write joints.{name}()" if name.isidentifier() else "use joints.revolute('y') or another of strut.joints"
    raise ModelError(f"{where} is of type {value if isinstance(value, str) else name or repr(value)}, which is no joint: {hint}")


def soft_stop(stop: Any, where: str) -> Stop | None:
    """A stop with an order and a stiffness."""
    from strut.mechanism.mechanism import Stop

    if stop is None:
        return None
    if not isinstance(stop, Stop):
        ends = ", ".join(str(end) for end in stop) if isinstance(stop, (list, tuple)) and len(stop) == 2 else "low, high"
        raise ModelError(f"the stop of {where} is {stop!r}: give its stiffness too, stop=Stop({ends}, stiffness)")
    low, high = own_value(stop.low), own_value(stop.high)
    if low is not None and high is not None and low.item() > high.item():
        raise ModelError(f"the stop of {where} begins at {low.item():g} and ends at {high.item():g}: low must not exceed high")
    not_negative(stop.stiffness, f"the stiffness of the stop of {where}")
    not_negative(stop.damping, f"the damping of the stop of {where}")
    return stop


def body(made: Body, planar: bool, forgiving: bool) -> None:
    """Numbers that no body can have. What is not made of parameters alone is trusted."""
    for what, value in (("mass", own_value(made.mass)), ("centre of mass", own_value(made.com)), ("inertia", own_value(made.about_com))):
        if value is not None and not np.all(np.isfinite(value)):
            raise ModelError(f"body '{made.name}' has a {what} of {value.reshape(-1).tolist()}: finite numbers are needed")
    mass = own_value(made.mass)
    if mass is not None and mass.item() < 0:
        raise ModelError(f"body '{made.name}' has mass {mass.item():g} kg: it must not be negative")
    numbers = own_value(made.about_com)
    if numbers is None:
        return
    if not np.allclose(numbers, numbers.T, rtol=1e-9, atol=1e-15):
        raise ModelError(f"body '{made.name}' has an inertia that is not symmetric:\n{numbers}")
    small, middle, large = np.linalg.eigvalsh(numbers)
    if small < -1e-9 * max(1e-12, float(np.abs(numbers).max())):
        raise ModelError(f"body '{made.name}' has a negative principal moment of inertia, {small:g} kg m^2: no body has")
    if not planar and large > (1 + TRIANGLE) * (small + middle):
        message = (
            f"body '{made.name}' has principal moments of inertia {small:g}, {middle:g} and {large:g} kg m^2: "
            "no body has one that exceeds the sum of the others; is it about the centre of mass?"
        )
        if not forgiving:
            raise ModelError(message)
        warnings.warn(message, InertiaWarning, stacklevel=3)


def normal_of_plane(c: Connection, normal: np.ndarray) -> np.ndarray:
    """For a planar mechanism: the normal of the plane in the child's frame, from that in the parent's; or an error if the joint
    moves the child out of the plane."""
    placed = own_value(c.X_PJ.R)
    if placed is None:
        return normal
    rng = np.random.default_rng(0)
    seen = placed.T @ normal
    q = ca.SX(ca.DM(rng.uniform(0.2, 0.8, c.joint.nq)))
    R, S = own_value(c.joint.pose(q).R), own_value(c.joint.S(q))
    if R is None or S is None:
        return normal
    found = np.asarray(R.T @ seen)
    turning = S[:3] - np.outer(found, found @ S[:3])
    if np.abs(turning).max(initial=0.0) > IN_PLANE or np.abs(found @ S[3:]).max(initial=0.0) > IN_PLANE:
        raise ModelError(
            f"joint '{c.name}' ({c.joint.kind}) leaves the x-z plane of the planar mechanism: use joints that turn about y and slide "
            "along x and z, or leave planar=True out"
        )
    return found
