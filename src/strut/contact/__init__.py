"""Contact: what touches the ground, how it lands, holds, slides and lets go."""

from strut.contact.compliant import compliant
from strut.contact.ground import Ground, plane, profile, stairs
from strut.contact.laws import Law, anchored, coulomb, cubic, geyer, hertz, hunt_crossley, linear, viscous
from strut.contact.rigid import ahead_of, rigid
from strut.contact.stepped import stepped
from strut.contact.touch import Touch, arc, cylinder, point, polygon, sphere, wheel

__all__ = [
    "Ground",
    "Law",
    "Touch",
    "ahead_of",
    "anchored",
    "arc",
    "compliant",
    "coulomb",
    "cubic",
    "cylinder",
    "geyer",
    "hertz",
    "hunt_crossley",
    "linear",
    "plane",
    "point",
    "polygon",
    "profile",
    "rigid",
    "sphere",
    "stairs",
    "stepped",
    "viscous",
    "wheel",
]
