"""`SoftGround`: ground that gives way, made softer and then stiffened in stages (a homotopy).

Stiff ground makes forces swing many times faster than a step, and a search from an even stride is lost in
them. On soft ground it is not: the search begins where a foot at rest is `SOFT_DEPTH` deep, and every stage
begins from the last, on ground that is stiffer. That needs a stiffness which is a parameter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from strut.gait.transport import weight_of
from strut.optimal.problem import Problem
from strut.optimal.solver.result import Solution
from strut.optimal.walk.contact_sequence import lift_places
from strut.optimal.walk.continuation import SolveStage
from strut.optimal.walk.kinematic_stride import Kinematics
from strut.optimal.walk.read_walk import gives_way
from strut.system import Param, System, sx

SOFT_DEPTH = 0.02
"""[1] Depth at rest over the height of the centre of mass, of the ground that a search begins with."""
STIFF_FACTOR = 2.0
"""Ground that is stiffer than that by no more than this factor needs no stages."""
FIRST_FACTOR = 2.0
"""By this factor the ground of the second stage is stiffer; where a stage succeeds, the next factor is larger
by a half of its logarithm, where it fails, smaller by a half."""
MIN_FACTOR = 1.05
"""A stage that is stiffer by less and fails ends the way."""
STAGE_ITERATIONS = 150
"""Iterations of the solver at most, for a stage."""


@dataclass(frozen=True, eq=False)
class SoftGround:
    """Ground to begin with. walker: on the ground that is wanted. numbers: the parameters of its law, by
    name. softness: by which they are smaller to begin with."""

    walker: System
    numbers: tuple[str, ...]
    softness: float

    def system(self, of: System, softness: float) -> System:
        """Return a system on ground that is softer by a factor than what is wanted."""
        values = {q.name: np.asarray(q.value, dtype=float) for q in self.walker.p if q.name in self.numbers}
        return of.using({name: value * softness for name, value in values.items()})

    def stiffness_text(self, softness: float) -> str:
        """Return the first number of the law, with its unit, for people."""
        q = next(q for q in self.walker.p if q.name == self.numbers[0])
        return f"{float(np.ravel(q.value)[0]) * softness:.3g} {q.unit}"


def soft_ground(walker: System, section: str) -> SoftGround | None:
    """Return the ground to begin with; None where the walker stands on rigid ground, where its own is soft
    enough, or where no stiffness is a parameter."""
    if not gives_way(walker, section):
        return None
    numbers = law_numbers(walker)
    if not any(q.unit.startswith("N/m") for q in numbers):
        return None
    kinematics = Kinematics(walker, section)
    if kinematics.stance is None:
        return None
    postures, _, _ = kinematics.even_postures(None, None)
    touching = kinematics.states_with(postures[:1], np.zeros_like(postures[:1]))[0]
    touching[lift_places(walker)] -= SOFT_DEPTH * kinematics.height()
    begin = kinematics.begin
    force = walker.function("force", [sx(walker[kinematics.stance.normal])], clock=False)
    softness = weight_of(walker) / float(force(touching, kinematics.z, begin.u, begin.p))
    softness = max([softness, *[q.bounds[0] / float(np.ravel(q.value)[0]) for q in numbers]])
    if not 0 < softness < 1 / STIFF_FACTOR:
        return None
    return SoftGround(walker, tuple(q.name for q in numbers), softness)


def law_numbers(walker: System) -> list[Param]:
    """Return the parameters of the law of the ground that are a stiffness or a damping: the forces of feet
    depend on them, and are in proportion to them all."""
    if walker.walk is None:
        return []
    forces = ca.vertcat(*[sx(walker[f.normal]) for f in walker.walk.feet if f.normal])
    of_forces = [q for q in walker.p if q.size == 1 and ca.depends_on(forces, q.sym)]
    stiff = [q for q in of_forces if q.unit.startswith("N/m")]
    return stiff + [q for q in of_forces if q.unit.startswith("N s/m")]


def stiffen_ground(
    problem: Problem, ground: SoftGround, guess: object, solve_stage: SolveStage
) -> tuple[Solution | None, float]:
    """Return the solution on the stiffest ground that was reached, from a guess on the softest, and how soft
    that is: 1 where it is the ground that is wanted. None where not even the softest has one."""

    def on_ground(softness: float) -> Problem:
        return replace(problem, system=ground.system(problem.system, softness))

    softness, factor = ground.softness, FIRST_FACTOR
    best = solve_stage(on_ground(softness), guess)
    if best is None or not best.success:
        return None, softness
    while softness < 1:
        stiffer = min(softness * factor, 1.0)
        nearer = solve_stage(on_ground(stiffer), best, iterations=STAGE_ITERATIONS)
        if nearer is None:
            break
        if nearer.success:
            best, softness, factor = nearer, stiffer, factor**1.5
        elif stiffer / softness < MIN_FACTOR:
            break
        else:
            factor = (stiffer / softness) ** 0.5
    return best, softness


__all__ = ["SoftGround", "soft_ground", "stiffen_ground"]
