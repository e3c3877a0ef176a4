"""A mechanism as a scene: the shapes of its bodies, or guesses where it has none, and its joints, placed in
the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import casadi as ca

from strut.mechanism import observe
from strut.mechanism.looks.hinges import hinges_of
from strut.mechanism.looks.shape_types import Shape
from strut.mechanism.looks.shapes import default_shapes
from strut.mechanism.spatial import Pose
from strut.mechanism.tree import Tree
from strut.system import KINDS, Arrow, Floor, Part, Scene

POINTS = ("at", "start", "end")
"""Values of shapes that are points in the body's frame [m]."""
SIDE_WORDS = {"left": {"l", "left"}, "right": {"r", "right"}}
"""Words in the names of bodies that say on which side they are."""


def scene_of(tree: Tree, arrows: Sequence[Arrow] = (), floor: Floor | None = None) -> Scene:
    """Draw a tree: shapes, joints and the centre of mass in the world, as expressions of the tree's q."""
    m = tree.mechanism
    parts: list[Part] = []
    for body, shapes in (m.shapes or default_shapes(m)).items():
        X = Pose.identity() if body == "world" else tree.poses[tree.place[body]]
        parts += [_part(body, shape, X) for shape in shapes]
    return Scene(tuple(parts), tuple(arrows), floor, m.planar, hinges_of(tree), observe.com(tree))


def _part(body: str, shape: Shape, X: Pose) -> Part:
    """One shape, moved from its body's frame into the world."""
    kind = type(shape).__name__.lower()
    attributes = {f.name: getattr(shape, f.name) for f in fields(shape)}
    values = {}
    for name in KINDS[kind]:
        value = attributes.get(name, ca.SX.eye(3))
        if name in POINTS:
            value = X.p + X.R @ value
        elif name == "rotation":
            value = X.R @ value
        values[name] = value
    return Part(body, kind, values, shape.colour, attributes.get("path", ""), side=side_of(body))


def side_of(body: str) -> str:
    """The side on which a body is, as its name says it: 'left' where l or left is a word of it ('thigh_l',
    'left_foot'), 'right' likewise, else empty."""
    words = set(body.split(".")[-1].lower().split("_"))
    return next((side for side, ways in SIDE_WORDS.items() if ways & words), "")
