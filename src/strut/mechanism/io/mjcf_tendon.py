"""<tendon> of MJCF: lengths, and the springs, dampers and friction along them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import forces
from strut.mechanism.forces import Length
from strut.mechanism.io.mjcf_record import TendonRecord
from strut.mechanism.io.names import name_of, numbers
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system import sx

if TYPE_CHECKING:
    from strut.mechanism.io.mjcf_read import Reader

Element = ElementTree.Element
Position = Mapping[str, tuple[Any, ...]]
"""Coordinates of joints by name."""

STOP_STIFFNESS = 1e3
"""[N/m or N m/rad] of the soft stops that ranges of tendons become, on request."""


class Tendons:
    """The tendons of a file by name. `sites`: the frames that sites have become; `slack`: the position in
    which springs of unknown length are at rest."""

    def __init__(
        self,
        root: Element,
        reader: Reader,
        m: Mechanism,
        sites: Mapping[str, str],
        slack: Callable[[], Position],
    ) -> None:
        self.reader, self.m, self.sites, self.slack = reader, m, sites, slack
        self.records: dict[str, TendonRecord] = {}
        if "tendon" in reader.ignore:
            return
        for number, element in enumerate(e for section in root.findall("tendon") for e in section):
            if element.tag not in ("fixed", "spatial"):
                reader.refuse("tendon", f"<tendon> has <{element.tag}>")
                continue
            record = self._read(element, number)
            if record.name in self.records:
                raise ModelError(
                    f"{reader.where} has two tendons '{record.name}': give one of them another name"
                )
            self.records[record.name] = record

    def _read(self, element: Element, number: int) -> TendonRecord:
        """One <fixed> or <spatial>; `number` names it where it has no name."""
        reader = self.reader
        a = reader.attributes(element, "main", tag="tendon")
        name = name_of(a.get("name", f"tendon_{number}"))
        what = f"tendon '{name}'"
        weights, legs, wraps = self._path(element, what)
        for key in ("stiffness", "damping"):
            if any(reader.several(a, key, what, 8)[1:]):
                reader.refuse(key, f"{what} has a {key} that is not linear")
        if any(reader.several(a, "armature", what, 1)):
            reader.refuse("armature", f"{what} has an armature")
        stiffness, damping, friction = (
            float(reader.several(a, k, what, 8)[0]) for k in ("stiffness", "damping", "frictionloss")
        )
        return TendonRecord(
            name=name,
            weights=weights,
            legs=legs,
            wraps=wraps,
            stiffness=stiffness,
            damping=damping,
            friction=friction,
            rest=self._rest(a, what),
            range=self._range(a, what),
        )

    def _path(
        self, element: Element, what: str
    ) -> tuple[dict[str, float], list[tuple[str, str, float]], str]:
        """What a tendon runs along: weights of joints, legs between sites with the divisor of their pulley,
        and a geom that it wraps around."""
        reader = self.reader
        weights: dict[str, float] = {}
        legs: list[tuple[str, str, float]] = []
        wraps = ""
        last, divisor = "", 1.0
        for child in element:
            if child.tag == "joint":
                joint = self._check_known(
                    name_of(child.get("joint", "")), what, "joint", list(self._coordinates())
                )
                weights[joint] = weights.get(joint, 0.0) + float(
                    reader.several({"coef": "1"} | child.attrib, "coef", what, 1)[0]
                )
            elif child.tag == "site":
                site = self._check_known(name_of(child.get("site", "")), what, "site", list(self.sites))
                if last:
                    legs.append((last, site, divisor))
                last = site
            elif child.tag == "pulley":
                last, divisor = (
                    "",
                    float(reader.several({"divisor": "1"} | child.attrib, "divisor", what, 1)[0]),
                )
                if not divisor > 0:
                    raise ModelError(
                        f"{reader.where}: a pulley of {what} has the divisor {divisor:g}: it must be positive"
                    )
            elif child.tag == "geom":
                wraps = child.get("geom", "?")
            else:
                reader.refuse("tendon", f"{what} has <{child.tag}>")
        return weights, legs, wraps

    def _coordinates(self) -> list[str]:
        """Names of the joints of one coordinate."""
        return [name for name, c in self.m.connections.items() if c.joint.nq == 1]

    def _check_known(self, name: str, what: str, kind: str, known: list[str]) -> str:
        """Return a name; raise UnknownNameError unless it is known."""
        if name not in known:
            raise UnknownNameError(
                f"{self.reader.where}: {what} has {kind} '{name}': {did_you_mean(name, known)}"
            )
        return name

    def _rest(self, a: Mapping[str, str], what: str) -> tuple[float, float] | None:
        """The lengths between which the spring is slack; None where the file leaves them open."""
        lengths = numbers(
            a.get("springlength", "-1 -1"), 1, 2, f"{self.reader.where}: springlength of {what}"
        )
        return None if lengths[0] == -1 else (float(lengths[0]), float(lengths[-1]))

    def _range(self, a: Mapping[str, str], what: str) -> tuple[float, float] | None:
        """The range of lengths; None where there is no limit."""
        limited = a.get("limited", "auto")
        if "range" not in a or not (limited == "true" or (limited == "auto" and self.reader.autolimits)):
            return None
        low, high = numbers(a["range"], 2, 2, f"{self.reader.where}: range of {what}")
        return float(low), float(high)

    # ---- what they do ----

    def length(self, record: TendonRecord, purpose: str) -> Length | None:
        """The length of a tendon [m], as an expression; none, if the user said that tendons may be left out,
        where it goes around a geom."""
        if record.wraps:
            self.reader.refuse(
                "tendon", f"tendon '{record.name}' wraps around geom '{record.wraps}' and {purpose}"
            )
            return None
        legs = [(forces.distance(self.sites[a], self.sites[b]), divisor) for a, b, divisor in record.legs]

        def length(tree: Tree) -> ca.SX:
            total = ca.SX(0)
            for joint, weight in record.weights.items():
                total = total + weight * tree.q[tree.q_of[joint].start]
            for leg, divisor in legs:
                total = total + leg(tree) / divisor
            return total

        return length

    def at(self, length: Length, position: Position) -> float:
        """Evaluate a length in a position."""
        tree = Tree(self.m)
        return float(ca.Function("length", [tree.q], [length(tree)])(_coordinates_of(tree, position)))

    def add_forces(self, stops: bool) -> None:
        """Add springs, dampers and friction of tendons; and soft stops of their ranges, if asked for."""
        off = self.reader.options.off
        for record in self.records.values():
            stiffness = 0.0 if "spring" in off else record.stiffness
            damping = 0.0 if "damper" in off else record.damping
            friction = (
                0.0 if "frictionloss" in off or "frictionloss" in self.reader.ignore else record.friction
            )
            if stiffness or damping or friction:
                length = self.length(record, "has a spring, a damper or friction")
                if length is not None:
                    rest = record.rest or (self.at(length, self.slack()),) * 2 if stiffness else (0.0, 0.0)
                    self.m.force(
                        forces.line(
                            f"{record.name}_tendon",
                            length,
                            stiffness,
                            rest,
                            damping=damping,
                            friction=friction,
                        )
                    )
            if stops and record.range and "limit" not in off:
                length = self.length(record, "has a range that is to be a stop")
                if length is not None:
                    self.m.force(forces.line(f"{record.name}_stop", length, STOP_STIFFNESS, record.range))


def _coordinates_of(tree: Tree, position: Position) -> np.ndarray:
    """Coordinates of joints by name as the vector q of a tree."""
    q = np.zeros(tree.nq)
    for name, where in tree.q_of.items():
        q[where] = [float(v) for v in position[name]]
    return q


def tune_springs(
    m: Mechanism, tuned: Mapping[str, tuple[float, float]], start: Callable[[], Position]
) -> None:
    """Springs and dampers of joints that have 'springdamper': a time constant [s] and a damping ratio, for
    the inertia that the joint feels in the position that the file shows."""
    if not tuned:
        return
    tree = Tree(m)
    M = ca.substitute([tree.mass_matrix], [tree.q], [ca.SX(_coordinates_of(tree, start()))])[0]
    try:
        inverse_masses = np.diag(np.linalg.inv(m.values(M)))
    except np.linalg.LinAlgError as error:
        raise ModelError(
            f"joint '{next(iter(tuned))}' has a springdamper, and some joint moves no mass: give its body one"
        ) from error
    for name, (constant, ratio) in tuned.items():
        inertia = 1 / inverse_masses[tree.v_of[name].start]
        m.connections[name] = replace(
            m.connections[name],
            spring=sx(inertia / (constant * ratio) ** 2),
            damping=sx(2 * inertia / constant),
        )
