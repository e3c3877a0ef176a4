"""Several tasks for one exoskeleton: to walk slowly, to walk fast, and up a step. Its linkage and its springs
are the same in all of them, and the controller knows which is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any

import casadi as ca
import numpy as np

from strut import contact, control, evolve, linkage, walkers
from strut.errors import ModelError, UnknownNameError
from strut.evolve.evaluations.evaluation import OK, Evaluated
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.space import ParameterSpace
from strut.studies.exoskeleton_evaluation import DURATION, METHOD, PEAK_LAG, STEP
from strut.studies.exoskeleton_gait import (
    FREQUENCY,
    exoskeleton_tables,
    exoskeleton_walker,
    passive_signals,
)
from strut.studies.exoskeleton_measures import (
    MAX_ASSIST_SHARE,
    NEGLIGIBLE_TIME,
    SPEED_MATCH,
    gait_measures,
    worn_measures,
)
from strut.studies.exoskeleton_start import check_carries, start_linkage
from strut.system import Param, System

DEFAULT_EDGE, DEFAULT_RISE = 2.0, 0.0
"""[m] Where the step begins, and how high it is, unless told: level ground."""
EDGE_WIDTH = 0.04
"""[m] Width over which the edge of a step on soft ground is rounded."""
NEAR_SPEED = 1.0
"""[m/s] A speed between those of all tasks, which `evolve.walk_measures` needs."""
KEPT_BEGINS = 1000
"""Designs whose begins are kept, for the other tasks."""
FIRST_SPREAD = 0.05
"""[1] How far around a given design the first population is, as a part of each range."""


@dataclass(frozen=True)
class WalkTask:
    """What a walk is asked for. speed: [m/s]. frequency: of the gait [Hz]. rise: of a step [m], 0 for level
    ground. edge: where the step begins [m]."""

    speed: float
    frequency: float = FREQUENCY
    rise: float = DEFAULT_RISE
    edge: float = DEFAULT_EDGE


EVERYDAY_TASKS: Mapping[str, WalkTask] = {
    "slow": WalkTask(speed=0.8, frequency=0.75),
    "fast": WalkTask(speed=1.3),
    "step": WalkTask(speed=1.0, rise=0.05),
}
"""Two speeds on level ground, and a step up."""


@dataclass(frozen=True, eq=False)
class TaskRuns:
    """Evaluates one exoskeleton, of a topology and a pair of actuators, in one task.

    inner: that runs the machine, shared by all tasks. begins: by pins, how linkages begin or why they
    cannot, shared, too: the screening of a design takes as long as its walk. Parameters are those of
    `linkage.pin_parameters` and of `exoskeleton_tables`. Measures are those of `worn_measures`. A design
    that does not carry a stride (`check_carries`) fails.
    """

    topology: linkage.Topology
    actuators: tuple[str, ...]
    task: WalkTask
    inner: SystemEvaluation
    begins: dict[bytes, dict[str, float] | ModelError] = field(default_factory=dict)

    @cached_property
    def tables(self) -> control.PhaseTables:
        """What turns parameters of control into numbers of the machine."""
        return exoskeleton_tables(self.topology, self.actuators)

    @property
    def pins(self) -> tuple[str, ...]:
        """Names of the parameters of pins."""
        return tuple(each.name for each in linkage.pin_parameters(self.topology))

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return self.inner.measures

    @property
    def divisible(self) -> bool:
        """As of the machine's runs."""
        return self.inner.divisible

    def settings(self) -> dict[str, Any]:
        """Return the machine's settings, and what is asked for."""
        return {
            "kind": "exoskeleton task",
            "task": dict(vars(self.task)),
            "actuators": list(self.actuators),
            "encoding": self.tables.digest,
            "of": self.inner.settings(),
            "measures": dict(self.inner.expressions),
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise an error where something that the machine needs is not searched."""
        for name in (*self.pins, *self.tables.names):
            if name not in space.names:
                raise UnknownNameError(f"the task needs '{name}', which is not searched: give it bounds")

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Run those of the population that carry a stride."""
        measures, status = np.full((len(x), len(self.measures)), np.nan), [OK] * len(x)
        rows: dict[int, dict[str, float]] = {}
        for k, row in enumerate(x.tolist()):
            try:
                rows[k] = self._machine_numbers(dict(zip(names, row, strict=True)))
            except ModelError as error:
                status[k] = str(error)
        if rows:
            labels = tuple(next(iter(rows.values())))
            table = np.array([[row[label] for label in labels] for row in rows.values()])
            own_seeds = seeds if len(seeds) == 1 else seeds[list(rows)]
            answer = self.inner.evaluate(labels, table, own_seeds)
            measures[list(rows)] = answer.measures
            for k, word in zip(rows, answer.status, strict=True):
                status[k] = word
        return Evaluated(measures, tuple(status))

    def machine(self, numbers: Mapping[str, float]) -> System:
        """Return the human in an exoskeleton with these parameters, ready for the task."""
        values: dict[str, float | list[float]] = {}
        for label, value in self._machine_numbers(numbers).items():
            name, bracket, _ = label.partition("[")
            if bracket:
                entries = values.setdefault(name, [])
                assert isinstance(entries, list)
                entries.append(value)
            else:
                values[name] = value
        return self.inner.system.using(values)

    def _machine_numbers(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Return parameters and initial states of the machine, by label; ModelError where it does not carry
        a stride."""
        pins = np.array([numbers[name] for name in self.pins])
        tables = self.tables.rows(np.array([[numbers[name] for name in self.tables.names]]))[0]
        return {
            "step_edge": self.task.edge,
            "step_rise": self.task.rise,
            "frequency": self.task.frequency,
            **dict(zip(self.pins, pins.tolist(), strict=True)),
            **dict(zip(self.tables.labels, tables.tolist(), strict=True)),
            **self._begin(pins),
        }

    def _begin(self, pins: np.ndarray) -> dict[str, float]:
        """Return the states with which the linkage of a design begins, by label; ModelError where it does not
        carry a stride."""
        key = pins.tobytes()
        if key not in self.begins:
            if len(self.begins) >= KEPT_BEGINS:
                self.begins.clear()
            begin: dict[str, float] | ModelError
            try:
                check_carries(self.topology, self.actuators, pins)
                begin = dict(start_linkage(self.inner.system, self.topology, pins).states)
            except ModelError as error:
                begin = error
            self.begins[key] = begin
        begin = self.begins[key]
        if isinstance(begin, ModelError):
            raise ModelError(str(begin))
        return begin


def task_machine(
    topology: linkage.Topology,
    actuators: Sequence[str],
    duration: float,
    *,
    ground: str = "rigid",
    worn: bool = True,
    **options: Any,
) -> SystemEvaluation:
    """Return what runs the human in an exoskeleton on ground with a step, whose edge and rise are parameters:
    one compiled machine for all tasks.

    duration: of a walk [s]. ground: 'rigid', with an edge that is not touched from the side; or 'soft', in
    fixed steps and lanes, with an edge that is rounded over `EDGE_WIDTH`, so that what stumbles over it is
    pushed back. worn: whether forces and peaks are measured on soft ground; on rigid ground they always are.
    options: of `simulate_batch`."""
    edge = Param("step_edge", DEFAULT_EDGE, "m", bounds=(-100.0, 100.0))
    rise = Param("step_rise", DEFAULT_RISE, "m", bounds=(-0.3, 0.3))
    soft = ground == "soft"
    surface = rounded_step(edge, rise) if soft else contact.stairs([(edge, rise)])
    walker = exoskeleton_walker(topology, None, actuators, ground=ground, surface=surface)
    common: dict[str, Any] = {"motors": list(actuators), "near_speed": NEAR_SPEED}
    if soft and not worn:
        measures = gait_measures(walker, duration, **common)
    else:
        places = walkers.exoskeleton_attachments(topology)
        lag = PEAK_LAG if soft else None
        measures = worn_measures(walker, duration, attachments=places, lag=lag, **common)
    how = {"method": METHOD, "step": STEP, "lanes": "auto", "check_steps": False} if soft else {}
    return evolve.of_system(
        measures.system, duration, measures.expressions, label="exoskeleton", **{**how, **options}
    )


def rounded_step(edge: Param, rise: Param) -> contact.Ground:
    """Return level ground that is higher by a rise [m] behind an edge [m], rounded over `EDGE_WIDTH`."""
    return contact.profile(
        lambda x, y: rise.sym * (1 + ca.tanh(2 * (x - edge.sym) / EDGE_WIDTH)) / 2, [edge, rise]
    )


def task_evaluation(
    topology: linkage.Topology,
    actuators: Sequence[str],
    tasks: Mapping[str, WalkTask] = EVERYDAY_TASKS,
    *,
    duration: float = DURATION,
    **options: Any,
) -> evolve.TaskEvaluation:
    """Return what evaluates an exoskeleton in all tasks. duration: of each walk [s]. options: of
    `task_machine`."""
    inner = task_machine(topology, actuators, duration, **options)
    begins: dict[bytes, dict[str, float] | ModelError] = {}
    return evolve.TaskEvaluation(
        {name: TaskRuns(topology, tuple(actuators), task, inner, begins) for name, task in tasks.items()}
    )


def task_goals(
    evaluation: evolve.TaskEvaluation,
    tasks: Mapping[str, WalkTask],
    duration: float,
    limits: Mapping[str, float] | None = None,
) -> list[evolve.SearchGoal]:
    """Return goals of all tasks together, in their order: not to fall in any; the speed of each with little
    assistance, by the worst; each of some measures below a limit in all; little power in the sum.

    evaluation: of `task_evaluation`, of the same tasks. duration: of each walk [s]. limits: by
    measure, as {"peak_interaction": 500.0, "peak_power": 800.0} [N, W].
    """
    half = duration / 2
    matches = {
        name: f"min({name}.speed / {task.speed!r}, {task.speed!r} / max({name}.speed, 1e-9))"
        for name, task in tasks.items()
    }
    walks = [f"{match} * (1 - {name}.assist_time / {half!r})" for name, match in matches.items()]
    enough = f"{reduce('min({}, {})'.format, matches.values())} >= {SPEED_MATCH!r}"
    alone = f"{evaluation.largest('assist_time')} <= {MAX_ASSIST_SHARE * half!r}"
    time = evaluation.least("time")
    goals = [
        evolve.maximise(time, until=f"{time} > {duration - NEGLIGIBLE_TIME!r}"),
        evolve.maximise(reduce("min({}, {})".format, walks), until=f"{enough} and {alone}"),
    ]
    for name, limit in (limits or {}).items():
        worst = evaluation.largest(name)
        goals.append(evolve.minimise(worst, until=f"{worst} <= {limit!r}"))
    return [*goals, evolve.minimise(evaluation.total("power_absolute"))]


def task_parameters(
    topology: linkage.Topology,
    actuators: Sequence[str],
    tasks: Mapping[str, WalkTask],
    near: Mapping[str, float] | None = None,
    spread: float = FIRST_SPREAD,
) -> list[evolve.SearchParameter]:
    """Return what is searched: pins and springs once, control of actuators and ankle for each task, as
    "slow.j1_reference_1".

    near: parameters of a design that walks, around which the first population is; the whole range unless
    given. Where it lies outside of a range, the range is as wide. spread: how far around, as a part of the
    range.
    """
    spring_names = {
        signal.parameters[0].name
        for joint in topology.joints
        if joint not in actuators
        for signal in passive_signals(joint).values()
    }
    parameters = []
    for pin in linkage.pin_parameters(topology):
        parameters.append((pin.name, pin.name, (pin.low, pin.high), pin.unit))
    for q in exoskeleton_tables(topology, actuators).parameters:
        for name in [q.name] if q.name in spring_names else [f"{task}.{q.name}" for task in tasks]:
            parameters.append((name, q.name, (float(q.bounds[0]), float(q.bounds[1])), q.unit))
    search_parameters = []
    for name, own, (low, high), unit in parameters:
        first = None
        if near is not None:
            low, high = min(low, near[own]), max(high, near[own])
            reach = spread * (high - low)
            first = (max(low, near[own] - reach), min(high, near[own] + reach))
        search_parameters.append(evolve.SearchParameter(name, low, high, unit=unit, first=first))
    return search_parameters


def task_problem(
    topology: linkage.Topology,
    actuators: Sequence[str],
    tasks: Mapping[str, WalkTask] = EVERYDAY_TASKS,
    *,
    duration: float = DURATION,
    near: Mapping[str, float] | None = None,
    spread: float = FIRST_SPREAD,
    limits: Mapping[str, float] | None = None,
    **options: Any,
) -> evolve.SearchProblem:
    """Return the search for one exoskeleton that does all tasks: `task_parameters`, `task_evaluation` and
    `task_goals`. options: of `task_machine`."""
    evaluation = task_evaluation(topology, actuators, tasks, duration=duration, **options)
    return evolve.SearchProblem(
        task_parameters(topology, actuators, tasks, near, spread),
        evaluation,
        task_goals(evaluation, tasks, duration, limits),
    )


__all__ = [
    "EVERYDAY_TASKS",
    "TaskRuns",
    "WalkTask",
    "task_evaluation",
    "task_goals",
    "task_machine",
    "task_parameters",
    "task_problem",
]
