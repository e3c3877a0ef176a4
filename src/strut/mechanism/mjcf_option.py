"""<option> of MJCF: gravity, and what its flags switch off."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError
from strut.mechanism.text import numbers

if TYPE_CHECKING:
    from strut.mechanism.mjcf_read import Reader

FLAGS = {
    "constraint": {"equality", "frictionloss", "limit"},
    "equality": {"equality"},
    "frictionloss": {"frictionloss"},
    "limit": {"limit"},
    "passive": {"spring", "damper", "gravcomp", "fluid"},
    "spring": {"spring"},
    "damper": {"damper"},
    "gravity": {"gravity", "gravcomp"},
    "actuation": {"actuation"},
}
"""What each flag switches off. Others change how MuJoCo computes, or contacts, which are not read."""


class Options:
    """gravity: the pull along -z [m/s^2]; off: what the flags switch off."""

    def __init__(self, root: ElementTree.Element, reader: Reader) -> None:
        self.off: set[str] = set()
        fluid = {"density": 0.0, "viscosity": 0.0}
        g = np.array([0.0, 0.0, -9.81])
        for option in root.findall("option"):
            if "gravity" in option.attrib:
                g = numbers(option.attrib["gravity"], 3, 3, f"{reader.where}: gravity")
            for key in fluid:
                if key in option.attrib:
                    fluid[key] = float(numbers(option.attrib[key], 1, 1, f"{reader.where}: {key}")[0])
            for flag in option.findall("flag"):
                for key, value in flag.attrib.items():
                    if value not in ("enable", "disable"):
                        raise ModelError(f"{reader.where}: <flag> has {key}=\"{value}\": it is 'enable' or 'disable'")
                    if value == "disable":
                        self.off |= FLAGS.get(key, set())
        if "gravity" in self.off:
            g = np.zeros(3)
        if g[0] or g[1] or g[2] > 0:
            raise ModelError(f"{reader.where}: gravity is {g.tolist()}: only gravity along -z is read; turn the world's bodies instead")
        self.gravity = float(-g[2]) + 0.0
        for key, amount in fluid.items():
            if amount and "fluid" not in self.off:
                reader.refuse(key, f"<option> has a fluid's {key}")
