"""What the texts behind the options of `strut design` say, and the command and Python that say it again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import numpy as np

from strut.cli.model import python_of
from strut.errors import ValueRangeError
from strut.optimal import StepGoal
from strut.optimal.solver.watch import BUDGET
from strut.optimal.walk.goal_field import goal_fields
from strut.system import System
from strut.units import number

COMMAND_DEFAULTS = {
    "control": "",
    "transcription": "radau",
    "intervals": 10,
    "seed": 0,
    "budget": f"{BUDGET:g}",
    "drive": "rigid",
}
"""What options are where they are not given: a command that is typed again leaves them out."""


def read_goal(texts: Mapping[str, str]) -> dict[str, float | tuple[float, float] | None]:
    """Return what is asked of a step, of the texts behind its flags; None where there is none."""
    values: dict[str, float | tuple[float, float] | None] = {}
    for name, each in goal_fields(StepGoal).items():
        text = texts.get(name, "")
        values[name] = (
            None if not text else read_range(text, each.unit) if each.pair else number(text, each.unit)
        )
    return values


def field_of_word(word: str) -> str:
    """Return the field of a `StepGoal` that has this flag, without its dashes: duration of step_time; the
    word itself where none has."""
    flags = {each.flag.lstrip("-").replace("-", "_"): name for name, each in goal_fields(StepGoal).items()}
    return flags.get(word, word)


def read_cost(text: str) -> str | dict[str, float]:
    """Return the name of a cost, or several with their weights, of A=WEIGHT,B=WEIGHT."""
    if "=" not in text and "," not in text:
        return text
    weights = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        weights[name.strip()] = number(weight) if weight else 1.0
    return weights


def source_of(model: str, settings: list[str], system: System, drive: str) -> str:
    """Return Python that makes the walker, with the parameters that were set."""
    names = [setting.partition("=")[0].strip() for setting in settings]
    values = {q.name: np.asarray(q.value).tolist() for q in system.p if q.name in names}
    made_by = python_of(model) or "walker"
    made_by = made_by if drive == "rigid" else f"actuator.driven({made_by}, {drive!r})"
    return f"{made_by}.using({values!r})" if values else made_by


def python_text(verb: str, source: str, arguments: Mapping[str, Any], goal_call: str = "") -> str:
    """Return Python that does what the command did. goal_call: what reads the file of what is asked, if there
    is one: what cannot be written as Python stands in it."""
    anyway = {
        **COMMAND_DEFAULTS,
        "method": "radau",
        "budget": BUDGET,
        "control": "cubic",
        "cost": "squared-torque",
        "free": {},
    }
    anyway["starts"] = 1
    lines = [
        f"    {name}={value!r},"
        for name, value in arguments.items()
        if value is not None and value != anyway.get(name)
    ]
    head = "from strut import " + ", ".join(
        n for n in ("actuator", "optimal", "walkers") if n == "optimal" or f"{n}." in source
    )
    if not goal_call:
        return "\n".join([head, "", f"made = optimal.{verb}(", f"    {source},", *lines, ")"])
    # Expressions of one's own are in the file; what else was asked stands here.
    plain = [
        f"    {name!r}: {value!r},"
        for name, value in arguments.items()
        if value is not None and name not in ("require", "within", "cost") and value != anyway.get(name)
    ]
    return "\n".join(
        [
            head,
            "from strut.cli.goal_file import read_goal_file",
            "",
            f"walker = {source}",
            f"asked = {goal_call} | {{",
            *plain,
            "}",
            f"made = optimal.{verb}(walker, **asked)",
        ]
    )


def command_text(model: str, settings: list[str], options: Mapping[str, str]) -> str:
    """Return the command as it would be typed again. options: by flag, without its dashes."""
    words = [word for setting in settings for word in ("--set", setting)]
    for flag, text in options.items():
        if text not in ("", str(COMMAND_DEFAULTS.get(flag, ""))):
            words += [f"--{flag}", text]
    return shlex.join(["strut", "design", model, *words])


def read_free(
    text: str, units: dict[str, str], bounds: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return bounds by name of what is free, of NAME and NAME=LOW:HIGH."""
    free: dict[str, tuple[float, float]] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, equals, values = part.partition("=")
        name = name.strip()
        pair = read_range(values, units.get(name, "")) if equals else bounds.get(name, (-np.inf, np.inf))
        if not isinstance(pair, tuple):
            raise ValueRangeError(
                f"--free {part}: bounds are LOW:HIGH; a value that stays is set by --set {part}"
            )
        free[name] = pair
    return free


def read_transition(start: int, stop: int) -> tuple[str, int] | None:
    """Return 'start' or 'stop' and its number of steps, of --start and --stop; None without them."""
    chosen = [(kind, steps) for kind, steps in (("start", start), ("stop", stop)) if steps]
    for kind, steps in chosen:
        if steps < 1:
            raise ValueRangeError(f"--{kind} {steps}: a number of steps is needed, 1 or more")
    if len(chosen) > 1:
        raise ValueRangeError(
            f"--start {start} and --stop {stop} are two motions: leave one out, and ask for the other alone"
        )
    return chosen[0] if chosen else None


def read_range(text: str, unit: str) -> float | tuple[float, float]:
    """Return a number, or bounds, of VALUE or LOW:HIGH."""
    parts = [number(p, unit) for p in text.split(":")]
    if len(parts) > 2:
        raise ValueRangeError(f"'{text}' is not a range: write VALUE or LOW:HIGH")
    return parts[0] if len(parts) == 1 else (parts[0], parts[1])
