"""How far population searches come after equally many evaluations, with pymoo, Optuna and nevergrad."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from bench.peers import optional
from bench.timing import Contender, Effort, Section, measure
from strut import evolve

pymoo = optional("pymoo.optimize")
optuna = optional("optuna")
nevergrad = optional("nevergrad")
EVALUATIONS, SEEDS, WIDTH = 1000, 5, 6
POPULATION = 20
"""Individuals in a generation of every search that has one."""
BOUND = 5.12

Goal = Callable[[np.ndarray], np.ndarray]


def valley(x: np.ndarray) -> np.ndarray:
    """Rosenbrock's valley: coupled parameters, one basin, 0 at ones."""
    parts = [100 * (b - a**2) ** 2 + (1 - a) ** 2 for a, b in itertools.pairwise(x.T)]
    return np.sum(parts, axis=0)


def eggs(x: np.ndarray) -> np.ndarray:
    """Rastrigin's function about 0.7: a hundred thousand optima, 0 at the best."""
    y = x - 0.7
    return (y**2 - 10 * np.cos(2 * np.pi * y) + 10).sum(axis=1)


GOALS: dict[str, Goal] = {"Rosenbrock's valley": valley, "Rastrigin's eggs": eggs}


def of_strut(goal: Goal, method: Any, seed: int, evaluations: int = EVALUATIONS) -> float:
    """The least value that a search of ours finds."""
    bounds = {f"p{k}": (-BOUND, BOUND) for k in range(WIDTH)}
    evaluation = evolve.of_function(lambda **p: goal(np.column_stack(list(p.values()))), vectorised=True)
    problem = evolve.SearchProblem(bounds, evaluation, "value")
    return evolve.search(problem, method, evaluations // method.population, seed=seed).best.value


def of_pymoo(goal: Goal, name: str, seed: int, evaluations: int = EVALUATIONS) -> float:
    """The least value that a search of pymoo finds."""
    places = {"PSO": "pso", "DE": "de", "GA": "ga"}
    kind = getattr(import_module(f"pymoo.algorithms.soo.nonconvex.{places[name]}"), name)
    base = import_module("pymoo.core.problem").Problem

    class Own(base):  # type: ignore[misc,valid-type]  # a class of an optional package
        def __init__(self) -> None:
            super().__init__(n_var=WIDTH, n_obj=1, xl=-BOUND, xu=BOUND)

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = goal(x)

    assert pymoo is not None
    return float(pymoo.minimize(Own(), kind(pop_size=POPULATION), ("n_eval", evaluations), seed=seed).F[0])


def of_optuna(goal: Goal, name: str, seed: int, evaluations: int = EVALUATIONS) -> float:
    """The least value that a sampler of Optuna finds."""
    assert optuna is not None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=getattr(optuna.samplers, name)(seed=seed))

    def value(trial: Any) -> float:
        x = [trial.suggest_float(f"p{k}", -BOUND, BOUND) for k in range(WIDTH)]
        return float(goal(np.array([x]))[0])

    study.optimize(value, n_trials=evaluations)
    return float(study.best_value)


def of_nevergrad(goal: Goal, name: str, seed: int, evaluations: int = EVALUATIONS) -> float:
    """The least value that an optimiser of nevergrad finds."""
    assert nevergrad is not None
    space = nevergrad.p.Array(shape=(WIDTH,)).set_bounds(-BOUND, BOUND)
    space.random_state.seed(seed)
    optimiser = nevergrad.optimizers.registry[name](parametrization=space, budget=evaluations)
    best = np.inf
    for _ in range(evaluations):
        candidate = optimiser.ask()
        value = float(goal(candidate.value[None])[0])
        optimiser.tell(candidate, value)
        best = min(best, value)
    return best


OURS = {
    "CmaEs": evolve.CmaEs(POPULATION),
    "DifferentialEvolution": evolve.DifferentialEvolution(POPULATION),
    "Swarm": evolve.Swarm(POPULATION),
    "GeneticAlgorithm": evolve.GeneticAlgorithm(POPULATION),
    "Nsga2": evolve.Nsga2(POPULATION),
}
PEERS: dict[str, tuple[Any, Callable[..., float], tuple[str, ...]]] = {
    "pymoo": (pymoo, of_pymoo, ("DE", "PSO", "GA")),
    "Optuna": (optuna, of_optuna, ("CmaEsSampler",)),
    "nevergrad": (nevergrad, of_nevergrad, ("CMA", "DE", "PSO")),
}
"""By package: whether it is there, how one of its searches is run, and which."""


def run(effort: Effort) -> list[Section]:
    sections = []
    for title, goal in GOALS.items():
        contenders = []
        for name, method in OURS.items():
            values = [of_strut(goal, method, seed) for seed in range(SEEDS)]
            call = partial(of_strut, goal, method, 0)
            contenders.append(Contender(f"strut {name}", f"{EVALUATIONS} evaluations", call, _middle(values)))
        for package, (module, search, names) in PEERS.items():
            for name in names:
                if module is None:
                    contenders.append(Contender(f"{package} {name}"))
                    continue
                values = [search(goal, name, seed) for seed in range(SEEDS)]
                call = partial(search, goal, name, 0)
                contenders.append(
                    Contender(f"{package} {name}", f"{EVALUATIONS} evaluations", call, _middle(values))
                )
        rows = measure(contenders, effort)
        each = 1e6 / EVALUATIONS
        rates = [
            f"{row.name} {row.best * each:.3g} us, {EVALUATIONS / row.best:.3g}/s"
            for row in rows
            if row.best is not None
        ]
        what = f"{title} in {WIDTH} parameters, median of {SEEDS} seeds"
        sections.append(
            Section(what, "least value found", rows, "overhead of an evaluation: " + "; ".join(rates))
        )
    return sections


def _middle(values: list[float]) -> float:
    return float(np.median(values))
