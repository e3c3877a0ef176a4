"""<geom> of MJCF, and the inertias that bodies get from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from xml.etree import ElementTree

import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism.io.mesh_file import Mesh, check_mesh, read_mesh
from strut.mechanism.io.mesh_inertia import INERTIA_RULES, Solid, solid_of
from strut.mechanism.io.mjcf_element import ElementReader
from strut.mechanism.io.mjcf_record import BodyRecord, GeomRecord
from strut.mechanism.io.names import numbers
from strut.mechanism.io.poses import NumericPose, moments_of, pose_between, rotation_of_quat, volume_of

Element = ElementTree.Element

GEOMS = ("sphere", "capsule", "cylinder", "box", "ellipsoid", "plane", "mesh", "hfield", "sdf")
"""Types of <geom>."""
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""How many numbers the size of a solid has."""
MIN_MASS = 1e-14
"""[kg] below which MuJoCo takes no notice of a geom."""
MAX_VERTICES = 10_000_000
"""Of a mesh written out in the model."""


class Geoms:
    """Reads geoms; files of meshes are read when a body's inertia needs them, and once."""

    def __init__(self, root: Element, reader: ElementReader) -> None:
        self.reader, self.where = reader, reader.where
        self.from_geoms = reader.choice("inertiafromgeom", ("auto", "true", "false"))
        low, high = numbers(
            reader.compiler.get("inertiagrouprange", "0 5"), 2, 2, f"{self.where}: inertiagrouprange"
        )
        self.groups = (float(low), float(high))
        self.meshes: dict[str, dict[str, str]] = {}
        for element in root.findall("asset/mesh"):
            a = reader.attributes(element, "main")
            self.meshes[a.get("name") or PureWindowsPath(a.get("file", "")).stem] = a
        self.materials = {str(m.get("name")): m.get("rgba") for m in root.findall("asset/material")}
        self.solids: dict[str, Solid] = {}
        self.waiting: dict[
            int, tuple[dict[str, str], str]
        ] = {}  # geoms whose inertia is worked out only if it is needed

    # ---- one geom ----

    def read(self, element: Element, body: BodyRecord, X: NumericPose, childclass: str) -> GeomRecord:
        """Read one <geom> of a body, in a <frame> at X of it; its inertia is worked out by `weigh`."""
        reader = self.reader
        a = reader.attributes(element, childclass)
        what = f"geom '{a['name']}' of body '{body.name}'" if "name" in a else f"a geom of body '{body.name}'"
        kind = a.get("type", "sphere")
        if kind not in GEOMS:
            raise ModelError(f"{self.where}: {what} has type '{kind}': {did_you_mean(kind, GEOMS)}")
        size = np.zeros(3)
        sizes = numbers(a.get("size", ""), 0, 3, f"{self.where}: size of {what}")
        size[: len(sizes)] = sizes
        if "fromto" in a and kind in ("capsule", "cylinder", "box", "ellipsoid"):
            at, half = pose_between(numbers(a["fromto"], 6, 6, f"{self.where}: fromto of {what}"))
            size = (
                np.array([size[0], half, 0.0])
                if kind in ("capsule", "cylinder")
                else np.array([size[0], size[0], half])
            )
        else:
            at = reader.place(a, what)
        colour = a.get("rgba") or self.materials.get(a.get("material", ""))
        rgba = (
            tuple(float(v) for v in numbers(colour, 3, 4, f"{self.where}: rgba of {what}"))
            if colour
            else None
        )
        geom = GeomRecord(
            kind=kind,
            X=X @ at,
            size=size,
            mass=0.0,
            com=np.zeros(3),
            inertia=np.zeros((3, 3)),
            axes=np.eye(3),
            frame=X @ at,
            mesh=a.get("mesh", ""),
            colour=rgba,
            group=int(reader.several(a, "group", what, 1)[0]),
            name=a.get("name", ""),
        )
        if a.get("fluidshape", "none") != "none" and reader.options.fluid:
            reader.refuse("fluidshape", f"{what} has a fluidshape")
        if kind not in ("plane", "hfield"):
            self.waiting[id(geom)] = (a, what)
        if geom.mesh and kind in SIZES:
            self._fit(geom, a, what)
        return geom

    def _fit(self, geom: GeomRecord, a: Mapping[str, str], what: str) -> None:
        """A simple shape in place of a mesh: of like inertia, or around it, along its principal axes."""
        solid = self.solid(geom.mesh, what)
        half, centre = solid.half, np.zeros(3)
        if self.reader.compiler.get("fitaabb", "false") == "true":
            centre, half = (solid.low + solid.high) / 2, (solid.high - solid.low) / 2
            wide = max(half[:2])
            sizes = {"sphere": [max(half)], "cylinder": [wide, half[2]], "capsule": [wide, half[2] - wide]}
        else:
            wide = (half[0] + half[1]) / 2
            sizes = {
                "sphere": [half.mean()],
                "cylinder": [wide, half[2]],
                "capsule": [wide, max(0.0, half[2] - wide / 2)],
            }
        fitted = sizes.get(geom.kind, list(half))
        scale = float(numbers(a.get("fitscale", "1"), 1, 1, f"{self.where}: fitscale of {what}")[0])
        geom.size = np.array([*fitted, 0.0, 0.0][:3]) * scale
        turn = solid.axes * np.sign(np.linalg.det(solid.axes))
        geom.X = geom.X @ NumericPose(turn, solid.com + solid.axes @ centre)

    # ---- inertia of one geom ----

    def weigh(self, geom: GeomRecord) -> None:
        """Give a geom its mass, centre of mass and inertia."""
        if id(geom) not in self.waiting:
            return
        a, what = self.waiting.pop(id(geom))
        reader = self.reader
        density = float(reader.several({"density": "1000"} | dict(a), "density", what, 1)[0])
        mass = float(reader.several(a, "mass", what, 1)[0]) if "mass" in a else None
        for key, value in (("mass", mass or 0.0), ("density", density)):
            if value < 0:
                raise ModelError(f"{self.where}: {what} has {key} {value:g}: it must not be negative")
        if mass == 0 or (mass is None and density == 0):
            return
        if geom.kind in ("mesh", "sdf"):
            solid = self.solid(geom.mesh, what)
            geom.mass = density * solid.volume if mass is None else mass
            turn = geom.X.R
            geom.com = turn @ solid.com + geom.X.p
            geom.inertia = turn @ (solid.inertia * geom.mass / solid.volume) @ turn.T
            geom.axes = turn @ solid.axes
            return
        count = SIZES[geom.kind]
        if not np.all(geom.size[:count] > 0):
            sizes = geom.size[:count].tolist()
            raise ModelError(
                f"{self.where}: {what} is a {geom.kind} of size {sizes}: {count} positive numbers are needed"
            )
        if a.get("shellinertia") == "true":
            reader.refuse("shellinertia", f"{what} has shellinertia")
        geom.mass = density * volume_of(geom.kind, geom.size) if mass is None else mass
        geom.com, geom.axes = geom.X.p, geom.X.R
        geom.inertia = geom.X.R @ (geom.mass * np.diag(moments_of(geom.kind, geom.size))) @ geom.X.R.T

    # ---- meshes ----

    def solid(self, name: str, what: str) -> Solid:
        """Mass properties of what a mesh encloses, worked out once."""
        if name not in self.meshes:
            raise UnknownNameError(
                f"{self.where}: {what} has mesh '{name}': {did_you_mean(name, list(self.meshes))}"
            )
        if name not in self.solids:
            a, mesh = self.meshes[name], f"{self.where}: mesh '{name}'"
            kind = a.get(
                "inertia", "exact" if self.reader.compiler.get("exactmeshinertia") == "true" else "legacy"
            )
            if kind not in INERTIA_RULES:
                raise ModelError(f"{mesh} has inertia '{kind}': {did_you_mean(kind, INERTIA_RULES)}")
            vertices, faces = self._points(a, mesh)
            vertices = vertices - numbers(a.get("refpos", "0 0 0"), 3, 3, f"{mesh}: refpos")
            quat = numbers(a.get("refquat", "1 0 0 0"), 4, 4, f"{mesh}: refquat")
            scale = self.scale(name)
            if not np.any(quat) or not np.all(scale):
                raise ModelError(f"{mesh} has a scale or a refquat of zero")
            vertices = vertices @ rotation_of_quat(quat) * scale
            if np.prod(scale) < 0:
                faces = faces[:, ::-1]
            self.solids[name] = solid_of((vertices, faces), kind, mesh)
        return self.solids[name]

    def scale(self, name: str) -> np.ndarray:
        """Factors along the axes of a mesh's file."""
        return numbers(self.meshes[name].get("scale", "1 1 1"), 3, 3, f"{self.where}: scale of mesh '{name}'")

    def file(self, name: str) -> str:
        """The file of a mesh, counted from the model's folder; empty where it is written out."""
        file = self.meshes[name].get("file", "") if name in self.meshes else ""
        compiler = self.reader.compiler
        if file and compiler.get("strippath", "false") == "true":
            file = PureWindowsPath(file).name
        return str(Path(compiler.get("meshdir") or compiler.get("assetdir", "")) / file) if file else ""

    def _points(self, a: Mapping[str, str], mesh: str) -> Mesh:
        """Vertices and triangles of a mesh, written out or from its file."""
        if "vertex" in a:
            vertices = (
                numbers(a["vertex"], 12, 3 * MAX_VERTICES, f"{mesh}: vertex").astype(np.float32).astype(float)
            )
            faces = numbers(a.get("face", ""), 0, 6 * MAX_VERTICES, f"{mesh}: face").astype(int)
            if len(vertices) % 3 or len(faces) % 3:
                raise ModelError(
                    f"{mesh} has {len(vertices)} numbers of vertices and {len(faces)} of faces: both come in "
                    f"threes"
                )
            return check_mesh(vertices.reshape(-1, 3), faces.reshape(-1, 3), mesh)
        name = a.get("name") or PureWindowsPath(a.get("file", "")).stem
        if not a.get("file"):
            raise ModelError(
                f"{mesh} has neither a file nor vertices, which is all that is read: give the body an "
                f"<inertial>"
            )
        return read_mesh(self.reader.folders.find(self.file(name), f"mesh '{name}'"), mesh)

    # ---- inertias of bodies ----

    def give_inertias(self, bodies: list[BodyRecord]) -> None:
        """Give every body its mass, centre of mass and inertia, from <inertial> or its geoms, after the rules
        of <compiler>."""
        for body in bodies:
            if self.from_geoms == "true" or (self.from_geoms == "auto" and body.inertial is None):
                self._sum_geoms(body, [g for g in body.geoms if self.groups[0] <= g.group <= self.groups[1]])
            elif body.inertial is not None:
                body.mass, body.com, body.inertia = body.inertial
            if not body.mass and body.inertial is None:
                body.com = body.pos  # where MuJoCo puts what boundmass gives to a body that has nothing
            self._bound(body)
        total = self._compiler_number("settotalmass")
        now = sum(body.mass for body in bodies)
        if total > 0 and now > 0:
            for body in bodies:
                body.mass, body.inertia = body.mass * total / now, body.inertia * total / now

    def _compiler_number(self, key: str) -> float:
        """A number of <compiler>; 0 where it is not given."""
        return float(self.reader.several(self.reader.compiler, key, "<compiler>", 1)[0])

    def _sum_geoms(self, body: BodyRecord, geoms: list[GeomRecord]) -> None:
        """Give a body the mass, centre and inertia of its geoms together (the parallel axis theorem)."""
        for geom in geoms:
            self.weigh(geom)
        heavy = [g for g in geoms if g.mass > MIN_MASS]
        if not heavy and body.inertial is not None:
            body.mass, body.com, body.inertia = body.inertial
            return
        body.mass = sum(g.mass for g in heavy)
        body.axes = heavy[0].axes if len(heavy) == 1 else None
        if body.mass:
            body.com = sum((g.mass * g.com for g in heavy), np.zeros(3)) / body.mass
            for g in heavy:
                r = g.com - body.com
                body.inertia = body.inertia + g.inertia + g.mass * (r @ r * np.eye(3) - np.outer(r, r))

    def _bound(self, body: BodyRecord) -> None:
        """Apply boundmass, boundinertia and balanceinertia of <compiler>, which repair careless inertias."""
        least = self._compiler_number("boundinertia")
        body.mass = max(body.mass, self._compiler_number("boundmass"))
        balance = self.reader.compiler.get("balanceinertia", "false") == "true"
        if not least and not balance:
            return
        moments, axes = np.linalg.eigh(body.inertia)
        moments = np.maximum(moments, least)
        if balance and moments[0] + moments[1] < moments[2]:
            moments = np.full(3, moments.mean())
        body.inertia = axes @ np.diag(moments) @ axes.T
