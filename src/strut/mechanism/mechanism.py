"""`Mechanism`: bodies and joints, said once, with every number a symbol if you like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, a, did_you_mean
from strut.html import card
from strut.mechanism import check
from strut.mechanism.joint import Joint
from strut.mechanism.joints import neutral
from strut.mechanism.looks.shape_types import Shape
from strut.mechanism.parameters import ParameterSet
from strut.mechanism.parts import COM, Body, Connection, Constraint, Force, Frame, Stop
from strut.mechanism.spatial import Pose, vector
from strut.system import Expression, Param, check_name, known_symbol, sx


@checked
@dataclass
class Mechanism:
    """A tree of bodies, built up by `body`, `joint` and `frame`; `shape` says how bodies look, `mirror` adds
    the other side.

    Numbers may be `Param`s or expressions of them; those are collected and become the parameters of the
    system. Gravity pulls along -z with `g`; planar mechanisms live in the x-z plane and rotate about y.
    `limits` are ranges of joints [rad or m]: plans keep them, runs are held back by stops only. `efforts` are
    ranges of what the motors of joints give [N m or N]: plans keep them, runs may exceed them.
    `machine_tables` are what a model file says of ground, drives and the like, for `modelfile.dump`.
    """

    name: str
    planar: bool = False
    g: Expression = None
    bodies: dict[str, Body] = field(default_factory=dict, repr=False)
    connections: dict[str, Connection] = field(default_factory=dict, repr=False)
    frames: dict[str, Frame] = field(default_factory=dict, repr=False)
    constraints: dict[str, Constraint] = field(default_factory=dict, repr=False)
    forces: dict[str, Force] = field(default_factory=dict, repr=False)
    params: dict[str, Param] = field(default_factory=dict, repr=False)
    shapes: dict[str, list[Shape]] = field(default_factory=dict, repr=False)
    limits: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    efforts: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    pushes: list[str] = field(default_factory=list, repr=False)
    machine_tables: dict[str, Any] = field(default_factory=dict, repr=False)

    sides = ("_l", "_r")
    """The suffixes of left and right."""

    mirror: ClassVar[Callable[..., None]]
    """`mirror(side)` adds the other side, see `strut.mechanism.mirror.add_mirror_image`. The room's
    `__init__` attaches it: what makes the image reads mechanisms, and so cannot be read here."""

    def __post_init__(self) -> None:
        check_name(self.name, "mechanism")
        if self.g is None:
            self.g = Param("g", 9.81, "m/s^2", description="gravity")
        self.gravity = self._number(self.g, "gravity")
        zero = ca.SX(0)
        self.world = Body("world", zero, ca.SX.zeros(3), ca.SX.zeros(3, 3))
        self.bodies["world"] = self.world

    def _repr_html_(self) -> str:
        """In a notebook."""
        tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
            "bodies": (
                ("name", "mass [kg]"),
                [(b.name, b.mass) for b in self.bodies.values() if b is not self.world],
            ),
            "joints": (
                ("name", "kind", "between", "and"),
                [(c.name, c.joint.kind, c.parent.name, c.child.name) for c in self.connections.values()],
            ),
            "frames": (("name", "on"), [(f.name, f.body.name) for f in self.frames.values()]),
            "constraints": (("name", "kind"), [(c.name, c.kind) for c in self.constraints.values()]),
            "parameters": (
                ("name", "value", "unit"),
                [(p.name, f"{float(p.value[0]):g}", p.unit) for p in self.params.values()],
            ),
        }
        return card(f"Mechanism {self.name}", "in the plane" if self.planar else "in space", tables)

    @checked
    def body(
        self,
        name: str,
        mass: Expression = 0.0,
        com: Expression = (0, 0, 0),
        inertia: Expression = 0.0,
        *,
        forgiving: bool = False,
        source: str = "",
    ) -> Body:
        """A body. `inertia` is about the centre of mass: one number (about y in a plane, about all axes in
        space), three (xx, yy, zz), six (xx, xy, xz, yy, yz, zz), or a 3 x 3 matrix [kg m^2]. A moment of
        inertia that is negative, or exceeds the sum of the other two, is refused; `forgiving` only warns, for
        files of others, and names `source`."""
        self._new(name, self.bodies, "body")
        mass_ = self._number(mass, f"the mass of body '{name}'")
        new_body = Body(
            name,
            mass_,
            self._vector(com, f"the centre of mass of body '{name}'"),
            self._inertia(name, inertia),
        )
        check.body(new_body, self.planar, forgiving, source)
        self._own_params.bound(mass, 0.0)
        self.bodies[name] = new_body
        return new_body

    @checked
    def joint(  # noqa: PLR0913 what a user says of a joint, options by keyword
        self,
        name: str,
        parent: Body,
        child: Body,
        joint: Joint,
        at: Expression = (0, 0, 0),
        *,
        rotation: ca.SX | None = None,
        spring: Expression | None = None,
        rest: Expression = 0.0,
        damping: Expression | None = None,
        armature: Expression | None = None,
        stop: Stop | None = None,
        limits: tuple[float, float] | None = None,
        effort: float | tuple[float, float] | None = None,
        actuated: bool = True,
        initial: Any = None,
        rate: Any = None,
    ) -> Connection:
        """Connect `child` to `parent`; the joint sits `at` a place of the parent, turned by `rotation`.

        spring [N m/rad or N/m] about `rest`, damping [N m s/rad or N s/m], armature [kg m^2 or kg] (the
        reflected inertia of a motor), and `stop` act along the joint's velocities. limits [rad or m]: the
        range of a joint with one coordinate that plans keep (`optimal`); a run is held back by a `stop` only.
        effort [N m or N]: what its motor gives at most either way, or (low, high); plans keep it, too.
        `initial` and `rate` are where a run begins. An actuated joint has an input; give actuated=False for
        one that nothing drives.
        """
        self._new(name, self.connections, "joint")
        where = f"joint '{name}'"
        self._check_connection(name, parent, child)
        joint, stop = check.joint_type(joint, where), check.soft_stop(stop, where)
        X_PJ = Pose(
            self._rotation(rotation, f"the rotation of {where}"), self._vector(at, f"the place of {where}")
        )
        # what acts along the joint's velocities must find some, and a spring a coordinate that it stretches
        elements = {
            what: None if e is None else self._number(e, f"the {what} of {where}", low=low)
            for e, what, low in (
                (spring, "spring", None),
                (damping, "damping", 0.0),
                (armature, "armature", 0.0),
            )
        }
        if any(e is not None for e in elements.values()) and not joint.nv:
            raise ModelError(f"{where} is fixed: a spring, damper or armature has nothing to act on")
        if (spring is not None or stop is not None) and joint.rate is not None:
            raise ModelError(
                f"{where} is {joint.kind}: a joint spring or stop needs coordinates whose rates are the "
                f"velocities"
            )
        for key, low in (("low", None), ("high", None), ("stiffness", 0.0), ("damping", 0.0)) if stop else ():
            self._number(getattr(stop, key), f"{key} of the stop of {where}", low=low, infinite=low is None)
        for value, what in zip(joint.gear[1:] if joint.gear else (), ("ratio", "offset"), strict=False):
            self._number(value, f"the {what} of {where}")
        # parameters inside of the joint's own expressions: a pitch, lengths in a transform of the user's
        q = ca.SX.sym("q", joint.nq)
        X = joint.pose(q)
        self._own_params.add(joint.S(q), X.R, X.p)
        start, speed = self._initial_values(joint, initial, rate, where)
        connection = Connection(
            name=name,
            parent=parent,
            child=child,
            joint=joint,
            X_PJ=X_PJ,
            rest=self._number(rest, f"the rest of {where}"),
            stop=stop,
            actuated=actuated and joint.gear is None,
            initial=start,
            initial_rate=speed,
            **elements,
        )
        if limits is not None:
            self.limits[name] = check.joint_limits(joint, limits, where)
        if effort is not None:
            self.efforts[name] = check.joint_effort(joint, effort, where)
        self.connections[name] = connection
        return connection

    def _initial_values(
        self, joint: Joint, initial: Any, rate: Any, where: str
    ) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Coordinates and velocities with which a joint begins: as many as it has, finite, with a pose."""
        start = list(neutral(joint)) if initial is None else _items(initial)
        speed = [0.0] * joint.nv if rate is None else _items(rate)
        for value in (*start, *speed):
            self._number(value, f"an initial value of {where}")
        if len(start) != joint.nq or len(speed) != joint.nv:
            raise ModelError(
                f"{where} begins at {initial}, {rate}: {joint.nq} and {joint.nv} numbers are needed"
            )
        check.joint_at_start(joint, start, where)
        return tuple(start), tuple(speed)

    def _check_connection(self, name: str, parent: Body, child: Body) -> None:
        """Raise an error unless both are bodies of this mechanism, and the child hangs on nothing else."""
        for body in (parent, child):
            self._check_body(body, f"joint '{name}'")
            if self.bodies.get(body.name) is not body:
                raise UnknownNameError(
                    f"joint '{name}' connects '{body.name}', which is no body of '{self.name}': "
                    f"{did_you_mean(body.name, list(self.bodies))}"
                )
        if child is self.world:
            raise ModelError(
                f"joint '{name}' has the world as child: the world moves nothing, swap parent and child"
            )
        for other in self.connections.values():
            if other.child is child:
                raise ModelError(
                    f"joint '{name}' gives body '{child.name}' a second parent, after '{other.name}': "
                    "close loops with a constraint, not with a joint"
                )

    def _check_body(self, body: Any, where: str) -> None:
        """Raise ModelError unless this is a body rather than its name."""
        if isinstance(body, Body):
            return
        if body == "world":
            hint = "give the body itself, m.world"
        elif isinstance(body, str) and body in self.bodies:
            hint = f"give the body itself, what m.body('{body}', ...) returned, or m.bodies['{body}']"
        else:
            hint = f"give what m.body(...) returned; {did_you_mean(str(body), list(self.bodies))}"
        raise ModelError(f"{where} of mechanism '{self.name}' is given {body!r} for a body: {hint}")

    @checked
    def frame(
        self, name: str, body: Body, position: Expression = (0, 0, 0), rotation: ca.SX | None = None
    ) -> Frame:
        """Name a place on a body, `position` [m] from its origin, turned by `rotation`."""
        self._new(name, self.frames, "frame")
        self._check_body(body, f"frame '{name}'")
        X_BF = Pose(
            self._rotation(rotation, f"the rotation of frame '{name}'"),
            self._vector(position, f"the place of frame '{name}'"),
        )
        new_frame = Frame(name, body, X_BF)
        self.frames[name] = new_frame
        return new_frame

    @checked
    def constrain(self, constraint: Constraint) -> Constraint:
        """Add a constraint, see `strut.mechanism.constraints`: a closed loop, a gear, a prescribed motion, a
        skate."""
        self._new(constraint.name, self.constraints, "constraint")
        for key in ("ratio", "offset", "radius", "motion"):
            if key in constraint.arguments:
                low = 0.0 if key == "radius" else None
                self._own_params.add_number(
                    constraint.arguments[key], f"the {key} of constraint '{constraint.name}'", low=low
                )
        self.constraints[constraint.name] = constraint
        return constraint

    @checked
    def force(self, force: Force) -> Force:
        """Add a force, see `strut.mechanism.forces`: a spring along a length, dry friction in a joint, a
        weight taken off."""
        self._new(force.name, self.forces, "force")
        self.forces[force.name] = force
        return force

    @checked
    def push(self, frame: str) -> None:
        """Let forces from outside act at a frame, at the origin of a body, or at the centre of mass of
        everything that moves ("com", shared by all bodies in proportion to their masses): systems then have
        inputs FRAME_push_x, FRAME_push_y (not in a plane) and FRAME_push_z along the world's axes [N]."""
        places = [name for name in (*self.frames, *self.bodies, COM) if name != "world"]
        if frame not in places:
            raise UnknownNameError(
                f"mechanism '{self.name}' has no frame or body '{frame}' to push: "
                f"{did_you_mean(frame, places)}"
            )
        if frame not in self.pushes:
            self.pushes.append(frame)

    @checked
    def shape(self, body: Body, *shapes: Shape) -> None:
        """How a body looks, see `strut.mechanism.shapes`; sizes may be parameters. The motion does not depend
        on it."""
        self._check_body(body, "a shape")
        if self.bodies.get(body.name) is not body:
            raise UnknownNameError(
                f"a shape is given to '{body.name}', which is no body of '{self.name}': "
                f"{did_you_mean(body.name, list(self.bodies))}"
            )
        for shape in shapes:
            if (turned := getattr(shape, "rotation", None)) is not None:
                check.rotation(turned, f"the rotation of a shape of body '{body.name}'")
        own_shapes = [
            shape.map_numbers(lambda e: self._take(e, f"a shape of body '{body.name}'")) for shape in shapes
        ]
        self.shapes.setdefault(body.name, []).extend(own_shapes)

    @checked
    def values(self, expression: Expression, p: Mapping[str, Any] | None = None) -> np.ndarray:
        """Evaluate an expression of parameters: with the parameters' own values, or those in `p`."""
        params = list(self.params.values())
        numbers = [np.broadcast_to(q.check((p or {}).get(q.name, q.value)), (q.size,)) for q in params]
        f = ca.Function("values", [ca.vertcat(*[q.sym for q in params], ca.SX(0, 1))], [sx(expression)])
        return np.array(f(np.concatenate([*numbers, np.empty(0)])))

    # ---- symbols ----

    def _take(self, value: Expression, where: str) -> ca.SX:
        """`value` as an expression, with the parameters in it noted; its numbers must be finite."""
        column = sx(value)
        check.finite(column, where)
        return self._check_symbols(value, column, where)

    def _number(
        self, value: Expression, where: str, low: float | None = None, infinite: bool = False
    ) -> ca.SX:
        """One number of the mechanism, at least `low`, as an expression with the parameters in it noted."""
        check.number(value, where, low, infinite=infinite)
        column = self._check_symbols(value, sx(value), where)
        self._own_params.bound(value, low)
        return column

    def _check_symbols(self, value: Expression, column: ca.SX, where: str) -> ca.SX:
        """The column, once it is known to be made of parameters alone, which are noted."""
        if isinstance(value, Param):
            self._own_params.add_param(value)
        for symbol in ca.symvar(column):
            owner = known_symbol(symbol)
            if not isinstance(owner, Param):
                kind = "unknown" if owner is None else a(owner.kind)
                raise ModelError(
                    f"{where} of mechanism '{self.name}' uses '{symbol.name()}', which is {kind}: "
                    "a mechanism is made of numbers and Params; "
                    "keep the Param in a variable while you use it"
                )
            self._own_params.add_param(owner)
        return column

    @checked
    def add_parameters(self, *expressions: Expression) -> None:
        """Make the parameters in expressions parameters of this mechanism, also where nothing else uses them.
        Expressions may use other symbols too."""
        self._own_params.add(*expressions)

    def parameter_set(self) -> ParameterSet:
        """A copy of the parameters, to which whoever makes a system of the mechanism adds more; the mechanism
        keeps its own."""
        return ParameterSet(dict(self.params))

    @property
    def _own_params(self) -> ParameterSet:
        """`params`, to add to."""
        return ParameterSet(self.params)

    def _vector(self, value: Expression, where: str) -> ca.SX:
        """Three numbers as a column, with the parameters in them noted."""
        items = list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
        if len(items) == 3:
            return ca.vertcat(*[self._take(item, where) for item in items])
        return self._take(vector(value, where), where)

    def _rotation(self, value: Expression, what: str) -> ca.SX:
        """A rotation as a 3 x 3 expression: none is the identity."""
        if value is None:
            return Pose.identity().R
        rows = list(value) if isinstance(value, (list, tuple, np.ndarray)) else None
        nested = rows is not None and all(isinstance(row, (list, tuple, np.ndarray)) for row in rows)
        matrix = (
            ca.vertcat(*[ca.horzcat(*[sx(e) for e in row]) for row in rows]) if rows and nested else sx(value)
        )
        if matrix.shape != (3, 3):
            raise ModelError(f"{what} has shape {matrix.shape}: a 3 x 3 matrix is needed")
        check.rotation(matrix, what)
        return self._take(matrix, what)

    def _inertia(self, name: str, value: Expression) -> ca.SX:
        """An inertia in any of its forms as a 3 x 3 expression."""
        where = f"the inertia of body '{name}'"
        matrix = value if isinstance(value, ca.SX) and value.shape == (3, 3) else None
        rows = (list, tuple, np.ndarray)
        if (
            isinstance(value, rows)
            and len(value) == 3
            and all(isinstance(row, rows) and len(row) == 3 for row in value)
        ):
            matrix = ca.vertcat(*[ca.horzcat(*[self._take(entry, where) for entry in row]) for row in value])
        if matrix is not None:
            return ca.densify(self._take(matrix, where))
        items = (
            [self._take(v, where) for v in value]
            if isinstance(value, (list, tuple, np.ndarray))
            else [self._take(value, where)]
        )
        zero = ca.SX(0)
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        for k in {1: (0,), 3: (0, 1, 2), 6: (0, 3, 5)}.get(
            len(values), ()
        ):  # moments of inertia, not their products
            self._own_params.bound(values[k], 0.0)
        if len(items) == 1:
            xx, xy, xz, yy, yz, zz = (
                (zero, zero, zero, items[0], zero, zero)
                if self.planar
                else (items[0], zero, zero, items[0], zero, items[0])
            )
        elif len(items) == 3:
            xx, xy, xz, yy, yz, zz = items[0], zero, zero, items[1], zero, items[2]
        elif len(items) == 6:
            xx, xy, xz, yy, yz, zz = items
        else:
            raise ModelError(
                f"{where} has {len(items)} numbers: give 1, 3 (xx, yy, zz), 6 (xx, xy, xz, yy, yz, zz) or a "
                f"3 x 3 matrix"
            )
        return ca.vertcat(ca.horzcat(xx, xy, xz), ca.horzcat(xy, yy, yz), ca.horzcat(xz, yz, zz))

    def _new(self, name: str, taken: dict[str, Any], what: str) -> None:
        """Raise ModelError unless a name is valid and not taken."""
        check_name(name, what)
        if name in taken:
            raise ModelError(
                f"mechanism '{self.name}' has a {what} '{name}' already: give this one another name"
            )


def _items(value: Any) -> list[Any]:
    """One number or expression, or several, as a list."""
    return list(value) if isinstance(value, (list, tuple, np.ndarray)) else [value]
