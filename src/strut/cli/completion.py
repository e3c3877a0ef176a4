"""What the tab key offers: commands, names and files. It is asked for while one types, so that what names
stand in is imported when it is asked for, and machines are built where their own names are alone."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from strut.catalogue import MECHANISM_DESCRIPTIONS, STUDY_NAMES, SYSTEM_DESCRIPTIONS
from strut.errors import StrutError

if TYPE_CHECKING:
    from strut.system import System

MODEL_SUFFIXES = (".toml", ".py", ".cdn", ".urdf", ".xml")
"""Suffixes of files that describe machines."""
RESULT_SUFFIXES = (".h5", ".hdf5", ".json", ".db", ".csv", ".html")
"""Suffixes of files that `strut view` shows."""
FULL_MACHINE_GROUPS = "pxzu"
"""Groups of quantities that --set knows: parameters, continuous and discrete states, inputs."""

Completer = Callable[[str], list[str]]
"""What typer asks for the words that begin as the one that is typed."""
MachineCompleter = Callable[[typer.Context, str], list[str]]
"""The same, where the words before it say about which machine."""


# ---- which command ----


def words_to_complete(environment: Mapping[str, str]) -> list[str] | None:
    """Return the words of the line that a shell wants completed, without the program; None where it wants
    none.

    environment: variables of this process: bash gives COMP_WORDS, other shells _TYPER_COMPLETE_ARGS.
    """
    if "_STRUT_COMPLETE" not in environment:
        return None
    line = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS", "")
    return line.split()[1:]


# ---- files and names ----


def complete_file(*suffixes: str) -> Completer:
    """Return what completes files with these suffixes, and folders on the way to them."""

    def complete(incomplete: str) -> list[str]:
        return files_that_begin(incomplete, suffixes)

    return complete


def files_that_begin(incomplete: str, suffixes: tuple[str, ...]) -> list[str]:
    """Return files with one of these suffixes, and folders, whose paths begin so; of a single folder also
    what is in it, so that a shell does not take it for the whole word."""
    paths = [path.replace(os.sep, "/") for path in sorted(glob.glob(f"{glob.escape(incomplete)}*"))]
    folders = [f"{path}/" for path in paths if Path(path).is_dir()]
    files = [path for path in paths if path.endswith(suffixes) and Path(path).is_file()]
    if len(folders) == 1 and not files and incomplete != folders[0]:
        files = files_that_begin(folders[0], suffixes)
    return [*files, *folders]


def complete_model(incomplete: str) -> list[str]:
    """Return the ready-made machines, and files here that may describe one, whose names begin so."""
    names = [name for name in (*SYSTEM_DESCRIPTIONS, *MECHANISM_DESCRIPTIONS) if name.startswith(incomplete)]
    return [*names, *files_that_begin(incomplete, MODEL_SUFFIXES)]


def complete_live(incomplete: str) -> list[str]:
    """Return the machines and model files, and files of results, whose names begin so."""
    return sorted({*complete_model(incomplete), *files_that_begin(incomplete, (".h5", ".json"))})


def complete_study(incomplete: str) -> list[str]:
    """Return the studies whose names begin so."""
    return _that_begin(incomplete, STUDY_NAMES)


def complete_drive(incomplete: str) -> list[str]:
    """Return the kinds of drives, and the motors of the catalogue, whose names begin so."""
    from strut.actuator import KINDS, MOTORS

    return _that_begin(incomplete, [*KINDS, *MOTORS])


def complete_motors(incomplete: str) -> list[str]:
    """Return the motors of the catalogue whose names begin so, behind a comma too."""
    from strut.actuator import MOTORS

    return _list_that_begins(incomplete, MOTORS)


def complete_integrator(incomplete: str) -> list[str]:
    """Return the integration methods whose names begin so."""
    from strut.codegen import INTEGRATORS

    return _that_begin(incomplete, INTEGRATORS)


def complete_cost(incomplete: str) -> list[str]:
    """Return the costs of a design whose names begin so, behind a comma too."""
    from strut.optimal import COSTS

    return _list_that_begins(incomplete, COSTS)


def complete_transcription(incomplete: str) -> list[str]:
    """Return the ways to make a motion finitely many unknowns whose names begin so."""
    from strut.optimal.nlp.scheme import METHODS

    return _that_begin(incomplete, METHODS)


def complete_control(incomplete: str) -> list[str]:
    """Return the ways in which inputs change over an interval whose names begin so."""
    from strut.optimal.nlp.scheme import CONTROLS

    return _that_begin(incomplete, CONTROLS)


def complete_word(*words: str) -> Completer:
    """Return what completes one of a few words."""

    def complete(incomplete: str) -> list[str]:
        return _that_begin(incomplete, words)

    return complete


def complete_list(*words: str) -> Completer:
    """Return what completes the last of a few words with commas between."""

    def complete(incomplete: str) -> list[str]:
        return _list_that_begins(incomplete, words)

    return complete


def _that_begin(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _list_that_begins(incomplete: str, names: Iterable[str]) -> list[str]:
    """Complete the last name of A,B,C."""
    head, comma, last = incomplete.rpartition(",")
    names_before = [name.partition("=")[0] for name in head.split(",")]
    return [f"{head}{comma}{name}" for name in _that_begin(last, names) if name not in names_before]


# ---- names of a machine ----


def complete_quantity(groups: str, ending: str = "", *, outputs: bool = False) -> MachineCompleter:
    """Return what completes names of the ready-made machine that stands before them, behind a comma too.

    groups: of `System`: p, x, z, u. ending: comes behind a name, '='. outputs: whether they are among them.
    """

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        system = _machine_before(ctx)
        if system is None:
            return []
        names = [q.name for group in groups for q in getattr(system, group)]
        names += system.outputs if outputs else []
        return [f"{name}{ending}" for name in _list_that_begins(incomplete, names)]

    return complete


def complete_sweep(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what a command can sweep whose names begin so: parameters; of runs also initial states and
    inputs, of designs also inputs and what is asked of a step."""
    groups = {"run": FULL_MACHINE_GROUPS, "design": "pu"}.get(ctx.info_name or "", "p")
    names = complete_quantity(groups, "=")(ctx, incomplete)
    if ctx.info_name == "design":
        from strut.optimal import StepGoal
        from strut.optimal.walk.goal_field import goal_fields
        from strut.optimal.walk.step_goal import SWEPT_UNITS

        flags = [each.flag for name, each in goal_fields(StepGoal).items() if name in SWEPT_UNITS]
        words = [f"{flag.lstrip('-').replace('-', '_')}=" for flag in flags]
        names = _that_begin(incomplete, words) + [name for name in names if name not in words]
    return names


def _machine_before(ctx: typer.Context) -> System | None:
    """Return the ready-made machine that a command is about, as far as its line says; None for another: what
    a user wrote is not run for the tab key."""
    from strut.cli.model import find_model, with_drive

    words = [ctx.params.get("model"), *ctx.args]  # behind an option without a value nothing is a model yet
    names = [name for name in (*SYSTEM_DESCRIPTIONS, *MECHANISM_DESCRIPTIONS) if name in words]
    if not names:
        return None
    system = find_model(names[0])
    with contextlib.suppress(StrutError):  # a drive that there is not, or that the machine cannot have
        system = with_drive(system, ctx.params.get("drive") or "rigid")
    return system
