"""MJCF, MuJoCo's model files: reading the part of them that describes bodies, joints, closures and passive
forces."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism.io import names as text
from strut.mechanism.io.folders import Folders
from strut.mechanism.io.mjcf_actuator import driven_joints, joint_efforts
from strut.mechanism.io.mjcf_build import MechanismBuilder
from strut.mechanism.io.mjcf_equality import Equalities, add_equalities
from strut.mechanism.io.mjcf_include import include_files
from strut.mechanism.io.mjcf_read import Reader
from strut.mechanism.io.mjcf_tendon import Tendons, tune_springs
from strut.mechanism.io.poses import IDENTITY
from strut.mechanism.mechanism import Mechanism
from strut.system import Param

KNOWN_SECTIONS = frozenset(
    [
        "compiler",
        "option",
        "default",
        "asset",
        "visual",
        "statistic",
        "size",
        "custom",
        "contact",
        "sensor",
        "actuator",
        "keyframe",
        "worldbody",
        "equality",
        "tendon",
    ]
)
"""Elements on top of a file that are read, or on which the motion of bodies does not depend."""


@checked
def load(
    path: str | Path,
    *,
    stops: bool = False,
    symbolic_masses: bool = False,
    ignore: Collection[str] = (),
    roots: Sequence[str | Path] = (),
) -> Mechanism:
    """A mechanism from an MJCF file.

    stops: ranges of hinges, slides and tendons become soft end stops.
    symbolic_masses: every mass becomes a parameter BODY_mass.
    ignore: elements and attributes to leave out knowingly, such as 'tendon' or 'fluidshape'. Without it
        whatever would change the motion and is not read is an error: flexes, plugins, springs of tendons that
            wrap around geoms.
    roots: folders that may be read besides the file's own: <include> and the files of meshes stay inside of
        them.

    Read are included files, bodies, frames, inertias (given, or from geoms and meshes), hinge, slide, ball
    and free joints, springs, dampers, armatures, dry friction (smooth about zero, see `forces.dry_friction`),
    gravcomp, springs and dampers of tendons, geoms as shapes, sites as frames, connect, weld, joint and
    tendon equalities (which are exact here), gravity, the drag of a fluid on boxes of like inertia, and the
    flags that switch these off. Actuators say which joints have an input, their laws are not read; contacts
    and sensors are left out.

    Coordinates are MuJoCo's, but for the order of quaternions (x, y, z, w) and the velocities of free joints,
    which are in the body's axes. Several joints of one body become a chain with massless bodies between them,
    named after their joints; a body without joint gets a fixed one of its own name. Where a joint is not at
    its body's origin, our body has its frame at the joint, and a frame of the body's name is where MuJoCo's
    is. A site with the name of a body is the frame NAME_site.
    """
    return _parse(
        text.read(path),
        Folders(path, roots),
        where=str(path),
        stops=stops,
        symbolic_masses=symbolic_masses,
        ignore=ignore,
    )


@checked
def parse(
    source: str,
    *,
    stops: bool = False,
    symbolic_masses: bool = False,
    ignore: Collection[str] = (),
    where: str = "MJCF",
    roots: Sequence[str | Path] = (),
) -> Mechanism:
    """A mechanism from the text of an MJCF file; see `load`. Files that it names are looked for in the first
    of `roots`."""
    return _parse(
        source,
        Folders(None, roots),
        where=where,
        stops=stops,
        symbolic_masses=symbolic_masses,
        ignore=ignore,
    )


def _parse(
    source: str,
    folders: Folders,
    *,
    where: str,
    stops: bool,
    symbolic_masses: bool,
    ignore: Collection[str],
) -> Mechanism:
    """The mechanism of a text; `folders` say which files it may name, `where` names it in messages."""
    root = text.xml(source, where)
    folders.where = where
    if root.tag != "mujoco":
        raise ModelError(f"{where} begins with <{root.tag}>: an MJCF file begins with <mujoco>")
    with text.name_file_in_errors(where):
        include_files(root, folders, where, ignore)
        reader = Reader(root, where, ignore, folders)
        for element in root:
            if element.tag in ("body", "geom", "site", "joint", "frame"):
                raise ModelError(
                    f"{where} has a <{element.tag}> outside of <worldbody>: it is a part of a model, to be "
                    f"included by another file; "
                    "load that one"
                )
            if element.tag not in KNOWN_SECTIONS:
                reader.refuse(element.tag, f"<mujoco> has <{element.tag}>")
        m = Mechanism(
            text.name_of(root.get("model", "mujoco")),
            g=Param("g", reader.options.gravity, "m/s^2", description="gravity"),
        )
        build = MechanismBuilder(m, reader, stops, symbolic_masses, driven_joints(root, reader))
        build.check_driven()
        build.contents(reader.world, m.world, IDENTITY)
        for record in reader.world.bodies:
            build.body(record, m.world, IDENTITY)
        _limit_efforts(m, joint_efforts(root, reader))
        build.warn_of_meshes()
        build.surroundings()
        tendons = Tendons(root, reader, m, build.frame_of_site, build.spring_position)
        tendons.add_forces(stops)
        if "equality" not in reader.options.off and "equality" not in ignore:
            add_equalities(root, Equalities(m, reader, build, tendons))
        tune_springs(m, build.tuned, build.start_position)
        return m


def _limit_efforts(m: Mechanism, efforts: Mapping[str, tuple[float, float]]) -> None:
    """Narrow what the motors of joints give to `efforts`, of joints with one velocity."""
    for name, (low, high) in efforts.items():
        c = m.connections.get(name)
        if c is not None and c.joint.nv == 1:
            before = m.efforts.get(name, (low, high))
            m.efforts[name] = (max(low, before[0]), min(high, before[1]))
