"""Evaluation by runs of a `System`: compiled, on all cores or on a graphics card, without Python per run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import checked, positive
from strut.errors import ModelError, UnknownNameError, ValueRangeError, did_you_mean
from strut.evolve.evaluations.evaluation import OK, Evaluated, check_measures
from strut.evolve.evaluations.run_measures import ENERGY_TOTALS, RunMeasures, parse_measures
from strut.evolve.job_spec import PLACE, PLACE_OPTIONS
from strut.evolve.space import ParameterSpace
from strut.simulate import compile_for_card, simulate_batch
from strut.simulate.batch import Batch
from strut.system import Quantity, System, start


@checked
@dataclass(frozen=True)
class SystemEvaluation:
    """Evaluates individuals by running a system.

    time: how long [s]. expressions: measures by name, as expressions of what a run leaves: its states,
    discrete states and outputs at the end by their names, `end.time` [s] and `end.ok` (1 where it reached
    its end), `count.EVENT`, and with ledger=True in `options` `supplied.NAME`, `dissipated.NAME` and
    `lost.NAME` [J]; and over the run `integral(e)`, `mean(e)`, `largest(e)`, `least(e)` and, from a time on
    [s], `integral_after(e, 5)`, `mean_after(e, 5)`, `largest_after(e, 5)`, `least_after(e, 5)` of
    expressions of states and outputs. options: of `simulate_batch`. label: what a store calls the system.

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
        positive("time", self.time, "s")
        _ = self.run_measures

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return tuple(self.expressions)

    @property
    def divisible(self) -> bool:
        """Runs that draw random numbers go together: each draws from its own stream of one seed. So do those
        of a card or in lanes, whose neighbours decide how they round."""
        alike = self.options.get("device", "cpu") == "cpu" and self.options.get("lanes", 1) == 1
        return alike and not self.system.randoms

    def settings(self) -> dict[str, Any]:
        """Return the system's name, how long it runs and what is measured."""
        # where it runs and beside what, and what is told: the same numbers, but for rounding
        elsewhere = ("threads", "device", "check_steps", *PLACE_OPTIONS)
        options = {name: value for name, value in self.options.items() if name not in elsewhere}
        device = self.options.get("device", "cpu")
        return {
            "kind": "system",
            "system": self.label or self.system.name,
            "values": {name: value for group in self._groups.values() for name, value in group.items()},
            "equations": digest_equations(self.system),
            "time": self.time,
            "measures": dict(self.expressions),
            "options": {name: repr(value) for name, value in sorted(options.items())},
            **({} if device == "cpu" else {PLACE: device}),
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where the system has no parameter, state or input of a name, counts it in another
        unit, or does not let it go as far as it is searched."""
        settable = [name for group in self._groups.values() for name in group]
        for parameter in space.parameters:
            if parameter.name not in settable:
                raise UnknownNameError(
                    f"the system has no parameter, state or input '{parameter.name}': "
                    f"{did_you_mean(parameter.name, settable)}"
                )
            quantity = self._quantity(parameter.name)
            if parameter.unit and parameter.unit != quantity.unit:
                raise ModelError(
                    f"'{parameter.name}' is searched in '{parameter.unit}', and the system counts it in "
                    f"'{quantity.unit}': give its bounds in that unit"
                )
            low, high = quantity.bounds
            if not low <= parameter.low < parameter.high <= high:
                raise ValueRangeError(
                    f"'{parameter.name}' is searched from {parameter.low:g} to {parameter.high:g}, and the "
                    f"system allows {low:g} to {high:g}: search within that"
                )

    def unit(self, name: str) -> str:
        """Return the unit in which the system counts a parameter, state or input; empty for no such name."""
        exists = any(name in group for group in self._groups.values())
        return self._quantity(name).unit if exists else ""

    def _quantity(self, label: str) -> Quantity:
        """Return what a component belongs to."""
        quantity: Quantity = next(
            each
            for group in ("p", "x", "z", "u")
            for each in getattr(self.system, group)
            if each.name == label or label.startswith(f"{each.name}[")
        )
        return quantity

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Run the population."""
        values: dict[str, dict[str, np.ndarray]] = {}
        for k, name in enumerate(names):
            group = next(key for key, members in self._groups.items() if name in members)
            own = self._groups[group][name]
            values.setdefault(group, {})[name] = np.where(np.isnan(x[:, k]), own, x[:, k])
        chosen: dict[str, Any] = dict(zip(("x0", "z0", "u"), map(values.get, ("x", "z", "u")), strict=True))
        if "p" in values:  # as rows: hundreds of parameters one by one take longer than a run
            place, own_values = self._parameters
            rows = np.tile(own_values, (len(x), 1))
            rows[:, [place[name] for name in values["p"]]] = np.column_stack(list(values["p"].values()))
            chosen["p"] = rows
        batch = simulate_batch(
            self.run_measures.system,
            self.time,
            **chosen,
            outputs=self._outputs,
            seed=int(seeds[0]),
            **self.options,
        )
        if batch.interrupted:  # runs that nobody did are no failures of the machine
            raise KeyboardInterrupt
        columns = self._columns(batch)
        measures = self.run_measures
        rows = np.array(measures.function(np.vstack([columns[name] for name in measures.names]))).T
        # a fall is something that the machine did; a run that broke off says nothing about it
        endings = {"done", *batch.names.jumps}
        status = [OK if str(each) in endings else f"the run broke off: {each}" for each in batch.status]
        return check_measures(rows, status, self.measures)

    def compile_for(self, capability: str) -> list[Path]:
        """Compile what runs it on a card of a compute capability, which need not be here, and return the
        files, which the cache keeps. capability: as '9.0' or 'sm_90'."""
        elsewhere = ("threads", "device", "check_steps", "backend", "lanes", "progress")
        options = {name: value for name, value in self.options.items() if name not in elsewhere}
        return [compile_for_card(self.run_measures.system, capability, **options)]

    def own_values(self, group: str) -> dict[str, float]:
        """Return the system's own values by label. group: 'p', 'x', 'z' or 'u'."""
        return dict(self._groups[group])

    @cached_property
    def _groups(self) -> dict[str, dict[str, float]]:
        """What may be set, with the system's own values."""
        own = start(self.system)
        return {
            group: dict(zip(self.system.labels(group), getattr(own, group).tolist(), strict=True))
            for group in ("p", "x", "z", "u")
        }

    @cached_property
    def _parameters(self) -> tuple[dict[str, int], np.ndarray]:
        """Places of the parameters of what is run, by label, and their own values."""
        system = self.run_measures.system
        return {label: k for k, label in enumerate(system.labels("p"))}, start(system).p

    @cached_property
    def run_measures(self) -> RunMeasures:
        """The measures, and the system with what they integrate."""
        return parse_measures(
            self.system,
            self.expressions,
            duration=self.time,
            ledger=bool(self.options.get("ledger")),
        )

    @property
    def _outputs(self) -> tuple[str, ...]:
        """Outputs that measures read."""
        return tuple(name for name in self.run_measures.names if name in self.system.labels("outputs"))

    def _columns(self, batch: Batch) -> dict[str, np.ndarray]:
        """Return what measures read, by name."""
        columns: dict[str, np.ndarray] = {"end.time": batch.t, "end.ok": batch.ok.astype(float)}
        for name in self.run_measures.names:
            kind, _, rest = name.partition(".")
            if name in columns:
                continue
            if kind == "count":
                columns[name] = batch.counts[rest]
            elif kind in ENERGY_TOTALS and rest:
                columns[name] = getattr(batch, kind)[rest]
            else:
                columns[name] = batch[name]
        return columns


def digest_equations(system: System) -> str:
    """Return a digest of rates and guards, so that a job is not gone on with after its machine changed."""
    expressions = [*system.flow.values(), *(event.guard for event in system.events)]
    text = system.function("equations", expressions).serialize()
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@checked
def of_system(
    system: System, time: float, measures: Mapping[str, str], *, label: str = "", **options: Any
) -> SystemEvaluation:
    """Return the evaluation by runs of a system: see `SystemEvaluation`. options: of `simulate_batch`."""
    return SystemEvaluation(system, time, measures, options, label)
