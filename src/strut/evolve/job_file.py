"""A job as a file: TOML that says what is searched, how, and by which search.

```toml
[evaluate]                       # a machine that is run ...
model = "slip"
time = 60                        # [s]
set = { stiffness = 20000 }

[measures]
steps = "count.touchdown"
speed = "x / end.time"

[parameters]
attack = { low = "60 deg", high = "75 deg" }

[[goals]]                        # in their order
maximise = "steps"
until = "steps >= 24"
[[goals]]
maximise = "speed"

[search]
kind = "swarm"
population = 40
generations = 50
runs = 3
seed = 1
```

Instead of a value the last goal may be several at once: `front = [{ minimise = "work" }, { maximise =
"speed" }]`, of which the search `nsga2` seeks the front. `polish = true` in [search] improves the best at
the end by gradients; `repeats`, `combine` and `confirm` in [evaluate] are those of `SearchProblem`. A text
may carry a unit; numbers are in that of the machine. Instead of `model`, `program = ["python",
"my_simulator.py"]` names one that answers requests in JSON; `measures = ["speed"]`, above all tables, then
names what it answers. Or `design = "compass-driven"` names a walker, and `goal = "goal.toml"` what is asked
of its step, as of `strut design --goal`: each individual is a start of a design. Parameters that are free
begin at its values, others are fixed there; it measures `cost`, and `free.NAME` of what it found.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from strut.errors import ModelError, StorageError, StrutError, did_you_mean
from strut.evolve.evaluations.design_starts import DesignEvaluation
from strut.evolve.evaluations.evaluation import Evaluation
from strut.evolve.evaluations.program import of_program
from strut.evolve.evaluations.system_runs import SystemEvaluation, of_system
from strut.evolve.goals import SearchFront, SearchGoal, front
from strut.evolve.problem import SearchProblem
from strut.evolve.searches import SearchMethod, make_search
from strut.evolve.space import SearchParameter
from strut.system import System
from strut.units import number

JOB_KEYS = ("name", "evaluate", "measures", "parameters", "goals", "search")
"""The name and the tables of a job file."""
RUN_KEYS = {"generations": None, "runs": 1, "seed": 0, "polish": False}
"""Keys of [search] that are no settings of the search itself, and what they are unless given."""


ReadGoal = Callable[[str, System], tuple[dict[str, Any], str]]
"""Reads a file of goals of a design, for a walker."""


@dataclass(frozen=True)
class Job:
    """A job that a file describes: what `search` takes."""

    name: str
    problem: SearchProblem
    method: SearchMethod
    generations: int | None
    runs: int
    seed: int
    polish: bool = False

    def on_device(self, device: str) -> Job:
        """Return the same job with runs of its machine on a device, as of `simulate_batch`."""
        evaluation = self.problem.evaluation
        if not isinstance(evaluation, SystemEvaluation):
            raise ModelError(f"device is '{device}': only runs of a machine are done elsewhere than here")
        elsewhere = replace(evaluation, options={**evaluation.options, "device": device})
        return replace(self, problem=replace(self.problem, evaluation=elsewhere))


def read_job(path: Path, find_model: Callable[[str], System], read_goal: ReadGoal | None = None) -> Job:
    """Return the job that a file describes. find_model: returns the machine of a name or file. read_goal:
    returns the arguments of a design that a file of goals says, for a walker, and the file's text."""
    if not path.exists():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ModelError(f"{path} is no TOML: {error}") from error
    try:
        return _job(path.stem, data, find_model, read_goal)
    except StrutError as error:
        error.args = (f"{path}: {error}",)
        raise


def _job(
    stem: str, data: dict[str, Any], find_model: Callable[[str], System], read_goal: ReadGoal | None
) -> Job:
    _refuse_unknown("a job", data, JOB_KEYS)
    for part in JOB_KEYS[1:]:
        if part not in data and not (
            part == "measures" and {"program", "design"} & {*data.get("evaluate", {})}
        ):
            raise ModelError(f"[{part}] is missing: a job has {', '.join(JOB_KEYS[1:])}")
    search = _table("search", data["search"])
    own = {name: search.pop(name, default) for name, default in RUN_KEYS.items()}
    evaluate = _table("evaluate", data["evaluate"])
    measures = data.get("measures", {})
    noise = {name: evaluate.pop(name) for name in ("repeats", "combine", "confirm") if name in evaluate}
    if "design" in evaluate:
        if "measures" in data:
            raise ModelError("[measures] is of no use beside design, which measures cost and free.NAME")
        evaluation: Evaluation = _design(evaluate, find_model, read_goal)
    else:
        evaluation = _evaluation(evaluate, measures, find_model)
    table = _table("parameters", data["parameters"])
    problem = SearchProblem(
        [_parameter(name, each, evaluation) for name, each in table.items()],
        evaluation,
        [_goal(each) for each in _list("goals", data["goals"])],
        **noise,
    )
    return Job(str(data.get("name", stem)), problem, make_search(search), **own)


def _evaluation(table: dict[str, Any], measures: Any, find_model: Callable[[str], System]) -> Evaluation:
    """Return what evaluates: runs of a machine, or a program."""
    if ("model" in table) == ("program" in table):
        raise ModelError("[evaluate] needs either model, the machine that is run, program, or design")
    if "program" in table:
        _refuse_unknown("[evaluate] with a program", table, ("program", "limit", "retries", "workers"))
        options = {name: value for name, value in table.items() if name != "program"}
        if not isinstance(measures, list):
            raise ModelError(
                'measures of a program are a list of names, above all tables: measures = ["speed"]'
            )
        return of_program(table["program"], measures, **options)
    options = dict(table)
    model, time = options.pop("model"), options.pop("time", None)
    if time is None:
        raise ModelError("[evaluate] needs time, how long the machine runs [s]")
    system = _with_values(find_model(model), options.pop("set", {}))
    return of_system(system, _number("time", time, "s"), _table("measures", measures), label=model, **options)


def _with_values(system: System, values: Any) -> System:
    """Return a machine with other values, which may have units."""
    table = _table("evaluate.set", values)
    units = {each.name: each.unit for each in system.quantities()}
    numbers = {name: _number(f"set.{name}", value, units.get(name, "")) for name, value in table.items()}
    return system.using(**numbers) if numbers else system


def _design(
    table: dict[str, Any], find_model: Callable[[str], System], read_goal: ReadGoal | None
) -> DesignEvaluation:
    """Return the evaluation by designs of a walker."""
    _refuse_unknown("[evaluate] with a design", table, ("design", "goal", "set", "budget", "intervals"))
    if "goal" not in table or read_goal is None:
        raise ModelError('[evaluate] with a design needs goal, what is asked of a step: goal = "goal.toml"')
    walker = _with_values(find_model(table["design"]), table.get("set", {}))
    arguments, text = read_goal(table["goal"], walker)
    options = {name: value for name, value in table.items() if name in ("budget", "intervals")}
    asked = text + "".join(f"\n{name} = {value!r}" for name, value in options.items())
    return DesignEvaluation(walker, {**arguments, **options}, asked, table["design"])


def _parameter(name: str, value: Any, evaluation: Evaluation) -> SearchParameter:
    """Return a parameter of the table [parameters]; numbers may have units, and are else in that in which the
    machine counts it."""
    table = _table(f"parameters.{name}", value)
    if isinstance(evaluation, SystemEvaluation):
        table.setdefault("unit", evaluation.unit(name))
    _refuse_unknown(f"parameters.{name}", table, ("low", "high", "unit", "first", "group"))
    for key in ("low", "high"):
        if key not in table:
            raise ModelError(f"parameters.{name} has no '{key}': give its bounds")
        table[key] = _number(f"{name}.{key}", table[key], table.get("unit", ""))
    if "first" in table:
        first = _list("first", table["first"])
        table["first"] = tuple(_number(f"{name}.first", each, table.get("unit", "")) for each in first)
    return SearchParameter(name, **table)


def _goal(value: Any) -> Any:
    """Return a goal or a front of the list [[goals]]."""
    table = _table("goals", value)
    if "front" in table:
        _refuse_unknown("a front", table, ("front", "reference"))
        reference = table.get("reference")
        parts = [_goal(each) for each in _list("front", table["front"])]
        if any(isinstance(each, SearchFront) for each in parts):
            raise ModelError("a front has a front in it: its goals are minimise or maximise")
        values = (
            None
            if reference is None
            else [_number("reference", v, "") for v in _list("reference", reference)]
        )
        return front(*parts, reference=values)
    _refuse_unknown("a goal", table, ("minimise", "maximise", "until", "front"))
    senses = [sense for sense in ("minimise", "maximise") if sense in table]
    if len(senses) != 1:
        raise ModelError(f"a goal says {table}: give either minimise or maximise")
    return SearchGoal(table[senses[0]], senses[0], table.get("until", ""))


def _number(name: str, value: Any, unit: str) -> float:
    """Return a number in a unit; it may be a text with one such as "60 deg"."""
    if isinstance(value, str):
        return number(value, unit)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ModelError(f"{name} is {value!r}: a number is needed")
    return float(value)


def _table(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ModelError(f"{name} is {value!r}: a table is needed")
    return dict(value)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ModelError(f"{name} is {value!r}: a list is needed")
    return value


def _refuse_unknown(what: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raise ModelError for a key that nothing reads: it is a slip of the pen."""
    for name in table:
        if name not in known:
            raise ModelError(f"{what} has no '{name}': {did_you_mean(name, known)}")
