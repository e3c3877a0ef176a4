"""Linkages: which planar linkages can be put between the bodies of a limb, where their motors can be, and
whether one with given lengths carries a motion."""

from strut.linkage.assembly_path import LinkageMotion, follow_postures
from strut.linkage.build import (
    add_linkage,
    carrying_angles,
    joint_angles,
    linkage_mechanism,
    linkage_parameters,
)
from strut.linkage.drawing import draw_bars, draw_graph, draw_linkage
from strut.linkage.enumeration import topologies
from strut.linkage.gait_postures import stride_postures
from strut.linkage.limb import Limb, human_leg
from strut.linkage.measures import bar_lengths, bars, crossings, linkage_masses
from strut.linkage.motors import add_joint_motors
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
from strut.linkage.screening import Screening, screen
from strut.linkage.spanning_tree import SpanningTree, spanning_tree
from strut.linkage.springs import add_springs, spring_parameters
from strut.linkage.topology import Topology

__all__ = [
    "ATTACHED",
    "CONNECTED",
    "HELD_TWICE",
    "LIMB_FREE",
    "NO_IDLE_JOINT",
    "USUAL_RULES",
    "Limb",
    "LinkageMotion",
    "PinParameter",
    "Rule",
    "Screening",
    "SpanningTree",
    "Topology",
    "add_joint_motors",
    "add_linkage",
    "add_springs",
    "bar_lengths",
    "bars",
    "broken_rules",
    "carrying_angles",
    "crossings",
    "draw_bars",
    "draw_graph",
    "draw_linkage",
    "follow_postures",
    "human_leg",
    "joint_angles",
    "linkage_masses",
    "linkage_mechanism",
    "linkage_parameters",
    "pin_parameters",
    "pin_positions",
    "screen",
    "sketch_values",
    "spanning_tree",
    "spring_parameters",
    "stride_postures",
    "topologies",
]
