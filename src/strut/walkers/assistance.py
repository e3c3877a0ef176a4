"""Assistance of a planar walker: what keeps its trunk upright while it learns, and how it is told (Kieboom,
section 4.1.2)."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from strut.mechanism.parts import Effect, Force
from strut.mechanism.tree import Tree
from strut.system import Event, Param, System

ASSIST_STIFFNESS, ASSIST_DAMPING = 3000.0, 20.0
"""[N m/rad, N m s/rad] Of the assistance."""
ASSIST_ANGLE = np.deg2rad(5.0)
"""[rad] Within which the trunk is not assisted."""
MAX_TRUNK_PITCH = 1.0
"""[rad] The pitch of the trunk beyond which the walker has fallen."""


def assist_share() -> Param:
    """The parameter `assist`, the share of the assistance that acts."""
    return Param("assist", 1.0, bounds=(0, 1), description="share of the trunk's assistance: 0 for none")


def assist_torque(pitch: ca.SX, rate: ca.SX, share: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Return the assistance [N m], what its spring stores [J], and 1 while it acts."""
    beyond = ca.fmax(pitch - ASSIST_ANGLE, 0) + ca.fmin(pitch + ASSIST_ANGLE, 0)
    acts = (ca.fabs(pitch) > ASSIST_ANGLE) * (share > 0)
    torque = -share * (ASSIST_STIFFNESS * beyond + ASSIST_DAMPING * acts * rate)
    return torque, share * ASSIST_STIFFNESS * beyond**2 / 2, acts


def assistance(joint: str, share: Param) -> Force:
    """What keeps a trunk within 5 degrees of upright, between it and the world. joint: whose angle is the
    trunk's [rad]."""

    def effect(tree: Tree) -> Effect:
        place = tree.v_of[joint].start
        node = next(n for n in tree.nodes if n.connection.name == joint)
        rate = tree.v[place]
        torque, stored, acts = assist_torque(node.q[0], rate, share.sym)
        tau = ca.SX.zeros(tree.nv)
        tau[place] = torque
        return Effect(tau, stored, share.sym * ASSIST_DAMPING * acts * rate**2)

    return Force("assist", effect)


def with_trunk(walker: System, arm: ca.SX) -> System:
    """Return a walker, whose trunk has the states x_rate and pitch, with the outputs speed, assist_torque and
    assisting, and the event that it topples. arm: from the hips to the trunk's centre of mass [m]."""
    share, pitch, rate = walker["assist"], walker["pitch"], walker["pitch_rate"]
    torque, _, acts = assist_torque(pitch, rate, share)
    outputs = {
        "speed": walker["x_rate"] + arm * ca.cos(pitch) * rate,
        "assist_torque": torque,
        "assisting": acts,
    }
    topple = Event(
        "topple",
        guard=ca.fabs(pitch) - MAX_TRUNK_PITCH,
        terminal=True,
        failure=True,
        priority=9,
        description="it fell: the trunk toppled",
    )
    return replace(
        walker,
        outputs={**walker.outputs, **outputs},
        output_units={**walker.output_units, "speed": "m/s", "assist_torque": "N m"},
        events=(*walker.events, topple),
    )


__all__ = ["assist_share", "assist_torque", "assistance", "with_trunk"]
