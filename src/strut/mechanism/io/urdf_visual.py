"""<visual> of URDF as shapes, and back."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.mechanism.io.names import ReadWarning, numbers, words
from strut.mechanism.looks import shapes
from strut.mechanism.looks.shape_types import Box, Capsule, Colour, Cylinder, Mesh, Shape, Sphere
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.spatial import rotation_of_rpy, rpy_of_rotation

Element = ElementTree.Element


def visuals(link: Element, robot: Element, where: str) -> Iterator[Shape]:
    """The shapes of a link. One that cannot be understood is left out, with a warning: no motion depends on
    it."""
    what = f"{where}: a visual of link '{link.get('name')}'"
    for visual in link.findall("visual"):
        try:
            yield _shape(visual, robot, what)
        except ModelError as error:
            message = str(error) if str(error).startswith(what) else f"{what}: {error}"
            warnings.warn(f"{message}; this visual is left out", ReadWarning, stacklevel=6)


def _shape(visual: Element, robot: Element, what: str) -> Shape:
    """The shape of a <visual>."""
    geometry, origin = visual.find("geometry"), visual.find("origin")
    if geometry is None or len(geometry) != 1:
        raise ModelError(
            f"{what} has {0 if geometry is None else len(geometry)} shapes: a <geometry> with one is needed"
        )
    place = origin.attrib if origin is not None else {}
    at = numbers(place.get("xyz", "0 0 0"), 3, 3, what)
    R = np.array(ca.DM(rotation_of_rpy(list(numbers(place.get("rpy", "0 0 0"), 3, 3, what)))))
    colour, element = _colour(visual, robot, what), geometry[0]
    if element.tag == "sphere":
        return shapes.sphere(_number(element, "radius", what), at, colour)
    if element.tag in ("cylinder", "capsule"):
        half = R[:, 2] * _number(element, "length", what) / 2
        return shapes.MAKERS[element.tag](at - half, at + half, _number(element, "radius", what), colour)
    if element.tag == "box":
        return shapes.box(numbers(element.get("size", ""), 3, 3, f"{what}: size"), at, ca.SX(R), colour)
    if element.tag == "mesh":
        scale = numbers(element.get("scale", "1 1 1"), 3, 3, f"{what}: scale")
        return shapes.mesh(element.get("filename", ""), scale, at, ca.SX(R), colour)
    raise ModelError(f"{what} is a <{element.tag}>: known are box, cylinder, capsule, sphere and mesh")


def _number(element: Element, key: str, what: str) -> float:
    """A number among the attributes of an element."""
    return float(numbers(element.get(key, ""), 1, 1, f"{what}: {key}")[0])


def _colour(visual: Element, robot: Element, what: str) -> Colour | None:
    """The colour of a material, or of the material of that name on top; None where there is none."""
    material = visual.find("material")
    if material is None:
        return None
    named = [m for m in robot.findall("material") if m.get("name") == material.get("name")]
    colour_element = next(
        (colour for m in (material, *named) if (colour := m.find("color")) is not None), None
    )
    if colour_element is None:
        return None
    red, green, blue, opacity = numbers(colour_element.get("rgba", ""), 4, 4, f"{what}: rgba")
    return float(red), float(green), float(blue), float(opacity)


def add_visuals(mechanism: Mechanism, body: str, link: Element) -> None:
    """Write the shapes of a body into its link, with the parameters' own values."""
    if body not in mechanism.shapes:
        return
    for shape in shapes.in_numbers(mechanism)[body]:
        for part, at, R in _parts(shape):
            visual = ElementTree.SubElement(link, "visual")
            ElementTree.SubElement(visual, "origin", xyz=words(at), rpy=words(rpy_of_rotation(R)))
            ElementTree.SubElement(visual, "geometry").append(part)
            if shape.colour is not None:
                name = "rgba_" + "_".join(f"{round(255 * v)}" for v in shape.colour)
                ElementTree.SubElement(
                    ElementTree.SubElement(visual, "material", name=name),
                    "color",
                    rgba=words(np.array(shape.colour)),
                )


def _parts(shape: Shape) -> Iterator[tuple[Element, np.ndarray, np.ndarray]]:
    """What URDF can say of a shape: elements, with their places and rotations."""
    upright = np.eye(3)
    if isinstance(shape, Sphere):
        yield Element("sphere", radius=words(shape.radius)), np.array(shape.at), upright
    elif isinstance(shape, Box):
        yield Element("box", size=words(shape.size)), np.array(shape.at), np.array(shape.rotation)
    elif isinstance(shape, Mesh):
        yield (
            Element("mesh", filename=shape.path, scale=words(shape.scale)),
            np.array(shape.at),
            np.array(shape.rotation),
        )
    elif isinstance(shape, (Capsule, Cylinder)):
        start, end = np.array(shape.start), np.array(shape.end)
        length = float(np.linalg.norm(end - start))
        radius = words(shape.radius)
        if length > 0:
            yield (
                Element("cylinder", radius=radius, length=repr(length)),
                (start + end) / 2,
                _upright((end - start) / length),
            )
        if isinstance(shape, Capsule):
            yield Element("sphere", radius=radius), start, upright
            yield Element("sphere", radius=radius), end, upright


def _upright(along: np.ndarray) -> np.ndarray:
    """A rotation that takes z to `along`."""
    across = np.eye(3)[int(np.argmin(np.abs(along)))]
    x = np.cross(across, along)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(along, x), along])
