"""Any element of MJCF: <compiler> and <default>s applied, places and angles in one form, refusals."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, did_you_mean
from strut.mechanism.io.folders import Folders
from strut.mechanism.io.mjcf_option import MjcfOptions
from strut.mechanism.io.names import ReadWarning, numbers
from strut.mechanism.io.poses import NumericPose, rotation, rotation_of_quat, rotation_to

Element = ElementTree.Element

ORIENTATIONS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
"""Attributes that say a rotation; an element has at most one of them."""


class ElementReader:
    """Reads attributes of elements of one file: what readers of bodies, joints and geoms have in common."""

    def __init__(self, root: Element, where: str, ignore: Collection[str], folders: Folders) -> None:
        self.where, self.ignore, self.folders = where, ignore, folders
        compiler: dict[str, str] = {}
        for element in root.findall("compiler"):
            compiler |= element.attrib
        self.compiler = compiler
        self.unit = 1.0 if self.choice("angle", ("degree", "radian")) == "radian" else np.pi / 180
        if compiler.get("coordinate", "local") != "local":
            raise ModelError(
                f"{where}: <compiler coordinate=\"{compiler['coordinate']}\">: only 'local' coordinates are "
                f"read"
            )
        if compiler.get("alignfree", "false") == "true":
            self.refuse("alignfree", "<compiler alignfree> moves the frames of free bodies")
        self.autolimits = self.choice("autolimits", ("true", "false")) == "true"
        self.eulerseq = compiler.get("eulerseq", "xyz")
        if len(self.eulerseq) != 3 or any(c not in "xyzXYZ" for c in self.eulerseq):
            raise ModelError(
                f'{where}: <compiler eulerseq="{self.eulerseq}">: three of x, y, z, X, Y, Z are needed'
            )
        self.options = MjcfOptions(root, where, ignore)
        self.classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in root.findall("default"):
            self._defaults(element, self.classes["main"], "main")

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """An attribute of <compiler> that is one of a few words; the first where it is not given."""
        value = self.compiler.get(key, allowed[0])
        if value not in allowed:
            raise ModelError(f'{self.where}: <compiler {key}="{value}">: {did_you_mean(value, allowed)}')
        return value

    def refuse(self, name: str, what: str) -> None:
        """Raise ModelError, unless the user said that `name` may be left out."""
        if name not in self.ignore:
            raise ModelError(
                f"{self.where}: {what}, which is not read: remove it, or leave it out knowingly with "
                f"ignore=['{name}'] (--ignore {name})"
            )

    def warn(self, message: str) -> None:
        """A `ReadWarning` that names the file."""
        warnings.warn(f"{self.where}: {message}", ReadWarning, stacklevel=5)

    # ---- defaults ----

    def _defaults(self, element: Element, inherited: dict[str, dict[str, str]], name: str) -> None:
        """Collect the attributes of a class of <default>, and of those nested in it."""
        own = {tag: dict(attributes) for tag, attributes in inherited.items()}
        for child in element:
            if child.tag != "default":
                own.setdefault(child.tag, {}).update(child.attrib)
        self.classes[name] = own
        for child in element.findall("default"):
            if not child.get("class"):
                raise ModelError(f"{self.where}: a <default> inside another has no class")
            self._defaults(child, own, str(child.get("class")))

    def attributes(self, element: Element, childclass: str, tag: str = "") -> dict[str, str]:
        """An element's own attributes over those of its class, which are under its tag unless another is
        given."""
        name = element.get("class", childclass)
        if name not in self.classes:
            raise ModelError(
                f"{self.where}: <{element.tag}> '{element.get('name', '')}' has class '{name}': "
                f"{did_you_mean(name, list(self.classes))}"
            )
        merged = dict(self.classes[name].get(tag or element.tag, {}))
        if any(key in element.attrib for key in ORIENTATIONS):
            merged = {key: value for key, value in merged.items() if key not in ORIENTATIONS}
        if (
            "size" in merged and "size" in element.attrib
        ):  # the numbers that are not given stay those of the class
            first = element.attrib["size"].split()
            merged["size"] = " ".join([*first, *merged["size"].split()[len(first) :]])
            return merged | {key: value for key, value in element.attrib.items() if key != "size"}
        return merged | element.attrib

    # ---- places ----

    def place(self, attributes: Mapping[str, str], what: str) -> NumericPose:
        """The pose of an element in its parent, from pos and any of the orientations."""
        return NumericPose(
            self.orientation(attributes, what),
            numbers(attributes.get("pos", "0 0 0"), 3, 3, f"{self.where}: pos of {what}"),
        )

    def orientation(self, a: Mapping[str, str], what: str) -> np.ndarray:
        """The rotation that an element's attributes say; none is the identity."""
        named = [key for key in ORIENTATIONS if key in a]
        if not named:
            return np.eye(3)
        if len(named) > 1:
            raise ModelError(f"{self.where}: {what} has {' and '.join(named)}: one orientation is enough")
        key, sizes = named[0], {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
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

    # ---- numbers ----

    def several(self, a: Mapping[str, str], key: str, what: str, most: int) -> np.ndarray:
        """The numbers of an attribute, one to `most`; 0 where it is not given."""
        return numbers(a.get(key, "0"), 1, most, f"{self.where}: {key} of {what}")
