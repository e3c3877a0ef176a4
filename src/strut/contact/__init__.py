"""Contact: what touches the ground, how it lands, holds, slides and lets go."""

from strut.contact.ground import Ground, plane, profile, stairs
from strut.contact.rigid import KneeLock, ahead_of, rigid
from strut.contact.stepping import Between, Legs, Lock, stepping
from strut.contact.touch import Touch, arc, cylinder, point, polygon, sphere, wheel

__all__ = [
    "Between",
    "Ground",
    "KneeLock",
    "Legs",
    "Lock",
    "Touch",
    "ahead_of",
    "arc",
    "cylinder",
    "plane",
    "point",
    "polygon",
    "profile",
    "rigid",
    "sphere",
    "stairs",
    "stepping",
    "wheel",
]
