"""A file of what is asked of a step, for `strut design MODEL --goal FILE`: TOML or JSON, expressions as text.

Its keys are the arguments of `optimal.design`: every field of a `StepGoal`, `free`, `cost`, `within`,
`require`, and `track` for recordings. Texts are parsed, never run.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import casadi as ca

from strut.cli.design_texts import read_range
from strut.confine import resolve_inside, resolve_roots
from strut.errors import ExpressionError, ModelError, StorageError, StrutError, did_you_mean
from strut.files import DAMAGE
from strut.gait.section import default_section
from strut.gait.transport import distance, weight
from strut.mechanism.io.toml import TomlTable, check_toml
from strut.optimal import Integral, OwnCost, StepGoal, StepRequirement, track
from strut.optimal.walk.goal_field import GoalField, goal_fields
from strut.optimal.walk.own_limits import PLACE_WORDS
from strut.system import System, names_by_kind, parse_expression, suggest_names, time
from strut.units import number

DEFAULT_TRACK = "track"
"""The name of the cost of a recording that has none."""
OTHER_NAMES = ("time", "distance", "weight", "pi")
"""What expressions may name besides what the system has."""
Cost = str | dict[str, Any] | OwnCost | Any
"""What `optimal.design` takes as its cost."""


def read_goal_file(
    path: str | Path,
    system: System,
    *,
    section: str | None = None,
    cost: str | Mapping[str, float] | None = None,
    roots: Iterable[str | Path] = (),
) -> dict[str, Any]:
    """Return the arguments of `optimal.design` that a file says, for a system.

    path: FILE.toml or FILE.json. section: the event that ends a step, where the system does not say it.
    cost: stands in place of that of the file; recordings of the file are added to it. roots: folders from
    which recordings may come, besides that of the file.
    """
    table = _read(Path(path))
    reader = GoalReader(table, system, section, Path(path), resolve_roots(roots))
    arguments = {name: reader.goal(name, each) for name, each in goal_fields(StepGoal).items()}
    arguments |= {"free": reader.free(), "within": reader.within(), "require": reader.requirements()}
    arguments["cost"] = reader.cost(cost)
    table.refuse_unknown_keys()
    return {name: value for name, value in arguments.items() if value is not None}


def _read(path: Path) -> TomlTable:
    """Return the outermost table of a file."""
    if path.suffix not in (".toml", ".json"):
        raise ModelError(f"{path} is no file of goals: its name must end with .toml or .json")
    if not path.exists():
        raise StorageError(f"cannot read {path}: there is no such file")
    try:
        source = path.read_text(encoding="utf-8")
    except DAMAGE as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    try:
        data = tomllib.loads(source) if path.suffix == ".toml" else json.loads(source)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(check_toml(source, str(path), error)) from None
    except json.JSONDecodeError as error:
        line = source.splitlines()[error.lineno - 1] if source else ""
        raise ModelError(
            f"{path}, line {error.lineno}, is not JSON: {error.msg}\n    {line}\n    "
            f"{' ' * (error.colno - 1)}^"
        ) from None
    except RecursionError:
        raise ModelError(f"{path} is nested too deeply") from None
    if not isinstance(data, dict):
        raise ModelError(f"{path} holds {data!r}: an object of keys is needed")
    return TomlTable(data, (), source, str(path), {})


class GoalReader:
    """Reads the keys of one file, for a system; mistakes are errors that name file, key and place."""

    def __init__(
        self, table: TomlTable, system: System, section: str | None, path: Path, roots: tuple[Path, ...]
    ) -> None:
        self.table, self.system, self.path, self.roots = table, system, path, roots
        self.names = _names(system, section)
        self.units = {q.name: q.unit for q in system.quantities()} | dict(system.output_units)
        self.integrals: list[Integral] = []
        """Those of all expressions, kept until they stand in costs and requirements."""

    # ---- fields of a goal ----

    def goal(self, name: str, each: GoalField) -> Any:
        """Return what is asked by a field of a `StepGoal`: a number or a text with a unit; bounds as a pair
        or LOW:HIGH; numbers by name of an input."""
        word = each.flag.lstrip("-").replace("-", "_")
        name = word if word in self.table.data else name
        value = self.table.take(name, None)
        if value is None:
            return None
        if isinstance(value, dict):
            inner = self.table.table(name)
            assert inner is not None
            return {label: self.quantity(inner, label, each.unit) for label in value}
        if isinstance(value, list):
            return self.pair(self.table, name, each.unit)
        if isinstance(value, str) and ":" in value and each.pair:
            return self.convert(self.table, name, value, lambda text: read_range(text, each.unit))
        return self.quantity(self.table, name, each.unit)

    # ---- the other keys ----

    def free(self) -> Any:
        """Return what is free: names, or names with bounds."""
        value = self.table.take("free", None)
        if isinstance(value, dict):
            inner = self.table.table("free")
            assert inner is not None
            return {name: self.pair(inner, name, self.units.get(name, "")) for name in value}
        if value is None or (isinstance(value, list) and all(isinstance(name, str) for name in value)):
            parameters = {q.name: q.bounds for q in self.system.p}
            for name in value or ():
                if name not in parameters:
                    why = suggest_names(name, {"parameters": list(parameters)})
                    raise self.table.error(f"free: '{name}' is no parameter: {why}", "free", name)
            return None if value is None else {name: parameters[name] for name in value}
        raise self.table.error(f"free is {value!r}: give names, or a table of NAME = [LOW, HIGH]", "free")

    def within(self) -> dict[str, tuple[float, float]] | None:
        """Return bounds by name of states and inputs."""
        inner = self.table.table("within")
        if inner is None:
            return None
        labels = [label for group in "xu" for label in self.system.labels(group)]
        for name in inner.data:
            if name not in labels:
                kinds = {
                    kind: list(self.system.labels(group))
                    for kind, group in (("states", "x"), ("inputs", "u"))
                }
                raise inner.error(f"'{name}' is no state or input: {suggest_names(name, kinds)}", name, name)
        return {
            name: self.pair(inner, name, self.units.get(name.partition("[")[0], "")) for name in inner.data
        }

    def requirements(self) -> list[StepRequirement] | None:
        """Return the requirements of [[require]]."""
        entries = list(self.table.list_of_tables("require"))
        return [self.requirement(each) for each in entries] or None

    def requirement(self, table: TomlTable) -> StepRequirement:
        """Return one requirement."""
        name, text = table.word("name"), table.word("expression")
        expression = self.expression(table, "expression", text, name)
        unit = table.word("unit", self.units.get(text.strip(), ""))
        ends = {key: self.quantity(table, key, unit, None) for key in ("low", "high", "equal")}
        ends = {key: value for key, value in ends.items() if value is not None}
        place = table.word("at", "path")
        if place not in PLACE_WORDS:
            raise table.error(f"at is '{place}': {did_you_mean(place, list(PLACE_WORDS))}", "at", place)
        phase, margin = table.word("phase", ""), self.quantity(table, "margin", unit, 0.0)
        table.refuse_unknown_keys()
        try:
            return StepRequirement(
                name, expression, at=place, phase=phase, margin=margin, unit=unit, text=text.strip(), **ends
            )
        except StrutError as error:
            raise table.error(str(error), "name", name) from None

    def cost(self, instead: str | Mapping[str, float] | None) -> Any:
        """Return what is minimised: a cost by name, or several by name; `instead` of that of the file, if
        there is one, and the recordings of the file beside it."""
        value = self.table.take("cost", None)
        recordings = self.recordings()
        chosen: Any = value if instead is None else instead
        if instead is None and isinstance(value, dict):
            inner = self.table.table("cost")
            assert inner is not None
            chosen = {name: self.cost_part(inner, name, part) for name, part in value.items()}
        elif chosen is not None and not isinstance(chosen, (str, Mapping)):
            raise self.table.error(f"cost is {value!r}: give a name, or a table of several", "cost")
        if not recordings:
            return chosen
        if chosen is None:
            return recordings
        return {**({chosen: 1.0} if isinstance(chosen, str) else dict(chosen)), **recordings}

    def cost_part(self, table: TomlTable, name: str, part: Any) -> Any:
        """Return one of several costs: the weight of one by name, or one's own, {expression, weight,
        unit}."""
        if type(part) in (int, float):
            return float(part)
        if not isinstance(part, dict):
            raise table.error(
                f"{name} is {part!r}: give its weight, or {{ expression = '...', weight = 1.0, unit = '' }}",
                name,
            )
        inner = table.table(name)
        assert inner is not None
        text = inner.word("expression")
        own = OwnCost(
            self.expression(inner, "expression", text, name),
            name=name,
            weight=self.quantity(inner, "weight", "", 1.0),
            unit=inner.word("unit", ""),
            text=text.strip(),
        )
        inner.refuse_unknown_keys()
        return own

    def recordings(self) -> dict[str, Any]:
        """Return the recordings of `track`: a file's name, or [[track]] with file, weight and name."""
        value = self.table.take("track", None)
        if value is None:
            return {}
        if isinstance(value, str):
            return {DEFAULT_TRACK: self.read_recording(self.table, "track", value, DEFAULT_TRACK, 1.0)}
        chosen: dict[str, Any] = {}
        for inner in self.table.list_of_tables("track"):
            name, file = inner.word("name", DEFAULT_TRACK), inner.word("file")
            if name in chosen:
                raise inner.error(f"'{name}' stands twice: give every recording its own name", "name", name)
            scale = self.quantity(inner, "weight", "", 1.0)
            chosen[name] = self.read_recording(inner, "file", file, name, scale)
            inner.refuse_unknown_keys()
        return chosen

    def read_recording(self, table: TomlTable, key: str, file: str, name: str, scale: float) -> Any:
        """Return one recording, whose file is beside the goal file, below it, or in a root."""
        folder = self.path.resolve().parent
        what = table.error(f"{key} is '{file}'", key, file).args[0].splitlines()[0]
        file_path = resolve_inside(folder / file, folder, self.roots, what)
        try:
            recorded = track(file_path, weight=scale, name=name)
            recorded.check(self.system)
        except StrutError as error:
            raise table.error(str(error), key, file) from None
        return recorded

    # ---- values ----

    def expression(self, table: TomlTable, key: str, text: str, name: str) -> ca.SX:
        """Return what a text says, of the names of the system; integral(...) is its integral over the
        step."""
        label = re.sub(r"\W", "_", name)

        def integrate(split: str) -> Any:
            def make(rate: ca.SX) -> ca.SX:
                self.integrals.append(Integral(f"{label}_integral_{len(self.integrals) + 1}", rate, split))
                return self.integrals[-1].sym

            return 1, make

        functions = {
            "integral": integrate(""),
            "positive_integral": integrate("positive"),
            "absolute_integral": integrate("absolute"),
        }
        try:
            kind = "state, output, input or parameter"
            expression = parse_expression(text, self.names, kind, functions, hint=self.suggest)
        except ExpressionError as error:
            raise table.error(f"{key}: {error.reason}", key, text.strip(), error) from None
        except StrutError as error:
            raise table.error(f"{key}: {error}", key, text.strip()) from None
        if expression.numel() != 1:
            raise table.error(
                f"{key} has {expression.numel()} numbers: one is needed, such as v[0]", key, text.strip()
            )
        return expression

    def suggest(self, name: str) -> str:
        """Return what to say of a name that the system does not have."""
        kinds = {**names_by_kind(self.system), "also": [n for n in OTHER_NAMES if n in self.names]}
        return f"{suggest_names(name, kinds)}; 'strut show MODEL' lists them with values and units"

    def quantity(self, table: TomlTable, key: str, unit: str, default: Any = math.nan) -> Any:
        """Return a number, or a text with a unit that fits; the default where the key is not there."""
        if key not in table.data and not (isinstance(default, float) and math.isnan(default)):
            table.take(key, default)
            return default
        value = table.take(key)
        if isinstance(value, str):
            return self.convert(table, key, value, lambda text: number(text, unit))
        if type(value) not in (int, float) or math.isnan(value):
            raise table.error(f"{key} is {value!r}: a number is needed, or a text with a unit", key)
        return float(value)

    def pair(self, table: TomlTable, key: str, unit: str) -> tuple[float, float]:
        """Return bounds [LOW, HIGH]; each a number, or a text with a unit."""
        value = table.take(key)
        if not isinstance(value, list) or len(value) != 2:
            raise table.error(f"{key} is {value!r}: two numbers [LOW, HIGH] are needed", key)
        ends = [
            self.convert(table, key, end, lambda text: number(text, unit)) if isinstance(end, str) else end
            for end in value
        ]
        if any(type(end) not in (int, float) for end in ends) or not ends[0] <= ends[1]:
            raise table.error(f"{key} is {value!r}: two numbers [LOW, HIGH] are needed, LOW <= HIGH", key)
        return float(ends[0]), float(ends[1])

    def convert(self, table: TomlTable, key: str, text: str, read: Any) -> Any:
        """Return what `read` makes of a text; its error names the place."""
        try:
            return read(text)
        except StrutError as error:
            raise table.error(f"{key}: {error}", key, text) from None


def _names(system: System, section: str | None) -> dict[str, Any]:
    """Return what expressions may name: all of the system, the time, and distance and weight of a walker."""
    names: dict[str, Any] = {}
    with suppress(StrutError):  # no walker, or one that does not say: only these two names are unknown
        names |= {"weight": weight(system), "distance": distance(system, section or default_section(system))}
    names["time"] = time
    names |= dict(system.outputs)
    return names | {q.name: q.sym for q in system.quantities()}


__all__ = ["read_goal_file"]
