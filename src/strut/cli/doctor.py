"""`strut doctor`: what was found on this machine, and what that means."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import typer

from strut.cli.answer import present
from strut.cli.tables import table
from strut.codegen import (
    cache_directory,
    check_private_directory,
    compiler,
    find_wasm_compiler,
    make_private,
    read_prebuilt_list,
)
from strut.errors import CompileError
from strut.extras import EXTRAS
from strut.version import VERSION


def _says(*command: str) -> str:
    """Run a program and return the first line that it prints about itself."""
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "found, but does not run"
    lines = (process.stdout or process.stderr).strip().splitlines()
    return lines[0] if lines else "found, but says nothing"


def _compiler_words(command: tuple[str, ...]) -> str:
    """What a compiler says of itself; of zig also where it comes from."""
    if command[1:2] == ("cc",):
        return f"zig {_says(command[0], 'version')}, of the package ziglang"
    return _says(*command, "--version")


def _prebuilt_words() -> tuple[str, bool, str]:
    """For how many ready-made machines the modules that came with the package fit, whether that is well, and
    what to do where they do not."""
    prebuilt = read_prebuilt_list()
    if prebuilt is None:
        return "of no machine: no modules came with this package (optional)", True, ""
    fitting, all_of_them = len(prebuilt.fitting), len(prebuilt.machines)
    if fitting == all_of_them:
        return f"of {fitting} ready-made machines: their modules came with this package", True, ""
    version = importlib.metadata.version("casadi")
    if prebuilt.casadi != version:
        words = (
            f"of no machine: the modules that came are for casadi {prebuilt.casadi}, and this is {version}"
        )
        return words, True, f"optional: pip install casadi=={prebuilt.casadi}, or a compiler for WebAssembly"
    words = (
        f"of {fitting} of {all_of_them} ready-made machines: other modules are missing or of other sources"
    )
    return words, True, "optional: a compiler for WebAssembly, or make modules"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _cache_fault(directory: Path) -> str:
    """Return what is wrong with the cache directory, or an empty text: a file is made there, because
    permissions do not tell the whole truth."""
    try:
        make_private(directory)
        check_private_directory(directory)
        with tempfile.TemporaryFile(dir=directory):
            return ""
    except CompileError as error:
        return str(error)
    except OSError:
        return "not writable: set STRUT_CACHE"


def examine() -> list[dict[str, Any]]:
    """Look at compiler, cores, cache, packages and GPU; return a row for each: `what`, `found`, `ok`, and a
    `remedy` where something is not well."""
    rows: list[dict[str, Any]] = []

    def row(what: str, version: str, ok: bool = True, remedy: str = "") -> None:
        rows.append({"what": what, "found": version, "ok": ok, "remedy": remedy})

    row("strut", VERSION)
    row("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}")
    row("cores", str(os.cpu_count()))
    try:
        cc = compiler()
        remedy = (
            "install gcc or clang, set CC, or pip install 'strut[compiler]'; until then everything runs 50 "
            "to 500 times slower"
        )
    except CompileError as error:
        cc, remedy = None, str(error)
    row("C compiler", _compiler_words(cc) if cc else "none", cc is not None, "" if cc else remedy)
    wasm = find_wasm_compiler()
    row(
        "WebAssembly compiler",
        _compiler_words(wasm.command) if wasm else "none (optional)",
        True,
        "" if wasm else "optional: install clang and lld, or pip install 'strut[compiler]'",
    )
    row("live pages without a compiler", *_prebuilt_words())
    directory = cache_directory()
    entries = list(directory.glob("*.so")) if directory.is_dir() else []
    size = sum(entry.stat().st_size for entry in entries) / 1e6
    fault = _cache_fault(directory)
    row("cache", f"{directory}, {len(entries)} compiled systems, {size:.1f} MB", not fault, fault)
    for package in ("casadi", "numpy", "h5py"):
        row(
            package,
            _version(package) or "missing",
            _version(package) is not None,
            "" if _version(package) else "reinstall strut",
        )
    for name, extra in EXTRAS.values():
        package = name.lower()
        version = _version(package)
        row(
            package,
            version or "not installed",
            True,
            "" if version else f"optional: pip install 'strut[{extra}]'",
        )
    row("nvcc", _says("nvcc", "--version").splitlines()[0] if shutil.which("nvcc") else "none (optional)")
    row("GPU", _says("nvidia-smi", "-L") if shutil.which("nvidia-smi") else "none (optional)")
    return rows


def doctor() -> None:
    """Say what was found on this machine: compiler, cores, versions, cache, GPU; and what to do where
    something is missing. Exits with 1 where something that is needed is not well.

    [bold]Examples[/bold]

      strut doctor

      strut doctor --json
    """
    rows = examine()
    present(
        {"checks": rows},
        lambda: table(
            "", ["what", "found", "what to do"], [[r["what"], r["found"], r["remedy"]] for r in rows]
        ),
    )
    if not all(r["ok"] for r in rows):
        raise typer.Exit(1)
