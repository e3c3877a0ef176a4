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
from strut.optimal.nlp.scaled import Scales
from strut.optimal.nlp.sparse import Assembled, Block
from strut.optimal.nlp.unknowns import RowBlock
from strut.optimal.problem import bounds_name
from strut.optimal.solver.bound_multipliers import BoundMultipliers
from strut.optimal.solver.guess import Guess, fill_unknowns
from strut.optimal.solver.kkt import fixed_multipliers, residuals
from strut.optimal.solver.mesh_motion import motions
from strut.optimal.solver.mesh_solve import EXCEPTION, run_solver
from strut.optimal.solver.result import MAX_KKT_RESIDUAL, Solution
from strut.optimal.solver.scaling import gradient_scales, nominal_scales


@dataclass(eq=False)
class ReplicaMesh:
    """Meshes of several problems as one.

    meshes: of each problem. weights: of their costs, which add up to 1. places: of each mesh, where its
    unknowns are in the whole; parameters come first. row_places: of each mesh, where its rows are, the cost
    not counted. assembled: the functions of the whole. unknowns, rows: their bounds; the first row is the
    cost. solvers: of IPOPT, by their settings.
    """

    meshes: Sequence[Transcribed]
    weights: np.ndarray
    places: list[np.ndarray] = field(init=False)
    row_places: list[np.ndarray] = field(init=False)
    assembled: Assembled = field(init=False)
    unknowns: RowBlock = field(init=False)
    rows: RowBlock = field(init=False)
    solvers: dict[str, ca.Function] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count, self.places, self.row_places = len(self.meshes[0].p_at), [], []
        size, rows = count, 0
        for mesh in self.meshes:
            own = len(mesh.unknowns.names)
            place = np.empty(own, dtype=int)
            place[mesh.p_at] = np.arange(count)
            others = np.setdiff1d(np.arange(own), mesh.p_at)
            place[others] = size + np.arange(len(others))
            self.places.append(place)
            self.row_places.append(rows + np.arange(len(mesh.rows.names) - 1))
            size, rows = size + len(others), rows + len(mesh.rows.names) - 1
        blocks, linear = [], []
        for mesh, place, first, weight in zip(
            self.meshes, self.places, [int(r[0]) for r in self.row_places], self.weights, strict=True
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
        self.unknowns, self.rows = self._bounds()

    def gather(self, columns: Sequence[Any]) -> np.ndarray:
        """Return one vector of the unknowns of all, from those of each; shared ones from the last."""
        whole = np.empty(self.assembled.size)
        for place, column in zip(self.places, columns, strict=True):
            whole[place] = column
        return whole

    def numbers(self) -> np.ndarray:
        """Return the numbers that the functions take besides unknowns: none, those of the meshes are data."""
        return np.empty(0)

    def _bounds(self) -> tuple[RowBlock, RowBlock]:
        """Return the bounds of all unknowns, of shared ones the narrowest; and of all rows."""
        low, high = np.full(self.assembled.size, -np.inf), np.full(self.assembled.size, np.inf)
        names = [""] * self.assembled.size
        for mesh, place in zip(self.meshes, self.places, strict=True):
            low[place] = np.maximum(low[place], mesh.unknowns.low)
            high[place] = np.minimum(high[place], mesh.unknowns.high)
            for at, name in zip(place.tolist(), mesh.unknowns.names, strict=True):
                names[at] = name
        unknowns, rows = RowBlock(), RowBlock()
        unknowns.add(names, low, high)
        rows.add(["cost"], -np.inf, np.inf)
        for mesh in self.meshes:
            rows.add(mesh.rows.names[1:], mesh.rows.low[1:], mesh.rows.high[1:])
        return unknowns, rows

    def joint_scales(self, scales: Sequence[Scales]) -> Scales:
        """Return the units of the whole, from those of each mesh; of shared unknowns the largest."""
        unknowns = np.zeros(self.assembled.size)
        for place, each in zip(self.places, scales, strict=True):
            unknowns[place] = np.maximum(unknowns[place], each.unknowns)
        rows = np.concatenate([each.rows for each in scales])
        return Scales(unknowns, rows, float(self.weights @ [each.cost for each in scales]))


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
    success: whether the conditions of an optimum hold. status: what the solver said, or how well they hold
        where that is not enough. iterations: of it. kkt: how well they hold, relative to the scales of
        unknowns, constraints and cost.
    multipliers: of the bounds of shared parameters. scale: of the cost, in its unit.
    """

    cost: float
    parameters: Mapping[str, float]
    guesses: tuple[Guess, ...] = field(repr=False)
    success: bool
    status: str
    iterations: int
    kkt: Mapping[str, float]
    multipliers: tuple[BoundMultipliers, ...] = field(repr=False)
    scale: float


def solve_replicas(
    solutions: Sequence[Solution],
    weights: Sequence[float],
    settings: Mapping[str, Any],
    backend: str | None = None,
) -> JointOptimum:
    """Solve the problems of several solutions as one, beginning from them; their free parameters are shared.

    weights: of their costs. settings: of IPOPT. backend: of the functions. The meshes are those on which the
    solutions were found. Raises `ModelError` where what is free is not the same in all.
    """
    names = [tuple(solution.problem.parameters) for solution in solutions]
    if len(set(names)) != 1:
        raise ModelError(f"replicas share their free parameters, but these differ: {names}")
    meshes, begins, scales = [], [], []
    for solution in solutions:
        fractions = [np.diff(m.t) / m.duration for m in solution.phases]
        mesh = Transcribed(solution.problem, solution.how, fractions, backend)
        meshes.append(mesh)
        begins.append(fill_unknowns(mesh, solution.guess()))
        scales.append(nominal_scales(mesh, begins[-1], solution.scales))
    share = np.array(weights, dtype=float) / np.sum(weights)
    whole = ReplicaMesh(meshes, share)
    begin = whole.gather(begins)
    count = len(names[0])
    begin[:count] = share @ np.array([[s.parameters[n] for n in names[0]] for s in solutions])
    begin = np.clip(begin, whole.unknowns.low, whole.unknowns.high)
    units = whole.joint_scales(scales)
    end = run_solver(whole, begin, dict(settings), None, units)
    if end.status == EXCEPTION:  # of the functions that IPOPT calls none raises: somebody pressed Ctrl-C
        raise KeyboardInterrupt
    v, lam_x = end.unknowns, fixed_multipliers(whole, end.unknowns, end.rows, end.bounds)
    cost, g = whole.assembled.functions["nlp"](v, whole.numbers())
    rows = np.array(g).reshape(-1)
    kkt = residuals(whole, (v, rows), (lam_x, end.rows), gradient_scales(whole, v, units))
    largest = max(kkt.values())
    status = end.words
    if end.success and not largest <= MAX_KKT_RESIDUAL:
        status = f"the conditions of an optimum hold to {largest:.2g} only, not to {MAX_KKT_RESIDUAL:g}"
    parameters = dict(zip(names[0], map(float, v[:count]), strict=True))
    guesses = tuple(
        Guess(tuple(m.stretch() for m in motions(mesh, v[place])), parameters)
        for mesh, place in zip(meshes, whole.places, strict=True)
    )
    multipliers = tuple(
        BoundMultipliers(
            name=bounds_name(name),
            phase=np.zeros(1, dtype=int),
            place=np.zeros(1),
            value=v[k : k + 1],
            low=np.array(whole.unknowns.low[k : k + 1]),
            high=np.array(whole.unknowns.high[k : k + 1]),
            multiplier=lam_x[k : k + 1],
        )
        for k, name in enumerate(names[0])
    )
    return JointOptimum(
        cost=float(cost),
        parameters=parameters,
        guesses=guesses,
        success=end.success and largest <= MAX_KKT_RESIDUAL,
        status=status,
        iterations=end.iterations,
        kkt=kkt,
        multipliers=multipliers,
        scale=units.cost,
    )


__all__ = ["JointOptimum", "ReplicaMesh", "solve_replicas"]
