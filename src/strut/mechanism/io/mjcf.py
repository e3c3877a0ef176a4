"""MJCF, MuJoCo's model files: reading the part of them that describes bodies, joints and closures."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import constraints, joints
from strut.mechanism.io import names as text
from strut.mechanism.io.mjcf_read import BodyRecord, GeomRecord, JointRecord, Reader
from strut.mechanism.io.poses import HERE, Place, quat_of_rotation, rotation, rotation_of_quat, shifted
from strut.mechanism.looks import shapes
from strut.mechanism.looks.shapes import locate_meshes
from strut.mechanism.mechanism import Body, Mechanism, Stop
from strut.system import Param

STOP_STIFFNESS = 1e3  # [N m/rad or N/m] of soft end stops made from ranges, on request
QUIET = {"compiler", "default", "asset", "visual", "statistic", "size", "custom", "contact", "sensor", "actuator", "keyframe", "worldbody"}
SWITCHES = ("constraint", "equality", "passive", "spring", "damper", "gravity")


def load(path: str | Path, stops: bool = False, symbolic_masses: bool = False, ignore: Collection[str] = ()) -> Mechanism:
    """A mechanism from an MJCF file.

    stops: ranges of hinges and slides become soft end stops.
    symbolic_masses: every mass becomes a parameter BODY_mass.
    ignore: elements and attributes to leave out knowingly, such as 'tendon' or 'frictionloss'. Without it whatever would change the
        motion and is not read is an error: tendons, composites, flexes, includes, dry friction, fluids.

    Read are bodies, frames, inertias (given, or from geoms), hinge, slide, ball and free joints, springs, dampers, armatures,
    geoms as shapes, sites as frames, connect, weld and joint equalities (which are exact here), gravity along -z. Actuators
    say which joints have an input, their laws are not read; contacts, assets and sensors are left out.

    Coordinates are MuJoCo's, but for the order of quaternions (x, y, z, w) and the velocities of free joints, which are in the
    body's axes. Several joints of one body become a chain with massless bodies between them, named after their joints; a body
    without joint gets a fixed one of its own name. Where a joint is not at its body's origin, our body has its frame at the
    joint, and a frame of the body's name is where MuJoCo's is.
    """
    return locate_meshes(parse(text.read(path), stops, symbolic_masses, ignore, where=str(path)), path)


def parse(source: str, stops: bool = False, symbolic_masses: bool = False, ignore: Collection[str] = (), where: str = "MJCF") -> Mechanism:
    """A mechanism from the text of an MJCF file; see `load`."""
    root = text.xml(source, where)
    if root.tag != "mujoco":
        raise ModelError(f"{where} begins with <{root.tag}>: an MJCF file begins with <mujoco>")
    reader = Reader(root, where, ignore)
    for element in root:
        if element.tag not in QUIET | {"option", "equality"}:
            reader.refuse(element.tag, f"<mujoco> has <{element.tag}>")
    m = Mechanism(text.name_of(root.get("model", "mujoco")), g=Param("g", _gravity(root, reader), "m/s^2"))
    driven = {e.get("joint") for e in root.findall("actuator/*")} - {None} if root.find("actuator") is not None else None
    build = _Builder(m, reader, stops, symbolic_masses, None if driven is None else {text.name_of(str(n)) for n in driven})
    build.check_driven()
    build.contents(reader.world, m.world, HERE)
    for record in reader.world.bodies:
        build.body(record, m.world, HERE)
    for number, element in enumerate(e for section in root.findall("equality") for e in section):
        if element.get("active", "true") == "true":
            build.equality(element, number)
    return m


def _gravity(root: ElementTree.Element, reader: Reader) -> float:
    """What <option> says of the world: the pull along -z, and nothing else."""
    g = np.array([0.0, 0.0, -9.81])
    for option in root.findall("option"):
        if "gravity" in option.attrib:
            g = text.numbers(option.attrib["gravity"], 3, 3, f"{reader.where}: gravity")
        for key in ("density", "viscosity"):
            if any(text.numbers(option.get(key, "0"), 1, 1, f"{reader.where}: {key}")):
                reader.refuse(key, f"<option> has a fluid's {key}")
        for flag in option.findall("flag"):
            for key in SWITCHES:
                if flag.get(key) == "disable":
                    reader.refuse(key, f"<flag> disables {key}")
    if g[0] or g[1] or g[2] > 0:
        raise ModelError(f"{reader.where}: gravity is {g.tolist()}: only gravity along -z is read; turn the world's bodies instead")
    return float(-g[2])


class _Builder:
    """Puts records into a mechanism."""

    def __init__(self, m: Mechanism, reader: Reader, stops: bool, symbolic: bool, driven: set[str] | None) -> None:
        self.m, self.reader, self.stops, self.symbolic, self.driven = m, reader, stops, symbolic, driven
        self.records = {record.name: record for record in reader.world.all()}
        self.moving = {joint.name for record in self.records.values() for joint in record.joints}
        self.at: dict[str, Place] = {"world": HERE}  # MuJoCo's frame of a body in ours
        self.reference: dict[str, float] = {}  # coordinates of joints in the configuration that the file shows

    def check_driven(self) -> None:
        """Every joint that an actuator names exists."""
        for name in self.driven or ():
            if name not in self.moving:
                raise UnknownNameError(f"{self.reader.where}: an actuator drives joint '{name}': {did_you_mean(name, sorted(self.moving))}")

    def body(self, record: BodyRecord, parent: Body, X_parent: Place) -> None:
        """A body with its joints, and all it carries."""
        if not record.joints:
            mount = X_parent @ record.X
            made = self._made(record, HERE)
            self.m.joint(
                record.name if record.name not in self.moving else f"{record.name}_mount",
                parent,
                made,
                joints.fixed(),
                mount.p,
                _matrix(mount),
            )
            after = HERE
        elif any(j.kind == "free" for j in record.joints):
            made, after = self._free(record, parent), HERE
        else:
            afters = [_after(j) for j in record.joints]
            made, after = self._made(record, afters[-1]), afters[-1]
            self._chain(record, parent, X_parent @ record.X, made, afters)
        self.at[record.name] = after
        if after.moved:
            self.m.frame(record.name, made, after.p, _matrix(after))
        self.contents(record, made, after)
        for child in record.bodies:
            self.body(child, made, after)

    def _made(self, record: BodyRecord, after: Place) -> Body:
        mass = Param(f"{record.name}_mass", record.mass, "kg", bounds=(0, 1e6)) if self.symbolic and record.mass else record.mass
        about = after.R @ record.inertia @ after.R.T
        return self.m.body(record.name, mass, after.R @ record.com + after.p, (about + about.T) / 2, forgiving=True)

    def _free(self, record: BodyRecord, parent: Body) -> Body:
        joint = record.joints[0]
        if len(record.joints) > 1 or parent is not self.m.world:
            raise ModelError(
                f"{self.reader.where}: body '{record.name}' has a free joint: it must be its only one, and its parent the world"
            )
        if joint.armature:
            self.reader.refuse("armature", f"the free joint '{joint.name}' of body '{record.name}' has an armature")
        if joint.stiffness:
            self.reader.refuse("stiffness", f"the free joint '{joint.name}' of body '{record.name}' has a stiffness")
        made = self._made(record, HERE)
        start = (*record.X.p, *quat_of_rotation(record.X.R))
        self.m.joint(joint.name, parent, made, joints.free(), damping=joint.damping or None, actuated=False, initial=start)
        return made

    def _chain(self, record: BodyRecord, parent: Body, at: Place, last: Body, afters: list[Place]) -> None:
        """One joint after the other, massless bodies between them."""
        for joint, after in zip(record.joints, afters, strict=True):
            child = last
            if joint is not record.joints[-1]:
                child = self.m.body(joint.name if joint.name not in self.records else f"{record.name}_{joint.name}")
            self._join(record, joint, parent, child, at @ shifted(_anchor(joint)))
            parent, at = child, after

    def _join(self, record: BodyRecord, joint: JointRecord, parent: Body, child: Body, at: Place) -> None:
        axis = tuple(joint.axis)
        motion = {"hinge": lambda: joints.revolute(axis), "slide": lambda: joints.prismatic(axis), "ball": joints.spherical}[joint.kind]()
        if joint.kind == "ball" and joint.stiffness:
            self.reader.refuse("stiffness", f"the ball joint '{joint.name}' of body '{record.name}' has a stiffness")
        straight = joint.kind != "ball"
        self.reference[joint.name] = joint.ref
        if joint.range:
            self.m.limits[joint.name] = joint.range
        self.m.joint(
            joint.name,
            parent,
            child,
            motion,
            at.p,
            _matrix(at),
            spring=joint.stiffness if joint.stiffness and straight else None,
            rest=joint.springref,
            damping=joint.damping or None,
            armature=joint.armature or None,
            stop=Stop(*joint.range, STOP_STIFFNESS) if self.stops and joint.range else None,
            actuated=self.driven is None or joint.name in self.driven,
            initial=joint.ref if straight else None,
        )

    def contents(self, record: BodyRecord, body: Body, at: Place) -> None:
        """Sites as frames and geoms as shapes."""
        for name, site in record.sites.items():
            place = at @ site
            self.m.frame(name, body, place.p, _matrix(place))
        looks = [self._shape(geom, at @ geom.X) for geom in record.geoms]
        self.m.shape(body, *[shape for shape in looks if shape is not None])

    def _shape(self, geom: GeomRecord, at: Place) -> shapes.Shape | None:
        a, b, _ = geom.size
        if geom.kind == "sphere":
            return shapes.sphere(a, at.p, geom.colour)
        if geom.kind in ("capsule", "cylinder"):
            return shapes.MAKERS[geom.kind](at.p - at.R[:, 2] * b, at.p + at.R[:, 2] * b, a, geom.colour)
        if geom.kind == "box":
            return shapes.box(2 * geom.size, at.p, _matrix(at), geom.colour)
        if geom.kind == "ellipsoid":
            return shapes.ellipsoid(geom.size, at.p, _matrix(at), geom.colour)
        asset = self.reader.meshes.get(geom.mesh)
        if asset is None or not asset.get("file"):
            return None
        folder = self.reader.compiler.get("meshdir") or self.reader.compiler.get("assetdir", "")
        scale = text.numbers(asset.get("scale", "1 1 1"), 3, 3, f"{self.reader.where}: scale of mesh '{geom.mesh}'")
        return shapes.mesh(str(Path(folder) / asset.get("file", "")), scale, at.p, _matrix(at), geom.colour)

    # ---- equality ----

    def equality(self, element: ElementTree.Element, number: int) -> None:
        name = text.name_of(element.get("name", f"{element.tag}_{number}"))
        if element.tag == "joint":
            self._coupled(name, element)
        elif element.tag in ("connect", "weld"):
            a, b = self._sites(name, element) if "site1" in element.attrib else self._bodies(name, element)
            self.m.constrain((constraints.point if element.tag == "connect" else constraints.weld)(name, a, b))
        else:
            self.reader.refuse(element.tag, f"equality '{name}' is a <{element.tag}>")

    def _coupled(self, name: str, element: ElementTree.Element) -> None:
        given = text.numbers(element.get("polycoef", "0 1 0 0 0"), 1, 5, f"{self.reader.where}: polycoef of equality '{name}'")
        full = [float(v) for v in given] + [0.0, 1.0, 0.0, 0.0, 0.0][len(given) :]
        offset, ratio = full[:2]
        if any(full[2:]):
            raise ModelError(f"{self.reader.where}: equality '{name}' has the polycoef {given.tolist()}: only linear ones are read")
        second = self._named(name, element, "joint1", list(self.reference))
        if "joint2" not in element.attrib:
            self.m.constrain(constraints.prescribed(name, second, self.reference[second] + offset))
            return
        first = self._named(name, element, "joint2", list(self.reference))
        self.m.constrain(constraints.coupled(name, first, second, ratio, self.reference[second] + offset - ratio * self.reference[first]))

    def _sites(self, name: str, element: ElementTree.Element) -> tuple[str, str]:
        known = [site for record in self.records.values() for site in record.sites]
        return self._named(name, element, "site1", known), self._named(name, element, "site2", known)

    def _bodies(self, name: str, element: ElementTree.Element) -> tuple[str, str]:
        """Frames on both bodies that coincide as the bodies do in the configuration that the file shows, or as told."""
        a, b = self._named(name, element, "body1", list(self.records)), "world"
        if "body2" in element.attrib:
            b = self._named(name, element, "body2", list(self.records))
        where = f"{self.reader.where}: anchor of equality '{name}'"
        X_ab = self.records[a].X_W.inverse() @ self.records[b].X_W
        anchor = text.numbers(element.get("anchor", "0 0 0"), 3, 3, where)
        if element.tag == "connect":  # the anchor is in the first body
            on_a = shifted(anchor)
            on_b = X_ab.inverse() @ on_a
        else:  # in the second
            relative = text.numbers(element.get("relpose", "0 1 0 0 0 0 0"), 7, 7, f"{self.reader.where}: relpose of equality '{name}'")
            on_b = shifted(anchor)
            on_a = X_ab @ on_b
            if np.any(relative[3:]):  # MuJoCo takes its position as that of the anchor in the first body
                on_a = Place(rotation_of_quat(relative[3:]), relative[:3])
        for suffix, body, on in (("a", a, on_a), ("b", b, on_b)):
            place = self.at[body] @ on
            self.m.frame(f"{name}_{suffix}", self.m.bodies[body], place.p, _matrix(place))
        return f"{name}_a", f"{name}_b"

    def _named(self, name: str, element: ElementTree.Element, key: str, known: list[str]) -> str:
        found = text.name_of(element.get(key, ""))
        if found not in known:
            raise UnknownNameError(f"{self.reader.where}: equality '{name}' has {key} '{found}': {did_you_mean(found, known)}")
        return found


def _anchor(joint: JointRecord) -> np.ndarray:
    return np.zeros(3) if joint.kind == "slide" else joint.pos


def _after(joint: JointRecord) -> Place:
    """The body's frame, seen from the joint: back from the anchor, and back by the coordinate that means 'not moved'."""
    if joint.kind == "slide":
        return shifted(-joint.axis * joint.ref)
    turned = rotation(joint.axis, -joint.ref) if joint.kind == "hinge" and joint.ref else np.eye(3)
    return Place(turned, -turned @ joint.pos)


def _matrix(place: Place) -> ca.SX:
    return ca.densify(ca.SX(place.R))
