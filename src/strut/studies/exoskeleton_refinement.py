"""Refinement of a human's walk in an exoskeleton by exact gradients: pins, control and springs of a design
that walks go down to the optimum of its basin, of the goal that it is at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import process_time

import casadi as ca
import numpy as np

from strut import evolve, linkage
from strut.errors import ModelError
from strut.simulate import Trajectory, simulate
from strut.studies.exoskeleton_evaluation import DURATION
from strut.studies.exoskeleton_found import FoundDesign
from strut.studies.exoskeleton_gait import exoskeleton_tables, exoskeleton_walker, machine_values
from strut.studies.exoskeleton_measures import TARGET_SPEED, motor_torques, walking_goals
from strut.studies.exoskeleton_start import LinkageStart, check_carries, start_linkage
from strut.system import Param, sx
from strut.walkers.assistance import ASSIST_ANGLE

REFINED_MEASURES = ("time", "speed", "power_absolute", "assist_time")
"""What goals of a refinement may read: as of `evolve.WalkMeasures`."""
HELD_ENDINGS = ("_on", "_off")
"""Endings of parameters that are kept: phases at which stiffness steps. Where a torque jumps at a time, runs
have derivatives by it that those along a record do not have."""
REFINED_REACH = 0.01
"""[1] How far refinement goes, as a part of the range of each parameter."""
RTOL, ATOL = 1e-8, 1e-10
"""Relative and absolute tolerance of runs that are differentiated."""


@dataclass(frozen=True, eq=False)
class RefinedWalk:
    """What refinement made of a walk. parameters: after it, all of them, pins and control. before, after:
    measures. polished: how it went, as `evolve.polish` tells it. seconds: of processor time."""

    parameters: Mapping[str, float]
    before: Mapping[str, float]
    after: Mapping[str, float]
    polished: evolve.PolishedIndividual
    seconds: float


class DifferentiableWalk:
    """The walk of a human in an exoskeleton of one topology and pair of actuators, with derivatives.

    pins: of a design that assembles, with which the machine is made. ground: as of `walkers.exoskeleton`.
    duration: of a walk [s], measured in its second half.
    """

    def __init__(
        self,
        topology: linkage.Topology,
        actuators: Sequence[str],
        pins: np.ndarray,
        *,
        ground: str = "rigid",
        duration: float = DURATION,
    ) -> None:
        self.topology, self.actuators, self.duration = topology, tuple(actuators), float(duration)
        design = np.reshape(pins, (1, -1))
        self.machine = machine = exoskeleton_walker(topology, design, actuators, ground=ground)
        self.tables = exoskeleton_tables(topology, actuators)
        self.pins = linkage.pin_parameters(topology)
        self.names = (*[each.name for each in self.pins], *self.tables.names)
        powers = [sx(machine.ledger.supplied[name]) for name in motor_torques(actuators)]
        pitch = machine["pitch"]
        self.gradients = evolve.RecordedGradients(
            machine,
            {
                "power_absolute": sum((ca.fabs(power) for power in powers), ca.SX(0)),
                "speed": machine["speed"],
                "assist_time": machine["assisting"],
            },
            [*[each.name for each in self.pins], *self.tables.labels],
            begin=self.duration / 2,
            switches=[pitch - ASSIST_ANGLE, pitch + ASSIST_ANGLE, *powers],
        )
        self._table_slopes = self.tables.function.factory("slopes", ["i0"], ["jac:o0:i0"])
        self._last: tuple[tuple[float, ...], Trajectory] | None = None

    def bounds(self) -> list[evolve.SearchParameter]:
        """Return what may vary, with bounds: pins, control and springs, but the phases of steps."""
        parameters = [
            evolve.SearchParameter(each.name, each.low, each.high, unit=each.unit) for each in self.pins
        ]
        smooth_parameters = [q for q in self.tables.parameters if not q.name.endswith(HELD_ENDINGS)]
        return [*parameters, *[_search_parameter(q) for q in smooth_parameters]]

    def run(self, numbers: Mapping[str, float]) -> Trajectory:
        """Return the walk with these numbers; the last one is kept."""
        key = tuple(numbers[name] for name in self.names)
        if self._last is None or self._last[0] != key:
            values = machine_values(self.tables, numbers)
            values |= {each.name: numbers[each.name] for each in self.pins}
            walk = simulate(
                self.machine.using(values),
                self.duration,
                x0=self._begin(numbers).states,
                rtol=RTOL,
                atol=ATOL,
            )
            self._last = key, walk
        return self._last[1]

    def measures(self, numbers: Mapping[str, float]) -> dict[str, float]:
        """Return `REFINED_MEASURES` of a walk. Raises ModelError where the walk falls, or the linkage does
        not carry a stride."""
        check_carries(self.topology, self.actuators, np.array([numbers[each.name] for each in self.pins]))
        walk = self.run(numbers)
        if walk.status != "done":
            raise ModelError(f"the walk ends after {walk.t1:.2f} s: {walk.message}")
        return self._measures_by_name(self.gradients.integrals(walk))

    def slopes(self, numbers: Mapping[str, float], names: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return derivatives of `REFINED_MEASURES` by some numbers, by measure and name."""
        places = [self.names.index(name) for name in names]
        pins = len(self.pins)
        directions = np.zeros((len(self.gradients.places), len(self.names)))
        directions[:pins, :pins] = np.eye(pins)
        control = np.array([numbers[name] for name in self.tables.names])
        directions[pins:, pins:] = np.array(self._table_slopes(control))
        states = list(self.machine.labels("x"))
        initial = np.zeros((len(states), len(self.names)))
        for name, row in self._begin(numbers).slopes.items():
            initial[states.index(name), :pins] = row
        gradient = self.gradients.along(self.run(numbers), directions[:, places], initial[:, places])
        by_name = {
            name: self._measures_by_name(
                {measure: float(gradient.slopes[measure][k]) for measure in gradient.slopes}, 0.0
            )
            for k, name in enumerate(names)
        }
        return {measure: {name: by_name[name][measure] for name in names} for measure in REFINED_MEASURES}

    def _measures_by_name(self, totals: Mapping[str, float], time: float | None = None) -> dict[str, float]:
        """Measures from integrals over the second half; `time` is 0 of their derivatives."""
        half = self.duration / 2
        values = {
            "time": self.duration if time is None else time,
            "speed": totals["speed"] / half,
            "power_absolute": totals["power_absolute"] / half,
            "assist_time": totals["assist_time"],
        }
        return {name: float(values[name]) for name in REFINED_MEASURES}

    def _begin(self, numbers: Mapping[str, float]) -> LinkageStart:
        """How the linkage of a design begins."""
        return start_linkage(
            self.machine, self.topology, np.array([numbers[each.name] for each in self.pins])
        )


def _search_parameter(q: Param) -> evolve.SearchParameter:
    """A parameter of control as one that is searched."""
    low, high = q.bounds
    return evolve.SearchParameter(q.name, float(low), float(high), unit=q.unit)


def _around(q: evolve.SearchParameter, value: float, reach: float) -> evolve.SearchParameter:
    """What is searched near a value, which may be outside of its range."""
    far = reach * (q.high - q.low)
    return replace(q, low=min(max(q.low, value - far), value), high=max(min(q.high, value + far), value))


def refine_walk(
    walk: DifferentiableWalk,
    numbers: Mapping[str, float],
    *,
    only: Sequence[str] | None = None,
    speed: float = TARGET_SPEED,
    reach: float = REFINED_REACH,
    iterations: int = 10,
) -> RefinedWalk:
    """Improve a walk by exact gradients of the goal that it is at (`studies.exoskeleton_measures`).

    numbers: all parameters, pins and control, of a design that walks for the whole duration. only: names of
    those that vary; all but the phases of steps unless given. speed: that is asked for [m/s]. reach: how far
    each may go, as a part of its range: what is far away is another gait, and the way there goes through
    falls. iterations: of the optimiser, at most. Steps on which it would fall, come near a singularity or
    need a bar over 0.7 m are not taken.
    """
    begin = process_time()
    searched_parameters = [
        _around(q, float(numbers[q.name]), reach) for q in walk.bounds() if only is None or q.name in only
    ]
    own = {q.name: float(numbers[q.name]) for q in searched_parameters}

    def whole(values: Mapping[str, float]) -> dict[str, float]:
        return {name: float(values.get(name, numbers[name])) for name in walk.names}

    evaluation = evolve.of_function(
        lambda **values: walk.measures(whole(values)),
        REFINED_MEASURES,
        gradient=lambda **values: walk.slopes(whole(values), list(values)),
    )
    problem = evolve.SearchProblem(searched_parameters, evaluation, walking_goals(walk.duration, speed))
    before = walk.measures(whole(own))
    polished = evolve.polish(problem, own, iterations=iterations)
    return RefinedWalk(
        parameters=whole(polished.parameters),
        before=before,
        after=dict(polished.measures),
        polished=polished,
        seconds=process_time() - begin,
    )


def refine_found(
    design: FoundDesign,
    *,
    ground: str = "soft",
    duration: float = DURATION,
    iterations: int = 10,
) -> RefinedWalk:
    """Refine an exoskeleton that a search found, with its gait. ground: on which it walks, that of the search
    unless told. duration: of a walk [s]. Raises ModelError where it falls before that."""
    walk = DifferentiableWalk(
        design.group.topology, design.group.actuators, design.pins, ground=ground, duration=duration
    )
    pins = [each.name for each in linkage.pin_parameters(design.group.topology)]
    numbers = {**design.controls, **dict(zip(pins, np.ravel(design.pins).tolist(), strict=True))}
    return refine_walk(walk, numbers, iterations=iterations)


__all__ = ["DifferentiableWalk", "RefinedWalk", "refine_found", "refine_walk"]
