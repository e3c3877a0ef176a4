"""What <actuator> says of joints: which have a motor, and what these give at most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from xml.etree.ElementTree import Element

import numpy as np

from strut.mechanism.io.mjcf_read import Reader
from strut.mechanism.io.names import name_of, numbers

ACTUATORS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle")
"""Elements whose defaults MuJoCo keeps in one place: what a class says of one holds for all."""
UNLIMITED = (-math.inf, math.inf)
Range = tuple[float, float]


def driven_joints(root: Element, reader: Reader) -> set[str] | None:
    """Joints that actuators drive; None where there is no such element, which means all of them."""
    if "actuation" in reader.options.off:
        return set()
    if not root.findall("actuator"):
        return None
    return {name_of(str(e.get("joint"))) for e in _on_joints(root)}


def joint_efforts(root: Element, reader: Reader) -> dict[str, Range]:
    """What the actuators of a joint give together [N m or N], by name of the joint: from forcerange, and from
    ctrlrange of those whose control is a force; times their gear. Joints without such limits are left out."""
    efforts: dict[str, Range] = {}
    for element in _on_joints(root):
        name = name_of(str(element.get("joint")))
        low, high = _effort(element, reader)
        before = efforts.get(name, (0.0, 0.0))
        efforts[name] = (before[0] + low, before[1] + high)
    return {name: pair for name, pair in efforts.items() if pair != UNLIMITED}


def _on_joints(root: Element) -> list[Element]:
    """The actuators that drive a joint."""
    return [e for section in root.findall("actuator") for e in section if e.get("joint")]


def _effort(element: Element, reader: Reader) -> Range:
    """What one actuator gives along its joint."""
    a = reader.attributes(element, "main")
    of_class = reader.classes[element.get("class", "main")]
    shared: dict[str, str] = {}
    for tag in ACTUATORS:
        shared |= of_class.get(tag, {})
    a = {**shared, **a}
    what = f"actuator '{a.get('name', a.get('joint', ''))}'"
    force = _range(a, "force", reader, what)
    if _controls_force(element.tag, a) and "clampctrl" not in reader.options.off:
        given_gain = {"gainprm": "1", **({} if element.tag == "motor" else a)}
        gain = float(reader.several(given_gain, "gainprm", what, 10)[0])
        ends = sorted(_scale(_range(a, "ctrl", reader, what), gain))
        force = (max(force[0], ends[0]), min(force[1], ends[1]))
    gear = float(numbers(a.get("gear", "1"), 1, 6, f"{reader.where}: gear of {what}")[0])
    low, high = sorted(_scale(force, gear))
    return low, high


def _controls_force(tag: str, a: Mapping[str, str]) -> bool:
    """Whether the control is the force, up to a factor: of a motor, and of a general actuator without
    dynamics and feedback."""
    words = {"gaintype": "fixed", "biastype": "none", "dyntype": "none"}
    plain = all(a.get(key, word) == word for key, word in words.items())
    return tag == "motor" or (tag == "general" and plain)


def _range(a: Mapping[str, str], kind: str, reader: Reader, what: str) -> Range:
    """The range of the control or of the force, where it is limited."""
    limited = a.get(f"{kind}limited", "auto")
    if f"{kind}range" not in a or limited == "false" or (limited == "auto" and not reader.autolimits):
        return UNLIMITED
    low, high = numbers(a[f"{kind}range"], 2, 2, f"{reader.where}: {kind}range of {what}")
    return (float(low), float(high)) if low < high else UNLIMITED


def _scale(pair: Range, factor: float) -> Range:
    """A range times a factor; 0 times infinity is 0."""
    low, high = (0.0 if not factor else float(np.multiply(end, factor)) for end in pair)
    return low, high


__all__ = ["driven_joints", "joint_efforts"]
