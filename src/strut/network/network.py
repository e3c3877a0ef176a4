"""`Network`, `load`, `loads`: models in the coupled-dynamics language, and what can be done with them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked, seed_number
from strut.confine import Roots
from strut.errors import ValueRangeError, did_you_mean
from strut.gc_pause import pause_gc
from strut.network.build.builder import Builder
from strut.network.build.context import Context
from strut.network.build.model_files import ModelFiles, read_source
from strut.network.build.selected import Selected
from strut.network.build.snapshot import Snapshot
from strut.network.codyn_stepper import CodynStepper, SteppedRows
from strut.network.drawing import svg
from strut.network.lower.naming import SystemNames
from strut.network.lower.to_system import Lowering
from strut.network.lower.whole_numbers import whole
from strut.network.machines import join_machines
from strut.network.model import Action, Edge, Function, Item, Node, Object, Variable
from strut.network.query import NetworkQuery
from strut.network.text.errors import Mistake, NetworkError, NetworkProblem, Source
from strut.network.text.lexer import heading
from strut.network.text.limits import Includes
from strut.network.text.parse import parse
from strut.network.text.statements import DeleteStatement
from strut.system import System

METHODS = {
    "euler": "euler",
    "runge-kutta": "rk4",
    "leap-frog": "leapfrog",
    "predict-correct": "predictor-corrector",
}
"""Integrators by their names in the language, and ours."""


MAX_ROWS = 1e8
"""How many rows a run in whole steps may have; more are taken for a mistake."""


def _positive(step: float) -> float:
    """The step itself [s]. Raises `ValueRangeError` where it is not positive."""
    if not (math.isfinite(step) and step > 0):
        raise ValueRangeError(
            f"the step is {step} s: it must be positive, as default-timestep of integrator or where a run is "
            f"asked for"
        )
    return step


class Network:
    """A network of nodes and edges, made by `load` or `loads`.

    root: the node that holds all others. templates: the node that holds the templates. integrator: settings
    of the block `integrator`. warnings: what was left out knowingly. said: what `debug-print` printed.
    """

    def __init__(self, builder: Builder, name: str) -> None:
        self.name = name
        self.root, self.templates = builder.root, builder.templates
        self.integrator = builder.integrator
        self.warnings, self.said = builder.warnings, builder.debug_output
        self.select = builder.select
        self._builder = builder
        self._check_method()

    def _check_method(self) -> None:
        """Raise `NetworkError` where the file asks for an integrator that does not exist."""
        method = self.integrator["method"]
        if method not in METHODS:
            raise self._wrong_setting(
                "method", f"there is no integrator '{method}': {did_you_mean(method, list(METHODS))}"
            )

    def _wrong_setting(self, name: str, message: str) -> NetworkError:
        """The error for a setting of the integrator, with its place."""
        return NetworkError([NetworkProblem(message, self._builder.integrator_marks.get(name))])

    def __repr__(self) -> str:
        return f"<Network {self.name}: {len(self.nodes)} nodes, {len(self.edges)} edges>"

    @property
    def nodes(self) -> list[Node]:
        """Every node, the network itself not counted."""
        return [n for n in self.root.descendants() if isinstance(n, Node)]

    @property
    def edges(self) -> list[Edge]:
        """Every edge, those from nodes to themselves that hold their equations not counted."""
        return [e for e in self.root.descendants() if isinstance(e, Edge)]

    @property
    def step(self) -> float:
        """The step the file asks for [s]. Raises `NetworkError` or `ValueRangeError` where it is none."""
        try:
            return _positive(self._builder.texts.calculate(self.integrator["default-timestep"]))
        except Mistake as mistake:
            raise self._wrong_setting(
                "default-timestep", f"default-timestep is no number: {mistake}"
            ) from mistake
        except ValueRangeError as error:
            mark = self._builder.integrator_marks.get("default-timestep")
            raise ValueRangeError(f"{mark}: {error}" if mark is not None else str(error)) from None

    @checked
    def options(self, step: float | None = None) -> dict[str, Any]:
        """How the file wants to be run: `strut.simulate(network.system(), t=10, **network.options())`.

        step: another step [s].
        """
        chosen = self.step if step is None else _positive(step)
        return {"method": METHODS[self.integrator["method"]], "step": chosen}

    def adams_orders(self) -> tuple[int, int]:
        """The orders of predictor and corrector that the file asks for, where its integrator is
        predict-correct. Raises `NetworkError` where they are out of range."""
        orders = []
        for name, least in (("prediction-order", 2), ("correction-order", 3)):
            order = whole(self._builder.texts.calculate(self.integrator[name]))
            if not least <= order <= 5:
                raise self._wrong_setting(
                    name, f"{name} of the integrator is {order}: it must be {least} to 5"
                )
            orders.append(order)
        return orders[0], orders[1]

    def system_names(self) -> dict[Variable, str]:
        """The name of each variable in the system and in runs: its path, unless that is no name there or is
        taken."""
        things: list[Object] = [self.root, *self.root.descendants()]
        events = [e for n in things if isinstance(n, Node) for e in n.events]
        return SystemNames().variables((*things, *events))

    @checked
    def find(self, selector: str) -> list[Object | Item]:
        """Find objects and variables by a selector: `network.find('nodes | /h.*/ . r')`.

        Raises `NetworkError` where the selector is wrong.
        """
        statement = parse(Source("selector", f"delete {selector}"))[0]
        assert isinstance(statement, DeleteStatement)
        chosen = statement.selectors[0]
        try:
            selection: list[Selected] = self.select.below(chosen, self.root, Context(self._builder.scope))
        except Mistake as mistake:
            raise NetworkError([mistake.problem]) from mistake
        return [f.thing for f in selection]

    @checked
    def change(self, text: str) -> Network:
        """Run further statements on this network: all of them, or none if there is a mistake in one.

        Returns the network itself. Raises `NetworkError` with all mistakes.
        """
        self._builder.problems.clear()
        self._builder.includes = Includes()
        with pause_gc():
            before = Snapshot(self._builder)
            try:
                self._builder.run_text(Source("text", text))
                self._check_method()
            except BaseException:
                before.restore()
                raise
        return self

    @checked
    def system(
        self,
        *,
        outputs: Iterable[str] | None = None,
        seed: int = 0,
        machines: Mapping[str, System] | None = None,
        step: float | None = None,
    ) -> System:
        """Make the hybrid system of this network.

        machines: systems that stand for nodes, by the names of nodes; see `strut.network.machines`.
        outputs: names of variables wanted as outputs; None means all, of large networks single numbers first.
        seed: of random numbers in initial values; they become parameters `rand.r1`, ..., between 0 and 1.
        step: what `dt` is, and how often clocks tick [s]; None: as the file asks for. Give the same to
            `options`.

        Raises `NetworkError` with all mistakes, each with its place.
        """
        seed_number(seed)
        lowering = Lowering(self, seed, step if step is None else _positive(step))
        with pause_gc():
            system = lowering.system(outputs)
        self.warnings.extend(w for w in lowering.meaning.warnings if w not in self.warnings)
        return join_machines(system, machines) if machines else system

    @checked
    def run_steps(
        self,
        t: float | tuple[float, float],
        step: float | None = None,
        *,
        at: Mapping[str, Any] | None = None,
        outputs: Iterable[str] | None = None,
        seed: int = 0,
    ) -> SteppedRows:
        """Run the network in whole steps, as the original does, a row for each: events are taken at the end
        of the step in which their conditions begin to hold, or as soon after as `within` says.

        t: how long [s], or (begin, end). step: [s]; None: as the file asks for. at: values of states,
        parameters and inputs to begin with, by name. outputs, seed: as for `system`. Raises `ValueRangeError`
        where the rows are too many.
        """
        seed_number(seed)
        begin, end = t if isinstance(t, tuple) else (0.0, t)
        chosen = self.step if step is None else _positive(step)
        if not (end - begin) / chosen <= MAX_ROWS:
            raise ValueRangeError(
                f"{end - begin:g} s in steps of {chosen:g} s are more than {MAX_ROWS:g} rows: give longer "
                f"steps"
            )
        names = None if outputs is None else list(outputs)
        return CodynStepper(self, step=step, seed=seed, outputs=names, at=at).run(begin, end)

    @checked
    def value(
        self, text: str, t: float = 0.0, at: Mapping[str, Any] | None = None, of: str = ""
    ) -> np.ndarray:
        """Evaluate an expression of the variables of the network: `network.value("h1.r^2", of="ring")`.

        t: the time [s]. at: values of states, parameters and inputs by name; the others are as when a run
        begins. of: the node or edge from which names are looked up. Raises `NetworkError`.
        """
        return NetworkQuery(self).value(text, t=t, at=at, path=of)

    @checked
    def graph(self) -> str:
        """Draw the network, as the text of an SVG file."""
        return svg(self.root, self.name)

    @checked
    def states_of(self, node: str) -> list[str]:
        """The names of the states that a node can be in, in the order in which they are counted.

        Raises `NetworkError` where the node has none.
        """
        lowering = Lowering(self, 0)
        lowering.system(())
        for each, (_, states) in lowering.meaning.state_machines.items():
            if each.path == node:
                return states
        raise NetworkError([NetworkProblem(f"'{node}' has no states")])


@checked
def load(path: str | Path, *, seed: int = 0, roots: Roots = ()) -> Network:
    """Load a network from a file.

    seed: that of random edges. roots: folders from which it may read files that it names, besides its own.
    Raises `NetworkError` with all mistakes, each with its place.
    """
    try:
        source = read_source(Path(path))
    except Mistake as mistake:
        raise NetworkError([mistake.problem]) from mistake
    return loads(source.text, str(path), seed=seed, roots=roots)


@checked
def loads(text: str, where: str = "text", *, seed: int = 0, roots: Roots = ()) -> Network:
    """Load a network from a text. where: the file it came from, for messages; see `load`."""
    builder = Builder(ModelFiles(where, roots), seed=seed_number(seed))
    builder.include_stack.append(where)
    with pause_gc():
        builder.run_text(Source(where, text))
    builder.root.note = builder.root.note or heading(text)
    stem = "".join(c if c.isalnum() else "_" for c in Path(where).stem)
    return Network(builder, stem if stem.isidentifier() else f"network_{stem}")


__all__ = ["Action", "Edge", "Function", "Network", "Node", "Variable", "load", "loads"]
