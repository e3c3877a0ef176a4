"""Kieboom's examples of a swarm that changes which parameters it has: subspaces, and where particles stay."""

from __future__ import annotations

import numpy as np

from strut import evolve
from strut.studies.study import Row, Study

PARTICLES, GENERATIONS, RUNS = 40, 70, 200
"""Of the toy example; the thesis shows one run of it."""
RATES = {"explore": 0.01, "own": 0.05, "social": 0.05}
"""Probabilities P_e, P_l and P_g."""
LAST = 10
"""Generations at the end over which populations are counted."""


def toy_values(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x in the first subspace, where y is nan, and 2 - |x - 0.5| - |y - 0.5| in the second."""
    return np.where(np.isnan(y), x, 2 - np.abs(x - 0.5) - np.abs(y - 0.5))


def stationary_population() -> tuple[float, float]:
    """Return how many particles stay in each subspace once the second is everybody's best."""
    there = 1 - (1 - RATES["explore"]) * (1 - RATES["own"]) * (1 - RATES["social"])
    back = RATES["explore"]
    return PARTICLES * back / (there + back), PARTICLES * there / (there + back)


def populations() -> tuple[np.ndarray, int]:
    """Return how many particles were in the second subspace in each generation, a row for each run, and how
    many runs found its optimum to 1 %."""
    parameters = [evolve.SearchParameter(name, 0.0, 1.0, first=(0.0, 0.25)) for name in "xy"]
    method = evolve.MetamorphicSwarm(
        {"pool": {"one": ["x"], "two": ["x", "y"]}}, **RATES, swarm=evolve.Swarm(PARTICLES)
    )
    counts, reached = np.zeros((RUNS, GENERATIONS)), 0
    for run in range(RUNS):
        column: list[int] = []

        def values(x: np.ndarray, y: np.ndarray, column: list[int] = column) -> np.ndarray:
            column.append(int((~np.isnan(y)).sum()))
            return toy_values(x, y)

        evaluation = evolve.of_function(values, vectorised=True)
        problem = evolve.SearchProblem(parameters, evaluation, evolve.maximise("value"))
        best = evolve.search(problem, method, GENERATIONS, seed=run).best
        counts[run], reached = column, reached + (best.value > 1.98)
    return counts, reached


def rows() -> list[Row]:
    """Count subspaces, and where the particles of the toy example are in the end."""
    pools = {
        "A": {"1": ["1"], "2": ["2", "3"]},
        "B": {"1": ["4", "5"], "2": ["5", "6"], "3": ["6", "7"]},
        "C": {"1": ["8"], "2": ["9"]},
    }
    modules = {f"{k}": {"oscillate": [f"R{k}", f"X{k}"], "rotate": [], "lock": [f"X{k}"]} for k in range(6)}
    first, second = stationary_population()
    counts, reached = populations()
    mean = counts[:, -LAST:].mean()
    spread = counts[:, -LAST:].mean(axis=1).std() / np.sqrt(RUNS)
    return [
        Row("subspaces of three pools (fig. 3.3)", "12", f"{evolve.MetamorphicSwarm(pools).subspaces}"),
        Row("subspaces of six joints (Roombots)", "729", f"{evolve.MetamorphicSwarm(modules).subspaces}"),
        Row("toy: in the limit, subspace 1", "37 (labels swapped)", f"{first:.2f}", "eq. 3.8 with eq. 3.6"),
        Row("toy: in the limit, subspace 2", "3 (labels swapped)", f"{second:.2f}"),
        Row(
            "toy: counted in subspace 2",
            "about 37",
            f"{mean:.2f} +- {spread:.2f}",
            f"{RUNS} runs, the last {LAST} of {GENERATIONS} generations: not yet the limit where a run found "
            "the second subspace late",
        ),
        Row("toy: optimum 2 found to 1 %", "yes", f"{reached} of {RUNS} runs"),
    ]


STUDY = Study(
    "kieboom-metamorphic",
    "A swarm that changes its own dimension",
    "Kieboom, section 3.2",
    rows,
)
