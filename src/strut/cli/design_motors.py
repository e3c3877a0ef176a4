"""`strut design --motor`: one walker with one motor of the catalogue after another, each with the gear that
suits it, and which of them costs least."""

from __future__ import annotations

import json as documents
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import typer
from rich.markup import escape

from strut import actuator, optimal
from strut.actuator.motor import motor_named
from strut.cli.answer import complain, note, number_text, plain_data, present, warn
from strut.cli.console import out
from strut.cli.design_order import Order
from strut.cli.design_run import flag_hint, write_design
from strut.cli.design_texts import read_range
from strut.cli.exit_status import INTERRUPTED_EXIT
from strut.cli.model import with_settings
from strut.cli.progress import tell_stage
from strut.cli.tables import table
from strut.errors import ModelError, ValueRangeError
from strut.files import put
from strut.optimal import Design, DesignsByName
from strut.system import System

GEAR_BOUNDS = (10.0, 300.0)
"""[1] Between which gear ratios are looked for, where nothing else is asked."""
MOTOR_SPRING, MOTOR_SPRING_DAMPING = 300.0, 1.0
"""[N m/rad, N m s/rad] Of the spring between each gear and its joint, where nothing else is asked: a rigid
gear has no part in an impact."""
GEAR_ENDING = "_gear_ratio"
"""What the names of gear ratios end with."""


@dataclass(frozen=True)
class MotorSweep:
    """Which motors are tried, and how they are built in.

    names: in the catalogue. gear: bounds of the gear ratios [1]. spring: [N m/rad]. damping: [N m s/rad].
    """

    names: tuple[str, ...]
    gear: tuple[float, float] = GEAR_BOUNDS
    spring: float = MOTOR_SPRING
    damping: float = MOTOR_SPRING_DAMPING

    def machines(self, walker: System, settings: Iterable[str]) -> dict[str, System]:
        """The walker with each motor in the place of its ideal torques, by the motor's name."""
        settings = list(settings)
        return {
            name: with_settings(
                actuator.dc_motors(
                    walker, name, spring=self.spring, spring_damping=self.damping, smooth=True
                ),
                settings,
            )
            for name in self.names
        }

    def free_gears(self, machine: System, chosen: Iterable[str]) -> dict[str, tuple[float, float]]:
        """The gear ratios that a design finds, with their bounds. chosen: parameters that stay."""
        gears = [q.name for q in machine.p if q.name.endswith(GEAR_ENDING)]
        return {name: self.gear for name in gears if name not in set(chosen)}

    @property
    def sentence(self) -> str:
        """How the motors are built in, for people."""
        spring = (
            "without a spring" if math.isinf(self.spring) else f"behind a spring of {self.spring:g} N m/rad"
        )
        return (
            f"each motor {spring}, damped by {self.damping:g} N m s/rad (--motor-spring), with a gear ratio "
            f"from {self.gear[0]:g} to {self.gear[1]:g} (--gear)"
        )

    def source(self, walker: str, motor: str = "motor") -> str:
        """Python that makes the machine with a motor. walker: Python that makes the walker."""
        spring = "float('inf')" if math.isinf(self.spring) else repr(self.spring)
        return (
            f"actuator.dc_motors({walker}, {motor}, spring={spring}, spring_damping={self.damping!r}, "
            f"smooth=True)"
        )


def read_motors(motor: str, gear: str, spring: str, drive: str) -> MotorSweep:
    """What --motor, --gear and --motor-spring say. Raises what is wrong with them."""
    if drive != "rigid":
        raise ModelError(
            f"--motor puts motors of the catalogue in the place of ideal torques, and --drive {drive} does "
            f"something else with these: leave one out"
        )
    names = tuple(dict.fromkeys(part.strip() for part in motor.split(",") if part.strip()))
    for name in names:
        motor_named(name)  # raises that it is unknown
    if not names:
        raise ValueRangeError(f"--motor '{motor}' names no motor: there are {', '.join(actuator.MOTORS)}")
    sweep = MotorSweep(names)
    if gear:
        bounds = read_range(gear, "")
        if not isinstance(bounds, tuple) or not 0 < bounds[0] < bounds[1]:
            raise ValueRangeError(f"--gear {gear}: bounds are LOW:HIGH, both above zero, such as 10:300")
        sweep = replace(sweep, gear=bounds)
    if spring:
        stiffness, damping = _read_spring(spring)
        sweep = replace(sweep, spring=stiffness, damping=damping)
    return sweep


def _read_spring(text: str) -> tuple[float, float]:
    """Stiffness and damping of K or K:D; inf for no spring."""
    parts = text.split(":")
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not numbers[0] > 0 or not all(n >= 0 for n in numbers):
        raise ValueRangeError(
            f"--motor-spring {text}: write its stiffness in N m/rad, or with its damping in N m s/rad, "
            f"300:1; inf for none"
        )
    return numbers[0], numbers[1] if len(numbers) == 2 else MOTOR_SPRING_DAMPING


def run_motors(order: Order, sweep: MotorSweep, machines: Mapping[str, System]) -> None:
    """Search for a design with each motor, print which costs least, and write what was found."""
    arguments = {n: v for n, v in order.arguments.items() if v is not None}
    choice = optimal.design_each(machines, **arguments, progress=tell_stage, report=_say)
    present(lambda: motors_data(choice, sweep), lambda: motors_text(choice, sweep))
    motors_notes(choice)
    if order.output is not None and choice.designs:
        write_motors(choice, sweep, order)
    if choice.interrupted:
        raise typer.Exit(INTERRUPTED_EXIT)
    if not choice.ok:
        raise typer.Exit(1)


def _say(name: str, each: Design | str) -> None:
    """A line for a motor that is done, while others are still searched for."""
    verdict = each if isinstance(each, str) else f"cost {number_text(each.result.cost)}, {each.verdict}"
    note(f"{name}: {verdict}")


def motors_data(choice: DesignsByName, sweep: MotorSweep) -> dict[str, Any]:
    """What `--json` prints."""
    return {
        "best": choice.best_or_none,
        "ok": choice.ok,
        "interrupted": choice.interrupted,
        "gear_bounds": list(sweep.gear),
        "spring": sweep.spring,
        "spring_damping": sweep.damping,
        "motors": {name: each.data() for name, each in choice.designs.items()},
        "failures": dict(choice.failures),
        "sources": {name: actuator.MOTORS[name].source for name in sweep.names},
    }


def motors_text(choice: DesignsByName, sweep: MotorSweep) -> None:
    """Print the motors as a table, and the best of them."""
    first = next(iter(choice.designs.values()), None)
    if first is not None:
        out.print(f"[bold]{escape(first.system.name)}[/bold]: {escape(first.cost.meaning)}")
        out.print(escape(sweep.sentence) + "\n", soft_wrap=True)
    columns = choice.columns()
    table("", list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
    best = choice.best_or_none
    if best is None:
        return
    gears = {name: v for name, v in choice.designs[best].parameters.items() if name.endswith(GEAR_ENDING)}
    ratios = ", ".join(f"{name} {number_text(value)}" for name, value in gears.items())
    out.print(escape(f"{best} costs least" + (f", with {ratios}" if ratios else "")), soft_wrap=True)


def motors_notes(choice: DesignsByName) -> None:
    """Say what decides the designs of motors, and what is wrong with them."""
    for name, each in choice.designs.items():
        for limit in each.active_limits:
            note(f"{name}: {limit.sentence}{flag_hint(limit)}")
        for why in (*each.wrong, *each.turned_joints):
            warn(f"{name}: {why}", plain=True)
    if choice.interrupted:
        note("interrupted: the motors that are not named were not tried")
    if choice.best_or_none is None:
        complain("no motor has a design that is ok")


def write_motors(choice: DesignsByName, sweep: MotorSweep, order: Order) -> None:
    """Write a page of all motors, motors.json and motors.h5, and the report of each into its own folder."""
    assert order.output is not None
    from strut.report import designs_result  # pages: not where nothing is written

    asked = {n: v for n, v in order.arguments.items() if v is not None and n not in ("free", "cost")}
    again = "\n".join(
        [
            "from strut import actuator, optimal, walkers",
            "",
            f"machines = {{motor: {sweep.source(order.source)} for motor in {list(sweep.names)!r}}}",
            f"made = optimal.design_each(machines, {order.arguments['free']!r}, {order.arguments['cost']!r},",
            *[f"    {name}={value!r}," for name, value in asked.items()],
            ")",
        ]
    )
    page = designs_result(choice, order.command, note=f"{sweep.sentence}. Each motor has its own folder.")
    folder = replace(page, again=again).folder(order.output)
    for why in folder.missing:
        warn(why)
    text = documents.dumps(plain_data(motors_data(choice, sweep)), indent=1)
    put(order.output / "motors.json", text + "\n")
    choice.save(order.output / "motors.h5")
    for name, each in choice.designs.items():
        write_design(each, replace(order, source=sweep.source(order.source, repr(name))), order.output / name)


__all__ = ["MotorSweep", "read_motors", "run_motors"]
