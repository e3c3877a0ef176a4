"""The kinds of shapes that bodies are drawn with, as data; `shapes` has the functions that make them.

Lengths are in [m], angles in [rad]; sizes may be expressions of parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import casadi as ca

from strut.mechanism.spatial import reflect, reflect_matrix

Colour = tuple[float, float, float, float]
"""Red, green, blue and opacity, each 0 to 1."""


@dataclass(frozen=True, eq=False)
class Shape:
    """What all shapes have: a colour (red, green, blue, opacity, each 0 to 1), or none."""

    colour: Colour | None

    def map_numbers(self, f: Callable[[Any], Any]) -> Self:
        """The same shape with `f` applied to all its numbers and expressions."""
        numbers = {k.name: getattr(self, k.name) for k in fields(self) if k.name not in ("colour", "path")}
        return replace(self, **{name: f(value) for name, value in numbers.items()})

    def mirror_image(self) -> Self:
        """Seen in a mirror in the x-z plane."""
        return self.map_numbers(
            lambda e: reflect(e) if e.shape == (3, 1) else reflect_matrix(e) if e.shape == (3, 3) else e
        )


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball about `at`."""

    at: ca.SX
    radius: ca.SX


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A cylinder from `start` to `end` with half a sphere on either end."""

    start: ca.SX
    end: ca.SX
    radius: ca.SX


@dataclass(frozen=True, eq=False)
class Cylinder(Shape):
    """A cylinder from `start` to `end`."""

    start: ca.SX
    end: ca.SX
    radius: ca.SX


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box: `size` are its full lengths along its own x, y and z; `at` is its middle."""

    at: ca.SX
    rotation: ca.SX
    size: ca.SX

    def mirror_image(self) -> Self:
        """Seen in a mirror in the x-z plane: its lengths stay."""
        return replace(self, at=reflect(self.at), rotation=reflect_matrix(self.rotation))


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An ellipsoid: `radii` are along its own x, y and z."""

    at: ca.SX
    rotation: ca.SX
    radii: ca.SX

    def mirror_image(self) -> Self:
        """Seen in a mirror in the x-z plane: its lengths stay."""
        return replace(self, at=reflect(self.at), rotation=reflect_matrix(self.rotation))


@dataclass(frozen=True, eq=False)
class Arc(Shape):
    """Part of a circle in the body's x-z plane, a rolling foot: about the centre `at`, from angle `begin` to
    `finish`, counted from straight down and positive towards x; `width` along y."""

    at: ca.SX
    radius: ca.SX
    begin: ca.SX
    finish: ca.SX
    width: ca.SX


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """A file that a viewer may load; nothing here reads it. `scale` is along the mesh's own axes."""

    at: ca.SX
    rotation: ca.SX
    scale: ca.SX
    path: str

    def mirror_image(self) -> Self:
        """A negative scale along the mesh's y makes the image: F R (s r) = (F R F) (F s) r."""
        return replace(
            self, at=reflect(self.at), rotation=reflect_matrix(self.rotation), scale=reflect(self.scale)
        )
