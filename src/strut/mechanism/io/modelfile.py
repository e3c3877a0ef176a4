"""Model files: a mechanism as TOML that people write and read. Data only; expressions are arithmetic of
parameters.

    name = "leg"

    [parameters.length]
    value = 0.43
    unit = "m"
    bounds = [0.3, 0.6]

    [bodies.thigh]
    mass = 8.4
    com = [0, 0, "-0.43 * length"]
    inertia = 0.14
    shapes = [{ kind = "capsule", start = [0, 0, 0], end = [0, 0, "-length"], radius = 0.05 }]

    [joints.hip]
    type = "revolute"
    axis = "y"
    parent = "world"
    child = "thigh"
    damping = 0.1

    [frames.foot]
    body = "thigh"
    at = [0, 0, "-length"]

    pushes = ["foot"]                  # on top: where forces from outside may act

A file may begin with a robot of others, model = "robot.urdf": see `model_of_others`. A table [initial] says
where joints begin, by name, and a table [rates] how fast. Of a mirrored file both sides may be named there:
equal coordinates are a mirrored posture, and what begins with left and right apart says both.

Tables [contact], [drives], [servos], [sensors] and [watchers] are no part of the mechanism: `contact.load`
reads them, and makes a machine of all; `dump` writes them as they were read.

A parameter may be given in cm, deg, g, kN/m and the like: it is kept in SI units, and expressions see it so.
Any number may be an expression of parameters. `mirror = true` on top adds to all that ends in _l its mirror
image, which ends in _r. Rotations are [roll, pitch, yaw] about fixed axes [rad], deg(30) where degrees are
meant, or three rows of a matrix.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.errors import ModelError, StrutError
from strut.mechanism import constraints, joints
from strut.mechanism.io.machine_tables import MACHINE_TABLES, keep_tables
from strut.mechanism.io.model_of_others import load_model_of_others, set_initial
from strut.mechanism.io.modelfile_write import dump
from strut.mechanism.io.names import name_of, read
from strut.mechanism.io.toml import TomlTable, check_toml
from strut.mechanism.joint import Joint, JointArgument
from strut.mechanism.looks import shapes
from strut.mechanism.looks.shape_types import Shape
from strut.mechanism.looks.shapes import locate_meshes
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, ConstraintArgument, Stop
from strut.mechanism.spatial import rotation_of_rpy
from strut.system import Param, time
from strut.units import to_si

__all__ = ["dump", "load", "parse"]

VECTORS = ("at", "start", "end", "size", "radii")
"""Arguments of shapes that are three numbers."""


@checked
def load(path: str | Path) -> Mechanism:
    """Read a mechanism from a model file; its name is the file's unless the file says one. What
    tables [contact] and [drives] say of ground and motors is left to `contact.load`."""
    return load_with_tables(path)[0]


def load_with_tables(path: str | Path) -> tuple[Mechanism, TomlTable]:
    """Read a mechanism from a model file, and return it with the file's tables, for what else they say."""
    robot, top = parse_with_tables(read(path), str(path), name_of(Path(path).stem), Path(path).parent)
    return locate_meshes(robot, path), top


@checked
def parse(text: str, where: str = "model file", name: str = "mechanism") -> Mechanism:
    """Read a mechanism from the text of a model file; `where` names it in messages."""
    return parse_with_tables(text, where, name)[0]


def parse_with_tables(
    text: str, where: str, name: str, folder: Path | None = None
) -> tuple[Mechanism, TomlTable]:
    """Read a mechanism from the text of a model file, and return it with its tables. folder: of the file, in
    which a robot of others may be."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(check_toml(text, where, error)) from error
    except (
        RecursionError,
        ValueError,
    ) as error:  # brackets in brackets without end, or an integer of thousands of digits
        raise ModelError(
            f"{where} cannot be read: it is nested too deeply, or has a number that is too long ({error})"
        ) from error
    top = TomlTable(data, (), text, where, {})
    top.folder = folder
    with place_errors(top):
        params = {key: read_parameter(table, key) for key, table in top.tables("parameters", bare=True)}
    top.names.update(params)
    with place_errors(top):
        m = _empty_or_of_others(top, name, params, folder)
    m.add_parameters(*params.values())
    for key, table in top.tables("bodies"):
        with place_errors(table):
            _body(m, key, table)
    for key, table in top.tables("joints"):
        with place_errors(table):
            _joint(m, key, table)
    for key, table in top.tables("frames"):
        with place_errors(table):
            m.frame(key, _body_of(m, table, "body"), table.vector("at"), _rotation(table))
            table.refuse_unknown_keys()
    for key, table in top.tables("constraints"):
        with place_errors(table):
            _constraint(m, key, table)
    mirror = top.take("mirror", False)
    if mirror:
        with place_errors(top):
            set_initial(m, top, mirrored=False)  # the other side begins likewise, unless it is named, too
            m.mirror(m.sides[0] if mirror is True else str(mirror))
    with place_errors(top):
        set_initial(m, top)
    with place_errors(top):
        for frame in top.words("pushes"):
            m.push(frame)
    for outside in MACHINE_TABLES:  # of ground and motors, which a mechanism does not know
        top.table(outside)
    m.machine_tables = keep_tables(top.data)
    top.refuse_unknown_keys()
    return m, top


def _empty_or_of_others(
    top: TomlTable, name: str, params: dict[str, Param], folder: Path | None
) -> Mechanism:
    """The mechanism that a file begins with: an empty one, or a robot of others."""
    if "model" not in top.data:
        gravity = top.number("gravity", params.get("g"))
        return Mechanism(top.word("name", name), planar=top.flag("planar"), g=gravity)
    m = load_model_of_others(top, folder)
    m.name = top.word("name", name)
    m.planar = top.flag("planar")
    return m


@contextmanager
def place_errors(table: TomlTable) -> Iterator[None]:
    """Say in errors of the mechanism itself where in the file they come from."""
    try:
        yield
    except StrutError as error:
        raise error if table.where in str(error) else table.error(str(error)) from error


def read_parameter(table: TomlTable | Any, key: str) -> Param:
    """Read a parameter, a table or a bare number, into SI units."""
    if not isinstance(table, TomlTable):
        return Param(key, table)
    with place_errors(table):
        bounds = table.take("bounds", (-float("inf"), float("inf")))
        if (
            not isinstance(bounds, (list, tuple))
            or len(bounds) != 2
            or not all(type(b) in (int, float) for b in bounds)
        ):
            raise table.error("bounds are two numbers, the lowest and the highest value", "bounds")
        value = table.numbers("value")
        factor, unit = to_si(table.word("unit", ""))
        if factor != 1.0:
            value = [factor * v for v in value] if isinstance(value, list) else factor * value
            bounds = (factor * bounds[0], factor * bounds[1])
        param = Param(key, value, unit, (float(bounds[0]), float(bounds[1])), table.word("description", ""))
        table.refuse_unknown_keys()
    return param


def _body(m: Mechanism, name: str, table: TomlTable) -> None:
    """Read a table of [bodies]."""
    if name == "world":  # it is there already, and only looks
        _looks(m, m.world, table)
        return
    inertia = table.take("inertia", 0.0)
    rows = isinstance(inertia, list) and len(inertia) == 3 and all(isinstance(row, list) for row in inertia)
    body = m.body(
        name,
        table.number("mass", 0.0),
        table.vector("com"),
        table.matrix("inertia") if rows else table.numbers("inertia", 0.0),
    )
    _looks(m, body, table)


def _looks(m: Mechanism, body: Body, table: TomlTable) -> None:
    """Read the shapes of a body."""
    for shape in table.list_of_tables("shapes"):
        with place_errors(shape):
            m.shape(body, _shape(shape))
    table.refuse_unknown_keys()


def _shape(table: TomlTable) -> Shape:
    """Read one shape: its arguments are those of the function that makes it."""
    kind = table.choice("kind", list(shapes.MAKERS))
    maker = shapes.MAKERS[kind]
    arguments: dict[str, Any] = {}
    for key, parameter in inspect.signature(maker).parameters.items():
        if key not in table.data:
            if parameter.default is inspect.Parameter.empty:
                raise table.error(f"a {kind} needs {key}")
        elif key == "colour":
            arguments[key] = table.take(key, None)
        elif key == "path":
            arguments[key] = table.word(key)
        elif key == "rotation":
            arguments[key] = _rotation(table)
        elif key in VECTORS:
            arguments[key] = table.vector(key)
        else:
            arguments[key] = table.numbers(key)
    table.refuse_unknown_keys()
    return maker(**arguments)


def _joint(m: Mechanism, name: str, table: TomlTable) -> None:
    """Read a table of [joints]."""
    stop = table.table("stop")
    motion = _motion(table)
    if table.flag("mirrored"):
        motion = joints.mirror_image(motion)
    m.joint(
        name,
        _body_of(m, table, "parent"),
        _body_of(m, table, "child"),
        motion,
        table.vector("at"),
        rotation=_rotation(table),
        spring=table.number("spring", None),
        rest=table.number("rest", 0.0),
        damping=table.number("damping", None),
        armature=table.number("armature", None),
        stop=None if stop is None else _stop(stop),
        limits=table.take("limits", None),
        effort=table.take("effort", None),
        actuated=table.flag("actuated", True),
        initial=table.numbers("initial", None),
        rate=table.numbers("rate", None),
    )
    table.refuse_unknown_keys()


def _stop(table: TomlTable) -> Stop:
    """Read the soft stop of a joint."""
    stop = Stop(table.end("low"), table.end("high"), table.number("stiffness"), table.number("damping", 0.0))
    table.refuse_unknown_keys()
    return stop


def _motion(table: TomlTable) -> Joint:
    """The joint that `type` and its arguments say."""
    kind = joints.KINDS[table.choice("type", list(joints.KINDS))]
    arguments: dict[str, Any] = {}
    for key, role in kind.arguments.items():
        if key == "leader":
            arguments[key] = table.word(key)
        elif key not in table.data:
            continue
        elif role is JointArgument.JOINT:
            inner = table.table(key)
            assert inner is not None
            arguments[key] = _motion(inner)
            inner.refuse_unknown_keys()
        elif role is JointArgument.WORD:
            arguments[key] = table.word(key)
        elif role in (JointArgument.NUMBER, JointArgument.HANDED_NUMBER):
            arguments[key] = table.number(key)
        else:
            arguments[key] = table.axis(key)
    return kind.make(**arguments)


def _constraint(m: Mechanism, name: str, table: TomlTable) -> None:
    """Read a table of [constraints]."""
    word = table.choice("type", list(constraints.KINDS))
    kind = constraints.KINDS[word]
    places, moving = [*m.frames, *m.bodies], list(m.connections)
    arguments: dict[str, Any] = {}
    for key, role in kind.arguments.items():
        if role is ConstraintArgument.FRAME:
            arguments[key] = table.choice(key, places) if key != "b" or "b" in table.data else "world"
        elif role is ConstraintArgument.JOINT:
            arguments[key] = table.choice(key, moving)
        elif role is ConstraintArgument.MOTION:
            arguments[key] = table.number(key, more={"t": time})
        elif key == "radius" or key in table.data:
            arguments[key] = table.axis(key) if role is ConstraintArgument.AXIS else table.number(key)
    if word == "no_slip" and "direction" not in arguments:
        raise table.error("a no_slip constraint needs its direction")
    m.constrain(kind.make(name, **arguments))
    table.refuse_unknown_keys()


def _body_of(m: Mechanism, table: TomlTable, key: str) -> Body:
    """The body that a key names."""
    return m.bodies[table.choice(key, list(m.bodies))]


def _rotation(table: TomlTable) -> ca.SX | None:
    """Read a rotation: roll, pitch and yaw [rad], or three rows; None where there is none."""
    value = table.take("rotation", None)
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(row, list) for row in value):
        return table.matrix("rotation")
    rpy = table.vector("rotation")
    matrix = rotation_of_rpy([rpy[0], rpy[1], rpy[2]])
    return ca.densify(ca.SX(ca.DM(matrix))) if matrix.is_constant() else matrix
