"""<option> of MJCF: gravity, and what its flags switch off."""

from __future__ import annotations

from collections.abc import Collection
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError
from strut.mechanism.io.names import numbers

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
    "clampctrl": {"clampctrl"},
}
"""What each flag switches off. Others change how MuJoCo computes, or contacts, which are not read."""


class MjcfOptions:
    """What <option> says: `gravity`, the pull along -z, and `sideways_gravity` along x and y [m/s^2]; density
    [kg/m^3], viscosity [Pa s] and wind [m/s] of the fluid around; `off`, what the flags switch off."""

    def __init__(self, root: ElementTree.Element, where: str, ignore: Collection[str]) -> None:
        self.off: set[str] = set()
        self.density = self.viscosity = 0.0
        self.wind = np.zeros(3)
        g = np.array([0.0, 0.0, -9.81])
        for option in root.findall("option"):
            if "gravity" in option.attrib:
                g = numbers(option.attrib["gravity"], 3, 3, f"{where}: gravity")
            if "wind" in option.attrib:
                self.wind = numbers(option.attrib["wind"], 3, 3, f"{where}: wind")
            for key in ("density", "viscosity"):
                if key in option.attrib and key not in ignore:
                    value = float(numbers(option.attrib[key], 1, 1, f"{where}: {key}")[0])
                    if value < 0:
                        raise ModelError(f"{where}: <option> has {key} {value:g}: it must not be negative")
                    setattr(self, key, value)
            for flag in option.findall("flag"):
                for key, switch in flag.attrib.items():
                    if switch not in ("enable", "disable"):
                        raise ModelError(
                            f"{where}: <flag> has {key}=\"{switch}\": it is 'enable' or 'disable'"
                        )
                    if switch == "disable":
                        self.off |= FLAGS.get(key, set())
        if "gravity" in self.off:
            g = np.zeros(3)
        self.gravity, self.sideways_gravity = float(-g[2]) + 0.0, (float(g[0]), float(g[1]))

    @property
    def fluid(self) -> bool:
        """Whether there is a fluid that acts on bodies."""
        return bool(self.density or self.viscosity) and "fluid" not in self.off
