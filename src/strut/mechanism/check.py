"""What no machine can be: a number that is not finite, a mass below zero, a rotation that stretches, a joint
that leaves the plane."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism.joint import Joint
from strut.mechanism.joints import KINDS
from strut.mechanism.parts import Body, Connection, Stop
from strut.system import Expression, own_value, sx

TRIANGLE_SLACK = 0.01
"""[1] by which, relatively, the largest moment of inertia may exceed the sum of the others (the triangle
inequality): rounding in files."""
PLANE_TOLERANCE = 1e-9
"""[1] Components of unit vectors out of a plane that are smaller count as none."""
ROTATION_TOLERANCE = 1e-6
"""By how much the entries of R' R may differ from those of the identity [1]: rotations in files have six
digits or more."""


class InertiaWarning(UserWarning):
    """An inertia that no body can have, in a file written by others."""


def finite(value: Expression, what: str, infinite: bool = False) -> None:
    """Raise ModelError unless all numbers of an expression are finite, with the values its parameters have by
    themselves. `infinite` lets infinities pass, and refuses nan alone. Of what is made of more than
    parameters only the constants are known."""
    numbers = own_value(value)
    if numbers is None:
        numbers = _constants(value)
        infinite = True  # within an expression an infinity may be meant: fmin(inf, x)
    wrong = np.isnan(numbers) if infinite else ~np.isfinite(numbers)
    if wrong.any():
        first_wrong = f"{numbers[wrong][0]:g}"
        among = f" among {numbers.size} numbers" if numbers.size > 1 else ""
        raise ModelError(f"{what} is {first_wrong}{among}: a finite number is needed")


def number(
    value: Expression,
    what: str,
    low: float | None = None,
    high: float | None = None,
    *,
    infinite: bool = False,
    above: bool = False,
) -> None:
    """Raise ModelError unless the value is one finite number from `low` to `high`, as far as its parameters'
    own values tell. With `above` it must exceed `low`."""
    size = sx(value).numel()
    if size != 1:
        raise ModelError(f"{what} has {size} numbers: one is needed")
    finite(value, what, infinite)
    own = own_value(value)
    if own is None:
        return
    if low is not None and (own.item() < low or (above and own.item() <= low)):
        rule = "it must be positive" if above else "it must not be negative"
        raise ModelError(f"{what} is {own.item():g}: {rule if low == 0 else f'{low:g} is the least'}")
    if high is not None and own.item() > high:
        raise ModelError(f"{what} is {own.item():g}: {high:g} is the most")


def rotation(R: Expression, what: str) -> None:
    """Raise ModelError unless a 3 x 3 matrix is a rotation: orthonormal to ROTATION_TOLERANCE, with
    determinant +1."""
    finite(R, what)
    numbers = own_value(R)
    if numbers is None:
        return
    off = float(np.abs(numbers.T @ numbers - np.eye(3)).max())
    turned = float(np.linalg.det(numbers))
    if off <= ROTATION_TOLERANCE and turned > 0:
        return
    entries = np.round(numbers, 6).tolist()
    if off <= ROTATION_TOLERANCE:
        raise ModelError(
            f"{what} is {entries}, a mirror image with determinant -1: a rotation has determinant +1"
        )
    raise ModelError(
        f"{what} is {entries}, which is no rotation: its columns must have length 1 and right angles to "
        f"{ROTATION_TOLERANCE:g}, and "
        f"are off by {off:.3g}; make one of angles, strut.mechanism.spatial.rotation_of_rpy([roll, pitch, "
        f"yaw])"
    )


def not_negative(value: Expression, what: str) -> None:
    """Raise ModelError unless a number, or what parameters make of it by their own values, is finite and zero
    or more."""
    number(value, what, low=0.0)


def _constants(value: Expression) -> np.ndarray:
    """The constants within an expression."""
    column = sx(value)
    f = ca.Function("f", [ca.vertcat(*ca.symvar(column))], [column])
    return np.array(
        [f.instruction_constant(k) for k in range(f.n_instructions()) if f.instruction_id(k) == ca.OP_CONST]
    )


def joint_type(value: Any, where: str) -> Joint:
    """Return a joint as it is; raise ModelError for the function that makes one, or its name."""
    if isinstance(value, Joint):
        return value
    name = value if isinstance(value, str) else getattr(value, "__name__", "")
    maker = KINDS[name].make.__name__ if name in KINDS else name
    hint = (
        f"write joints.{maker}()"
        if name.isidentifier()
        else "use joints.revolute('y') or another of strut.joints"
    )
    raise ModelError(
        f"{where} is of type {value if isinstance(value, str) else name or repr(value)}, which is no joint: "
        f"{hint}"
    )


def joint_limits(joint: Joint, limits: tuple[float, float], where: str) -> tuple[float, float]:
    """The range of a joint with one coordinate, low before high; ends may be infinite."""
    if joint.nq != 1:
        raise ModelError(f"{where} has limits, but {joint.nq} coordinates: limits are for joints with one")
    try:
        low, high = (float(end) for end in limits)
    except (TypeError, ValueError):
        raise ModelError(f"the limits of {where} are {limits!r}: give two numbers (low, high)") from None
    if not low < high:
        raise ModelError(f"the limits of {where} are ({low:g}, {high:g}): the first must be smaller")
    return low, high


def joint_effort(joint: Joint, effort: float | tuple[float, float], where: str) -> tuple[float, float]:
    """What the motor of a joint with one velocity gives, from low to high; a number is both ways."""
    if joint.nv != 1:
        raise ModelError(f"{where} has an effort, but {joint.nv} velocities: efforts are for joints with one")
    try:
        low, high = (-effort, effort) if isinstance(effort, (int, float)) else (float(e) for e in effort)
    except (TypeError, ValueError):
        raise ModelError(
            f"the effort of {where} is {effort!r}: give a positive number, or two (low, high)"
        ) from None
    if not low < high:
        raise ModelError(f"the effort of {where} is ({low:g}, {high:g}): the first must be smaller")
    return low, high


def joint_at_start(joint: Joint, start: Sequence[Expression], where: str) -> None:
    """Raise ModelError unless the joint has a pose, and ways to move, where it begins."""
    q, begin = ca.SX.sym("q", joint.nq), own_value(ca.vertcat(*[sx(value) for value in start], ca.SX(0, 1)))
    X = joint.pose(q)
    parts = [ca.densify(X.R), X.p, joint.S(q)]
    symbols = [
        s for s in ca.symvar(ca.vertcat(q, *[ca.vec(part) for part in parts])) if not ca.depends_on(s, q)
    ]
    values = own_value(ca.vertcat(*symbols, ca.SX(0, 1)))
    if begin is None or values is None:
        return
    f = ca.Function(
        "pose", [q, ca.vertcat(*symbols, ca.SX(0, 1))], parts
    )  # in numbers: symbols would fold 0 * inf to 0
    begin_text = ", ".join(f"{value:g}" for value in begin.reshape(-1))
    for part in f(begin, values):
        finite(part, f"the pose of {where}, which begins at ({begin_text}),")
    rotation(f(begin, values)[0], f"the pose of {where} where it begins")


def soft_stop(stop: Any, where: str) -> Stop | None:
    """Return a stop as it is, or None; raise ModelError unless its ends are in order and its numbers those of
    a spring and damper."""
    if stop is None:
        return None
    if not isinstance(stop, Stop):
        ends = (
            ", ".join(str(end) for end in stop)
            if isinstance(stop, (list, tuple)) and len(stop) == 2
            else "low, high"
        )
        raise ModelError(
            f"the stop of {where} is {stop!r}: give its stiffness too, stop=Stop({ends}, stiffness)"
        )
    for end, what in ((stop.low, "low"), (stop.high, "high")):
        number(end, f"{what} of the stop of {where}", infinite=True)
    low, high = own_value(stop.low), own_value(stop.high)
    if low is not None and high is not None and low.item() > high.item():
        raise ModelError(
            f"the stop of {where} begins at {low.item():g} and ends at {high.item():g}: low must not exceed "
            f"high"
        )
    not_negative(stop.stiffness, f"the stiffness of the stop of {where}")
    not_negative(stop.damping, f"the damping of the stop of {where}")
    return stop


def body(b: Body, planar: bool, forgiving: bool, source: str = "") -> None:
    """Numbers that no body can have. What is not made of parameters alone is trusted. `forgiving`: an inertia
    that no body has is only warned of, naming `source`, the file it stands in."""
    for what, value in (
        ("mass", own_value(b.mass)),
        ("centre of mass", own_value(b.com)),
        ("inertia", own_value(b.about_com)),
    ):
        if value is not None and not np.all(np.isfinite(value)):
            raise ModelError(
                f"body '{b.name}' has a {what} of {value.reshape(-1).tolist()}: finite numbers are needed"
            )
    mass = own_value(b.mass)
    if mass is not None and mass.item() < 0:
        raise ModelError(f"body '{b.name}' has mass {mass.item():g} kg: it must not be negative")
    numbers = own_value(b.about_com)
    if numbers is None:
        return
    if not np.allclose(numbers, numbers.T, rtol=1e-9, atol=1e-15):
        raise ModelError(f"body '{b.name}' has an inertia that is not symmetric:\n{numbers}")
    small, middle, large = np.linalg.eigvalsh(numbers)
    message = ""
    if small < -1e-9 * max(1e-12, float(np.abs(numbers).max())):
        message = f"body '{b.name}' has a negative principal moment of inertia, {small:g} kg m^2: no body has"
    elif not planar and large > (1 + TRIANGLE_SLACK) * (small + middle):
        message = (
            f"body '{b.name}' has principal moments of inertia {small:g}, {middle:g} and {large:g} kg "
            f"m^2: "
            "no body has one that exceeds the sum of the others; is it about the centre of mass?"
        )
    if message and not forgiving:
        raise ModelError(message)
    if message:
        warnings.warn(f"{source}: {message}" if source else message, InertiaWarning, stacklevel=3)


def normal_of_plane(c: Connection, normal: np.ndarray) -> np.ndarray:
    """The normal of the plane of a planar mechanism in the child's frame, from that in the parent's; or an
    error if the joint moves the child out of the plane."""
    placed = own_value(c.X_PJ.R)
    if placed is None:
        return normal
    rng = np.random.default_rng(0)
    seen = placed.T @ normal
    q = ca.SX(ca.DM(rng.uniform(0.2, 0.8, c.joint.nq)))
    R, S = own_value(c.joint.pose(q).R), own_value(c.joint.S(q))
    if R is None or S is None:
        return normal
    normal_in_child = np.asarray(R.T @ seen)
    turning = S[:3] - np.outer(normal_in_child, normal_in_child @ S[:3])
    if (
        np.abs(turning).max(initial=0.0) > PLANE_TOLERANCE
        or np.abs(normal_in_child @ S[3:]).max(initial=0.0) > PLANE_TOLERANCE
    ):
        raise ModelError(
            f"joint '{c.name}' ({c.joint.kind}) leaves the x-z plane of the planar mechanism: use joints "
            f"that turn about y and slide "
            "along x and z, or leave planar=True out"
        )
    return normal_in_child
