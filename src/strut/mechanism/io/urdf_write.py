"""Writing a mechanism as URDF."""

from __future__ import annotations

import math
from xml.etree import ElementTree

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism.io.names import words
from strut.mechanism.io.urdf_visual import add_visuals
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, Connection
from strut.mechanism.spatial import rpy_of_rotation
from strut.system import Expression

Element = ElementTree.Element

NO_LIMIT = 1e9
"""What is written for a range, a force or a velocity without limit [rad, m, N m, N, rad/s, m/s]."""
KINDS_OF_GEARS = {"revolute": "continuous", "prismatic": "prismatic"}
"""What URDF calls joints of ours that may mimic another."""
URDF_KINDS = KINDS_OF_GEARS | {"fixed": "fixed", "free": "floating", "planar": "planar"}
"""What URDF calls joints of ours."""


@checked
def dump(mechanism: Mechanism) -> str:
    """The mechanism as URDF text, with the parameters' own values. Joints that URDF does not know are
    refused; shapes become <visual>, a capsule as a cylinder and two spheres, arcs and ellipsoids are left
    out."""
    robot = ElementTree.Element("robot", name=mechanism.name)
    for body in mechanism.bodies.values():
        _add_link(robot, mechanism, body)
    for c in mechanism.connections.values():
        _add_joint(robot, mechanism, c)
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _add_link(robot: Element, mechanism: Mechanism, body: Body) -> None:
    """Write a body as <link>, with its inertia if it has a mass, and its shapes."""
    link = ElementTree.SubElement(robot, "link", name=body.name)
    mass = mechanism.values(body.mass)[0, 0]
    if mass:
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "origin", xyz=words(mechanism.values(body.com)), rpy="0 0 0")
        ElementTree.SubElement(inertial, "mass", value=repr(float(mass)))
        I = mechanism.values(body.about_com)  # noqa: E741 the inertia, as in the books
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": repr(float(I[i, j])) for i in range(3) for j in range(i, 3)}
        ElementTree.SubElement(inertial, "inertia", entries)
    add_visuals(mechanism, body.name, link)


def _urdf_kind(c: Connection) -> str:
    """What URDF calls a joint; ModelError where it has no word for it."""
    base = c.joint.kind.removeprefix("gear of ")
    kind = (KINDS_OF_GEARS if c.joint.gear else URDF_KINDS).get(base)
    if kind is None:
        raise ModelError(f"joint '{c.name}' is {c.joint.kind}, which URDF cannot say")
    return kind


def _add_limit(
    joint: Element, kind: str, limits: tuple[float, float] | None, effort: tuple[float, float] | None
) -> None:
    """Write <limit>: the range of a joint, and what its motor gives at most, the less of both ways, since
    URDF has one number; 1e9 where there is no limit."""
    low, high = limits or (-math.inf, math.inf)
    most = math.inf if effort is None else min(abs(effort[0]), abs(effort[1]))
    ends = {} if kind == "continuous" else {"lower": _finite(low), "upper": _finite(high)}
    ends |= {"effort": _finite(most), "velocity": _finite(math.inf)}
    ElementTree.SubElement(joint, "limit", ends)


def _finite(value: float) -> str:
    """A number as text; `NO_LIMIT` with its sign for an infinite one."""
    return repr(value if math.isfinite(value) else math.copysign(NO_LIMIT, value))


def _add_joint(robot: Element, mechanism: Mechanism, c: Connection) -> None:
    """Write a joint as <joint>."""

    def number(value: Expression) -> str:
        return repr(float(mechanism.values(value)[0, 0]))

    kind, limits = _urdf_kind(c), mechanism.limits.get(c.name)
    kind = "revolute" if kind == "continuous" and limits is not None and not c.joint.gear else kind
    joint = ElementTree.SubElement(robot, "joint", name=c.name, type=kind)
    ElementTree.SubElement(joint, "parent", link=c.parent.name)
    ElementTree.SubElement(joint, "child", link=c.child.name)
    ElementTree.SubElement(
        joint,
        "origin",
        xyz=words(mechanism.values(c.X_PJ.p)),
        rpy=words(rpy_of_rotation(mechanism.values(c.X_PJ.R))),
    )
    if kind in ("continuous", "revolute", "prismatic"):
        S = mechanism.values(c.joint.S(ca.SX.zeros(1)))
        ElementTree.SubElement(joint, "axis", xyz=words(S[3:] if kind == "prismatic" else S[:3]))
    effort = mechanism.efforts.get(c.name)
    if kind in ("revolute", "prismatic") or (kind == "continuous" and effort is not None):
        _add_limit(joint, kind, limits, effort)
    if c.damping is not None:
        ElementTree.SubElement(joint, "dynamics", damping=number(c.damping))
    if c.joint.gear:
        leader, ratio, offset = c.joint.gear
        ElementTree.SubElement(joint, "mimic", joint=leader, multiplier=number(ratio), offset=number(offset))
