"""A linkage as part of a `Mechanism`: links, joints and closed loops, with every number a parameter, so that
one compiled machine serves all designs of a topology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from strut.checks import checked, positive
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.linkage.assembly_path import LinkageMotion
from strut.linkage.measures import BAR_DENSITY, PASSIVE_MASS, bars
from strut.linkage.pins import parameter_units, pin_expressions, sketch_values
from strut.linkage.spanning_tree import spanning_tree
from strut.linkage.topology import Topology
from strut.mechanism import Body, Mechanism, constraints, joints, shapes
from strut.system import Expression, Param, sx

JOINT_RADIUS = 0.05
"""[m] Of the cylinders that joints and actuators are."""
BAR_RADIUS = 0.015
"""[m] Of bars in pictures."""
MIN_BAR_LENGTH = 1e-6
"""[m] Below which a bar counts as so long: its centre would be undefined."""
DEFAULT_SEGMENT_MASS = 1.0
"""[kg] Of a body of a limb whose mass nobody says."""


@checked
def linkage_parameters(topology: Topology, values: np.ndarray | None = None) -> dict[str, Param]:
    """Return the parameters of a linkage by name: those of its pins (`pin_parameters`), JOINT_mass [kg] of
    every joint, and bar_density [kg/m]. values: of the pins; without them those of a sketch."""
    numbers = np.reshape(sketch_values(topology) if values is None else values, -1)
    units = parameter_units(topology)
    if len(numbers) != len(units):
        raise ModelError(f"a design has {len(numbers)} values: {len(units)} are needed")
    parameters = {
        name: Param(name, float(value), unit)
        for (name, unit), value in zip(units.items(), numbers, strict=True)
    }
    for joint in topology.joints:
        parameters[f"{joint}_mass"] = Param(f"{joint}_mass", PASSIVE_MASS, "kg", bounds=(0, 50))
    parameters["bar_density"] = Param("bar_density", BAR_DENSITY, "kg/m", bounds=(1e-6, 100))
    return parameters


@checked
def add_linkage(
    mechanism: Mechanism,
    topology: Topology,
    bodies: Mapping[str, Body],
    parameters: Mapping[str, Param],
    *,
    suffix: str = "",
    scale: Expression = 1.0,
    initial: Mapping[str, float] | None = None,
) -> None:
    """Add a linkage to a mechanism that has a limb.

    bodies: by their names in the limb, the mechanism's bodies; the frame of each is where its segment begins,
        with axes along the world's in the reference posture, in which all angles are zero; that of the first
        is at the world's origin where it is the world. parameters: of `linkage_parameters`; two legs may
        share them. suffix: of the names of links and joints, as "_r". scale: of the limb's segments. initial:
        angles of the joints that carry links, as a run begins [rad], see `carrying_angles`.

    Joints that carry links have inputs, as all joints have; those that close loops are constraints
    JOINT_pin, whose forces are outputs JOINT_pin_x and JOINT_pin_z (with a suffix JOINT_pin_r_x).
    """
    tree = spanning_tree(topology)
    for body in topology.limb.bodies:
        if body not in bodies:
            raise UnknownNameError(f"no body of '{mechanism.name}' is given for '{body}' of the limb")
    symbols = {name: q.sym for name, q in parameters.items()}
    places = pin_expressions(topology, symbols, sx(scale))
    origins = {}
    for body in topology.limb.bodies:
        still = bodies[body] is mechanism.world
        origins[body] = ca.SX.zeros(2) if still else ca.DM(topology.limb.segment(body)[0]) * sx(scale)
    on: dict[str, Body] = dict(bodies)
    owners = _owners(topology, {link: joint for link, (joint, _) in tree.carried.items()})
    for link, (joint, part) in tree.carried.items():
        origins[link] = places[joint]
        rods = [(a, b) for rod_link, a, b in bars(topology) if rod_link == link]
        own = {each: symbols[f"{each}_mass"] for each, owner in owners.items() if owner == link}
        centred = {each: place - places[joint] for each, place in places.items()}
        on[link] = link_body(mechanism, f"{link}{suffix}", centred, rods, own, symbols["bar_density"])
        at = places[joint] - origins[part]
        mechanism.joint(
            f"{joint}{suffix}",
            on[part],
            on[link],
            joints.revolute("y"),
            at=(at[0], 0, at[1]),
            initial=(initial or {}).get(joint, 0.0),
        )
    for joint, ends in tree.closing.items():
        frames = []
        for part in ends:
            at = places[joint] - origins[part]
            frames.append(f"{joint}_on_{part}{suffix}")
            mechanism.frame(frames[-1], on[part], (at[0], 0, at[1]))
        mechanism.constrain(constraints.point(f"{joint}_pin{suffix}", *frames))


def _owners(topology: Topology, carrying: Mapping[str, str]) -> dict[str, str]:
    """Return the link that the mass of each joint belongs to: the one that it carries, else its first."""
    owners = {joint: link for link, joint in carrying.items()}
    for joint, pin in topology.joints.items():
        owners.setdefault(joint, next(part for part in pin if part in topology.links))
    return owners


def link_body(  # noqa: PLR0917 what a link is made of
    mechanism: Mechanism,
    name: str,
    places: Mapping[str, ca.SX],
    rods: Sequence[tuple[str, str]],
    joint_masses: Mapping[str, ca.SX],
    density: ca.SX,
) -> Body:
    """Add the body of a link, composed of bars and of the joints that belong to it. places: of pins in its
    frame [m]. density: of bars [kg/m]."""
    parts: list[tuple[ca.SX, ca.SX, ca.SX]] = []  # mass, centre, inertia about it
    for a, b in rods:
        length = ca.fmax(ca.norm_2(places[a] - places[b]), MIN_BAR_LENGTH)
        parts.append((density * length, (places[a] + places[b]) / 2, density * length**3 / 12))
    for joint, mass in joint_masses.items():
        parts.append((mass, places[joint], mass * JOINT_RADIUS**2 / 2))
    total = sum((mass for mass, _, _ in parts), ca.SX(0))
    centre = sum((mass * at for mass, at, _ in parts), ca.SX.zeros(2)) / total
    inertia = sum((own + mass * ca.sumsqr(at - centre) for mass, at, own in parts), ca.SX(0))
    body = mechanism.body(name, total, (centre[0], 0, centre[1]), inertia)
    for a, b in rods:
        begin, end = ((places[joint][0], 0, places[joint][1]) for joint in (a, b))
        mechanism.shape(body, shapes.capsule(begin, end, BAR_RADIUS))
    return body


@checked
def linkage_mechanism(
    topology: Topology,
    values: np.ndarray | None = None,
    *,
    masses: Mapping[str, float] | None = None,
    name: str = "linkage",
) -> Mechanism:
    """Return a limb with its linkage as a mechanism of its own; the first body of the limb stands still.

    values: of `pin_parameters`; without them those of a sketch. masses: of the other bodies of the limb [kg],
    which are slender rods along their segments; 1 kg unless given.
    """
    limb, m = topology.limb, Mechanism(name, planar=True)
    for body in masses or {}:
        if body not in limb.bodies[1:]:
            raise UnknownNameError(
                f"a mass is given for '{body}': {did_you_mean(body, list(limb.bodies[1:]))}"
            )
    bodies: dict[str, Body] = {limb.bodies[0]: m.world}
    for joint, (a, b) in limb.joints.items():
        begin, end = (np.array(p) for p in limb.segment(b))
        mass = positive(f"the mass of '{b}'", (masses or {}).get(b, DEFAULT_SEGMENT_MASS), "kg")
        along = end - begin
        bodies[b] = m.body(
            b, mass, (along[0] / 2, 0, along[1] / 2), max(mass * float(along @ along) / 12, 1e-9)
        )
        m.shape(bodies[b], shapes.capsule((0, 0, 0), (float(along[0]), 0, float(along[1])), 0.04))
        at = np.array(limb.pivot(joint)) - (0 if a == limb.bodies[0] else np.array(limb.segment(a)[0]))
        axis = (0, limb.directions.get(joint, 1), 0)
        m.joint(joint, bodies[a], bodies[b], joints.revolute(axis), at=(float(at[0]), 0, float(at[1])))
    add_linkage(m, topology, bodies, linkage_parameters(topology, values))
    return m


@checked
def carrying_angles(motion: LinkageMotion) -> dict[str, np.ndarray]:
    """Return the angles of the joints that carry links, by name [rad], designs x samples: where a machine
    with these pins begins so that its loops are closed."""
    tree = spanning_tree(motion.topology)
    turns = tree.turns()
    return {
        joint: motion.coordinates @ (turns[link] - turns[part])
        for link, (joint, part) in tree.carried.items()
    }


@checked
def joint_angles(topology: Topology, suffix: str = "") -> dict[str, dict[str, float]]:
    """Return by joint of the linkage how its angle is made of the angles of a machine's joints: weights by
    name. A joint that closes a loop has no coordinate of its own; its angle is a sum of others around it."""
    tree = spanning_tree(topology)
    limb = topology.limb
    # turns of all parts as sums of the machine's joints
    turns: dict[str, dict[str, float]] = {limb.bodies[0]: {}}
    for joint, (a, b) in limb.joints.items():
        turns[b] = {**turns[a], f"{joint}{suffix}": float(limb.directions.get(joint, 1))}
    for link, (joint, part) in tree.carried.items():
        turns[link] = {**turns[part], f"{joint}{suffix}": 1.0}
    angles: dict[str, dict[str, float]] = {
        f"{joint}{suffix}": {f"{joint}{suffix}": 1.0} for joint, _ in tree.carried.values()
    }
    for joint, (a, b) in tree.closing.items():
        weights = {
            name: turns[b].get(name, 0.0) - turns[a].get(name, 0.0) for name in {**turns[a], **turns[b]}
        }
        angles[f"{joint}{suffix}"] = {name: weight for name, weight in weights.items() if weight}
    return angles


__all__ = ["add_linkage", "carrying_angles", "joint_angles", "linkage_mechanism", "linkage_parameters"]
