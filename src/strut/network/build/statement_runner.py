"""What running statements shares: the network that is made, its texts and selectors, and how mistakes are
kept."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from strut.errors import did_you_mean
from strut.network.build.calculation import calculate
from strut.network.build.context import Context, DefineScope
from strut.network.build.expansion import Texts
from strut.network.build.model_files import Files
from strut.network.build.selected import Selected
from strut.network.build.selectors import Select
from strut.network.build.templates import add_child, apply
from strut.network.model import Node, Object
from strut.network.text import statements as s
from strut.network.text.errors import MOST, Mark, Mistake, NetworkError, NetworkProblem, TooMuch
from strut.network.text.limits import Includes

MOST_OBJECTS = 300_000
"""A network has no more nodes and edges."""
DEEPEST_INCLUDE = 40
INTEGRATOR = {
    "method": "euler",
    "default-timestep": "0.001",
    "minimum-timestep": "1e-9",
    "real-time": "0",
    "prediction-order": "3",
    "correction-order": "5",
}
INDEXED = re.compile(r"^(.*?)(\[.*\])$", re.S)
NAMED = re.compile(r"^[^\W\d][\w\u0300-\u036f.']*$")


@dataclass(frozen=True, slots=True)
class Place:
    """An object that a block is about, and the context it has there."""

    thing: Object
    context: Context


class Making(ABC):
    """A network while it is made."""

    def __init__(self, files: Files, name: str = "network", seed: int = 0) -> None:
        self.root, self.templates = Node(name, None), Node("templates", None)
        self.files = files
        self.texts = Texts(calculate)
        self.said: list[str] = []
        self.warnings: list[NetworkProblem] = []
        self.problems: list[NetworkProblem] = []
        self.select = Select(self.root, self.templates, self.texts, self.said.append, self.warnings.append)
        self.integrator = dict(INTEGRATOR)
        self.integrator_marks: dict[str, Mark] = {}
        self.random = random.Random(seed)
        self.objects = 0
        self.reading: list[str] = []
        self.read: set[str] = set()
        self.includes = Includes()
        self.scope = DefineScope()

    # ---- running ----

    @abstractmethod
    def handle(self, statement: s.Statement, places: list[Place]) -> None:
        """Run one statement; `Builder` knows which is which."""

    def run(self, statements: list[s.Statement], places: list[Place]) -> None:
        for statement in statements:
            try:
                self.handle(statement, places)
            except TooMuch as stop:
                self.problems.append(stop.at(statement.mark).problem)
                raise NetworkError(self.problems) from stop
            except Mistake as mistake:
                self.problems.append(mistake.at(statement.mark, *self._trail()).problem)
                if len(self.problems) >= MOST:
                    raise NetworkError(self.problems) from mistake
            except RecursionError as error:
                raise NetworkError(
                    [*self.problems, NetworkProblem("the model nests too deeply", statement.mark)]
                ) from error

    def _trail(self) -> list[str]:
        return [f"included from {where}" for where in reversed(self.reading[1:])]

    def each(self, places: list[Place], mark: Mark, act: Callable[[int, Place], None]) -> None:
        """Do something for every object; a mistake says for which."""
        for k, place in enumerate(places):
            try:
                act(k, place)
            except Mistake as mistake:
                trail = place.context.trail()
                mistake.at(mark, *([f"for {trail}"] if trail else []))
                raise

    def count(self, more: int = 1) -> None:
        self.objects += more
        if self.objects > MOST_OBJECTS:
            raise TooMuch(f"the network has more than {MOST_OBJECTS} nodes and edges")

    # ---- shared ----

    def apply_all(self, templates: list[s.Selectors], opened: list[Place]) -> None:
        for selectors in templates:
            for k, place in enumerate(opened):
                selector = selectors[k % len(selectors)]
                if selector is None:
                    continue
                found = self.select.template(selector, Selected(place.thing, place.context))
                found = [f for f in found if isinstance(f.thing, Object)]
                if not found:
                    raise Mistake(
                        self.no_template(selector, Selected(place.thing, place.context)), selector.mark
                    )
                for f in found:
                    assert isinstance(f.thing, Object)
                    self.count(self._size(f.thing))
                    apply(f.thing, place.thing)

    def no_template(self, selector: s.Selector, at: Selected) -> str:
        """What to say where a selector finds no template: which word of it is wrong, and what stands there
        instead."""
        for count in range(1, len(selector.stages) + 1):
            found = self.select.template(s.Selector(selector.stages[:count], selector.mark), at)
            if not any(isinstance(f.thing, Object) for f in found):
                break
        wrong = self.texts.whole(selector.stages[count - 1].text, at.context)
        around: list[Object] = [self.templates]
        if count > 1:
            before = self.select.template(s.Selector(selector.stages[: count - 1], selector.mark), at)
            around = [f.thing for f in before if isinstance(f.thing, Object)]
        known = [c.name for thing in around if isinstance(thing, Node) for c in thing.children.values()]
        shown = " . ".join(stage.text for stage in selector.stages)
        where = f" in {around[0].path}" if around[0].path else ""
        return f"there is no template '{shown}': '{wrong}' is not{where}: {did_you_mean(wrong, known)}"

    @staticmethod
    def _size(template: Object) -> int:
        return sum(1 for _ in template.descendants()) if isinstance(template, Node) else 0

    def new_node(self, name: str, parent: Node, statement: s.Statement) -> Node:
        if not name:
            raise Mistake("a node without a name: the text in quotes is empty")
        self.count(1 + len(parent.instances))
        made = Node(name, None, statement.mark)
        add_child(parent, made)
        return made

    def names(self, text: s.Text, context: Context) -> list[str]:
        """A list of states: names separated by commas or generated."""
        return [n for e in self.texts.all(text.text, context) for n in re.split(r"[,\s]+", e.text) if n]
