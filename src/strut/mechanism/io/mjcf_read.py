"""MJCF as records: defaults applied, orientations and angles in one form, inertias worked out, all in numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.mechanism.io.names import name_of, numbers
from strut.mechanism.io.poses import HERE, Place, between, moments_of, rotation, rotation_of_quat, rotation_to, volume_of

Element = ElementTree.Element

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
QUIET = {"light", "camera"}  # inside bodies: nothing that moves depends on them
BODY_ATTRIBUTES = {"name", "pos", *ORIENTATIONS, "childclass", "mocap", "gravcomp", "user", "sleep"}
JOINT_ATTRIBUTES = {
    *("name", "class", "type", "pos", "axis", "ref", "springref", "stiffness", "damping", "armature", "range", "limited"),
    *("group", "user", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction"),
    *("actuatorfrcrange", "actuatorfrclimited", "actuatorgravcomp", "align", "frictionloss", "springdamper"),
}
GEOMS = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "plane", "mesh", "hfield", "sdf")


@dataclass
class GeomRecord:
    """X: in the body. Sizes as in MJCF: radii and half lengths. `inertia` about its centre, along its own axes."""

    kind: str
    X: Place
    size: np.ndarray
    mass: float
    inertia: np.ndarray
    mesh: str = ""
    colour: tuple[float, ...] | None = None
    group: int = 0


@dataclass
class JointRecord:
    name: str
    kind: str
    pos: np.ndarray
    axis: np.ndarray
    ref: float
    springref: float
    stiffness: float
    damping: float
    armature: float
    range: tuple[float, float] | None


@dataclass
class BodyRecord:
    """X: in the parent, before joints move it; X_W: in the world, likewise."""

    name: str
    X: Place
    X_W: Place
    joints: list[JointRecord] = field(default_factory=list)
    geoms: list[GeomRecord] = field(default_factory=list)
    sites: dict[str, Place] = field(default_factory=dict)
    bodies: list[BodyRecord] = field(default_factory=list)
    given: tuple[float, np.ndarray, np.ndarray] | None = None
    mass: float = 0.0
    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    inertia: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    def all(self) -> list[BodyRecord]:
        return [self, *(b for child in self.bodies for b in child.all())]


class Reader:
    """Reads the elements of one file."""

    def __init__(self, root: Element, where: str, ignore: Collection[str]) -> None:
        self.where, self.ignore = where, ignore
        compiler: dict[str, str] = {}
        for element in root.findall("compiler"):
            compiler |= element.attrib
        self.compiler = compiler
        self.unit = 1.0 if self.choice("angle", ("degree", "radian")) == "radian" else np.pi / 180
        if compiler.get("coordinate", "local") != "local":
            raise ModelError(f"{where}: <compiler coordinate=\"{compiler['coordinate']}\">: only 'local' coordinates are read")
        if compiler.get("alignfree", "false") == "true":
            self.refuse("alignfree", "<compiler alignfree> moves the frames of free bodies")
        self.autolimits = self.choice("autolimits", ("true", "false")) == "true"
        self.eulerseq = compiler.get("eulerseq", "xyz")
        if len(self.eulerseq) != 3 or any(c not in "xyzXYZ" for c in self.eulerseq):
            raise ModelError(f'{where}: <compiler eulerseq="{self.eulerseq}">: three of x, y, z, X, Y, Z are needed')
        self.from_geoms = self.choice("inertiafromgeom", ("auto", "true", "false"))
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in root.findall("default"):
            self._defaults(element, self.classes["main"], "main")
        self.meshes = {m.get("name") or _stem(m.get("file", "")): m for m in root.findall("asset/mesh")}
        self.materials = {str(m.get("name")): m.get("rgba") for m in root.findall("asset/material")}
        self.world = BodyRecord("world", HERE, HERE)
        self.unnamed = 0
        for element in root.findall("worldbody"):
            self._inside(element, self.world, HERE, "main")
        self._inertias()

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.compiler.get(key, allowed[0])
        if value not in allowed:
            raise ModelError(f'{self.where}: <compiler {key}="{value}">: {did_you_mean(value, allowed)}')
        return value

    def refuse(self, name: str, what: str) -> None:
        """An error, unless the user said that `name` may be left out."""
        if name not in self.ignore:
            raise ModelError(f"{self.where}: {what}, which is not read: remove it, or leave it out knowingly with ignore=['{name}']")

    # ---- defaults ----

    def _defaults(self, element: Element, inherited: dict[str, dict[str, str]], name: str) -> None:
        own = {tag: dict(attributes) for tag, attributes in inherited.items()}
        for child in element:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attrib)
        self.classes[name] = own
        for child in element.findall("default"):
            if not child.get("class"):
                raise ModelError(f"{self.where}: a <default> inside another has no class")
            self._defaults(child, own, str(child.get("class")))

    def attributes(self, element: Element, childclass: str) -> dict[str, str]:
        """An element's own attributes over those of its class."""
        name = element.get("class", childclass)
        if name not in self.classes:
            raise ModelError(
                f"{self.where}: <{element.tag}> '{element.get('name', '')}' has class '{name}': {did_you_mean(name, list(self.classes))}"
            )
        found = dict(self.classes[name].get(element.tag, {}))
        if any(key in element.attrib for key in ORIENTATIONS):
            found = {key: value for key, value in found.items() if key not in ORIENTATIONS}
        if "size" in found and "size" in element.attrib:  # the numbers that are not given stay those of the class
            first = element.attrib["size"].split()
            found["size"] = " ".join([*first, *found["size"].split()[len(first) :]])
            return found | {key: value for key, value in element.attrib.items() if key != "size"}
        return found | element.attrib

    # ---- places ----

    def place(self, attributes: Mapping[str, str], what: str) -> Place:
        return Place(self.orientation(attributes, what), numbers(attributes.get("pos", "0 0 0"), 3, 3, f"{self.where}: pos of {what}"))

    def orientation(self, a: Mapping[str, str], what: str) -> np.ndarray:
        given = [key for key in ORIENTATIONS if key in a]
        if not given:
            return np.eye(3)
        if len(given) > 1:
            raise ModelError(f"{self.where}: {what} has {' and '.join(given)}: one orientation is enough")
        key, sizes = given[0], {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
        v = numbers(a[key], sizes[key], sizes[key], f"{self.where}: {key} of {what}")
        if key == "euler":
            R = np.eye(3)
            for axis, angle in zip(self.eulerseq, v * self.unit, strict=True):
                turn = rotation(np.eye(3)["xyz".index(axis.lower())], angle)
                R = R @ turn if axis.islower() else turn @ R
            return R
        if not np.linalg.norm(v[:3]) > 0 and key != "quat":
            raise ModelError(f"{self.where}: {key} of {what} is '{a[key]}': its axis has no length")
        if key == "quat":
            if not np.linalg.norm(v) > 0:
                raise ModelError(f"{self.where}: quat of {what} is '{a[key]}': it has no length")
            return rotation_of_quat(v)
        if key == "axisangle":
            return rotation(v[:3] / np.linalg.norm(v[:3]), v[3] * self.unit)
        if key == "zaxis":
            return rotation_to(v)
        x = v[:3] / np.linalg.norm(v[:3])
        y = v[3:] - x * (x @ v[3:])
        if not np.linalg.norm(y) > 1e-12:
            raise ModelError(f"{self.where}: xyaxes of {what} are parallel")
        y /= np.linalg.norm(y)
        return np.column_stack([x, y, np.cross(x, y)])

    # ---- bodies and what they have ----

    def _inside(self, element: Element, body: BodyRecord, X: Place, childclass: str) -> None:
        """The children of a <body> or of a <frame> in it, which is at X."""
        for child in element:
            tag = child.tag
            if tag == "body":
                body.bodies.append(self._body(child, body, X, childclass))
            elif tag == "frame":
                inner = X @ self.place(child.attrib, f"a frame in body '{body.name}'")
                self._inside(child, body, inner, child.get("childclass", childclass))
            elif tag in ("joint", "freejoint"):
                body.joints.append(self._joint(child, body, X, childclass))
            elif tag == "geom":
                self._geom(child, body, X, childclass)
            elif tag == "site":
                a = self.attributes(child, childclass)
                if "fromto" in a:
                    at = between(numbers(a["fromto"], 6, 6, f"{self.where}: fromto of a site in body '{body.name}'"))[0]
                else:
                    at = self.place(a, f"a site in body '{body.name}'")
                body.sites[name_of(a.get("name", f"{body.name}_site_{len(body.sites)}"))] = X @ at
            elif tag == "inertial":
                body.given = self._inertial(child, body, X)
            elif tag not in QUIET:
                self.refuse(tag, f"body '{body.name}' has a <{tag}>")

    def _body(self, element: Element, parent: BodyRecord, X: Place, childclass: str) -> BodyRecord:
        self.unnamed += "name" not in element.attrib
        name = name_of(element.get("name", f"body_{self.unnamed}"))
        for key in set(element.attrib) - BODY_ATTRIBUTES:
            self.refuse(key, f"body '{name}' has the attribute {key}")
        if any(self._several(element.attrib, "gravcomp", f"body '{name}'", 1)):
            self.refuse("gravcomp", f"body '{name}' has gravcomp")
        at = X @ self.place(element.attrib, f"body '{name}'")
        made = BodyRecord(name, at, parent.X_W @ at)
        self._inside(element, made, HERE, element.get("childclass", childclass))
        return made

    def _joint(self, element: Element, body: BodyRecord, X: Place, childclass: str) -> JointRecord:
        free = element.tag == "freejoint"
        a = {**element.attrib, "type": "free"} if free else self.attributes(element, childclass)
        count = len(body.joints)
        name = name_of(a.get("name", f"{body.name}_joint" if not count else f"{body.name}_joint_{count + 1}"))
        what = f"joint '{name}' of body '{body.name}'"
        for key in set(a) - JOINT_ATTRIBUTES:
            self.refuse(key, f"{what} has the attribute {key}")
        for key in ("frictionloss", "springdamper"):
            if any(self._several(a, key, what, 2)):
                self.refuse(key, f"{what} has {key}")
        if a.get("align") == "true":
            self.refuse("align", f"{what} has align, which moves the body's frame")
        kind = a.get("type", "hinge")
        if kind not in ("hinge", "slide", "ball", "free"):
            raise ModelError(f"{self.where}: {what} has type '{kind}': {did_you_mean(kind, ['hinge', 'slide', 'ball', 'free'])}")
        axis = X.R @ numbers(a.get("axis", "0 0 1"), 3, 3, f"{self.where}: axis of {what}")
        if not np.linalg.norm(axis) > 0:
            raise ModelError(f"{self.where}: {what} has an axis without length")
        unit = self.unit if kind in ("hinge", "ball") else 1.0
        stiffness, damping = (self._several(a, key, what, 8) for key in ("stiffness", "damping"))
        for key, values in (("stiffness", stiffness), ("damping", damping)):
            if any(values[1:]):
                self.refuse(key, f"{what} has a {key} that is not linear")
        limited = a.get("limited", "auto")
        bounds = None
        if "range" in a and (limited == "true" or (limited == "auto" and self.autolimits)):
            low, high = numbers(a["range"], 2, 2, f"{self.where}: range of {what}") * unit
            bounds = (float(low), float(high)) if kind in ("hinge", "slide") else None
        ref, springref, armature = (float(self._several(a, key, what, 1)[0]) for key in ("ref", "springref", "armature"))
        position = numbers(a.get("pos", "0 0 0"), 3, 3, f"{self.where}: pos of {what}")
        return JointRecord(
            name,
            kind,
            X.R @ position + X.p,
            axis / np.linalg.norm(axis),
            ref * unit,
            springref * unit,
            float(stiffness[0]),
            float(damping[0]),
            armature,
            bounds,
        )

    def _several(self, a: Mapping[str, str], key: str, what: str, most: int) -> np.ndarray:
        return numbers(a.get(key, "0"), 1, most, f"{self.where}: {key} of {what}")

    def _geom(self, element: Element, body: BodyRecord, X: Place, childclass: str) -> None:
        a = self.attributes(element, childclass)
        what = f"geom '{a['name']}' of body '{body.name}'" if "name" in a else f"a geom of body '{body.name}'"
        kind = "mesh" if "mesh" in a and "type" not in a else a.get("type", "sphere")
        if kind not in GEOMS:
            raise ModelError(f"{self.where}: {what} has type '{kind}': {did_you_mean(kind, GEOMS)}")
        size = np.zeros(3)
        given = numbers(a.get("size", ""), 0, 3, f"{self.where}: size of {what}")
        size[: len(given)] = given
        if "fromto" in a and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            at, half = between(numbers(a["fromto"], 6, 6, f"{self.where}: fromto of {what}"))
            size = np.array([size[0], half, 0.0]) if kind in ("capsule", "cylinder") else np.array([size[0], size[0], half])
        else:
            at = self.place(a, what)
        mass, inertia = 0.0, np.zeros((3, 3))
        if kind not in ("plane", "hfield"):
            mass, inertia = self._geom_inertia(a, kind, size, what)
        colour = a.get("rgba") or self.materials.get(a.get("material", ""))
        rgba = tuple(float(v) for v in numbers(colour, 3, 4, f"{self.where}: rgba of {what}")) if colour else None
        group = int(self._several(a, "group", what, 1)[0])
        body.geoms.append(GeomRecord(kind, X @ at, size, mass, inertia, a.get("mesh", ""), rgba, group))

    def _geom_inertia(self, a: Mapping[str, str], kind: str, size: np.ndarray, what: str) -> tuple[float, np.ndarray]:
        density = float(self._several({"density": "1000"} | dict(a), "density", what, 1)[0])
        mass = float(self._several(a, "mass", what, 1)[0]) if "mass" in a else None
        if mass == 0 or (mass is None and density == 0):
            return 0.0, np.zeros((3, 3))
        if kind in ("mesh", "sdf") or "mesh" in a:
            return np.nan, np.full((3, 3), np.nan)  # an error only if a body needs it
        if a.get("shellinertia") == "true":
            self.refuse("shellinertia", f"{what} has shellinertia")
        count = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}[kind]
        if not np.all(size[:count] > 0):
            raise ModelError(f"{self.where}: {what} is a {kind} of size {size[:count].tolist()}: {count} positive numbers are needed")
        volume = volume_of(kind, size)
        mass = density * volume if mass is None else mass
        return mass, mass * np.diag(moments_of(kind, size))

    def _inertial(self, element: Element, body: BodyRecord, X: Place) -> tuple[float, np.ndarray, np.ndarray]:
        what, a = f"the inertial of body '{body.name}'", element.attrib
        if "mass" not in a or ("diaginertia" in a) == ("fullinertia" in a):
            raise ModelError(f"{self.where}: {what} needs a mass, and either diaginertia or fullinertia")
        at = X @ self.place(a, what)
        if "diaginertia" in a:
            about = np.diag(numbers(a["diaginertia"], 3, 3, f"{self.where}: diaginertia of {what}"))
        else:
            xx, yy, zz, xy, xz, yz = numbers(a["fullinertia"], 6, 6, f"{self.where}: fullinertia of {what}")
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return float(numbers(a["mass"], 1, 1, f"{self.where}: mass of {what}")[0]), at.p, at.R @ about @ at.R.T

    # ---- inertias ----

    def _inertias(self) -> None:
        low, high = numbers(self.compiler.get("inertiagrouprange", "0 5"), 2, 2, f"{self.where}: inertiagrouprange")
        bodies = self.world.all()[1:]
        for body in bodies:
            if self.from_geoms == "true" or (self.from_geoms == "auto" and body.given is None):
                self._from_geoms(body, [g for g in body.geoms if low <= g.group <= high])
            elif body.given is not None:
                body.mass, body.com, body.inertia = body.given
            self._bounded(body)
        total = self._setting("settotalmass")
        now = sum(body.mass for body in bodies)
        if total > 0 and now > 0:
            for body in bodies:
                body.mass, body.inertia = body.mass * total / now, body.inertia * total / now

    def _setting(self, key: str) -> float:
        return float(self._several(self.compiler, key, "<compiler>", 1)[0])

    def _from_geoms(self, body: BodyRecord, geoms: list[GeomRecord]) -> None:
        heavy = [g for g in geoms if g.mass != 0]
        if not heavy and body.given is not None:
            body.mass, body.com, body.inertia = body.given
            return
        for g in heavy:
            if np.isnan(g.mass):
                raise ModelError(
                    f"{self.where}: body '{body.name}' takes its inertia from a {g.kind}, and files of meshes are not read: give it an "
                    '<inertial>, or the geom mass="0"'
                )
        body.mass = sum(g.mass for g in heavy)
        if body.mass:
            body.com = sum((g.mass * g.X.p for g in heavy), np.zeros(3)) / body.mass
            for g in heavy:
                r = g.X.p - body.com
                body.inertia = body.inertia + g.X.R @ g.inertia @ g.X.R.T + g.mass * (r @ r * np.eye(3) - np.outer(r, r))

    def _bounded(self, body: BodyRecord) -> None:
        """boundmass, boundinertia and balanceinertia of <compiler>, which repair careless inertias."""
        least = self._setting("boundinertia")
        body.mass = max(body.mass, self._setting("boundmass"))
        balance = self.compiler.get("balanceinertia", "false") == "true"
        if not least and not balance:
            return
        moments, axes = np.linalg.eigh(body.inertia)
        moments = np.maximum(moments, least)
        if balance and moments[0] + moments[1] < moments[2]:
            moments = np.full(3, moments.mean())
        body.inertia = axes @ np.diag(moments) @ axes.T


def _stem(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0]
