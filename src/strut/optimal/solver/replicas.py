"""Replicas: several problems solved as one nonlinear program, in which they share their free parameters.

What is minimised is the weighted sum of their costs; everything else, motion, durations and limits, each has
for itself. Only the unknowns of the shared parameters couple them, so that the large matrices stay as sparse
as those of each (a bordered block diagonal).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.optimal.nlp.nlp import Transcribed
from strut.optimal.nlp.sparse import Assembled, Block
from strut.optimal.solver.guess import Guess, fill_unknowns
from strut.optimal.solver.mesh_motion import motions
from strut.optimal.solver.mesh_solve import EXCEPTION, SUCCESS, WORDS, solver_of
from strut.optimal.solver.result import Solution


@dataclass(eq=False)
class ReplicaMesh:
    """Meshes of several problems as one.

    meshes: of each problem. weights: of their costs, which add up to 1. places: of each mesh, where its
    unknowns are in the whole; parameters come first. rows: of each mesh, where its rows are, the cost not
    counted. assembled: the functions of the whole. solvers: of IPOPT, by their settings.
    """

    meshes: Sequence[Transcribed]
    weights: np.ndarray
    places: list[np.ndarray] = field(init=False)
    rows: list[np.ndarray] = field(init=False)
    assembled: Assembled = field(init=False)
    solvers: dict[str, ca.Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count, self.places, self.rows = len(self.meshes[0].p_at), [], []
        size, rows = count, 0
        for mesh in self.meshes:
            own = len(mesh.unknowns.names)
            place = np.empty(own, dtype=int)
            place[mesh.p_at] = np.arange(count)
            others = np.setdiff1d(np.arange(own), mesh.p_at)
            place[others] = size + np.arange(len(others))
            self.places.append(place)
            self.rows.append(rows + np.arange(len(mesh.rows.names) - 1))
            size, rows = size + len(others), rows + len(mesh.rows.names) - 1
        blocks, linear = [], []
        for mesh, place, first, weight in zip(
            self.meshes, self.places, [int(r[0]) for r in self.rows], self.weights, strict=True
        ):
            blocks += [_moved_block(block, mesh, place, (first, weight)) for block in mesh.blocks]
            row, at, factor = mesh.assembled.linear
            linear.append(
                (np.where(row > 0, row + first, 0), place[at], factor * np.where(row > 0, 1.0, weight))
            )
        parts = [np.concatenate([part[i] for part in linear]) for i in range(3)]
        self.assembled = Assembled(
            size, rows, 0, blocks, (parts[0].astype(int), parts[1].astype(int), parts[2])
        )

    def gather(self, columns: Sequence[Any]) -> np.ndarray:
        """Return one vector of the unknowns of all, from those of each; shared ones from the last."""
        whole = np.empty(self.assembled.size)
        for place, column in zip(self.places, columns, strict=True):
            whole[place] = column
        return whole

    @property
    def unknown_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of all unknowns; of shared ones, the narrowest."""
        low, high = np.full(self.assembled.size, -np.inf), np.full(self.assembled.size, np.inf)
        for mesh, place in zip(self.meshes, self.places, strict=True):
            low[place] = np.maximum(low[place], mesh.unknowns.low)
            high[place] = np.minimum(high[place], mesh.unknowns.high)
        return low, high

    @property
    def row_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of all rows."""
        low = np.concatenate([mesh.rows.low[1:] for mesh in self.meshes])
        high = np.concatenate([mesh.rows.high[1:] for mesh in self.meshes])
        return low, high


def _moved_block(block: Block, mesh: Transcribed, place: np.ndarray, at: tuple[int, float]) -> Block:
    """Return a block of one mesh as one of the whole: its numbers are data, its cost has a weight. at: first
    row, and weight."""
    first, weight = at
    out, evaluation, row, factor = block.targets
    numbers = np.repeat(mesh.numbers()[:, None], block.count, axis=1)
    return Block(
        block.stage,
        place[block.index],
        np.vstack([block.data, numbers]),
        (out, evaluation, np.where(row > 0, row + first, 0), factor * np.where(row > 0, 1.0, weight)),
    )


@dataclass(frozen=True, eq=False)
class JointOptimum:
    """Where the solver ended with several problems as one.

    cost: the weighted sum. parameters: those that are shared. guesses: the motion of each, to go on from.
    success: whether it is an optimum. status: what the solver said. iterations: of it.
    """

    cost: float
    parameters: Mapping[str, float]
    guesses: tuple[Guess, ...] = field(repr=False)
    success: bool
    status: str
    iterations: int


def solve_replicas(
    solutions: Sequence[Solution], weights: Sequence[float], settings: Mapping[str, Any]
) -> JointOptimum:
    """Solve the problems of several solutions as one, beginning from them; their free parameters are shared.

    weights: of their costs. settings: of IPOPT. The meshes are those on which the solutions were found.
    Raises `ModelError` where what is free is not the same in all.
    """
    names = [tuple(solution.problem.parameters) for solution in solutions]
    if len(set(names)) != 1:
        raise ModelError(f"replicas share their free parameters, but these differ: {names}")
    meshes = []
    for solution in solutions:
        fractions = [np.diff(m.t) / m.duration for m in solution.phases]
        meshes.append(Transcribed(solution.problem, solution.how, fractions))
    share = np.array(weights, dtype=float) / np.sum(weights)
    whole = ReplicaMesh(meshes, share)
    begin = whole.gather(
        [fill_unknowns(mesh, solution.guess()) for mesh, solution in zip(meshes, solutions, strict=True)]
    )
    means = share @ np.array([[s.parameters[n] for n in names[0]] for s in solutions])
    begin[: len(names[0])] = means
    low, high = whole.unknown_bounds
    g_low, g_high = whole.row_bounds
    run = solver_of(whole, dict(settings))
    outcome = run(x0=np.clip(begin, low, high), p=np.empty(0), lbx=low, ubx=high, lbg=g_low, ubg=g_high)
    v, stats = np.array(outcome["x"]).reshape(-1), run.stats()
    status = stats["return_status"]
    if status == EXCEPTION:  # of the functions that IPOPT calls none raises: somebody pressed Ctrl-C
        raise KeyboardInterrupt
    parameters = dict(zip(names[0], map(float, v[: len(names[0])]), strict=True))
    guesses = tuple(
        Guess(tuple(m.stretch() for m in motions(mesh, v[place])), parameters)
        for mesh, place in zip(meshes, whole.places, strict=True)
    )
    return JointOptimum(
        cost=float(outcome["f"]),
        parameters=parameters,
        guesses=guesses,
        success=status in SUCCESS,
        status=WORDS.get(status, status.replace("_", " ").lower()),
        iterations=int(stats["iter_count"]),
    )


__all__ = ["JointOptimum", "ReplicaMesh", "solve_replicas"]
