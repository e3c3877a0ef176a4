"""MJCF as records: defaults applied, orientations and angles in one form, inertias worked out, all in
numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.mechanism.io.folders import Folders
from strut.mechanism.io.mjcf_element import ORIENTATIONS, ElementReader
from strut.mechanism.io.mjcf_geom import Geoms
from strut.mechanism.io.mjcf_record import BodyRecord, JointRecord
from strut.mechanism.io.names import name_of, numbers
from strut.mechanism.io.poses import IDENTITY, NumericPose, pose_between

Element = ElementTree.Element

IGNORED_IN_BODIES = {"light", "camera"}
"""Elements inside bodies on which nothing that moves depends."""
BODY_ATTRIBUTES = {"name", "pos", *ORIENTATIONS, "childclass", "mocap", "gravcomp", "user", "sleep", "simple"}
"""Attributes of <body> that are read, or change no motion."""
JOINT_ATTRIBUTES = {
    *(
        "name",
        "class",
        "type",
        "pos",
        "axis",
        "ref",
        "springref",
        "stiffness",
        "damping",
        "armature",
        "range",
        "limited",
    ),
    *("group", "user", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction"),
    *("actuatorfrcrange", "actuatorfrclimited", "actuatorgravcomp", "align", "frictionloss", "springdamper"),
}
"""Attributes of <joint> that are read, or change no motion."""


class Reader(ElementReader):
    """Reads the bodies of one file, <include>s already in their places, with all they have."""

    def __init__(self, root: Element, where: str, ignore: Collection[str], folders: Folders) -> None:
        super().__init__(root, where, ignore, folders)
        self.geoms = Geoms(root, self)
        self.world = BodyRecord("world", IDENTITY, IDENTITY)
        self.taken = {name_of(str(e.get("name"))) for e in root.iter("body")} | {"world"}  # names of bodies
        self.unnamed = 0
        for element in root.findall("worldbody"):
            self._inside(element, self.world, IDENTITY, "main")
        self.geoms.give_inertias(self.world.all()[1:])

    # ---- bodies and what they have ----

    def _inside(self, element: Element, body: BodyRecord, X: NumericPose, childclass: str) -> None:
        """Read the children of a <body> or of a <frame> in it, which is at X."""
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
                body.geoms.append(self.geoms.read(child, body, X, childclass))
            elif tag == "site":
                a = self.attributes(child, childclass)
                if "fromto" in a:
                    at = pose_between(
                        numbers(a["fromto"], 6, 6, f"{self.where}: fromto of a site in body '{body.name}'")
                    )[0]
                else:
                    at = self.place(a, f"a site in body '{body.name}'")
                body.sites[name_of(a.get("name", f"{body.name}_site_{len(body.sites)}"))] = X @ at
            elif tag == "inertial":
                body.inertial = self._inertial(child, body, X)
            elif tag not in IGNORED_IN_BODIES:
                self.refuse(tag, f"body '{body.name}' has a <{tag}>")

    def _body(self, element: Element, parent: BodyRecord, X: NumericPose, childclass: str) -> BodyRecord:
        """Read a <body> and all inside of it."""
        name = name_of(element.get("name") or self._free_name())
        for key in set(element.attrib) - BODY_ATTRIBUTES:
            self.refuse(key, f"body '{name}' has the attribute {key}")
        own = self.place(element.attrib, f"body '{name}'")
        at = X @ own
        record = BodyRecord(name, at, parent.X_W @ at, pos=own.p)
        if "gravcomp" not in self.ignore:
            record.gravcomp = float(self.several(element.attrib, "gravcomp", f"body '{name}'", 1)[0])
        self._inside(element, record, IDENTITY, element.get("childclass", childclass))
        return record

    def _free_name(self) -> str:
        """A name for a body without one."""
        self.unnamed += 1
        while f"body_{self.unnamed}" in self.taken:
            self.unnamed += 1
        return f"body_{self.unnamed}"

    def _joint(self, element: Element, body: BodyRecord, X: NumericPose, childclass: str) -> JointRecord:
        """Read a <joint> or <freejoint>."""
        free = element.tag == "freejoint"
        a = {**element.attrib, "type": "free"} if free else self.attributes(element, childclass)
        count = len(body.joints)
        name = name_of(a.get("name", f"{body.name}_joint" if not count else f"{body.name}_joint_{count + 1}"))
        what = f"joint '{name}' of body '{body.name}'"
        for key in set(a) - JOINT_ATTRIBUTES:
            self.refuse(key, f"{what} has the attribute {key}")
        if a.get("align") == "true":
            self.refuse("align", f"{what} has align, which moves the body's frame")
        kind = a.get("type", "hinge")
        if kind not in ("hinge", "slide", "ball", "free"):
            raise ModelError(
                f"{self.where}: {what} has type '{kind}': "
                f"{did_you_mean(kind, ['hinge', 'slide', 'ball', 'free'])}"
            )
        axis = X.R @ numbers(a.get("axis", "0 0 1"), 3, 3, f"{self.where}: axis of {what}")
        if not np.linalg.norm(axis) > 0:
            raise ModelError(f"{self.where}: {what} has an axis without length")
        unit = self.unit if kind in ("hinge", "ball") else 1.0
        stiffness, damping = (self.several(a, key, what, 8) for key in ("stiffness", "damping"))
        for key, values in (("stiffness", stiffness), ("damping", damping)):
            if any(values[1:]):
                self.refuse(key, f"{what} has a {key} that is not linear")
        limited = a.get("limited", "auto")
        bounds = None
        if "range" in a and (limited == "true" or (limited == "auto" and self.autolimits)):
            low, high = numbers(a["range"], 2, 2, f"{self.where}: range of {what}") * unit
            # As in MuJoCo: nobody limited a joint whose range is empty, unless limited="true" says so.
            ranges = kind in ("hinge", "slide") and (low < high or limited == "true")
            bounds = (float(low), float(high)) if ranges else None
        ref, springref, armature = (
            float(self.several(a, key, what, 1)[0]) for key in ("ref", "springref", "armature")
        )
        position = numbers(a.get("pos", "0 0 0"), 3, 3, f"{self.where}: pos of {what}")
        return JointRecord(
            name=name,
            kind=kind,
            pos=X.R @ position + X.p,
            axis=axis / np.linalg.norm(axis),
            ref=ref * unit,
            springref=springref * unit,
            stiffness=float(stiffness[0]),
            damping=float(damping[0]),
            armature=armature,
            range=bounds,
            friction=0.0
            if "frictionloss" in self.ignore
            else float(self.several(a, "frictionloss", what, 1)[0]),
            springdamper=self._springdamper(a, what),
            effort=self._effort(a, kind, what),
        )

    def _effort(self, a: Mapping[str, str], kind: str, what: str) -> tuple[float, float] | None:
        """What all motors of a joint give together [N m or N]; None without a limit."""
        limited = a.get("actuatorfrclimited", "auto")
        if kind not in ("hinge", "slide") or "actuatorfrcrange" not in a or limited == "false":
            return None
        low, high = numbers(a["actuatorfrcrange"], 2, 2, f"{self.where}: actuatorfrcrange of {what}")
        auto = limited == "auto" and self.autolimits and low < high
        return (float(low), float(high)) if limited == "true" or auto else None

    def _springdamper(self, a: Mapping[str, str], what: str) -> tuple[float, float] | None:
        """Time constant [s] and damping ratio; None where they are not positive."""
        if "springdamper" not in a or "springdamper" in self.ignore:
            return None
        constant, ratio = numbers(a["springdamper"], 2, 2, f"{self.where}: springdamper of {what}")
        return (float(constant), float(ratio)) if constant > 0 and ratio > 0 else None

    def _inertial(
        self, element: Element, body: BodyRecord, X: NumericPose
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Read an <inertial>: mass [kg], centre of mass [m] and inertia about it [kg m^2], in the body's
        frame."""
        what, a = f"the inertial of body '{body.name}'", element.attrib
        if "mass" not in a or ("diaginertia" in a) == ("fullinertia" in a):
            raise ModelError(f"{self.where}: {what} needs a mass, and either diaginertia or fullinertia")
        at = X @ self.place(a, what)
        if "diaginertia" in a:
            body.axes = at.R
            about = np.diag(numbers(a["diaginertia"], 3, 3, f"{self.where}: diaginertia of {what}"))
        else:
            xx, yy, zz, xy, xz, yz = numbers(a["fullinertia"], 6, 6, f"{self.where}: fullinertia of {what}")
            about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return (
            float(numbers(a["mass"], 1, 1, f"{self.where}: mass of {what}")[0]),
            at.p,
            at.R @ about @ at.R.T,
        )
