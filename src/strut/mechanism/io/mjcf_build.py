"""Records of an MJCF file put into a mechanism: bodies, chains of joints, frames, shapes and surroundings."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.mechanism import forces, joints
from strut.mechanism.fluid import drag
from strut.mechanism.io.mjcf_read import Reader
from strut.mechanism.io.mjcf_record import BodyRecord, GeomRecord, JointRecord
from strut.mechanism.io.poses import IDENTITY, NumericPose, quat_of_rotation, rotation, translation
from strut.mechanism.looks import shapes
from strut.mechanism.looks.shape_types import Shape
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, Stop
from strut.system import Param

STOP_STIFFNESS = 1e3
"""[N m/rad or N/m] of soft end stops made from ranges, on request."""
MIN_MOMENT = 1e-15
"""[kg m^2] Moment of inertia that MuJoCo takes in place of smaller ones."""
MOMENT_TOLERANCE = 1e-6
"""[1] Relative difference below which two moments of inertia count as equal."""


class MechanismBuilder:
    """Puts the records of a reader into a mechanism, body by body.

    stops: ranges become soft end stops; symbolic: masses become parameters; driven: the joints that actuators
    drive, all where it is None.
    """

    def __init__(
        self, m: Mechanism, reader: Reader, stops: bool, symbolic: bool, driven: set[str] | None
    ) -> None:
        self.m, self.reader, self.stops, self.symbolic, self.driven = m, reader, stops, symbolic, driven
        self.records: dict[str, BodyRecord] = {}
        for record in reader.world.all():
            if record.name in self.records:
                raise ModelError(
                    f"{reader.where} has two bodies '{record.name}': give one of them another name"
                )
            self.records[record.name] = record
        self.moving = {joint.name for record in self.records.values() for joint in record.joints}
        self.at: dict[str, NumericPose] = {"world": IDENTITY}  # MuJoCo's frame of a body in ours
        self.reference: dict[
            str, float
        ] = {}  # coordinates of joints in the configuration that the file shows
        self.springs: dict[str, float] = {}  # coordinates of joints in which their springs are slack
        self.tuned: dict[str, tuple[float, float]] = {}  # springdamper of joints
        self.frame_of_site: dict[str, str] = {}
        self.outside: list[str] = []  # files of meshes that may not be read

    def start_position(self) -> dict[str, tuple[Any, ...]]:
        """Coordinates of all joints in the configuration that the file shows."""
        return {name: c.initial for name, c in self.m.connections.items()}

    def spring_position(self) -> dict[str, tuple[Any, ...]]:
        """Coordinates of all joints in the configuration in which MuJoCo measures springs."""
        return self.start_position() | {name: (value,) for name, value in self.springs.items()}

    def check_driven(self) -> None:
        """Raise UnknownNameError unless every joint that an actuator names exists."""
        for name in self.driven or ():
            if name not in self.moving:
                raise UnknownNameError(
                    f"{self.reader.where}: an actuator drives joint '{name}': "
                    f"{did_you_mean(name, sorted(self.moving))}"
                )

    def body(self, record: BodyRecord, parent: Body, X_parent: NumericPose) -> None:
        """Add a body with its joints, and all it carries."""
        if not record.joints:
            mount = X_parent @ record.X
            body = self._add_body(record, IDENTITY)
            self.m.joint(
                record.name if record.name not in self.moving else f"{record.name}_mount",
                parent,
                body,
                joints.fixed(),
                mount.p,
                rotation=_matrix(mount),
            )
            after = IDENTITY
        elif any(j.kind == "free" for j in record.joints):
            body, after = self._free(record, parent), IDENTITY
        else:
            afters = [_after(j) for j in record.joints]
            body, after = self._add_body(record, afters[-1]), afters[-1]
            self._chain(record, parent, X_parent @ record.X, body, afters)
        self.at[record.name] = after
        if after.is_moved:
            self.m.frame(record.name, body, after.p, _matrix(after))
        if record.gravcomp and "gravcomp" not in self.reader.options.off:
            self.m.force(
                forces.support(
                    f"{record.name}_gravcomp",
                    record.name,
                    record.gravcomp,
                    self.reader.options.sideways_gravity,
                )
            )
        self.contents(record, body, after)
        for child in record.bodies:
            self.body(child, body, after)

    def _add_body(self, record: BodyRecord, after: NumericPose) -> Body:
        """Add the body of a record; `after` is MuJoCo's frame of it in ours."""
        mass = (
            Param(f"{record.name}_mass", record.mass, "kg", bounds=(0, 1e6))
            if self.symbolic and record.mass
            else record.mass
        )
        about = after.R @ record.inertia @ after.R.T
        return self.m.body(
            record.name,
            mass,
            after.R @ record.com + after.p,
            (about + about.T) / 2,
            forgiving=True,
            source=self.reader.where,
        )

    def _free(self, record: BodyRecord, parent: Body) -> Body:
        """Add a body that flies freely."""
        joint = record.joints[0]
        if len(record.joints) > 1 or parent is not self.m.world:
            raise ModelError(
                f"{self.reader.where}: body '{record.name}' has a free joint: it must be its only one, and "
                f"its parent the world"
            )
        if joint.armature:
            self.reader.refuse(
                "armature", f"the free joint '{joint.name}' of body '{record.name}' has an armature"
            )
        for key, value in (
            ("stiffness", joint.stiffness),
            ("frictionloss", joint.friction),
            ("springdamper", joint.springdamper),
        ):
            if value:
                self.reader.refuse(key, f"the free joint '{joint.name}' of body '{record.name}' has a {key}")
        body = self._add_body(record, IDENTITY)
        start = (*record.X.p, *quat_of_rotation(record.X.R))
        self.m.joint(
            joint.name,
            parent,
            body,
            joints.free(),
            damping=self._damping(joint),
            actuated=False,
            initial=start,
        )
        return body

    def _chain(
        self, record: BodyRecord, parent: Body, at: NumericPose, last: Body, afters: list[NumericPose]
    ) -> None:
        """Add one joint after the other, massless bodies between them."""
        for joint, after in zip(record.joints, afters, strict=True):
            child = last
            if joint is not record.joints[-1]:
                child = self.m.body(
                    joint.name if joint.name not in self.records else f"{record.name}_{joint.name}"
                )
            self._join(record, joint, parent, child, at @ translation(_anchor(joint)))
            parent, at = child, after

    def _join(
        self, record: BodyRecord, joint: JointRecord, parent: Body, child: Body, at: NumericPose
    ) -> None:
        """Add one joint of a body, with the forces that belong to it."""
        axis = tuple(joint.axis)
        motion = {
            "hinge": lambda: joints.revolute(axis),
            "slide": lambda: joints.prismatic(axis),
            "ball": joints.spherical,
        }[joint.kind]()
        straight, off = joint.kind != "ball", self.reader.options.off
        stiffness = 0.0 if "spring" in off else joint.stiffness
        bounded = joint.range if "limit" not in off else None
        if straight:
            self.reference[joint.name], self.springs[joint.name] = joint.ref, joint.springref
        self.m.joint(
            joint.name,
            parent,
            child,
            motion,
            at.p,
            limits=bounded,
            effort=joint.effort,
            rotation=_matrix(at),
            spring=stiffness if stiffness and straight else None,
            rest=joint.springref,
            damping=self._damping(joint),
            armature=joint.armature or None,
            stop=Stop(*bounded, STOP_STIFFNESS) if self.stops and bounded else None,
            actuated=self.driven is None or joint.name in self.driven,
            initial=joint.ref if straight else None,
        )
        if stiffness and not straight:
            self.m.force(forces.ball_spring(f"{joint.name}_spring", joint.name, stiffness))
        if joint.friction and "frictionloss" not in off:
            self.m.force(forces.dry_friction(f"{joint.name}_friction", joint.name, joint.friction))
        if joint.springdamper and not straight:
            self.reader.refuse(
                "springdamper", f"the ball joint '{joint.name}' of body '{record.name}' has a springdamper"
            )
        elif joint.springdamper:
            self.tuned[joint.name] = joint.springdamper

    def _damping(self, joint: JointRecord) -> float | None:
        """The damping of a joint, if it has any and dampers are not switched off."""
        return None if "damper" in self.reader.options.off else joint.damping or None

    def surroundings(self) -> None:
        """Add gravity that is not along -z, and the drag of the fluid around."""
        options = self.reader.options
        if any(options.sideways_gravity):
            self.m.force(forces.sideways_gravity("gravity_aside", options.sideways_gravity))
        for record in self.records.values() if options.fluid else ():
            if record.name == "world" or not record.mass > 0:
                continue
            axes = record.axes
            if axes is None:
                moments, axes = np.linalg.eigh(record.inertia)
                axes = axes * np.sign(np.linalg.det(axes))
                if options.density and np.diff(moments).min() < MOMENT_TOLERANCE * moments[2]:
                    self.reader.refuse(
                        "density",
                        f"body '{record.name}' has two equal moments of inertia, so that the axes of its "
                        f"drag in <option density> are open",
                    )
                    continue
            moments = np.einsum("ki,kl,li->i", axes, record.inertia, axes)
            box = np.sqrt(6 * np.maximum(moments.sum() - 2 * moments, MIN_MOMENT) / record.mass)
            self.m.force(
                drag(
                    f"{record.name}_drag",
                    record.name,
                    com=record.com,
                    axes=axes,
                    box=box,
                    density=options.density,
                    viscosity=options.viscosity,
                    wind=list(options.wind),
                )
            )

    def contents(self, record: BodyRecord, body: Body, at: NumericPose) -> None:
        """Add sites as frames and geoms as shapes."""
        for name, site in record.sites.items():
            place = at @ site
            frame = name if name not in self.records else f"{name}_site"
            while frame in self.m.frames or frame in self.records:
                frame = f"{frame}_site"
            self.frame_of_site[name] = frame
            self.m.frame(frame, body, place.p, _matrix(place))
        looks = [self._shape(geom, at @ geom.X) for geom in record.geoms]
        self.m.shape(body, *[shape for shape in looks if shape is not None])

    def _shape(self, geom: GeomRecord, at: NumericPose) -> Shape | None:
        """The shape of a geom; None for one that is not drawn."""
        a, b, _ = np.abs(geom.size)
        if geom.kind == "sphere":
            return shapes.sphere(a, at.p, geom.colour)
        if geom.kind in ("capsule", "cylinder"):
            return shapes.MAKERS[geom.kind](at.p - at.R[:, 2] * b, at.p + at.R[:, 2] * b, a, geom.colour)
        if geom.kind == "box":
            return shapes.box(2 * geom.size, at.p, _matrix(at), geom.colour)
        if geom.kind == "ellipsoid":
            return shapes.ellipsoid(geom.size, at.p, _matrix(at), geom.colour)
        if geom.mesh not in self.reader.geoms.meshes:
            return None
        path = self._mesh_path(geom.mesh)
        scale = self.reader.geoms.scale(geom.mesh)
        return shapes.mesh(path, scale, at.p, _matrix(at), geom.colour) if path else None

    def _mesh_path(self, name: str) -> str:
        """Where the file of a mesh is, for pictures; as a model given as text names it, nothing where it may
        not be read."""
        file, folders = self.reader.geoms.file(name), self.reader.folders
        if not file or folders.home is None:
            return file
        try:
            return str(folders.path(file, f"mesh '{name}'"))
        except ModelError:
            self.outside.append(file)
            return ""

    def warn_of_meshes(self) -> None:
        """Warn of meshes that are outside of the model's folder: pictures go without them."""
        if self.outside:
            assert self.reader.folders.home is not None
            folder = self.reader.folders.suggest((self.reader.folders.home / self.outside[0]).resolve())
            self.reader.warn(
                f"{len(set(self.outside))} files of meshes, such as '{self.outside[0]}', are outside of the "
                f"model's folder and not "
                f"shown in pictures: if you trust them, name their folder, roots=['{folder}'] or --root "
                f"{folder}"
            )


def _anchor(joint: JointRecord) -> np.ndarray:
    """Where a joint is in its body's frame; a slide's place has no meaning."""
    return np.zeros(3) if joint.kind == "slide" else joint.pos


def _after(joint: JointRecord) -> NumericPose:
    """The body's frame, seen from the joint: back from the anchor, and back by the coordinate that means 'not
    moved'."""
    if joint.kind == "slide":
        return translation(-joint.axis * joint.ref)
    turned = rotation(joint.axis, -joint.ref) if joint.kind == "hinge" and joint.ref else np.eye(3)
    return NumericPose(turned, -turned @ joint.pos)


def _matrix(place: NumericPose) -> ca.SX:
    """The rotation of a numeric pose as an expression."""
    return ca.densify(ca.SX(place.R))
