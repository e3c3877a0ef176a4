"""<joint> of URDF: its elements read, those that mimic others given leaders, and all sorted outwards."""

from __future__ import annotations

import warnings
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.mechanism import joints
from strut.mechanism.io.names import ReadWarning, name_of, number, numbers
from strut.mechanism.spatial import rotation_of_rpy


class JointElement:
    """A joint element, read."""

    def __init__(self, element: ElementTree.Element, where: str) -> None:
        self.name = str(element.get("name"))
        self.kind = str(element.get("type"))
        self.parent = _link(element, "parent", self.name, where)
        self.child = _link(element, "child", self.name, where)
        self.xyz, self.rpy = origin_of(element, f"joint '{self.name}'")
        axis = element.find("axis")
        self.axis = (
            numbers(axis.get("xyz", "0 0 0"), 3, 3, f"the axis of joint '{self.name}'")
            if axis is not None
            else np.array([1.0, 0, 0])
        )
        self.limit, self.dynamics, self.mimic = (element.find(tag) for tag in ("limit", "dynamics", "mimic"))
        self.leader: tuple[str, float, float] | None = (
            None  # (joint, ratio, offset), where it mimics one that moves
        )

    def motion(self) -> joints.Joint:
        """The joint that the element says."""
        length = float(np.linalg.norm(self.axis))
        if self.kind in ("revolute", "continuous", "prismatic") and abs(length - 1) > 1e-3:
            raise ModelError(
                f"joint '{self.name}' has the axis {self.axis.tolist()} of length {length:g}: give a unit "
                f"vector"
            )
        axis = self.axis / length if length else self.axis
        if self.kind in ("revolute", "continuous"):
            joint = joints.revolute(tuple(axis))
        elif self.kind == "prismatic":
            joint = joints.prismatic(tuple(axis))
        elif self.kind == "fixed":
            joint = joints.fixed()
        elif self.kind == "floating":
            joint = joints.free()
        elif self.kind == "planar":
            joint = joints.planar("xyz"[int(np.argmax(np.abs(self.axis)))])
        else:
            raise ModelError(
                f"joint '{self.name}' has type '{self.kind}': known are revolute, continuous, prismatic, "
                f"fixed, floating, planar"
            )
        if self.leader is not None:
            joint = joints.gear(name_of(self.leader[0]), *self.leader[1:], of=joint)
        return joint

    def mimic_law(self) -> tuple[str, float, float]:
        """What <mimic> says: the joint, the ratio and the offset."""
        assert self.mimic is not None
        ratio, offset = (
            number(self.mimic.get(key, default), f"the {key} of joint '{self.name}'")
            for key, default in (("multiplier", "1"), ("offset", "0"))
        )
        return str(self.mimic.get("joint")), ratio, offset


def follow_leaders(edges: list[JointElement], where: str) -> None:
    """Give every joint that mimics another its leader, one that mimics nothing itself. <mimic> on a joint
    that does not move means nothing; of a joint that is not there, or does not move, it leaves the joint
    free, as Pinocchio does. Both are warned of."""
    single = {e.name: e for e in edges if e.kind in ("revolute", "continuous", "prismatic")}
    for edge in edges:
        if edge.mimic is None:
            continue
        name, ratio, offset = edge.mimic_law()
        statement = f"{where}: joint '{edge.name}' ({edge.kind}) mimics '{name}'"
        if edge.name not in single:
            warnings.warn(
                f"{statement}: it has no coordinate that could follow, so <mimic> is left out",
                ReadWarning,
                stacklevel=5,
            )
            continue
        seen = {edge.name}
        while name in single and (above := single[name]).mimic is not None:
            if name in seen:
                raise ModelError(
                    f"{statement}: joints {', '.join(sorted(seen))} mimic one another in a circle; "
                    "let one of them lead"
                )
            seen.add(name)
            name, upper_ratio, upper_offset = above.mimic_law()
            ratio, offset = ratio * upper_ratio, ratio * upper_offset + offset
        if name in single:
            edge.leader = (name, ratio, offset)
        else:
            what = "is fixed" if any(e.name == name for e in edges) else "does not exist"
            hint = did_you_mean(name, list(single))
            warnings.warn(f"{statement}, which {what}: it moves freely; {hint}", ReadWarning, stacklevel=5)


def order_outward(edges: list[JointElement], root: str, where: str) -> list[JointElement]:
    """Sort joints from the root outwards, leaders before the joints that mimic them."""
    order: list[JointElement] = []
    reached, joined = {root}, set()
    waiting = list(edges)
    while waiting:
        ready = [e for e in waiting if e.parent in reached and (e.leader is None or e.leader[0] in joined)]
        if not ready:
            raise ModelError(f"{where}: joints {', '.join(e.name for e in waiting)} form a cycle")
        order += ready
        reached |= {e.child for e in ready}
        joined |= {e.name for e in ready}
        waiting = [e for e in waiting if e not in ready]
    return order


def _link(element: ElementTree.Element, tag: str, joint: str, where: str) -> str:
    """The link that <parent> or <child> of a joint names."""
    end = element.find(tag)
    if end is None or not end.get("link"):
        raise ModelError(f"{where}: joint '{joint}' has no <{tag} link=\"...\">")
    return str(end.get("link"))


def origin_of(element: ElementTree.Element, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Place [m] and roll, pitch, yaw [rad] of an element; zeros where it has no <origin>."""
    origin = element.find("origin")
    if origin is None:
        return np.zeros(3), np.zeros(3)
    xyz, rpy = (
        numbers(origin.get(key, "0 0 0"), 3, 3, f"the {key} of the origin of {what}")
        for key in ("xyz", "rpy")
    )
    return xyz, rpy


def rotation_matrix(rpy: np.ndarray) -> ca.SX:
    """The matrix of roll, pitch and yaw [rad] as an expression."""
    return ca.SX(ca.DM(rotation_of_rpy(list(rpy)))) if np.any(rpy) else ca.densify(ca.SX.eye(3))
