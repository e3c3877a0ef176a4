"""How many of 20 random guesses of Saurel's walkers M_A, M_B and M_C lead to a solution, and to how many
different ones."""

from __future__ import annotations

import sys

import numpy as np

from strut.studies.saurel_walks import CASES, guess, problem, solve_case


def main(names: list[str], starts: int = 20, spread: float = 0.1) -> None:
    for name in names or ["M_A", "M_B", "M_C active"]:
        case = CASES[name]
        system = case.make()
        asked = problem(system, price=case.price)
        walks = []
        for seed in range(starts):
            random = np.random.default_rng(seed)
            walks.append(solve_case(case, asked, guess(system, random.uniform(0.35, 0.8), random, spread)))
        good = [w for w in walks if w.result.ok]
        costs = np.round([w.result.cost for w in good], 5)
        seconds = [w.processor for w in walks]
        counts = dict(zip(*np.unique(costs, return_counts=True), strict=True))
        replayed = sum(w.design.replay.ok for w in good)
        print(
            f"{name}: {len(good)} of {starts} converged, {replayed} replayed, {len(counts)} different costs: "
            f"{sorted(map(float, counts))}"
        )
        print(
            f"  median {np.median(seconds):.3f} s, largest {max(seconds):.3f} s on the processor", flush=True
        )


if __name__ == "__main__":
    main(sys.argv[1:])
