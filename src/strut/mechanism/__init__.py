"""Mechanisms: trees of rigid bodies with any joint, as expressions in which every number can be a
parameter."""

import importlib
from typing import TYPE_CHECKING, Any

from strut.mechanism import constraints, forces, joints, observe, sensors, watchers
from strut.mechanism.assemble import closed_state, system
from strut.mechanism.derivatives import forward_derivatives
from strut.mechanism.functions import functions
from strut.mechanism.generalised_forces import passive_forces
from strut.mechanism.hamiltonian import hamiltonian_system
from strut.mechanism.looks import shapes
from strut.mechanism.looks.shapes import default_shapes
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.mirror import Symmetry, add_mirror_image, symmetry
from strut.mechanism.parts import COM, Body, Connection, Frame, Stop
from strut.mechanism.sensors import sense
from strut.mechanism.spatial import Pose
from strut.mechanism.states import quantities_of as joint_states
from strut.mechanism.tree import Tree
from strut.mechanism.watchers import watch

if TYPE_CHECKING:
    from strut.mechanism.io import mjcf, modelfile, urdf

_FILES = ("mjcf", "modelfile", "urdf")
"""Readers of files: imported when first used, for they bring parsers that most runs do without."""


def __getattr__(name: str) -> Any:
    if name not in _FILES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'", name=name)
    return globals().setdefault(name, importlib.import_module(f"strut.mechanism.io.{name}"))


Mechanism.mirror = add_mirror_image  # a mechanism mirrors itself; its file does not know this one

__all__ = [
    "COM",
    "Body",
    "Connection",
    "Frame",
    "Mechanism",
    "Pose",
    "Stop",
    "Symmetry",
    "Tree",
    "closed_state",
    "constraints",
    "default_shapes",
    "forces",
    "forward_derivatives",
    "functions",
    "hamiltonian_system",
    "joint_states",
    "joints",
    "mjcf",
    "modelfile",
    "observe",
    "passive_forces",
    "sense",
    "sensors",
    "shapes",
    "symmetry",
    "system",
    "urdf",
    "watch",
    "watchers",
]
