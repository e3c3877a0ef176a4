"""Walkers in model files: a table [contact] beside bodies and joints says what touches the ground, and how.

    [contact]
    kind = "rigid"                                  # or "compliant", "stepping"
    feet = ["foot_l", "foot_r"]                     # frames
    radius = 0.1                                    # [m] of round feet; points without it
    slope = "deg(2)"                                # the ground falls towards +x; level without it
    friction = 0.7                                  # holds without limit unless given
    restitution = 0.0                               # of rigid ground; plastic landings without it
    fall = { frame = "torso", height = 0.4 }        # ends a run; of a machine that is stepping a height [m]
    arm.foot_l = { ahead_of = "foot_r", margin = 0.05 }   # of rigid ground: a foot of a stiff leg passes
                                                    # through it until it is so far [m] ahead of a frame

On compliant ground the law and, if there is friction, its law are tables: law = { kind = "hunt_crossley",
stiffness = 1e5 }, friction = { kind = "coulomb", mu = 0.8 }; events = false leaves events out. A
machine that is stepping says base, stance, swing, hip, fall, and where needed swap, margin, drives and
locks, as `contact.Legs` does. The ground's slope becomes a parameter, so that a command line can change it.
Left and right are exchanged in every other step where the file mirrors a side (mirror = true) or says
symmetry = true.

Tables of [drives] put springs and motors to the joints, see `strut.contact.drive_tables`; those of [servos]
make them follow references, see `strut.contact.servo_tables`; those of [sensors] and [watchers] read the
machine and watch over it, see `strut.contact.sensor_tables`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import casadi as ca

from strut.checks import checked
from strut.contact.compliant import compliant
from strut.contact.drive_tables import with_drives
from strut.contact.exchange import AUTOMATIC
from strut.contact.fall import Fall
from strut.contact.ground import Ground, plane
from strut.contact.laws import anchored, coulomb, cubic, geyer, hertz, hunt_crossley, linear, viscous
from strut.contact.legs import Between, Legs, Lock
from strut.contact.rigid import ahead_of, rigid
from strut.contact.sensor_tables import with_sensors
from strut.contact.servo_tables import with_servos
from strut.contact.stepping import stepping
from strut.contact.touch import Touch, arc
from strut.contact.uneven import uneven
from strut.errors import ModelError
from strut.mechanism.assemble import system as assemble
from strut.mechanism.io.machine_tables import MACHINE_TABLES
from strut.mechanism.io.modelfile import load_with_tables, parse_with_tables, place_errors
from strut.mechanism.io.toml import TomlTable
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.tree import Tree
from strut.system import Param, System

LAWS: Mapping[str, Callable[..., Any]] = {
    law.__name__: law for law in (linear, hunt_crossley, hertz, cubic, geyer)
}
"""Laws of the normal force on compliant ground, by the name that a file gives."""
FRICTIONS: Mapping[str, Callable[..., Any]] = {law.__name__: law for law in (anchored, viscous, coulomb)}
"""Laws of friction on compliant ground, by the name that a file gives."""
MAX_SLOPE = 1.5
"""[rad] The steepest slope that the parameter of a file's ground takes."""


@checked
def load(path: str | Path) -> System:
    """Read a machine from a model file as a system: the mechanism, on the ground that its table [contact]
    describes, with its drives, servos, sensors and watchers. Raises `ModelError` where there is none of
    these, or something in them is wrong."""
    robot, top = load_with_tables(path)
    return _walker(robot, top)


@checked
def parse(text: str, where: str = "model file", name: str = "mechanism") -> System:
    """Read a machine from the text of a model file; `where` names it in messages. See `load`."""
    robot, top = parse_with_tables(text, where, name)
    return _walker(robot, top)


@checked
def has_ground(path: str | Path) -> bool:
    """Return whether a model file says what touches the ground, how its joints are driven, what they follow,
    or what is read of it."""
    tables = load_with_tables(path)[1].data
    return any(name in tables for name in MACHINE_TABLES)


def _walker(robot: Mechanism, top: TomlTable) -> System:
    """The mechanism on the ground, and with the drives and servos, that a file describes."""
    table = top.table("contact")
    if not any(name in top.data for name in MACHINE_TABLES):
        raise ModelError(
            f"{top.where} does not say what touches the ground: give it a table [contact] with kind and "
            f"feet, or read the mechanism alone, mechanism.modelfile.load"
        )
    driven = with_drives(_on_ground(robot, top, table), top)
    return with_sensors(with_servos(driven, top), robot, top)


def _on_ground(robot: Mechanism, top: TomlTable, table: TomlTable | None) -> System:
    """The mechanism on the ground that a table describes; falling freely without one."""
    if table is None:
        return assemble(robot)
    with place_errors(table):
        make = _MAKERS[table.choice("kind", list(_MAKERS))]
        ground = _ground(table)
        system = make(robot, table, ground, bool(top.data.get("mirror", False)))
        table.refuse_unknown_keys()
    return system


def _ground(table: TomlTable) -> Ground:
    """A plane whose slope is a parameter, unless the file has an expression for it."""
    slope = table.number("slope", 0.0)
    if not isinstance(slope, float):
        return plane(slope)
    if "slope" in table.names:
        raise table.error(
            "there is a parameter 'slope', and the slope of the ground is another number: write slope = "
            '"slope", or give the parameter another name',
            "slope",
        )
    if abs(slope) > MAX_SLOPE:
        raise table.error(
            f'slope is {slope:g} rad, which is {math.degrees(slope):.4g} degrees: write "deg({slope:g})" '
            f"where degrees are meant",
            "slope",
        )
    return plane(Param("slope", slope, "rad", (-MAX_SLOPE, MAX_SLOPE), "of the ground, falling towards +x"))


def _fall(robot: Mechanism, table: TomlTable) -> Fall:
    """What comes down when the machine falls, and how low."""
    fall = table.table("fall")
    if fall is None:
        return None
    ends = (fall.choice("frame", [*robot.frames, *robot.bodies]), fall.number("height"))
    fall.refuse_unknown_keys()
    return ends


def _rigid(robot: Mechanism, table: TomlTable, ground: Ground, mirrored: bool) -> System:
    return rigid(
        robot,
        _feet(table, robot),
        uneven(ground) if table.flag("uneven", False) else ground,
        friction=table.number("friction", None),
        restitution=table.number("restitution", 0.0),
        arm=_arm(robot, table),
        fall=_fall(robot, table),
        symmetry=AUTOMATIC if table.flag("symmetry", mirrored) else None,
    )


def _arm(robot: Mechanism, table: TomlTable) -> dict[str, Callable[[Tree], ca.SX]]:
    """How far feet must have come before they can land, by foot."""
    arm = table.table("arm")
    if arm is None:
        return {}
    conditions: dict[str, Callable[[Tree], ca.SX]] = {}
    for foot in table.words("feet"):
        condition = arm.table(foot)
        if condition is not None:
            frame = condition.choice("ahead_of", list(robot.frames))
            conditions[foot] = ahead_of(foot, frame, condition.number("margin", 0.0))
            condition.refuse_unknown_keys()
    arm.refuse_unknown_keys()
    return conditions


def _compliant(robot: Mechanism, table: TomlTable, ground: Ground, mirrored: bool) -> System:
    law, friction = table.table("law"), table.table("friction")
    if law is None:
        raise table.error(f"compliant ground needs its law, law = {{ kind = {next(iter(LAWS))!r}, ... }}")
    return compliant(
        robot,
        _feet(table, robot),
        ground,
        law=_law(law, LAWS),
        friction=None if friction is None else _law(friction, FRICTIONS),
        events=table.flag("events", True),
        fall=_fall(robot, table),
        symmetry=AUTOMATIC if table.flag("symmetry", mirrored) else None,
    )


def _stepping(robot: Mechanism, table: TomlTable, ground: Ground, _mirrored: bool) -> System:
    swap = table.take("swap", AUTOMATIC)
    drives = [
        Between(
            name=each.word("name"),
            weights=each.take("weights"),
            spring=each.number("spring", 0.0),
            damping=each.number("damping", 0.0),
            rest=each.number("rest", 0.0),
            driven=each.flag("driven", True),
        )
        for each in table.list_of_tables("drives")
    ]
    locks = [
        Lock(each.word("name"), each.word("upper"), each.word("lower"))
        for each in table.list_of_tables("locks")
    ]
    legs = Legs(
        base=tuple(table.words("base")),
        stance=_foot(table, robot, table.choice("stance", list(robot.frames))),
        swing=_foot(table, robot, table.choice("swing", list(robot.frames))),
        swap=swap,
        hip=table.choice("hip", [*robot.frames, *robot.bodies]),
        fall=table.number("fall"),
        drives=drives,
        locks=locks,
        margin=table.number("margin", 0.0),
    )
    return stepping(robot, legs, ground)


def _feet(table: TomlTable, robot: Mechanism) -> list[str | Touch]:
    """The feet that a table names, frames of the robot: points, or round ones of its radius."""
    names = table.words("feet")
    if not names:
        raise table.error(
            'feet are missing: give the frames that touch the ground, feet = ["foot_l", "foot_r"]'
        )
    return [_foot(table, robot, name) for name in names]


def _foot(table: TomlTable, robot: Mechanism, frame: str) -> str | Touch:
    """One foot."""
    if frame not in robot.frames:
        names = ", ".join(robot.frames) or "there is none"
        raise table.error(
            f"'{frame}' is to touch the ground, and is no frame: {names}",
            "feet",
            frame,
        )
    radius = table.number("radius", None)
    return frame if radius is None else arc(frame, radius)


def _law(table: TomlTable, laws: Mapping[str, Callable[..., Any]]) -> Any:
    """A law of contact: its arguments are those of the function that makes it."""
    make = laws[table.choice("kind", list(laws))]
    arguments: dict[str, Any] = {}
    for key, parameter in inspect.signature(make).parameters.items():
        if key in table.data:
            arguments[key] = table.number(key)
        elif parameter.default is inspect.Parameter.empty:
            raise table.error(f"{make.__name__} needs {key}")
    table.known += [key for key in inspect.signature(make).parameters if key not in table.known]
    table.refuse_unknown_keys()
    return make(**arguments)


_MAKERS = {"rigid": _rigid, "compliant": _compliant, "stepping": _stepping}

__all__ = ["has_ground", "load", "parse"]
