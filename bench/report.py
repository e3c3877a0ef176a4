"""What is shown and what is kept: a table for people, JSON with every timing and version for machines."""

from __future__ import annotations

import importlib.metadata
import json
import math
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

import strut
from bench.timing import Section
from strut.codegen.cache import FLAGS, compiler

PACKAGES = ("casadi", "numpy", "scipy", "mujoco", "scikit-sundae")


def duration(seconds: float | None) -> str:
    """Three digits and a fitting unit."""
    if seconds is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def table(results: Mapping[str, Sequence[Section]]) -> Table:
    """One table, a block for every comparison; ratios are to the first row of the block, above 1 is slower
    than it."""
    ratios = Table(title="time of each over time of the first in its block")
    for heading in ("contender", "setting", "error", "best", "median", "ratio", "note"):
        ratios.add_column(
            heading, justify="right" if heading in ("error", "best", "median", "ratio") else "left"
        )
    for section in (section for sections in results.values() for section in sections):
        ratios.add_section()
        ratios.add_row(
            f"[bold]{section.title}[/bold]",
            f"[dim]error: {escape(section.error_is)}[/dim]",
            "",
            "",
            "",
            "",
            section.remark,
        )
        for row in section.rows:
            ratios.add_row(
                f"  {row.name}",
                row.setting,
                _error(row.error),
                duration(row.best),
                duration(row.median),
                _ratio(section.ratio(row)),
                row.note,
            )
    return ratios


def _error(error: float | None) -> str:
    """Counts as they are, the rest by magnitude; an infinite one is of results of another kind."""
    if error is not None and not math.isfinite(error):
        return "other"
    return "-" if error is None else f"{error:.0f}" if error == round(error) else f"{error:.1e}"


def _ratio(ratio: float | None) -> str:
    if ratio is not None and ratio < 0.01:
        return f"{ratio:.1e}"
    return "-" if ratio is None else f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def environment() -> dict[str, Any]:
    """Where and with what this was measured."""
    cc = compiler()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "strut": strut.__version__,
        "commit": _say("git", "rev-parse", "HEAD"),
        "changed files": len(_say("git", "status", "--porcelain", ".").splitlines()),
        **{package: _version(package) for package in PACKAGES},
        "compiler": _say(str(cc), "--version").split("\n")[0] if cc else "none",
        "flags": FLAGS,
    }


def save(path: Path, results: Mapping[str, Sequence[Section]], settings: Mapping[str, Any]) -> None:
    """Everything measured. Times are in seconds; `ratio` is that of the table."""
    cases = {name: [_plain(section) for section in sections] for name, sections in results.items()}
    text = json.dumps({"environment": environment(), "settings": dict(settings), "cases": cases}, indent=1)
    in_a_line = re.sub(
        r"\[\s+([-+.\d,e\s]+?)\s+\]", lambda found: f"[{' '.join(found[1].split())}]", text
    )  # lists of numbers
    path.write_text(in_a_line + "\n")


def _plain(section: Section) -> dict[str, Any]:
    rows = [
        {
            **asdict(row),
            "times": [float(f"{t:.4g}") for t in row.times],
            "best": row.best,
            "median": row.median,
            "ratio": section.ratio(row),
        }
        for row in section.rows
    ]
    return {**asdict(section), "rows": rows}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _say(*command: str) -> str:
    """What a command prints, run where strut lies; empty where it cannot be run."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=Path(strut.__file__).parent
        ).stdout.strip()
    except OSError:
        return ""
