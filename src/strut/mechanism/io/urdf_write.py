"""Writing a mechanism as URDF."""

from __future__ import annotations

from xml.etree import ElementTree

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism.io.names import words
from strut.mechanism.io.urdf_visual import add_visuals
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.spatial import rpy_of_rotation


@checked
def dump(mechanism: Mechanism) -> str:
    """The mechanism as URDF text, with the parameters' own values. Joints that URDF does not know are
    refused; shapes become <visual>, a capsule as a cylinder and two spheres, arcs and ellipsoids are left
    out."""
    robot = ElementTree.Element("robot", name=mechanism.name)
    for body in mechanism.bodies.values():
        link = ElementTree.SubElement(robot, "link", name=body.name)
        mass = mechanism.values(body.mass)[0, 0]
        if mass:
            inertial = ElementTree.SubElement(link, "inertial")
            ElementTree.SubElement(inertial, "origin", xyz=words(mechanism.values(body.com)), rpy="0 0 0")
            ElementTree.SubElement(inertial, "mass", value=repr(float(mass)))
            I = mechanism.values(body.about_com)  # noqa: E741
            ElementTree.SubElement(
                inertial,
                "inertia",
                {
                    f"i{a}{b}": repr(float(I[i, j]))
                    for (i, a), (j, b) in (
                        ((0, "x"), (0, "x")),
                        ((0, "x"), (1, "y")),
                        ((0, "x"), (2, "z")),
                        ((1, "y"), (1, "y")),
                        ((1, "y"), (2, "z")),
                        ((2, "z"), (2, "z")),
                    )
                },
            )
        add_visuals(mechanism, body.name, link)
    for c in mechanism.connections.values():
        kind = {
            "revolute": "continuous",
            "prismatic": "prismatic",
            "fixed": "fixed",
            "free": "floating",
            "planar": "planar",
        }.get(c.joint.kind)
        base = c.joint.kind.removeprefix("gear of ")
        kind = kind or (
            {"revolute": "continuous", "prismatic": "prismatic"}.get(base) if c.joint.gear else None
        )
        if kind is None:
            raise ModelError(f"joint '{c.name}' is {c.joint.kind}, which URDF cannot say")
        joint = ElementTree.SubElement(robot, "joint", name=c.name, type=kind)
        ElementTree.SubElement(joint, "parent", link=c.parent.name)
        ElementTree.SubElement(joint, "child", link=c.child.name)
        ElementTree.SubElement(
            joint,
            "origin",
            xyz=words(mechanism.values(c.X_PJ.p)),
            rpy=words(rpy_of_rotation(mechanism.values(c.X_PJ.R))),
        )
        if kind in ("continuous", "prismatic"):
            S = mechanism.values(c.joint.S(ca.SX.zeros(1)))
            ElementTree.SubElement(joint, "axis", xyz=words(S[:3] if kind == "continuous" else S[3:]))
        if kind == "prismatic":
            ElementTree.SubElement(joint, "limit", lower="-1e9", upper="1e9", effort="1e9", velocity="1e9")
        if c.damping is not None:
            ElementTree.SubElement(joint, "dynamics", damping=repr(float(mechanism.values(c.damping)[0, 0])))
        if c.joint.gear:
            leader, ratio, offset = c.joint.gear
            ElementTree.SubElement(
                joint,
                "mimic",
                joint=leader,
                multiplier=repr(float(mechanism.values(ratio)[0, 0])),
                offset=repr(float(mechanism.values(offset)[0, 0])),
            )
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")
