"""A model file whose bodies and joints are those of a robot of others: model = "robot.urdf".

    model = "robot.urdf"               # beside the file; or .xml, MuJoCo's
    base = "planar"                    # of a URDF: how its root link hangs on the world, 'free' unless said
    planar = true                      # in the x-z plane
    actuated = ["hip_l", "knee_l"]     # of a URDF: the joints with a motor; all of them unless said

    [initial]                          # where a run begins: coordinates of joints
    base = [0, 0.78, 0.05]
    hip_l = -0.35

Bodies, joints, frames, constraints and [contact] of the file are added to these.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from strut.confine import resolve_inside
from strut.errors import did_you_mean
from strut.mechanism.io import mjcf, urdf
from strut.mechanism.io.toml import TomlTable
from strut.mechanism.mechanism import Mechanism

SUFFIXES = (".urdf", ".xml")
"""Endings of files of others that a model file may begin with."""


def load_model_of_others(top: TomlTable, folder: Path | None) -> Mechanism:
    """Read the mechanism that a model file begins with, out of its folder. folder: of the model file; None of
    a text that is in none."""
    name = top.word("model")
    if folder is None:
        raise top.error(f"model is '{name}', a file: a text is in no folder; read it from a file", "model")
    if not name.endswith(SUFFIXES):
        raise top.error(f"model is '{name}': a file .urdf or .xml (MJCF) is needed", "model", name)
    if "gravity" in top.data:
        raise top.error(f"gravity is given beside model: '{name}' brings its own, the parameter g", "gravity")
    path = resolve_inside(folder / name, folder, (), f"{top.where} begins with '{name}'")
    if name.endswith(".urdf"):
        motors = top.words("actuated") if "actuated" in top.data else None
        return urdf.load(path, base=top.word("base", "free"), actuated=motors)
    return mjcf.load(path)


def set_initial(m: Mechanism, top: TomlTable, *, mirrored: bool = True) -> None:
    """Let joints begin where a table [initial] says, and as fast as a table [rates] does, by name.

    mirrored: whether both sides are there. Before, joints that are not there yet are left out.
    """
    for key, place, what in (("initial", "initial", "coordinates"), ("rates", "initial_rate", "velocities")):
        table = top.table(key)
        for name in () if table is None else table.data:
            assert table is not None
            if name not in m.connections and not mirrored:
                continue
            if name not in m.connections:
                raise table.error(
                    f"'{name}' begins somewhere, and is no joint: {did_you_mean(name, list(m.connections))}",
                    name,
                )
            joint, values = m.connections[name], table.numbers(name)
            numbers = tuple(values) if isinstance(values, list) else (values,)
            count = len(getattr(joint, place))
            if len(numbers) != count:
                raise table.error(f"'{name}' begins at {len(numbers)} numbers: it has {count} {what}", name)
            m.connections[name] = (
                replace(joint, initial=numbers) if key == "initial" else replace(joint, initial_rate=numbers)
            )


__all__ = ["load_model_of_others", "set_initial"]
