"""Robots that others described: the humanoid of `example-robot-data`, where that is installed (`pip install '.[robots]'`)."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from xml.etree import ElementTree

PACKAGE = "example-robot-data"
HUMANOID = "simple_humanoid.urdf"
MISSING = "needs example-robot-data (446 MB): pip install '.[robots]'"


def humanoid() -> str | None:
    """URDF of a humanoid with 29 hinges and a free base, which all readers understand alike: the base hangs on a link 'world'
    by a floating joint; shapes, which no equation of motion needs, are left out. None where it is not installed."""
    path = _installed(HUMANOID)
    if path is None:
        return None
    robot = ElementTree.fromstring(path.read_text())
    for link in robot.findall("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    children = {str(element.get("link")) for element in robot.findall("joint/child")}
    root = next(str(link.get("name")) for link in robot.findall("link") if link.get("name") not in children)
    ElementTree.SubElement(robot, "link", name="world")
    base = ElementTree.SubElement(robot, "joint", name="base", type="floating")
    for tag, link_name in (("parent", "world"), ("child", root)):
        ElementTree.SubElement(base, tag, link=link_name)
    return ElementTree.tostring(robot, encoding="unicode")


def _installed(name: str) -> Path | None:
    """A file of the package, found without importing it."""
    try:
        files = importlib.metadata.files(PACKAGE) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((Path(str(file.locate())) for file in files if file.name == name), None)
