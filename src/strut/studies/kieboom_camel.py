"""Kieboom's first example of goals in stages: the six-hump camel, as a whole and in its parts."""

from __future__ import annotations

import numpy as np

from strut import evolve
from strut.studies.study import Row, Study

SEEDS = 20
"""Searches of each kind."""
GENERATIONS = 90
"""Generations of each search."""
MINIMUM = -1.0316
"""The least value that is published, to its digits."""
BOUNDS = {"x": (-2.0, 2.0), "y": (-1.0, 1.0)}
"""Where it is searched."""
STAGES = (
    evolve.minimise("fx", until="fx < 0.5"),
    evolve.minimise("fy", until="fy < -0.9"),
    evolve.minimise("f"),
)
"""The parts in their order (section 3.3)."""


def camel(x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the six-hump camel and its two parts."""
    fx, fy = (4 - 2.1 * x**2 + x**4 / 3) * x**2, (-4 + 4 * y**2) * y**2
    return {"f": fx + fy + x * y, "fx": fx, "fy": fy}


def rows() -> list[Row]:
    """Search the camel by swarms, at once and in stages, and by the other searches."""
    evaluation = evolve.of_function(camel, ("f", "fx", "fy"), vectorised=True)
    whole = evolve.SearchProblem(BOUNDS, evaluation, "f")
    staged = evolve.SearchProblem(BOUNDS, evaluation, STAGES)
    swarm = evolve.Swarm(population=20)
    plain = [evolve.search(whole, swarm, GENERATIONS, seed=seed) for seed in range(SEEDS)]
    ordered = [evolve.search(staged, swarm, GENERATIONS, seed=seed) for seed in range(SEEDS)]
    in_order = sum(bool((np.diff(each.columns()["best_stage"]) >= 0).all()) for each in ordered)
    best = min(plain, key=lambda each: each.best.value).best
    x, y = best.parameters["x"], best.parameters["y"]
    result = [
        Row("least value, swarm", f"{MINIMUM}", f"{best.value:.6f}", _share(plain)),
        Row("where", "(0.09, -0.71) or opposite", f"({x:.3f}, {y:.3f})"),
        Row("least value, swarm in stages", f"{MINIMUM}", f"{_least(ordered):.6f}", _share(ordered)),
        Row("stages in their order", "yes", f"{in_order} of {SEEDS} searches"),
    ]
    others = {
        "CMA-ES": evolve.CmaEs(),
        "differential evolution": evolve.DifferentialEvolution(),
        "genetic algorithm": evolve.GeneticAlgorithm(),
    }
    for name, method in others.items():
        evolutions = [evolve.search(whole, method, GENERATIONS, seed=seed) for seed in range(SEEDS)]
        result.append(Row(f"least value, {name}", "", f"{_least(evolutions):.6f}", _share(evolutions)))
    return result


def _least(evolutions: list[evolve.Evolution]) -> float:
    """Return the least value of several searches."""
    return min(each.best.value for each in evolutions)


def _share(evolutions: list[evolve.Evolution]) -> str:
    """Return how many of several searches reached the minimum, to its published digits."""
    reached = sum(each.best.value < MINIMUM + 0.5e-4 for each in evolutions)
    return f"reached by {reached} of {len(evolutions)} seeds"


STUDY = Study(
    "kieboom-camel",
    "Goals in stages: the six-hump camel",
    "Kieboom, section 3.3; with y^2 where eq. 3.5 prints y, as its minima say",
    rows,
)
