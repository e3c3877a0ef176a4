"""Contact: what touches the ground, how it lands, holds, slides and lets go."""

import importlib
from typing import TYPE_CHECKING, Any

from strut.contact.compliant import compliant
from strut.contact.feet import KneeLock
from strut.contact.ground import Ground, plane, profile, stairs
from strut.contact.laws import (
    Law,
    anchored,
    coulomb,
    cubic,
    geyer,
    hertz,
    hunt_crossley,
    linear,
    viscous,
)
from strut.contact.legs import Between, Legs, Lock
from strut.contact.rigid import ahead_of, rigid
from strut.contact.smooth_surfaces import Surface, ellipsoid, plane_surface, sine_ground, surface
from strut.contact.stepping import stepping
from strut.contact.surfaces import between, surfaces
from strut.contact.time_stepped import time_stepped
from strut.contact.touch import Touch, arc, cylinder, point, polygon, sphere, wheel
from strut.contact.uneven import uneven

if TYPE_CHECKING:
    from strut.contact.model_file import has_ground, load, parse

_OF_FILES = ("has_ground", "load", "parse")
"""Readers of model files: imported when first used, for they bring parsers that most runs do without."""


def __getattr__(name: str) -> Any:
    if name not in _OF_FILES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
    return globals().setdefault(name, getattr(importlib.import_module("strut.contact.model_file"), name))


__all__ = [
    "Between",
    "Ground",
    "KneeLock",
    "Law",
    "Legs",
    "Lock",
    "Surface",
    "Touch",
    "ahead_of",
    "anchored",
    "arc",
    "between",
    "compliant",
    "coulomb",
    "cubic",
    "cylinder",
    "ellipsoid",
    "geyer",
    "has_ground",
    "hertz",
    "hunt_crossley",
    "linear",
    "load",
    "parse",
    "plane",
    "plane_surface",
    "point",
    "polygon",
    "profile",
    "rigid",
    "sine_ground",
    "sphere",
    "stairs",
    "stepping",
    "surface",
    "surfaces",
    "time_stepped",
    "uneven",
    "viscous",
    "wheel",
]
