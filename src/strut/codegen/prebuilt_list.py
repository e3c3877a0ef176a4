"""Modules for WebAssembly that come with a package: of which machines they are, and whether they fit here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from strut.codegen import wasm_module
from strut.codegen.backends import runtime_and_digest
from strut.codegen.runtime.layout import DEFAULTS
from strut.files import DAMAGE

LIST_NAME = "machines.json"
"""The list, beside the modules."""


@dataclass(frozen=True)
class PrebuiltList:
    """Machines whose modules came with the package, by name: all, and those whose modules fit this
    installation; and the version of CasADi that they were built with."""

    machines: tuple[str, ...]
    fitting: tuple[str, ...]
    casadi: str


def write_prebuilt_list(modules: Mapping[str, Sequence[Path]]) -> Path:
    """Write which modules are of which machine, by name, and what they were built with; return where that
    stands."""
    path = wasm_module.PREBUILT / LIST_NAME
    content = {
        "casadi": version("casadi"),
        "made_by": _maker_digest(),
        "machines": {name: [file.name for file in files] for name, files in modules.items()},
    }
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def read_prebuilt_list() -> PrebuiltList | None:
    """Return which modules came with the package; None where none did.

    A module is found by a digest of what it was made of: the machine as CasADi of one version writes it, and
    our own sources. It fits where both are those of this installation, and its file is there.
    """
    path = wasm_module.PREBUILT / LIST_NAME
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        machines, built_with, made_by = content["machines"], str(content["casadi"]), content["made_by"]
        same = built_with == version("casadi") and made_by == _maker_digest()
        there = [name for name, files in machines.items() if all((path.parent / f).is_file() for f in files)]
    except DAMAGE:
        return None
    return PrebuiltList(tuple(machines), tuple(there) if same else (), built_with)


def _maker_digest() -> str:
    """Of our sources on which the text of every module depends."""
    _, generator = runtime_and_digest(DEFAULTS.method)
    files = (*sorted(wasm_module.WASM_FILES.glob("*.h")), Path(wasm_module.__file__))
    return hashlib.sha256("\0".join([generator, *(f.read_text() for f in files)]).encode()).hexdigest()


__all__ = ["PrebuiltList", "read_prebuilt_list", "write_prebuilt_list"]
