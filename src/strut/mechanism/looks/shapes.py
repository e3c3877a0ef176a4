"""How bodies look: simple shapes, placed in the body's frame, with sizes that may be parameters.

Shapes are for drawing only; they have no mass. Lengths are in [m], angles in [rad].
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import casadi as ca
import numpy as np

from strut.checks import checked, is_number
from strut.confine import Roots, is_inside, outside, resolve_roots
from strut.errors import ModelError
from strut.mechanism.looks.shape_types import (
    Arc,
    Box,
    Capsule,
    Colour,
    Cylinder,
    Ellipsoid,
    Mesh,
    Shape,
    Sphere,
)
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.spatial import Pose, vector
from strut.system import Expression, sx

ORIGIN = (0.0, 0.0, 0.0)
"""The origin of a body's frame [m]."""
CAPSULE_RADIUS_SHARE = 0.02
"""[1] Radius of a default capsule, as a share of the reach of its machine."""
MIN_FRAMES_OF_PLATE = 4
"""Frames of one body from which on a plate is drawn in place of capsules to each."""
BALL_TO_CAPSULE_RADIUS = 2.0
"""[1] Radius of a default ball, as a multiple of that of a default capsule."""
MIN_DISTANCE = 1e-9
"""[m] below which two points count as one."""


@checked
def sphere(radius: Expression, at: Expression = ORIGIN, colour: Any = None) -> Sphere:
    """A ball of `radius` [m] about `at` [m] in the body."""
    return Sphere(
        _colour(colour), vector(at, "the place of a sphere"), _number(radius, "the radius of a sphere")
    )


@checked
def capsule(start: Expression, end: Expression, radius: Expression, colour: Any = None) -> Capsule:
    """A cylinder of `radius` [m] from `start` to `end` [m], with half a ball on either end."""
    ends = vector(start, "the start of a capsule"), vector(end, "the end of a capsule")
    return Capsule(_colour(colour), *ends, _number(radius, "the radius of a capsule"))


@checked
def cylinder(start: Expression, end: Expression, radius: Expression, colour: Any = None) -> Cylinder:
    """A cylinder of `radius` [m] from `start` to `end` [m]."""
    ends = vector(start, "the start of a cylinder"), vector(end, "the end of a cylinder")
    return Cylinder(_colour(colour), *ends, _number(radius, "the radius of a cylinder"))


@checked
def box(size: Expression, at: Expression = ORIGIN, rotation: ca.SX | None = None, colour: Any = None) -> Box:
    """A box about `at` [m], turned by `rotation`; `size` are its full lengths [m]."""
    return Box(
        _colour(colour),
        vector(at, "the place of a box"),
        _rotation(rotation),
        vector(size, "the size of a box"),
    )


@checked
def ellipsoid(
    radii: Expression, at: Expression = ORIGIN, rotation: ca.SX | None = None, colour: Any = None
) -> Ellipsoid:
    """An ellipsoid about `at` [m], turned by `rotation`; `radii` [m] are along its own axes."""
    place = vector(at, "the place of an ellipsoid")
    return Ellipsoid(_colour(colour), place, _rotation(rotation), vector(radii, "the radii of an ellipsoid"))


@checked
def arc(
    radius: Expression,
    at: Expression = ORIGIN,
    begin: Expression = -0.5,
    finish: Expression = 0.5,
    width: Expression = 0.0,
    *,
    colour: Any = None,
) -> Arc:
    """Part of a circle in the x-z plane, a rolling foot: about `at` [m], from angle `begin` to `finish`
    [rad], counted from straight down and positive towards x; `width` [m] is along y."""
    numbers = (
        _number(v, f"the {what} of an arc")
        for v, what in ((radius, "radius"), (begin, "begin"), (finish, "finish"), (width, "width"))
    )
    return Arc(_colour(colour), vector(at, "the centre of an arc"), *numbers)


@checked
def mesh(
    path: str,
    scale: Expression = (1, 1, 1),
    at: Expression = ORIGIN,
    rotation: ca.SX | None = None,
    colour: Any = None,
) -> Mesh:
    """A mesh in the file `path`, for pictures: at `at` [m], turned by `rotation`, scaled by `scale`."""
    factors = sx(scale)
    return Mesh(
        _colour(colour),
        vector(at, "the place of a mesh"),
        _rotation(rotation),
        ca.repmat(factors, 3, 1) if factors.numel() == 1 else vector(scale, "the scale of a mesh"),
        path,
    )


MAKERS: dict[str, Callable[..., Shape]] = {
    "sphere": sphere,
    "capsule": capsule,
    "cylinder": cylinder,
    "box": box,
    "ellipsoid": ellipsoid,
    "arc": arc,
    "mesh": mesh,
}
"""The functions that make shapes, by the words of files."""


@checked
def in_numbers(mechanism: Mechanism, p: Mapping[str, Any] | None = None) -> dict[str, list[Shape]]:
    """The shapes of all bodies with NumPy arrays in place of expressions, for the parameters' own values or
    those in `p`."""

    def number(e: Any) -> Any:
        values = mechanism.values(e, p)
        return (
            float(values[0, 0])
            if values.size == 1
            else values.reshape(-1)
            if values.shape[1] == 1
            else values
        )

    return {
        name: [shape.map_numbers(number) for shape in shapes] for name, shapes in mechanism.shapes.items()
    }


@checked
def locate_meshes(mechanism: Mechanism, file: str | Path, roots: Roots = ()) -> Mechanism:
    """Make the paths of meshes whole, as the file of a model names them, where there is such a mesh.

    Relative paths count from the file's folder; package://NAME/... from the folder NAME that the file is in,
    or that a
    root is or holds. A mesh anywhere else is not read: a warning says so, and its path becomes outside://...,
    for which pictures show a box. Paths of meshes that are not there, and other addresses, are left as they
    are.

    roots: folders from which meshes may come, besides the file's own.
    """
    here, trusted = Path(file).resolve().parent, resolve_roots(roots)

    def locate(path: str) -> str:
        scheme, mark, rest = path.partition("://")
        if mark and scheme not in ("package", "file"):
            return path
        try:
            if scheme == "package" and mark:
                name, _, inner = rest.partition("/")
                packages = _packages(name, here, trusted)
                places, allowed = [package / inner for package in packages], packages
            else:
                places, allowed = (
                    [
                        here / (unquote(rest) if mark else path),
                        *(root / path for root in trusted if not mark),
                    ],
                    [here, *trusted],
                )
            there = [place for place in places if place.is_file()]
            inside = next((place for place in there if is_inside(place, allowed)), None)
            if inside is not None:
                return str(inside)
            if not there and all(is_inside(place, allowed) for place in places):
                return path
        except (OSError, ValueError):  # a path too long, or with a zero in it
            return path
        warnings.warn(
            f"the mesh '{path}' of {mechanism.name} is not read, {outside(places[0], here)}", stacklevel=3
        )
        return f"outside://{path}"

    for name, shapes in mechanism.shapes.items():
        mechanism.shapes[name] = [
            replace(s, path=locate(s.path)) if isinstance(s, Mesh) and s.path else s for s in shapes
        ]
    return mechanism


def _packages(name: str, here: Path, roots: Sequence[Path]) -> list[Path]:
    """Folders that are the package of this name: one that the model is in, which is not as wide as a home, or
    one in a root."""
    if not name or name in (".", ".."):
        return []
    own = [
        folder
        for folder in (here, *here.parents)
        if folder.name == name and not Path.home().is_relative_to(folder)
    ]
    return own + [
        folder.resolve()
        for root in roots
        for folder in (root / name, root)
        if folder.name == name and folder.is_dir()
    ]


@checked
def default_shapes(mechanism: Mechanism) -> dict[str, list[Shape]]:
    """Guess shapes for every body that has none, from its joint to those it carries and to its frames:
    capsules, whose ends follow the parameters. Frames in a crowd, as under a foot, share a box. A body that
    carries nothing reaches to twice its centre of mass; a mass without extent is a ball. Nothing is added to
    the mechanism; `mechanism.shape(body, *shapes)` does that."""
    guesses: dict[str, list[Shape]] = {}
    thick = CAPSULE_RADIUS_SHARE * _reach(mechanism)
    for body in mechanism.bodies.values():
        if body is mechanism.world or mechanism.shapes.get(body.name):
            continue
        ends = [c.X_PJ.p for c in mechanism.connections.values() if c.parent is body]
        frames = _distinct(mechanism, [f.X_BF.p for f in mechanism.frames.values() if f.body is body])
        plate = []
        if len(frames) >= MIN_FRAMES_OF_PLATE:
            every = ca.horzcat(*frames)
            low, high = (ca.vertcat(*[f(every[i, :].T) for i in range(3)]) for f in (ca.mmin, ca.mmax))
            plate, frames = (
                [box(high - low + thick, (low + high) / 2 + ca.vertcat(0, 0, thick / 2))],
                [(low + high) / 2],
            )
        ends = _distinct(mechanism, ends + frames) or _distinct(mechanism, [2 * body.com])
        if ends:
            guesses[body.name] = [*(capsule(ORIGIN, end, thick) for end in ends), *plate]
        elif mechanism.values(body.mass).item() > 0:
            guesses[body.name] = [sphere(BALL_TO_CAPSULE_RADIUS * thick or 0.1)]
    return guesses


def _reach(mechanism: Mechanism) -> float:
    """How far it is from the world to the end of the longest chain of bodies, along them, for the parameters'
    own values [m]."""
    far = {mechanism.world.name: 0.0}
    ends = [0.0]
    for c in mechanism.connections.values():
        offset = 0.0 if c.parent is mechanism.world else float(np.linalg.norm(mechanism.values(c.X_PJ.p)))
        far[c.child.name] = far.get(c.parent.name, 0.0) + offset
        ends.append(far[c.child.name] + 2 * float(np.linalg.norm(mechanism.values(c.child.com))))
    ends += [
        far.get(f.body.name, 0.0) + float(np.linalg.norm(mechanism.values(f.X_BF.p)))
        for f in mechanism.frames.values()
    ]
    return max(ends)


def _distinct(mechanism: Mechanism, points: Sequence[ca.SX]) -> list[ca.SX]:
    """Points away from the origin and from one another, for the parameters' own values."""
    distinct: list[ca.SX] = []
    places = [np.zeros(3)]
    for point in points:
        place = mechanism.values(point).reshape(-1)
        if min(float(np.linalg.norm(place - other)) for other in places) > MIN_DISTANCE:
            distinct.append(point)
            places.append(place)
    return distinct


def _number(value: Expression, what: str) -> ca.SX:
    """One number as an expression."""
    number = sx(value)
    if number.numel() != 1:
        raise ModelError(f"{what} has {number.numel()} numbers: one is needed")
    return number


def _rotation(rotation: ca.SX | None) -> ca.SX:
    """A rotation; none is the identity."""
    return Pose.identity().R if rotation is None else ca.densify(ca.SX(rotation))


def _colour(colour: Any) -> Colour | None:
    """Read a colour: '#rrggbb', '#rrggbbaa', or three or four numbers from 0 to 1."""
    if colour is None:
        return None
    numbers: list[float] = []
    if isinstance(colour, str):
        digits = colour.removeprefix("#")
        if (
            colour.startswith("#")
            and len(digits) in (6, 8)
            and all(d in "0123456789abcdefABCDEF" for d in digits)
        ):
            numbers = [int(digits[k : k + 2], 16) / 255 for k in range(0, len(digits), 2)]
    elif isinstance(colour, (list, tuple, np.ndarray)):
        numbers = [float(v) for v in np.atleast_1d(np.asarray(colour, dtype=object)) if is_number(v)]
        numbers = numbers if len(numbers) == np.size(np.asarray(colour, dtype=object)) else []
    if len(numbers) not in (3, 4) or not all(0 <= v <= 1 for v in numbers):
        raise ModelError(
            f"the colour {colour!r} is none: write '#rrggbb', '#rrggbbaa', or three or four numbers from 0 "
            f"to 1"
        )
    red, green, blue, opacity = (*numbers, 1.0)[:4]
    return red, green, blue, opacity
