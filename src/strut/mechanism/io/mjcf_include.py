"""<include> in MJCF: the elements of other files put where they are included."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from xml.etree import ElementTree

from strut.errors import ModelError
from strut.mechanism.io import names as text
from strut.mechanism.io.folders import Folders

Element = ElementTree.Element


def include_files(root: Element, folders: Folders, where: str, ignore: Collection[str] = ()) -> None:
    """Replace every <include> below `root` by the children of the file it names, in place.

    As in MuJoCo a file may be included once, and its path counts from the folder of the model; where there is
    no such file, from the folder of the file that includes it.
    """
    if "include" in ignore:
        count = sum(1 for _ in root.iter("include"))
        if count:
            files = "a file" if count == 1 else f"{count} files"
            warnings.warn(
                f"{where}: <include> of {files} is ignored, so whatever they hold is missing: bodies, "
                f"joints, masses",
                text.ReadWarning,
                stacklevel=4,
            )
        for parent in list(root.iter()):
            for child in parent.findall("include"):
                parent.remove(child)
        return
    _expand(root, None, folders, where, set())
    text.check_depth(root, where)


def _expand(parent: Element, beside: Path | None, folders: Folders, where: str, seen: set[Path]) -> None:
    """Replace the <include>s below an element; `beside` is the folder of the file it stands in."""
    for child in list(parent):
        if child.tag != "include":
            _expand(child, beside, folders, where, seen)
            continue
        name = child.get("file", "")
        path = _locate(name, beside, folders)
        if path in seen or str(path) == where:
            raise ModelError(f"{where}: '{name}' is included twice, or includes itself: include it once")
        seen.add(path)
        inner = text.xml(text.read(path), f"{where}: the included file '{name}'")
        if inner.tag not in ("mujoco", "mujocoinclude"):
            raise ModelError(
                f"{where}: the included file '{name}' is no MJCF: such a file begins with <mujoco> or "
                f"<mujocoinclude>"
            )
        _expand(inner, path.parent, folders, where, seen)
        at = list(parent).index(child)
        parent.remove(child)
        for k, element in enumerate(inner):
            parent.insert(at + k, element)


def _locate(name: str, beside: Path | None, folders: Folders) -> Path:
    """The path of an included file: from the model's folder, else from that of the file that includes it."""
    what = "what <include> asks for"
    if beside is not None and not folders.path(name, what).is_file():
        return folders.find(name, what, beside)
    return folders.find(name, what)
