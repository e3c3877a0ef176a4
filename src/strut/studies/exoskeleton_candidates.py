"""Machines that a human wears, of either kind, a linkage or the anthropomorphic rival, as they are refined,
run again, told and drawn alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from strut import evolve
from strut.simulate import Trajectory, simulate
from strut.studies.exoskeleton_descent import DescendedMachine, descend_design, descend_rival
from strut.studies.exoskeleton_designs import DesignSpace, chosen_groups
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_found import FoundDesign, check_screening, found_design, run_again
from strut.studies.exoskeleton_gait import FREQUENCY
from strut.studies.exoskeleton_own_walk import SOUND_WALK, screen_walk
from strut.studies.exoskeleton_pictures import (
    PICTURE_STEP,
    GaitSources,
    draw_designs,
    draw_rival,
    gait_plots,
    last_strides,
    linkage_sources,
    rival_sources,
)
from strut.studies.exoskeleton_rival import RIVAL, rival_machine, rival_run_again
from strut.studies.exoskeleton_table import WornDesign, rival_design
from strut.studies.study import Picture, Row
from strut.system import System


class Candidate(Protocol):
    """A machine that a human wears, with its gait."""

    @property
    def title(self) -> str:
        """What it is called in tables and on pages."""

    @property
    def individual(self) -> evolve.Individual:
        """As a search, or descent, left it."""

    def with_individual(self, individual: evolve.Individual) -> Candidate:
        """Return the same machine with other parameters."""

    def carries_stride(self) -> bool:
        """Whether it passes the finer screening, `exoskeleton_found.check_screening`."""

    def screen_walk(self) -> Mapping[str, float]:
        """Return how far it stays from singularities along its own walk, as of
        `exoskeleton_own_walk.screen_walk`."""

    def run_again(self, way: str) -> dict[str, float]:
        """Return its measures, run in a way of `exoskeleton_found.WAYS`."""

    def worn_design(self, stage: int, measures: Mapping[str, float]) -> WornDesign:
        """Return what tables tell of it. stage: the goal that it is at. measures: of its walk."""

    def machine(self) -> System:
        """Return the human in it on soft ground, ready to walk."""

    @property
    def sources(self) -> GaitSources:
        """Where curves of it come from."""

    def picture(self) -> Picture:
        """Return a drawing of it, to scale."""

    def descend(
        self, limits: Mapping[str, float] | None, tell: Callable[[str], None], **options: Any
    ) -> DescendedMachine:
        """Refine it with its gait, as of `descend_design`."""


@dataclass(frozen=True, eq=False)
class LinkageCandidate:
    """A linkage that a search found. title: what it is called; its group, unless several have it."""

    design: FoundDesign
    title: str

    @property
    def individual(self) -> evolve.Individual:
        """As a search, or descent, left it."""
        return self.design.individual

    def with_individual(self, individual: evolve.Individual) -> LinkageCandidate:
        """Return the same topology and pair with other parameters."""
        space = DesignSpace(chosen_groups([self.design.group.name]))
        design = found_design(space, individual, self.design.run, self.design.goals)
        return replace(self, design=replace(design, kept_names=self.design.kept_names))

    def carries_stride(self) -> bool:
        """Whether it passes the finer screening."""
        return check_screening(self.design)

    def screen_walk(self) -> Mapping[str, float]:
        """Return how far it stays from singularities along its own walk."""
        return screen_walk(self.design)

    def run_again(self, way: str) -> dict[str, float]:
        """Return its measures, run in a way of `exoskeleton_found.WAYS`."""
        return run_again(self.design, way)

    def worn_design(self, stage: int, measures: Mapping[str, float]) -> WornDesign:
        """Return what tables tell of it."""
        return replace(self.design.worn_design(), stage=stage, measures=measures)

    def machine(self) -> System:
        """Return the human in it on soft ground, ready to walk."""
        return self.design.machine("soft")

    @property
    def sources(self) -> GaitSources:
        """Where curves of it come from."""
        return linkage_sources(self.design.group.topology, self.design.group.actuators)

    def picture(self) -> Picture:
        """Return a drawing of it, to scale."""
        group = self.design.group
        return draw_designs({self.title: (group.topology, self.design.pins, group.actuators)})[0]

    def descend(
        self, limits: Mapping[str, float] | None, tell: Callable[[str], None], **options: Any
    ) -> DescendedMachine:
        """Refine it with its gait."""
        return descend_design(self.design, limits=limits, tell=tell, **options)


@dataclass(frozen=True, eq=False)
class RivalCandidate:
    """The anthropomorphic rival with a gait."""

    individual: evolve.Individual
    title: str = RIVAL

    def with_individual(self, individual: evolve.Individual) -> RivalCandidate:
        """Return the rival with other parameters."""
        return replace(self, individual=individual)

    def carries_stride(self) -> bool:
        """Whether it passes the finer screening: it has no dead points."""
        return True

    def screen_walk(self) -> Mapping[str, float]:
        """Return that its own walk passes: it has no dead points."""
        return SOUND_WALK

    def run_again(self, way: str) -> dict[str, float]:
        """Return its measures, run in a way of `exoskeleton_found.WAYS`."""
        return rival_run_again(self.individual, way)

    def worn_design(self, stage: int, measures: Mapping[str, float]) -> WornDesign:
        """Return what tables tell of it."""
        return rival_design(self.individual.parameters, stage, measures)

    def machine(self) -> System:
        """Return the human in it on soft ground, ready to walk."""
        return rival_machine(self.individual.parameters)

    @property
    def sources(self) -> GaitSources:
        """Where curves of it come from."""
        return rival_sources()

    def picture(self) -> Picture:
        """Return a drawing of it, to scale."""
        return draw_rival(self.individual.parameters, self.title)

    def descend(
        self, limits: Mapping[str, float] | None, tell: Callable[[str], None], **options: Any
    ) -> DescendedMachine:
        """Refine it with its gait."""
        return descend_rival(self.individual, limits=limits, tell=tell, **options)


def parameters_digest(parameters: Mapping[str, float], *more: Any) -> str:
    """Return what tells parameters from others, as a short text. more: that belongs to them."""
    text = json.dumps([sorted(parameters.items()), *more], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def page_parts(candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Return what a page shows of machines on soft ground, as arguments of `SearchOutcome`: curves over a
    cycle, drawings to scale, and their last strides in motion. Each walks once more, by RK4. One that falls
    has no curves, which the remark of each plot says, and the film of it is all of its walk."""
    walks, films = {}, {}
    for each in candidates:
        machine = each.machine()
        walk = simulate(machine, DURATION, method="rk4", step=PICTURE_STEP, ledger=False)
        walks[each.title], films[each.title] = walk, last_strides(machine, walk, FREQUENCY)
    remark = "; ".join(f"{title} {text}: not shown" for title, text in fall_texts(walks).items())
    plots = gait_plots(walks, {each.title: each.sources for each in candidates}, FREQUENCY)
    return {
        "plots": [replace(plot, remark=remark) for plot in plots],
        "pictures": [each.picture() for each in candidates],
        "films": films,
    }


def fall_texts(walks: Mapping[str, Trajectory]) -> dict[str, str]:
    """Return by title how walks ended that did not come to their end, in words."""
    verbs = {title: "falls" if walk.ended_in_failure else "ends" for title, walk in walks.items()}
    return {
        title: f"{verbs[title]} after {walk.t[-1]:.1f} s"
        for title, walk in walks.items()
        if walk.status != "done"
    }


def fall_rows(films: Mapping[str, Trajectory]) -> list[Row]:
    """Return a row of each machine that a page shows no curves of. films: of `page_parts`."""
    return [
        Row(
            f"{title}: curves over a cycle",
            "",
            f"{text}: not shown",
            f"in steps of {1e3 * PICTURE_STEP:g} ms; its moving picture is all of this walk",
        )
        for title, text in fall_texts(films).items()
    ]


__all__ = [
    "Candidate",
    "LinkageCandidate",
    "RivalCandidate",
    "fall_rows",
    "page_parts",
    "parameters_digest",
]
