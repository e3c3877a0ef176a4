"""`body_scene`: how the rigid bodies of a network look, from the places that the library gives them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import casadi as ca
import numpy as np

from strut.network.lower.meaning import Meaning
from strut.network.model import Edge, Node, Object, Variable
from strut.network.text.errors import Mistake
from strut.system import Arrow, Floor, Hinge, Part, Scene, System, start

BODY, JOINT, LOOP_JOINT, CONTACT = (
    "physics.body",
    "physics.joint",
    "physics.cjoint",
    "physics.contacts.contact",
)
"""Templates of the library: a body, what leads to one that it carries, what closes a loop, a contact."""
HINGE_KINDS = {"revolute": "revolute", "pendulum": "revolute", "prismatic": "prismatic", "spherical": "ball"}
"""Kinds of joints that are marked, by how their templates begin."""
SAME_PLACE = 1e-9
"""Distance [m] up to which two places are one when a run begins."""
THICKNESS = 0.02
"""Radius of a rod, in sizes of the whole [1]."""
CENTRE_RADIUS = 1.6 * THICKNESS
"""Radius of the ball at a centre of mass, in sizes of the whole [1]: it shows around a rod."""
TRIED_POSES = 3
"""Poses in which it is looked whether bodies move in the x-z plane alone."""


def body_scene(system: System, meaning: Meaning, things: Sequence[Object]) -> Scene:
    """Return how the bodies of a network look: rods from joint to joint and to centres of mass, joints,
    forces of contacts on the ground z = 0, and the centre of mass of all. Empty where there is no body.

    Bodies of one's own that lack what the library's have (`baseToLocalTransform`, `com`, `m`) are left out.
    """
    nodes = [thing for thing in things if isinstance(thing, Node)]
    places: dict[Node, tuple[ca.SX, ca.SX]] = {}  # rotations and origins
    centres: dict[Node, tuple[ca.SX, ca.SX]] = {}  # masses and centres of mass
    for node in nodes:
        if BODY not in _kinds(node):
            continue
        frame, mass, com = (_value(meaning, node, name) for name in ("baseToLocalTransform", "m", "com"))
        if frame is None or mass is None or com is None or frame.shape != (6, 6) or com.numel() != 3:
            continue
        places[node] = rotation, origin = _pose(frame)
        centres[node] = mass, origin + rotation @ ca.vec(com)
    if not places:
        return Scene()
    rods = [(node.path, places[node][1], centres[node][1]) for node in places]
    for edge in (thing for thing in things if isinstance(thing, Edge) and thing.input in places):
        assert edge.input is not None
        end = _end_of(meaning, edge, places)
        if end is not None:
            rods.append((edge.input.path, places[edge.input][1], end))
    bearers = [(node, node.parent) for node in nodes if CONTACT in _kinds(node)]
    contacts = [(node, body) for node, body in bearers if body is not None and body in places]
    for node, body in contacts:  # what a body stands on belongs to it
        if (touching := _value(meaning, node, "p")) is not None:
            rods += [(node.path, centres[body][1], column) for column in ca.horzsplit(touching)]
    begin = start(system)
    at_start = partial(_numbers, system, (begin.x, begin.z, begin.u, begin.p))
    ends = at_start([ca.horzcat(a, b) for _, a, b in rods])
    points = np.hstack(ends)
    size = float(np.ptp(points, axis=1).max()) or 1.0
    parts = [
        Part(path, "capsule", {"start": a, "end": b, "radius": ca.SX(THICKNESS * size)})
        for (path, a, b), pair in zip(rods, ends, strict=True)
        if np.linalg.norm(pair[:, 0] - pair[:, 1]) > SAME_PLACE
    ]
    parts += [
        Part(node.path, "sphere", {"at": centre, "radius": ca.SX(CENTRE_RADIUS * size)})
        for node, (_, centre) in centres.items()
    ]
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    total = sum((mass for mass, _ in centres.values()), ca.SX(0))
    first_moment = sum((mass * centre for mass, centre in centres.values()), ca.SX(3, 1))
    return Scene(
        tuple(parts),
        arrows=tuple(arrow for node, _ in contacts if (arrow := _force(meaning, node, places)) is not None),
        floor=Floor(x, y, ca.SX(0)) if contacts else None,
        planar=_is_planar(system, [*(p for _, p in places.values()), *(c for _, c in centres.values())]),
        hinges=tuple(h for node in places if (h := _hinge(meaning, node, *places[node])) is not None),
        com=first_moment / total,
    )


def _kinds(thing: Object) -> set[str]:
    """The templates of a thing, by their paths."""
    return {template.path for template in thing.ancestry()}


def _value(meaning: Meaning, node: Node, name: str) -> ca.SX | None:
    """What a variable of a node is; None where it has none, or none that can be told."""
    variable = node.variables.get(name)
    try:
        return meaning.value(variable) if isinstance(variable, Variable) else None
    except Mistake:
        return None


def _pose(frame: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Rotation and origin in the base of a frame, from the spatial transform [E, 0; -E r×, E] to it."""
    rotation = ca.densify(frame[:3, :3].T)
    cross = -rotation @ frame[3:, :3]
    return rotation, ca.vertcat(cross[2, 1], cross[0, 2], cross[1, 0])


def _end_of(meaning: Meaning, edge: Edge, places: dict[Node, tuple[ca.SX, ca.SX]]) -> ca.SX | None:
    """To where a body reaches by an edge: the joint of one that it carries, or one that closes a loop."""
    kinds, target = _kinds(edge), edge.output
    if JOINT in kinds and target in places:
        return places[target][1]
    if LOOP_JOINT in kinds and target is not None:
        frame = _value(meaning, target, "baseToLocalTransformPred")
        return None if frame is None else _pose(frame)[1]
    return None


def _hinge(meaning: Meaning, node: Node, rotation: ca.SX, origin: ca.SX) -> Hinge | None:
    """The mark of the joint that carries a body; None for joints that are not marked."""
    stems = [
        kind.removeprefix("physics.joints.")
        for kind in sorted(_kinds(node))
        if kind.startswith("physics.joints.")
    ]
    kind = next((HINGE_KINDS[word] for stem in stems for word in HINGE_KINDS if stem.startswith(word)), None)
    joint = node.children.get("joint")
    axis = _value(meaning, joint, "axis") if isinstance(joint, Node) else None
    if kind == "ball":
        return Hinge(node.path, kind, origin, ca.SX(3, 1))
    return None if kind is None or axis is None else Hinge(node.path, kind, origin, rotation @ ca.vec(axis))


def _force(meaning: Meaning, node: Node, places: dict[Node, tuple[ca.SX, ca.SX]]) -> Arrow | None:
    """The force of the ground at a contact, in the middle of its points."""
    force, points = _value(meaning, node, "force"), _value(meaning, node, "p")
    if force is None or points is None or force.numel() != 6 or points.shape[0] != 3 or node.parent is None:
        return None
    push = ca.vec(force)[3:]
    if "physics.contacts.soft" in _kinds(node):  # in the frame of the body
        push = places[node.parent][0] @ push
    return Arrow(node.path, ca.sum2(points) / points.shape[1], push)


def _numbers(system: System, vectors: Iterable[np.ndarray], expressions: list[ca.SX]) -> list[np.ndarray]:
    """Expressions in numbers at the time 0."""
    f = system.function("places", expressions)
    results = f.call([0.0, *vectors])
    return [np.array(each) for each in results]


def _is_planar(system: System, points: list[ca.SX]) -> bool:
    """Whether points stay in the x-z plane, in some random poses."""
    random, begin = np.random.default_rng(0), start(system)
    for _ in range(TRIED_POSES):
        x = begin.x + random.normal(size=begin.x.shape)
        (heights,) = _numbers(system, (x, begin.z, begin.u, begin.p), [ca.vertcat(*[p[1] for p in points])])
        if not np.abs(heights).max() < SAME_PLACE:
            return False
    return True


__all__ = ["body_scene"]
