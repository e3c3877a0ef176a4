"""How a system looks: shapes, arrows and ground, placed in the world by expressions of its quantities.
Pictures only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.system.pickling import Packed
from strut.system.quantity import Expression, sx

KINDS: dict[str, dict[str, int]] = {
    "sphere": {"at": 3, "radius": 1},
    "capsule": {"start": 3, "end": 3, "radius": 1},
    "cylinder": {"start": 3, "end": 3, "radius": 1},
    "box": {"at": 3, "rotation": 9, "size": 3},
    "ellipsoid": {"at": 3, "rotation": 9, "radii": 3},
    "arc": {"at": 3, "rotation": 9, "radius": 1, "begin": 1, "finish": 1, "width": 1},
    "mesh": {"at": 3, "rotation": 9, "scale": 3},
}
"""What each kind of shape is made of. Rotations are column by column; arcs lie in their own x-z plane, their
angles counted from straight down and positive towards x."""


SIDES = ("left", "right", "")
"""The sides of a machine on which a part may be; empty: neither."""


@checked
@dataclass(frozen=True, eq=False)
class Part:
    """A shape: its kind, the numbers that place and size it, and the side of the machine on which it is
    ('left', 'right' or empty), by which it is coloured unless it has a colour."""

    name: str
    kind: str
    values: Mapping[str, ca.SX]
    colour: tuple[float, float, float, float] | None = None
    path: str = ""
    side: str = ""

    def __post_init__(self) -> None:
        needed = KINDS.get(self.kind)
        if self.side not in SIDES:
            raise ModelError(
                f"the part '{self.name}' is on the side '{self.side}': allowed are 'left', 'right' and ''"
            )
        if needed is None:
            raise ModelError(f"'{self.name}' is drawn as '{self.kind}': known are {', '.join(KINDS)}")
        columns = {n: ca.densify(ca.vec(sx(e))) for n, e in self.values.items()}
        if {n: e.numel() for n, e in columns.items()} != needed:
            raise ModelError(
                f"the {self.kind} '{self.name}' needs {needed} numbers, not "
                f"{ {n: e.numel() for n, e in columns.items()} }"
            )
        object.__setattr__(self, "values", columns)


@checked
@dataclass(frozen=True, eq=False)
class Arrow:
    """A force [N] at a point."""

    name: str
    at: ca.SX
    force: ca.SX


HINGES = ("revolute", "prismatic", "ball")
"""Kinds of joints that are marked."""


@checked
@dataclass(frozen=True, eq=False)
class Hinge:
    """A joint, to be marked: `kind` is 'revolute' (turns about its axis), 'prismatic' (slides along it) or
    'ball' (has none)."""

    name: str
    kind: str
    at: ca.SX
    axis: ca.SX

    def __post_init__(self) -> None:
        if self.kind not in HINGES:
            raise ModelError(
                f"the joint '{self.name}' is marked as '{self.kind}': known are {', '.join(HINGES)}"
            )


@dataclass(frozen=True, eq=False)
class Floor:
    """The ground z = height, an expression of its own symbols x and y, and of parameters and discrete
    states."""

    x: ca.SX
    y: ca.SX
    height: ca.SX


@checked
@dataclass(frozen=True, eq=False)
class Scene(Packed):
    """All that is drawn of a system. `planar`: seen from the side.

    com: the centre of mass, whose path is drawn. feet: places of feet that leave footprints where they stand
    still, of machines without arrows for the forces on them. points: places that outputs tell, by name: the
    outputs that are their x and z, or x, y and z [m]; a scene without parts is drawn by them, joined in their
    order. swaps: parts that change places in an event which gives both legs the names of the other: of the
    standing leg to that of the swinging one, by name; pictures follow the legs through it.
    """

    parts: tuple[Part, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    floor: Floor | None = None
    planar: bool = True
    hinges: tuple[Hinge, ...] = ()
    com: ca.SX | None = None
    feet: Mapping[str, ca.SX] = field(default_factory=dict)
    points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    swaps: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        for name in (*self.swaps, *self.swaps.values()):
            if name not in names:
                raise UnknownNameError(f"the scene swaps a part '{name}': {did_you_mean(name, names)}")

    def columns(self) -> dict[str, ca.SX]:
        """Every moving number of the scene under its own name: 'leg/start', 'foot>force', ..."""
        columns_by_name = {
            f"{part.name}/{k}/{n}": e for k, part in enumerate(self.parts) for n, e in part.values.items()
        }
        for k, arrow in enumerate(self.arrows):
            columns_by_name |= {f"{arrow.name}>{k}>at": arrow.at, f"{arrow.name}>{k}>force": arrow.force}
        for k, hinge in enumerate(self.hinges):
            columns_by_name |= {f"{hinge.name}@{k}@at": hinge.at, f"{hinge.name}@{k}@axis": hinge.axis}
        columns_by_name |= {"com!": self.com} if self.com is not None else {}
        return columns_by_name | {f"{name}!foot": place for name, place in self.feet.items()}

    def with_columns(self, columns: Mapping[str, ca.SX]) -> Scene:
        """The scene with other expressions under the names of `columns`."""
        parts = tuple(
            replace(p, values={n: columns[f"{p.name}/{k}/{n}"] for n in p.values})
            for k, p in enumerate(self.parts)
        )
        arrows = tuple(
            Arrow(a.name, columns[f"{a.name}>{k}>at"], columns[f"{a.name}>{k}>force"])
            for k, a in enumerate(self.arrows)
        )
        hinges = tuple(
            replace(h, at=columns[f"{h.name}@{k}@at"], axis=columns[f"{h.name}@{k}@axis"])
            for k, h in enumerate(self.hinges)
        )
        feet = {name: columns[f"{name}!foot"] for name in self.feet}
        return replace(self, parts=parts, arrows=arrows, hinges=hinges, com=columns.get("com!"), feet=feet)

    def with_expressions(self, f: Callable[[ca.SX], ca.SX], rename: Callable[[str], str] = str) -> Scene:
        """The same scene with every expression rewritten."""
        parts = tuple(
            replace(p, name=rename(p.name), values={n: f(e) for n, e in p.values.items()}) for p in self.parts
        )
        arrows = tuple(Arrow(rename(a.name), f(a.at), f(a.force)) for a in self.arrows)
        hinges = tuple(Hinge(rename(h.name), h.kind, f(h.at), f(h.axis)) for h in self.hinges)
        floor = None if self.floor is None else replace(self.floor, height=f(self.floor.height))
        com, feet = (
            None if self.com is None else f(self.com),
            {rename(name): f(e) for name, e in self.feet.items()},
        )
        points = {rename(name): tuple(map(rename, outputs)) for name, outputs in self.points.items()}
        return replace(
            self,
            parts=parts,
            arrows=arrows,
            floor=floor,
            hinges=hinges,
            com=com,
            feet=feet,
            points=points,
            swaps={rename(one): rename(other) for one, other in self.swaps.items()},
        )


@checked
def place(point: Sequence[Any]) -> ca.SX:
    """A point from two coordinates, x and z, or three."""
    items = [sx(v) for v in point]
    return ca.vertcat(items[0], 0, items[1]) if len(items) == 2 else ca.vertcat(*items)


@checked
def rod(name: str, start: Sequence[Any], end: Sequence[Any], radius: Expression) -> Part:
    """A capsule between two points."""
    return Part(name, "capsule", {"start": place(start), "end": place(end), "radius": sx(radius)})


@checked
def ball(name: str, at: Sequence[Any], radius: Expression) -> Part:
    """A sphere about a point; radius [m]."""
    return Part(name, "sphere", {"at": place(at), "radius": sx(radius)})


@checked
def hinge(name: str, at: Sequence[Any]) -> Hinge:
    """A joint of a planar machine, which turns about y."""
    return Hinge(name, "revolute", place(at), ca.SX([0, 1, 0]))


@checked
def slope_floor(angle: Expression, height: Expression = 0.0) -> Floor:
    """A plane that falls towards +x."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    return Floor(x, y, sx(height) - ca.tan(sx(angle)) * x)
