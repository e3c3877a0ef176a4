"""`strut design`: a walker and its gait found at once, verified in the simulator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from strut import actuator
from strut.cli.completion import (
    complete_control,
    complete_cost,
    complete_file,
    complete_motors,
    complete_quantity,
    complete_sweep,
    complete_transcription,
)
from strut.cli.design_order import Order
from strut.cli.design_run import run_design
from strut.cli.design_texts import (
    command_text,
    read_cost,
    read_free,
    read_goal,
    read_transition,
    source_of,
)
from strut.cli.model import Reading, find_model, with_drive, with_settings
from strut.cli.options import Budget, Drive, Model, Root, Section, Seed, Settings, Sweep, Workers
from strut.cli.save import check_directory
from strut.errors import ModelError
from strut.optimal import COSTS, StepGoal
from strut.optimal.solver.watch import BUDGET
from strut.optimal.walk.goal_field import goal_fields

if TYPE_CHECKING:
    from strut.cli.design_motors import MotorSweep

STARTS = 3
"""Starts of a search for one design, where nothing else is asked: who waits at a terminal has other cores."""


def take_goal_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for every field of a `StepGoal`, behind its `cost`: they come to it among its
    `**goal`, as texts by name of the field."""
    signature = inspect.signature(function, eval_str=True)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default="",
            annotation=Annotated[
                str,
                typer.Option(
                    each.flag,
                    metavar=each.metavar,
                    help=each.help.replace("[", "\\["),
                    show_default=False,
                ),
            ],
        )
        for name, each in goal_fields(StepGoal).items()
    ]
    parameters = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
    at = [each.name for each in parameters].index("cost") + 1
    function.__signature__ = signature.replace(  # type: ignore[attr-defined]  # typer reads it
        parameters=[*parameters[:at], *options, *parameters[at:]]
    )
    return function


def _read_motors(motor: str, gear: str, spring: str, drive: str) -> MotorSweep | None:
    """What --motor, --gear and --motor-spring say; None without --motor. Raises what is wrong with them."""
    if motor:
        from strut.cli.design_motors import read_motors  # each way of its own, not where another is asked

        return read_motors(motor, gear, spring, drive)
    for flag, text in (("--gear", gear), ("--motor-spring", spring)):
        if text:
            raise ModelError(f"{flag} {text} is of motors, and --motor names none: give --motor NAME,NAME")
    return None


@take_goal_options
def design(  # noqa: PLR0913 -- every argument is an option of the command line
    model: Model,
    *,
    free: Annotated[
        str,
        typer.Option(
            "--free",
            metavar="A,B",
            help="Parameters to be found with the gait; NAME=LOW:HIGH sets bounds. None unless given.",
            show_default=False,
            autocompletion=complete_quantity("p"),
        ),
    ] = "",
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="NAME",
            help=f"What should be small: {', '.join(COSTS)}; of several, A=WEIGHT,B=WEIGHT. "
            "squared-torque unless given, here or in --goal.",
            show_default=False,
            autocompletion=complete_cost,
        ),
    ] = "",
    goal_file: Annotated[
        Path | None,
        typer.Option(
            "--goal",
            metavar="FILE",
            help="FILE.toml or FILE.json: all of these as keys (speed, slope, step_length, step_time, "
            "torque, ...), and requirements of your own: \\[\\[require]] name, expression, low, high, equal, "
            "at (path, begin, end, after, integral), phase; \\[within] NAME = [LOW, HIGH]; \\[free]; "
            '\\[cost] with expressions; track = "angles.csv". Flags stand before the file.',
            autocompletion=complete_file(".toml", ".json"),
        ),
    ] = None,
    drive: Drive = "rigid",
    root: Root = [],
    settings: Settings = [],
    control: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="How inputs change over an interval of the mesh: constant, linear, quadratic or cubic; "
            "cubic unless given, with hermite-simpson quadratic.",
            show_default=False,
            autocompletion=complete_control,
        ),
    ] = "",
    transcription: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How the motion becomes finitely many unknowns: radau, gauss or hermite-simpson "
            "(collocation), or shooting.",
            autocompletion=complete_transcription,
        ),
    ] = "radau",
    section: Section = "",
    intervals: Annotated[
        int,
        typer.Option(
            metavar="N", help="Intervals of the mesh to begin with; more are made where accuracy needs them."
        ),
    ] = 10,
    starts: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help=f"How many different starts are searched from, on all cores: the best is kept, and it is "
            f"said how many agree. "
            f"{STARTS} unless given; 1 of each design with --sweep, --robust or --motor, and always with "
            f"--stability.",
        ),
    ] = None,
    seed: Seed = 0,
    budget: Budget = BUDGET,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="DIR",
            help="Write design.json, the plan as plan.csv, design.h5 for optimal.load, and the walk: page, "
            "data, plots.",
        ),
    ] = None,
    sweep: Sweep = "",
    motor: Annotated[
        str,
        typer.Option(
            "--motor",
            metavar="A,B",
            help=f"One design with each of these motors of the catalogue ({', '.join(actuator.MOTORS)}), in "
            f"the place of ideal torques, with the gear ratio that suits it: which costs least? The cost is "
            f"electrical unless given.",
            autocompletion=complete_motors,
        ),
    ] = "",
    gear: Annotated[
        str,
        typer.Option(
            "--gear",
            metavar="LOW:HIGH",
            help="With --motor: bounds of the gear ratios [1] that are looked for. 10:300 unless given; "
            "--set NAME_gear_ratio=VALUE holds one.",
        ),
    ] = "",
    motor_spring: Annotated[
        str,
        typer.Option(
            "--motor-spring",
            metavar="K:D",
            help="With --motor: the spring between gear and joint [N m/rad, N m s/rad]. 300:1 unless "
            "given; inf for none.",
        ),
    ] = "",
    start: Annotated[
        int,
        typer.Option(
            "--start",
            metavar="N",
            show_default=False,
            help="How it gets from standing into the gait, in N steps: the gait is found first; speed, step "
            "and time that are asked are of that gait. With -o it is written to DIR/gait.",
        ),
    ] = 0,
    stop: Annotated[
        int,
        typer.Option(
            "--stop",
            metavar="N",
            show_default=False,
            help="How it gets from the gait to standing, in N steps; the gait as with --start.",
        ),
    ] = 0,
    robust: Annotated[
        str,
        typer.Option(
            "--robust",
            metavar="NAME=A:B:N",
            show_default=False,
            help="One machine for N values of a slope, a steady push or a parameter, all as likely: with the "
            "least expected cost.",
            autocompletion=complete_sweep,
        ),
    ] = "",
    export: Annotated[
        Path | None,
        typer.Option(
            "--export",
            metavar="DIR",
            help="Write the machine that was found, with its plan, as C99: it begins where the plan does.",
        ),
    ] = None,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity",
            help="Say what a unit more of every parameter that stays would cost, those that matter most "
            "first.",
        ),
    ] = False,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Search also for what the machine can hardly do, such as high stairs."),
    ] = False,
    workers: Workers = None,
    **goal: str,
) -> None:
    """Find how a walker should walk and be built, at once: gait, torques and parameters. The simulator
    replays what was found.

    With --sweep there is a design for each of N values of speed, slope, step_length, step_time, another goal,
    a parameter, or the weight of a cost (weight_energy); with --robust one machine for all of them.

    [bold]Examples[/bold]

      strut design compass --free hip_spring --cost squared-torque --speed 0.5 --slope 0deg

      strut design compass --free leg_mass=1:10,hip_mass=1:20 --cost energy --speed 0.7 --torque 30 -o a/

      strut design compass --slope 0deg --cost positive-work --speed 0.5 --json

      strut design compass --slope 0 --speed 0.5 --export firmware/

      strut design compass --drive series --speed 0.5 --step-length 0.35 --slope 0 --torque 100

      strut design compass --drive parallel --cost squared-torque --speed 0.8 --slope 3deg

      strut design compass --motor rbe1211-csd17,maxon-re40-gp42c --speed 0.5 --step-length 0.35 -o c/

      strut design compass --slope 0deg --free hip_spring=0:100 --sweep speed=0.3:0.6:7 -o b/

      strut design compass --slope 0 --speed 0.5 --cost squared-torque=1,energy=1 --sweep weight_energy=0:5:6

      strut design compass --speed 0.5 --free hip_spring=0:300 --robust slope=-2deg:2deg:3

      strut design compass --goal examples/compass_goal.toml

      strut design compass --slope 0 --speed 0.5 --steps 2

      strut design slip --free attack --speed 5.5 --step-time 0.3

      strut design runner --speed 2 --flight 0.1

      strut design rabbit --stair 0.05 --speed 0.5

      strut design kneed --stair -0.05

      strut design compass-driven --slope 0 --speed 0.5 --start 2
    """
    # What the command says about itself in the report: options that differ from what they are anyway.
    motors = _read_motors(motor, gear, motor_spring, drive)
    default_cost = "squared-torque" if motors is None else "electrical"
    named_cost = cost or ("" if goal_file is not None else default_cost)
    options = {"goal": "" if goal_file is None else str(goal_file), "free": free, "cost": named_cost}
    options |= {goal_fields(StepGoal)[name].flag.lstrip("-"): text for name, text in goal.items()}
    options |= {"control": control, "transcription": transcription, "intervals": str(intervals)}
    options |= {"starts": "" if starts is None else str(starts)}
    options |= {
        "budget": f"{budget:g}",
        "seed": str(seed),
        "sweep": sweep,
        "robust": robust,
        "start": str(start or ""),
        "stop": str(stop or ""),
        "drive": drive,
        "motor": motor,
        "gear": gear,
        "motor-spring": motor_spring,
        "section": section,
    }
    flags = {"--sensitivity": sensitivity, "--anyway": anyway}
    command = " ".join(
        [command_text(model, settings, options), *[f for f, chosen_flag in flags.items() if chosen_flag]]
    )
    if sweep and export is not None:
        raise ModelError(
            f"--export {export} writes one machine and --sweep finds several: leave one out, and export the "
            f"design of one value"
        )
    if output is not None:
        check_directory(output)
        from strut.view.pages.folder import ensure_directory

        ensure_directory(output)
    rigid = find_model(model, Reading(roots=tuple(root)))
    machines = {} if motors is None else motors.machines(rigid, settings)
    system = (
        with_settings(with_drive(rigid, drive), settings) if motors is None else next(iter(machines.values()))
    )
    chosen = {setting.partition("=")[0].strip() for setting in settings}
    constants = {} if drive == "rigid" else actuator.constants(rigid, drive)
    springs = {name: pair for name, pair in constants.items() if name not in chosen}
    springs |= {} if motors is None else motors.free_gears(system, chosen)
    units, bounds = {q.name: q.unit for q in system.p}, {q.name: q.bounds for q in system.p}
    in_file: dict[str, Any] = {}
    goal_call = ""
    if goal_file is not None:
        keywords: dict[str, Any] = {
            "section": section,
            "cost": read_cost(cost),
            "roots": [str(folder) for folder in root],
        }
        keywords = {name: value for name, value in keywords.items() if value}
        from strut.cli.goal_file import read_goal_file  # readers of files: not where there is none

        in_file = read_goal_file(goal_file, system, **keywords)
        words = [repr(str(goal_file)), "walker", *[f"{name}={value!r}" for name, value in keywords.items()]]
        goal_call = f"read_goal_file({', '.join(words)})"
    arguments: dict[str, Any] = {
        **in_file,
        "free": springs | in_file.get("free", {}) | read_free(free, units, bounds),
        "cost": in_file.get("cost", "squared-torque") if goal_file is not None else read_cost(named_cost),
        **{
            name: value for name, value in read_goal(goal).items() if value is not None or name not in in_file
        },
        "section": section or None,
        "control": control or ("quadratic" if transcription == "hermite-simpson" else "cubic"),
        "method": transcription,
        "intervals": intervals,
        "starts": (1 if sweep or robust or motor else STARTS) if starts is None else starts,
        "seed": seed,
        "budget": budget,
    }
    order = Order(
        system=system,
        arguments=arguments,
        output=output,
        export=export,
        command=command,
        source=source_of(model, settings, system, drive),
        goal_call=goal_call,
        sensitivity=sensitivity,
        transition=read_transition(start, stop),
        anyway=anyway,
    )
    several = "--sweep" if sweep else "--robust" if robust else "--motor" if motor else ""
    others = {"--sweep": sweep, "--robust": robust, "--export": export, "--goal": goal_file}
    for flag, option in others.items() if motor else ():
        if option:
            raise ModelError(
                f"--motor finds a design for each motor, and {flag} is of one machine: leave one out, or ask "
                f"for it with the best motor in a file"
            )
    if several and sensitivity:
        raise ModelError(
            f"--sensitivity is of one design and {several} finds several: leave one out; a sweep over a "
            f"parameter shows what it costs"
        )
    if several and order.transition is not None:
        raise ModelError(f"--{order.transition[0]} is of one gait and {several} finds several: leave one out")
    if robust and (sweep or export is not None):
        raise ModelError(
            f"--robust finds one machine and a plan for each scenario: leave out "
            f"{'--sweep' if sweep else '--export'}"
        )
    if motors is not None:
        from strut.cli.design_motors import run_motors

        run_motors(order, motors, machines)
    elif sweep:
        from strut.cli.design_sweep import run_sweep

        run_sweep(order, sweep, workers)
    elif robust:
        from strut.cli.design_robust import run_robust

        run_robust(order, robust)
    else:
        run_design(order)
