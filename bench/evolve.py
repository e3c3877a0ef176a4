"""What a population search costs beside its evaluations, and how far it comes, with those of others; and runs
of a machine per second."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench import search_on_ray, search_quality
from bench.peers import optional
from bench.timing import Contender, Effort, Section, measure
from strut import evolve, walkers

pymoo = optional("pymoo.optimize")
INDIVIDUALS, GENERATIONS, WIDTH, SEED = 1000, 30, 20, 1
BOUND = 5.12


def sphere(**p: np.ndarray) -> np.ndarray:
    """A goal that costs next to nothing: the sum of squares."""
    return sum((value**2 for value in p.values()), np.zeros(()))


def ours(method: Any, output: Path | None) -> float:
    """The least value that a search finds."""
    bounds = {f"p{k}": (-BOUND, BOUND) for k in range(WIDTH)}
    problem = evolve.SearchProblem(bounds, evolve.of_function(sphere, vectorised=True), "value")
    return evolve.search(problem, method, GENERATIONS, seed=SEED, output=output).best.value


def of_pymoo(name: str) -> Callable[[], float] | None:
    """The same by pymoo's search of a name."""
    if pymoo is None:
        return None
    from importlib import import_module

    problems = import_module("pymoo.core.problem")
    places = {"PSO": "pso", "DE": "de", "GA": "ga"}
    kind = getattr(import_module(f"pymoo.algorithms.soo.nonconvex.{places[name]}"), name)

    class Sphere(problems.Problem):  # type: ignore[name-defined,misc]  # a class of an optional package
        def __init__(self) -> None:
            super().__init__(n_var=WIDTH, n_obj=1, xl=-BOUND, xu=BOUND)

        def _evaluate(self, x: np.ndarray, out: dict[str, Any], *_: Any, **__: Any) -> None:
            out["F"] = (x**2).sum(axis=1)

    def call() -> float:
        end = ("n_gen", GENERATIONS)
        return float(pymoo.minimize(Sphere(), kind(pop_size=INDIVIDUALS), end, seed=SEED).F[0])

    return call


def run(effort: Effort) -> list[Section]:
    with tempfile.TemporaryDirectory() as folder:
        count = 0

        def stored(method: Any) -> Callable[[], float]:
            def call() -> float:
                nonlocal count
                count += 1
                return ours(method, Path(folder) / f"{count}.db")

            return call

        methods = {
            "Swarm": evolve.Swarm(INDIVIDUALS),
            "DifferentialEvolution": evolve.DifferentialEvolution(INDIVIDUALS),
            "GeneticAlgorithm": evolve.GeneticAlgorithm(INDIVIDUALS),
            "CmaEs": evolve.CmaEs(INDIVIDUALS),
        }
        contenders = []
        for name, method in methods.items():
            for setting, call in (
                ("every individual in a file", stored(method)),
                ("in memory", lambda method=method: ours(method, None)),
            ):
                contenders.append(Contender(f"strut {name}", setting, call, call()))
        for name in ("PSO", "DE", "GA"):
            peer = of_pymoo(name)
            contenders.append(Contender(f"pymoo {name}", "in memory", peer, peer() if peer else None))
        rows = measure(contenders, effort)
    each = 1e6 / (INDIVIDUALS * GENERATIONS)
    remark = "us per individual: " + ", ".join(
        f"{row.name} ({row.setting}) {row.best * each:.3g}" for row in rows if row.best is not None
    )
    runs = evolve.of_system(walkers.slip(), 60.0, {"steps": "count.touchdown"}, rtol=1e-6, atol=1e-6)
    bounds = {"attack": (1.0, 1.3), "stiffness": (1e4, 4e4)}
    problem = evolve.SearchProblem(bounds, runs, evolve.maximise("steps"))

    def slip(population: int) -> Contender:
        def call() -> float:
            return evolve.search(problem, evolve.Swarm(population), 5, seed=SEED).best.value

        return Contender("strut, 5 generations", f"{population} particles", call, 24 - call())

    slips = measure([slip(1000), slip(100)], effort)
    rates = [(5 * n, row.best) for n, row in zip((1000, 100), slips, strict=True)]
    rate_remark = "runs per second: " + ", ".join(f"{n / best:.4g}" for n, best in rates if best is not None)
    title = f"{INDIVIDUALS} x {GENERATIONS} individuals of {WIDTH} parameters, sum of squares"
    return [
        Section(title, "least value found", rows, remark),
        Section("SLIP runners of up to 24 steps by a swarm", "steps missing of 24", slips, rate_remark),
        *search_quality.run(effort),
        *search_on_ray.run(effort),
    ]
