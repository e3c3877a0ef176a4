"""The base of everything that runs statements: the network that is built, how texts are expanded and
selectors run, and how mistakes are collected."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from strut.errors import did_you_mean
from strut.network.build.calculation import calculate
from strut.network.build.context import Context, DefineScope
from strut.network.build.expansion import TextExpander
from strut.network.build.model_files import ModelFiles
from strut.network.build.selected import Selected
from strut.network.build.selectors import SelectorRunner
from strut.network.build.templates import add_child, apply
from strut.network.model import Node, Object
from strut.network.text import statements as s
from strut.network.text.errors import MAX_PROBLEMS, LimitExceeded, Mark, Mistake, NetworkError, NetworkProblem
from strut.network.text.limits import Includes

MAX_OBJECTS = 300_000
"""Number of nodes and edges of a network, at most."""
MAX_INCLUDE_DEPTH = 40
"""Levels of files that include one another, at most."""
EDGE_STATES = "\0state"
"""The define that holds the discrete states of an edge for the actions in its block: no text can name it."""
INTEGRATOR_DEFAULTS = {
    "method": "euler",
    "default-timestep": "0.001",
    "minimum-timestep": "1e-9",
    "real-time": "0",
    "prediction-order": "3",
    "correction-order": "5",
}
"""What `integrator { ... }` may set, with the values that hold where it does not."""
INDEXED_NAME = re.compile(r"^(.*?)(\[.*\])$", re.S)
"""A name with an index in brackets behind it."""
VARIABLE_NAME = re.compile(r"^[^\W\d][\w\u0300-\u036f.']*$")
"""A name that a variable may have."""


@dataclass(frozen=True, slots=True)
class Place:
    """An object for which a block is run, and the context of its texts."""

    thing: Object
    context: Context


class StatementRunner(ABC):
    """Runs statements, and holds the network that they build.

    root, templates: the nodes that hold everything else. files: finds the files that models name.
    debug_output: what `debug-print` prints. warnings, problems: what was noticed, and what is wrong.
    integrator: its settings, as texts. random: decides about edges with a probability. objects: the number of
    nodes and edges so far. include_stack: files that are being read, the outermost first. files_read: names
    of all files read. scope: the defines of the whole file.
    """

    def __init__(self, files: ModelFiles, name: str = "network", seed: int = 0) -> None:
        self.root, self.templates = Node(name, None), Node("templates", None)
        self.files = files
        self.texts = TextExpander(calculate)
        self.debug_output: list[str] = []
        self.warnings: list[NetworkProblem] = []
        self.problems: list[NetworkProblem] = []
        self.select = SelectorRunner(
            self.root,
            self.templates,
            self.texts,
            say=self.debug_output.append,
            warn=self.warnings.append,
        )
        self.integrator = dict(INTEGRATOR_DEFAULTS)
        self.integrator_marks: dict[str, Mark] = {}
        self.random = random.Random(seed)
        self.objects = 0
        self.include_stack: list[str] = []
        self.files_read: set[str] = set()
        self.includes = Includes()
        self.scope = DefineScope()

    # ---- running ----

    @abstractmethod
    def handle(self, statement: s.Statement, places: list[Place]) -> None:
        """Run one statement for all objects of its block."""

    def run(self, statements: list[s.Statement], places: list[Place]) -> None:
        """Run statements, each for all objects of their block, and collect mistakes. Raises `NetworkError` at
        a limit, and once there are too many mistakes."""
        for statement in statements:
            try:
                self.handle(statement, places)
            except LimitExceeded as stop:
                self.problems.append(stop.at(statement.mark).problem)
                raise NetworkError(self.problems) from stop
            except Mistake as mistake:
                self.problems.append(mistake.at(statement.mark, *self._include_trail()).problem)
                if len(self.problems) >= MAX_PROBLEMS:
                    raise NetworkError(self.problems) from mistake
            except RecursionError as error:
                raise NetworkError(
                    [*self.problems, NetworkProblem("the model nests too deeply", statement.mark)]
                ) from error

    def _include_trail(self) -> list[str]:
        """Return the steps of inclusion that led to the file that is being read, the innermost first."""
        return [f"included from {where}" for where in reversed(self.include_stack[1:])]

    def for_each_place(self, places: list[Place], mark: Mark, act: Callable[[int, Place], None]) -> None:
        """Call `act(k, place)` for the k-th place of each; a mistake gets a place in the text (`mark`), and
        says for which object it is."""
        for k, place in enumerate(places):
            try:
                act(k, place)
            except Mistake as mistake:
                trail = place.context.trail()
                mistake.at(mark, *([f"for {trail}"] if trail else []))
                raise

    def count_objects(self, more: int) -> None:
        """Count new nodes and edges. Raises `LimitExceeded` if the network has too many."""
        self.objects += more
        if self.objects > MAX_OBJECTS:
            raise LimitExceeded(f"the network has more than {MAX_OBJECTS} nodes and edges")

    # ---- shared ----

    def apply_templates(self, templates: list[s.Selectors], opened: list[Place]) -> None:
        """Apply the templates of a statement to the objects it opened. Raises `Mistake` if one is missing."""
        for selectors in templates:
            for k, place in enumerate(opened):
                selector = selectors[k % len(selectors)]
                if selector is None:
                    continue
                at = Selected(place.thing, place.context)
                objects = [
                    each.thing
                    for each in self.select.find_templates(selector, at)
                    if isinstance(each.thing, Object)
                ]
                if not objects:
                    raise Mistake(self.missing_template_message(selector, at), selector.mark)
                for template in objects:
                    self.count_objects(self._size(template))
                    apply(template, place.thing)

    def missing_template_message(self, selector: s.Selector, at: Selected) -> str:
        """Say why a selector finds no template: which word of it is wrong, and what stands there instead."""
        for count in range(1, len(selector.stages) + 1):
            objects = self.select.find_templates(s.Selector(selector.stages[:count], selector.mark), at)
            if not any(isinstance(each.thing, Object) for each in objects):
                break
        wrong = self.texts.fill_references(selector.stages[count - 1].text, at.context)
        around: list[Object] = [self.templates]
        if count > 1:
            before = self.select.find_templates(s.Selector(selector.stages[: count - 1], selector.mark), at)
            around = [each.thing for each in before if isinstance(each.thing, Object)]
        names = [c.name for thing in around if isinstance(thing, Node) for c in thing.children.values()]
        name = " . ".join(stage.text for stage in selector.stages)
        where = f" in {around[0].path}" if around[0].path else ""
        return f"there is no template '{name}': '{wrong}' is not{where}: {did_you_mean(wrong, names)}"

    @staticmethod
    def _size(template: Object) -> int:
        """Return the number of objects inside a template."""
        return sum(1 for _ in template.descendants()) if isinstance(template, Node) else 0

    def new_node(self, name: str, parent: Node, statement: s.Statement) -> Node:
        """Make a node in a node and in its instances. Raises `Mistake` if it has no name."""
        if not name:
            raise Mistake("a node without a name: the text in quotes is empty")
        self.count_objects(1 + len(parent.instances))
        node = Node(name, None, statement.mark)
        add_child(parent, node)
        return node

    def state_names(self, text: s.Text, context: Context) -> list[str]:
        """Return the names of states in a text: separated by commas or blanks, or generated."""
        return [
            n for e in self.texts.expand_all(text.text, context) for n in re.split(r"[,\s]+", e.text) if n
        ]
