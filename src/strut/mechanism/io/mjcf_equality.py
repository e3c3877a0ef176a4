"""<equality> of MJCF as constraints, which are exact here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import constraints
from strut.mechanism.forces import Length
from strut.mechanism.io import names as text
from strut.mechanism.io.mjcf_read import Reader
from strut.mechanism.io.mjcf_record import BodyRecord
from strut.mechanism.io.mjcf_tendon import Position, Tendons
from strut.mechanism.io.poses import NumericPose, rotation_of_quat, translation
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Constraint
from strut.mechanism.tree import Tree

Element = ElementTree.Element


class Built(Protocol):
    """What is known of the bodies once they are built."""

    records: dict[str, BodyRecord]
    at: dict[str, NumericPose]
    reference: dict[str, float]
    frame_of_site: dict[str, str]

    def start_position(self) -> Position:
        """Coordinates of all joints in the configuration that the file shows."""
        ...


def add_equalities(root: Element, equalities: Equalities) -> None:
    """Add all equalities that are active, in their order."""
    for number, element in enumerate(e for section in root.findall("equality") for e in section):
        attributes = equalities.reader.attributes(element, "main", tag="equality")
        active = attributes.get("active", "true")
        if active not in ("true", "false"):
            raise ModelError(f"an equality has active=\"{active}\": it is 'true' or 'false'")
        if active == "true":
            equalities.add(element, number)


@dataclass
class Equalities:
    """Puts equalities into a mechanism."""

    m: Mechanism
    reader: Reader
    built: Built
    tendons: Tendons

    def add(self, element: Element, number: int) -> None:
        """Add the constraint that an element of <equality> says; `number` names it where it has no name."""
        name = text.name_of(element.get("name", f"{element.tag}_{number}"))
        if element.tag == "joint":
            self._joints(name, element)
        elif element.tag == "tendon" and "tendon" not in self.reader.ignore:
            self._tendons(name, element)
        elif element.tag in ("connect", "weld"):
            a, b = self._sites(name, element) if "site1" in element.attrib else self._bodies(name, element)
            self.m.constrain(
                (constraints.point if element.tag == "connect" else constraints.weld)(name, a, b)
            )
        else:
            self.reader.refuse(element.tag, f"equality '{name}' is a <{element.tag}>")

    def _polynomial(self, name: str, element: Element) -> list[float]:
        """The five coefficients of polycoef."""
        coefficients = text.numbers(
            element.get("polycoef", "0 1 0 0 0"), 1, 5, f"{self.reader.where}: polycoef of equality '{name}'"
        )
        return [float(v) for v in coefficients] + [0.0, 1.0, 0.0, 0.0, 0.0][len(coefficients) :]

    def _joints(self, name: str, element: Element) -> None:
        """Constrain q1 - ref1 to a polynomial of q2 - ref2, or to a constant."""
        full, references = self._polynomial(name, element), self.built.reference
        second = self._known_name(name, element, "joint1", list(references))
        if "joint2" not in element.attrib:
            self.m.constrain(constraints.prescribed(name, second, references[second] + full[0]))
            return
        first = self._known_name(name, element, "joint2", list(references))
        if any(full[2:]):
            ends = (_coordinate(second), _coordinate(first))
            self.m.constrain(
                _polynomial_constraint(name, full, ends, (references[second], references[first]))
            )
            return
        offset, ratio = full[:2]
        self.m.constrain(
            constraints.coupled(
                name, first, second, ratio, references[second] + offset - ratio * references[first]
            )
        )

    def _tendons(self, name: str, element: Element) -> None:
        """Constrain the length of one tendon to a polynomial of another's, counted from the configuration
        that the file shows."""
        full, lengths = self._polynomial(name, element), []
        for key in ("tendon1", "tendon2")[: 1 + ("tendon2" in element.attrib)]:
            record = self.tendons.records[self._known_name(name, element, key, list(self.tendons.records))]
            length = self.tendons.length(record, f"belongs to equality '{name}'")
            if length is None:
                return
            lengths.append(length)
        start = [self.tendons.at(length, self.built.start_position()) for length in lengths]
        if len(lengths) == 1:
            lengths.append(lambda tree: ca.SX(0))
            start, full = [*start, 0.0], [full[0], 0.0, 0.0, 0.0, 0.0]
        self.m.constrain(_polynomial_constraint(name, full, (lengths[0], lengths[1]), (start[0], start[1])))

    def _sites(self, name: str, element: Element) -> tuple[str, str]:
        """The frames of both sites that an equality names."""
        frames = self.built.frame_of_site
        a, b = (self._known_name(name, element, key, list(frames)) for key in ("site1", "site2"))
        return frames[a], frames[b]

    def _bodies(self, name: str, element: Element) -> tuple[str, str]:
        """Frames on both bodies that coincide as the bodies do in the configuration that the file shows, or
        as told."""
        records: Mapping[str, BodyRecord] = self.built.records
        a, b = self._known_name(name, element, "body1", list(records)), "world"
        if "body2" in element.attrib:
            b = self._known_name(name, element, "body2", list(records))
        where = f"{self.reader.where}: anchor of equality '{name}'"
        X_ab = records[a].X_W.inverse() @ records[b].X_W
        anchor = text.numbers(element.get("anchor", "0 0 0"), 3, 3, where)
        if element.tag == "connect":  # the anchor is in the first body
            on_a = translation(anchor)
            on_b = X_ab.inverse() @ on_a
        else:  # in the second
            relative = text.numbers(
                element.get("relpose", "0 1 0 0 0 0 0"),
                7,
                7,
                f"{self.reader.where}: relpose of equality '{name}'",
            )
            on_b = translation(anchor)
            on_a = X_ab @ on_b
            if np.any(relative[3:]):  # MuJoCo takes its position as that of the anchor in the first body
                on_a = NumericPose(rotation_of_quat(relative[3:]), relative[:3])
        for suffix, body, on in (("a", a, on_a), ("b", b, on_b)):
            place = self.built.at[body] @ on
            self.m.frame(f"{name}_{suffix}", self.m.bodies[body], place.p, ca.densify(ca.SX(place.R)))
        return f"{name}_a", f"{name}_b"

    def _known_name(self, name: str, element: Element, key: str, known: list[str]) -> str:
        """The name under `key`, which must be one of `known`."""
        value = text.name_of(element.get(key, ""))
        if value not in known:
            raise UnknownNameError(
                f"{self.reader.where}: equality '{name}' has {key} '{value}': {did_you_mean(value, known)}"
            )
        return value


def _coordinate(joint: str) -> Length:
    """The coordinate of a joint as a length."""
    return lambda tree: tree.q[tree.q_of[joint].start]


def _polynomial_constraint(
    name: str, coefficients: list[float], ends: tuple[Length, Length], start: tuple[float, float]
) -> Constraint:
    """One length is a polynomial of another, both counted from where they start."""

    def error(tree: Tree) -> ca.SX:
        x = ends[1](tree) - start[1]
        value: ca.SX = sum((c * x**k for k, c in enumerate(coefficients)), ca.SX(0))
        return ends[0](tree) - start[0] - value

    rows: Callable[[Tree], ca.SX] = error
    return constraints.general(name, rows)
