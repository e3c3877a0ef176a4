"""Evaluation by runs of a `System`: compiled, on all cores or on a graphics card, without Python per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.evolve.evaluations.evaluation import OK, Evaluated, check_measures
from strut.simulate import simulate_batch
from strut.simulate.batch import Batch
from strut.simulate.simulate import names_of
from strut.system import ExpressionError, System, parse_expression, start

TOTALS = ("supplied", "dissipated", "lost")
"""Energies that a run adds up."""


@checked
@dataclass(frozen=True)
class SystemEvaluation:
    """Evaluates individuals by running a system.

    time: how long [s]. expressions: measures by name, as expressions of what a run leaves: its states,
    discrete states and outputs at the end by their names, `end.time` [s] and `end.ok` (1 where it reached
    its end), `count.EVENT`, and with ledger=True in `options` `supplied.NAME`, `dissipated.NAME` and
    `lost.NAME` [J]. options: of `simulate_batch`. label: what a store calls the system.

    A parameter of the search is one of the system, or the state, discrete state or input of its name as the
    run begins; an individual that does not have it keeps the system's own value.
    """

    system: System
    time: float
    expressions: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)
    label: str = ""

    def __post_init__(self) -> None:
        if not self.expressions:
            raise ModelError("nothing is measured: give at least one measure, such as {'time': 'end.time'}")
        _ = self._measure_function

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return tuple(self.expressions)

    @property
    def divisible(self) -> bool:
        """Runs of a population go together: each draws from its own stream of one seed."""
        return False

    def settings(self) -> dict[str, Any]:
        """Return the system's name, how long it runs and what is measured."""
        options = {name: value for name, value in self.options.items() if name not in ("threads", "device")}
        return {
            "kind": "system",
            "system": self.label or self.system.name,
            "time": self.time,
            "measures": dict(self.expressions),
            "options": {name: repr(value) for name, value in sorted(options.items())},
        }

    def check(self, names: tuple[str, ...]) -> None:
        """Raise an error where the system has no parameter, state or input of a name."""
        settable = [name for group in self._groups.values() for name in group]
        for name in names:
            if name not in settable:
                raise UnknownNameError(
                    f"the system has no parameter, state or input '{name}': {did_you_mean(name, settable)}"
                )

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Run the population."""
        values: dict[str, dict[str, np.ndarray]] = {}
        for k, name in enumerate(names):
            group = next(key for key, members in self._groups.items() if name in members)
            own = self._groups[group][name]
            values.setdefault(group, {})[name] = np.where(np.isnan(x[:, k]), own, x[:, k])
        chosen: dict[str, Any] = dict(
            zip(("p", "x0", "z0", "u"), map(values.get, ("p", "x", "z", "u")), strict=True)
        )
        batch = simulate_batch(
            self.system,
            self.time,
            **chosen,
            outputs=self._outputs,
            seed=int(seeds[0]),
            **self.options,
        )
        columns = self._columns(batch)
        leaves, compiled = self._measure_function
        rows = np.array(compiled(np.vstack([columns[name] for name in leaves]))).T
        # a fall is something that the machine did; a run that broke off says nothing about it
        endings = {"done", *batch.names.jumps}
        status = [OK if str(each) in endings else f"the run broke off: {each}" for each in batch.status]
        return check_measures(rows, status, self.measures)

    @cached_property
    def _groups(self) -> dict[str, dict[str, float]]:
        """What may be set, with the system's own values."""
        own = start(self.system)
        return {
            group: dict(zip(self.system.labels(group), getattr(own, group).tolist(), strict=True))
            for group in ("p", "x", "z", "u")
        }

    @cached_property
    def _measure_function(self) -> tuple[tuple[str, ...], ca.Function]:
        """The names that measures read, and the measures as a function of their values."""
        system = self.system
        readable = [*system.labels("x"), *system.labels("z"), *system.labels("outputs"), "end.time", "end.ok"]
        readable += [f"count.{event.name}" for event in system.events]
        readable += [f"count.{sample.name}" for sample in system.samples]
        if self.options.get("ledger"):
            readable += [f"{word}.{name}" for word in TOTALS for name in getattr(names_of(system), word)]
        symbols = {name: ca.SX.sym(f"v{k}") for k, name in enumerate(readable)}
        rows = []
        for name, text in self.expressions.items():
            try:
                rows.append(parse_expression(text, symbols, "state, output or count", conditions=True))
            except ExpressionError as error:
                raise ExpressionError(f"measure '{name}': {error.reason}", error.text, error.column) from None
        read = set(ca.symvar(ca.vertcat(*rows)))
        leaves = tuple(name for name in readable if symbols[name] in read) or ("end.time",)
        return leaves, ca.Function(
            "measures", [ca.vertcat(*[symbols[name] for name in leaves])], [ca.densify(ca.vertcat(*rows))]
        )

    @property
    def _outputs(self) -> tuple[str, ...]:
        """Outputs that measures read."""
        return tuple(name for name in self._measure_function[0] if name in self.system.labels("outputs"))

    def _columns(self, batch: Batch) -> dict[str, np.ndarray]:
        """Return what measures read, by name."""
        columns: dict[str, np.ndarray] = {"end.time": batch.t, "end.ok": batch.ok.astype(float)}
        for name in self._measure_function[0]:
            kind, _, rest = name.partition(".")
            if name in columns:
                continue
            if kind == "count":
                columns[name] = batch.counts[rest]
            elif kind in TOTALS and rest:
                columns[name] = getattr(batch, kind)[rest]
            else:
                columns[name] = batch[name]
        return columns


@checked
def of_system(
    system: System, time: float, measures: Mapping[str, str], *, label: str = "", **options: Any
) -> SystemEvaluation:
    """Return the evaluation by runs of a system: see `SystemEvaluation`. options: of `simulate_batch`."""
    return SystemEvaluation(system, time, measures, options, label)
