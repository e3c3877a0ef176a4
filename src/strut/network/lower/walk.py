"""The `Walk` of a network: what its outputs of type 'walk' and 'foot' say, with names as the system has them.

output "walk" type "walk" { settings { section = "heel_strike"  progress = "foot" } }
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TypeVar

import casadi as ca

from strut.errors import did_you_mean
from strut.network.lower import scope
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.meaning import Meaning
from strut.network.lower.naming import identifier
from strut.network.model import Node, Object, Variable
from strut.network.text.errors import Mistake
from strut.system import Foot, Quantity, Walk

Q = TypeVar("Q", bound=Quantity)

WALK_SETTINGS = {
    "section": "event",
    "progress": "state",
    "step_length": "discrete state",
    "slope": "parameter",
    "lift": "state",
    "ground_step": "parameter",
    "weight": "",
}
"""What an output of type 'walk' may say, and of which kind the names are; the weight is an expression."""
FOOT_SETTINGS = {
    "lands": "event",
    "lifts": "event",
    "stands": "discrete state",
    "normal": "output",
    "friction": "output",
    "coefficient": "parameter",
    "gap": "output",
    "leaves": "discrete state",
    "passes": "event",
    "clears": "event",
}
"""What an output of type 'foot' may say, and of which kind the names are."""
SETTINGS = {"walk": WALK_SETTINGS, "foot": FOOT_SETTINGS}
"""Settings by the type of the output."""
NAME_COUNTS = {"progress": None, "friction": None, "ground_step": 2}
"""How many names a setting has where it is not one; None: any number."""


class WalkReader:
    """Reads the walk of a network from its outputs of type 'walk' and 'foot'.

    Names are looked up from the node in which the output stands, outwards, as in expressions.
    """

    def __init__(self, things: Iterable[Object], meaning: Meaning) -> None:
        facts = [n for n in things if isinstance(n, Node) and n.walk_fact]
        self._walks = [n for n in facts if n.walk_fact == "walk"]
        self._feet = [n for n in facts if n.walk_fact == "foot"]
        self._meaning = meaning

    def output_variables(self) -> set[Variable]:
        """The variables that feet name as their forces and gaps: they must be outputs of the system."""
        named = (
            scope.variable(name, _place(foot))
            for foot in self._feet
            for setting, text in _settings(foot).items()
            if FOOT_SETTINGS.get(setting) == "output"
            for name in _names(text)
        )
        return {variable for variable in named if variable is not None}

    def walk(self, known: Mapping[str, list[str]], changes: Callable[[ca.SX], bool]) -> Walk | None:
        """The walk, or None where the file says nothing about one.

        known: names in the system by kind: 'event', 'state', 'discrete state', 'parameter', 'output'.
        changes: whether an expression changes during a run. Raises `Mistake` for a setting or a name that
        does not exist, for a weight that changes, and where there are two walks.
        """
        if len(self._walks) > 1:
            raise Mistake(
                f"the network has two walks, {self._walks[0].path} and {self._walks[1].path}: delete one",
                self._walks[1].mark,
            )
        if not self._walks and not self._feet:
            return None
        feet = tuple(Foot(name=_foot_name(n), **self._fields(n, known)) for n in self._feet)  # type: ignore[arg-type]  # text or tuple, by field
        if not self._walks:
            return Walk(feet=feet)
        walk = self._walks[0]
        weight = self._weight(walk)
        if weight is not None and (weight.numel() != 1 or changes(weight)):
            raise Mistake(f"the weight of '{walk.path}' must be one number, made of parameters", walk.mark)
        return Walk(feet=feet, weight=weight, **self._fields(walk, known))  # type: ignore[arg-type]  # text or tuple, by field

    def _fields(self, node: Node, known: Mapping[str, list[str]]) -> dict[str, str | tuple[str, ...]]:
        """The settings of an output as fields of `Walk` or `Foot`, their names those of the system."""
        kind = node.walk_fact
        fields: dict[str, str | tuple[str, ...]] = {}
        for setting, text in _settings(node).items():
            if setting not in SETTINGS[kind]:
                raise Mistake(
                    f"an output of type '{kind}' has no '{setting}': "
                    f"{did_you_mean(setting, list(SETTINGS[kind]))}",
                    node.mark,
                )
            if setting == "weight":
                continue
            names = tuple(
                self._system_name(name, setting, node, known[SETTINGS[kind][setting]])
                for name in _names(text)
            )
            count = NAME_COUNTS.get(setting, 1)
            if count is not None and len(names) != count:
                raise Mistake(f"{setting} of '{node.path}' has {len(names)} names: give {count}", node.mark)
            fields[setting] = names if setting in NAME_COUNTS else names[0]
        return fields

    def _system_name(self, name: str, setting: str, node: Node, choices: list[str]) -> str:
        """What the system calls a variable or an event that an output names."""
        place = _place(node)
        variable = scope.variable(name, place)
        if variable is not None and self._meaning.names[variable] in choices:
            return self._meaning.names[variable]
        # Events and states of nodes are no variables: they are known by their names in the system alone.
        parts = [identifier(part) for part in name.split(".")]
        for around in scope.search_path(place):
            candidate = ".".join([*(identifier(part) for part in around.names), *parts])
            if candidate in choices:
                return candidate
        kind = SETTINGS[node.walk_fact][setting]
        raise Mistake(
            f"{setting} of '{node.path}' is '{name}', which is no {kind}: {did_you_mean(name, choices)}",
            node.mark,
        )

    def _weight(self, node: Node) -> ca.SX | None:
        """The weight [N] as an expression of parameters; None where it is not said."""
        text = _settings(node).get("weight")
        if text is None:
            return None
        place = _place(node)
        return self._meaning.formula(
            text, Variable("weight", place, node.mark, text=text), EvaluationFrame(place)
        )


def walk_units(walk: Walk | None) -> dict[str, str]:
    """The units of what a walk names, by name, which the language does not say: lengths [m], speeds [m/s],
    forces [N], the slope [rad]."""
    if walk is None:
        return {}
    lengths = [*walk.progress, walk.step_length, walk.lift, *(walk.ground_step or ())]
    lengths += [foot.gap for foot in walk.feet]
    forces = [name for foot in walk.feet for name in (foot.normal, *foot.friction)]
    units = {
        **dict.fromkeys(lengths, "m"),
        **dict.fromkeys(forces, "N"),
        **dict.fromkeys((foot.leaves for foot in walk.feet), "m/s"),
        walk.slope: "rad",
    }
    units.pop("", None)  # what the walk does not name
    return units


def with_units(quantities: Iterable[Q], units: Mapping[str, str]) -> tuple[Q, ...]:
    """The same quantities with their symbols; those that `units` names have that unit."""
    return tuple(_with_unit(q, units[q.name]) if q.name in units else q for q in quantities)


def _with_unit(quantity: Q, unit: str) -> Q:
    new = copy(quantity)
    object.__setattr__(new, "unit", unit)
    return new


def _settings(node: Node) -> dict[str, str]:
    """What an output says, without its direction and type."""
    return {name: text for name, text in (node.table or {}).items() if name not in ("direction", "type")}


def _names(text: str) -> list[str]:
    """Names separated by commas or blanks."""
    return [name for name in re.split(r"[,\s]+", text) if name]


def _place(node: Node) -> Object:
    """The node in which an output stands; names are looked up from there."""
    return node if node.parent is None else node.parent


def _foot_name(node: Node) -> str:
    """A foot is called like its output, with the nodes around it."""
    return ".".join(identifier(part) for part in node.names)
