"""URDF: reading robots that others described, and writing ours for them."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.confine import Roots
from strut.errors import ModelError, StorageError, UnknownNameError, did_you_mean
from strut.files import DAMAGE
from strut.mechanism import constraints, joints
from strut.mechanism.io.names import name_file_in_errors, name_of, number, read, xml
from strut.mechanism.io.urdf_joint import (
    JointElement,
    follow_leaders,
    order_outward,
    origin_of,
    rotation_matrix,
)
from strut.mechanism.io.urdf_visual import visuals
from strut.mechanism.io.urdf_write import dump
from strut.mechanism.looks.shapes import locate_meshes
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, Stop
from strut.system import Expression, Param

__all__ = ["dump", "load", "parse"]

MOTOR_KINDS = ("revolute", "continuous", "prismatic")
"""Types of joints of which <limit> may say what their motor gives."""
STOP_STIFFNESS = 1e3
"""[N m/rad or N/m] of soft end stops made from URDF limits, on request."""
BASES: dict[str, Callable[[], joints.Joint]] = {
    "fixed": joints.fixed,
    "free": joints.free,
    "planar": lambda: joints.planar("y"),
}
"""Joints by which a root link may hang on the world."""


@checked
def load(  # noqa: PLR0913 options of a public function, by keyword
    path: str | Path,
    base: str = "free",
    *,
    loops: str | Path | Mapping[str, Any] | None = None,
    symbolic_masses: bool = False,
    stops: bool = False,
    symbolic_lengths: bool = False,
    symbolic_inertias: bool = False,
    actuated: Collection[str] | None = None,
    roots: Roots = (),
) -> Mechanism:
    """A mechanism from a URDF file.

    base: how the root link hangs on the world: 'free', 'fixed' or 'planar'; a root called 'world' is the
        world.
    loops: closures that URDF cannot say: a TOML file, or a mapping, with tables [NAME] of kind = 'point',
        'hinge' or 'weld', a = 'LINK', b = 'LINK', a_at and b_at = [x, y, z], axis = [x, y, z].
    stops: joint limits become soft end stops.
    symbolic_masses: every mass becomes a parameter LINK_mass.
    symbolic_lengths: of the places of joints and centres of mass, every component that is not zero becomes a
        parameter, such as knee_at_z or shank_com_z.
    symbolic_inertias: likewise of the moments of inertia about the centre of mass, shank_inertia_yy; in the
        axes of the link.
    actuated: the joints that have a motor; all of them unless given.
    roots: folders from which meshes may come, besides the file's own and the package it is in.

    <visual> becomes the shapes of bodies; files of meshes are found, but left to pictures to read.
    """
    table: Mapping[str, Any] | None
    if not isinstance(loops, (str, Path)):
        table = loops
    else:
        try:
            table = tomllib.loads(Path(loops).read_text())
        except DAMAGE as error:  # a file that is not there, no TOML, or nested without end
            raise StorageError(f"cannot read the loops in {loops}: {error}") from error
    mechanism = parse(
        read(path),
        base,
        loops=table,
        symbolic_masses=symbolic_masses,
        stops=stops,
        where=str(path),
        symbolic_lengths=symbolic_lengths,
        symbolic_inertias=symbolic_inertias,
        actuated=actuated,
    )
    return locate_meshes(mechanism, path, roots)


@checked
def parse(  # noqa: PLR0913 options of a public function, by keyword
    text: str,
    base: str = "free",
    *,
    loops: Mapping[str, Any] | None = None,
    symbolic_masses: bool = False,
    stops: bool = False,
    where: str = "URDF",
    symbolic_lengths: bool = False,
    symbolic_inertias: bool = False,
    actuated: Collection[str] | None = None,
) -> Mechanism:
    """A mechanism from the text of a URDF; see `load`."""
    root = xml(text, where)
    settings = _Settings(
        base=base,
        symbols=_Symbols(symbolic_masses, symbolic_lengths, symbolic_inertias),
        stops=stops,
        where=where,
        actuated=actuated,
    )
    with name_file_in_errors(where):
        return _mechanism(root, settings, loops or {})


def _mechanism(root: ElementTree.Element, settings: _Settings, loops: Mapping[str, Any]) -> Mechanism:
    """The tree of bodies and joints that <robot> describes, with loops closed."""
    base, where = settings.base, settings.where
    if root.tag != "robot":
        raise ModelError(f"{where} begins with <{root.tag}>: a URDF begins with <robot>")
    if base not in BASES:
        raise ModelError(f"base '{base}' is unknown: {did_you_mean(base, list(BASES))}")
    m = Mechanism(name_of(root.get("name", "robot")))
    links = _links(root, where)
    edges = [JointElement(element, where) for element in root.findall("joint")]
    follow_leaders(edges, where)
    bodies = {
        name: m.world if name == "world" else _body(m, name, link, settings.symbols, where)
        for name, link in links.items()
    }
    root_link = _root_link(links, edges, settings)
    if root_link != "world":
        m.joint("base", m.world, bodies[root_link], BASES[base](), actuated=False)
    for edge in order_outward(edges, root_link, where):
        _join(m, edge, bodies, settings)
    for name, element in links.items():
        m.shape(bodies[name], *visuals(element, root, where))
    for name, loop in loops.items():
        _close(m, name, loop, bodies)
    return m


def _root_link(
    links: Mapping[str, ElementTree.Element], edges: Sequence[JointElement], settings: _Settings
) -> str:
    """The link that no joint carries. Refuses names that joints use and nothing has, and all but one tree."""
    where = settings.where
    for edge in edges:
        for link in (edge.parent, edge.child):
            if link not in links:
                raise ModelError(
                    f"{where}: joint '{edge.name}' names link '{link}', which does not exist: "
                    f"{did_you_mean(link, list(links))}"
                )
    joint_names = [name_of(edge.name) for edge in edges]
    for name in settings.actuated or ():
        if name not in joint_names:
            raise UnknownNameError(
                f"{where} has no joint '{name}' to be actuated: {did_you_mean(name, joint_names)}"
            )
    children = {edge.child for edge in edges}
    roots = [name for name in links if name not in children]
    if len(roots) != 1:
        what = (
            "every link is some joint's child, so they form a cycle"
            if not roots
            else f"links {', '.join(roots)} have no parent"
        )
        raise ModelError(f"{where} has {len(roots)} roots: {what}; a URDF is one tree")
    return roots[0]


def _links(root: ElementTree.Element, where: str) -> dict[str, ElementTree.Element]:
    """Collect the <link>s by name."""
    links: dict[str, ElementTree.Element] = {}
    for number_, link in enumerate(root.findall("link"), 1):
        name = link.get("name")
        if not name:
            raise ModelError(f"{where}: <link> number {number_} has no name: give it one")
        if name in links:
            raise ModelError(f"{where} has two links '{name}': give one of them another name")
        links[name] = link
    if not links:
        raise ModelError(f"{where} has no <link>: a URDF has at least one")
    return links


@dataclass(frozen=True)
class _Symbols:
    """Which numbers become parameters."""

    masses: bool
    lengths: bool
    inertias: bool

    def mass(self, link: str, value: float) -> Expression:
        """The mass of a link [kg], or a parameter."""
        return Param(f"{name_of(link)}_mass", value, "kg", bounds=(0, 1e6)) if self.masses else value

    def place(self, name: str, values: np.ndarray) -> list[Expression]:
        """A place [m], its components as parameters if wanted; zeros stay zeros: they cost nothing."""
        return [
            Param(f"{name}_{axis}", v, "m") if self.lengths and v else float(v)
            for axis, v in zip("xyz", values, strict=True)
        ]

    def inertia(self, link: str, I: np.ndarray) -> Expression:  # noqa: E741 the inertia, as in the books
        """An inertia [kg m^2], or its six entries as parameters."""
        if not self.inertias:
            return I
        entries = {"xx": I[0, 0], "xy": I[0, 1], "xz": I[0, 2], "yy": I[1, 1], "yz": I[1, 2], "zz": I[2, 2]}
        return [
            Param(f"{name_of(link)}_inertia_{key}", v, "kg m^2") if v else 0.0 for key, v in entries.items()
        ]


@dataclass(frozen=True)
class _Settings:
    """How a file is read: `base` is how its root hangs on the world, `symbols` which numbers become
    parameters, `stops` whether limits become soft stops, `where` how messages call the file, `actuated` the
    joints with a motor (all, if it is none)."""

    base: str
    symbols: _Symbols
    stops: bool
    where: str
    actuated: Collection[str] | None

    def drives(self, joint: str) -> bool:
        """Whether a joint has a motor."""
        return self.actuated is None or name_of(joint) in self.actuated


def _join(m: Mechanism, edge: JointElement, bodies: Mapping[str, Body], settings: _Settings) -> None:
    """Put the joint of an edge into the mechanism."""
    stop = limits = effort = None
    if edge.kind in ("revolute", "prismatic") and edge.limit is not None and edge.leader is None:
        low, high = (
            number(edge.limit.get(key, "0"), f"the {key} limit of joint '{edge.name}'")
            for key in ("lower", "upper")
        )
        # Exporters write 0 to 0 where nobody said a range; a plan in which it cannot move is no plan.
        limits = (low, high) if low != high else None
        stop = Stop(low, high, STOP_STIFFNESS) if settings.stops else None
    if edge.limit is not None and edge.leader is None and edge.kind in MOTOR_KINDS:
        most = number(edge.limit.get("effort", "0"), f"the effort of joint '{edge.name}'")
        effort = most or None  # likewise, 0 is written where nobody said what the motor gives
    damping = (
        number(edge.dynamics.get("damping", "0"), f"the damping of joint '{edge.name}'")
        if edge.dynamics is not None
        else 0.0
    )
    motion = edge.motion()
    m.joint(
        name_of(edge.name),
        bodies[edge.parent],
        bodies[edge.child],
        motion,
        at=settings.symbols.place(f"{name_of(edge.name)}_at", edge.xyz),
        rotation=rotation_matrix(edge.rpy),
        damping=damping if damping and motion.nv else None,
        stop=stop,
        limits=limits,
        effort=effort,
        actuated=settings.drives(edge.name),
    )


def _body(m: Mechanism, name: str, link: ElementTree.Element, symbols: _Symbols, where: str) -> Body:
    """Add the body of a <link>."""
    inertial = link.find("inertial")
    if inertial is None:
        return m.body(name_of(name))
    mass, inertia = inertial.find("mass"), inertial.find("inertia")
    if mass is None or inertia is None:
        raise ModelError(
            f"{where}: link '{name}' has an <inertial> without {'<mass>' if mass is None else '<inertia>'}: "
            f"give both, or neither"
        )
    xyz, rpy = origin_of(inertial, f"the inertial of link '{name}'")
    value = number(mass.get("value", "0"), f"the mass of link '{name}'")
    entries = {
        key: number(inertia.get(key, "0"), f"{key} of link '{name}'")
        for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    }
    about_com = np.array(
        [
            [entries["ixx"], entries["ixy"], entries["ixz"]],
            [entries["ixy"], entries["iyy"], entries["iyz"]],
            [entries["ixz"], entries["iyz"], entries["izz"]],
        ]
    )
    R = np.array(ca.DM(rotation_matrix(rpy)))
    about = R @ about_com @ R.T
    return m.body(
        name_of(name),
        symbols.mass(name, value),
        symbols.place(f"{name_of(name)}_com", xyz),
        symbols.inertia(name, (about + about.T) / 2),
        forgiving=True,
        source=where,
    )


def _close(m: Mechanism, name: str, loop: Mapping[str, Any], bodies: Mapping[str, Body]) -> None:
    """Close a loop that URDF cannot say."""
    if not isinstance(loop, Mapping) or not isinstance(name, str):
        raise ModelError(f"loop {name!r} is {loop!r}: give a table with a and b, the links that it joins")
    kinds: dict[str, Any] = {"point": constraints.point, "hinge": constraints.hinge, "weld": constraints.weld}
    kind = loop.get("kind", "hinge")
    if kind not in kinds:
        raise ModelError(f"loop '{name}' has kind '{kind}': {did_you_mean(str(kind), list(kinds))}")
    frames = []
    for side in ("a", "b"):
        link = loop.get(side)
        if link not in bodies and link != "world":
            raise ModelError(
                f"loop '{name}' closes on {side} = '{link}', which is no link: "
                f"{did_you_mean(str(link), list(bodies))}"
            )
        body = m.world if link == "world" else bodies[str(link)]
        frames.append(m.frame(f"{name_of(name)}_{side}", body, tuple(loop.get(f"{side}_at", (0, 0, 0)))).name)
    if kind == "hinge":
        m.constrain(constraints.hinge(name_of(name), frames[0], frames[1], loop.get("axis", "y")))
    else:
        m.constrain(kinds[str(kind)](name_of(name), frames[0], frames[1]))
