"""Robots that others described, where their packages are installed.

`humanoid` is that of `example-robot-data` (`pip install '.[robots]'`). `python -m bench.robots` counts, for
each package that is installed, how many URDF and MJCF files load and move as with Pinocchio and MuJoCo, and
why others are refused; `--load-only` compares nothing.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
import sys
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from bench.agreement import AGREED, worst_against_mujoco, worst_against_pinocchio
from strut.errors import StrutError
from strut.mechanism import mjcf, urdf

PACKAGE = "example-robot-data"
HUMANOID = "simple_humanoid.urdf"
MISSING = "needs example-robot-data (446 MB): pip install '.[robots]'"

PACKAGES = {
    ".urdf": ("example-robot-data", "pybullet", "robosuite", "mujoco-core"),
    ".xml": (
        *("metaworld", "dm_control", "robosuite", "gymnasium-robotics", "gymnasium"),
        *("pybullet", "myosuite", "myo_sim", "mujoco-core"),
    ),
}
"""Where robots come from: URDF, which Pinocchio reads too, and MJCF, which MuJoCo reads."""


def humanoid() -> str | None:
    """URDF of a humanoid with 29 hinges and a free base, which all readers understand alike: the base hangs
    on a link 'world' by a floating joint; shapes, which no equation of motion needs, are left out. None where
    it is not installed."""
    path = find_installed(HUMANOID)
    if path is None:
        return None
    robot = ElementTree.fromstring(path.read_text())
    for link in robot.findall("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    children = {str(element.get("link")) for element in robot.findall("joint/child")}
    root = next(str(link.get("name")) for link in robot.findall("link") if link.get("name") not in children)
    ElementTree.SubElement(robot, "link", name="world")
    base = ElementTree.SubElement(robot, "joint", name="base", type="floating")
    for tag, link_name in (("parent", "world"), ("child", root)):
        ElementTree.SubElement(base, tag, link=link_name)
    return ElementTree.tostring(robot, encoding="unicode")


def find_installed(name: str) -> Path | None:
    """A file of the package, found without importing it."""
    return next((Path(str(file.locate())) for file in package_files(PACKAGE) if file.name == name), None)


# ---- a census of what can be read ----


@dataclass
class Census:
    """Of one package and format: how many files the peer reads, how many of them load here, how many of those
    agree."""

    peer: int = 0
    loaded: int = 0
    agreed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    different: list[str] = field(default_factory=list)


def files_of(package: str, ending: str) -> list[Path]:
    """Files of an installed package with this ending; none where it is not installed."""
    return sorted({Path(str(file.locate())) for file in package_files(package) if file.name.endswith(ending)})


@functools.cache
def package_files(package: str) -> list[importlib.metadata.PackagePath]:
    try:
        return list(importlib.metadata.files(package) or ())
    except importlib.metadata.PackageNotFoundError:
        return []


def count_robots(package: str, ending: str, compare: bool = True) -> Census:
    """Read every robot of a package that its peer reads, and compare."""
    census = Census()
    for path in files_of(package, ending):
        if not path.is_file() or (ending == ".xml" and not _is_model(path)) or not _peer_reads(path):
            continue
        census.peer += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                robot = urdf.load(path) if ending == ".urdf" else mjcf.load(path, roots=_roots())
            except StrutError as error:
                census.refused[_reason(str(error), path)] += 1
                continue
        census.loaded += 1
        if not compare:
            continue
        if ending == ".xml" and robot.forces:  # MuJoCo counts dry friction among constraints
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                robot = mjcf.load(path, roots=_roots(), ignore=["frictionloss"])
        try:
            what, worst = (worst_against_pinocchio if ending == ".urdf" else worst_against_mujoco)(
                robot, path
            )
        except NotImplementedError as error:
            what, worst = str(error), np.inf
        census.agreed += worst < AGREED
        if not worst < AGREED:
            census.different.append(f"{path.name}: {what} {worst:.1e}")
    return census


def _is_model(path: Path) -> bool:
    """An MJCF file by itself, not one to be included."""
    text = path.read_bytes()
    return b"<mujoco" in text and b"<mujocoinclude" not in text


def _peer_reads(path: Path) -> bool:
    try:
        if path.suffix == ".urdf":
            import pinocchio

            pinocchio.buildModelFromUrdf(str(path))
        else:
            import mujoco

            mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        return False
    return True


@functools.cache
def _roots() -> list[Path]:
    """The folders of all packages, which may all be read: some use the files of others."""
    robot: set[Path] = set()
    for package in {name for names in PACKAGES.values() for name in names}:
        files = [
            file
            for file in (package_files(package))
            if len(file.parts) > 1 and not file.parts[0].endswith((".dist-info", ".data", ".."))
        ]
        robot |= {Path(str(file.locate())).parents[len(file.parts) - 2] for file in files}
    return sorted(folder for folder in robot if folder.is_dir())


def _reason(message: str, path: Path) -> str:
    """A message without names and numbers, so that like ones are counted together."""
    return re.sub(r"'[^']*'|-?\d[\d.e+-]*", "*", message.replace(str(path), "").lstrip(": ").split(": ")[0])[
        :90
    ]


def main(compare: bool = True) -> None:
    """Print the census of every package that is installed."""
    for ending, packages in PACKAGES.items():
        total = Census()
        print(f"{ending:<24}{'peer reads':>12}{'loads':>8}{'agrees':>8}")
        for package in packages:
            census = count_robots(package, ending, compare)
            if not census.peer:
                print(f"  {package:<22} not installed, or has none")
                continue
            print(f"  {package:<22}{census.peer:>12}{census.loaded:>8}{census.agreed:>8}", flush=True)
            for what, count in census.refused.most_common():
                print(f"      refused {count:>4}: {what}")
            for what in census.different:
                print(f"      differs: {what}")
            total.peer, total.loaded, total.agreed = (
                total.peer + census.peer,
                total.loaded + census.loaded,
                total.agreed + census.agreed,
            )
        print(f"  {'all':<22}{total.peer:>12}{total.loaded:>8}{total.agreed:>8}")


if __name__ == "__main__":
    main(compare="--load-only" not in sys.argv)
