"""Contact: what touches the ground, how it lands, holds, slides and lets go."""

from typing import TYPE_CHECKING

from strut.import_on_demand import import_on_demand

if TYPE_CHECKING:
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
    from strut.contact.model_file import has_ground, load, parse
    from strut.contact.rigid import ahead_of, rigid
    from strut.contact.smooth_surfaces import Surface, ellipsoid, plane_surface, sine_ground, surface
    from strut.contact.stepping import stepping
    from strut.contact.surfaces import between, surfaces
    from strut.contact.time_stepped import time_stepped
    from strut.contact.touch import Touch, arc, cylinder, point, polygon, sphere, wheel
    from strut.contact.uneven import uneven

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

import_on_demand(
    __name__,
    {
        "compliant": ("compliant",),
        "feet": ("KneeLock",),
        "ground": ("Ground", "plane", "profile", "stairs"),
        "laws": (
            "Law",
            "anchored",
            "coulomb",
            "cubic",
            "geyer",
            "hertz",
            "hunt_crossley",
            "linear",
            "viscous",
        ),
        "legs": ("Between", "Legs", "Lock"),
        "rigid": ("ahead_of", "rigid"),
        "smooth_surfaces": ("Surface", "ellipsoid", "plane_surface", "sine_ground", "surface"),
        "stepping": ("stepping",),
        "surfaces": ("between", "surfaces"),
        "time_stepped": ("time_stepped",),
        "touch": ("Touch", "arc", "cylinder", "point", "polygon", "sphere", "wheel"),
        "uneven": ("uneven",),
        "model_file": ("has_ground", "load", "parse"),
    },
)
