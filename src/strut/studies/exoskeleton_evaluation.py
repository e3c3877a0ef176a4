"""What evaluates exoskeletons of many topologies: each is screened first, and only those that carry a stride
without a singularity, with bars that are not too long, walk, on soft ground, many at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve, linkage, walkers
from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import OK, Evaluated
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.evolve.space import ParameterSpace
from strut.evolve.workers.workers import core_count
from strut.linkage.measures import ACTUATOR_MASS, PASSIVE_MASS
from strut.linkage.spanning_tree import spanning_tree
from strut.simulate.batch_in_lanes import chosen_lanes
from strut.studies.exoskeleton_designs import DesignSpace, WornValues
from strut.studies.exoskeleton_gait import exoskeleton_walker
from strut.studies.exoskeleton_measures import gait_measures, worn_measures
from strut.studies.exoskeleton_pool import ForkedPool
from strut.studies.exoskeleton_screening import (
    MIN_SOUNDNESS,
    SCREENED_MARGIN,
    SCREENED_SAMPLES,
    ScreenedDesigns,
    initial_states,
    screen_designs,
    sound_designs,
)
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.walkers.worn_machine import SIDES

DURATION, STEP = 10.0, 2e-3
"""[s] Duration of a walk, and step of `METHOD` in the search."""
METHOD = "rkc"
"""Method of integration of the search: dampers of light links are what is stiff, for which RK4 takes steps of
0.25 ms and nearly twice the time. Where feet land it is not exact, so bests are run again in fine steps."""
DESIGN_MEASURES = ("soundness", "longest_bar", "added_mass", "strength", "regularity", "broken_off")
"""What is measured of a design before it walks, and whether its run broke off."""
PEAK_LAG = 5e-3
"""[s] Time constant with which forces and powers are followed to their peaks in the search."""
SCREENED_TOGETHER = 32
"""Number of designs that are screened at once: more would leave cores idle, fewer repeat what all share."""


def walk_evaluation(
    topology: linkage.Topology, pins: np.ndarray, duration: float, *, worn: bool = False, **options: Any
) -> SystemEvaluation:
    """Return what runs the machines of a topology on soft ground. pins: of a design that assembles. worn:
    whether forces between human and machine, peaks and springs are measured, too. options: of
    `simulate_batch`."""
    walker = exoskeleton_walker(topology, pins, ground="soft")
    motors = list(topology.joints)
    if worn:
        places = walkers.exoskeleton_attachments(topology)
        measures = worn_measures(walker, duration, motors=motors, attachments=places, lag=PEAK_LAG)
    else:
        measures = gait_measures(walker, duration, motors=motors)
    how = {"method": METHOD, "step": STEP, **options}
    return evolve.of_system(measures.system, duration, measures.expressions, label="exoskeleton", **how)


def divide_runs(counts: Mapping[int, int], *, cores: int, lanes: int) -> list[tuple[int, np.ndarray]]:
    """Divide runs of topologies into pieces no longer than the share of a core, or than what its lanes hold;
    return number of the topology and places of its runs, long pieces first, so that no core waits for one.

    counts: of runs, by number of a topology. lanes: runs that a core does at once."""
    share = max(lanes, -(-sum(counts.values()) // cores), 1)
    pieces = [
        (number, places)
        for number, count in counts.items()
        for places in np.array_split(np.arange(count), max(1, -(-count // share)))
        if len(places)
    ]
    return sorted(pieces, key=lambda piece: -len(piece[1]))


@dataclass(frozen=True, eq=False)
class ExoskeletonEvaluation:
    """Evaluates individuals of a `DesignSpace`.

    duration: of a walk [s]. options: of `simulate_batch`, as lanes, precision and device. processes: in which
    individuals are screened and, on a processor, walk; None for as many as there are cores. On a card the
    topologies of a generation walk side by side, and so do generations of several threads.

    worn: whether forces between human and machine, peaks of these and of powers, and what springs do are
    measured, too (`worn_measures`): for goals of them; a walk takes longer. samples: of the stride along
    which designs are screened.

    Measures are soundness, strength and regularity (see `ScreenedDesigns`), longest_bar [m], added_mass [kg],
    broken_off (1 where a run ended by its numbers), and those of `evolve.walk_measures`, which are 0 where a
    design does not walk.
    """

    space: DesignSpace
    duration: float = DURATION
    options: Mapping[str, Any] = field(default_factory=dict)
    processes: int | None = None
    worn: bool = False
    samples: int = SCREENED_SAMPLES

    @cached_property
    def runners(self) -> dict[int, SystemEvaluation]:
        """By number of a topology, what runs its machines."""
        # wild designs are many, and the best are run again with finer steps: no warning of each
        options = {"check_steps": False, **({"threads": 1} if self.on_processor else {}), **self.options}
        numbered = {group.number: group.topology for group in self.space.groups.values()}
        return {
            number: walk_evaluation(
                each, sound_designs(number)[0][:1], self.duration, worn=self.worn, **options
            )
            for number, each in numbered.items()
        }

    @property
    def on_processor(self) -> bool:
        """Whether cores run the machines, not a card."""
        return bool(self.options.get("device", "cpu") == "cpu")

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Names of what it measures."""
        return (*DESIGN_MEASURES, *next(iter(self.runners.values())).measures)

    @property
    def divisible(self) -> bool:
        """As of runs: what runs in lanes or on a card goes together."""
        return self.on_processor and self.options.get("lanes", 1) == 1

    def on_one_core(self) -> ExoskeletonEvaluation:
        """Return the same, evaluated by one core: for a worker among many."""
        return replace(self, processes=1)

    def settings(self) -> dict[str, Any]:
        """Return what it is, as a store keeps it."""
        own = [runner.settings() for runner in self.runners.values()]
        text = "".join(f"{each['equations']}{each['options']}" for each in own)
        return {
            "kind": "exoskeletons",
            "groups": list(self.space.groups),
            "fixed": dict(self.space.fixed),
            "machines": hashlib.sha256(text.encode()).hexdigest()[:16],
            "time": self.duration,
            "screening": [self.samples, SCREENED_MARGIN],
            "measures": {name: name for name in self.measures},
        }

    def check(self, space: ParameterSpace) -> None:
        """Raise ModelError where what is searched is not what the space has."""
        if tuple(space.names) != self.space.names:
            raise ModelError("what is searched is not the space of the evaluation: take its parameters")

    def screen(self, parts: Sequence[tuple[str, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Screen individuals of groups of one topology, rows of x by group. Returned are of each group
        soundness, longest bar, mass, strength and regularity in columns, and rows of the machine of those
        that walk."""
        worn = []
        for name, x in parts:
            group = self.space.groups[name]
            worn.append(WornValues(group, *self.space.values(group, x)))
        return [
            (
                np.column_stack(
                    [
                        screened.soundness,
                        screened.longest,
                        screened.mass,
                        screened.strength,
                        screened.regularity,
                    ]
                ),
                self.machine_rows(screened, np.flatnonzero(screened.walks)),
            )
            for screened in screen_designs(worn, samples=self.samples)
        ]

    def evaluate(self, names: tuple[str, ...], x: np.ndarray, seeds: np.ndarray) -> Evaluated:
        """Screen the population, and run those that pass."""
        measures = np.zeros((len(x), len(self.measures)))
        tasks = self._screening_tasks(x)
        orders = [([(name, x[places]) for name, places in task],) for task in tasks]
        screened = self._pool.map("screen", orders)
        walking: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
        for task, answers in zip(tasks, screened, strict=True):
            for (name, places), (columns, rows) in zip(task, answers, strict=True):
                measures[places, : columns.shape[1]] = columns
                passing = (columns[:, 0] >= MIN_SOUNDNESS) & (columns[:, 1] <= MAX_BAR_LENGTH)
                walking.setdefault(self.space.groups[name].number, []).append((places[passing], rows))
        chunks = self._chunks(walking)
        measured = self._map_runs([(number, rows) for number, rows, _ in chunks])
        for (_, _, places), answer in zip(chunks, measured, strict=True):
            broken = np.isnan(answer).any(axis=1)
            measures[places, DESIGN_MEASURES.index("broken_off")] = broken
            measures[places, len(DESIGN_MEASURES) :] = np.where(broken[:, None], 0.0, answer)
        return Evaluated(measures, (OK,) * len(x))

    def _screening_tasks(self, x: np.ndarray) -> list[list[tuple[str, np.ndarray]]]:
        """Return places of individuals by group, groups of one topology together, at most so many in a task
        that all cores have some."""
        tasks: list[list[tuple[str, np.ndarray]]] = []
        by_topology: dict[int, list[tuple[str, np.ndarray]]] = {}
        for name, places in self.space.rows_by_group(x).items():
            by_topology.setdefault(self.space.groups[name].number, []).append((name, places))
        for members in by_topology.values():
            room = 0
            for name, places in members:
                for first in range(0, len(places), SCREENED_TOGETHER):
                    share = places[first : first + SCREENED_TOGETHER]
                    if room < len(share):
                        tasks.append([])
                        room = SCREENED_TOGETHER
                    tasks[-1].append((name, share))
                    room -= len(share)
        return tasks

    def _chunks(
        self, walking: Mapping[int, list[tuple[np.ndarray, np.ndarray]]]
    ) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Return by number of a topology rows of its machine with the places of their individuals: about
        a piece for each core, whose lanes take the next run as one ends; on a card all of them."""
        by_number = {
            number: tuple(np.concatenate(each) for each in zip(*members, strict=True))
            for number, members in walking.items()
        }
        counts = {number: len(places) for number, (places, _) in by_number.items()}
        cores, lanes = (self._cores, self.lanes) if self.on_processor else (1, 1)
        return [
            (number, by_number[number][1][own], by_number[number][0][own])
            for number, own in divide_runs(counts, cores=cores, lanes=lanes)
        ]

    @property
    def _cores(self) -> int:
        """How many processes evaluate."""
        return core_count() if self.processes is None else self.processes

    @cached_property
    def lanes(self) -> int:
        """Runs that a core does at once."""
        return chosen_lanes(self.options.get("lanes", 1), self.options.get("precision", "double"), None)

    @cached_property
    def labels(self) -> dict[int, tuple[str, ...]]:
        """By number of a topology, the parameters and states of its machine that are set, in order."""
        labels: dict[int, tuple[str, ...]] = {}
        for group in self.space.groups.values():
            if group.number not in labels:
                pins = [each.name for each in linkage.pin_parameters(group.topology)]
                masses = [f"{joint}_mass" for joint in group.topology.joints]
                tables = sorted(WornValues(group, np.empty(0), np.empty(0)).tables.labels)
                carrying = [joint for joint, _ in spanning_tree(group.topology).carried.values()]
                angles = [f"{joint}{side}" for joint in carrying for side in SIDES]
                rates = [f"{name}_rate" for name in angles]
                labels[group.number] = (*pins, *masses, *tables, *angles, *rates)
        return labels

    def machine_rows(self, screened: ScreenedDesigns, which: np.ndarray) -> np.ndarray:
        """Return what is set in the machines of screened designs, a row each, as `labels` order it."""
        values, group = screened.values, screened.values.group
        pins = [each.name for each in linkage.pin_parameters(group.topology)]
        columns = dict(zip(pins, values.pins[which].T, strict=True))
        for joint in group.topology.joints:
            mass = ACTUATOR_MASS if joint in group.actuators else PASSIVE_MASS
            columns[f"{joint}_mass"] = np.full(len(which), mass)
        labels = self.labels[group.number]
        if not len(which):
            return np.empty((0, len(labels)))
        columns |= zip(values.tables.labels, values.tables.rows(values.controls[which]).T, strict=True)
        states = {label: column[which] for label, column in screened.begin.items()}
        columns |= initial_states(states, self.runners[group.number].own_values("x"))
        return np.column_stack([columns[label] for label in labels])

    def run(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Run machines of a topology, a row each as `labels` order them; return their measures, nan where a
        run broke off."""
        return self.runners[number].evaluate(self.labels[number], rows, np.zeros(1, dtype=int)).measures

    def _map_runs(self, orders: list[tuple[int, np.ndarray]]) -> list[np.ndarray]:
        """Return what `run` answers to each order: of the processes or, on a card, of threads that wait."""
        if self.on_processor or not orders:
            return self._pool.map("run", orders)
        with ThreadPoolExecutor(len(orders)) as threads:
            return list(threads.map(lambda order: self.run(*order), orders))

    @cached_property
    def _pool(self) -> ForkedPool:
        """The processes that do it; machines are compiled before they are forked."""
        return ForkedPool(self, self.processes)

    def __getstate__(self) -> dict[str, Any]:
        """A copy for another process begins without processes."""
        return {name: value for name, value in self.__dict__.items() if name != "_pool"}

    def compile(self) -> None:
        """Compile the machines of all topologies, side by side; then load them here."""
        self._pool.begin()

    def compile_for(self, capability: str) -> list[Path]:
        """Compile the machines of all topologies, side by side, for cards of a compute capability, as of
        `SystemEvaluation.compile_for`; return the files."""
        return self._pool.compile_for(capability)

    def compile_runner(self, number: int, capability: str) -> Path:
        """Compile the machine of one topology for cards of a compute capability."""
        return self.runners[number].compile_for(capability)[0]


__all__ = [
    "DESIGN_MEASURES",
    "ExoskeletonEvaluation",
    "divide_runs",
    "walk_evaluation",
]
