"""`write_beside`: the live page that every page of a run, a gait or a design gets by itself, as a second
file: inside of the first one, the machine, its scripts and the player in space would make it larger than a
page may be."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from strut.catalogue import MECHANISM_DESCRIPTIONS, SYSTEM_DESCRIPTIONS
from strut.codegen import INTEGRATORS, StepKind, lower_system
from strut.errors import StrutError
from strut.live.page import live_page
from strut.live.switch import add_live_switch, say_why_not_live
from strut.simulate import Trajectory
from strut.simulate.live_result import live_place
from strut.system import System

LIVE_VARIABLE = "STRUT_LIVE"
"""Environment variable that says 'off' where pages should come without live ones."""
MAX_OPERATIONS = 40_000
"""Operations of all functions of a system up to which a live page is written unasked: larger
ones take a quarter of a minute to compile."""
MAX_GAIT_OPERATIONS = 4_000
"""Operations up to which such a page finds gaits: the variational equations of larger machines take up to a
minute to compile."""


def write_beside(run: Trajectory, page: Path) -> Path | None:
    """Write the live page of a run beside the run's page, which gets a switch that leads there; return where
    it is. Where there can be none, the page says why and what to do, and None is returned."""
    target = live_place(page)
    python = f'run.live("{target.name}", page="{page.name}")'
    if run.system is None:
        say_why_not_live(
            page, "this run was loaded without its system. Give it: Trajectory.load(file, system=...)"
        )
        return None
    why = _why_unasked_for(run.system)
    if why:
        command = f"strut live {_subject_of(run.system, page)} -o {target.name} --page {page.name}"
        say_why_not_live(page, f"{why}. Asked for, it is written: {command}, or in Python {python}.")
        return None
    remarks: list[str] = []
    options = integration_of(run, remarks)
    gait = False if _operations(run.system) > MAX_GAIT_OPERATIONS else None
    if gait is False and run.system.walk is not None and run.system.walk.section:
        remarks.append(f"It finds no gaits, which take longer to compile: {python[:-1]}, gait=True).")
    if _inputs_change(run):
        remarks.append("Its inputs stay as they began; in the run they changed.")
    try:
        live_page(run, target, gait=gait, **options)
    except StrutError as error:
        say_why_not_live(page, str(error))
        return None
    add_live_switch(page, target, " ".join(remarks))
    return target


def _why_unasked_for(system: System) -> str:
    """Why no live page is written unless someone asks for it; empty where one is."""
    if os.environ.get(LIVE_VARIABLE, "").lower() == "off":
        return f"{LIVE_VARIABLE} is off"
    count = _operations(system)
    if count > MAX_OPERATIONS:
        return (
            f"'{system.name}' has {count:,} operations, and from {MAX_OPERATIONS:,} on compiling takes long"
        )
    return ""


def _subject_of(system: System, page: Path) -> str:
    """What `strut live` is told to show: the run that was saved beside its page, which begins as the run did;
    else the name of a ready-made machine, or MODEL for one of one's own."""
    for name in (page.with_suffix(".h5").name, "run.h5"):
        if (page.parent / name).is_file():
            return shlex.quote(name)
    name = system.name.replace("_", "-")
    return name if name in SYSTEM_DESCRIPTIONS or name in MECHANISM_DESCRIPTIONS else "MODEL"


def _operations(system: System) -> int:
    return sum(f.n_instructions() for f in lower_system(system).functions.values())


def integration_of(run: Trajectory, remarks: list[str]) -> dict[str, Any]:
    """How the page integrates: as the run was, where a page can; else it is remarked."""
    options = run.provenance.get("options", {})
    method = options.get("method")
    if method is None or INTEGRATORS[method].kind is StepKind.ADAPTIVE:
        return {}
    if INTEGRATORS[method].kind is StepKind.IMPLICIT:
        remarks.append(f"It integrates by its own method: {method} needs Python.")
        return {}
    return {"method": method, "step": options.get("step")}


def _inputs_change(run: Trajectory) -> bool:
    """Whether the inputs of a run changed while it ran."""
    u = run._points[3]
    return bool(u.size and np.ptp(u, axis=0).max() > 0)


__all__ = ["integration_of", "write_beside"]
