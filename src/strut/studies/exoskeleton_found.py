"""Exoskeletons that a search found: read from its files, as machines again, run more exactly and on rigid
ground, and what the table tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from strut import evolve, linkage, walkers
from strut.errors import ModelError
from strut.evolve.store import JobStore
from strut.studies.exoskeleton_designs import DesignGroup, DesignSpace, WornValues, chosen_groups
from strut.studies.exoskeleton_evaluation import DURATION, walk_evaluation
from strut.studies.exoskeleton_gait import RIGID_FRICTION, exoskeleton_walker, machine_values
from strut.studies.exoskeleton_measures import (
    FINE_STEP,
    LONG_DURATION,
    add_stage,
    worn_measures,
)
from strut.studies.exoskeleton_screening import (
    FINE_SAMPLES,
    LEGS,
    SCREENED_MARGIN,
    initial_states,
    screen_designs,
)
from strut.studies.exoskeleton_search import GOAL_NAMES, goal_names, run_file
from strut.studies.exoskeleton_start import MAX_BAR_LENGTH
from strut.studies.exoskeleton_table import WornDesign, linkage_centre
from strut.system import System, start

MAX_RIGID_STEPS = 200_000
"""Of a run on rigid ground: feet that chatter would go on for hours."""
WAYS = ("fine", "long", "rigid")
"""Ways in which a design that was found is run again, in double precision: with finer steps; for longer; on
rigid ground, its landings located, with as much friction as soft ground has."""


@dataclass(frozen=True, eq=False)
class FoundDesign:
    """An exoskeleton that a search found. group: its topology and actuators. pins: values of
    `linkage.pin_parameters`. controls: values of `exoskeleton_tables`, references counted from the reference
    posture. begin: states of its linkages as a run begins, see `ScreenedDesigns`. individual: as the search
    left it, with what it kept. run: of the search, from 1. walks: whether it passed the screening of the
    search. goals: of the search, in a word each. kept_names: of parameters that were not searched."""

    group: DesignGroup
    pins: np.ndarray
    controls: Mapping[str, float]
    begin: Mapping[str, np.ndarray]
    individual: evolve.Individual
    run: int
    walks: bool
    goals: tuple[str, ...] = GOAL_NAMES
    kept_names: tuple[str, ...] = ()

    @property
    def at_last_goal(self) -> bool:
        """Whether it is at the last goal, little power."""
        return self.individual.stage == len(self.goals)

    @property
    def title(self) -> str:
        """What it is called on pages."""
        return f"{self.group.name} of run {self.run}"

    def machine(self, ground: str = "soft") -> System:
        """Return the human in it with its controller, ready to walk. ground: as of `walkers.exoskeleton`;
        rigid ground has Coulomb's friction of `RIGID_FRICTION`."""
        group = self.group
        friction = RIGID_FRICTION if ground == "rigid" else None
        walker = exoskeleton_walker(
            group.topology, self.pins, group.actuators, ground=ground, friction=friction
        )
        own = dict(zip(walker.labels("x"), start(walker).x.tolist(), strict=True))
        states = {name: float(column[0]) for name, column in initial_states(self.begin, own).items()}
        values: dict[str, Any] = {**machine_values(self._tables, self.controls), **states}
        return walker.using(values)

    @property
    def _tables(self) -> Any:
        return WornValues(self.group, self.pins, np.empty(0)).tables

    def worn_design(self, forces: Mapping[str, float] | None = None) -> WornDesign:
        """Return what the table tells of it. forces: further measures, such as of interaction [N]."""
        at = linkage.pin_positions(self.group.topology, self.pins)
        measures = {**self.individual.measures, **(forces or {})}
        motion = linkage.follow_postures(
            self.group.topology, self.pins, linkage.stride_postures(FINE_SAMPLES)
        )
        return WornDesign(
            self.group.name,
            float(LEGS * linkage.linkage_masses(self.group.topology, at, self.group.actuators)[0]),
            linkage_centre(self.group.topology, self.pins, self.group.actuators),
            linkage.bar_lengths(self.group.topology, at)[0],
            # goals of peaks, where there are some, count as one that is not reached
            len(GOAL_NAMES) if self.at_last_goal else min(self.individual.stage, len(GOAL_NAMES) - 1),
            measures,
            float(linkage.crossings(motion)[0]),
        )


def searched_space(path: Path) -> DesignSpace:
    """Return what a file of a search has searched."""
    with closing(JobStore(path, read_only=True)) as store:
        settings = store.spec["problem"]["evaluation"]
    if settings.get("kind") != "exoskeletons":
        raise ModelError(f"{path} is no search for exoskeletons: give a folder of `search_exoskeletons`")
    return DesignSpace(chosen_groups(settings["groups"]), settings["fixed"])


def searched_goals(path: Path) -> tuple[str, ...]:
    """Return the goals of a search that a file keeps, in a word each."""
    with closing(JobStore(path, read_only=True)) as store:
        goals = store.spec["problem"]["goals"]
    return goal_names([goal["value"] for goal in goals[len(GOAL_NAMES) - 1 : -1]])


def found_design(
    space: DesignSpace, individual: evolve.Individual, run: int, goals: tuple[str, ...] = GOAL_NAMES
) -> FoundDesign:
    """Return an individual as a design, with what the space keeps. run: of the search, from 1. goals: of it,
    in a word each."""
    row = space.row(individual.parameters)
    (name,) = space.rows_by_group(row)
    group = space.groups[name]
    kept_values = {key: value for key, value in space.fixed.items() if key in space.all_names(group)}
    screened = screen_designs([WornValues(group, *space.values(group, row))])[0]
    names = screened.values.tables.names
    controls = dict(zip(names, screened.values.controls[0].tolist(), strict=True))
    return FoundDesign(
        group=group,
        pins=screened.values.pins,
        controls=controls,
        begin=screened.begin,
        individual=replace(individual, parameters={**individual.parameters, **kept_values}),
        run=run,
        walks=bool(screened.walks[0]),
        goals=goals,
        kept_names=tuple(kept_values),
    )


def found_designs(folder: Path) -> list[FoundDesign]:
    """Return the best of each run that a folder has, best first."""
    designs = []
    run = 1
    while (path := run_file(folder, run)).is_file():
        evolution = evolve.load_evolution(path)
        designs.append(found_design(searched_space(path), evolution.best, run, searched_goals(path)))
        run += 1
    if not designs:
        raise ModelError(
            f"{folder} has no search for exoskeletons: there is no {run_file(folder, 1).name}; search one, "
            "or look at those of the package: strut reproduce kieboom-descent --no-search"
        )
    return sorted(designs, key=rank_design)


def rank_design(design: FoundDesign) -> tuple[int, float]:
    """Return by what designs are put into order: who is further, then less power, else more of the goal."""
    own = design.individual
    return -own.stage, own.value if design.at_last_goal else -own.value


def visit_counts(folder: Path) -> dict[str, int]:
    """Return by group how many individuals were evaluated, in all runs of a folder; 0 for one that was never
    visited."""
    counts: dict[str, int] = {}
    run = 1
    while (path := run_file(folder, run)).is_file():
        names = list(searched_space(path).groups)
        counts = {**dict.fromkeys(names, 0), **counts}
        with closing(JobStore(path, read_only=True)) as store:
            for number in reversed(store.generations(0)):
                state = store.read(0, number).state
                if state is not None:
                    for place, count in zip(state["visited"], state["visits"], strict=True):
                        counts[names[int(place)]] += int(count)
                    break
        run += 1
    return counts


def check_screening(design: FoundDesign) -> bool:
    """Tell whether a design passes the screening along many samples of the stride, and has short bars."""
    topology = design.group.topology
    motion = linkage.follow_postures(
        topology, design.pins, linkage.stride_postures(FINE_SAMPLES), SCREENED_MARGIN
    )
    longest = linkage.bar_lengths(topology, motion.pins).max()
    return bool(linkage.screen(motion, design.group.actuators).ok[0] and longest <= MAX_BAR_LENGTH)


def run_again(design: FoundDesign, way: str) -> dict[str, float]:
    """Return the measures of a design that is run again in some way of `WAYS`, with `stage`, the goal that it
    is at, counted as in the search; of a run that broke off the stage alone."""
    duration = LONG_DURATION if way == "long" else DURATION
    if way == "rigid":
        machine = design.machine("rigid")
        measures = worn_measures(
            machine,
            duration,
            motors=list(design.group.topology.joints),
            attachments=walkers.exoskeleton_attachments(design.group.topology),
        )
        evaluation = evolve.of_system(
            measures.system, duration, measures.expressions, max_steps=MAX_RIGID_STEPS
        )
        names: tuple[str, ...] = ("g",)
        row = np.array([[evaluation.own_values("p")["g"]]])
    else:
        evaluation = walk_evaluation(
            design.group.topology,
            design.pins,
            duration,
            worn=way == "fine",
            method="rk4",
            step=FINE_STEP,
        )
        machine = design.machine("soft")
        begin = start(machine)
        values = dict(zip(machine.labels("p"), begin.p.tolist(), strict=True))
        values |= zip(machine.labels("x"), begin.x.tolist(), strict=True)
        names = tuple(values)
        row = np.array([list(values.values())])
    answer = evaluation.evaluate(names, row, np.zeros(1, dtype=int))
    return add_stage(dict(zip(evaluation.measures, answer.measures[0].tolist(), strict=True)), duration)


__all__ = [
    "WAYS",
    "FoundDesign",
    "check_screening",
    "found_design",
    "found_designs",
    "rank_design",
    "run_again",
    "searched_goals",
    "searched_space",
    "visit_counts",
]
