"""Linkages: which planar linkages can be put between the bodies of a limb, where their motors can be, and
whether one with given lengths carries a motion."""

from strut.linkage.drawing import draw_graph, draw_linkage
from strut.linkage.enumeration import topologies
from strut.linkage.limb import Limb, human_leg
from strut.linkage.pins import PinParameter, pin_parameters, pin_positions, sketch_values
from strut.linkage.rules import (
    ATTACHED,
    CONNECTED,
    HELD_TWICE,
    LIMB_FREE,
    NO_IDLE_JOINT,
    USUAL_RULES,
    Rule,
    broken_rules,
)
from strut.linkage.topology import Topology

__all__ = [
    "ATTACHED",
    "CONNECTED",
    "HELD_TWICE",
    "LIMB_FREE",
    "NO_IDLE_JOINT",
    "USUAL_RULES",
    "Limb",
    "PinParameter",
    "Rule",
    "Topology",
    "broken_rules",
    "draw_graph",
    "draw_linkage",
    "human_leg",
    "pin_parameters",
    "pin_positions",
    "sketch_values",
    "topologies",
]
