"""`--compile-for`: compile for the card of another machine, and say what was compiled."""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strut.cli.answer import present
from strut.cli.progress import tell_progress
from strut.cli.tables import table
from strut.errors import ModelError, ValueRangeError

if TYPE_CHECKING:
    from strut.studies.study import CompilableEvaluation

BYTES_PER_MEGABYTE = 1e6
"""As files are counted."""


def check_compile_for(capability: str, device: str) -> None:
    """Refuse what names no card, and a command that runs on none. Raises `DeviceError` or
    `ValueRangeError`."""
    from strut.codegen import read_capability

    if device == "cpu":
        raise ValueRangeError(
            f"--compile-for {capability} is of a graphics card: say --device cuda as well, or leave it out"
        )
    read_capability(capability)


def compile_ahead(name: str, evaluations: Sequence[CompilableEvaluation | Any], capability: str) -> None:
    """Compile what evaluations run on a card, and tell the files. name: of what is compiled. Raises
    `ModelError` for an evaluation that no card runs."""
    began, files = clock.perf_counter(), list[Path]()
    for evaluation in evaluations:
        if not hasattr(evaluation, "compile_for"):
            raise ModelError(f"'{name}' is no run of a machine: --compile-for is of those alone")
        tell_progress(f"compiling {name} for cards of {capability}")
        files += evaluation.compile_for(capability)
    sizes = {path: path.stat().st_size / BYTES_PER_MEGABYTE for path in dict.fromkeys(files)}
    seconds = clock.perf_counter() - began
    data = {
        "name": name,
        "card": capability,
        "files": [str(path) for path in sizes],
        "megabytes": sum(sizes.values()),
        "seconds": seconds,
    }
    title = f"{name} for cards of {capability}, in {seconds:.3g} s"
    rows = [[str(path.parent), path.name, f"{size:.2f}"] for path, size in sizes.items()]
    present(data, lambda: table(title, ["cache", "file", "size [MB]"], rows))


__all__ = ["check_compile_for", "compile_ahead"]
