"""`solve_other_starts`: what a search that was begun elsewhere finds for the problem of a solution."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.solver.guess import Guess, fill_unknowns, shake_unknowns
from strut.optimal.solver.mesh_solve import solve_mesh
from strut.optimal.solver.result import Solution
from strut.optimal.solver.starts import Starts, run_starts


def solve_other_starts(
    first: Solution,
    *,
    begins: list[Guess],
    starts: Starts,
    settings: Mapping[str, Any],
    backend: str | None,
    mesh: Transcribed | None = None,
) -> list[Solution]:
    """Return what all starts but the first lead to, good or not, on the mesh of the first one's solution, so
    that costs can be compared.

    begins: motions that starts are shaken from, in turn. settings: of IPOPT. backend: of the functions. mesh:
    that of the first, where it is still there.
    """
    mesh = mesh or _transcribe_again(first, backend)
    random = np.random.default_rng(starts.seed)
    beginnings = [
        shake_unknowns(fill_unknowns(mesh, begins[k % len(begins)]), mesh, starts.spread, random)
        for k in range(starts.count - 1)
    ]

    def one_start(k: int) -> Solution:
        solution = solve_mesh(mesh, beginnings[k], dict(settings))
        return replace(solution, problem=None)  # type: ignore[arg-type]  # it need not travel

    return [replace(each, problem=first.problem) for each in run_starts(len(beginnings), one_start)]


def _transcribe_again(solution: Solution, backend: str | None) -> Transcribed:
    """Return the problem of a solution on its mesh."""
    fractions = [np.diff(m.t) / m.duration for m in solution.phases]
    return Transcribed(solution.problem, solution.how, fractions, backend)


__all__ = ["solve_other_starts"]
