"""`strut control`: a gait or a design held: the closed loop, and what it survives before and after."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

import strut
from strut import control as loops
from strut import gait as gaits
from strut import optimal
from strut.cli.answer import complain, hint, number_text, present, warn
from strut.cli.completion import complete_quantity, complete_word
from strut.cli.console import out
from strut.cli.control_sweep import control_sweep
from strut.cli.model import Reading, find_model, with_settings
from strut.cli.options import Model, Root, Settings, Sweep
from strut.cli.progress import tell_progress, tell_stage
from strut.cli.save import check_directory
from strut.cli.tables import table
from strut.control import HeldGait
from strut.errors import ModelError, NoGaitError, ValueRangeError, did_you_mean
from strut.gait import Gait
from strut.optimal import Design
from strut.system import System
from strut.units import number

RESULT_SUFFIXES = (".h5", ".hdf5")
"""Suffixes of files in which gaits and designs are kept."""
CONTROLLERS = ("lqr", "step", "track")
"""What can hold a gait: from moment to moment, from step to step, springs that motors play."""


def control(  # noqa: PLR0913 the options of a command are its arguments
    model: Model,
    *,
    settings: Settings = [],
    speed: Annotated[
        str,
        typer.Option(
            metavar="V",
            help="Design a gait of this speed first \\[m/s]; the machine's own gait unless given.",
            show_default=False,
        ),
    ] = "",
    controller: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="lqr: a linear-quadratic regulator from moment to moment; step: one from step to step, "
            "which sets what --by names; track: motors act as springs and dampers about the plan (joint "
            "impedance).",
            autocompletion=complete_word(*CONTROLLERS),
        ),
    ] = "lqr",
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="A,B",
            help="Of step: inputs and parameters that change from step to step.",
            autocompletion=complete_quantity("up"),
        ),
    ] = "",
    deviation: Annotated[
        list[str],
        typer.Option(
            "--deviation",
            metavar="NAME=VALUE",
            help="Of lqr and step: the largest acceptable deviation of a state, in its unit; a tenth of what "
            "states of its unit move in a step unless given.",
            autocompletion=complete_quantity("x", "="),
        ),
    ] = [],
    effort: Annotated[
        list[str],
        typer.Option(
            "--effort",
            metavar="NAME=VALUE",
            help="Of lqr and step: the largest acceptable input beyond the plan, or change of what --by "
            "names, in its unit. Smaller is softer.",
            autocompletion=complete_quantity("up", "="),
        ),
    ] = [],
    stiffness: Annotated[
        float,
        typer.Option(
            metavar="K",
            help="Of track: how hard motors pull joints back to the plan [N m/rad, N/m]; not at all unless "
            "given.",
            show_default=False,
        ),
    ] = 0.0,
    damping: Annotated[
        float,
        typer.Option(
            metavar="D",
            help="Of track: how hard motors brake the difference of rates [N m s/rad, N s/m]; not at all "
            "unless given.",
            show_default=False,
        ),
    ] = 0.0,
    index: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Of lqr and track: what the motion is followed by: time, or a state that grows or falls all "
            "through a step; auto takes the steadiest.",
            autocompletion=complete_quantity("x"),
        ),
    ] = "auto",
    noise: Annotated[
        list[str],
        typer.Option(
            "--noise",
            metavar="NAME=VALUE",
            help="Of lqr and track: what is measured, an output, a state or a landing, and the noise on it, "
            "in its unit per root of a hertz; an estimate of all states is then acted on (Kalman filter). "
            "All states are measured unless given.",
            autocompletion=complete_quantity("x", "=", outputs=True),
        ),
    ] = [],
    disturbance: Annotated[
        list[str],
        typer.Option(
            "--disturbance",
            metavar="NAME=VALUE",
            help="With --noise: what disturbs a state, in its unit per root of a second, or an input.",
            autocompletion=complete_quantity("xu", "="),
        ),
    ] = [],
    limit: Annotated[
        list[str],
        typer.Option(
            "--limit",
            metavar="NAME=VALUE",
            help="Of lqr and track: the largest an input can be, in its unit; what is asked beyond it is cut "
            "off. That of the motor, or of the design, unless given.",
            autocompletion=complete_quantity("u", "="),
        ),
    ] = [],
    no_survival: Annotated[
        bool,
        typer.Option(
            "--no-survival",
            help="Do not ask which steps, rough ground, pushes and wrong parameters are survived, which "
            "takes minutes where a machine has many links; multipliers and costs are said.",
        ),
    ] = False,
    sweep: Sweep = "",
    root: Root = [],
    export: Annotated[
        Path | None, typer.Option("--export", metavar="DIR", help="Write the closed loop as C99.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write a page, before and after, with figures and data, and held.h5.",
        ),
    ] = None,
) -> None:
    """Hold a gait: close the loop around it with a controller, and say which pushes, steps and errors of
    parameters the machine survives before and after.

    The model is a walker, whose gait is found, or designed at --speed; or a design.h5 that strut design
    wrote. With --sweep the gait of each of N values of a parameter is held, and a table says what its largest
    multiplier was and is, what a push of 1 % takes of each input, and the largest push that is survived.

    [bold]Examples[/bold]

      strut control compass --set slope=4.5deg

      strut control compass --speed 0.8 -o held/

      strut control compass --set slope=4.5deg --controller step --by hip_torque

      strut control compass --speed 0.8 --controller track --stiffness 200 --damping 20

      strut control compass --speed 0.8 --noise stance=0.001 --noise swing=0.001 --disturbance hip_torque=1

      strut control compass --speed 0.8 --no-survival

      strut control compass --sweep slope=3deg:5deg:5 -o held/

      strut control walk/design.h5 --export firmware/
    """
    if controller not in CONTROLLERS:
        raise ModelError(f"controller '{controller}' is unknown: {did_you_mean(controller, CONTROLLERS)}")
    if by and controller != "step":
        raise ModelError(f"--by {by} is for --controller step: what it names is set once per step")
    if index != "auto" and controller == "step":
        raise ModelError(f"--index {index} is for --controller lqr and track: step acts once per step")
    if controller == "step" and not by:
        raise ModelError("--controller step needs --by: the inputs and parameters that it sets once per step")
    if (stiffness or damping) and controller != "track":
        raise ModelError("--stiffness and --damping are for --controller track")
    if (deviation or effort) and controller == "track":
        raise ModelError(
            "--deviation and --effort are weights of lqr and step: --controller track has --stiffness and "
            "--damping"
        )
    if controller == "track" and not (stiffness or damping):
        raise ModelError("--controller track needs --stiffness [N m/rad], --damping [N m s/rad] or both")
    if (noise or disturbance or limit) and controller == "step":
        raise ModelError("--noise, --disturbance and --limit are for --controller lqr and track")
    if bool(noise) != bool(disturbance):
        raise ModelError(
            "--noise and --disturbance go together: an estimate weighs what is read against what may happen"
        )
    observer = (
        loops.Kalman(read_numbers("--noise", noise), read_numbers("--disturbance", disturbance))
        if noise
        else None
    )
    loop_options: dict[str, Any] = {
        "index": index,
        "observer": observer,
        "limits": read_numbers("--limit", limit) or None,
    }
    if output is not None:
        check_directory(output)
    weights: dict[str, Any] = {"deviation": read_numbers("--deviation", deviation)}

    def choose_loop(source: Gait | Design) -> HeldGait:
        if controller == "lqr":
            return loops.lqr(source, **weights, effort=read_numbers("--effort", effort), **loop_options)
        if controller == "step":
            names = [name.strip() for name in by.split(",") if name.strip()]
            return loops.step_lqr(source, names, **weights, change=read_numbers("--effort", effort))
        return loops.track(source, stiffness, damping, **loop_options)

    def close_loop(source: Gait | Design) -> HeldGait:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", loops.EffortWarning)  # it speaks of arguments in Python
            loop = choose_loop(source)
        warn_of_efforts(loop)
        return replace(loop, survival=not no_survival)

    design_speed = number(speed, "m/s") if speed else 0.0
    if sweep:
        if export is not None:
            raise ModelError(
                "--export writes one closed loop, and --sweep makes several: leave one of them out"
            )
        if no_survival:
            raise ModelError(
                "--no-survival is for one gait: --sweep asks of each one thing alone, which push it survives"
            )
        if Path(model).suffix in RESULT_SUFFIXES:
            raise ModelError(f"'{model}' is one gait, and --sweep holds one for each value: give its machine")
        system = with_settings(find_model(model, Reading(roots=tuple(root))), settings)
        control_sweep(
            system,
            sweep,
            lambda machine: gait_of(machine, design_speed),
            close_loop,
            output=output,
            asked=command_line(),
        )
        return
    source = read_source(model, settings, design_speed, tuple(root))
    tell_progress("closing the loop")
    result = close_loop(source)
    result.compare(lambda name, part: tell_progress(f"asking what is survived: {name}", part))
    present(result.data, lambda: held_text(result))
    if output is not None:
        write_held(result, output, command_line())
    if export is not None:
        strut.export(result.system, export)
        hint(f"build it: make -C {export}")
    if not result.stable:
        complain("not held: a multiplier is 1 or more")
        raise typer.Exit(1)


def warn_of_efforts(held: HeldGait) -> None:
    """Say which inputs are asked for more than they can give, and which option makes a softer loop."""
    if held.effort_faults:
        name = held.effort_faults[0].partition(":")[0]
        warn(
            f"the loop asks more than it can have: {'; '.join(held.effort_faults)}; a smaller --effort "
            f"{name}=NUMBER makes a softer loop"
        )


def read_source(model: str, settings: list[str], speed: float, roots: tuple[Path, ...]) -> Gait | Design:
    """Return what is to be held: a saved design or gait, a design at a speed [m/s], or a walker's own
    gait."""
    if Path(model).suffix in RESULT_SUFFIXES:
        if settings or speed:
            raise ModelError(f"'{model}' is a result: its machine and its speed are what they are")
        if not Path(model).is_file():
            raise ModelError(f"cannot read {model}: there is no such file")
        try:
            saved: Design | Gait | Any = optimal.load(model)
        except strut.StrutError as no_design:
            try:
                saved = gaits.load(model)
            except strut.StrutError as no_gait:
                reasons = dict.fromkeys((str(no_design), str(no_gait)))
                raise ModelError(
                    f"'{model}' holds neither a design nor a gait: {'; '.join(reasons)}"
                ) from no_gait
        if not isinstance(saved, (Design, Gait)):
            raise ModelError(f"'{model}' holds a {type(saved).__name__}: a design or a gait can be held")
        return saved
    return gait_of(with_settings(find_model(model, Reading(roots=roots)), settings), speed)


def gait_of(system: System, speed: float) -> Gait | Design:
    """Return what is to be held of a system: a design at a speed [m/s], or without one its own gait."""
    if not speed:
        return find_own_gait(system)
    design = optimal.design(system, speed=speed, progress=tell_stage)
    if not design.ok:
        raise ModelError(f"no design of '{system.name}' at {speed:g} m/s: {'; '.join(design.wrong)}")
    return design


def find_own_gait(system: System) -> Gait:
    """Return a walker's own gait. Raises NoGaitError, with what else can be done of a machine with motors."""
    tell_progress("looking for a gait")
    try:
        return gaits.find(system, progress=tell_progress)
    except NoGaitError as error:
        if not system.size("u"):
            raise
        motors = " and ".join(q.name for q in system.u)
        raise NoGaitError(
            f"'{system.name}' has no gait with its inputs ({motors}) at rest, as on level ground: design one "
            f"first, --speed 0.5 for half a metre per second, or give a design.h5. {error}",
            error.closest,
            error.fell,
        ) from error


def read_numbers(flag: str, texts: list[str]) -> dict[str, float]:
    """Parse NAME=VALUE of weights."""
    numbers: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        try:
            numbers[name.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueRangeError(
                f"'{text}' is no {flag}: write NAME=NUMBER, for example {flag} hip_torque=3"
            )
    return numbers


def held_text(held: HeldGait) -> None:
    """Print a gait that is held as tables."""
    word = "held" if held.stable else "not held"
    out.print(f"[bold]{escape(held.system.name)}[/bold]: {word} by {escape(held.method)}\n", soft_wrap=True)
    rows = [[c.name, *c.texts(number_text), c.unit] for c in (*held.comparison, *held.costs)]
    table("", ["", "before", "after", "unit"], rows)
    for compared in held.comparison:
        if compared.unknown:
            out.print(f"{escape(compared.name)}: not known: {escape(compared.note)}", soft_wrap=True)
    table("settings", ["", "value", "unit"], held.setting_rows())


def write_held(held: HeldGait, directory: Path, asked: str) -> None:
    """Write the page, the figures and the data of a gait that is held."""
    from strut.report import held_result

    tell_progress(f"writing {directory}")
    folder = held_result(held, asked).folder(directory)
    held.save(directory / "held.h5")
    for why in folder.missing:
        warn(why)


def command_line() -> str:
    """Return the command as it was typed."""
    import sys

    return shlex.join(["strut", *sys.argv[1:]])
